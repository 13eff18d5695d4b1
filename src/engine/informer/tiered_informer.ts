/**
 * An informer that caches some objects whole, and only the metadata of the others.
 *
 * {@linkcode tiered} joins two informers: one has the metadata of everything, and the other the whole objects. Which
 * state is shown follows only from uids and versions. `SharedInformerFactory.forResource()` makes the informers.
 *
 * @module
 */
import type { Abortable, Selection } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import { type KubernetesObject, type ObjectKey, type Reduced, splitKey } from "../api/object.ts";
import { LabelSelector } from "../api/selector.ts";
import { isOlder } from "../api/status.ts";
import { Latch } from "../async/signals.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { DerivationInput } from "./derivation.ts";
import { DerivedCollection, type DeriveOptions } from "./derived_collection.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";

/** An object of which only the metadata is cached, see {@linkcode TieredInformer}. */
export type MetadataOnly<T extends KubernetesObject> = Pick<T, "metadata"> & Reduced & {
  /** The kind by which the server marks such objects. */
  readonly kind: "PartialObjectMetadata";
};

/**
 * What `forResource()` returns with the option `full`: a collection in which objects are whole, or only their metadata.
 * The compiler lets you read other fields only where `kind` is not `"PartialObjectMetadata"`.
 */
export interface TieredInformer<T extends KubernetesObject, Name extends string = never>
  extends DerivedCollection<T | MetadataOnly<T>, Name> {
  /**
   * Resolves with the whole object: from the cache if it is there, otherwise by a GET. Callers that read a key at the
   * same time share one request, which ends when all of their signals have aborted.
   *
   * @throws {StatusError} if the object does not exist (`isNotFound`), or you may not get it.
   */
  read(key: ObjectKey, options?: Abortable): Promise<T>;
}

/** Selects the objects that a {@linkcode TieredInformer} caches whole. It has only the metadata of all others. */
export type FullSelection = { readonly full: { readonly labelSelector: string } };

/**
 * Joins an informer of all metadata, and one of whole objects that `labelSelector` selects of them. `clientOf` returns
 * what gets the objects of a namespace.
 */
export function tiered<T extends KubernetesObject, Name extends string>(
  metadata: SharedIndexInformer<KubernetesObject, string>,
  whole: SharedIndexInformer<T, string>,
  clientOf: (part: Selection) => { get(name: string, options: Abortable): Promise<T> },
  { labelSelector, ...options }: DeriveOptions<T | MetadataOnly<T>, Name> & FullSelection["full"],
): TieredInformer<T, Name> {
  const selector = LabelSelector.parse(labelSelector);
  const { scope } = whole[internals].sync.collection;
  const get = (key: string): unknown => metadata.entries.getByKey(key);
  const sources = [metadata, whole] as never;
  const input: DerivationInput = { sources, idsOf: ({ key }) => [key], get, passesEntries: true };
  const joined = DerivedCollection[internals]<T | MetadataOnly<T>, Name>(input, show, options);
  function show(entry: CacheEntry<KubernetesObject>): CacheEntry<KubernetesObject> | undefined {
    const known = joined.entries.getByKey(entry.key);
    // A state whose labels match is shown once it is whole. At the same version, the whole state is shown.
    const states = [whole.entries.getByKey(entry.key), selector.matches(entry.labels) ? undefined : entry, known];
    const seen = states.filter((it) => it?.uid === entry.uid) as CacheEntry<KubernetesObject>[];
    return seen.reduce((a, b) => isOlder(a.resourceVersion, b.resourceVersion) ? b : a, seen[0]);
  }
  const reads = new Map<ObjectKey, { readonly job: AbortController; readonly result: Promise<T>; readers: number }>();
  const read = async (key: ObjectKey, options: Abortable = {}): Promise<T> => {
    checkNames("read an object", options, "signal");
    const cached = joined.lister.get(key);
    if (cached !== undefined && cached.kind !== "PartialObjectMetadata") return cached as T;
    const job = new AbortController();
    const { namespace, name } = splitKey(key);
    const get = async (): Promise<T> => scope.formed(await clientOf({ namespace }).get(name, { signal: job.signal }));
    const shared = reads.get(key) ?? { job, result: get(), readers: 0 };
    reads.set(key, shared);
    shared.readers++;
    const done = new Latch();
    shared.result.then(() => done.open(), (error) => done.fail(error));
    try {
      return await done.wait(options).then(() => shared.result);
    } finally {
      if (--shared.readers === 0 && reads.delete(key)) shared.job.abort();
    }
  };
  return Object.assign(joined, { read });
}
