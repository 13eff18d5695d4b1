/**
 * The informers for one kind in several clusters, read as one.
 *
 * {@linkcode ClusterInformer} is the entry point. A handler is added to each cluster's informer, and reads ask each
 * cache. Nothing is stored twice, and events from different clusters have no order.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import type { KubernetesObject, ObjectKey } from "../../../engine/api/object.ts";
import { PolledIterator } from "../../../engine/async/iterate.ts";
import { DerivedController } from "../../../engine/async/signals.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import type { CacheSelection } from "../../../engine/informer/cache/lister.ts";
import { CacheView, type ViewOptions } from "../../../engine/informer/cache_view.ts";
import type {
  AddedEvent,
  DeletedEvent,
  HandlerOptions,
  HandlerRegistration,
  InformerEvent,
  ResourceEventHandler,
  SyncedEvent,
  UpdatedEvent,
} from "../../../engine/informer/events/event.ts";
import type { ReadableCollection } from "../../../engine/informer/readable_collection.ts";
import type { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import type { SharedInformerFactory } from "../../../engine/informer/shared_informer_factory.ts";
import { type InformerStatus, InformerWaiter, joinedWaitError, WaitError } from "../../../engine/informer/status.ts";
import { StateKeeper, worstOf } from "../../../engine/informer/sync/state_keeper.ts";

/** Something in one of several clusters. */
export interface InCluster {
  /** The cluster's name. */
  readonly cluster: string;
}

/** A cached object and its cluster. */
export interface ClusterObject<T> extends InCluster {
  /** The cached object. Do not change it. */
  readonly object: T;
}

/** An object's key and its cluster. */
export interface ClusterKey extends InCluster {
  /** The key. Objects in other clusters may have the same key. */
  readonly key: ObjectKey;
}

/**
 * Callbacks for changes in several clusters. Events from one cluster come in order, and each callback is awaited before
 * the next. Clusters do not wait for each other. For events about objects, the signal also aborts when the cluster is
 * removed.
 */
export interface ClusterEventHandler<T> {
  /** Called for an object that is new to the handler. */
  onAdd?(event: AddedEvent<T> & InCluster, options: Required<Abortable>): unknown;
  /** Called for an object that has changed, and for a resync. */
  onUpdate?(event: UpdatedEvent<T> & InCluster, options: Required<Abortable>): unknown;
  /** Called for an object that was deleted. If its cluster was removed, the reason is `"moved"`. */
  onDelete?(event: DeletedEvent<T> & InCluster, options: Required<Abortable>): unknown;
  /** Called once for each cluster, after its initial objects. */
  onSynced?(event: SyncedEvent & InCluster, options: Required<Abortable>): unknown;
}

/** Reads the caches for several clusters. */
export interface ClusterLister<T> {
  /** Returns the objects in all clusters that match a selector, like `Lister.list`. */
  list(selector?: string | CacheSelection): ClusterObject<T>[];
  /** Returns the object with a key in one cluster, if it is cached. @throws {DecodeError} if it cannot be read. */
  get(cluster: string, key: ObjectKey): T | undefined;
  /** Returns a lister for one namespace in all clusters. */
  namespace(namespace: string): Pick<ClusterLister<T>, "list">;
}

/** Reads the indexes for several clusters. */
export interface ClusterIndexer<T, Name extends string = string> {
  /** The number of objects in all clusters. */
  readonly size: number;
  /** Returns the objects in all clusters that have the index value `value`, like `ReadonlyIndexer.byIndex`. */
  byIndex(name: Name, value: string): ClusterObject<T>[];
  /** Returns the keys of these objects, sorted within each cluster. */
  indexKeys(name: Name, value: string): ClusterKey[];
  /** Returns the index values that cached objects have, each once. */
  indexValues(name: Name): string[];
}

/** The informers for one kind, by their clusters' names. */
type Informers<T extends KubernetesObject, Name extends string> = ReadonlyMap<string, SharedIndexInformer<T, Name>>;

/** A handler on every cluster's informer, including clusters that come later. */
class ClusterRegistration<T extends KubernetesObject> implements HandlerRegistration {
  readonly name: string;
  readonly #handler: ResourceEventHandler<T>;
  readonly #options: HandlerOptions<T>;
  readonly #informers: Informers<T, string>;
  /** Has an informer from its arrival until the handler has received that it left. */
  readonly #parts = new Map<SharedIndexInformer<T, string>, HandlerRegistration>();
  /** Aborts when the handler is removed or the set is disposed. */
  readonly ended: AbortSignal;
  readonly #job: DerivedController;

