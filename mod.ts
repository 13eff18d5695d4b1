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
} from "./src/engine/api/object.ts";
export { type Apply, copyOf, type MergePatch, type Mutable, type ObjectDraft } from "./src/engine/api/written.ts";
export { formatDuration, parseDuration } from "./src/engine/api/duration.ts";
export { ParsedQuantity, parseQuantity, type Quantity } from "./src/engine/api/quantity.ts";
export {
  type ApiResource,
  apiVersionOf,
  asTable,
  defineResource,
  onlyMetadata,
  type Resource,
  resourceName,
  type TableRow,
} from "./src/engine/api/resource.ts";
export { rolesYaml } from "./src/engine/api/roles.ts";
export { onlyFields } from "./src/engine/api/fields.ts";
export type { Abortable, ListOptions, Selection, WatchOptions } from "./src/engine/api/call_options.ts";
export type { CacheEntry } from "./src/engine/api/entry.ts";
export { fixedShard, type HashRange, ShardFilter, type ShardSource } from "./src/engine/api/shard.ts";
export { entryOf } from "./src/engine/entry/entry.ts";
export { field } from "./src/engine/entry/path.ts";
export {
  type ListerWatcher,
  type ListPart,
  type Transport,
  type WatchChange,
  type WatchEvent,
} from "./src/engine/api/lister_watcher.ts";
export {
  CheckpointError,
  type CheckpointRecord,
  type CheckpointStore,
  type SnapshotStore,
  type StoredCheckpoint,
  type StoredSnapshot,
} from "./src/engine/api/stores.ts";
export { differences, FieldSelector, LabelSelector } from "./src/engine/api/selector.ts";
export {
  type ApiStatus,
  compareResourceVersions,
  CredentialsError,
  DecodeError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
  isThrottled,
  isUnauthorized,
  MemoryLimitError,
  StatusError,
  UnexpectedKindError,
  UnreachableError,
} from "./src/engine/api/status.ts";
export { errorLine } from "./src/engine/errors/errors.ts";
export { InformerError } from "./src/engine/errors/informer_error.ts";
export type { AccessRight } from "./src/engine/client/access_reviews.ts";
export { accessUsed } from "./src/engine/client/access_used.ts";
export { Client, type ClientOptions } from "./src/engine/client/client.ts";
export { findResource } from "./src/engine/client/find_resource.ts";
export { readableNamespaces } from "./src/engine/client/readable_namespaces.ts";
export { type Credentials, logRequests, type RequestReport } from "./src/engine/client/http/connection.ts";
export type { ObjectList, ResourceClient } from "./src/engine/client/resource_client.ts";
export type { ReflectorStore } from "./src/engine/reflector/requests.ts";
export { type ReflectorPhase, RequestRateError, ShortWatchError } from "./src/engine/reflector/transition.ts";
export { Reflector } from "./src/engine/reflector/reflector.ts";
export { type Delta, DeltaFIFO, type Deltas } from "./src/engine/queue/delta_fifo.ts";
export { Indexer, type Indexers, type ReadonlyIndexer } from "./src/engine/store/indexer.ts";
export { type IndexFunction } from "./src/engine/store/value_index.ts";
export { Controller } from "./src/engine/informer/controller.ts";
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
} from "./src/engine/informer/events/event.ts";
export { Checkpoint, MemoryCheckpoints } from "./src/engine/informer/events/checkpoint.ts";
export type { Lister, NamespaceLister } from "./src/engine/informer/cache/lister.ts";
export { type InformerStatus, WaitError } from "./src/engine/informer/status.ts";
export type { SharedIndexInformerOptions, SharedInformerFactoryOptions } from "./src/engine/informer/options.ts";
export { CacheDifferenceError } from "./src/engine/informer/sync/consistency_check.ts";
export { OverlappingCachesError } from "./src/engine/informer/cache/cache_scope.ts";
export type { ReadableCollection } from "./src/engine/informer/readable_collection.ts";
export { SharedIndexInformer } from "./src/engine/informer/shared_index_informer.ts";
export { applyViewUpdate, CacheView, type ViewRow, type ViewUpdate } from "./src/engine/informer/cache_view.ts";
export {
  derive,
  type Derived,
  DerivedCollection,
  type DerivedObject,
  deriveGroups,
  type ObjectGroup,
} from "./src/engine/informer/derived_collection.ts";
export { onChange } from "./src/engine/informer/on_change.ts";
export { DerivationError } from "./src/engine/informer/derivation.ts";
export { defaultsFor } from "./src/engine/informer/kind_defaults.ts";
export { SharedInformerFactory } from "./src/engine/informer/shared_informer_factory.ts";
export { AcquiredInformer } from "./src/engine/informer/acquired_informer.ts";
export { UnknownFieldsError } from "./src/engine/informer/cache/entry_transform.ts";
export { MemoryWarning } from "./src/engine/informer/cache/memory_budget.ts";
export { MemorySnapshots, SnapshotError } from "./src/engine/informer/snapshot.ts";
export { WorkQueue } from "./src/engine/workqueue/work_queue.ts";
export type { WorkFunction } from "./src/engine/workqueue/work_queue.ts";
export { type ReconcileResult, requeueAfter, retry, type WorkItem } from "./src/engine/workqueue/work_item.ts";
export {
  defaultRateLimiter,
  exponentialBackoff,
  fastSlow,
  maxOf,
  type RateLimiter,
  tokenBucket,
  withMaxWait,
} from "./src/engine/workqueue/rate_limiter.ts";
export type { Trigger } from "./src/engine/workqueue/triggers.ts";
