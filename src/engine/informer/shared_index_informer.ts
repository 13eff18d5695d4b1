/**
 * The informer: `sync` writes lists and watches into the store, `events` delivers the changes, and `cache` reads the
 * store; `snapshot.ts` writes and restores it, and `cache_view.ts` has its objects in order.
 *
 * {@linkcode SharedIndexInformer} is the entry point: it connects these, reports status and errors, and stops them.
 * It sends no requests (the reflector does) and changes nothing on the server.
 *
 * @module
 */

import type { Abortable, Selection } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import { defined } from "../api/json.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { checkNamespaceOf } from "../api/resource.ts";
import { Latest } from "../async/iterate.ts";
import { DerivedController } from "../async/signals.ts";
import { ArgumentError } from "../errors/checks.ts";
import { errorObserver } from "../errors/errors.ts";
import { withErrorJson } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { Indexers, ReadonlyIndexer } from "../store/indexer.ts";
import { CachedCollection, type NamespaceSource, type ScopeChange } from "./cache/cache_scope.ts";
import type { Lister } from "./cache/lister.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import { ObjectCache } from "./cache/object_cache.ts";
import { CacheView, type ViewOptions } from "./cache_view.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import { Processor } from "./events/processor.ts";
import { informerSettings, type SharedIndexInformerOptions } from "./options.ts";
import type { IndexedCollection } from "./readable_collection.ts";
import { CacheSnapshots, type SnapshotOptions } from "./snapshot.ts";
import { type InformerStatus, InformerWaiter, syncStatus } from "./status.ts";
import { CollectionSync } from "./sync/collection_sync.ts";
import { type CheckOptions, type CheckResult, ConsistencyChecks } from "./sync/consistency_check.ts";

