/**
 * Calls a function for each object that may need work, so that the cluster reaches the desired state.
 *
 * {@linkcode Reconciler} is the entry point. Key sources turn informer events into keys, and a work queue holds them.
 * Pending writes hold a key back until the caches have seen everything that its last reconcile wrote.
 *
 * @module
 */

import type { Abortable } from "../../../engine/api/call_options.ts";
import { defined } from "../../../engine/api/json.ts";
import { keyOf, type KubernetesObject, type ObjectKey } from "../../../engine/api/object.ts";
import { checkNamespaceOf, type Resource, resourceName } from "../../../engine/api/resource.ts";
import { controlledBy, type ShardSource } from "../../../engine/api/shard.ts";
import { isConflict, isNamespaceTerminating } from "../../../engine/api/status.ts";
import { PassingMap } from "../../../engine/async/passing_map.ts";
import { RecentCount } from "../../../engine/async/rates.ts";
import { abortReason, DerivedController, isAbortOf, Latch, withResolvers } from "../../../engine/async/signals.ts";
import { LongTimer, monotonicMs, timedController } from "../../../engine/async/time.ts";
import type { Client } from "../../../engine/client/client.ts";
import { errorObserver } from "../../../engine/errors/errors.ts";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import { type OptionTable, plainRows, readOptions, type Settings } from "../../../engine/errors/option_table.ts";
import type { DeletedEvent } from "../../../engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../../../engine/informer/shared_index_informer.ts";
import { SharedInformerFactory } from "../../../engine/informer/shared_informer_factory.ts";
import { joined } from "../../../engine/informer/status.ts";
import { exponentialBackoff } from "../../../engine/workqueue/rate_limiter.ts";
import { type TriggerList, withTrigger, withTriggers } from "../../../engine/workqueue/triggers.ts";
import { checkResult, ReconcileResult, retry, SETTLED } from "../../../engine/workqueue/work_item.ts";
import { type WorkContext, WorkQueue, type WorkQueueAddOptions } from "../../../engine/workqueue/work_queue.ts";
import { type ReconcileCall, RunningCalls } from "./calls.ts";
import { additionOf, checkKey, type KeySource, KeySources, type MapFunction } from "./key_sources.ts";
import {
  type ObserveReconcile,
  type ReconcileCache,
  type ReconcileFunction,
  type ReconcilerOptions,
  type ReconcilerRunOptions,
  type ReconcilerStatus,
  TerminalError,
  type WatchedKind,
  type WatchedKindOptions,
} from "./options.ts";
import { type OnSuperseded, PendingWrites } from "./pending_writes.ts";
import { type ObjectChange, passedPaths } from "./predicates.ts";
import { ReconcileRecords } from "./reconcile_records.ts";
import { ShardedKeys } from "./sharded_keys.ts";

/** The options of `watches()` and `owns()`. */
const WATCHED = plainRows("when optional ownWrites informer") satisfies OptionTable<
  WatchedKindOptions<KubernetesObject>
>;

const OPTIONS = {
  ...WATCHED,
  ...plainRows("name informers shards rateLimiter onError observe"),
  debounceMs: { default: 0, ms: { finite: true } },
  timeoutMs: { default: 300_000, ms: { min: 1 } },
  graceMs: { default: 30_000, ms: {} },
  readYourWritesTimeoutMs: { default: 30_000, ms: {} },
  syncTimeoutMs: { default: 600_000, ms: { min: 1 } },
  concurrency: { default: 1, count: { min: 1 } },
  maxCallsPerMinute: { default: Infinity, count: { min: 1, infinite: true } },
} as const satisfies OptionTable<ReconcilerOptions<KubernetesObject>>;

/** The number of retries for which a conflict is not reported: 1.3 s, in which a cache has the new version. */
const QUIET_CONFLICTS = 8;

/** The result of a call for which a namespace was terminating. A cluster looks at such a namespace every 5 s. */
const LATER = new ReconcileResult(10_000);

const BLIND =
  "its cached objects have no managedFields. Add { informer: { managedFields: { manager } } } to its owns()";

/** The time of a stop after which it is reported what it waits for. */
const NOTICE_MS = 1_000;

