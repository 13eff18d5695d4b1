/**
 * The common face of informers, joined informers, derived collections and a relay's client. The classes are in
 * `shared_index_informer.ts`, `derived_collection.ts`, `controllers/clusters` and `relay/client`.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import type { ObjectKey } from "../api/object.ts";
import type { internals } from "../errors/internals.ts";
import type { ReadonlyIndexer } from "../store/indexer.ts";
import type { CacheSelection, Lister } from "./cache/lister.ts";
import type { OrderedView, ViewOptions } from "./cache_view.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import type { InformerStatus } from "./status.ts";

/** An event from any {@linkcode ReadableCollection}, with the members that all of them have. */
export type CollectionEvent<T> =
  | { readonly type: "added"; readonly key: ObjectKey; readonly object: T; readonly initial: boolean }
  | { readonly type: "updated"; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly key: ObjectKey; readonly object: T }
  | { readonly type: "synced"; readonly objects: number };

/**
 * A collection that follows its source: an informer, an informer for several clusters, a derived collection, or a
 * subscription to a relay. Use it as the type of a parameter, so that your function accepts all of them.
 *
 * `Read` is the type that reads return: the object, or with several clusters the object and its cluster. `Status` is
 * the type that {@linkcode ReadableCollection.status} returns: a status, or with several clusters an array.
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
    /** Returns the objects that match a label selector, or a selection. Without one, returns all. */
    list(selection?: string | CacheSelection): Read[];
    /** Returns a lister for one namespace. */
    namespace(namespace: string): {
      /** Returns the namespace's objects that match. */
      list(selection?: string | CacheSelection): Read[];
    };
  };
  /** `true` once the collection has had all objects from its source. */
  readonly hasSynced: boolean;
  /** Returns the current status. With several clusters, one for each. */
  status(): Status;
  /** Resolves when {@linkcode hasSynced} is `true`. Rejects if the signal aborts, or the collection stops first. */
  waitForCacheSync(options?: Abortable): Promise<void>;
  /** Resolves with the first object that the predicate accepts, now or later. With `key`, only that object counts. */
  until(predicate: (object: T) => boolean, options?: Abortable & { readonly key?: ObjectKey }): Promise<Read>;
  /** Returns the objects as events, then each change. */
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
  /** The same objects, as entries that need not be parsed yet. */
  readonly entries: ReadonlyIndexer<CacheEntry<T>, Name | "namespace">;
  /** @internal */
  readonly [internals]: {
    /** The parts that a derived collection follows: a `FollowedCollection`. */
    readonly sync: unknown;
  };
  /** Returns the current status. */
  status(): Pick<InformerStatus, "state" | "since" | "cause" | "objects" | "errors" | "handlers">;
  /** Yields the current status, then the newest one after each change of state. Ends when the collection stops. */
  statusChanges(options?: Abortable): AsyncIterableIterator<Pick<InformerStatus, "state">>;
  /**
   * Resolves when {@linkcode hasSynced} is `true`. With `patient`, it keeps waiting if the server refuses the first
   * list.
   */
  waitForCacheSync(options?: Abortable & { readonly patient?: boolean }): Promise<void>;
  /** Calls `handler` for each object, then for each change. */
  addEventHandler(handler: ResourceEventHandler<T>, options?: HandlerOptions<T>): HandlerRegistration;
  /** Returns the objects as events, then each change. */
  events(options?: HandlerOptions<T>): AsyncIterableIterator<InformerEvent<T>>;
  /** Returns a view: the objects in order, for readers that show a part of them. */
  view(options?: ViewOptions<T>): OrderedView<T>;
}
