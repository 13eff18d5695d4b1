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
 * const server = new FakeApiServer(); // or connect() from "@kube/informer/deno", for a real one
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
  copyOf,
  type Draft,
  type DraftMeta,
  type DynamicObject,
  type EnumLiterals,
  type EphemeralObject,
  type IsEphemeral,
  keyOf,
  type KubernetesObject,
  type ListMap,
  type ManagedFieldsEntry,
  type MergePatch,
  type Mutable,
  type NamedDraftMeta,
  type ObjectKey,
  type ObjectMeta,
  type OpenEnum,
  type OwnerReference,
  type quantity,
  type Scalar,
  type SentScalar,
  type SentValue,
  splitKey,
  type WrittenScalar,
  type WrittenValue,
} from "./src/api/object.ts";

export type { IntOrString } from "./src/api/object.ts";
export { ParsedQuantity, parseQuantity, type Quantity, type QuantityFormat } from "./src/api/object.ts";
export type { MicroTime, Time } from "./src/api/object.ts";
export type { ApiResource } from "./src/api/resource.ts";
export {
  type AccessRule,
  apiVersionOf,
  defineResource,
  metadataOf,
  type PlacedRule,
  type Resource,
  resourceName,
  type RoleOptions,
  rolesYaml,
  roleYaml,
  type TableColumn,
  tableOf,
  type TableRow,
} from "./src/api/resource.ts";
export { fieldsOf } from "./src/api/fields.ts";
export type {
  BracketPathKeys,
  CheckedPath,
  FieldPaths,
  IdentifiedObject,
  IsUnion,
  Kept,
  KeysBelow,
  MembersOf,
  NoField,
  PathKeys,
  PathsAreKnown,
  Picked,
  PickedPart,
  SparsePart,
  UnnamedKeys,
} from "./src/api/fields.ts";
export { type Complete, type IsReduced, type Reduced, reduced } from "./src/api/object.ts";
export type { SecretLike, WithoutData } from "./src/api/resource.ts";

export type { Entry, ShardOption } from "./src/api/options.ts";
export { fixedShard, type HashRange, type ShardField, ShardFilter, type ShardSource } from "./src/api/shard.ts";
export { entryOf } from "./src/entry/entry.ts";
export { type FieldPath, type FieldPredicate, type Having, path } from "./src/entry/path.ts";
export type {
  Bookmark,
  Change,
  IdentitySource,
  ListerWatcher,
  ListPart,
  WatchEvent,
} from "./src/api/lister_watcher.ts";
export {
  type Abortable,
  type DecodeObserver,
  type DecodeOptions,
  type KnownEntries,
  type ListOptions,
  type Projection,
  type RequestOptions,
  type Selection,
  type WatchOptions,
} from "./src/api/options.ts";
export { differences, LabelSelector, type LabelSelectorFields, type Requirement } from "./src/api/selector.ts";
export { type FieldRequirement, FieldSelector } from "./src/api/selector.ts";
export { compareResourceVersions } from "./src/api/status.ts";
export type { Status, StatusCause, StatusDetails } from "./src/api/status.ts";
export {
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
export { type ErrorJson, InformerError } from "./src/errors/informer_error.ts";
export type { Transport } from "./src/api/lister_watcher.ts";
export type { BackoffOptions } from "./src/async/time.ts";
export { Client, type ClientOptions } from "./src/client/client.ts";
export { accessUsed } from "./src/client/client.ts";
export { readableNamespaces } from "./src/client/readable_namespaces.ts";
export { installDefinitions, type InstallDefinitionsOptions } from "./src/client/client.ts";
export type { Impersonation } from "./src/api/options.ts";
export type { Credentials } from "./src/client/http/connection.ts";
export { logRequests, type RequestReport } from "./src/client/http/connection.ts";
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
  Patch,
  ResourceClient,
  ResourceClientOptions,
  ResourceClients,
  SubresourceDraft,
  WriteOptions,
} from "./src/client/resource_client.ts";
export type { ObjectWrite } from "./src/client/resource_client.ts";
export type { DiscoverOptions } from "./src/client/client.ts";
export { findResource } from "./src/client/client.ts";
export type { ReflectorStore, Replacement } from "./src/reflector/requests.ts";
export type {
  AttemptHistory,
  ListingPhase,
  PausedPhase,
  ReflectorPhase,
  StoppedPhase,
  WaitingPhase,
  WatchingPhase,
} from "./src/reflector/transition.ts";
export { RequestRateError, ShortWatchError } from "./src/reflector/transition.ts";
export type { ReflectorOptions } from "./src/reflector/reflector.ts";
export type {
  ListWatchObserver,
  ObserveRequest,
  ReflectorRequest,
  RequestEnd,
  RequestObserver,
} from "./src/reflector/requests.ts";
export type { ReflectorCounters, WatchEnd } from "./src/reflector/requests.ts";
export { Reflector } from "./src/reflector/reflector.ts";
export {
  type Delta,
  DeltaFIFO,
  type DeltaFIFOOptions,
  type Deltas,
  type KnownObjects,
} from "./src/queue/delta_fifo.ts";