/**
 * Calls your function for each object of a kind when the object changes, or another object that it depends on.
 *
 * - **Start.** It begins when all its informers have synced. Objects from the first lists and from resyncs have low
 *   priority (`WorkQueue` states the longest wait).
 * - **One call per key.** A key is never reconciled twice at a time. Events during a call lead to one more call.
 * - **Own writes.** Write through `context.client`. Your reads through `context.object`, `context.cache()` and
 *   {@linkcode lister} show these writes immediately. The key is reconciled again only when this reconciler's caches
 *   have seen them, or after `readYourWritesTimeoutMs`, which is reported. Writes by other clients are not tracked.
 * - **Your status.** A write to the reconciled object's status triggers no reconcile. `ownWrites` changes this.
 * - **Unknown results.** A write may lack a response: a lost connection, a timeout, or a 5xx. The key then waits until
 *   the caches have everything that a new list shows.
 * - **Superseded writes.** If somebody undoes your write before a cache has shown it, the key is reconciled again with
 *   the trigger `"superseded"`. Predicates cannot drop it.
 * - **Failures.** A call that throws is reported and retried with growing delays, up to 1000 s. After a
 *   {@linkcode TerminalError} the key waits for the next event.
 * - **Conflicts.** If a call rejects with a conflict (`isConflict`), the cache was out of date. It is retried with the
 *   same delays, and reported only if eight retries do not help.
 * - **Terminating namespaces.** If a call rejects because a namespace is being deleted (`isNamespaceTerminating`), that
 *   is not reported. The key is called again after 10 s, or at its next event.
 * - **Calls that hang.** After `timeoutMs` a call keeps its key but no worker. A stop waits for at most `graceMs`.
 * - **No late writes.** Requests by `context.client` reject after `timeoutMs`, after a stop's `graceMs`, and
 *   immediately when leadership is lost. A request that was already sent may still take effect.
 * - **Loops.** A key loops if its own writes to the same objects keep triggering it, with no other trigger in between.
 *   This is reported once. After 250 such calls in a row it is delayed like a failing key, but changes by others still
 *   call it immediately. A loop over many keys is reported when it causes nine in ten calls.
 * - **Errors in your predicates and map functions** are reported, and the event leads to no reconcile.
 * - **After the end,** enqueued keys are dropped and counted.
 *
 * An idle reconciler has no timer.
 *
 * See the guides: [Build a controller](../../../../docs/controllers/tutorial.md),
 * [Read your own writes](../../../../docs/controllers/own-writes.md),
 * [Watch other kinds](../../../../docs/controllers/watch-other-kinds.md).
 *
 * @example A controller that keeps a ConfigMap for each namespace
 * ```ts
 * import { Client, isAlreadyExists } from "@kube/informer";
 * import { ConfigMap, Namespace } from "@kube/informer/kinds/core/v1";
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Namespace, { metadata: { name: "shop" } });
 * using client = new Client({ server: "http://fake", transport: server });
 * await using namespaces = new Reconciler(client, Namespace, async ({ key: name, object, client }) => {
 *   if (object === undefined || object.metadata.deletionTimestamp) return;
 *   const maps = client.resource(ConfigMap, { namespace: name });
 *   await maps.create({ metadata: { name: "motd" }, data: { text: `Welcome to ${name}` } }).catch((error) => {
 *     if (!isAlreadyExists(error)) throw error;
 *   });
 * }).watches(ConfigMap, ({ namespace }) => [namespace]);
 *
 * const running = namespaces.run();
 * await namespaces.informers.forResource(ConfigMap).until(({ metadata }) => metadata.name === "motd");
 * assertEquals(server.keys(ConfigMap), ["shop/motd"]);
 * await namespaces[Symbol.asyncDispose]();
 * await running;
 * ```
 */
export class Reconciler<T extends KubernetesObject> implements AsyncDisposable {
  /** The name in status, errors and handler names. */
  readonly name: string;
  /** The factory that creates this reconciler's informers. */
  readonly informers: SharedInformerFactory;
  /** The reconciled kind's informer. */
  readonly informer: SharedIndexInformer<T, string>;
  /** Reads the reconciled kind's cache, with your own writes on top. */
  readonly lister: ReconcileCache<T>;
  readonly #resource: Resource<T>;
  readonly #reconcile: ReconcileFunction<T>;
  readonly #options: Settings<ReconcilerOptions<T>, typeof OPTIONS>;
  readonly #report: (error: unknown, key: ObjectKey) => void;
  readonly #queue: WorkQueue;
  readonly #writes: PendingWrites;
  readonly #sources = new KeySources();
  readonly #job = new DerivedController();
  #state: ReconcilerStatus["state"] = "created";
  /** Set by the first `run()`. Settles when the reconciler has stopped. */
  #running: Promise<void> | undefined;
  /** True when `#running` has settled. */
  #hasEnded = false;
  readonly #calls: RunningCalls<T>;
  /** The hash ranges that select owned objects. */
  readonly #ownedShard: ShardSource | undefined;
  /** Decides which keys belong to this process, or `undefined` if all do. */
  readonly #shards: ShardedKeys | undefined;
  /**
   * Has a key if and only if it came up and must wait for caches or an abandoned call. The value is the triggers of its
   * next reconcile.
   */
  readonly #held = new Map<ObjectKey, TriggerList>();
  /** Has a key if and only if its debounce has not ended. The value is the time when it ends. */
  readonly #debounced = new Map<ObjectKey, number>();
  /** The calls in the last minute, by key, with `maxCallsPerMinute`. The key that was called last is the last one. */
  readonly #recent = new PassingMap<ObjectKey, RecentCount>();
  /** Notifies calls of `idle`, when a key is taken or released, and when the state changes. */
  readonly #changed = new Latch();
  /** The number of keys in `#held` that wait for caches. */
  #waitingForCaches = 0;
  readonly #records = new ReconcileRecords();
  #observe: ObserveReconcile | undefined;

