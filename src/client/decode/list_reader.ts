import type { ListPart } from "../../api/lister_watcher.ts";
import type { Entry } from "../../api/options.ts";
import { DecodeError, StatusError, statusFrom } from "../../api/status.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { resourceName } from "../../api/resource.ts";
import { asciiOf, type BodyDecoder, ByteBuffer, LARGEST_TEXT, MAX_OBJECT_BYTES, utf8 } from "./body_reader.ts";
import { ItemScanner } from "./json_text.ts";
import { ObjectReader, type ReadOptions } from "./object_reader.ts";
import { isTable, RowReader } from "./row_reader.ts";
import { messageOf } from "../../errors/errors.ts";

/** A list without its items. */
interface Outline {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly metadata?: {
    readonly resourceVersion?: unknown;
    readonly continue?: unknown;
    readonly remainingItemCount?: unknown;
  };
  readonly items?: unknown;
  readonly rows?: unknown;
}

/**
 * Decodes a list while its body arrives. The items are cut out of the bytes; the rest, the outline, is small enough to
 * be parsed at once.
 *
 * The version and the token of the next page are in the first part that knows them: the first one for built-in kinds,
 * the last one for custom resources. They are in the last part too.
 */
export class ListReader<T extends KubernetesObject> implements BodyDecoder<ListPart<T>> {
  readonly #options: ReadOptions;
  readonly #objects: ObjectReader<T> | RowReader<T>;
  /** The reader of rows, if a table was asked for. */
  readonly #rows: RowReader<T> | undefined;
  readonly #scanner: ItemScanner;
  /** True if items may be projected, which looks for managedFields in the chunk's text. */
  readonly #projects: boolean;
  /** The text of the current chunk, if it is searched and all ASCII. */
  #text: string | undefined;
  /** The bytes of the list so far, without its items. */
  readonly #outline = new ByteBuffer();
  /** The beginning of an item that continues in the next chunk. */
  readonly #carry = new ByteBuffer();
  readonly #maxBytes: number;
  /** The entries of the current part. */
  #entries: Entry<T>[] = [];
  /** The list's metadata, as far as it is known; replaced when more is known. */
  #metadata: Omit<ListPart<T>, "entries"> = {};

