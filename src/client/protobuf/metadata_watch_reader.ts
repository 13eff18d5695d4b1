import { DecodeError, StatusError } from "../../api/errors.ts";
import type { Change } from "../../api/lister_watcher.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { statusFrom } from "../../api/status.ts";
import type { BodyDecoder } from "../decode/body_reader.ts";
import { MAX_OBJECT_BYTES } from "../decode/line_splitter.ts";
import { type ReadOptions, startsWith } from "../decode/object_reader.ts";
import { utf8 } from "../decode/utf8.ts";
import { Envelope } from "./envelope.ts";
import { BYTES, FieldReader } from "./field_reader.ts";
import { BOOKMARK_SCHEMA, readMessage, STATUS_SCHEMA } from "./message.ts";
import { MetadataReader } from "./metadata_reader.ts";
import { PieceSplitter } from "./piece_splitter.ts";

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
 * A frame that is no event, or is an `ERROR` event, fails the watch after the changes before it: with a `DecodeError`, or a
 * `StatusError`.
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
