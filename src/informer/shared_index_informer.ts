/**
 * The informer: `sync` writes lists and watches into the store, `events` delivers the changes, and `cache` reads the
 * store; `snapshot` writes and restores it, and `view` has its objects in order.
 *
 * {@linkcode SharedIndexInformer} is the entry point: it connects these, reports status and errors, and stops them.
 * This folder sends no requests (the reflector does) and changes nothing on the server.
 *
 * @module
 */

import type { CacheEntry } from "../api/entry.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { type Abortable, defined, type Selection } from "../api/options.ts";
import { Latest } from "../async/iterate.ts";
import { DerivedController } from "../async/signals.ts";
import { errorObserver } from "../errors/errors.ts";
import { withErrorJson } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { Indexers, ReadonlyIndexer } from "../store/indexer.ts";
import { CachedCollection, type NamespaceSource } from "./cache/cache_scope.ts";
import type { Lister } from "./cache/lister.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import { ObjectCache } from "./cache/object_cache.ts";
import { CacheView, type ViewOptions } from "./cache_view.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import { Processor } from "./events/processor.ts";
import { INFORMER_OPTIONS, type SharedIndexInformerOptions, withCacheDefaults } from "./options.ts";
import type { IndexedCollection } from "./readable_collection.ts";
import { CacheSnapshots, type SnapshotOptions } from "./snapshot.ts";
import { type InformerStatus, InformerWaits, syncStatus } from "./status.ts";
import { CollectionSync } from "./sync/collection_sync.ts";
import { type CheckOptions, type CheckResult, ConsistencyChecks } from "./sync/consistency_check.ts";

/**
 * Lists and watches a collection, keeps its objects in a cache, and delivers its changes to any number of handlers.
 *
 * - The cache never shows a state that the server did not have: a relist replaces it in one step.
 * - Each handler receives a gap-free sequence of events for every object: added, updated with rising versions, deleted,
 *   and after that only added. States between two lists may be missing; the last one never is.
 * - Reads are synchronous: those without an `await` between them see one state. The objects are the cache's own.
 * - The informer resumes or relists after every failure until it is stopped; {@linkcode status} names the failure
 *   meanwhile.
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod), {
 *   indexers: { node: (pod) => pod.spec.nodeName ? [pod.spec.nodeName] : [] },
 * });
 * pods.run();
 * await pods.waitForCacheSync();
 * assertEquals(pods.indexer.indexKeys("node", "worker-1"), ["shop/cart-0"]);
 * ```
 */
