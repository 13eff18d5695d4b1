import type { Entry } from "../../api/options.ts";
import { DecodeError, StatusError, statusFrom } from "../../api/status.ts";
import type { Change, ListPart } from "../../api/lister_watcher.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { type BodyDecoder, MAX_OBJECT_BYTES, utf8 } from "../decode/body_reader.ts";
import { type ReadOptions, startsWith } from "../decode/object_reader.ts";
import {
  BOOKMARK_SCHEMA,
  BYTES,
  ENVELOPE,
  Envelope,
  FieldReader,
  kindOf,
  LIST_META_SCHEMA,
  MAGIC,
  PieceSplitter,
  readMessage,
  STATUS_SCHEMA,
} from "./wire.ts";
import { MetadataReader } from "./metadata.ts";

const LIST_KIND = "PartialObjectMetadataList";
const LIST_META = 1;
const ITEMS = 2;

/** The place in the body: before the magic number, among the fields of the envelope, or of the list. */
type Place = "magic" | "envelope" | "list";

/**
 * Decodes a PartialObjectMetadataList in protobuf while its body arrives. The items are cut out of the bytes.
 *
 * The version and the token of the next page are in the first part with items, and in the last one.
 */
export class MetadataListReader<T extends KubernetesObject> implements BodyDecoder<ListPart<T>> {
  readonly #options: ReadOptions;
  readonly #objects: MetadataReader<T>;
  readonly #fields = new FieldReader();
  readonly #pieces: PieceSplitter;
  #place: Place = "magic";
  #kind = "";
  /** The bytes of the list that have not arrived. */
  #left = 0;
  /** True once all of the list has been read. */
  #complete = false;
  /** The entries of the current part. */
  #entries: Entry<T>[] = [];
  /** The list's metadata; replaced when it is known. */
  #metadata: Omit<ListPart<T>, "entries"> = {};

