import { DecodeError } from "../../api/status.ts";
import { ByteBuffer, utf8 } from "../decode/body_reader.ts";
import { startsWith } from "../decode/object_reader.ts";

/** The wire type of a number of variable length. */
export const VARINT = 0;
/** The wire type of strings, bytes and messages. */
export const BYTES = 2;

const FIXED_64 = 1;
const FIXED_32 = 5;
const LONGEST_VARINT = 10;
const LARGEST_TAG = 0xffff_ffff;

/**
 * Reads the fields of protobuf messages in place, one at a time. A field that is not as expected, or that ends behind
 * its message, is a `DecodeError`. Groups, which Kubernetes has never written, are refused.
 */
export class FieldReader {
  /** The number of the latest field. */
  field = 0;
  /** Its wire type. */
  wire = 0;
  /** Start of its content; of a field that is cut off, -1 if its length is not known. */
  start = 0;
  /** End of its content. */
  end = 0;
  /** The value of a {@linkcode VARINT}, exact up to 2^53. */
  value = 0;

  /** Reads the field at `at`, of a message that ends at `limit`; returns its end. @throws {DecodeError} */
  next(bytes: Uint8Array, at: number, limit: number): number {
    const end = this.tryNext(bytes, at, limit);
    if (end === -1) throw new DecodeError(`a field at byte ${at} ends behind its message, which ends at ${limit}`);
    return end;
  }

  /** As {@linkcode next}, but returns -1 for a field that does not end before `limit`. @throws {DecodeError} */
  tryNext(bytes: Uint8Array, at: number, limit: number): number {
    this.start = -1;
    const from = at;
    at = this.#varint(bytes, at, limit);
    if (at === -1) return -1;
    const tag = this.value;
    if (tag < 8 || tag > LARGEST_TAG) {
      throw new DecodeError(`found the tag ${tag} at byte ${from}, which is no field's`);
    }
    this.field = tag >>> 3;
    this.wire = tag & 7;
    switch (this.wire) {
      case BYTES:
        at = this.#varint(bytes, at, limit);
        if (at === -1) return -1;
        this.start = at;
        this.end = at + this.value;
        break;
      case VARINT:
        this.end = this.#varint(bytes, at, limit);
        if (this.end === -1) return -1;
        this.start = at;
        break;
      case FIXED_64:
      case FIXED_32:
        this.start = at;
        this.end = at + (this.wire === FIXED_64 ? 8 : 4);
        break;
      default:
        throw new DecodeError(`found the wire type ${this.wire} at byte ${from}, expected 0, 1, 2 or 5`);
    }
    return this.end > limit ? -1 : this.end;
  }

  /** Requires the latest field to have a wire type. @throws {DecodeError} */
  expect(wire: number): void {
    if (this.wire === wire) return;
    throw new DecodeError(`found the wire type ${this.wire} of field ${this.field}, expected ${wire}`);
  }

  /** The latest field, a {@linkcode VARINT}, as a signed number of 64 bits in decimal digits. */
  decimal(bytes: Uint8Array): string {
    if (this.value <= Number.MAX_SAFE_INTEGER) return String(this.value);
    let value = 0n;
    for (let at = this.end - 1; at >= this.start; at--) value = value << 7n | BigInt(bytes[at] & 127);
    return String(BigInt.asIntN(64, value));
  }

  /** Reads a number into `value`; returns its end, or -1 if it is cut off. */
  #varint(bytes: Uint8Array, at: number, limit: number): number {
    if (at < limit && bytes[at] < 128) {
      this.value = bytes[at];
      return at + 1;
    }
    let value = 0;
    let scale = 1;
    for (const stop = at + LONGEST_VARINT; at < stop; scale *= 128) {
      if (at >= limit) return -1;
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) {
        this.value = value;
        return at;
      }
    }
    throw new DecodeError(`found a number of more than ${LONGEST_VARINT} bytes that ends behind byte ${at}`);
  }
}

/** The type of a field: text, a number, a map of texts, a message, or a list of messages. */
type FieldType = "string" | "int" | "strings" | Schema | readonly [Schema];

/** The fields of a message that are read, by number. */
interface Schema {
  /** The name of a field in JSON, and its type. */
  readonly [field: number]: readonly [name: string, type: FieldType];
}

const LIST_META: Schema = {
  2: ["resourceVersion", "string"],
  3: ["continue", "string"],
  4: ["remainingItemCount", "int"],
};
const CAUSE: Schema = { 1: ["reason", "string"], 2: ["message", "string"], 3: ["field", "string"] };
const DETAILS: Schema = {
  1: ["name", "string"],
  2: ["group", "string"],
  3: ["kind", "string"],
  4: ["causes", [CAUSE]],
  5: ["retryAfterSeconds", "int"],
  6: ["uid", "string"],
};

/** The message of a list's metadata (apimachinery `meta/v1` ListMeta). */
export const LIST_META_SCHEMA: Schema = LIST_META;

/** The message of a failure (apimachinery `meta/v1` Status). */
export const STATUS_SCHEMA: Schema = {
  1: ["metadata", LIST_META],
  2: ["status", "string"],
  3: ["message", "string"],
  4: ["reason", "string"],
  5: ["details", DETAILS],
  6: ["code", "int"],
};