export type { QueueReplacement } from "./src/queue/delta_fifo.ts";
export type { Indexers, IndexFunction } from "./src/store/indexer.ts";
export { Indexer, type IndexerOptions, type ReadonlyIndexer } from "./src/store/indexer.ts";
export type { StoreReplacement, StoreReplacementOptions } from "./src/store/indexer.ts";
export { Controller, type ControllerOptions } from "./src/informer/sync/collection_sync.ts";
export type {
  AddedEvent,
  DeletedEvent,
  InformerEvent,
  ObjectEvent,
  SyncedEvent,
  UpdatedEvent,
} from "./src/informer/events/event.ts";
export type {
  BacklogPolicy,
  HandlerOptions,
  HandlerRegistration,
  ResourceEventHandler,
} from "./src/informer/events/event.ts";
export {
  type DeliveredVersion,
  type PositionChange,
  PositionError,
  type PositionRecord,
  type PositionStore,
  type StoredPosition,
} from "./src/api/lister_watcher.ts";
export { MemoryPositions, Position, type PositionOptions } from "./src/informer/events/position.ts";
export type { CacheSelection, Lister, NamespaceLister } from "./src/informer/cache/lister.ts";
export type { LargeObject, MemoryReport, NamespaceMemory } from "./src/informer/cache/memory_report.ts";
export type { InformerStatus } from "./src/informer/status.ts";
export type { InformerState, NamespaceStatus } from "./src/informer/sync/state.ts";
export type { HandlerStatus } from "./src/informer/events/processor.ts";
export type {
  CachedSelection,
  CacheOptions,
  NamespacesByLabel,
  RegularCheckOptions,
  SharedIndexInformerOptions,
  SharedInformerFactoryOptions,
} from "./src/informer/options.ts";
export type { CheckOptions, CheckResult } from "./src/informer/sync/consistency_check.ts";
export { CacheDifferenceError } from "./src/informer/sync/consistency_check.ts";
export type { NamespaceSource } from "./src/informer/cache/cache_scope.ts";
export { WaitError, type WaitFailure } from "./src/informer/status.ts";
export type { InformerView } from "./src/informer/shared_index_informer.ts";
export { CacheView, type ViewOptions } from "./src/informer/view/cache_view.ts";
export type { OrderedView } from "./src/informer/view/cache_view.ts";
export type { ViewUpdates } from "./src/informer/view/cache_view.ts";
export { applyViewUpdate, type RowChange, type ViewRow, type ViewUpdate } from "./src/informer/view/cache_view.ts";
export type { ViewWindow } from "./src/informer/view/cache_view.ts";
export type { SortKey, SortOrder, SortValue } from "./src/informer/view/cache_view.ts";
export { SharedIndexInformer } from "./src/informer/shared_index_informer.ts";
export {
  type CollectionSource,
  derive,
  type DeriveContext,
  type Derived,
  DerivedCollection,
  type DerivedObject,
  type DerivedStatus,
  deriveGroups,
  type DeriveOptions,
  type FetchObjects,
  type ObjectGroup,
} from "./src/informer/derived_collection.ts";
export { DerivationError } from "./src/informer/derived/derivation.ts";
export type { FetchQuery } from "./src/informer/derived/derivation.ts";
export { AcquiredInformer } from "./src/informer/shared_informer_factory.ts";
export { UnknownFieldsError } from "./src/informer/cache/entry_transform.ts";
export { OverlappingCachesError } from "./src/informer/cache/cache_scope.ts";
export { type CountedBytes, type LargeCache, MemoryWarning } from "./src/informer/cache/memory_budget.ts";
export type { FieldShare } from "./src/informer/cache/memory_report.ts";
export type { SnapshotLimit, SnapshotStore, StoredSnapshot } from "./src/api/lister_watcher.ts";
export { MemorySnapshots } from "./src/informer/snapshot.ts";
export { SnapshotError } from "./src/informer/snapshot.ts";
export type { FactorySnapshots, SnapshotOptions } from "./src/informer/snapshot.ts";
export {
  type FieldsOption,
  type InformerOfFactory,
  type MemoryOfInformer,
  SharedInformerFactory,
  type Unpicked,
} from "./src/informer/shared_informer_factory.ts";
export * from "./src/workqueue/mod.ts";

// api and entry: objects, resources, keys, entries, selectors, options and errors.

// client: requests, watches and discovery.

// reflector: lists, watches and recovers.

// queue: orders changes by key.

// store: caches objects, with indexes.

// informer: delivers events to handlers, and reads from the cache.

// workqueue: keys for workers, with delays and rate limits.
