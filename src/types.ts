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

export type { Complete, IsReduced, reduced } from "./api/object.ts";
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
} from "./api/written.ts";
export type { quantity, QuantityFormat } from "./api/quantity.ts";
export type { SecretLike, TableColumn, WithoutData } from "./api/resource.ts";
export type { AccessRule, PlacedRule, RolesOptions } from "./api/roles.ts";
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
} from "./api/fields.ts";
export type {
  DecodeObserver,
  DecodeOptions,
  KnownEntries,
  Projection,
  RequestOptions,
  ShardOption,
} from "./api/options.ts";
export type { Impersonation } from "./api/impersonation.ts";
export type { ShardField } from "./api/shard.ts";
export type { FieldLiteral, FieldPath, FieldPredicate, Having } from "./entry/path.ts";
export type { Bookmark, ConnectionsStatus, IdentitySource } from "./api/lister_watcher.ts";
export type { CheckpointChange, DeliveredVersion, SnapshotLimit } from "./api/stores.ts";
export type { FieldRequirement, LabelSelectorFields, Requirement } from "./api/selector.ts";
export type { StatusCause, StatusDetails } from "./api/status.ts";
export type { Scale, TokenRequest } from "./api/subresources.ts";
export type { ErrorJson } from "./errors/informer_error.ts";
export type { BackoffOptions } from "./async/time.ts";
export type { Durations } from "./async/histogram.ts";
export type { DiscoverOptions } from "./client/client.ts";
export type { LogLine, LogOptions } from "./client/logs.ts";
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
} from "./client/resource_client.ts";
export type {
  ListWatchObserver,
  ObserveRequest,
  ReflectorCounters,
  ReflectorRequest,
  Replacement,
  RequestEnd,
  RequestObserver,
  WatchEnd,
} from "./reflector/requests.ts";
export type {
  AttemptHistory,
  ListingPhase,
  PausedPhase,
  StoppedPhase,
  WaitingPhase,
  WatchingPhase,
} from "./reflector/transition.ts";
export type { ReflectorOptions } from "./reflector/reflector.ts";
export type { DeltaFIFOOptions, KnownObjects, QueueReplacement } from "./queue/delta_fifo.ts";
export type { IndexerOptions, StoreReplacement, StoreReplacementOptions } from "./store/indexer.ts";
export type { ControllerOptions } from "./informer/controller.ts";
export type { CollectionEvent, IndexedCollection } from "./informer/readable_collection.ts";
export type { BacklogPolicy } from "./informer/events/event.ts";
export type { CheckpointOptions } from "./informer/events/checkpoint.ts";
export type { CacheSelection } from "./informer/cache/lister.ts";
export type { FieldShare, LargeObject, MemoryReport, NamespaceMemory } from "./informer/cache/memory_report.ts";
export type { WaitFailure } from "./informer/status.ts";
export type { InformerState, NamespaceStatus } from "./informer/sync/state.ts";
export type { FailingCalls, HandlerStatus } from "./informer/events/processor.ts";
export type { CachedSelection, CacheOptions, ConsistencyCheckOptions, NamespacesByLabel } from "./informer/options.ts";
export type { CheckOptions, CheckResult } from "./informer/sync/consistency_check.ts";
export type { NamespaceSource } from "./informer/cache/cache_scope.ts";
export type {
  OrderedView,
  RowChange,
  SortKey,
  SortOrder,
  SortValue,
  ViewOptions,
  ViewUpdates,
  ViewWindow,
} from "./informer/cache_view.ts";
export type { DeriveContext, DerivedStatus, DeriveOptions, ReadObjects } from "./informer/derived_collection.ts";
export type { ReadQuery } from "./informer/derivation.ts";
export type { OnChangeOptions } from "./informer/on_change.ts";
export type { InformerOfFactory, MemoryOfInformer } from "./informer/shared_informer_factory.ts";
export type { Cached, CachedOptions } from "./informer/options.ts";
export type { CountedBytes, LargeCache } from "./informer/cache/memory_budget.ts";
export type { FactorySnapshots, SnapshotOptions } from "./informer/snapshot.ts";
export type { RunningKey, WorkQueueAddOptions, WorkQueueOptions, WorkQueueStatus } from "./workqueue/work_queue.ts";
export type { WorkContext, WorkQueueRunOptions } from "./workqueue/work_queue.ts";
export type { ExponentialBackoffOptions, FastSlowOptions, TokenBucketOptions } from "./workqueue/rate_limiter.ts";
