/**
 * Reads an informer's cache.
 *
 * {@linkcode Lister} is the entry point. Listers and indexers return objects, which are parsed on first read; a
 * quarantine counts and reports objects that cannot be read. This folder does not fill the cache and sends no requests.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { FieldTree } from "../../api/fields.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { Resource, TableRow } from "../../api/resource.ts";
import { FieldSelector, formatFieldPath, LabelSelector } from "../../api/selector.ts";
import { DecodeError } from "../../api/status.ts";
import { monotonicMs } from "../../async/time.ts";
import { entryOf, entryText, entryWithin, jsonOf, parseObject } from "../../entry/entry.ts";
import { parsesObjects, valuesAt } from "../../entry/path.ts";
import { checkNames } from "../../errors/option_names.ts";
import { Indexer, type Indexers, type IndexFunction, type ReadonlyIndexer } from "../../store/indexer.ts";
import type { CacheScope } from "./cache_scope.ts";
import { EntryTransform, type EntryTransformOptions, Quarantine } from "./entry_transform.ts";

/** The number of objects in {@linkcode MemoryReport.largest}. */
const MOST_LARGEST = 10;

/**
 * The sizes of cached objects. All bytes are those of JSON text, as the objects arrived, without the managedFields that
 * were dropped. An object that was parsed has no text any more; the size of its parts in memory, a multiple of that of
 * its text, is not measured.
 */
export interface MemoryReport {
  /** The number of objects. */
  readonly objects: number;
  /** The number of objects that have been parsed. */
  readonly parsed: number;
  /** The size of the text that the cache holds: that of the objects that have not been parsed. */
  readonly unreadBytes: number;
  /** The size of the text that the parsed objects had. */
  readonly parsedBytes: number;
  /** The number of objects whose text had no known size: those of a transform, and those that cannot be read. */
  readonly unmeasured: number;
  /** The ten objects with the most text, the largest first. */
  readonly largest: readonly LargeObject[];
  /** The namespaces, that with the most text first; one named `""` for objects without a namespace. */
  readonly namespaces: readonly NamespaceMemory[];
}

/** One of the largest objects. */
export interface LargeObject {
  /** Its key. */
  readonly key: ObjectKey;
  /** The size of its text. */
  readonly bytes: number;
}

/** The sizes of the objects in a namespace. */
export interface NamespaceMemory {
  /** The namespace's name. */
  readonly namespace: string;
  /** The number of objects. */
  readonly objects: number;
  /** The size of the text of all of them. */
  readonly bytes: number;
}

/** Adds up sizes of entries, without parsing or keeping them. */
export class MemoryMeter {
  #objects = 0;
  #parsed = 0;
  #unreadBytes = 0;
  #parsedBytes = 0;
  #unmeasured = 0;
  /** `#largest` has the largest objects so far, the largest first, {@linkcode MOST_LARGEST} at most. */
  #largest: LargeObject[] = [];
  readonly #namespaces = new Map<string, { objects: number; bytes: number }>();

  /** Adds an entry. */
  add({ key, namespace, textBytes, isParsed = true }: CacheEntry<unknown>): void {
    this.#objects++;
    if (isParsed) this.#parsed++;
    if (textBytes === undefined) this.#unmeasured++;
    const bytes = textBytes ?? 0;
    if (isParsed) this.#parsedBytes += bytes;
    else this.#unreadBytes += bytes;
    const sum = this.#namespaces.get(namespace) ?? { objects: 0, bytes: 0 };
    this.#namespaces.set(namespace, sum);
    sum.objects++;
    sum.bytes += bytes;
    const last = this.#largest[MOST_LARGEST - 1];
    if (bytes === 0 || (last !== undefined && last.bytes >= bytes)) return;
    this.#largest = [...this.#largest, { key, bytes }].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_LARGEST);
  }

  /** The number of objects so far. */
  get objects(): number {
    return this.#objects;
  }

