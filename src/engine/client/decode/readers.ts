/**
 * Reads response bodies: lists, watches, and table rows.
 *
 * {@linkcode ListReader} and {@linkcode WatchReader} are the entry points. Both pass each object's bytes to an
 * `ObjectReader`. They cut a list's items out of the stream, so a list is never one string. They send no requests.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { keepLiterals } from "../../api/large_integers.ts";
import type { ListPart, WatchChange } from "../../api/lister_watcher.ts";
import { decoder, encoder, type KubernetesObject } from "../../api/object.ts";
import { isCustom, isSecret, resourceName, type TableColumn } from "../../api/resource.ts";
import { DecodeError, StatusError, statusFrom, statusText } from "../../api/status.ts";
import { brokenEntry, JsonEntry } from "../../entry/entry.ts";
import { RowEntry } from "../../entry/row_entry.ts";
import { asciiOf, type BodyDecoder, ByteBuffer, LARGEST_TEXT, LineSplitter, MAX_OBJECT_BYTES } from "./body_reader.ts";
import { ItemScanner } from "../../entry/item_scanner.ts";
import { skipValue } from "../../entry/json_text.ts";
import { NO_IDENTITY, notJson, ObjectReader, type ReadOptions, startsWith } from "./object_reader.ts";

const CELLS = encoder.encode(`{"cells":[`);
const OBJECT = encoder.encode(`,"object":`);
const TABLE = encoder.encode(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"`);
const ROWS = encoder.encode(`"},"columnDefinitions":null,"rows":[`);
const ROW_END = encoder.encode("}");
const TABLE_END = encoder.encode("]}");

/** A table in JSON, of a list or of one event (`Table` of meta.k8s.io). */
interface ServerTable {
  readonly kind?: unknown;
  readonly columnDefinitions?: readonly TableColumn[] | null;
  readonly rows?: readonly unknown[] | null;
}

/** Returns true for a table. A custom resource in its own group may also be called Table. */
function isTable(value: unknown): value is ServerTable {
  const { kind, apiVersion } = (value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown };
  return kind === "Table" && String(apiVersion).startsWith("meta.k8s.io/");
}

/**
 * Converts the bytes of rows to entries. It remembers the columns, because only a watch's first event has them. A row's
 * object stays unparsed, like in {@linkcode ObjectReader}, but its cells are parsed.
 *
 * If a server does not know tables, it sends objects. They become rows without cells. `R` is the row type.
 */
