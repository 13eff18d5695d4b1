/**
 * Types for declarations: options, and the parts of types that the root entry point exports.
 *
 * Most programs do not need this entry point, because the compiler infers these types. Import from it only to name one,
 * for example as the return type of a function that you export. It contains no values, so it loads no code.
 *
 * @example Name the options that a helper function passes on
 * ```ts
 * import type { ResourceClient } from "@kube/informer";
 * import type { Pod } from "@kube/informer/kinds/core/v1";
 * import type { DeleteOptions } from "@kube/informer/types";
 *
 * const GENTLY: DeleteOptions = { gracePeriodSeconds: 60 };
 * export const evict = (pods: ResourceClient<Pod>, name: string): Promise<unknown> => pods.delete(name, GENTLY);
 * ```
 *
 * @module
 */

export type { Complete, IsReduced, reduced } from "./engine/api/object.ts";
export type {
  AppliedItem,
  AppliedValue,
  ApplyFields,
  ApplyMeta,
  DraftMeta,
  EnumLiterals,
  IsEphemeral,
  NamedDraftMeta,
  Scalar,
  SentScalar,
  SentValue,
  WrittenScalar,
  WrittenValue,
} from "./engine/api/written.ts";
export type { quantity, QuantityFormat } from "./engine/api/quantity.ts";
export type { SecretLike, TableColumn, WithoutData } from "./engine/api/resource.ts";
export type { AccessRule, PlacedRule, RolesOptions } from "./engine/api/roles.ts";
export type {
  BracketPathKeys,
  CheckedPath,
  FieldPaths,
  IdentifiedObject,
  IsUnion,
  KeysBelow,
  MembersOf,
  NoField,
  PathKeys,
  PathsAreKnown,
  Picked,
  PickedPart,
  SparsePart,
  UnknownValue,
  UnnamedKeys,
} from "./engine/api/fields.ts";
export type {
  DecodeObserver,
  DecodeOptions,
  KnownEntries,
  Projection,
  RequestOptions,
  ShardOption,
} from "./engine/api/call_options.ts";
export type { Impersonation } from "./engine/api/impersonation.ts";
export type { ShardField } from "./engine/api/shard.ts";
export type { FieldLiteral, FieldPath, FieldPredicate, Having } from "./engine/entry/path.ts";
export type { Bookmark, ConnectionsStatus, IdentitySource } from "./engine/api/lister_watcher.ts";
export type { CheckpointChange, DeliveredVersion, SnapshotLimit } from "./engine/api/stores.ts";
export type { FieldRequirement, LabelSelectorFields, Requirement } from "./engine/api/selector.ts";
export type { StatusCause, StatusDetails } from "./engine/api/status.ts";
export type { Scale, TokenRequest } from "./engine/api/subresources.ts";
export type { ErrorJson } from "./engine/errors/informer_error.ts";
export type { BackoffOptions } from "./engine/async/time.ts";
export type { Durations } from "./engine/async/histogram.ts";
export type { DiscoverOptions } from "./engine/client/discovery.ts";
export type { LogLine, LogOptions } from "./engine/client/logs.ts";
export type {
  AppliedIfChanged,
  ApplyIfChangedOptions,
  ApplyOptions,
  ApplyOwner,
  DeleteCollectionOptions,
  DeleteOptions,
  FollowOptions,
  GetOptions,
  ObjectWrite,
  Patch,
  ResourceClientOptions,
  ResourceClients,
  SubresourceDraft,
  WriteOptions,
} from "./engine/client/resource_client.ts";
export type {
  ListWatchObserver,
  ObserveRequest,
  ReflectorCounters,
  ReflectorRequest,
  Replacement,
  RequestEnd,
  RequestObserver,
  WatchEnd,
} from "./engine/reflector/requests.ts";
export type {
  AttemptHistory,
  ListingPhase,
  PausedPhase,
  StoppedPhase,
  WaitingPhase,
  WatchingPhase,
} from "./engine/reflector/transition.ts";
export type { ReflectorOptions } from "./engine/reflector/reflector.ts";
export type { DeltaFIFOOptions, KnownObjects, QueueReplacement } from "./engine/queue/delta_fifo.ts";
export type { IndexerOptions, StoreReplacement, StoreReplacementOptions } from "./engine/store/indexer.ts";
export type { ControllerOptions } from "./engine/informer/controller.ts";
export type { CollectionEvent, IndexedCollection } from "./engine/informer/readable_collection.ts";
export type { BacklogPolicy } from "./engine/informer/events/event.ts";
export type { CheckpointOptions } from "./engine/informer/events/checkpoint.ts";
export type { CacheSelection } from "./engine/informer/cache/lister.ts";
export type { FieldShare, LargeObject, MemoryReport, NamespaceMemory } from "./engine/informer/cache/memory_report.ts";
export type { WaitFailure } from "./engine/informer/status.ts";
export type { InformerState, NamespaceStatus } from "./engine/informer/sync/state_keeper.ts";
export type { FailingCalls } from "./engine/informer/events/listener.ts";
export type { HandlerStatus } from "./engine/informer/events/processor.ts";
export type {
  CachedSelection,
  CacheOptions,
  ConsistencyCheckOptions,
  DefaultOptions,
  KindDefaults,
  NamespacesByLabel,
} from "./engine/informer/options.ts";
export type { CheckOptions, CheckResult } from "./engine/informer/sync/consistency_check.ts";
export type { NamespaceSource, ScopeChange } from "./engine/informer/cache/cache_scope.ts";
export type {
  OrderedView,
  RowChange,
  SortKey,
  SortOrder,
  SortValue,
  ViewOptions,
  ViewUpdates,
  ViewWindow,
} from "./engine/informer/cache_view.ts";
export type { DeriveContext, DerivedStatus, DeriveOptions, ReadObjects } from "./engine/informer/derived_collection.ts";
export type { ReadQuery } from "./engine/informer/derivation.ts";
export type { FullSelection, MetadataOnly, TieredInformer } from "./engine/informer/tiered_informer.ts";
export type { LogRecord, LogTarget } from "./engine/informer/sync/informer_log.ts";
export type { OnChangeOptions } from "./engine/informer/on_change.ts";
export type { InformerOfFactory, MemoryOfInformer } from "./engine/informer/shared_informer_factory.ts";
export type { Cached, CachedOptions } from "./engine/informer/options.ts";
export type { CountedBytes, LargeCache } from "./engine/informer/cache/memory_budget.ts";
export type { FactorySnapshots, SnapshotOptions } from "./engine/informer/snapshot.ts";
export type {
  RunningKey,
  WorkQueueAddOptions,
  WorkQueueOptions,
  WorkQueueStatus,
} from "./engine/workqueue/work_queue.ts";
export type { WorkContext, WorkQueueRunOptions } from "./engine/workqueue/work_queue.ts";
export type {
  ExponentialBackoffOptions,
  FastSlowOptions,
  TokenBucketOptions,
} from "./engine/workqueue/rate_limiter.ts";