  constructor(
    handler: ClusterEventHandler<T>,
    options: HandlerOptions<T> & { readonly name: string },
    informers: Informers<T, string>,
    ended: AbortSignal,
  ) {
    const { signal, ...own } = options;
    this.name = options.name;
    this.#options = own;
    this.#informers = informers;
    this.#job = new DerivedController(signal, ended);
    // Events of an informer with the option `cluster` name it.
    const job = this.ended = this.#job.signal;
    this.#handler = {
      onAdd: (event, options) => handler.onAdd?.(event as AddedEvent<T> & InCluster, options),
      onUpdate: (event, options) => handler.onUpdate?.(event as UpdatedEvent<T> & InCluster, options),
      onDelete: (event, options) => handler.onDelete?.(event as DeletedEvent<T> & InCluster, options),
      onSynced: (event) => handler.onSynced?.(event as SyncedEvent & InCluster, { signal: job }),
    };
    for (const informer of informers.values()) this.follow(informer);
    if (job.aborted) this.#end();
    else job.addEventListener("abort", this.#end, { once: true });
  }

  get hasSynced(): boolean {
    return this.#present.every(({ hasSynced }) => hasSynced);
  }

  get pending(): number {
    return this.#present.reduce((sum, { pending }) => sum + pending, 0);
  }

  /** Adds the handler to an informer. */
  follow(informer: SharedIndexInformer<T, string>): void {
    this.#parts.set(informer, informer.addEventHandler(this.#handler, this.#options));
  }

  /** Forgets an informer, which has left. */
  left(informer: SharedIndexInformer<T, string>): void {
    this.#parts.delete(informer);
  }