  /** Replaces the observer of calls: a plan decides which calls it makes, and exports no traces. @internal */
  readonly [internals]: (observe: ObserveReconcile) => void = (observe) => void (this.#observe = observe);

  /**
   * Creates a reconciler. It sends no request before {@linkcode run}. Dispose the client yourself.
   *
   * @throws {RangeError} if an option is out of range.
   * @throws {Error} the same errors as `SharedInformerFactory.forResource()`.
   */
  constructor(
    client: Client,
    resource: Resource<T>,
    reconcile: ReconcileFunction<T>,
    options: ReconcilerOptions<T> = {},
  ) {
    this.name = options.name ?? resourceName(resource);
    this.#options = readOptions(`create the reconciler of "${this.name}"`, options, OPTIONS);
    const { timeoutMs, graceMs, readYourWritesTimeoutMs, shards } = this.#options;
    this.#resource = resource;
    this.#reconcile = reconcile;
    this.#observe = options.observe;
    this.#report = errorObserver(options.onError, (key) => `reconciler of "${this.name}" on "${key}"`, (key) => key);
    this.informers = options.informers ?? new SharedInformerFactory(client);
    const { rateLimiter = exponentialBackoff<ObjectKey>() } = options;
    this.#queue = new WorkQueue({ name: this.name, rateLimiter });
    const superseded: OnSuperseded = (key, { resource, object }) => {
      const cause = { type: "superseded", source: resource, object: object === key ? undefined : object };
      this.#add(key, { trigger: defined(cause) }, "superseded");
    };
    this.#writes = new PendingWrites(
      superseded,
      readYourWritesTimeoutMs,
      (key, write) => this.#sources.expect(key, write),
    );
    this.#writes.onBlind = (key, resource) =>
      this.#report(
        new Error(`Cannot compare "${resource}" in "${this.name}" before applyIfChanged() sends it: ${BLIND}`),
        key,
      );
    this.#ownedShard = shards?.by === "uid" ? controlledBy(shards) : shards;
    this.informer = this.#follow(resource, options, undefined, shards);
    this.#shards = shards && new ShardedKeys(shards, {
      name: this.name,
      sources: this.#sources,
      graceMs,
      uidOf: (key) => this.informer.entries.getByKey(key)?.uid,
      add: (key, cause) => this.#queue.add(key, { trigger: cause }),
      report: this.#report,
    });
    this.lister = this.cache(this.informer);
    const facts = { client, lister: this.lister, cache: this.cache.bind(this), writes: this.#writes, timeoutMs };
    this.#calls = new RunningCalls(facts);
  }

  /**
   * Returns the cache for a kind that this reconciler watches, with your own writes on top. It is cheap, so call it in
   * each reconcile.
   *
   * @throws {Error} if the reconciler does not watch the kind. If it watches the kind with several informers, pass one
   * of them.
   */
  cache<O extends KubernetesObject>(kind: Resource<O> | SharedIndexInformer<O, string>): ReconcileCache<O> {
    const found = this.#sources.informersOf(kind as Resource | SharedIndexInformer<KubernetesObject, string>);
    if (found.length === 1) return this.#writes.listerOf(found[0]) as unknown as ReconcileCache<O>;
    const name = "plural" in kind ? `"${resourceName(kind)}"` : "the cache of an informer";
    const why = found.length === 0
      ? "it does not follow this kind. Add owns() or watches()"
      : "it follows this kind with several informers. Pass one of them, as informers.forResource() returns it";
    throw new Error(`Cannot read ${name} in the reconciler of "${this.name}": ${why}`);
  }

  /**
   * Reconciles an object's controller when the object changes. The controller is the owner in `ownerReferences` with
   * `controller: true`, if it has the reconciled kind. Other owners are ignored. When an object moves to another
   * controller, both are reconciled. Returns this reconciler.
   *
   * To select objects, pass an informer instead of the kind, as in {@linkcode watches}.
   *
   * @throws {TypeError} if the owned kind is cluster-scoped but the reconciled kind has namespaces. Kubernetes has no
   * such owners and does not delete objects that refer to one.
   * @throws {Error} if the reconciler has stopped.
   * @throws the same errors as {@linkcode watches}.
   */
  owns<O extends KubernetesObject>(source: WatchedKind<O>, options: WatchedKindOptions<O> = {}): this {
    const { group, kind, scope } = this.#resource;
    const resource = this.informers[internals].resourceOf(source);
    checkNames(`own "${resourceName(resource)}" in the reconciler of "${this.name}"`, options, Object.keys(WATCHED));
    if (scope === "Namespaced" && resource.scope === "Cluster") {
      throw new TypeError(
        `Cannot own "${resourceName(resource)}" in the reconciler of "${this.name}": they are cluster-scoped, but ` +
          `"${
            resourceName(this.#resource)
          }" have namespaces. Find them with labels and watches(), and delete them in ` +
          "finalize()",
      );
    }
    this.#follow(source, options, ({ metadata, namespace }) => {
      const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (owner === undefined || owner.kind !== kind || (owner.apiVersion.split("/").at(-2) ?? "") !== group) return [];
      return [keyOf({ metadata: scope === "Cluster" ? owner : { name: owner.name, namespace } })];
    }, this.#ownedShard);
    return this;
  }

  /**
   * Reconciles the keys that `map` returns when an object of another kind changes. For an update, `map` is called with
   * the old and the new state, and the keys for both are reconciled. Returns this reconciler.
   *
   * Instead of the kind you can pass an informer that this reconciler's `informers.forResource()` returned. Do this for
   * two selections of one kind: `cache()` takes the informer too, and so reads the right one.
   *
   * You can call this while the reconciler runs. The informer then starts, and keys are enqueued as it lists objects.
   * If the server refuses the list, the informer reports that, and the reconciler continues.
   *
   * @throws {Error} if the reconciler has stopped.
   * @throws {TypeError} if another factory created the informer, or if you pass an informer with the options `informer`
   * or `optional`.
   * @throws the same errors as `SharedInformerFactory.forResource()`.
   *
   * @example Two selections of one kind
   * ```ts
   * import { Client } from "@kube/informer";
   * import { ConfigMap, Namespace } from "@kube/informer/kinds/core/v1";
   * import { Reconciler } from "@kube/informer/reconcile";
   * import { configMap, FakeApiServer } from "@kube/informer/testing";
   *
   * const server = new FakeApiServer();
   * for (const name of ["platform", "shop"]) server.create(Namespace, { metadata: { name } });
   * server.create(ConfigMap, configMap({ name: "motd", namespace: "platform", data: { text: "Welcome" } }));
   * using client = new Client({ server: "http://fake", transport: server });
   * const copied = { labels: { "example.com/copy": "yes" } };
   * await using namespaces = new Reconciler(client, Namespace, async ({ key: namespace, client, cache }) => {
   *   const source = cache(sources).get("platform/motd");
   *   if (namespace === "platform" || source === undefined || cache(copies).get(`${namespace}/motd`)) return;
   *   await client.resource(ConfigMap, { namespace }).create({ metadata: { name: "motd", ...copied }, data: source.data });
   * });
   * const sources = namespaces.informers.forResource(ConfigMap, { namespace: "platform" });
   * const copies = namespaces.informers.forResource(ConfigMap, { labelSelector: "example.com/copy=yes" });
   * namespaces.watches(sources, () => namespaces.informer.indexer.keys()).watches(copies, ({ namespace }) => [namespace]);
   *
   * const running = namespaces.run();
   * await copies.until(({ metadata }) => metadata.namespace === "shop");
   * await namespaces[Symbol.asyncDispose]();
   * await running;
   * ```
   */
  watches<O extends KubernetesObject>(
    source: WatchedKind<O>,
    map: MapFunction<O>,
    options: WatchedKindOptions<O> = {},
  ): this {
    const name = resourceName(this.informers[internals].resourceOf(source));
    checkNames(`watch "${name}" in the reconciler of "${this.name}"`, options, Object.keys(WATCHED));
    this.#follow(source, options, map);
    return this;
  }

  /**
   * Stops watching a kind, the opposite of `watches()` and `owns()`. You can call it before and during the run. The
   * reconciled kind itself stays. The kind's list or watch ends, unless others use the informer, and nothing waits for
   * its cache any longer. Keys that wait only for events from this kind are not reconciled. Returns this reconciler.
   */
  unwatch(resource: Resource): this {
    for (const { informer } of this.#sources.remove(resource)) this.#writes.removeCache(resource, informer);
    return this;
  }

  /**
   * Reconciles a key for a reason outside the cluster. Before `run()` the key waits. After the reconciler has ended,
   * the key is dropped and counted. The object need not exist.
   *
   * @throws {TypeError} if the kind is namespaced, and the key has no namespace.
   */
  enqueue(key: ObjectKey, options: { readonly source?: string } = {}): void {
    checkNamespaceOf(key, this.#resource);
    this.#add(key, { trigger: { type: "external", ...options } });
  }

  /**
   * Waits until there is nothing to do: no key waits, is reconciled, is debounced, or is held for caches or an earlier
   * call. Nothing new may come within one turn of the event loop either. Use it in tests, after a change has reached
   * the caches.
   *
   * Keys from `requeueAfter()`, delays after failures and for `maxCallsPerMinute` do not count. It also waits for the
   * sync after `run()`, and resolves when the reconciler has stopped.
   *
   * @throws the signal's reason, if the signal aborts first.
   */
  async idle(options: Abortable = {}): Promise<void> {
    checkNames("wait for a reconciler", options, "signal");
    const isBusy = (): boolean =>
      this.#state !== "running" || this.#held.size > 0 || this.#debounced.size > 0 || this.#calls.abandoned.size > 0 ||
      this.#shards?.isBusy === true;
    while (this.#state !== "stopped") {
      using wait = new DerivedController(options.signal);
      const changed = this.#changed.wait({ signal: wait.signal }).then(() => false);
      const idle = isBusy()
        ? changed
        : this.#queue.idle({ signal: wait.signal, ignoreDelayed: true }).then(() => !isBusy());
      if (await Promise.race([idle, changed])) return;
    }
  }

  /** Returns a snapshot of the reconciler's state. Takes time linear in the number of running reconciles. */
  status(): ReconcilerStatus {
    return {
      name: this.name,
      state: this.#state,
      ...this.#records.status,
      waitingForCaches: this.#waitingForCaches,
      ownCalls: this.#writes.own.count,
      abandoned: [...this.#calls.abandoned.keys()],
      waitsFor: this.#sources.unserved,
      queue: this.#queue.status(),
    };
  }

  /**
   * Starts the informers, waits until all have synced, and reconciles until the signal aborts or you dispose the
   * reconciler. Then it takes no further key, aborts the signals of running reconciles, and resolves when they have
   * returned.
   *
   * A reconciler runs only once. Informers from a shared factory continue. If you elect a leader, pass the `Leadership`
   * as options.
   *
   * @throws {Error} if it is running or has run, or if a reconcile has not returned within `graceMs`.
   * @throws {WaitError} if an informer does not sync: the server refuses the list (401, 403, 404), or `syncTimeoutMs`
   * has passed. It names all informers that have not synced, and the reasons.
   */
  run(options: ReconcilerRunOptions = {}): Promise<void> {
    checkNames(`run the reconciler of "${this.name}"`, options, "signal lost isHeld");
    if (this.#running !== undefined || this.#state === "stopped") {
      const state = this.#state === "stopped" ? "has stopped" : "is running";
      return Promise.reject(new Error(`Cannot run the reconciler of "${this.name}": it ${state} already`));
    }
    return this.#running = this.#run(options);
  }

  /**
   * Stops the reconciler, and settles like `run()`. If `run()` has settled before, it resolves immediately. Do not
   * await it in a reconcile: the reconcile would wait for itself until `graceMs` has passed.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException(`The reconciler of "${this.name}" was disposed`, "AbortError"));
    if (this.#hasEnded) return; // run() has rejected already if it failed
    await (this.#running ?? this.#end());
  }

  #follow<O extends KubernetesObject>(
    kind: WatchedKind<O>,
    options: WatchedKindOptions<O>,
    map?: MapFunction<O>,
    shard?: ShardSource,
  ): SharedIndexInformer<O, string> {
    const resource = this.informers[internals].resourceOf(kind);
    const isKind = kind === resource;
    const action = `add "${resourceName(resource)}" to the reconciler of "${this.name}"`;
    if (this.#job.signal.aborted || this.#state === "stopping" || this.#state === "stopped") {
      throw new Error(`Cannot ${action}: it has stopped`);
    }
    const { when = [], optional, informer: selection = {} } = options;
    if (!isKind && (options.informer !== undefined || optional !== undefined)) {
      throw new TypeError(`Cannot ${action}: the informer already has its options. Pass them to forResource()`);
    }
    const isSharded = isKind && shard !== undefined && selection.shard === undefined;
    const chosen = { ...defined({ optional, shard }), ...selection };
    const { informer, release } = this.informers[internals].follow<O>(kind, chosen);
    const predicates = typeof when === "function" ? [when] : when;
    const skips = options.ownWrites === "ignore" ? "all" : options.ownWrites || map ? "none" : "status";
    const shared: KeySource<O>["shared"] = new Map();
    const own: KeySource<O> = { resource, informer, release, map, isSharded, skips, predicates, shared };
    const source = own as unknown as KeySource<KubernetesObject>;
    this.#sources.add(source);
    this.#writes.addCache(resource, source.informer);
    if (this.#state !== "created") this.#listen(source);
    return informer;
  }

  /** Adds the keys that an event of a source concerns. */
  #enqueue(source: KeySource<KubernetesObject>, event: ObjectChange<KubernetesObject>): void {
    const { map, predicates } = source;
    const hasMoved = event.type === "deleted" && event.reason !== undefined;
    if (map === undefined && event.type === "deleted" && event.reason === "invalid") this.#warnOfInvalid(event);
    if (map === undefined && (hasMoved || event.type !== "deleted")) this.#shards?.present(event.key);
    if (hasMoved) {
      if (map === undefined) this.#writes.drop(event.key);
      // Another process reconciles it. The controller of an owned object may have changed: its key is still here then.
      if (map === undefined || !source.isSharded) return;
    }
    try {
      const paths = passedPaths(event, predicates);
      if (paths === undefined) return;
      if (map === undefined && event.type === "deleted") this.#shards?.deleted(event.key, event.uid);
      if (map === undefined) return this.#cause(source, event.key, event, additionOf(source, event, paths));
      const keys = new Set(map(event));
      // An object that has moved to another owner concerns both.
      if (event.type === "updated" && !event.resync) { for (const key of map(event.before)) keys.add(key); }
      for (const key of keys) checkKey(key, this.#resource);
      for (const key of keys) this.#cause(source, key, event, additionOf(source, event, paths, event.key));
    } catch (error) {
      this.#records.eventErrors++;
      this.#report(error, event.key);
    }
  }

  /** Reports an object that is not reconciled until it fits its kind, and so keeps its finalizers. */
  #warnOfInvalid({ key, object }: DeletedEvent<KubernetesObject>): void {
    const { finalizers = [] } = object.metadata;
    if (finalizers.length === 0) return;
    const names = finalizers.map((name) => `"${name}"`).join(", ");
    this.#report(
      new InformerError(
        `Cannot reconcile "${key}": it does not fit its kind's schema any more. It keeps the finalizers ${names}, so a ` +
          "deletion waits until it fits. Mend the object: status().invalid of the informer has the causes",
      ),
      key,
    );
  }

  /** Adds a key for an event, unless the event shows a write by the key's own reconcile. */
  #cause(
    { skips }: KeySource<KubernetesObject>,
    key: ObjectKey,
    event: ObjectChange<KubernetesObject>,
    options: WorkQueueAddOptions,
  ): void {
    if (skips !== "none") {
      if (this.#writes.own.isOwnWrite(key, event, skips === "all")) return;
      const call = this.#calls.of(key);
      const atMs = call && monotonicMs();
      const add = (): void => this.#add(key, options, event, atMs);
      if (call?.keep({ event, ofAll: skips === "all", add })) return;
    }
    this.#add(key, options, event);
  }

  /** Receives the events of a source, whose informer runs from now on. */
  #listen(source: KeySource<KubernetesObject>): void {
    const handle = (event: ObjectChange<KubernetesObject>): void => this.#enqueue(source, event);
    const handler = { onAdd: handle, onUpdate: handle, onDelete: handle };
    source.registration = source.informer.addEventHandler(handler, { name: `reconciler of "${this.name}"` });
    this.informers.start();
  }

  /** Adds a key for a trigger that came at `cameMs` on the monotonic clock, or now. */
  #add(
    key: ObjectKey,
    options: WorkQueueAddOptions,
    cause?: Parameters<PendingWrites["own"]["caused"]>[1],
    cameMs?: number,
  ): void {
    this.#writes.own.caused(key, cause);
    const { debounceMs } = this.#options;
    if (debounceMs <= 0) return this.#queue.add(key, options);
    const atMs = cameMs ?? monotonicMs();
    if (!this.#debounced.has(key)) this.#debounced.set(key, atMs + debounceMs);
    this.#queue.addAfter(key, Math.max(0, atMs + debounceMs - monotonicMs()), options);
  }

  async #run(options: ReconcilerRunOptions): Promise<void> {
    using lost = new DerivedController(options.lost);
    using stop = new DerivedController(options.signal, lost.signal, this.#job.signal);
    const { signal } = stop;
    try {
      this.#state = "syncing";
      for (const source of this.#sources) this.#listen(source);
      const synced = (signal: AbortSignal): Promise<void>[] =>
        Array.from(this.#sources, (source) => this.#sync(source, signal));
      await joined(synced, signal, this.#options.syncTimeoutMs);
      this.#state = "running";
      this.#shards?.start();
      this.#changed.notify();
      this.#calls.check = () => {
        if (options.isHeld?.() === false) lost.abort(notHeld());
        this.#shards?.look();
      };
      await this.#work(signal, lost.signal);
    } catch (error) {
      if (!isAbortOf(signal, error)) throw error;
    } finally {
      await this.#end().finally(() => this.#hasEnded = true);
    }
  }

  /** Reconciles until the signal aborts, and then waits for running calls. Their requests end when `lost` aborts. */
  async #work(signal: AbortSignal, lost: AbortSignal): Promise<void> {
    const { concurrency, graceMs } = this.#options;
    using requests = new DerivedController(lost);
    requests.signal.addEventListener("abort", () => {
      for (const call of this.#calls.all) call.endRequests(requests.signal.reason);
    }, { once: true });
    const late = withResolvers<void>();
    using grace = new LongTimer(late.resolve);
    using notice = new LongTimer(() => {
      const { length, 0: first } = this.#calls.all;
      if (length === 0) return;
      const others = length === 1 ? ": it has" : ` and ${length - 1} more: they have`;
      const why = `not returned ${NOTICE_MS} ms after the stop. The reconciler waits for up to ${graceMs} ms`;
      this.#report(new Error(`Waiting for the reconcile of "${first.key}"${others} ${why}`), first.key);
    });
    const stop = (): void => {
      this.#state = "stopping";
      for (const call of this.#calls.all) call.abort(signal.reason);
      grace.arm(graceMs);
      if (graceMs > NOTICE_MS) notice.arm(NOTICE_MS);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const worker = (key: ObjectKey, context: WorkContext): void | ReconcileResult | Promise<void | ReconcileResult> =>
      this.#take(key, context, signal);
    const working = this.#queue.run(worker, { signal, concurrency, onError: this.#report });
    const returned = working.then(() => Promise.all(this.#calls.all.map((call) => call.returned)));
    await Promise.race([returned, late.promise]);
    const left = this.#calls.all.map(({ key }) => `"${key}"`);
    if (left.length === 0) return;
    const error = new Error(
      `Cannot stop the reconciler of "${this.name}" in time: after ${graceMs} ms these reconciles have not returned: ` +
        `${left.slice(0, 10).join(", ")}${left.length > 10 ? ` and ${left.length - 10} more` : ""}`,
    );
    requests.abort(error);
    throw error;
  }

  /** Resolves when a source has synced and its first events were received, or when the source was removed. */
  async #sync(source: KeySource<KubernetesObject>, signal: AbortSignal): Promise<void> {
    try {
      await source.informer.waitForCacheSync({ signal });
      await source.registration?.waitForSync({ signal });
    } catch (error) {
      if (this.#sources.has(source)) throw error;
    }
  }

  async #end(): Promise<void> {
    for (const { registration } of this.#sources) registration?.remove();
    this.#shards?.[Symbol.dispose]();
    this.#queue.shutDown();
    this.#calls[Symbol.dispose]();
    this.#writes[Symbol.dispose]();
    this.#state = "stopped";
    this.#changed.notify();
    if (this.#options.informers === undefined) await this.informers.shutdown();
  }

  /** Reconciles a key, unless it must wait. */
  #take(
    key: ObjectKey,
    context: WorkContext,
    stop: AbortSignal,
  ): void | ReconcileResult | Promise<void | ReconcileResult> {
    const { triggers } = context;
    // A key that came up for another reason before is still debounced; a timer may fire a fraction of a millisecond
    // early.
    const debouncedMs = this.#debounced.get(key);
    if (debouncedMs !== undefined && debouncedMs <= monotonicMs() + 1) this.#debounced.delete(key);
    this.#changed.notify();
    if (this.#held.has(key) || this.#calls.abandoned.has(key)) {
      this.#held.set(key, withTriggers(this.#held.get(key), triggers));
      return SETTLED;
    }
    if (this.#shards !== undefined && !this.#shards.admits(key, triggers)) {
      this.#queue.forget(key);
      return SETTLED;
    }
    if (!this.#writes.hasSeen(key)) {
      this.#held.set(key, triggers);
      void this.#awaitCaches(key, stop);
      return SETTLED;
    }
    if (this.#sources.areOver(triggers) || this.#writes.own.mayWait(key, triggers)) return SETTLED;
    const waitMs = this.#countCall(key);
    if (waitMs === 0) return this.#call(key, context, stop);
    this.#queue.addAfter(key, waitMs, { trigger: triggers });
    return SETTLED;
  }

  /** Counts a call and returns 0, or returns how long the key must wait for it, in milliseconds. */
  #countCall(key: ObjectKey): number {
    if (this.#options.maxCallsPerMinute === Infinity) return 0;
    for (const [oldest, { count }] of this.#recent) if (count > 0 || !this.#recent.delete(oldest)) break;
    const recent = this.#recent.get(key) ?? new RecentCount(60_000);
    const waitMs = recent.waitMs(this.#options.maxCallsPerMinute);
    if (waitMs > 0) return waitMs;
    recent.add();
    this.#recent.set(key, recent);
    return 0;
  }

  /** Adds a key again when the caches have seen its writes, or the time for that is over. */
  async #awaitCaches(key: ObjectKey, stop: AbortSignal): Promise<void> {
    const { readYourWritesTimeoutMs } = this.#options;
    using job = timedController(readYourWritesTimeoutMs, "The time limit has passed", stop);
    this.#waitingForCaches++;
    await this.#writes.wait(key, job.signal);
    this.#waitingForCaches--;
    if (stop.aborted) return;
    let triggers = this.#held.get(key);
    if (!this.#writes.hasSeen(key)) {
      this.#records.stale++;
      triggers = withTrigger(triggers, { type: "stale" });
      const unseen = `the caches of the reconciler of "${this.name}" have not seen ${this.#writes.drop(key)}`;
      const why = job.signal.aborted
        ? `within ${readYourWritesTimeoutMs} ms`
        : "before they stopped or went back to an older state";
      this.#report(new Error(`Reconciling "${key}" on a stale cache: ${unseen} ${why}`), key);
    }
    this.#release(key, triggers);
  }

  /** Adds a key that was held, with its triggers. */
  #release(key: ObjectKey, triggers: TriggerList): void {
    this.#held.delete(key);
    this.#changed.notify();
    this.#queue.add(key, { trigger: triggers });
  }

  async #call(key: ObjectKey, context: WorkContext, stop: AbortSignal): Promise<void | ReconcileResult> {
    const { retries, triggers } = context;
    const observer = this.#observe?.({
      reconciler: this.name,
      resource: this.#resource,
      key,
      retries,
      triggers,
    });
    const reconcile: ReconcileFunction<T> = observer === undefined
      ? this.#reconcile
      : (context) => observer.call(() => this.#reconcile(context));
    const call = this.#calls.begin(key, context);
    this.#shards?.begin(call);
    const loop = this.#writes.own.begin(key, triggers);
    if (loop !== undefined) this.#report(loopError(loop === "key" ? `"${key}"` : `keys of "${this.name}"`), key);
    this.#records.began(triggers);
    try {
      const result = await call.run(reconcile);
      if (result !== undefined) checkResult(result, "reconcile");
      const outcome = result === undefined ? "succeeded" : result.afterMs === undefined ? "retried" : "requeued";
      this.#records.ended(call, observer, outcome);
      if (outcome === "succeeded") this.#shards?.succeeded(call);
      return this.#writes.own.isHot(key) ? retry() : result;
    } catch (thrown) {
      const isAbandoned = this.#calls.abandoned.has(key);
      if (isAbandoned) call.returned = call.returned!.then(() => this.#returned(call));
      if (isAbortOf(stop, thrown)) {
        this.#records.ended(call, observer, "stopped");
        throw thrown;
      }
      if (this.#shards?.hasMoved(call, thrown)) {
        this.#records.ended(call, observer, "stopped");
        return SETTLED;
      }
      if (isConflict(thrown) && retries < QUIET_CONFLICTS && !isAbandoned) {
        this.#records.ended(call, observer, "retried", thrown);
        return retry();
      }
      if (isNamespaceTerminating(thrown) && !isAbandoned) {
        this.#records.ended(call, observer, "requeued", thrown);
        return LATER;
      }
      const error = thrown ?? new Error(`The reconcile of "${key}" failed without an error`);
      const isTerminal = error instanceof TerminalError;
      const outcome = isTerminal ? "terminal" : isAbandoned ? "timedOut" : "failed";
      this.#records.ended(call, observer, outcome, error);
      if (!isTerminal) throw error; // the queue reports it
      this.#shards?.succeeded(call);
      this.#report(error, key);
      if (this.#writes.own.isHot(key)) return retry();
    } finally {
      this.#calls.end(call);
      this.#shards?.end(call);
      // The writes of the call are known now, so that their events are.
      for (const { event, ofAll, add } of call.takeEarly()) if (!this.#writes.own.isOwnWrite(key, event, ofAll)) add();
    }
  }

  /** An abandoned call has returned: its key may be reconciled again. */
  #returned({ key, failure, signal }: ReconcileCall<T>): void {
    this.#calls.abandoned.delete(key);
    this.#changed.notify();
    if (this.#state === "stopped") return;
    // A call that rejects because its signal has aborted was reported when its time was over.
    if (failure !== undefined && !isAbortOf(signal, failure.error)) this.#report(failure.error, key);
    if (this.#held.has(key)) this.#release(key, this.#held.get(key));
  }
}

const notHeld = abortReason("Leadership is not held any longer");

function loopError(what: string): Error {
  return new Error(
    `Reconciling ${what} over and over: only its own writes to the same objects trigger the calls (status().ownCalls). A ` +
      `reconcile must write nothing if nothing is missing. After 250 such calls, the key is retried with growing delays`,
  );
}
