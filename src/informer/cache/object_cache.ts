import type { Entry } from "../../api/entry.ts";
import { FieldTree } from "../../api/field_tree.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import { Indexer } from "../../store/indexer.ts";
import { EntryLister, type Lister } from "./lister.ts";
import { MemoryMeter, type MemoryReport } from "./memory_report.ts";
import { namespaceIndex } from "./namespace_index.ts";
import { ObjectIndexer } from "./object_indexer.ts";
import { Quarantine } from "./quarantine.ts";

/** The cached objects of an informer, and what reads them. */
export class ObjectCache<T extends KubernetesObject> {
  /** The objects, as entries that are not parsed. */
  readonly store: Indexer<Entry<T>, "namespace"> = new Indexer<Entry<T>, "namespace">({
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

  /** `report` receives the error of each object that cannot be read. `resource` has the fields that are kept. */
  constructor(resource: Resource | undefined, report: (error: unknown) => void) {
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

  /** The sizes of the objects. It looks at all of them, and parses none. */
  get memory(): MemoryReport {
    const meter = new MemoryMeter();
    for (const entry of this.store) meter.add(entry);
    return meter.report;
  }
}
