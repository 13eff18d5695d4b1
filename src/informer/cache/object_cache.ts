import type { Entry } from "../../api/entry.ts";
import { FieldTree } from "../../api/field_tree.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import { parsesObjects } from "../../entry/path.ts";
import type { Indexers } from "../../store/index.ts";
import { Indexer } from "../../store/indexer.ts";
import { EntryTransform, type EntryTransformOptions } from "./entry_transform.ts";
import { EntryLister, type Lister } from "./lister.ts";
import { MemoryMeter, type MemoryReport } from "./memory_report.ts";
import { namespaceIndex } from "./namespace_index.ts";
import { ObjectIndexer } from "./object_indexer.ts";
import { Quarantine } from "./quarantine.ts";

/** The cached objects of an informer, and what reads them. */
export class ObjectCache<T extends KubernetesObject> {
  /** The objects, as entries that are not parsed. */
  readonly store: Indexer<Entry<T>, string> = new Indexer<Entry<T>, "namespace">({
    keyOf: (entry) => entry.key,
    indexers: { namespace: namespaceIndex(() => this.store.indexValues("namespace")) },
    byKey: ["namespace"],
  });
  /** Those that cannot be read. */
  readonly quarantine: Quarantine<T>;
  /** Reads them by key and by index, as objects. */
  readonly indexer: ObjectIndexer<T, "namespace">;
  /** Reads them by namespace, name and selector. */
  readonly lister: Lister<T>;

  /** Prepares entries for the store. */
  readonly intake: EntryTransform<T>;

  /** `report` receives the errors of objects that cannot be read, and of index functions. */
  constructor(
    resource: Resource | undefined,
    options: Omit<EntryTransformOptions<T>, "report"> & { readonly parse: "lazy" | "eager" },
    report: (error: unknown) => void,
  ) {
    const { transform, freeze, parse } = options;
    this.intake = new EntryTransform<T>({ transform, freeze, report }, parse === "eager");
    this.quarantine = new Quarantine<T>(report, (entry) => this.store.getByKey(entry.key) === entry);
    this.indexer = new ObjectIndexer(this.store, this.quarantine);
    const fields = resource?.fields && FieldTree.of(resource.fields);
    this.lister = new EntryLister<T>(this.store, this.quarantine, fields);
  }

  /** Returns all entries, or the one of a key. */
  entries(key?: ObjectKey): readonly Entry<T>[] {
    if (key === undefined) return this.store.list();
    const entry = this.store.getByKey(key);
    return entry === undefined ? [] : [entry];
  }

  /** Adds indexes and fills them. @throws {Error} when one of these names exists; then it adds none. */
  addIndexers(indexers: Indexers<T, string>): void {
    const wrapped = Object.entries(indexers).map(([name, valuesOf]) => {
      return [name, this.intake.indexFunction(name, valuesOf)];
    });
    if (wrapped.length === 0) return;
    this.store.withIndexers(Object.fromEntries(wrapped));
    if (Object.values(indexers).some(parsesObjects)) this.intake.reads = true;
    // Filling the indexes has parsed entries that had not been read before.
    for (const entry of this.store) if (entry.error !== undefined) this.quarantine.take(entry, entry.error);
  }

  /** The sizes of the objects. It looks at all of them, and parses none. */
  get memory(): MemoryReport {
    const meter = new MemoryMeter();
    for (const entry of this.store) meter.add(entry);
    return meter.report;
  }
}
