import type { ListPart } from "../../api/change.ts";
import type { Entry } from "../../api/entry.ts";
import { DecodeError, StatusError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { statusFrom } from "../../api/status.ts";
import { ByteBuffer, chunksOf, utf8 } from "./chunk_reader.ts";
import { ItemScanner } from "./item_scanner.ts";
import { MAX_OBJECT_BYTES } from "./line_splitter.ts";
import { ObjectReader, type ReadOptions } from "./object_reader.ts";

/** What a list says about itself, around its items. */
interface Outline {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly metadata?: {
    readonly resourceVersion?: unknown;
    readonly continue?: unknown;
    readonly remainingItemCount?: unknown;
  };
  readonly items?: unknown;
}

/**
 * The parts of a list as its body arrives: one part to a chunk of the body, without entries when the chunk completed none.
 * The version and the token of the next page are told in the first part in which they are known, which is the first one
 * for built-in kinds and the last one for custom resources, and in the last part. Leaving early cancels the body.
 *
 * @throws {StatusError} when the body is a failure's `Status`.
 * @throws {DecodeError} when it is no list, is cut off, or an object in it is no object.
 */
export async function* readList<T extends KubernetesObject>(
  body: ReadableStream<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<ListPart<T>, void, undefined> {
  const list = new ListReader<T>(options);
  for await (const chunk of chunksOf(body)) yield list.push(chunk);
  yield list.end();
}

/** Cuts the items out of a list's bytes; what is left over is its outline, small enough to be parsed whole. */
class ListReader<T extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #objects: ObjectReader<T>;
  readonly #scanner: ItemScanner;
  readonly #outline = new ByteBuffer();
  readonly #carry = new ByteBuffer();
  readonly #maxBytes: number;
  #entries: Entry<T>[] = [];
  #told: Omit<ListPart<T>, "entries"> = {};

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#maxBytes = options.maxObjectBytes ?? MAX_OBJECT_BYTES;
    this.#objects = new ObjectReader<T>(options, "broken"); // one bad item does not make the others unreadable
    this.#scanner = new ItemScanner({
      outline: (bytes, start, end) => this.#append(this.#outline, bytes, start, end),
      itemsBegin: () => this.#begin(),
      head: (bytes, start, end) => this.#objects.walk(bytes, start, end),
      part: (bytes, start, end) => this.#append(this.#carry, bytes, start, end),
      item: (bytes, start, end) => this.#item(bytes, start, end),
    });
  }

  push(chunk: Uint8Array): ListPart<T> {
    const before = this.#told;
    try {
      this.#scanner.push(chunk);
    } catch (error) {
      throw this.#named(error);
    }
    const entries = this.#entries;
    this.#entries = [];
    return this.#told === before ? { entries } : { entries, ...this.#told };
  }

  end(): ListPart<T> {
    const { resource } = this.#options;
    const text = utf8.decode(this.#outline.bytes.subarray(0, this.#outline.length));
    let outline: Outline;
    try {
      if (this.#scanner.inItems) throw new SyntaxError("it ends in the middle of its items");
      outline = JSON.parse(text);
    } catch (cause) {
      const hint = text.trimStart().startsWith("<")
        ? `found ${
          JSON.stringify(text.trim().slice(0, 80))
        }, expected a list in JSON; is a proxy or a login page in between?`
        : (cause as Error).message;
      throw new DecodeError(`Cannot read the list of "${resourceName(resource)}": ${hint}`, { cause });
    }
    this.#check(outline);
    // Where `items` was no array that the scanner could cut (null, or a key with escapes), it is still in the outline.
    if (!this.#scanner.sawItems) {
      if (outline.items !== undefined && outline.items !== null && !Array.isArray(outline.items)) this.#refuse(text);
      if (outline.items === undefined && !String(outline.kind).endsWith("List")) this.#refuse(text);
      this.#fillIn(outline);
      for (const item of (outline.items ?? []) as unknown[]) this.#entries.push(this.#objects.entryOf(item));
    }
    this.#tell(outline);
    return { entries: this.#entries, ...this.#told };
  }

  #append(buffer: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
    this.#measure(buffer.length + end - start);
    buffer.append(bytes, start, end);
  }

  #measure(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new DecodeError(
      `an object is longer than ${this.#maxBytes} bytes; raise maxObjectBytes if objects are that large`,
    );
  }

  /** The outline so far, closed, tells kind and apiVersion, and for built-in kinds the version and the next page. */
  #begin(): void {
    const text = utf8.decode(this.#outline.bytes.subarray(0, this.#outline.length));
    const outline = JSON.parse(`${text}]}`) as Outline;
    this.#fillIn(outline);
    this.#tell(outline);
  }

  /** Items of built-in kinds' lists lack kind and apiVersion. */
  #fillIn(outline: Outline): void {
    const { kind, apiVersion } = outline;
    if (typeof kind === "string" && kind !== "List" && kind.endsWith("List") && typeof apiVersion === "string") {
      // mutant: kind-not-filled-in
      this.#objects.fillIn(kind.slice(0, -"List".length), apiVersion);
    }
  }

  #tell(outline: Outline): void {
    const { resourceVersion, continue: token, remainingItemCount } = outline.metadata ?? {};
    this.#told = {
      ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
      ...(typeof token === "string" && token !== "" ? { continue: token } : {}),
      ...(typeof remainingItemCount === "number" ? { remainingItemCount } : {}),
    };
  }

  #item(bytes: Uint8Array, start: number, end: number): void {
    if (this.#carry.length === 0) {
      this.#measure(end - start);
      this.#entries.push(this.#objects.read(bytes, start, end));
      return;
    }
    this.#append(this.#carry, bytes, start, end);
    this.#entries.push(this.#objects.read(this.#carry.bytes, 0, this.#carry.length));
    this.#carry.clear();
  }

  #check(outline: Outline): void {
    const { resource } = this.#options;
    if (typeof outline !== "object" || outline === null || Array.isArray(outline)) {
      this.#refuse(JSON.stringify(outline));
    }
    if (outline.kind === "Status" && outline.items === undefined) {
      const status = statusFrom(outline, 200);
      throw new StatusError(
        `Cannot list "${resourceName(resource)}": ${status.code} ${status.reason}: ${status.message}`,
        status,
      );
    }
    // A custom resource may well have lists of that kind, in a group of its own (client-go `isUnsupportedTableObject`).
    if (outline.kind === "Table" && String(outline.apiVersion).startsWith("meta.k8s.io/")) this.#refuse("a Table");
  }

  #refuse(found: string): never {
    throw new DecodeError(
      `Cannot read the list of "${resourceName(this.#options.resource)}": found ${found.slice(0, 80)}, expected a list`,
    );
  }

  #named(error: unknown): unknown {
    if (!(error instanceof DecodeError) && !(error instanceof SyntaxError)) return error;
    if (error.message.startsWith("Cannot ")) return error;
    return new DecodeError(`Cannot read the list of "${resourceName(this.#options.resource)}": ${error.message}`, {
      cause: error,
    });
  }
}