  /** The size of all text so far. */
  get bytes(): number {
    return this.#unreadBytes + this.#parsedBytes;
  }

  /** The sizes so far. */
  get report(): MemoryReport {
    return {
      objects: this.#objects,
      parsed: this.#parsed,
      unreadBytes: this.#unreadBytes,
      parsedBytes: this.#parsedBytes,
      unmeasured: this.#unmeasured,
      largest: [...this.#largest],
      namespaces: Array.from(this.#namespaces, ([namespace, sum]) => ({ namespace, ...sum }))
        .sort((a, b) => b.bytes - a.bytes),
    };
  }
}

/** About the bytes of a cached object beside its text: its entry, the strings of that, and its place in the store. */
const ENTRY_BYTES = 300;

/**
 * Returns about the bytes that an entry holds, the same before and after a parse: the size of its text, or of the JSON
 * of an object that has none, and what there is beside it.
 */
export function heldBytes(entry: CacheEntry<unknown>): number {
  const { cells } = ((entry as { readonly unfrozen?: unknown }).unfrozen ?? entry) as Partial<TableRow>;
  const ofCells = cells === undefined ? 0 : jsonBytes(cells);
  return ENTRY_BYTES + entry.key.length + ofCells + (entry.textBytes ?? objectBytes(entry));
}

function objectBytes(entry: CacheEntry<unknown>): number {
  if (entry.error !== undefined) return 0;
  const { columns: _shared, ...object } = entry.object as Partial<TableRow>;
  return jsonBytes(object);
}

/** Returns the length of a value as JSON; 0 for one that cannot be written, such as a cyclic one. */
function jsonBytes(value: unknown): number {
  try {
    return jsonOf(value, "")?.length ?? 0;
  } catch {
    return 0;
  }
}

/** So many objects of a cache, and so many bytes of their texts, are looked at to find the largest fields. */
const SAMPLE = { objects: 32, bytes: 1_000_000 };

/** So many fields are named, with a share of this at least. */
const NAMED = { fields: 3, share: 0.05 };

/** A field, and its share of the text of objects. */
export interface FieldShare {
  /** The path of the field, as in the option `fields`. */
  readonly path: string;
  /** Its share, from 0 to 1. */
  readonly share: number;
}

/**
 * Returns the largest fields of objects, those of metadata and spec by their members, the largest first: up to three
 * that a projection could leave out. It parses the texts of up to 32 objects, and keeps nothing.
 */
export function largestFields(entries: readonly CacheEntry<unknown>[]): FieldShare[] {
  const sizes = new Map<string, number>();
  let total = 0;
  const step = Math.ceil(entries.length / SAMPLE.objects);
  for (let i = 0; i < entries.length && total < SAMPLE.bytes; i += step) {
    for (const [keys, size] of fieldSizes(entries[i] as CacheEntry<KubernetesObject>)) {
      const path = formatFieldPath(keys);
      total += size;
      if (!FieldTree.of([]).keeps(keys)) sizes.set(path, (sizes.get(path) ?? 0) + size);
    }
  }
  return Array.from(sizes, ([path, size]) => ({ path, share: size / total }))
    .sort((a, b) => b.share - a.share).slice(0, NAMED.fields).filter(({ share }) => share >= NAMED.share);
}

/** The sizes of the members of an object; none of one that cannot be read, as its readers report that. */
function fieldSizes(entry: CacheEntry<KubernetesObject>): [keys: readonly string[], size: number][] {
  let object: unknown;
  try {
    object = parseObject(entryText(entryWithin(entry)));
  } catch {
    return [];
  }
  const found: [readonly string[], number][] = [];
  for (const [name, member] of Object.entries(object as object)) {
    const isDivided = (name === "metadata" || name === "spec") && typeof member === "object" && member !== null;
    for (const [key, value] of Object.entries(isDivided ? member : { [name]: member })) {
      found.push([isDivided ? [name, key] : [name], key.length + 4 + jsonBytes(value)]);
    }
  }
  return found;
}

/** Returns a size for people: `"5.7 kB"`. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 999.5 && unit < units.length - 1; unit++) bytes /= 1_000;
  return `${unit === 0 || bytes >= 99.5 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

/** Selectors for objects of a cache. */
export interface CacheSelection {
  /** The labels that objects must have. @default {any} */
  readonly labelSelector?: string;
  /** The fields that objects must have, any path of an object, see {@linkcode FieldSelector.matches}. @default {any} */
  readonly fieldSelector?: string;
}

/**
 * Reads a cache by namespace, name and label selector, as requests to the server would (client-go: `Lister`).
 *
 * The objects are the cache's own and must not be changed.
 */
export interface Lister<T> {
  /**
   * Returns the objects that a label selector, or both selectors, match; all, without one. Of objects that do not
   * match, only the labels and the selected fields are parsed. For many reads by one field, an index is faster.
   *
   * @throws {SyntaxError} that points at the character at which a selector does not parse.
   * @throws {TypeError} when a selector names a label or field that the informer does not keep.
   */
  list(selector?: string | CacheSelection): T[];
  /**
   * Returns the object of a key, if it is cached.
   *
   * @throws {DecodeError} when it cannot be read.
   */
  get(key: ObjectKey): T | undefined;
  /** Returns a lister of one namespace. */
  namespace(namespace: string): NamespaceLister<T>;
}

/** Reads one namespace of a cache. */
export interface NamespaceLister<T> {
  /** Returns the objects of this namespace that a selector matches, as {@linkcode Lister.list} does. */
  list(selector?: string | CacheSelection): T[];
  /**
   * Returns the object of a name, if it is cached.
   *
   * @throws {DecodeError} when it cannot be read.
   */
  get(name: string): T | undefined;
}

/** Selectors, parsed: which entries they match. */
export class EntrySelector {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector | undefined;

  /** No `fields` match every entry. */
  constructor(labels: LabelSelector, fields: FieldSelector | undefined) {
    this.labels = labels;
    this.fields = fields;
  }

  /** Reads the labels and the selected fields alone. @throws {DecodeError} when they cannot be read. */
  matches(entry: CacheEntry<unknown>): boolean {
    if (this.labels.requirements.length > 0 && !this.labels.matches(entry.labels)) return false;
    return this.fields === undefined || this.fields.matchesValues((keys) => valuesAt(entry, keys));
  }
}

/** A {@linkcode Lister} over a cache of entries. */
export class EntryLister<T extends KubernetesObject> implements Lister<T> {
  readonly #entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">;
  readonly #quarantine: Quarantine<T>;
  readonly #fields: FieldTree | undefined;
  /** The selector last used, because most programs use one. */
  #parsed: { readonly text: string; readonly selector: LabelSelector } | undefined;

  /** `fields` are those to which objects are reduced, if they are. */
  constructor(
    entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">,
    quarantine: Quarantine<T>,
    fields?: FieldTree,
  ) {
    this.#entries = entries;
    this.#quarantine = quarantine;
    this.#fields = fields;
  }

  list(selector: string | CacheSelection = ""): T[] {
    return this.#select(() => this.#entries.list(), selector);
  }

  get(key: ObjectKey): T | undefined {
    const entry = this.#entries.getByKey(key);
    return entry && this.#quarantine.objectOf(entry);
  }

  /** As `ReadonlyIndexer.byIndex`: the objects that can be read. */
  byIndex(name: string, value: string): T[] {
    return this.#select(() => this.#entries.byIndex(name, value), "");
  }

  namespace(namespace: string): NamespaceLister<T> {
    return {
      list: (selector: string | CacheSelection = "") =>
        this.#select(() => this.#entries.byIndex("namespace", namespace), selector),
      get: (name) => this.get(namespace === "" ? name : `${namespace}/${name}`),
    };
  }

  /** Parses selectors. @throws as {@linkcode Lister.list}. */
  selector(given: string | CacheSelection): EntrySelector {
    if (typeof given !== "string") checkNames("select objects", given, "labelSelector fieldSelector");
    const { labelSelector = "", fieldSelector = "" } = typeof given === "string" ? { labelSelector: given } : given;
    const labels = this.#parse(labelSelector);
    const fields = fieldSelector === "" ? undefined : FieldSelector.parse(fieldSelector);
    for (const { key } of labels.requirements) this.#checkKept(["metadata", "labels", key]);
    for (const { keys } of fields?.requirements ?? []) this.#checkKept(keys);
    return new EntrySelector(labels, fields);
  }

  #select(entries: () => readonly CacheEntry<T>[], given: string | CacheSelection): T[] {
    const selector = this.selector(given);
    const objects: T[] = [];
    for (const entry of entries()) {
      try {
        if (selector.matches(entry)) objects.push(entry.object);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        this.#quarantine.add(entry, error);
      }
    }
    return objects;
  }

  #checkKept(keys: readonly string[]): void {
    if (this.#fields === undefined || this.#fields.keeps(keys)) return;
    throw new TypeError(
      `Cannot select by "${formatFieldPath(keys)}": the informer does not keep it; add the path to its fields`,
    );
  }

  #parse(text: string): LabelSelector {
    if (this.#parsed?.text !== text) this.#parsed = { text, selector: LabelSelector.parse(text) };
    return this.#parsed.selector;
  }
}

/** The number of namespaces, beyond twice those in use, at which unused ones are dropped. */
const SLACK = 64;

/**
 * Returns the index function that files entries by namespace. All objects of a namespace share one array of values, so
 * nothing is kept per object; arrays of namespaces that `inUse` does not return are dropped now and then.
 */
export function namespaceIndex<T>(inUse: () => readonly string[]): IndexFunction<CacheEntry<T>> {
  const shared = new Map<string, readonly string[]>();
  let limit = SLACK;
  return ({ namespace }) => {
    const known = shared.get(namespace);
    if (known !== undefined) return known;
    if (shared.size >= limit) {
      const used = new Set(inUse());
      for (const name of shared.keys()) if (!used.has(name)) shared.delete(name);
      limit = 2 * shared.size + SLACK;
    }
    const values = [namespace];
    shared.set(namespace, values);
    return values;
  };
}

/**
 * An index over a cache of entries that returns objects: they are parsed as they are read, and lists leave out broken
 * ones.
 */
class ParsingIndexer<T extends KubernetesObject, Name extends string> implements ReadonlyIndexer<T, Name> {
  readonly #entries: ReadonlyIndexer<CacheEntry<T>, Name>;
  readonly #quarantine: Quarantine<T>;