/**
 * Lists and watches a collection, caches its objects, and delivers changes to any number of handlers.
 *
 * - The cache only shows states that the server had: a relist replaces it in one step.
 * - Each handler receives a gap-free sequence for every object: added, updated with rising versions, deleted, and then
 *   only added again. States between two lists may be missing. The last state always arrives.
 * - Reads are synchronous, and between two `await`s all reads show one moment. Do not change the objects: they belong
 *   to the cache.
 * - After every failure the informer resumes or relists, until you stop it. {@linkcode status} names the failure.
 *
 * See the guides: [Watch and react](../../../docs/guides/watch-and-react.md),
 * [Read the cache](../../../docs/guides/read-the-cache.md).
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
  /** The cache, indexed by namespace and by your `indexers`. Lists leave out unreadable objects. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** The same cache, as entries that are not parsed yet. */
  readonly entries: ReadonlyIndexer<CacheEntry<T>, Name | "namespace">;
  /** Reads the cache by namespace, name and label selector. */
  readonly lister: Lister<T>;

  /** `true` if the cache holds Secrets with their data. */
  readonly keepsSecretData: boolean;

  /** @internal */
  readonly [internals]: {
    /** The cache and its writer. In a derived collection, the ones for its own objects. */
    readonly sync: CollectionSync<T>;
    /** The comparisons with the server. */
    readonly checks: ConsistencyChecks<T>;
  };

  readonly #options: SharedIndexInformerOptions<T, Name>;
  readonly #sync: CollectionSync<T>;
  readonly #snapshots: CacheSnapshots<T>;
  readonly #waits: InformerWaiter<T>;
  /** Publishes the status during the present run. */
  #changes = new Latest(() => this.status());
  #job = new DerivedController();
  /** Set by `run()`; settles when the run has ended. */
  #running: Promise<void> | undefined;
  /** Set by `run()`; resolves when all lists and watches have ended, with the failure of one, if any. */
  #following: Promise<{ readonly error: unknown } | undefined> | undefined;
  /** `true` once `#running` has settled. */
  #hasEnded = false;
  /** Only rises. */
  #errors = 0;
  readonly #observe: (error: unknown) => void;

  /**
   * Creates an informer. It sends no request before `run()`.
   *
   * With several sources, one for each namespace, the informer lists and watches each namespace separately. If the
   * server refuses one, the others continue. There is no order between namespaces. The cache has synced when all of
   * them have.
   *
   * @throws {RangeError} if an option is out of range.
   * @throws {TypeError} if there is no source, or a namespace is empty or repeated. Also if `deliverUnchanged` is set
   * for sources without selected fields, or `secretData` for a kind other than Secrets.
   */
  constructor(
    source: ListerWatcher<T> | readonly NamespaceSource<T>[],
    options: SharedIndexInformerOptions<T, Name> = {},
  ) {
    const { budget, finder } = options[internals] ?? {};
    const filled = informerSettings(options);
    const collection = new CachedCollection<T>(source, filled, finder);
    const { scope, subject } = collection;
    const report = (error: unknown): void => {
      this.#errors++;
      this.#observe(error);
    };
    this.#options = options;
    this.#observe = errorObserver(options.onError, () => `informer of ${subject}`);
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
    const changes = { changed: () => this.#changes.changed() };
    const sync = this.#sync = new CollectionSync<T>(
      { collection, cache, processor, changes, report, counted },
      options.reflector,
      options.pollMs,
      options.validate,
      options.log,
    );
    this[internals] = { sync, checks: new ConsistencyChecks<T>(sync, () => this.#job.signal) };
    this.#snapshots = new CacheSnapshots<T>(sync);
    this.#waits = new InformerWaiter<T>(sync);
  }

  /**
   * The selected parts of the collection, as far as the sources name them. A client's source does. {@linkcode rescope}
   * changes them.
   */
  get selections(): readonly Selection[] {
    return this.#sync.collection.scope.parts;
  }

  /** `true` once the cache has matched the server, in each of its namespaces. */
  get hasSynced(): boolean {
    return this.#sync.hasSynced;
  }

  /**
   * The version up to which the cache has everything, and `""` before the first list. With several namespaces it is the
   * oldest version, or `""` if the versions cannot be ordered.
   */
  get lastSyncResourceVersion(): string {
    return this.#sync.resourceVersion;
  }

  /**
   * Adds indexes, fills them immediately, and returns this informer, typed with the new names.
   *
   * @throws {Error} if an index name exists already, or the informer has stopped. No index is added then.
   */
  withIndexers<More extends string>(indexers: Indexers<T, More>): SharedIndexInformer<T, Name | More> {
    if (this.#sync.stage === "stopped") {
      throw new Error(`Cannot add an index to ${this.#sync.informer}: it has stopped already`);
    }
    this.#sync.cache.addIndexers(indexers);
    this.#sync.counted?.wrote("list");
    return this as SharedIndexInformer<T, Name | More>;
  }

  /**
   * Removes an index that you have added, and frees its memory. Later look-ups in it throw a `RangeError`, also for
   * other callers who share the informer. You may add an index with that name again.
   *
   * @throws {RangeError} if there is no such index.
   * @throws {TypeError} for the index `namespace`, which the informer needs itself.
   */
  removeIndexer(name: Name): void {
    if (name as string === "namespace") {
      throw new ArgumentError(
        'Cannot remove the index "namespace": the informer needs it. Remove only indexes of yours',
      );
    }
    this.#sync.cache.store.removeIndexer(name as never);
    this.#sync.counted?.wrote("list");
  }

  /** Returns the current status. It takes a few microseconds, whatever the cache size. */
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
   * Starts to measure delivery times, for `status().deliveryMs`: from an object's creation on the server to each
   * handler call for its addition. A `Manager` calls this for you.
   *
   * - Only objects that are created from now on are measured. If the watch was interrupted, the outage counts too.
   * - The server writes `creationTimestamp` in whole seconds and by its own clock. So a time may be up to a second too
   *   long, and it includes any difference between the clocks.
   * - Handlers with a filter and informers with selectors are not measured, because an old object may be added there.
   *   Objects without the field, after a `transform`, are not measured either, and
   *   nothing is after {@linkcode rescope}, because the objects that come may be old.
   *
   * Each handler reads one field of each new object, without parsing it.
   */
  measureDelivery(): void {
    const isSelective = this.selections.some((it) => it.labelSelector !== undefined || it.fieldSelector !== undefined);
    if (!isSelective) this.#sync.processor.measureDelivery();
  }

  /** Returns the sizes of the cached objects. It parses nothing, and takes 0.1 to 0.3 s for a million objects. */
  memory(): MemoryReport {
    return this.#sync.cache.memory;
  }

  /**
   * Yields the current status, then the newest one after each change of state, cause, lists or watches. The iterator
   * ends after the last status when the informer stops, immediately when the signal aborts, and at `break`.
   */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<InformerStatus> {
    checkNames("read the status", options, "signal");
    return this.#changes.read(options);
  }

  /**
   * Calls `handler` for each cached object, as added events with `initial: true`, and then for each change. The first
   * call comes after this method has returned.
   *
   * @throws {Error} if the informer has stopped.
   * @throws {RangeError} if an option is out of range.
   * @throws {TypeError} if you pass a checkpoint, and the informer's shard or namespaces may change: objects that moved
   * while your program was down would count as deleted.
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#sync.processor.add(handler, this.#checked(options));
  }

  /**
   * Returns the cached objects as events, then each change. The iterator begins at the first `next()`. It ends when the
   * informer stops, when the signal aborts, or at `break`.
   *
   * `next()` rejects if the backlog exceeds its `{ max }`, or if the informer stopped before the first `next()`.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#sync.processor.stream(this.#checked(options));
  }

  /**
   * Returns a view: the cached objects that `where` accepts, in the order of `sortBy`. Use it to show one page of a
   * long list. `offset` and `limit` are the default window for its readers. The view follows the cache until you
   * dispose it, the signal aborts, or the informer stops. A change costs O(log n), see {@linkcode CacheView}.
   *
   * @throws {SyntaxError} if a sort key is not a field path.
   * @throws {RangeError} if the offset or limit is not a count.
   * @throws {Error} if the informer has stopped.
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
   * Resolves with the first object that the predicate accepts, whether it is cached now or arrives later. With `key`,
   * only that object is looked up. Otherwise every object is read, and so parsed. A predicate made by {@linkcode field}
   * parses only the result.
   *
   * @throws {WaitError} if the signal aborts, or the informer stops first.
   * @throws the predicate's error.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    if (options.key !== undefined) checkNamespaceOf(options.key, this.#sync.collection.scope.resource);
    return (await this.#waits.until(predicate, options)).object;
  }

  /**
   * Resolves when no object with this key exists: immediately if the synced cache has none, otherwise at its deletion,
   * even if a new object with the same name follows.
   *
   * @throws {WaitError} if the signal aborts, or the informer stops first.
   */
  async untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    checkNamespaceOf(key, this.#sync.collection.scope.resource);
    await this.#waits.untilDeleted(key, options);
  }

  /**
   * Resolves when the cache has reached `resourceVersion`, so that you can read your own write. If the informer does
   * not select the written object, that takes until the next change or bookmark. So pass a signal.
   *
   * With several namespaces, set `namespace` to the one you wrote to. Otherwise every namespace must reach the version.
   *
   * @throws {RangeError} if a version is not a decimal number, or the informer does not have this namespace.
   * @throws {Error} if a relist goes back to an older state.
   * @throws {WaitError} if the signal aborts, or the informer stops first.
   */
  waitForVersion(resourceVersion: string, options: Abortable & { readonly namespace?: string } = {}): Promise<void> {
    return this.#waits.waitForVersion(resourceVersion, options);
  }

  /**
   * Lists and watches until the signal aborts or you dispose the informer. Resolves when the running handler calls have
   * returned.
   *
   * **You can run it again** after its signal has aborted, for example each time that your process becomes the leader:
   *
   * - The watch resumes at the cache's version, without a list. If the server no longer has the version, the informer
   *   lists, and handlers receive the difference.
   * - Handlers stay, with the events that they have not received. Nothing is delivered between two runs, or twice.
   * - A handler with a checkpoint is removed at the end of a run. Add it again after the next call of `run()`.
   * - Event streams, status iterators, views, waits, derived collections and jobs of `perObject()` end with a run.
   *   Create new ones after the next call.
   * - Between two runs you can read the cache, and you cannot add handlers. The cache keeps its memory.
   * - If the last run is still ending, the next one begins after it.
   *
   * Disposal is final: it removes the handlers. A run that rejects is final, too.
   *
   * @throws {Error} if it is running, was disposed or has failed. Also if a handler call has not returned within
   * `graceMs`.
   */
  run(options: Abortable = {}): Promise<void> {
    checkNames(`run ${this.#sync.informer}`, options, "signal");
    const { stage, isFinal, informer } = this.#sync;
    const isRunning = stage !== "new" && !this.#hasEnded;
    if (isFinal || (isRunning && !this.#job.signal.aborted)) {
      const state = isFinal ? "has stopped" : "is running";
      return Promise.reject(new Error(`Cannot run ${informer}: it ${state} already`));
    }
    if (isRunning) return this.#running!.then(() => this.#sync.isFinal ? undefined : this.run(options));
    if (stage === "stopped") [this.#changes, this.#job] = [new Latest(() => this.status()), new DerivedController()];
    this.#hasEnded = false;
    return this.#running = this.#run(options);
  }

  /**
   * Changes what a running informer caches: its namespaces and selectors. Members that you leave out stay as they are,
   * and `null` means no restriction. Resolves when the cache has the new scope.
   *
   * - **Only the difference is listed.** Namespaces that stay keep their watch. From all namespaces to some, the
   *   watches resume without a list. Unchanged objects are not parsed again.
   * - **One step.** The old scope is followed until all new lists are there, and are not older than the cache. Then
   *   both are exchanged: the cache never shows a mixture.
   * - **A refused list changes nothing.** The informer keeps the old scope and tries again, and `status().rescope` has
   *   the cause. So pass a signal.
   * - **Events.** Objects that leave are deleted with `reason: "scope"`, and new objects are added. Objects in both
   *   scopes have no event, unless they changed.
   * - **All or nothing.** If the call rejects, the informer has the scope that it had before.
   * - **The last call wins.** An earlier call that has not resolved rejects. The new call starts from the scope in the
   *   cache.
   * - Before {@linkcode run}, it changes the selection immediately.
   *
   * If the new selection is quiet and the old one is busy, the exchange may take up to a minute, until a bookmark.
   *
   * @throws {WaitError} if the signal aborts, or the informer stops first.
   * @throws {TypeError} if the source is not a client's, or the informer has a shard, `"readable"` namespaces, `pollMs`
   * or a handler with a checkpoint. Also if a namespace is not valid, or the kind has no namespaces.
   * @throws {SyntaxError} if a selector does not parse.
   * @throws {Error} if the informer has stopped, or other callers of its factory share it.
   *
   * @example
   * ```ts
   * import { Client, SharedIndexInformer } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer, pod } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const server = new FakeApiServer();
   * for (const namespace of ["bank", "shop"]) server.create(Pod, pod({ name: "web-0", namespace }));
   * using client = new Client({ server: "http://fake", transport: server });
   * await using pods = new SharedIndexInformer(client.resource(Pod, { namespace: "shop" }));
   * pods.run();
   * await pods.waitForCacheSync();
   * await pods.rescope({ namespaces: ["shop", "bank"] }); // lists only "bank"
   * assertEquals([...pods.indexer.keys()].sort(), ["bank/web-0", "shop/web-0"]);
   * ```
   */
  async rescope(change: ScopeChange, options: Abortable = {}): Promise<void> {
    const action = `rescope ${this.#sync.informer}`;
    checkNames(action, change, "namespaces labelSelector fieldSelector");
    checkNames(action, options, "signal");
    const call = (): Promise<void> => this.#sync.rescope(change, options.signal);
    await this.#waits.wait(`the new scope of ${this.#sync.collection.subject}`, options.signal, call);
  }

  /**
   * Ends the list or watch until {@linkcode resume}. The informer sends no requests, and keeps its cache, indexes and
   * handlers. Before `run()`, it delays the first list. Waits continue until the informer resumes or stops.
   */
  pause(): void {
    this.#sync.pause();
  }

  /**
   * Ends a pause: the watch resumes at the cache's version, without a list. The cache is `stale` until the watch is
   * open. If the server no longer has the version, the informer lists, and handlers receive the difference.
   */
  resume(): void {
    this.#sync.resume();
  }

  /**
   * Returns the cache as bytes: its objects as they are now, and their version. Pass them to {@linkcode restore} after
   * a restart. Objects that were never read are copied without parsing. The result of a `transform` is written as JSON.
   *
   * The bytes are created while you read the stream, in chunks of 256 KiB or one larger object. Until then the objects
   * stay in memory.
   *
   * @throws {Error} if the cache has not synced.
   * @throws {TypeError} if the cache holds the data of Secrets, unless you set `secretData: "keep"`.
   */
  snapshot(options: SnapshotOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    checkNames("create a snapshot", options, "cluster secretData");
    return this.#snapshots.write(options);
  }

  /**
   * Fills the cache from a snapshot, before {@linkcode run}. You can read it immediately. It is `stale`, with the
   * snapshot's age, until the watch has resumed at the snapshot's version. Handlers receive the objects as initial
   * ones.
   *
   * - {@linkcode run} first asks the server for some objects from the snapshot. It lists instead, and `onError`
   *   receives the reason, if the server has none of them or has not reached the version. Then the snapshot is from
   *   another cluster or history, or forged. A source that is not a client's, without `identities`, is not asked.
   * - If the server no longer has the version, the informer lists, and handlers receive the difference.
   * - Objects are not transformed again. If you change the `transform`, store its snapshots in another place.
   * - Checksums find damage, but not forgery.
   *
   * @throws {SnapshotError} if the snapshot is damaged, or belongs to another resource, selection, cluster or object
   * form. Nothing has changed then.
   * @throws {Error} if the informer has run, or has objects already.
   * @throws the error from reading `snapshot`.
   */
  async restore(snapshot: AsyncIterable<Uint8Array>, options: Pick<SnapshotOptions, "cluster"> = {}): Promise<void> {
    checkNames("restore a snapshot", options, "cluster");
    await this.#snapshots.restore(snapshot, options);
    this.#changes.changed();
  }

  /**
   * Resolves when {@linkcode hasSynced} is `true`. With `namespace`, only this namespace must have synced.
   *
   * @throws {WaitError} as soon as the first list cannot succeed: the server refuses it (400, 401, 403, 404), the kind
   * has no resourceVersions, there are no credentials, or the runtime lacks a permission or a function. `cause` is the
   * error. With several namespaces it is
   * the first refusal, and {@linkcode status} has each cause. With `patient` it keeps waiting. The informer retries
   * either way.
   * @throws {WaitError} if the signal aborts, or the informer stops first.
   * @throws {RangeError} if the informer does not have this namespace.
   */
  async waitForCacheSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string } = {},
  ): Promise<void> {
    await this.#waits.forSync(options);
  }

  /**
   * Compares the cache with the server, and repairs any difference. A difference means that the server or a proxy lost
   * an event, or that the server's history went back, for example because etcd was restored. It is reported to
   * `onError` as a {@linkcode CacheDifferenceError}, and counted in {@linkcode status}.
   *
   * - The check lists only metadata, in pages, and compares uid and resourceVersion. The list is at least as new as the
   *   cache, or as the version in the options. Equal objects cause no event.
   * - Up to 100 different objects are read again, and handlers receive events. A missed deletion has
   *   `finalStateUnknown`. A newer state from the watch is never replaced by an older one.
   * - The informer lists everything if more objects differ, if the history went back, or if the watch does not deliver
   *   the differing versions within 90 s.
   * - The check cannot find an object with the same uid and version but different content.
   *
   * One check runs at a time per client, others wait for it. To check regularly while the informer is live, set
   * `consistencyCheck: { intervalMs }`.
   *
   * @throws {Error} if the informer is paused, has stopped, or has not synced yet.
   * @throws the error of a failed request, or the signal's reason.
   */
  async checkConsistency(options: CheckOptions = {}): Promise<CheckResult> {
    checkNames("check a cache", options, "signal resourceVersion");
    return await this[internals].checks.check(options);
  }

  /**
   * Stops the informer for good, removes its handlers, and waits for running handler calls.
   *
   * If you call it inside a handler, it does not wait for that call. After an `await` the informer cannot detect the
   * handler: abort the signal of `run()` there instead. It rejects with the same error as `run()`, unless `run()` has
   * rejected already.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const { processor, isFinal } = this.#sync;
    if (this.#hasEnded && isFinal) return; // run() has rejected with the failure
    const { caller } = processor;
    this.#sync.isFinal = true;
    if (this.#hasEnded) return await this.#stop();
    this.#job.abort(new DOMException(`${this.#sync.informer} was disposed`, "AbortError"));
    if (caller === undefined) return await (this.#running ?? this.#stop());
    if (this.#running === undefined) return await this.#stop(undefined, caller); // restored, and never run
    // `run()` waits for the running call, which may wait for this disposal.
    await this.#following;
    await processor.stop(caller);
  }

  async #run(options: Abortable): Promise<void> {
    if (options.signal !== undefined) this.#job.follow(options.signal);
    this.#sync.processor.begin();
    const checking = this[internals].checks.runEvery(this.#options.consistencyCheck?.intervalMs ?? Infinity);
    const failure = await (this.#following = this.#sync.run(this.#job));
    await checking;
    this.#job.release();
    this.#sync.isFinal ||= failure !== undefined;
    await this.#stop(failure?.error).finally(() => this.#hasEnded = true);
    if (failure !== undefined) throw failure.error;
  }

  async #stop(cause?: unknown, caller?: Processor<T>["caller"]): Promise<void> {
    const { cache: { compaction }, processor, isFinal } = this.#sync;
    this.#sync.end(() => this.#waits.stopped, cause);
    this.#changes.end();
    compaction?.[Symbol.dispose]();
    if (isFinal) this.#free();
    try {
      await processor.stop(caller, isFinal);
    } catch (error) {
      this.#sync.isFinal = true; // a call may still run
      throw error;
    } finally {
      if (this.#sync.isFinal) this.#free(); // perhaps disposed meanwhile
    }
  }

  #free(): void {
    this.#sync.counted?.[Symbol.dispose]();
    this.#sync.processor.remove();
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
