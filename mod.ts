/**
 * Watch Kubernetes from TypeScript: a local cache that stays in sync, callbacks for changes in order, and the parts to
 * build controllers on.
 *
 * Import this entry point in every program. The main parts are:
 *
 * - {@linkcode Client} sends requests to the API server.
 * - {@linkcode SharedInformerFactory} creates informers. An informer lists and watches a kind, caches its objects, and
 *   calls your handlers. Its listers and indexes read the cache.
 * - {@linkcode WorkQueue} holds the keys that handlers add for workers, with retries.
 *
 * Kinds are in `@kube/informer/kinds/…`, `connect()` is in `@kube/informer/connect`, and reconcilers are in
 * `@kube/informer/reconcile`. The types of options and of type parts are in `@kube/informer/types`.
 *
 * See the guides: [First program](./docs/start/first-program.md), [Concepts](./docs/start/concepts.md),
 * [Watch and react](./docs/guides/watch-and-react.md).
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 *
 * const server = new FakeApiServer(); // or connect() from "@kube/informer/connect", for a real one
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod);
 * pods.addEventHandler({
 *   onAdd: ({ key }) => console.log("added", key),
 *   onUpdate: ({ object, previous }) => console.log(previous.status?.phase, "→", object.status?.phase),
 *   onDelete: ({ key }) => console.log("deleted", key),
 * });
 * informers.start();
 * await informers.waitForCacheSync();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 * await pods.until((pod) => pod.metadata.name === "cart-0");
 * console.log(pods.lister.namespace("shop").list().length); // 1
 * ```
 *
 * @module
 */

export {
  type ClusterScopedObject,
  type DynamicObject,
  type EphemeralObject,
  type IntOrString,
  keyOf,
  type KubernetesObject,
  type ListMap,
  type ManagedFieldsEntry,
  type MicroTime,
  type NamespacedObject,
  type ObjectKey,
  type ObjectMeta,
  type OpenEnum,
  type OwnerReference,
  type Reduced,
  splitKey,
  type Time,
} from "./src/api/object.ts";
export { type Apply, copyOf, type MergePatch, type Mutable, type ObjectDraft } from "./src/api/written.ts";
export { formatDuration, parseDuration } from "./src/api/duration.ts";
export { ParsedQuantity, parseQuantity, type Quantity } from "./src/api/quantity.ts";
export {
  type ApiResource,
  apiVersionOf,
  asTable,
  defineResource,
  onlyMetadata,
  type Resource,
  resourceName,
  type TableRow,
} from "./src/api/resource.ts";
export { rolesYaml } from "./src/api/roles.ts";
export { onlyFields } from "./src/api/fields.ts";
export type { Abortable, ListOptions, Selection, WatchOptions } from "./src/api/options.ts";
export type { CacheEntry } from "./src/api/entry.ts";
export { fixedShard, type HashRange, ShardFilter, type ShardSource } from "./src/api/shard.ts";
export { entryOf } from "./src/entry/entry.ts";
export { field } from "./src/entry/path.ts";
export {
  type ListerWatcher,
  type ListPart,
  type Transport,
  type WatchChange,
  type WatchEvent,
} from "./src/api/lister_watcher.ts";
export {
  CheckpointError,
  type CheckpointRecord,
  type CheckpointStore,
  type SnapshotStore,
  type StoredCheckpoint,
  type StoredSnapshot,
} from "./src/api/stores.ts";
export { differences, FieldSelector, LabelSelector } from "./src/api/selector.ts";
export {
  type ApiStatus,
  compareResourceVersions,
  CredentialsError,
  DecodeError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isNotFound,
  isThrottled,
  isUnauthorized,
  MemoryLimitError,
  StatusError,
  UnexpectedKindError,
  UnreachableError,
} from "./src/api/status.ts";
export { errorLine } from "./src/errors/errors.ts";
export { InformerError } from "./src/errors/informer_error.ts";
export { accessUsed, Client, type ClientOptions, findResource } from "./src/client/client.ts";
export { readableNamespaces } from "./src/client/readable_namespaces.ts";
export { type Credentials, logRequests, type RequestReport } from "./src/client/http/connection.ts";
export type { ObjectList, ResourceClient } from "./src/client/resource_client.ts";
export type { ReflectorStore } from "./src/reflector/requests.ts";
export { type ReflectorPhase, RequestRateError, ShortWatchError } from "./src/reflector/transition.ts";
export { Reflector } from "./src/reflector/reflector.ts";
export { type Delta, DeltaFIFO, type Deltas } from "./src/queue/delta_fifo.ts";
export { Indexer, type Indexers, type IndexFunction, type ReadonlyIndexer } from "./src/store/indexer.ts";
export { Controller } from "./src/informer/controller.ts";
export type {
  AddedEvent,
  DeletedEvent,
  HandlerOptions,
  HandlerRegistration,
  InformerEvent,
  ObjectEvent,
  ResourceEventHandler,
  SyncedEvent,
  UpdatedEvent,
} from "./src/informer/events/event.ts";
export { Checkpoint, MemoryCheckpoints } from "./src/informer/events/checkpoint.ts";
export type { Lister, NamespaceLister } from "./src/informer/cache/lister.ts";
export { type InformerStatus, WaitError } from "./src/informer/status.ts";
export type { SharedIndexInformerOptions, SharedInformerFactoryOptions } from "./src/informer/options.ts";
export { CacheDifferenceError } from "./src/informer/sync/consistency_check.ts";
export { OverlappingCachesError } from "./src/informer/cache/cache_scope.ts";
export type { ReadableCollection } from "./src/informer/readable_collection.ts";
export { SharedIndexInformer } from "./src/informer/shared_index_informer.ts";
export { applyViewUpdate, CacheView, type ViewRow, type ViewUpdate } from "./src/informer/cache_view.ts";
export {
  derive,
  type Derived,
  DerivedCollection,
  type DerivedObject,
  deriveGroups,
  type ObjectGroup,
} from "./src/informer/derived_collection.ts";
export { onChange } from "./src/informer/on_change.ts";
export { DerivationError } from "./src/informer/derivation.ts";
export { SharedInformerFactory } from "./src/informer/shared_informer_factory.ts";
export { AcquiredInformer } from "./src/informer/acquired_informer.ts";
export { UnknownFieldsError } from "./src/informer/cache/entry_transform.ts";
export { MemoryWarning } from "./src/informer/cache/memory_budget.ts";
export { MemorySnapshots, SnapshotError } from "./src/informer/snapshot.ts";
export { WorkQueue } from "./src/workqueue/work_queue.ts";
export type { WorkFunction } from "./src/workqueue/work_queue.ts";
export { type ReconcileResult, requeueAfter, retry, type WorkItem } from "./src/workqueue/work_item.ts";
export {
  defaultRateLimiter,
  exponentialBackoff,
  fastSlow,
  maxOf,
  type RateLimiter,
  tokenBucket,
  withMaxWait,
} from "./src/workqueue/rate_limiter.ts";
export type { Trigger } from "./src/workqueue/triggers.ts";