  constructor(entries: ReadonlyIndexer<CacheEntry<T>, Name>, quarantine: Quarantine<T>) {
    this.#entries = entries;
    this.#quarantine = quarantine;
  }

  get size(): number {
    return this.#entries.size;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** @throws {DecodeError} when the object cannot be read. */
  getByKey(key: string): T | undefined {
    const entry = this.#entries.getByKey(key);
    return entry && this.#quarantine.objectOf(entry);
  }

  list(): T[] {
    return this.#objectsOf(this.#entries.list());
  }

  byIndex(name: Name, value: string): T[] {
    return this.#objectsOf(this.#entries.byIndex(name, value));
  }

  indexKeys(name: Name, value: string): string[] {
    return this.#entries.indexKeys(name, value);
  }

  indexValues(name: Name): string[] {
    return this.#entries.indexValues(name);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const entry of this.#entries) {
      const [object] = this.#objectsOf([entry]);
      if (object !== undefined) yield object;
    }
  }

  #objectsOf(entries: readonly CacheEntry<T>[]): T[] {
    const objects: T[] = [];
    for (const entry of entries) {
      try {
        objects.push(entry.object);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        this.#quarantine.add(entry, error);
      }
    }
    return objects;
  }
}

/** The cached objects of an informer, and what reads them. */
export class ObjectCache<T extends KubernetesObject> {
  /** The objects, as entries that are not parsed. */
  readonly store: Indexer<CacheEntry<T>, string>;
  /** Returns the bytes that an entry holds; `undefined` if they are not counted. */
  readonly sizeOf: ((entry: CacheEntry<T>) => number) | undefined;
  /** Those that cannot be read. */
  readonly quarantine: Quarantine<T>;
  /** Reads them by key and by index, as objects. */
  readonly indexer: ParsingIndexer<T, "namespace">;
  /** Reads them by namespace, name and selector. */
  readonly lister: EntryLister<T>;

