/**
 * A Kubernetes informer toolkit: a cache that stays equal to the server, handlers that hear every change in order, and
 * listers and indexes to read from.
 *
 * *An API server is asked by a client, followed by a reflector, whose changes are ordered by a queue, remembered in a
 * store, and told by an informer to handlers and listers; what handlers want done waits in a workqueue.*
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

// The vocabulary.
export type * from "./src/api/object.ts";
export * from "./src/api/resource.ts";
export * from "./src/api/key.ts";
export type { Entry } from "./src/api/entry.ts";
export { entryOf } from "./src/entry/entry_of.ts";
export type * from "./src/api/lister_watcher.ts";
export * from "./src/api/options.ts";
export * from "./src/api/selector.ts";
export { compareResourceVersions } from "./src/api/resource_version.ts";
export type { Status, StatusCause, StatusDetails } from "./src/api/status.ts";
export * from "./src/api/errors.ts";
export type { Transport } from "./src/api/transport.ts";
export type { BackoffOptions } from "./src/async/time/backoff.ts";

// A client asks.
export { Client, type ClientOptions } from "./src/client/client.ts";
export type { Credentials } from "./src/client/http/credentials.ts";
export type * from "./src/client/resource_client.ts";
export type { ApiResource, DiscoverOptions } from "./src/client/discover.ts";
export { findResource } from "./src/client/find_resource.ts";

// A reflector follows.
export type * from "./src/reflector/reflector_store.ts";
export type {
  AttemptHistory,
  Failure,
  ListingPhase,
  ReflectorPhase,
  StoppedPhase,
  WaitingPhase,
  WatchingPhase,
} from "./src/reflector/phase.ts";
export { RequestRateError, ShortWatchError } from "./src/reflector/transition.ts";
export type { ReflectorOptions } from "./src/reflector/options.ts";
export type { ReflectorCounters, WatchEnd } from "./src/reflector/counters.ts";
export * from "./src/reflector/reflector.ts";

// A queue orders.
export type * from "./src/queue/delta.ts";
export * from "./src/queue/delta_fifo.ts";
export type { QueueReplacement } from "./src/queue/replacement.ts";

// A store remembers.
export type { Indexers, IndexFunction } from "./src/store/index.ts";
export * from "./src/store/indexer.ts";
export type { StoreReplacement, StoreReplacementOptions } from "./src/store/replacement.ts";

// An informer tells.
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
export type { Lister, NamespaceLister } from "./src/informer/cache/lister.ts";
export type { InformerStatus } from "./src/informer/status.ts";
export type { InformerState, NamespaceStatus } from "./src/informer/sync/state.ts";
export type { HandlerStatus } from "./src/informer/events/processor.ts";
export type { CacheOptions, SharedIndexInformerOptions } from "./src/informer/options.ts";
export type { NamespaceSource } from "./src/informer/sync/namespace_sync.ts";
export type { InformerView } from "./src/informer/informer_view.ts";
export { SharedIndexInformer } from "./src/informer/shared_index_informer.ts";
export { SharedInformerFactory, type SharedInformerFactoryOptions } from "./src/informer/shared_informer_factory.ts";

// A workqueue lets workers act.
export * from "./src/workqueue/mod.ts";
