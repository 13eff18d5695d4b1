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

// api and entry: objects, resources, keys, entries, selectors, options and errors.
export type * from "./src/api/object.ts";
export type * from "./src/api/draft.ts";
export type * from "./src/api/apply.ts";
export type * from "./src/api/merge_patch.ts";
export * from "./src/api/mutable.ts";
export type * from "./src/api/written.ts";
export type * from "./src/api/list_map.ts";
export type * from "./src/api/open_enum.ts";
export type { IntOrString } from "./src/api/int_or_string.ts";
export * from "./src/api/quantity.ts";
export type { MicroTime, Time } from "./src/api/time.ts";
export type { ApiResource } from "./src/api/api_resource.ts";
export * from "./src/api/resource.ts";
export { fieldsOf } from "./src/api/fields_of.ts";
export { formatFieldPath, parseFieldPath } from "./src/api/field_path.ts";
export type * from "./src/api/picked.ts";
export { type IsReduced, type Reduced, reduced, type Whole } from "./src/api/reduced.ts";
export type { SecretLike, WithoutData } from "./src/api/is_secret.ts";
export type * from "./src/api/table_row.ts";
export * from "./src/api/access_rule.ts";
export * from "./src/api/key.ts";
export type { Entry } from "./src/api/entry.ts";
export { entryOf } from "./src/entry/entry_of.ts";
export { type FieldPath, type FieldPredicate, type Having, path } from "./src/entry/path.ts";
export type * from "./src/api/lister_watcher.ts";
export * from "./src/api/options.ts";
export * from "./src/api/selector.ts";
export { type FieldRequirement, FieldSelector } from "./src/api/field_selector.ts";
export { compareResourceVersions } from "./src/api/resource_version.ts";
export type { Status, StatusCause, StatusDetails } from "./src/api/status.ts";
export * from "./src/api/errors.ts";
export { errorLine } from "./src/errors/error_line.ts";
export { type ErrorJson, InformerError } from "./src/errors/informer_error.ts";
export type { Transport } from "./src/api/transport.ts";
export type { BackoffOptions } from "./src/async/time/backoff.ts";

// client: requests, watches and discovery.
export { Client, type ClientOptions } from "./src/client/client.ts";
export { accessUsed } from "./src/client/access_used.ts";
export type { Credentials } from "./src/client/http/credentials.ts";
export type * from "./src/client/resource_client.ts";
export type { ObjectWrite } from "./src/client/object_write.ts";
export type { DiscoverOptions } from "./src/client/discover.ts";
export { findResource } from "./src/client/find_resource.ts";

// reflector: lists, watches and recovers.
export type * from "./src/reflector/reflector_store.ts";
export type {
  AttemptHistory,
  Failure,
  ListingPhase,
  PausedPhase,
  ReflectorPhase,
  StoppedPhase,
  WaitingPhase,
  WatchingPhase,
} from "./src/reflector/phase.ts";
export { RequestRateError, ShortWatchError } from "./src/reflector/transition.ts";
export type { ReflectorOptions } from "./src/reflector/options.ts";
export type * from "./src/reflector/request_observer.ts";
export type { ReflectorCounters, WatchEnd } from "./src/reflector/counters.ts";
export * from "./src/reflector/reflector.ts";

// queue: orders changes by key.
export type * from "./src/queue/delta.ts";
export * from "./src/queue/delta_fifo.ts";
export type { QueueReplacement } from "./src/queue/replacement.ts";

// store: caches objects, with indexes.
export type { Indexers, IndexFunction } from "./src/store/index.ts";
export * from "./src/store/indexer.ts";
export type { StoreReplacement, StoreReplacementOptions } from "./src/store/replacement.ts";

// informer: delivers events to handlers, and reads from the cache.
export * from "./src/informer/sync/controller.ts";
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
} from "./src/informer/events/handler.ts";
export type { CacheSelection, Lister, NamespaceLister } from "./src/informer/cache/lister.ts";
export type { LargeObject, MemoryReport, NamespaceMemory } from "./src/informer/cache/memory_report.ts";
export type { InformerStatus } from "./src/informer/status.ts";
export type { InformerState, NamespaceStatus } from "./src/informer/sync/state.ts";
export type { HandlerStatus } from "./src/informer/events/processor.ts";
export type {
  CacheOptions,
  RegularCheckOptions,
  SharedIndexInformerOptions,
  SharedInformerFactoryOptions,
} from "./src/informer/options.ts";
export type { CheckResult } from "./src/informer/sync/check_result.ts";
export { CacheDifferenceError } from "./src/informer/sync/cache_difference_error.ts";
export type { NamespaceSource } from "./src/informer/cache/cached_collection.ts";
export { WaitError, type WaitFailure } from "./src/informer/wait_error.ts";
export type { InformerView } from "./src/informer/informer_view.ts";
export { CacheView, type ViewOptions } from "./src/informer/view/cache_view.ts";
export type { OrderedView } from "./src/informer/view/ordered_view.ts";
export type { ViewUpdates } from "./src/informer/view/view_reader.ts";
export { applyViewUpdate, type RowChange, type ViewRow, type ViewUpdate } from "./src/informer/view/view_update.ts";
export type { ViewWindow } from "./src/informer/view/view_window.ts";
export type { SortKey, SortOrder, SortValue } from "./src/informer/view/sort_key.ts";
export { SharedIndexInformer } from "./src/informer/shared_index_informer.ts";
export { AcquiredInformer } from "./src/informer/acquired_informer.ts";
export { UnknownFieldsError } from "./src/informer/cache/unknown_fields.ts";
export { OverlappingCachesError } from "./src/informer/overlapping_caches.ts";
export type { SnapshotLimit, SnapshotStore, StoredSnapshot } from "./src/api/snapshot_store.ts";
export { MemorySnapshots } from "./src/informer/snapshot/memory_snapshots.ts";
export { SnapshotError } from "./src/informer/snapshot/snapshot_error.ts";
export type { FactorySnapshots, SnapshotOptions } from "./src/informer/snapshot/snapshot_options.ts";
export {
  type FieldsOption,
  type InformerOfFactory,
  type MemoryOfInformer,
  SharedInformerFactory,
  type Unpicked,
} from "./src/informer/shared_informer_factory.ts";

// workqueue: keys for workers, with delays and rate limits.
export * from "./src/workqueue/mod.ts";