/** The fields of a bookmark, which is a PartialObjectMetadata. */
export const BOOKMARK_SCHEMA: Schema = {
  1: ["metadata", { 6: ["resourceVersion", "string"], 12: ["annotations", "strings"] }],
};

/**
 * Converts a message to the object that the server writes in JSON: without empty texts, and without fields of no name.
 */
export function readMessage(
  reader: FieldReader,
  schema: Schema,
  bytes: Uint8Array,
  start: number,
  limit: number,
): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let at = start; at < limit;) {
    at = reader.next(bytes, at, limit);
    const known = schema[reader.field];
    if (known === undefined) continue;
    const [name, type] = known;
    reader.expect(type === "int" ? VARINT : BYTES);
    const { start, end } = reader;
    if (type === "int") object[name] = Number(reader.decimal(bytes));
    else if (type === "string") {
      if (start < end) object[name] = utf8.decode(bytes.subarray(start, end));
    } else if (type === "strings") {
      const { key = "", value = "" } = readMessage(reader, MAP_ENTRY, bytes, start, end) as Record<string, string>;
      const map = (object[name] ??= Object.create(null)) as Record<string, string>;
      map[key] = value;
    } else if (isList(type)) {
      const list = (object[name] ??= []) as unknown[];
      list.push(readMessage(reader, type[0], bytes, start, end));
    } else object[name] = readMessage(reader, type, bytes, start, end);
  }
  return object;
}

const MAP_ENTRY: Schema = { 1: ["key", "string"], 2: ["value", "string"] };

function isList(type: FieldType): type is readonly [Schema] {
  return Array.isArray(type);
}

/** `k8s` and a zero, before each object that stands alone. */
export const MAGIC: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0]);

/** The fields of an envelope (apimachinery `runtime.Unknown`). */
export const ENVELOPE = { typeMeta: 1, raw: 2 } as const;

const TYPE_META = { 1: ["apiVersion", "string"], 2: ["kind", "string"] } as const;
const PARTIAL_KIND = "PartialObjectMetadata";
/** The type of PartialObjectMetadata as the server writes it, so that it need not be decoded for each event. */
const PARTIAL_TYPE = new TextEncoder().encode("\n\x0emeta.k8s.io/v1\x12\x15PartialObjectMetadata");

/** Reads the envelope of an object: its kind, and the place of its message. */
export class Envelope {
  /** The kind of the latest object; `""` if it has none. */
  kind = "";
  /** Start of its message. */
  start = 0;
  /** End of its message. */
  end = 0;
  readonly #fields: FieldReader = new FieldReader();

  /** Reads the envelope in `bytes[start, end)`. @throws {DecodeError} when it is none. */
  read(bytes: Uint8Array, start: number, end: number): void {
    if (!startsWith(bytes, start, end, MAGIC)) throw new DecodeError(`found no "k8s" at byte ${start}`);
    this.kind = "";
    this.start = this.end = end;
    for (let at = start + MAGIC.length; at < end;) {
      const fields = this.#fields;
      at = fields.next(bytes, at, end);
      if (fields.field === ENVELOPE.typeMeta) this.kind = kindOf(fields, bytes);
      else if (fields.field === ENVELOPE.raw) {
        fields.expect(BYTES);
        this.start = fields.start;
        this.end = fields.end;
      }
    }
  }
}

/** The kind in the latest field, which is the type in an envelope. @throws {DecodeError} */
export function kindOf(fields: FieldReader, bytes: Uint8Array): string {
  fields.expect(BYTES);
  const { start, end } = fields;
  if (end - start === PARTIAL_TYPE.length && startsWith(bytes, start, end, PARTIAL_TYPE)) return PARTIAL_KIND;
  const { kind = "" } = readMessage(fields, TYPE_META, bytes, start, end) as { kind?: string };
  return kind;
}

/** The cutter of a body, and the receiver of its pieces. */
interface PieceTarget {
  /**
   * The end of the piece that begins at `at`; at most 0 if it is not in `bytes[at, end)`: then the negative of its
   * length, if known.
   */
  endOf(bytes: Uint8Array, at: number, end: number): number;
  /** Receives the piece in `bytes[start, end)`, which are valid during the call. */
  take(bytes: Uint8Array, start: number, end: number): void;
}

/** Cuts a stream of bytes into pieces, however the chunks are split. */
export class PieceSplitter {
  readonly #target: PieceTarget;
  readonly #maxBytes: number;
  /** The beginning of a piece that continues in the next chunk. */
  readonly #carry = new ByteBuffer();

  /** Cuts pieces of at most `maxBytes` bytes. */
  constructor(target: PieceTarget, maxBytes: number) {
    this.#target = target;
    this.#maxBytes = maxBytes;
  }

  /** The length of the incomplete piece, in bytes. */
  get pending(): number {
    return this.#carry.length;
  }