export class SharedIndexInformer<T extends KubernetesObject, Name extends string = never>
  implements IndexedCollection<T, Name>, AsyncDisposable {
  /** The cache, indexed by namespace and by `indexers`. Lists leave out objects that cannot be read. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** The same cache, as entries that are not parsed. */
  readonly entries: ReadonlyIndexer<CacheEntry<T>, Name | "namespace">;
  /** Reads the cache by namespace, name and label selector. */
  readonly lister: Lister<T>;

  /** The parts of the collection that its sources select, where they say so: those of a client do. */
  readonly selections: readonly Selection[];
  /** `true` if the objects are Secrets with their data. */
  readonly keepsSecretData: boolean;

  /** @internal */
  readonly [internals]: {
    /** The cache, and what writes to it. A derived collection has those of its objects here. */
    readonly sync: CollectionSync<T>;
    /** The comparisons with the server. */
    readonly checks: ConsistencyChecks<T>;
  };

  readonly #options: SharedIndexInformerOptions<T, Name>;
  readonly #sync: CollectionSync<T>;
  readonly #snapshots: CacheSnapshots<T>;
  readonly #waits: InformerWaits<T>;
  readonly #changes: Latest<InformerStatus>;
  readonly #job = new DerivedController();
  /** Set by the first `run()`; settles when the informer has stopped. */
  #running: Promise<void> | undefined;
  /** Set by the first `run()`; resolves when all lists and watches have ended, with the failure of one, if any. */
  #following: Promise<{ readonly error: unknown } | undefined> | undefined;
  /** `true` once `#running` has settled. */
  #hasEnded = false;
  /** Only rises. */
  #errors = 0;
  readonly #observe: (error: unknown) => void;

  /**
   * Makes an informer, which sends no request before `run()`.
   *
   * Several sources, each of its own namespace, make one informer, which lists and watches each namespace separately:
   * when the server refuses one, the others continue. There is no order between namespaces; the cache has synced when
   * all of them have.
   *
   * @throws {RangeError} when an option is out of range.
   * @throws {TypeError} when there is no source, or a namespace is repeated or empty; when `deliverUnchanged` is given
   * and the sources are not reduced to named fields, or `secretData` and they are not of Secrets.
   */
  constructor(
    source: ListerWatcher<T> | readonly NamespaceSource<T>[],
    options: SharedIndexInformerOptions<T, Name> = {},
  ) {
    // A factory has checked its own options.
    if (options[internals] === undefined) checkNames("create an informer", options, INFORMER_OPTIONS);
    const { budget, finder } = options[internals] ?? {};
    const filled = withCacheDefaults(options);
    const collection = new CachedCollection<T>(source, filled, finder);
    const { scope, subject } = collection;
    const report = (error: unknown): void => {
      this.#errors++;
      this.#observe(error);
    };
    this.#options = options;
    this.#observe = errorObserver(options.onError, () => `informer of ${subject}`);
    this.selections = scope.parts;
    this.keepsSecretData = scope.keepsSecretData;
    const cache = new ObjectCache<T>(scope.resource, filled, report, budget !== undefined);
    const counted = budget?.count(scope.resource!, cache);
    this.entries = cache.store;
    this.indexer = cache.indexer;
    this.lister = cache.lister;
    if (options.indexers !== undefined) cache.addIndexers(options.indexers);
    const processor = new Processor<T>({
      name: collection.informer,
      cache,
      resourceVersion: () => this.lastSyncResourceVersion,
      present: (signal) => this.#sync.present(signal),
      report,
      waitForSync: (handler, signal, call) => this.#waits.forHandler(handler, signal, call),
      resyncMs: filled.resyncMs,
      graceMs: filled.graceMs,
    });
    const changes = this.#changes = new Latest(() => this.status());
    const sync = this.#sync = new CollectionSync<T>(
      { collection, cache, processor, changes, report, counted },
      options.reflector,
      options.pollMs,
    );
    this[internals] = { sync, checks: new ConsistencyChecks<T>(sync, this.#job.signal) };
    this.#snapshots = new CacheSnapshots<T>(sync);
    this.#waits = new InformerWaits<T>(sync);
  }

  /** `true` once the cache has been equal to the server; of several namespaces, in each of them. */
  get hasSynced(): boolean {
    return this.#sync.hasSynced;
  }

  /**
   * The version up to which the cache has everything; `""` before the first list. Of several namespaces it is the
   * oldest, or `""` where their versions cannot be ordered.
   */
  get lastSyncResourceVersion(): string {
    return this.#sync.resourceVersion;
  }

  /**
   * Adds indexes, fills them at once, and returns this informer, typed with their names.
   *
   * @throws {Error} when an index of one of these names exists, or the informer has stopped; then it adds none of them.
   */
  withIndexers<More extends string>(indexers: Indexers<T, More>): SharedIndexInformer<T, Name | More> {
    if (this.#sync.stage === "stopped") {
      throw new Error(`Cannot add an index to ${this.#sync.informer}: it has stopped already`);
    }
    this.#sync.cache.addIndexers(indexers);
    this.#sync.counted?.wrote("list");
    return this as SharedIndexInformer<T, Name | More>;
  }

  /** Returns the present status, in a few microseconds, whatever the size of the cache. */
  status(): InformerStatus {
    return withErrorJson({
      ...defined({ cluster: this.#options.cluster }),
      ...syncStatus(this.#sync, this.#sync.cache.store.size),
      errors: this.#errors,
      quarantined: this.#sync.cache.quarantine.size,
      outdated: this.#sync.writer.outdated,
      ...this[internals].checks.status,
      ...defined({ pollMs: this.#options.pollMs, memory: this.#sync.counted?.counted }),
      ...defined({ deliveryMs: this.#sync.processor.deliveryTimes?.durations }),
      handlers: this.#sync.processor.status,
    });
  }

  /**
   * Measures from now on, for `status().deliveryMs`, the time from the creation of an object on the server to each call
   * of a handler for its addition; a `Manager` asks for it.
   *
   * - Objects are measured that were created since, not those of the first list. What was created while the watch was
   *   interrupted counts with that time.
   * - The server writes `creationTimestamp` in whole seconds, by its own clock: a time is up to a second too long, and
   *   has the difference of the clocks in it.
   * - Handlers with a filter, and informers with selectors, are not measured: an old object that begins to match is an
   *   addition, too. Nor are objects from which a `transform` has taken the field.
   *
   * It reads one field of such an object, unparsed, for each handler.
   */
  measureDelivery(): void {
    const isSelective = this.selections.some((it) => it.labelSelector !== undefined || it.fieldSelector !== undefined);
    if (!isSelective) this.#sync.processor.measureDelivery();
  }

  /** Returns the sizes of the cached objects. It takes 0.1 to 0.3 s for a million of them, and parses none. */
  memory(): MemoryReport {
    return this.#sync.cache.memory;
  }

  /**
   * Yields the present status, then the newest one after changes of state, cause, lists or watches. The iterator ends
   * behind the last status when the informer stops, at once when the signal aborts, and at `break`.
   */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<InformerStatus> {
    checkNames("read the status", options, "signal");
    return this.#changes.read(options);
  }

  /**
   * Calls `handler` for the cached objects, as added events with `initial`, then for changes; never before this method
   * has returned.
   *
   * @throws {Error} when the informer has stopped.
   * @throws {RangeError} when an option is out of range.
   * @throws {TypeError} when it has a checkpoint, and the ranges of the informer's shard, or its namespaces, change:
   * what moved meanwhile would count as deleted.
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#sync.processor.add(handler, this.#checked(options));
  }

  /**
   * Returns the cached objects as events, then changes. The iterator begins at its first `next()`, and ends when the
   * informer stops, when the signal aborts, or at `break`.
   *
   * `next()` rejects with an error when the backlog exceeds its `{ max }`, and when the informer has stopped before the
   * first one.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#sync.processor.stream(this.#checked(options));
  }

  /**
   * Returns the cached objects for which `where` holds, in the order of `sortBy`, for readers that show a part of them:
   * `offset` and `limit` are the part that they read if they name none. The view follows the cache until it is
   * disposed, the signal aborts, or the informer stops.
   *
   * A change of an object costs O(log n); see {@linkcode CacheView}.
   *
   * @throws {SyntaxError} when a sort key is no path of a field.
   * @throws {RangeError} when the offset or limit is no count.
   * @throws {Error} when the informer has stopped.
   *
   * @example
   * ```ts
   * import { Client, SharedIndexInformer } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer, pod } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const server = new FakeApiServer();
   * for (const name of ["cart-0", "cart-1", "web-0"]) server.create(Pod, pod({ name, namespace: "shop" }));
   * using client = new Client({ server: "http://fake", transport: server });
   * await using pods = new SharedIndexInformer(client.resource(Pod));
   * pods.run();
   * using view = pods.view({ sortBy: "-metadata.name", limit: 2 });
   * for await (const { total, rows } of view.changes()) { // all rows of the window first, then its changes
   *   assertEquals([total, rows?.map(({ key }) => key)], [3, ["shop/web-0", "shop/cart-1"]]);
   *   break;
   * }
   * ```
   */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    return new CacheView<T>(this, options);
  }

  /**
   * Resolves with the first object, cached or to come, for which the predicate holds. It reads, and so parses, every
   * object, or only the one of `key`, which is looked up; a predicate of {@linkcode field} parses none but the last.
   *
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   * @throws an error of the predicate.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    return (await this.#waits.until(predicate, options)).object;
  }

  /**
   * Resolves when there is no object of that key: at once, if there is none when the cache has synced, otherwise when
   * it is deleted, even if another object of that name follows.
   *
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   */
  untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    return this.#waits.untilDeleted(key, options);
  }

  /**
   * Resolves once the cache is at `resourceVersion` or later, so that a program can read its own write. The cache
   * learns of a write outside its selection only by the next change or bookmark, so pass a signal.
   *
   * For an informer of several namespaces, `namespace` names that of the write; without it, every
   * namespace must have reached the version.
   *
   * @throws {RangeError} when a version is not a decimal number, or the informer has no such namespace.
   * @throws {Error} when a relist goes back to an older state.
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   */
  async waitForVersion(
    resourceVersion: string,
    options: Abortable & { readonly namespace?: string } = {},
  ): Promise<void> {
    await this.#waits.waitForVersion(resourceVersion, options);
  }

  /**
   * Lists and watches until the signal aborts or the informer is disposed; resolves when the running calls of handlers
   * have returned. An informer runs once.
   *
   * @throws {Error} when it runs or has run already; when a handler's call has not returned within `graceMs`.
   */
  run(options: Abortable = {}): Promise<void> {
    checkNames(`run ${this.#sync.informer}`, options, "signal");
    const { stage } = this.#sync;
    if (stage !== "new") {
      const state = stage === "stopped" ? "has stopped" : "is running";
      return Promise.reject(new Error(`Cannot run ${this.#sync.informer}: it ${state} already`));
    }
    return this.#running = this.#run(options);
  }

  /**
   * Ends the list or watch until {@linkcode resume}: the informer sends no requests, and keeps cache, indexes and
   * handlers. Before `run()` it delays the first list. Waits continue until the informer is resumed or stopped.
   */
  pause(): void {
    this.#sync.pause();
  }

  /**
   * Ends a pause. The cache is `stale` until the watch is open, which resumes at the version of the cache, without a
   * list. If the server has that version no longer, the collection is listed, and handlers receive the difference.
   */
  resume(): void {
    this.#sync.resume();
  }

  /**
   * Returns the cache as bytes: its objects as they are now, and their version, for {@linkcode restore}. Objects that
   * were never read are copied and not parsed. What a `transform` returned is written as JSON.
   *
   * The bytes are made as they are read, 256 KiB at a time, or one object if that is larger; until then the objects
   * stay in memory.
   *
   * @throws {Error} when the cache has not synced.
   * @throws {TypeError} when the objects are Secrets with their data, unless `secrets` is set.
   */
  snapshot(options: SnapshotOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    checkNames("create a snapshot", options, "cluster secretData");
    return this.#snapshots.write(options);
  }

  /**
   * Fills the cache from a snapshot, before {@linkcode run}: it can be read at once, and is `stale`, with the age of
   * the snapshot. Handlers receive its objects as initial ones. The watch resumes at the version of the snapshot,
   * without a list; if the server has that version no longer, the collection is listed, and handlers receive the
   * difference.
   *
   * {@linkcode run} first asks the server for objects of the snapshot. If it has none of them, has not reached the
   * version, or cannot read it, the snapshot is of another cluster or history, or forged: the collection is listed too,
   * and `onError` receives the reason. A source that is not a client's, without `identities`, is not asked.
   *
   * The objects are not transformed again: give snapshots of another `transform` another place. A damaged snapshot is
   * found by checksums; a forged one is not.
   *
   * @throws {SnapshotError} when the snapshot is damaged, or of another resource, selection, cluster or form of
   * objects; then nothing has changed.
   * @throws {Error} when the informer has run or has objects already; what the reading of `snapshot` throws.
   */
  async restore(
    snapshot: AsyncIterable<Uint8Array>,
    options: Pick<SnapshotOptions, "cluster"> = {},
  ): Promise<void> {
    checkNames("restore a snapshot", options, "cluster");
    await this.#snapshots.restore(snapshot, options);
    this.#changes.changed();
  }

  /**
   * Resolves once {@linkcode hasSynced}; with `namespace`, once that one of several has synced.
   *
   * @throws {WaitError} unless `patient`, as soon as the server refuses the first list (400, 401, 403, 404), there are
   * no credentials, or the runtime does not permit the connection; the error is its `cause`, and the informer retries
   * in any case. Of several namespaces it throws the first refusal, and {@linkcode status} has the cause of each.
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   * @throws {RangeError} when the informer has no such namespace.
   */
  async waitForCacheSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string } = {},
  ): Promise<void> {
    await this.#waits.forSync(options);
  }

  /**
   * Compares the cache with the server, and repairs what differs. A difference means that the server, or something
   * between, has lost an event; or that the server's history went back, as that of a restored etcd does. It is reported
   * to `onError` as a {@linkcode CacheDifferenceError}, and counted by {@linkcode status}.
   *
   * - The server is asked for metadata alone, in pages, at the version of the cache, or that of the options, or a newer
   *   one. Objects are compared by uid and resourceVersion; equal ones lead to no event.
   * - Up to 100 objects that differ are read again, one by one, and handlers receive events of them. A deletion that
   *   was missed has `finalStateUnknown`. A state that the watch has sent meanwhile is never replaced by an older one.
   * - The collection is listed if more differ, if the history went back, or if the watch is silent: it does not reach
   *   the version of objects that differ within 90 s.
   * - What this cannot show: an object of which cache and server have different states of one uid and version.
   *
   * One check runs at a time per client; others wait for it. `consistencyCheck: { intervalMs }` of the options checks
   * regularly while the informer is live.
   *
   * @throws {Error} when the informer is paused, has stopped, or has not synced yet.
   * @throws the error of a request that fails, or the reason of the signal.
   */
  async checkConsistency(options: CheckOptions = {}): Promise<CheckResult> {
    checkNames("check a cache", options, "signal resourceVersion");
    return await this[internals].checks.check(options);
  }

  /**
   * Stops the informer and waits for running calls of handlers; from inside a handler it does not wait for that call.
   * After an `await` the informer cannot see where it is called from: abort the signal of `run()` there. It rejects as
   * `run()` does, unless that has rejected before.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return; // a failure was that of run()
    const caller = this.#sync.processor.caller;
    this.#job.abort(new DOMException(`${this.#sync.informer} was disposed`, "AbortError"));
    if (caller === undefined) return await (this.#running ?? this.#stop());
    if (this.#running === undefined) return await this.#stop(undefined, caller); // restored, and never run
    // `run()` waits for the running call, which may wait for this disposal.
    await this.#following;
    await this.#sync.processor.stop(caller);
  }

  async #run(options: Abortable): Promise<void> {
    if (options.signal !== undefined) this.#job.follow(options.signal);
    this.#sync.processor.begin();
    const checking = this[internals].checks.runEvery(this.#options.consistencyCheck?.intervalMs ?? Infinity);
    const failure = await (this.#following = this.#sync.run(this.#job));
    await checking;
    this.#job.release();
    await this.#stop(failure?.error).finally(() => this.#hasEnded = true);
    if (failure !== undefined) throw failure.error;
  }

  async #stop(cause?: unknown, caller?: Processor<T>["caller"]): Promise<void> {
    this.#sync.end(() => this.#waits.stopped, cause);
    this.#changes.end();
    this.#sync.counted?.[Symbol.dispose]();
    await this.#sync.processor.stop(caller);
  }

  #checked(options: HandlerOptions<T>): HandlerOptions<T> {
    const { informer, scope } = this.#sync.collection;
    if (options.checkpoint === undefined || scope.changing === undefined) return options;
    throw new TypeError(
      `Cannot use a checkpoint with ${informer}: ${scope.changing}, so objects that moved would count as deleted. Use a ` +
        `fixed shard such as "0/4", or name the namespaces`,
    );
  }
}
