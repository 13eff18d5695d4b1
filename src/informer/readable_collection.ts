/**
 * The common face of informers, joined informers, derived collections and a relay's client. The classes are in
 * `shared_index_informer.ts`, `derived_collection.ts`, `controllers/clusters` and `relay/client`.
 *
 * @module
 */
import type { ObjectKey } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import type { internals } from "../errors/internals.ts";
import type { ReadonlyIndexer } from "../store/indexer.ts";
import type { CacheSelection, Lister } from "./cache/lister.ts";
import type { OrderedView, ViewOptions } from "./cache_view.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import type { InformerStatus } from "./status.ts";

/** An event of any {@linkcode ReadableCollection}: the members that all of them have. */
export type CollectionEvent<T> =
  | { readonly type: "added"; readonly key: ObjectKey; readonly object: T; readonly initial: boolean }
  | { readonly type: "updated"; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly key: ObjectKey; readonly object: T }
  | { readonly type: "synced"; readonly objects: number };

/**
 * A collection of objects that follows its source: an informer, an informer of several clusters, a derived collection,
 * or a subscription to a relay. Use it as the type of a parameter, so that your function takes all of them.
 *
 * `Read` is what reads return: the object, or for several clusters the object with its cluster. `Status` is what
 * {@linkcode ReadableCollection.status} returns: a status, or for several clusters an array.
 *
 * @example
 * ```ts
 * import { Client, type ReadableCollection, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * async function count(pods: ReadableCollection<Pod, unknown, unknown>): Promise<number> {
 *   await pods.waitForCacheSync();
 *   return pods.lister.list("app=web").length;
 * }
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0", namespace: "shop", labels: { app: "web" } }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod));
 * pods.run();
 * assertEquals(await count(pods), 1);
 * ```
 */
export interface ReadableCollection<T, Read = T, Status = { readonly state: string }> {
  /** Reads the objects. */
  readonly lister: {
    /** Returns the objects that a label selector, or a selection, matches; without one, all. */
    list(selection?: string | CacheSelection): Read[];
    /** Returns a lister of one namespace. */
    namespace(namespace: string): {
      /** Returns the objects of the namespace that match. */
      list(selection?: string | CacheSelection): Read[];
    };
  };
  /** `true` once it has had all objects of its source. */
  readonly hasSynced: boolean;
  /** Returns the present status; for several clusters, one for each. */
  status(): Status;
  /** Resolves once {@linkcode hasSynced}; rejects if the signal aborts, or the collection stops first. */
  waitForCacheSync(options?: Abortable): Promise<void>;
  /** Resolves with the first object, there or to come, for which the predicate holds; with `key`, of that key. */
  until(predicate: (object: T) => boolean, options?: Abortable & { readonly key?: ObjectKey }): Promise<Read>;
  /** Returns the objects as events, then changes. */
  events(options?: Abortable): AsyncIterableIterator<CollectionEvent<T>>;
}

/**
 * A {@linkcode ReadableCollection} in this process, with handlers, indexes and views: an informer or a derived
 * collection. {@linkcode derive} takes it.
 */
export interface IndexedCollection<T, Name extends string = never> extends ReadableCollection<T> {
  /** Reads the objects by namespace, name and label selector. */
  readonly lister: Lister<T>;
  /** The objects, by key and by index. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** @internal */
  readonly [internals]: {
    /** The parts that a derived collection follows: a `FollowedCollection`. */
    readonly sync: unknown;
  };
  /** Returns the present status. */
  status(): Pick<InformerStatus, "state" | "since" | "cause" | "objects" | "errors" | "handlers">;
  /** Yields the present status, then the newest one after changes of state, and ends when the collection stops. */
  statusChanges(options?: Abortable): AsyncIterableIterator<Pick<InformerStatus, "state">>;
  /** Resolves once {@linkcode hasSynced}; with `patient`, also if the server refuses the first list for now. */
  waitForCacheSync(options?: Abortable & { readonly patient?: boolean }): Promise<void>;
  /** Calls `handler` for the objects, then for changes. */
  addEventHandler(handler: ResourceEventHandler<T>, options?: HandlerOptions<T>): HandlerRegistration;
  /** Returns the objects as events, then changes. */
  events(options?: HandlerOptions<T>): AsyncIterableIterator<InformerEvent<T>>;
  /** Returns the objects in order, for readers of a part of them. */
  view(options?: ViewOptions<T>): OrderedView<T>;
}