  /** Passes on the pieces that end in this chunk. @throws {DecodeError} when a piece is longer than allowed. */
  push(chunk: Uint8Array): void {
    const carry = this.#carry;
    if (carry.length === 0) {
      const at = this.#cut(chunk, chunk.length);
      if (at < chunk.length) carry.append(chunk, at, chunk.length);
      return;
    }
    carry.append(chunk, 0, chunk.length);
    carry.removeFirst(this.#cut(carry.bytes, carry.length));
  }

  /** Passes on the pieces in the first `end` bytes; returns the start of the incomplete one. */
  #cut(bytes: Uint8Array, end: number): number {
    const target = this.#target;
    let at = 0;
    while (at < end) {
      const next = target.endOf(bytes, at, end);
      if (next <= 0) {
        this.#check(Math.max(-next, end - at));
        break;
      }
      this.#check(next - at);
      target.take(bytes, at, next);
      at = next;
    }
    return at;
  }

  #check(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new DecodeError(
      `an object is longer than ${this.#maxBytes} bytes; raise maxObjectBytes if objects are that large`,
    );
  }
}

const SMALLEST_BYTES = 16_384;
/** A buffer larger than this is freed at the next {@linkcode JsonWriter.reset}. */
const LARGEST_KEPT_BYTES = 1_048_576;
/** The most bytes of JSON for one byte of text: `\u001f`. */
const LONGEST_ESCAPE = 6;
/** Room for a literal or a number, so that those need no check of their own. */
const SPARE = 128;

const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
const COLON = 58;
const ZERO = 48;
const SECONDS_OF_DAY = 86_400;
const DAY_CHARACTERS = "2026-01-01T".length;
const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1_000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1_000;
const HEX = new TextEncoder().encode("0123456789abcdef");

/** Writes JSON into one recycled buffer. */
export class JsonWriter {
  /** The buffer; its first {@linkcode length} bytes are the text. */
  bytes: Uint8Array = new Uint8Array(SMALLEST_BYTES);
  /** The length of the text, in bytes. */
  length = 0;
  /** The day of the latest time, in days since 1970. */
  #day = NaN;
  /** Its text, with the `T` behind it. */
  #dayText = "";

  /** Removes all but the first `length` bytes, which stay. */
  reset(length: number): void {
    this.length = length;
    if (this.bytes.length <= LARGEST_KEPT_BYTES) return;
    const smaller = new Uint8Array(SMALLEST_BYTES);
    smaller.set(this.bytes.subarray(0, length));
    this.bytes = smaller;
  }

  /** Writes bytes as they are: at most 128. */
  literal(source: Uint8Array): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < source.length; i++) bytes[at++] = source[i];
    this.length = at;
    if (at + SPARE > bytes.length) this.#grow(SPARE);
  }

  /** Writes one byte. */
  byte(value: number): void {
    this.bytes[this.length++] = value;
    if (this.length + SPARE > this.bytes.length) this.#grow(SPARE);
  }

  /** Writes ASCII: at most 128 characters. */
  ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.byte(text.charCodeAt(i));
  }

  /** Writes JSON that is in `source[start, end)`. */
  raw(source: Uint8Array, start: number, end: number): void {
    this.#grow(end - start + SPARE);
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** Writes the text in `source[start, end)` as a string of JSON. */
  string(source: Uint8Array, start: number, end: number): void {
    const room = LONGEST_ESCAPE * (end - start) + 2 + SPARE;
    if (this.length + room > this.bytes.length) this.#grow(room);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    while (start < end) {
      const byte = source[start++];
      if (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) bytes[at++] = byte;
      else {
        bytes[at++] = BACKSLASH;
        if (byte >= SPACE) bytes[at++] = byte;
        else {
          bytes[at++] = 117; // u
          bytes[at++] = 48;
          bytes[at++] = 48;
          bytes[at++] = HEX[byte >> 4];
          bytes[at++] = HEX[byte & 15];
        }
      }
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /**
   * Writes a time, in seconds since 1970, as Go does.
   *
   * @throws {DecodeError} when it is before the year 0 or after 9999, which JSON has no form for.
   */
  time(seconds: number): void {
    const day = Math.floor(seconds / SECONDS_OF_DAY);
    if (day !== this.#day) {
      if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) {
        throw new DecodeError(`found a time of ${seconds} s after 1970, which is not in the years 0 to 9999`);
      }
      this.#dayText = new Date(day * SECONDS_OF_DAY * 1_000).toISOString().slice(0, DAY_CHARACTERS);
      this.#day = day;
    }
    const rest = seconds - day * SECONDS_OF_DAY;
    this.byte(QUOTE);
    this.ascii(this.#dayText);
    this.#twoDigits(Math.floor(rest / 3_600));
    this.byte(COLON);
    this.#twoDigits(Math.floor(rest / 60) % 60);
    this.byte(COLON);
    this.#twoDigits(rest % 60);
    this.byte(90); // Z
    this.byte(QUOTE);
  }

  #twoDigits(value: number): void {
    this.byte(ZERO + Math.floor(value / 10));
    this.byte(ZERO + value % 10);
  }

  /** Makes room for that many bytes more. */
  #grow(room: number): void {
    const needed = this.length + room;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(2 * needed);
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