  /** Prepares entries for the store. */
  readonly entryTransform: EntryTransform<T>;
  readonly #fields: FieldTree | undefined;

  /**
   * `report` receives the errors of objects that cannot be read, and of index functions. With `counts`, the store
   * counts the bytes that it holds.
   */
  constructor(
    resource: Resource | undefined,
    options: Omit<EntryTransformOptions<T>, "report"> & {
      readonly parse: "lazy" | "eager";
      readonly cluster?: string;
    },
    report: (error: unknown) => void,
    counts = false,
  ) {
    const { transform, freeze, parse, cluster } = options;
    this.sizeOf = counts ? heldBytes : undefined;
    this.store = new Indexer<CacheEntry<T>, "namespace">({
      keyOf: (entry) => entry.key,
      indexers: { namespace: namespaceIndex(() => this.store.indexValues("namespace")) },
      byKey: ["namespace"],
      sizeOf: this.sizeOf,
    });
    this.entryTransform = new EntryTransform<T>({ transform, freeze, report }, parse === "eager");
    this.quarantine = new Quarantine<T>(report, (entry) => this.store.getByKey(entry.key) === entry, cluster);
    this.indexer = new ParsingIndexer(this.store, this.quarantine);
    this.#fields = resource?.fields && FieldTree.of(resource.fields);
    this.lister = this.listerOf(this.store);
  }