  /** Decodes a list of the metadata that `options` describe. */
  constructor(options: ReadOptions) {
    this.#options = options;
    this.#objects = new MetadataReader<T>(options);
    this.#pieces = new PieceSplitter({
      endOf: (bytes, at, end) => this.#endOf(bytes, at, end),
      take: (bytes, start, end) => this.#take(bytes, start, end),
    }, options.maxObjectBytes ?? MAX_OBJECT_BYTES);
  }

  /**
   * The items that end in this chunk.
   *
   * @throws {StatusError} when the body is a failure's `Status`.
   * @throws {DecodeError} when the chunk cannot be part of a list, or an object is longer than allowed.
   */
  push(chunk: Uint8Array): ListPart<T> {
    const before = this.#metadata;
    try {
      this.#pieces.push(chunk);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw new DecodeError(`Cannot read the list of "${this.#name}": ${error.message}`, { cause: error });
    }
    const entries = this.#entries;
    this.#entries = [];
    return this.#metadata === before ? { entries } : { entries, ...this.#metadata };
  }

  /** The last part: the list's metadata. @throws {DecodeError} when the body is cut off. */
  end(): ListPart<T> {
    if (!this.#complete || this.#pieces.pending > 0) {
      throw new DecodeError(`Cannot read the list of "${this.#name}": it is cut off`);
    }
    return { entries: [], ...this.#metadata };
  }

  get #name(): string {
    return resourceName(this.#options.resource);
  }

  #endOf(bytes: Uint8Array, at: number, end: number): number {
    if (this.#place === "magic") return at + MAGIC.length <= end ? at + MAGIC.length : 0;
    const fields = this.#fields;
    const next = fields.tryNext(bytes, at, end);
    if (this.#place === "list") {
      // Of a field that is cut off, only the start of its content may be known.
      const after = fields.start === -1 ? end : fields.end;
      if (after - at > this.#left) throw new DecodeError(`a field of the list ends behind the list`);
    } else if (fields.start !== -1 && fields.field === ENVELOPE.raw && this.#kind === LIST_KIND) {
      return fields.start; // the fields of the list follow
    }
    if (next !== -1) return next;
    return fields.start === -1 ? 0 : at - fields.end;
  }

  #take(bytes: Uint8Array, start: number, end: number): void {
    if (this.#place === "magic") {
      if (!startsWith(bytes, start, end, MAGIC)) {
        throw new DecodeError(`it does not begin with "k8s", as protobuf does`);
      }
      this.#place = "envelope";
      return;
    }
    const fields = this.#fields; // those of the latest `#endOf`
    if (this.#place === "envelope") return this.#takeEnvelope(bytes);
    this.#left -= end - start;
    const { field, start: from, end: to } = fields;
    if (field === ITEMS) {
      fields.expect(BYTES);
      this.#entries.push(this.#objects.read(bytes, from, to));
    } else if (field === LIST_META) {
      fields.expect(BYTES);
      this.#metadata = metadataFrom(readMessage(fields, LIST_META_SCHEMA, bytes, from, to));
    }
    if (this.#left === 0) this.#endList();
  }

  #takeEnvelope(bytes: Uint8Array): void {
    const fields = this.#fields;
    if (fields.field === ENVELOPE.typeMeta) {
      this.#kind = kindOf(fields, bytes);
      return;
    }
    if (fields.field !== ENVELOPE.raw) return;
    fields.expect(BYTES);
    const { start, end } = fields;
    if (this.#kind === "Status") {
      const status = statusFrom(readMessage(fields, STATUS_SCHEMA, bytes, start, end), 200);
      throw new StatusError(`Cannot list "${this.#name}": ${status.code} ${status.reason}: ${status.message}`, status);
    }
    if (this.#kind !== LIST_KIND) {
      throw new DecodeError(`found an object of kind ${JSON.stringify(this.#kind)}, expected "${LIST_KIND}"`);
    }
    if (this.#complete) throw new DecodeError("found a second list behind the first one");
    this.#place = "list";
    this.#left = end - start;
    if (this.#left === 0) this.#endList();
  }

  #endList(): void {
    this.#place = "envelope";
    this.#complete = true;
  }
}

/** The metadata of a list in the form of a part. */
function metadataFrom(message: Record<string, unknown>): Omit<ListPart<KubernetesObject>, "entries"> {
  const { resourceVersion, continue: token, remainingItemCount } = message as Omit<
    ListPart<KubernetesObject>,
    "entries"
  >;
  return {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(token === undefined ? {} : { continue: token }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** The bytes that give the length of a frame, the most significant one first. */
const LENGTH_BYTES = 4;
const PARTIAL_KIND = "PartialObjectMetadata";
const encoder = new TextEncoder();
const TYPES = (["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"] as const).map((type) => ({
  type,
  bytes: encoder.encode(type),
}));

/** The fields of a bookmark, by {@linkcode BOOKMARK_SCHEMA}. */
interface Bookmark {
  readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: Readonly<Record<string, string>> };
}

/**
 * Decodes a watch of metadata in protobuf: frames of a length and a WatchEvent. One batch of changes to a chunk; an
 * incomplete frame at the end of the body is dropped.
 *
 * A frame that is no event, or is an `ERROR` event, fails the watch after the changes before it: with a `DecodeError`,
 * or a `StatusError`.
 */
export class MetadataWatchReader<T extends KubernetesObject> implements BodyDecoder<readonly Change<T>[]> {
  readonly #name: string;
  readonly #objects: MetadataReader<T>;
  readonly #fields = new FieldReader();
  readonly #envelope = new Envelope();
  readonly #frames: PieceSplitter;
  /** The changes of the current chunk. */
  #batch: Change<T>[] = [];
  #failure: { readonly error: unknown } | undefined;

  /** Decodes a watch of the metadata that `options` describe. */
  constructor(options: ReadOptions) {
    this.#name = resourceName(options.resource);
    this.#objects = new MetadataReader<T>(options);
    this.#frames = new PieceSplitter({
      endOf,
      take: (bytes, start, end) => {
        this.#batch.push(this.#read(bytes, start + LENGTH_BYTES, end));
      },
    }, options.maxObjectBytes ?? MAX_OBJECT_BYTES);
  }

  /** The error that ends the watch, behind the latest batch. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** The changes whose frames end in this chunk. */
  push(chunk: Uint8Array): readonly Change<T>[] {
    const batch: Change<T>[] = this.#batch = [];
    try {
      this.#frames.push(chunk);
    } catch (cause) {
      const error = cause instanceof DecodeError
        ? new DecodeError(`Cannot read an event of "${this.#name}": ${cause.message}`, { cause })
        : cause;
      this.#failure = { error };
    }
    return batch;
  }

  /** Nothing: an incomplete frame is no event. */
  end(): undefined {
    return undefined;
  }

  /** The change in a WatchEvent. */
  #read(bytes: Uint8Array, start: number, limit: number): Change<T> {
    const fields = this.#fields;
    const envelope = this.#envelope;
    let type: (typeof TYPES)[number]["type"] | undefined;
    let hasObject = false;
    for (let at = start; at < limit;) {
      at = fields.next(bytes, at, limit);
      if (fields.field > 2) continue;
      fields.expect(BYTES);
      if (fields.field === 1) type = typeOf(bytes, fields.start, fields.end);
      else {
        this.#open(bytes, fields.start, fields.end);
        hasObject = true;
      }
    }
    if (type === undefined || !hasObject) {
      throw new DecodeError(`found an event without ${type ? "an object" : "a type"}`);
    }
    const { kind, start: from, end: to } = envelope;
    if (type === "ERROR") {
      const status = statusFrom(kind === "Status" ? readMessage(fields, STATUS_SCHEMA, bytes, from, to) : undefined);
      throw new StatusError(
        `Cannot go on watching "${this.#name}": ${status.code} ${status.reason}: ${status.message}`,
        status,
      );
    }
    if (kind !== PARTIAL_KIND) {
      throw new DecodeError(`found an object of kind ${JSON.stringify(kind)}, expected "${PARTIAL_KIND}"`);
    }
    if (type !== "BOOKMARK") return { type, entry: this.#objects.read(bytes, from, to) };
    const { metadata } = readMessage(fields, BOOKMARK_SCHEMA, bytes, from, to) as Bookmark;
    if (metadata?.resourceVersion === undefined) throw new DecodeError("found a bookmark without a resourceVersion");
    const initialEventsEnd = metadata.annotations?.["k8s.io/initial-events-end"] === "true";
    return { type, resourceVersion: metadata.resourceVersion, initialEventsEnd };
  }

  /** Reads the envelope in a RawExtension. */
  #open(bytes: Uint8Array, start: number, limit: number): void {
    const fields = this.#fields;
    for (let at = start; at < limit;) {
      at = fields.next(bytes, at, limit);
      if (fields.field !== 1) continue;
      fields.expect(BYTES);
      return this.#envelope.read(bytes, fields.start, fields.end);
    }
    throw new DecodeError("found an event without an object");
  }
}

/** The end of a frame, as `PieceTarget.endOf`. */
function endOf(bytes: Uint8Array, at: number, end: number): number {
  if (at + LENGTH_BYTES > end) return 0;
  const length = (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0;
  const next = at + LENGTH_BYTES + length;
  return next <= end ? next : at - next;
}

/** The type of an event. @throws {DecodeError} when it is unknown. */
function typeOf(bytes: Uint8Array, start: number, end: number): (typeof TYPES)[number]["type"] {
  for (const { type, bytes: known } of TYPES) {
    if (end - start === known.length && startsWith(bytes, start, end, known)) return type;
  }
  throw new DecodeError(
    `found the type ${JSON.stringify(utf8.decode(bytes.subarray(start, end)).slice(0, 80))}, expected a known type`,
  );
}