  /** Decodes a list of the objects that `options` describe. */
  constructor(options: ReadOptions) {
    this.#options = options;
    this.#maxBytes = options.maxObjectBytes ?? MAX_OBJECT_BYTES;
    // One bad item leaves the others readable.
    if (options.resource.representation === "table") this.#rows = new RowReader<T>(options, "broken");
    this.#objects = this.#rows ?? new ObjectReader<T>(options, "broken");
    this.#projects = this.#objects.projects;
    this.#scanner = new ItemScanner({
      outline: (bytes, start, end) => this.#append(this.#outline, bytes, start, end),
      itemsBegin: () => this.#begin(),
      all: (bytes, start, end) => this.#objects.project(bytes, start, end, this.#text),
      head: (bytes, start, end) => this.#objects.walk(bytes, start, end),
      part: (bytes, start, end) => this.#append(this.#carry, bytes, start, end),
      item: (bytes, start, end) => this.#item(bytes, start, end),
    }, this.#rows !== undefined);
  }

  /**
   * The items that end in this chunk.
   *
   * @throws {DecodeError} when the chunk cannot be part of a list, or an object is longer than allowed.
   */
  push(chunk: Uint8Array): ListPart<T> {
    const before = this.#metadata;
    if (this.#projects && chunk.length <= LARGEST_TEXT) this.#text = asciiOf(chunk, 0, chunk.length);
    try {
      this.#scanner.push(chunk);
    } catch (error) {
      throw this.#named(error);
    } finally {
      this.#text = undefined;
    }
    const entries = this.#entries;
    this.#entries = [];
    return this.#metadata === before ? { entries } : { entries, ...this.#metadata };
  }

  /**
   * The last part: the list's metadata. Only a list with an unusual outline has items in it.
   *
   * @throws {StatusError} when the body is a failure's `Status`.
   * @throws {DecodeError} when the body is no list, or is cut off.
   */
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
        : messageOf(cause);
      throw new DecodeError(`Cannot read the list of "${resourceName(resource)}": ${hint}`, { cause });
    }
    this.#check(outline);
    // `items` is still in the outline if the scanner did not recognize it: it is null, or its key has escapes.
    if (!this.#scanner.sawItems) {
      if (outline.items !== undefined && outline.items !== null && !Array.isArray(outline.items)) this.#refuse(text);
      if (outline.items === undefined && !String(outline.kind).endsWith("List") && !isTable(outline)) {
        this.#refuse(text);
      }
      this.#fillIn(outline);
      const items = isTable(outline) ? outline.rows : outline.items;
      for (const item of (items ?? []) as unknown[]) this.#take(this.#objects.entryOf(item));
    }
    this.#takeMetadata(outline);
    return { entries: this.#entries, ...this.#metadata };
  }

  #append(buffer: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
    this.#checkLength(buffer.length + end - start);
    buffer.append(bytes, start, end);
  }

  #checkLength(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new DecodeError(
      `an object is longer than ${this.#maxBytes} bytes; raise maxObjectBytes if objects are that large`,
    );
  }

  /** Parses the outline so far, with its brackets closed: it has kind and apiVersion, and mostly the metadata. */
  #begin(): void {
    const text = utf8.decode(this.#outline.bytes.subarray(0, this.#outline.length));
    const outline = JSON.parse(`${text}]}`) as Outline;
    this.#fillIn(outline);
    this.#takeMetadata(outline);
  }

  /** Items in lists of built-in kinds have neither kind nor apiVersion; rows have no columns. */
  #fillIn(outline: Outline): void {
    const { kind, apiVersion } = outline;
    if (this.#rows !== undefined && isTable(outline)) this.#rows.begin(outline);
    if (typeof kind === "string" && kind !== "List" && kind.endsWith("List") && typeof apiVersion === "string") {
      // mutant: kind-not-filled-in
      this.#objects.fillIn(kind.slice(0, -"List".length), apiVersion);
    }
  }

  #takeMetadata(outline: Outline): void {
    const { resourceVersion, continue: token, remainingItemCount } = outline.metadata ?? {};
    this.#metadata = {
      ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
      ...(typeof token === "string" && token !== "" ? { continue: token } : {}),
      ...(typeof remainingItemCount === "number" ? { remainingItemCount } : {}),
    };
  }

  #item(bytes: Uint8Array, start: number, end: number): void {
    if (this.#carry.length === 0) {
      this.#checkLength(end - start);
      return this.#take(this.#objects.read(bytes, start, end));
    }
    this.#append(this.#carry, bytes, start, end);
    this.#take(this.#objects.read(this.#carry.bytes, 0, this.#carry.length));
    this.#carry.clear();
  }

  /** Adds an entry to the part, unless its object is left out. */
  #take(entry: Entry<T> | undefined): void {
    if (entry === undefined) return;
    const { shard } = this.#options;
    if (shard?.by === "controller" && entry.key !== "" && !shard.has(entry)) shard.dropped++;
    else this.#entries.push(entry);
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
    // client-go `isUnsupportedTableObject`
    if (this.#rows === undefined && isTable(outline)) this.#refuse("a Table");
  }

  #refuse(found: string): never {
    throw new DecodeError(
      `Cannot read the list of "${resourceName(this.#options.resource)}": found ${found.slice(0, 80)}, expected a list`,
    );
  }

  /** The error with the list's name in its message. */
  #named(error: unknown): unknown {
    if (!(error instanceof DecodeError) && !(error instanceof SyntaxError)) return error;
    if (error.message.startsWith("Cannot ")) return error;
    return new DecodeError(`Cannot read the list of "${resourceName(this.#options.resource)}": ${error.message}`, {
      cause: error,
    });
  }
}