  async waitForSync(options: Abortable = {}): Promise<void> {
    using job = new DerivedController(options.signal, this.#job.signal);
    for (;;) {
      const part = this.#present.find(({ hasSynced }) => !hasSynced);
      if (part === undefined) return;
      try {
        await part.waitForSync({ signal: job.signal });
      } catch (error) {
        if (this.#present.includes(part)) throw error; // else its cluster was removed
      }
    }
  }

  skip(key: ObjectKey): boolean {
    return this.#present.map((part) => part.skip(key)).includes(true);
  }

  remove(): void {
    if (!this.ended.aborted) this.#job.abort(new DOMException(`Handler "${this.name}" was removed`, "AbortError"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.remove();
    await Promise.all(Array.from(this.#parts.values(), (part) => part[Symbol.asyncDispose]()));
  }

  /** The registrations in the present clusters. A removed handler has none in clusters that came later. */
  get #present(): HandlerRegistration[] {
    return [...this.#informers.values()].flatMap((informer) => this.#parts.get(informer) ?? []);
  }

  readonly #end = (): void => {
    for (const part of this.#parts.values()) part.remove();
  };
}

/** The events from several clusters as an async iterator. Each cluster offers one event, and they are taken in turn. */
class ClusterEvents<T extends KubernetesObject> extends PolledIterator<InformerEvent<T> & InCluster> {
  readonly #open: (handler: ClusterEventHandler<T>) => HandlerRegistration;
  #registration: HandlerRegistration | undefined;
  /** At most one event from each cluster. Its handler waits until the event is taken. */
  readonly #offers: { readonly event: InformerEvent<T> & InCluster; readonly taken: () => void }[] = [];

  /** `open` adds the handler that fills it. */
  constructor(open: (handler: ClusterEventHandler<T>) => HandlerRegistration, signal: AbortSignal | undefined) {
    super(signal);
    this.#open = open;
  }

  protected override begin(): void {
    const offer = (event: InformerEvent<T> & InCluster): Promise<void> =>
      new Promise((taken) => {
        this.#offers.push({ event, taken });
        this.wake();
      });
    this.#registration = this.#open({ onAdd: offer, onUpdate: offer, onDelete: offer, onSynced: offer });
  }

  protected override poll(): (InformerEvent<T> & InCluster) | undefined {
    const offer = this.#offers.shift();
    offer?.taken();
    return offer?.event;
  }

  protected override finish(): void {
    this.#registration?.remove();
    for (const { taken } of this.#offers) taken();
  }
}

/**
 * One informer for a kind in all clusters of a {@linkcode ClusterSet}. Each cluster has its own lists, watches,
 * versions, snapshots and checks ({@linkcode cluster}). So if a cluster is slow, gone or refuses requests, the others
 * are not affected, and {@linkcode status} shows the failure.
 *
 * - When a cluster is added, handlers receive its objects as initial ones.
 * - When a cluster is removed, reads lack its objects immediately. Handlers receive them as deleted, with the reason
 *   `"moved"`.
 * - Events, listed objects, rows in views and status name their cluster. There is no order between clusters.
 * - A version is valid in only one cluster, so there is no `waitForVersion()` over all clusters. Call it on
 *   {@linkcode cluster}, or wait for an object with {@linkcode until}.
 * - `derive()` takes the informer for one cluster: {@linkcode cluster}, or one from a factory in `ClusterSet.run()`.
 *
 * See the guide: [Clusters](../../../../docs/scale/clusters.md).
 */
export class ClusterInformer<T extends KubernetesObject, Name extends string = never>
  implements ReadableCollection<T, ClusterObject<T>, readonly InformerStatus[]> {
  /** Reads the caches. */
  readonly lister: ClusterLister<T>;
  /** Reads the indexes. */
  readonly indexer: ClusterIndexer<T, Name | "namespace">;
  /** Has the informer of each cluster that was added and not removed. */
  readonly #informers = new Map<string, SharedIndexInformer<T, Name>>();
  /** Has each handler that was not removed. A removed handler stays until the next one is added. */
  readonly #registrations = new Set<ClusterRegistration<T>>();
  readonly #ended = new AbortController();
  readonly #make: (informers: SharedInformerFactory) => SharedIndexInformer<T, Name>;
  readonly #waits: InformerWaiter<T>;
  /** The number of generated names for handlers that have none. */
  #names = 0;
  /** @internal */
  readonly [internals] = {
    /** Adds a cluster, with the informers that it has. */
    joined: (cluster: string, informers: SharedInformerFactory): void => {
      const informer = this.#make(informers);
      this.#informers.set(cluster, informer);
      for (const registration of this.#registrations) if (!registration.ended.aborted) registration.follow(informer);
    },
    /** Removes a cluster, and resolves when the handlers have received that. */
    left: async (cluster: string): Promise<void> => {
      const informer = this.#informers.get(cluster);
      if (informer === undefined) return;
      this.#informers.delete(cluster);
      await informer[internals].sync.leave();
      for (const registration of this.#registrations) registration.left(informer);
    },
    /** Ends handlers, iterators and views. */
    end: (): void => this.#ended.abort(new DOMException("The clusters were disposed", "AbortError")),
  };

  /** `ClusterSet.forResource()` calls this. `name` is the resource's name, and `make` returns a cluster's informer. */
  constructor(name: string, make: (informers: SharedInformerFactory) => SharedIndexInformer<T, Name>) {
    this.#make = make;
    const subject = `"${name}" in several clusters`;
    const stateOf = (): StateKeeper => this.#state;
    this.#waits = new InformerWaiter<T>({
      collection: { name, subject, informer: `the informer of ${subject}` },
      get state() {
        return stateOf();
      },
      processor: { stream: (options) => this.events(options) },
      partsOf: () => [],
    });
    this.lister = {
      list: (selector) => this.#objects(({ lister }) => lister.list(selector)),
      get: (cluster, key) => this.#informers.get(cluster)?.lister.get(key),
      namespace: (namespace) => ({
        list: (selector) => this.#objects(({ lister }) => lister.namespace(namespace).list(selector)),
      }),
    };
    const informers = this.#informers;
    this.indexer = {
      get size(): number {
        return Array.from(informers.values()).reduce((sum, { indexer }) => sum + indexer.size, 0);
      },
      byIndex: (name, value) => this.#objects(({ indexer }) => indexer.byIndex(name, value)),
      indexKeys: (name, value) =>
        this.#each(({ indexer }) => indexer.indexKeys(name, value), (cluster, key) => ({ cluster, key })),
      indexValues: (name) => [
        ...new Set(this.#each(({ indexer }) => indexer.indexValues(name), (_cluster, value) => value)),
      ],
    };
  }

  /** The clusters' names. */
  get clusters(): readonly string[] {
    return [...this.#informers.keys()];
  }

  /** Returns the informer for one cluster, or `undefined` if there is no such cluster. */
  cluster(name: string): SharedIndexInformer<T, Name> | undefined {
    return this.#informers.get(name);
  }

  /** `true` if the caches of all clusters have been equal to their servers. */
  get hasSynced(): boolean {
    return [...this.#informers.values()].every(({ hasSynced }) => hasSynced);
  }

  /** Returns the status of each cluster's informer. */
  status(): (InformerStatus & InCluster)[] {
    return Array.from(this.#informers, ([cluster, informer]) => ({ ...informer.status(), cluster }));
  }

  /**
   * Waits until each cluster has synced or failed. Even if this rejects, you can read the caches for clusters that have
   * synced. A cluster that is removed meanwhile does not count.
   *
   * @throws {WaitError} if clusters refuse (unless `patient`) or have not synced when the signal aborts. It names these
   * clusters. See `SharedIndexInformer.waitForCacheSync()`.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    checkNames("wait for a sync", options, "signal patient");
    await settled(this.#informers, (informer) => informer.waitForCacheSync(options));
  }

  /**
   * Resolves with the first object for which the predicate holds, and its cluster. The object is cached in any cluster,
   * or comes later. With `key`, only objects with that key count. It reads like `SharedIndexInformer.until()`, but a
   * key is not looked up.
   *
   * @throws {WaitError} if the signal aborts or the set is disposed first.
   * @throws the predicate's error.
   */
  async until(
    predicate: (object: T) => boolean,
    options: Abortable & { readonly key?: ObjectKey } = {},
  ): Promise<ClusterObject<T>> {
    return await this.#waits.until(predicate, options) as ClusterObject<T>;
  }

  /**
   * Calls `handler` for the cached objects in all clusters, then for changes.
   *
   * @throws {Error} if the set was disposed.
   * @throws {RangeError} if an option is out of range.
   * @throws {TypeError} if you pass a checkpoint, which belongs to one cluster. Pass it to a handler on
   * {@linkcode cluster}.
   */
  addEventHandler(handler: ClusterEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#register(handler, options);
  }

  /**
   * Returns the cached objects in all clusters as events, then changes. The iterator begins at its first `next()`. It
   * ends when the set is disposed, when the signal aborts, or at `break`. Clusters do not wait for each other's events.
   *
   * `next()` rejects with the errors that {@linkcode addEventHandler} throws.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T> & InCluster> {
    const events = new ClusterEvents<T>(
      (handler) => this.addEventHandler(handler, { name: "events", ...options }),
      options.signal,
    );
    events.endWith(this.#ended.signal);
    return events;
  }

  /**
   * Returns the cached objects in all clusters in one order, see `SharedIndexInformer.view()`. The view has synced when
   * one cluster has. Rows from other clusters enter as they come. Rows with equal sort keys are in the order of their
   * clusters.
   *
   * @throws the same errors as {@linkcode addEventHandler} and `SharedIndexInformer.view()`.
   */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    const registered: ClusterRegistration<T>[] = [];
    const addEventHandler = (handler: ResourceEventHandler<T>, options: HandlerOptions<T>): HandlerRegistration => {
      registered.push(this.#register(handler, options));
      return registered[0];
    };
    const view = new CacheView<T>({ addEventHandler }, options);
    const end = (): void => view[Symbol.dispose]();
    // No cluster needs to have synced by then.
    for (const { ended } of registered) ended.aborted ? end() : ended.addEventListener("abort", end, { once: true });
    return view;
  }

  /** The worst state among the clusters. */
  get #state(): StateKeeper {
    const states = Array.from(this.#informers.values(), ({ [internals]: { sync } }) => sync.state);
    if (states.length > 0 && !this.#ended.signal.aborted) return worstOf(states);
    const state = new StateKeeper();
    if (this.#ended.signal.aborted) state.stopped();
    return state;
  }

  #register(handler: ClusterEventHandler<T>, options: HandlerOptions<T>): ClusterRegistration<T> {
    if (this.#ended.signal.aborted) throw new Error("Cannot add a handler: the clusters were disposed");
    if (options.checkpoint !== undefined) {
      throw new TypeError(
        "Cannot use a checkpoint with several clusters: a checkpoint belongs to one cluster. Add a handler with its own " +
          "checkpoint to the informer of each cluster",
      );
    }
    const name = options.name ?? `handler ${++this.#names}`;
    for (const registration of this.#registrations) {
      if (registration.ended.aborted) this.#registrations.delete(registration);
    }
    const { signal } = this.#ended;
    const registration = new ClusterRegistration<T>(handler, { ...options, name }, this.#informers, signal);
    this.#registrations.add(registration);
    return registration;
  }

  #objects(read: (informer: SharedIndexInformer<T, Name>) => readonly T[]): ClusterObject<T>[] {
    return this.#each(read, (cluster, object) => ({ cluster, object }));
  }

  /** Returns the values that are read in each cluster, joined with the cluster's name. */
  #each<V, R>(
    read: (informer: SharedIndexInformer<T, Name>) => readonly V[],
    join: (cluster: string, value: V) => R,
  ): R[] {
    const all: R[] = [];
    for (const [cluster, informer] of this.#informers) {
      for (const value of read(informer)) all.push(join(cluster, value));
    }
    return all;
  }
}

/**
 * Awaits a call for each member, also if one fails. Members that were removed meanwhile have not failed.
 *
 * @throws {WaitError} if several members failed. It joins their errors.
 */
export async function settled<M>(members: ReadonlyMap<string, M>, wait: (member: M) => Promise<void>): Promise<void> {
  const failed = await Promise.all(Array.from(members, async ([name, member]): Promise<readonly unknown[]> => {
    try {
      await wait(member);
    } catch (error) {
      if (members.get(name) === member) return [error];
    }
    return [];
  }));
  const errors = failed.flat();
  if (errors.length === 0) return;
  throw errors.length > 1 && errors.every((it) => it instanceof WaitError) ? joinedWaitError(errors) : errors[0];
}