export class RowReader<R extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #objects: ObjectReader<KubernetesObject>;
  /** The columns; `undefined` while the server has sent objects, and no table. */
  #columns: readonly TableColumn[] | undefined;

  /** Takes the same options as {@linkcode ObjectReader}. */
  constructor(options: ReadOptions, withoutMetadata: "refused" | "broken" = "refused") {
    this.#options = options;
    this.#objects = new ObjectReader<KubernetesObject>(options, withoutMetadata);
  }

  /** Takes a table's columns. If it has none, the previous table's columns stay. */
  begin(table: ServerTable): void {
    const { columnDefinitions } = table;
    this.#columns = Array.isArray(columnDefinitions) ? columnDefinitions : this.#columns ?? [];
  }

  /** Works like `ObjectReader.fillIn`, for objects that are no rows. */
  fillIn(kind: string, apiVersion: string): void {
    this.#objects.fillIn(kind, apiVersion);
  }

  /** Always returns -1, because the metadata of a row's object is not at its beginning. */
  walk(): number {
    return -1;
  }

  /** Always false, because rows are not reduced to selected fields. */
  readonly projects = false;

  /** Always returns -1. */
  project(): number {
    return -1;
  }

  /**
   * Returns the row in `bytes[start, end)`, or the object if the server sends no tables. Returns `undefined` if it is
   * not in the shard.
   *
   * @throws {DecodeError} for the same reasons as `ObjectReader`.
   */
  read(bytes: Uint8Array, start: number, end: number): CacheEntry<R> | undefined {
    if (this.#columns === undefined) return this.#rowOf(this.#objects.read(bytes, start, end), undefined);
    const cellsStart = start + CELLS.length - 1;
    const cellsEnd = startsWith(bytes, start, end, CELLS) ? skipValue(bytes, cellsStart, end) : -1;
    if (
      cellsEnd === -1 || !startsWith(bytes, cellsEnd, end, OBJECT) ||
      !startsWith(bytes, end - ROW_END.length, end, ROW_END)
    ) {
      return this.entryOf(this.#parse(bytes, start, end)); // an unusual layout; rows of finished pods have conditions
    }
    const entry = this.#objects.read(bytes, cellsEnd + OBJECT.length, end - 1);
    return entry && this.#rowOf(entry, this.#parse(bytes, cellsStart, cellsEnd) as readonly unknown[]);
  }

  /** Works like `read`, for a parsed value. */
  entryOf(value: unknown): CacheEntry<R> | undefined {
    if (this.#columns === undefined) return this.#rowOf(this.#objects.entryOf(value), undefined);
    const { cells, object } = (value ?? {}) as { readonly cells?: unknown; readonly object?: unknown };
    return this.#rowOf(this.#objects.entryOf(object), Array.isArray(cells) ? cells : []);
  }

  /**
   * Returns an event's row. The event's object is a table with one row in `bytes[start, end)`. @throws {DecodeError}
   */
  readEvent(bytes: Uint8Array, start: number, end: number): CacheEntry<R> | undefined {
    if (
      this.#columns !== undefined && startsWith(bytes, start, end, TABLE) && startsWith(bytes, end - 2, end, TABLE_END)
    ) {
      const version = bytes.indexOf(ROWS[0], start + TABLE.length);
      if (version !== -1 && startsWith(bytes, version, end, ROWS)) {
        return this.read(bytes, version + ROWS.length, end - 2);
      }
    }
    return this.eventOf(this.#parse(bytes, start, end));
  }

  /** Works like `readEvent`, for a parsed value. */
  eventOf(value: unknown): CacheEntry<R> | undefined {
    if (!isTable(value)) return this.#rowOf(this.#objects.entryOf(value), undefined);
    this.begin(value);
    const { rows } = value;
    if (!Array.isArray(rows) || rows.length !== 1) {
      throw new DecodeError(
        `Cannot read an event of "${resourceName(this.#options.resource)}": its table has ${
          rows?.length ?? 0
        } rows instead of one`,
      );
    }
    return this.entryOf(rows[0]);
  }

  /** Returns broken and known entries unchanged. */
  #rowOf(
    entry: CacheEntry<KubernetesObject> | undefined,
    cells: readonly unknown[] | undefined,
  ): CacheEntry<R> | undefined {
    if (entry === undefined) return undefined;
    const isNew = entry instanceof JsonEntry && entry.error === undefined;
    const row = isNew ? new RowEntry(entry, cells && this.#columns, cells) : entry;
    return row as CacheEntry<KubernetesObject> as CacheEntry<R>;
  }

  #parse(bytes: Uint8Array, start: number, end: number): unknown {
    const { resource } = this.#options;
    const text = decoder.decode(bytes.subarray(start, end));
    try {
      const value = JSON.parse(text);
      if (isCustom(resource)) keepLiterals(value, text);
      return value;
    } catch (cause) {
      throw notJson("a row", resource, cause);
    }
  }
}

/** An item is deferred if at most so many bytes of it are there. */
const MOST_DEFERRED = 16_384;

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
 * Decodes a list while its body arrives. It cuts the items out of the bytes. The rest, the outline, is small enough to
 * be parsed in one step.
 *
 * The version and the next page's token are in the first part that knows them. For built-in kinds this is the first
 * part, and for custom resources the last part. The last part always has them too.
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
  /** True if `#carry` has not been scanned: it is projected once more bytes are there, which scans an item once. */
  #isDeferred = false;
  /** False once that has failed, because items are large or projections decline. */
  #defers = true;
  readonly #maxBytes: number;
  /** The entries of the current part. */
  #entries: CacheEntry<T>[] = [];
  /** The list's metadata, as far as it is known; replaced when more is known. */
  #metadata: Omit<ListPart<T>, "entries"> = {};

  /** Decodes a list with the objects that `options` describe. */
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
      all: (bytes, start, end) => this.#all(bytes, start, end),
      head: (bytes, start, end) => this.#objects.walk(bytes, start, end),
      part: (bytes, start, end) => this.#append(this.#carry, bytes, start, end),
      item: (bytes, start, end) => this.#item(bytes, start, end),
    }, this.#rows !== undefined);
  }

  /**
   * Returns the items that end in this chunk.
   *
   * @throws {DecodeError} if the chunk cannot be part of a list, or an object is longer than allowed.
   */
  push(chunk: Uint8Array): ListPart<T> {
    const before = this.#metadata;
    try {
      const from = this.#isDeferred ? this.#resume(chunk) : 0;
      if (from > 0) chunk = chunk.subarray(from);
      if (this.#projects && chunk.length <= LARGEST_TEXT) this.#text = asciiOf(chunk, 0, chunk.length);
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
   * Returns the last part: the list's metadata. It has items only if the list has an unusual outline.
   *
   * @throws {StatusError} if the body is a failure's `Status`.
   * @throws {DecodeError} if the body is no list, or is cut off.
   */
  end(): ListPart<T> {
    const { resource } = this.#options;
    if (this.#isDeferred) this.#scanDeferred();
    const text = decoder.decode(this.#outline.bytes.subarray(0, this.#outline.length));
    let outline: Outline;
    try {
      if (this.#scanner.inItems) throw new SyntaxError("it ends in the middle of its items");
      outline = JSON.parse(text);
      if (isCustom(resource)) keepLiterals(outline, text);
    } catch (cause) {
      if (!text.trimStart().startsWith("<")) throw notJson("the list", resource, cause);
      const found = JSON.stringify(text.trim().slice(0, 80));
      const advice = "Check whether a proxy or a login page answers instead of the API server";
      throw this.#fault(`${found} is not a list in JSON. ${advice}`, { cause });
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

  /** Projects an item. An item that may continue in the next chunk ends for the scanner here, and is deferred. */
  #all(bytes: Uint8Array, start: number, end: number): number {
    const behind = this.#objects.project(bytes, start, end, this.#text);
    if (behind !== -1 || !this.#projects || !this.#defers || end - start > MOST_DEFERRED) return behind;
    this.#carry.append(bytes, start, end);
    this.#isDeferred = true;
    return end;
  }

  /** Reads the deferred item with more bytes. Returns the position in the chunk after it. */
  #resume(chunk: Uint8Array): number {
    const carry = this.#carry;
    const { length } = carry;
    carry.append(chunk, 0, Math.min(chunk.length, MOST_DEFERRED));
    const end = this.#objects.project(carry.bytes, 0, carry.length);
    if (end === -1) {
      carry.truncate(length);
      this.#scanDeferred();
      return 0;
    }
    this.#checkLength(end);
    this.#take(this.#objects.read(carry.bytes, 0, end));
    carry.clear();
    this.#isDeferred = false;
    return end - length;
  }

  /** Scans the deferred beginning of an item like any other bytes. */
  #scanDeferred(): void {
    const bytes = this.#carry.bytes.slice(0, this.#carry.length);
    this.#carry.clear();
    this.#isDeferred = this.#defers = false;
    this.#scanner.reopen();
    try {
      this.#scanner.push(bytes);
    } catch (error) {
      throw this.#named(error);
    }
  }

  #append(buffer: ByteBuffer, bytes: Uint8Array, start: number, end: number): void {
    this.#checkLength(buffer.length + end - start);
    buffer.append(bytes, start, end);
  }

  #checkLength(length: number): void {
    if (length <= this.#maxBytes) return;
    const advice = "Raise maxObjectBytes if your objects are that large";
    throw this.#fault(`an object is longer than ${this.#maxBytes} bytes. ${advice}`);
  }

  /** Parses the outline so far, with its brackets closed: it has kind and apiVersion, and mostly the metadata. */
  #begin(): void {
    const text = decoder.decode(this.#outline.bytes.subarray(0, this.#outline.length));
    const outline = JSON.parse(`${text}]}`) as Outline;
    this.#fillIn(outline);
    this.#takeMetadata(outline);
  }

  /** Items in lists of built-in kinds have neither kind nor apiVersion; rows have no columns. */
  #fillIn(outline: Outline): void {
    const { kind, apiVersion } = outline;
    if (this.#rows !== undefined && isTable(outline)) this.#rows.begin(outline);
    if (typeof kind === "string" && kind !== "List" && kind.endsWith("List") && typeof apiVersion === "string") {
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
    if (this.#isDeferred) return;
    if (this.#carry.length === 0) {
      this.#checkLength(end - start);
      return this.#take(this.#objects.read(bytes, start, end, this.#text));
    }
    this.#append(this.#carry, bytes, start, end);
    this.#take(this.#objects.read(this.#carry.bytes, 0, this.#carry.length));
    this.#carry.clear();
  }

  /** Adds an entry to the part, unless its object is left out. */
  #take(entry: CacheEntry<T> | undefined): void {
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
      throw new StatusError(`Cannot list "${resourceName(resource)}": ${statusText(status)}`, status);
    }
    // client-go `isUnsupportedTableObject`
    if (this.#rows === undefined && isTable(outline)) this.#refuse("a Table");
  }

  #refuse(found: string): never {
    const shown = isSecret(this.#options.resource) ? "something else" : found.slice(0, 80);
    throw this.#fault(`the server sent ${shown} instead of a list`);
  }

  #fault(problem: string, options: ErrorOptions = {}): DecodeError {
    return new DecodeError(`Cannot read the list of "${resourceName(this.#options.resource)}": ${problem}`, options);
  }

  /** The error with the list's name in its message. */
  #named(cause: unknown): unknown {
    return cause instanceof SyntaxError ? notJson("the list", this.#options.resource, cause) : cause;
  }
}

const CLOSE_BRACE = 125;
const TYPES = ["ADDED", "MODIFIED", "DELETED"] as const;
const PREFIXES = TYPES.map((type) => ({ type, bytes: encoder.encode(`{"type":"${type}","object":`) }));

/**
 * Decodes a watch: each chunk of the body becomes one batch of changes. A batch may be empty, which shows that the
 * connection is alive. An incomplete line at the end of the body is dropped.
 *
 * A line that is no event, or is an `ERROR` event, fails the watch after the changes before it. The failure is a
 * `DecodeError` or a `StatusError`.
 */
export class WatchReader<T extends KubernetesObject> implements BodyDecoder<readonly WatchChange<T>[]> {
  readonly #lines: LineSplitter;
  readonly #events: WatchEventReader<T>;
  /** The changes of the current chunk. */
  #batch: WatchChange<T>[] = [];
  #failure: { readonly error: unknown } | undefined;

  /** Decodes a watch with the objects that `options` describe. */
  constructor(options: ReadOptions) {
    const lines = new LineSplitter(options.maxObjectBytes);
    this.#lines = lines;
    this.#events = new WatchEventReader<T>(options);
  }

  /** The error that ends the watch, after the latest batch. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Returns the changes whose lines end in this chunk. */
  push(chunk: Uint8Array): readonly WatchChange<T>[] {
    const batch: WatchChange<T>[] = this.#batch = [];
    try {
      this.#lines.push(chunk, this.#line);
    } catch (error) {
      this.#failure = { error };
    }
    return batch;
  }

  /** Returns nothing, because an incomplete line is no event. */
  end(): undefined {
    return undefined;
  }

  readonly #line = (bytes: Uint8Array, start: number, end: number, text: string | undefined): void => {
    const change = this.#events.read(bytes, start, end, text);
    if (change !== undefined) this.#batch.push(change);
  };
}

/** The object of a bookmark, or its table. */
interface Bookmarked {
  readonly metadata?: { readonly resourceVersion?: unknown; readonly annotations?: Readonly<Record<string, unknown>> };
  readonly rows?: readonly { readonly object?: Bookmarked }[];
}

/** Decodes one line of a watch. */
class WatchEventReader<T extends KubernetesObject> {
  readonly #options: ReadOptions;
  readonly #objects: Pick<ObjectReader<T>, "read" | "entryOf">;
  /** The reader of rows, if tables were asked for. */
  readonly #rows: RowReader<T> | undefined;

  constructor(options: ReadOptions) {
    this.#options = options;
    if (options.resource.representation === "table") this.#rows = new RowReader<T>(options);
    const rows = this.#rows;
    this.#objects = rows === undefined ? new ObjectReader<T>(options) : {
      read: (bytes, start, end) => rows.readEvent(bytes, start, end),
      entryOf: (value) => rows.eventOf(value),
    };
  }

  /** Returns the change in a line; `undefined` if its object is not in the shard. */
  read(bytes: Uint8Array, start: number, end: number, text: string | undefined): WatchChange<T> | undefined {
    for (const prefix of PREFIXES) {
      if (bytes[start + 9] !== prefix.bytes[9] || !startsWith(bytes, start, end, prefix.bytes)) continue;
      if (bytes[end - 1] !== CLOSE_BRACE) break;
      const entry = this.#objects.read(bytes, start + prefix.bytes.length, end - 1, text);
      return entry && { type: prefix.type, entry };
    }
    return this.#parse(text === undefined ? decoder.decode(bytes.subarray(start, end)) : text.slice(start, end));
  }

  /** Parses a bookmark, an error, or an event in another layout than the API server's. */
  #parse(text: string): WatchChange<T> | undefined {
    const name = resourceName(this.#options.resource);
    let event: { type?: unknown; object?: unknown };
    try {
      event = JSON.parse(text);
      if (isCustom(this.#options.resource)) keepLiterals(event, text);
    } catch (cause) {
      const hint = text.startsWith("<")
        ? ". Check whether a proxy or a login page answers instead of the API server"
        : "";
      throw new DecodeError(
        `Cannot read an event of "${name}": ${this.#found(text)} is not a line of JSON${hint}`,
        isSecret(this.#options.resource) ? {} : { cause },
      );
    }
    switch (event?.type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED": {
        const entry = this.#objects.entryOf(event.object);
        return entry && { type: event.type, entry };
      }
      case "BOOKMARK": {
        const { metadata, rows } = (event.object ?? {}) as Bookmarked;
        if (typeof metadata?.resourceVersion !== "string" || metadata.resourceVersion === "") {
          return this.#skipBookmark(text);
        }
        // A table may have the columns in its first bookmark, and has the annotations in its only row.
        if (isTable(event.object)) this.#rows?.begin(event.object);
        const annotations = metadata.annotations ?? rows?.[0]?.object?.metadata?.annotations;
        return {
          type: "BOOKMARK",
          resourceVersion: metadata.resourceVersion,
          initialEventsEnd: annotations?.["k8s.io/initial-events-end"] === "true",
        };
      }
      case "ERROR": {
        const status = statusFrom(event.object);
        throw new StatusError(`Cannot go on watching "${name}": ${statusText(status)}`, status);
      }
      default:
        throw new DecodeError(`Cannot read an event of "${name}": ${this.#found(text)} has an unknown type`);
    }
  }

  /** A bookmark without a version says nothing, and aggregated servers may send many: the first one is reported. */
  #skipBookmark(text: string): WatchChange<T> | undefined {
    const { reported = { bookmark: true }, resource } = this.#options;
    if (reported.bookmark) return undefined;
    reported.bookmark = true;
    const error = new DecodeError(
      `Cannot use the bookmarks of "${resourceName(resource)}": ${this.#found(text)} has no resourceVersion. ` +
        "Such bookmarks are skipped",
    );
    return { type: "MODIFIED", entry: brokenEntry<T>(NO_IDENTITY, error) };
  }

  /** Returns a line's beginning, for messages. Lines about Secrets may have data, and are not quoted. */
  #found(text: string): string {
    return isSecret(this.#options.resource) ? `${text.length} characters` : excerpt(text);
  }
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
