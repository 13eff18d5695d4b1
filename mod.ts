/**
 * A Kubernetes informer toolkit: a cache that stays equal to the server, handlers that receive every change in order,
 * and listers and indexes to read from.
 *
 * A client sends requests to the API server. A reflector lists and watches a collection through it. A queue orders the
 * changes, and a store caches the objects. An informer joins these, delivers events to handlers, and has listers. A
 * workqueue holds the keys that handlers enqueue for workers.
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
  type AppliedItem,
  type AppliedValue,
  type Apply,
  type ApplyFields,
  type ApplyMeta,
  type Complete,
  copyOf,
  type DraftMeta,
  type DynamicObject,
  type EnumLiterals,
  type EphemeralObject,
  type IntOrString,
  type IsEphemeral,
  type IsReduced,
  keyOf,
  type KubernetesObject,
  type ListMap,
  type ManagedFieldsEntry,
  type MergePatch,
  type MicroTime,
  type Mutable,
  type NamedDraftMeta,
  type ObjectDraft,
  type ObjectKey,
  type ObjectMeta,
  type OpenEnum,
  type OwnerReference,
  ParsedQuantity,
  parseQuantity,
  type Quantity,
  type quantity,
  type QuantityFormat,
  type Reduced,
  reduced,
  type Scalar,
  type SentScalar,
  type SentValue,
  splitKey,
  type Time,
  type WrittenScalar,
  type WrittenValue,
} from "./src/api/object.ts";

export {
  type ApiResource,
  apiVersionOf,
  asTable,
  defineResource,
  onlyMetadata,
  type Resource,
  resourceName,
  type SecretLike,
  type TableColumn,
  type TableRow,
  type WithoutData,
} from "./src/api/resource.ts";
export { type AccessRule, type PlacedRule, type RolesOptions, rolesYaml } from "./src/api/roles.ts";
export {
  type BracketPathKeys,
  type CheckedPath,
  type FieldPaths,
  type IdentifiedObject,
  type IsUnion,
  type Kept,
  type KeysBelow,
  type MembersOf,
  type NoField,
  onlyFields,
  type PathKeys,
  type PathsAreKnown,
  type Picked,
  type PickedPart,
  type SparsePart,
  type UnknownValue,
  type UnnamedKeys,
} from "./src/api/fields.ts";

export type {
  Abortable,
  CacheEntry,
  DecodeObserver,
  DecodeOptions,
  Impersonation,
  KnownEntries,
  ListOptions,
  Projection,
  RequestOptions,
  Selection,
  ShardOption,
  WatchOptions,
} from "./src/api/options.ts";
export { fixedShard, type HashRange, type ShardField, ShardFilter, type ShardSource } from "./src/api/shard.ts";
export { entryOf } from "./src/entry/entry.ts";
export { field, type FieldLiteral, type FieldPath, type FieldPredicate, type Having } from "./src/entry/path.ts";
export {
  type Bookmark,
  type CheckpointChange,
  CheckpointError,
  type CheckpointRecord,
  type CheckpointStore,
  type ConnectionsStatus,
  type DeliveredVersion,
  type IdentitySource,
  type ListerWatcher,
  type ListPart,
  type SnapshotLimit,
  type SnapshotStore,
  type StoredCheckpoint,
  type StoredSnapshot,
  type Transport,
  type WatchChange,
  type WatchEvent,
} from "./src/api/lister_watcher.ts";
export {
  differences,
  type FieldRequirement,
  FieldSelector,
  LabelSelector,
  type LabelSelectorFields,
  type Requirement,
} from "./src/api/selector.ts";
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
  type StatusCause,
  type StatusDetails,
  StatusError,
  UnexpectedKindError,
  UnreachableError,
} from "./src/api/status.ts";
export { errorLine } from "./src/errors/errors.ts";
export { type ErrorJson, InformerError } from "./src/errors/informer_error.ts";
export type { BackoffOptions, Durations } from "./src/async/time.ts";
export {
  accessUsed,
  Client,
  type ClientOptions,
  type DiscoverOptions,
  findResource,
  installCrds,
  type InstallCrdsOptions,
} from "./src/client/client.ts";
export { readableNamespaces } from "./src/client/readable_namespaces.ts";
export { type Credentials, logRequests, type RequestReport } from "./src/client/http/connection.ts";
export type {
  AppliedIfChanged,
  ApplyIfChangedOptions,
  ApplyOptions,
  ApplyOwner,
  DeleteCollectionOptions,
  DeleteOptions,
  FollowOptions,
  GetOptions,
  ObjectList,
  ObjectWrite,
  Patch,
  ResourceClient,
  ResourceClientOptions,
  ResourceClients,
  SubresourceDraft,
  WriteOptions,
} from "./src/client/resource_client.ts";
export type {
  ListWatchObserver,
  ObserveRequest,
  ReflectorCounters,
  ReflectorRequest,
  ReflectorStore,
  Replacement,
  RequestEnd,
  RequestObserver,
  WatchEnd,
} from "./src/reflector/requests.ts";
export {
  type AttemptHistory,
  type ListingPhase,
  type PausedPhase,
  type ReflectorPhase,
  RequestRateError,
  ShortWatchError,
  type StoppedPhase,
  type WaitingPhase,
  type WatchingPhase,
} from "./src/reflector/transition.ts";
export { Reflector, type ReflectorOptions } from "./src/reflector/reflector.ts";
export {
  type Delta,
  DeltaFIFO,
  type DeltaFIFOOptions,
  type Deltas,
  type KnownObjects,
  type QueueReplacement,
} from "./src/queue/delta_fifo.ts";

export {
  Indexer,
  type IndexerOptions,
  type Indexers,
  type IndexFunction,
  type ReadonlyIndexer,
  type StoreReplacement,
  type StoreReplacementOptions,
} from "./src/store/indexer.ts";
export { Controller, type ControllerOptions } from "./src/informer/controller.ts";
export type {
  AddedEvent,
  BacklogPolicy,
  DeletedEvent,
  HandlerOptions,
  HandlerRegistration,
  InformerEvent,
  ObjectEvent,
  ResourceEventHandler,
  SyncedEvent,
  UpdatedEvent,
} from "./src/informer/events/event.ts";
export { Checkpoint, type CheckpointOptions, MemoryCheckpoints } from "./src/informer/events/checkpoint.ts";
export type { CacheSelection, Lister, NamespaceLister } from "./src/informer/cache/lister.ts";
export type { FieldShare, LargeObject, MemoryReport, NamespaceMemory } from "./src/informer/cache/lister.ts";
export { type InformerStatus, WaitError, type WaitFailure } from "./src/informer/status.ts";
export type { InformerState, NamespaceStatus } from "./src/informer/sync/state.ts";
export type { FailingCalls, HandlerStatus } from "./src/informer/events/processor.ts";
export type {
  CachedSelection,
  CacheOptions,
  ConsistencyCheckOptions,
  NamespacesByLabel,
  SharedIndexInformerOptions,
  SharedInformerFactoryOptions,
} from "./src/informer/options.ts";
export { CacheDifferenceError, type CheckOptions, type CheckResult } from "./src/informer/sync/consistency_check.ts";
export { type NamespaceSource, OverlappingCachesError } from "./src/informer/cache/cache_scope.ts";
export type { CollectionEvent, IndexedCollection, ReadableCollection } from "./src/informer/readable_collection.ts";
export { SharedIndexInformer } from "./src/informer/shared_index_informer.ts";
export {
  applyViewUpdate,
  CacheView,
  type OrderedView,
  type RowChange,
  type SortKey,
  type SortOrder,
  type SortValue,
  type ViewOptions,
  type ViewRow,
  type ViewUpdate,
  type ViewUpdates,
  type ViewWindow,
} from "./src/informer/view/cache_view.ts";
export {
  derive,
  type DeriveContext,
  type Derived,
  DerivedCollection,
  type DerivedObject,
  type DerivedStatus,
  deriveGroups,
  type DeriveOptions,
  type ObjectGroup,
  type ReadObjects,
} from "./src/informer/derived_collection.ts";
export { DerivationError, type ReadQuery } from "./src/informer/derived/derivation.ts";
export {
  AcquiredInformer,
  type FieldsOption,
  type InformerOfFactory,
  type MemoryOfInformer,
  SharedInformerFactory,
  type Unpicked,
} from "./src/informer/shared_informer_factory.ts";
export { UnknownFieldsError } from "./src/informer/cache/entry_transform.ts";
export { type CountedBytes, type LargeCache, MemoryWarning } from "./src/informer/cache/memory_budget.ts";
export {
  type FactorySnapshots,
  MemorySnapshots,
  SnapshotError,
  type SnapshotOptions,
} from "./src/informer/snapshot.ts";
export {
  type RunningKey,
  WorkQueue,
  type WorkQueueAddOptions,
  type WorkQueueOptions,
  type WorkQueueStatus,
} from "./src/workqueue/work_queue.ts";
export {
  type ReconcileResult,
  requeueAfter,
  retry,
  type Trigger,
  type WorkContext,
  type WorkFunction,
  type WorkItem,
  type WorkQueueRunOptions,
} from "./src/workqueue/run.ts";
export {
  defaultRateLimiter,
  exponentialBackoff,
  type ExponentialBackoffOptions,
  fastSlow,
  type FastSlowOptions,
  maxOf,
  type RateLimiter,
  tokenBucket,
  type TokenBucketOptions,
  withMaxWait,
} from "./src/workqueue/run.ts";

// api and entry: objects, resources, keys, entries, selectors, options and errors.

// client: requests, watches and discovery.

// reflector: lists, watches and recovers.

// queue: orders changes by key.

// store: caches objects, with indexes.

// informer: delivers events to handlers, and reads from the cache.

// workqueue: keys for workers, with delays and rate limits.