  /** Returns a lister of entries in the form of the cached ones. */
  listerOf(entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">): EntryLister<T> {
    return new EntryLister<T>(entries, this.quarantine, this.#fields);
  }

  /** Returns all entries, or the one of a key. */
  entries(key?: ObjectKey): readonly CacheEntry<T>[] {
    if (key === undefined) return this.store.list();
    const entry = this.store.getByKey(key);
    return entry === undefined ? [] : [entry];
  }

  /** Adds indexes and fills them. @throws {Error} when one of these names exists; then it adds none. */
  addIndexers(indexers: Indexers<T, string>): void {
    const wrapped = Object.entries(indexers).map(([name, valuesOf]) => {
      return [name, this.entryTransform.indexFunction(name, valuesOf)];
    });
    this.store.withIndexers(Object.fromEntries(wrapped));
    if (Object.values(indexers).some(parsesObjects)) this.entryTransform.reads = true;
    // Filling the indexes has parsed entries that had not been read before.
    for (const entry of this.store) if (entry.error !== undefined) this.quarantine.add(entry, entry.error);
  }

  /** The sizes of the objects. It looks at all of them, and parses none. */
  get memory(): MemoryReport {
    const meter = new MemoryMeter();
    for (const entry of this.store) meter.add(entry);
    return meter.report;
  }
}

/** The state of an object that is read in place of the cached one. */
export interface Cover {
  /** The object, as the server has it; `undefined` if there is none, or none that the cache selects. */
  readonly object: KubernetesObject | undefined;
  /** The time at which the cover ends in any case, of the monotonic clock. */
  readonly dueMs: number;
  /** Returns `true` once the cached object is to be read. It is asked at each read. */
  isOver(): boolean;
}

/** A cover, and its entry since it was first read. */
interface Covered<T> {
  readonly cover: Cover;
  /** The object in the form of the cached ones. */
  readonly object: T | undefined;
  entry: CacheEntry<T> | undefined;
}

/**
 * Reads a cache whose objects are covered by others, which are selected, reduced and transformed as the cached ones.
 * The cache itself, its handlers and its other readers know nothing of that. A read without covers costs the same.
 */
export class CacheOverlay<T extends KubernetesObject> {
  /** Reads what is covered, and the rest of the cache. */
  readonly lister: EntryLister<T>;
  readonly #cache: ObjectCache<T>;
  readonly #scope: CacheScope;
  /** By key, in the order in which they were set. */
  readonly #covered = new Map<ObjectKey, Covered<T>>();

