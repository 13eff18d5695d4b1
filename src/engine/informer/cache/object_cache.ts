/**
 * The cache of an informer: its store, and what reads it.
 *
 * {@linkcode ObjectCache} is the entry point. Readers of objects parse them when they are first read; a quarantine
 * counts and reports objects that cannot be read. It is filled by `sync/cache_writer.ts`.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { FieldTree } from "../../api/fields.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { isSecret, type Resource } from "../../api/resource.ts";
import { parsesObjects } from "../../entry/path.ts";
import { SharedParts } from "../../entry/shared_parts.ts";
import { Indexer, type Indexers, type ReadonlyIndexer } from "../../store/indexer.ts";
import type { IndexFunction } from "../../store/value_index.ts";
import { Compaction } from "./compaction.ts";
import { EntryTransform, type EntryTransformOptions, Quarantine } from "./entry_transform.ts";
import { EntryLister } from "./lister.ts";
import { heldBytes, MemoryMeter, type MemoryReport } from "./memory_report.ts";

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
    return this.#quarantine.objectsOf(this.#entries.list());
  }

  byIndex(name: Name, value: string): T[] {
    return this.#quarantine.objectsOf(this.#entries.byIndex(name, value));
  }

  indexKeys(name: Name, value: string): string[] {
    return this.#entries.indexKeys(name, value);
  }

  indexValues(name: Name): string[] {
    return this.#entries.indexValues(name);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const entry of this.#entries) yield* this.#quarantine.objectsOf([entry]);
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

  /** Shares the parts of objects that are read; `undefined` if they are not frozen. */
  readonly parts: SharedParts | undefined;
  /** Makes texts compact; `undefined` if they stay as they are. */
  readonly compaction: Compaction<T> | undefined;
  /** Prepares entries for the store. */
  readonly entryTransform: EntryTransform<T>;
  readonly #fields: FieldTree | undefined;
  /** The kind of the objects, if they have one. */
  readonly resource: Resource | undefined;

  /**
   * `report` receives the errors of objects that cannot be read, and of index functions. With `counts`, the store
   * counts the bytes that it holds.
   */
  constructor(
    resource: Resource | undefined,
    options: Pick<EntryTransformOptions<T>, "transform"> & {
      readonly freeze: boolean;
      readonly compact?: boolean;
      readonly parse: "lazy" | "eager";
      readonly cluster?: string;
    },
    report: (error: unknown) => void,
    counts = false,
  ) {
    const { transform, freeze, compact, parse, cluster } = options;
    this.sizeOf = counts ? heldBytes : undefined;
    this.store = new Indexer<CacheEntry<T>, "namespace">({
      keyOf: (entry) => entry.key,
      indexers: { namespace: namespaceIndex(() => this.store.indexValues("namespace")) },
      byKey: ["namespace"],
      sizeOf: this.sizeOf,
    });
    this.parts = freeze ? new SharedParts((key) => this.store.getByKey(key) !== undefined) : undefined;
    // The values of a Secret are never in a template, and results of a transform have no text.
    const hasTexts = resource !== undefined && !isSecret(resource) && transform === undefined;
    this.compaction = compact && hasTexts ? new Compaction<T>(this.store, this.parts) : undefined;
    this.entryTransform = new EntryTransform<T>({ transform, parts: this.parts, report }, parse === "eager");
    this.quarantine = new Quarantine<T>(report, (entry) => this.store.getByKey(entry.key) === entry, cluster);
    this.indexer = new ParsingIndexer(this.store, this.quarantine);
    this.resource = resource;
    this.#fields = resource?.fields && FieldTree.of(resource.fields);
    this.lister = this.listerOf(this.store);
  }

  /** Returns a lister of entries in the form of the cached ones. */
  listerOf(entries: Pick<ReadonlyIndexer<CacheEntry<T>>, "getByKey" | "list" | "byIndex">): EntryLister<T> {
    return new EntryLister<T>(entries, this.quarantine, this.#fields, this.resource);
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
    meter.sums.sharedBytes = this.parts?.bytes ?? 0;
    meter.compact.savedBytes -= this.compaction?.templates.bytes ?? 0;
    return meter.report;
  }
}
