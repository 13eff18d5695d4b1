import type { Entry } from "../../api/entry.ts";
import { DecodeError, StatusError } from "../../api/errors.ts";
import type { ListPart } from "../../api/lister_watcher.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { statusFrom } from "../../api/status.ts";
import type { BodyDecoder } from "../decode/body_reader.ts";
import { MAX_OBJECT_BYTES } from "../decode/line_splitter.ts";
import { type ReadOptions, startsWith } from "../decode/object_reader.ts";
import { ENVELOPE, kindOf, MAGIC } from "./envelope.ts";
import { BYTES, FieldReader } from "./field_reader.ts";
import { LIST_META_SCHEMA, readMessage, STATUS_SCHEMA } from "./message.ts";
import { MetadataReader } from "./metadata_reader.ts";
import { PieceSplitter } from "./piece_splitter.ts";

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
