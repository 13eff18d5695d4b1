import type { ListPart } from "../../../src/api/change.ts";
import { type Entry, entryOf } from "../../../src/api/entry.ts";
import type { KnownEntries } from "../../../src/api/options.ts";
import { type Status, statusFrom } from "../../../src/api/status.ts";
import { ChunkReader } from "../../../src/client/decode/chunk_reader.ts";
import type { Pod } from "../../../src/kinds/core/v1.ts";
import { BytesEntry, type Decode } from "../bytes_entry.ts";
import { eventType, type Format, type WatchFrame } from "../format.ts";
import { FrameSplitter } from "../frames.ts";
import { IdentityReader, isSame } from "../identity.ts";
import { ProtobufWalker } from "./walker.ts";

const utf8 = new TextDecoder();
/** How many bytes say how long a frame of a watch is. */
const LENGTH_BYTES = 4;
/** `k8s` and a zero, in front of each object that stands alone. */
const MAGIC_BYTES = 4;
/** The field that holds the object in an event, in a RawExtension's Unknown, and the items of a list. */
const SECOND = 2 << 3 | 2;

/** Pods in protobuf, as the API server writes them. */
export class ProtobufFormat implements Format {
  /** As in `Format.accept`. */
  readonly accept = "application/vnd.kubernetes.protobuf";
  readonly #decode: Decode;
  readonly #lazy: boolean;
  readonly #walker = new ProtobufWalker();
  readonly #identities = new IdentityReader();
  readonly #fields = new Fields();

  /** Decodes by `decode`: without managedFields and when an object is read, or, if not lazy, whole and at once. */
  constructor(decode: Decode, lazy = true) {
    this.#decode = decode;
    this.#lazy = lazy;
  }

  /** As in `Format.endOfFrame`. */
  readonly endOfFrame = (bytes: Uint8Array, at: number, end: number): number => {
    if (at + LENGTH_BYTES > end) return -1;
    const size = (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0;
    return at + LENGTH_BYTES + size > end ? -1 : at + LENGTH_BYTES + size;
  };

  /** As in `Format.readFrame`. */
  readFrame(bytes: Uint8Array, start: number, end: number, known: KnownEntries["known"]): WatchFrame {
    const fields = this.#fields;
    fields.find(bytes, start + LENGTH_BYTES, end, 1 << 3 | 2);
    const type = eventType(bytes[fields.start]);
    fields.find(bytes, start + LENGTH_BYTES, end, SECOND); // the RawExtension
    fields.find(bytes, fields.start, fields.end, 1 << 3 | 2); // its bytes
    fields.find(bytes, fields.start + MAGIC_BYTES, fields.end, SECOND); // the object in its Unknown
    if (type === "ERROR") return { type, status: readStatus(bytes, fields.start, fields.end) };
    return { type, entry: this.#read(bytes, fields.start, fields.end, known) };
  }

  /** As in `Format.readList`. */
  async *readList(
    body: ReadableStream<Uint8Array>,
    known: KnownEntries["known"],
  ): AsyncGenerator<ListPart<Pod>, void, undefined> {
    let prefixed = false;
    // The list's own fields follow one another in the Unknown's, which is the last of those that are not empty.
    const frames = new FrameSplitter((bytes, at, end) =>
      prefixed ? this.#fields.measure(bytes, at, end) : this.#endOfPrefix(bytes, at, end)
    );
    let entries: Entry<Pod>[] = [];
    let resourceVersion: string | undefined;
    const take = (bytes: Uint8Array, start: number, end: number): void => {
      if (!prefixed) {
        prefixed = true;
        return;
      }
      const fields = this.#fields;
      fields.measure(bytes, start, end);
      if (bytes[start] === SECOND) entries.push(this.#read(bytes, fields.start, fields.end, known));
      else if (bytes[start] === (1 << 3 | 2)) {
        fields.find(bytes, fields.start, fields.end, 2 << 3 | 2);
        resourceVersion = utf8.decode(bytes.subarray(fields.start, fields.end));
      }
    };
    const chunks = new ChunkReader(body);
    try {
      for (let chunk; (chunk = await chunks.read((chunk) => chunk)) !== undefined; entries = []) {
        frames.push(chunk, take);
        yield { entries, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      }
    } finally {
      await chunks.cancel();
    }
    if (frames.waiting > 0) throw new RangeError("Cannot read a list: its last field is cut off");
  }

  #read(bytes: Uint8Array, start: number, end: number, known: KnownEntries["known"]): Entry<Pod> {
    if (!this.#lazy) return entryOf(this.#decode(bytes.subarray(start, end)));
    const walker = this.#walker;
    walker.walk(bytes, start, end);
    const identity = this.#identities.read(bytes, walker);
    const before = known?.(identity.key);
    if (isSame(before, identity)) return before as Entry<Pod>;
    return new BytesEntry(identity, walker.strip(bytes, start, end), this.#decode);
  }

  /** Where the first field of the list begins, behind the magic bytes, the type and the length of the list. */
  #endOfPrefix(bytes: Uint8Array, at: number, end: number): number {
    const type = this.#fields.measure(bytes, at + MAGIC_BYTES, end);
    if (type === -1 || type + 11 > end) return -1;
    if (bytes[type] !== SECOND) throw new RangeError("Cannot read a list: it does not follow its type");
    let prefix = type + 1;
    while (bytes[prefix++] > 127);
    return prefix;
  }
}

/** Finds fields in a message. */
class Fields {
  /** Where the content of the field begins that was last measured or found. */
  start = 0;
  /** Where it ends. */
  end = 0;
  #at = 0;

  /** Where the field that begins at `at` ends; -1 when that is beyond `end`. A number's content is empty. */
  measure(bytes: Uint8Array, at: number, end: number): number {
    this.#at = at;
    const tag = this.#varint(bytes, end);
    const size = this.#varint(bytes, end);
    this.start = this.#at;
    this.end = this.#at + ((tag & 7) === 0 ? 0 : size);
    return this.#at > end || this.end > end ? -1 : this.end;
  }

  /** Finds the first field with a tag of one byte. @throws {RangeError} when it is not there. */
  find(bytes: Uint8Array, at: number, end: number, tag: number): void {
    while (at < end) {
      const next = this.measure(bytes, at, end);
      if (next === -1) break;
      if (bytes[at] === tag) return;
      at = next;
    }
    throw new RangeError(`Cannot read a message: it has no field with tag ${tag}`);
  }

  /** Of what is not all there, something, with the place beyond the end. */
  #varint(bytes: Uint8Array, end: number): number {
    let value = 0;
    for (let shift = 0;; shift += 7) {
      if (this.#at >= end) {
        this.#at = end + 1;
        return 0;
      }
      const byte = bytes[this.#at++];
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }
}

/** What a watch says at its end: reason, message and code of a Status. */
function readStatus(bytes: Uint8Array, start: number, end: number): Status {
  const fields = new Fields();
  const status: Record<string, unknown> = {};
  for (let at = start; at < end; at = fields.end) {
    if (fields.measure(bytes, at, end) === -1) throw new RangeError("Cannot read a Status: it is cut off");
    const number = bytes[at] >> 3;
    const text = utf8.decode(bytes.subarray(fields.start, fields.end));
    if (number === 2) status.status = text;
    else if (number === 3) status.message = text;
    else if (number === 4) status.reason = text;
    else if (number === 6) status.code = bytes[at + 1] & 127 | bytes[at + 2] << 7;
  }
  return statusFrom(status);
}