  /** Covers nothing yet. */
  constructor(cache: ObjectCache<T>, scope: CacheScope) {
    this.#cache = cache;
    this.#scope = scope;
    this.lister = cache.listerOf(this);
  }

  /** True if the objects have the managedFields of all managers, or of one manager. */
  get hasManagedFields(): boolean {
    return this.#scope.form.managedFields !== "drop";
  }

  /** The number of covers, which may be over. */
  get size(): number {
    return this.#covered.size;
  }

  /**
   * Covers an object, instead of a cover before. An object of which the form of the cached ones cannot be made is not
   * covered: of a row, or of another version or kind, such as that of a subresource.
   */
  cover(key: ObjectKey, cover: Cover): void {
    const nowMs = monotonicMs();
    for (const [key, { cover: { dueMs } }] of this.#covered) {
      if (dueMs > nowMs) break;
      this.#covered.delete(key);
    }
    const { isPlain } = this.#cache.entryTransform;
    const own = cover.object === undefined || isPlain ? cover.object : structuredClone(cover.object);
    const object = own && this.#scope.formed(own) as T | undefined;
    if (own !== undefined && object === undefined) return;
    this.#covered.delete(key);
    this.#covered.set(key, { cover, object, entry: undefined });
  }

  /** The cover of a key, if it is not over. */
  coverOf(key: ObjectKey): Cover | undefined {
    return this.#live(key)?.cover;
  }

  /** Removes the cover of a key. */
  uncover(key: ObjectKey): void {
    this.#covered.delete(key);
  }

  /** As `ReadonlyIndexer.getByKey`. */
  getByKey(key: ObjectKey): CacheEntry<T> | undefined {
    const covered = this.#covered.size === 0 ? undefined : this.#at(key);
    return covered === undefined ? this.#cache.store.getByKey(key) : covered.entry;
  }

  /** As `ReadonlyIndexer.list`. */
  list(): CacheEntry<T>[] {
    return this.#over(this.#cache.store.list(), () => true);
  }

  /** As `ReadonlyIndexer.byIndex`. */
  byIndex(name: string, value: string): CacheEntry<T>[] {
    const { store } = this.#cache;
    return this.#over(store.byIndex(name, value), (entry) => store.indexValuesOf(name, entry).includes(value));
  }

  #over(cached: CacheEntry<T>[], selects: (entry: CacheEntry<T>) => boolean): CacheEntry<T>[] {
    if (this.#covered.size === 0) return cached;
    const covers = [...this.#covered.keys()].flatMap((key) => this.#at(key)?.entry ?? []);
    return [...cached.filter(({ key }) => !this.#covered.has(key)), ...covers.filter(selects)];
  }

  /** The cover of a key, with its entry; forgets one that a transform has given another key. */
  #at(key: ObjectKey): Covered<T> | undefined {
    const covered = this.#live(key);
    if (covered?.object === undefined) return covered;
    covered.entry ??= this.#cache.entryTransform.apply(entryOf(covered.object));
    if (covered.entry.key === key) return covered;
    this.#covered.delete(key);
    return undefined;
  }

  /** The cover of a key; forgets one that is over. */
  #live(key: ObjectKey): Covered<T> | undefined {
    const covered = this.#covered.get(key);
    if (covered === undefined || (covered.cover.dueMs > monotonicMs() && !covered.cover.isOver())) return covered;
    this.#covered.delete(key);
    return undefined;
  }
}
