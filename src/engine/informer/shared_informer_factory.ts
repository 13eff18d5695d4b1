/**
 * Makes informers and shares them, one for each resource and selection.
 *
 * {@linkcode SharedInformerFactory} is the entry point. What callers share is in `shared_informer.ts`, and holders are
 * in `acquired_informer.ts`. It is the only file of this room that knows the client.
 *
 * @module
 */
import { type Abortable, checkSelectors, namespacesOf, type Selection } from "../api/call_options.ts";
import { onlyFields } from "../api/fields.ts";
import { defined } from "../api/json.ts";
import type { KubernetesObject, Reduced } from "../api/object.ts";
import { type ApiResource, onlyMetadata, type Resource, resourceName } from "../api/resource.ts";
import { callObserver, DerivedController } from "../async/signals.ts";
import { type AccessRight, rightsTo } from "../client/access_reviews.ts";
import { selectedName } from "../client/access_used.ts";
import type { Client } from "../client/client.ts";
import { readablePart } from "../client/readable_namespaces.ts";
import type { ResourceClient } from "../client/resource_client.ts";
import { ArgumentError, checkDurations } from "../errors/checks.ts";
import { errorObserver } from "../errors/errors.ts";
import { allEnded } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import { readOptions, type Settings, withDefaults } from "../errors/option_table.ts";
import { AcquiredInformer } from "./acquired_informer.ts";
import { CacheScope, OverlapFinder } from "./cache/cache_scope.ts";
import { MemoryBudget } from "./cache/memory_budget.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import { DefaultsByKind } from "./kind_defaults.ts";
import { LabelledNamespaces, NAMESPACE_METADATA, OptionalKinds } from "./metadata_watches.ts";
import {
  type AnyOptions,
  type Cached,
  type CachedOptions,
  type CachedSelection,
  FACTORY_OPTIONS,
  INFORMER_OPTIONS,
  type NamespacesByLabel,
  PLACED_OPTIONS,
  type SharedIndexInformerOptions,
  type SharedInformerFactoryOptions,
} from "./options.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";
import { FactoryRun, type InformerEnd, SharedInformer } from "./shared_informer.ts";
import { SnapshotKeepers } from "./snapshot_keeper.ts";
import { type InformerStatus, joined, WaitError } from "./status.ts";
import { type FullSelection, type MetadataOnly, tiered, type TieredInformer } from "./tiered_informer.ts";

/** The status of one informer in a factory. */
export interface InformerOfFactory {
  /** The resource. */
  readonly resource: Resource;
  /** The selected part of the collection, including the factory's defaults. */
  readonly selection: Selection;
  /** The informer's status. */
  readonly status: InformerStatus;
}

/** The sizes of the objects that one informer in a factory caches. */
export interface MemoryOfInformer extends Omit<InformerOfFactory, "status"> {
  /** The sizes. */
  readonly memory: MemoryReport;
}

/** The options whose namespaces are named. */
type PlacedOptions = Omit<AnyOptions, "namespaces"> & Selection & { readonly readable?: true };

/** The options of a factory whose namespaces are named. */
type FactoryOptions = Omit<Settings<SharedInformerFactoryOptions, typeof FACTORY_OPTIONS>, "namespaces"> & Selection;

/** Returns the way to find namespaces that are not named. @throws {TypeError} where it is not known. */
function findingOf(namespaces: CachedSelection["namespaces"]): "readable" | NamespacesByLabel | undefined {
  if (namespaces === undefined || namespaces === "readable") return namespaces;
  if (typeof namespaces === "object") return "labels" in namespaces ? namespaces : undefined;
  throw new ArgumentError(
    `Cannot select namespaces: ${JSON.stringify(namespaces)} is not an array of names, { labels } or "readable"`,
  );
}

/**
 * Creates informers and shares them: one for each resource and selection, however many callers need it.
 *
 * `forResource()` returns an informer that runs as long as the factory. `acquire()` returns a holder: the informer runs
 * while it has holders, and a little longer (`idleTimeoutMs`, `cacheTtlMs`).
 *
 * See the guides: [Read the cache](../../../docs/guides/read-the-cache.md),
 * [Informers on demand](../../../docs/guides/informers-on-demand.md).
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { Deployment } from "@kube/informer/kinds/apps/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using informers = new SharedInformerFactory(client, { namespace: "shop" });
 * const deployments = informers.forResource(Deployment);
 * informers.start();
 * await informers.waitForCacheSync();
 * deployments.lister.namespace("shop").list("app=web");
 * ```
 */
export class SharedInformerFactory implements AsyncDisposable {
  readonly #client: Client;
  readonly #options: FactoryOptions;
  readonly #defaults: DefaultsByKind;
  /** The way to find the namespaces of informers that name none. */
  readonly #finding: "readable" | NamespacesByLabel | undefined;
  /** The namespaces by their labels. */
  readonly #labelled = new Map<string, LabelledNamespaces>();
  /** Keeps snapshots of the caches, if the factory does. */
  readonly #keepers: SnapshotKeepers | undefined;
  /**
   * Has an informer from its first `forResource()` or `acquire()` until it is forgotten, or replaced after it was
   * disposed or has failed.
   */
  readonly #informers = new Map<string, SharedInformer>();
  /** The names of the scopes that informers change from and to. */
  readonly #changing = new Set<string>();
  /** The informers whose kinds the server need not have. */
  readonly #optional = new OptionalKinds(
    (definitions) => this.#client.resource(definitions),
    (error, definitions) => this.#report(error, definitions),
  );
  /** Counts the bytes of the caches, if they have a limit. */
  readonly #budget: MemoryBudget | undefined;
  /** Finds informers that cache the same objects. */
  readonly #overlaps = new OverlapFinder();
  /** Receives errors that have no other observer. */
  readonly #report: (error: unknown, resource: Resource) => void;
  /** Set while `run()` runs: starts an informer that was asked for meanwhile. */
  #run: FactoryRun | undefined;
  /** The error that `run()` has rejected with; a shutdown does not reject with it again. */
  #thrown: unknown;
  /** `true` from `shutdown()` on. */
  #isShutDown = false;
  /** `true` from `measureDelivery()` on. */
  #measuresDelivery = false;
  /** @internal */
  readonly [internals] = {
    /**
     * Returns the resource of an informer of this factory.
     *
     * @throws {TypeError} for an informer that another factory has made, or none.
     */
    resourceOf: <T extends KubernetesObject>(source: Resource<T> | SharedIndexInformer<T, string>): Resource<T> =>
      "plural" in source ? source : this.#given(source).scope.resource as Resource<never>,
    /**
     * Returns the informer as `forResource()` does, for one follower, and what gives it back: the informer stops at
     * once, and is forgotten, when it was nobody else's. An informer of this factory may be given itself.
     *
     * @throws as `resourceOf`.
     */
    follow: <T extends KubernetesObject>(
      source: Resource<T> | SharedIndexInformer<T, string>,
      options: Selection & SharedIndexInformerOptions<T, string>,
    ): { readonly informer: SharedIndexInformer<T, string>; readonly release: () => void } => {
      const guests = "plural" in source ? 0 : 1;
      const shared = "plural" in source ? this.#shared(source, options) : this.#given(source);
      const release = shared.demand.acquire();
      shared.followers++;
      shared.guests += guests;
      if (this.#run !== undefined) this.#start(shared, this.#run);
      return {
        informer: typed(shared),
        release: (): void => {
          release();
          shared.followers--;
          shared.guests -= guests;
          if (shared.demand.state === "held") return;
          shared.demand.end();
          this.#informers.delete(shared.scope.name);
          shared.stop();
        },
      };
    },
    /** Returns the rights that the informers need. */
    rights: (): AccessRight[] =>
      [...this.#informers.values()].flatMap(({ scope: { resource, parts, shard, isReadable }, options }) => {
        if (isReadable) return rightsTo("list", NAMESPACE_METADATA);
        const name = selectedName(new URLSearchParams({ fieldSelector: parts[0].fieldSelector ?? "" }));
        const own = rightsTo(options.pollMs ? "list" : "list watch", resource, parts.map((it) => it.namespace), name);
        return shard instanceof LabelledNamespaces ? [...own, ...rightsTo("list watch", NAMESPACE_METADATA)] : own;
      }),
    /** Returns the transform of an informer with these options. */
    transformFor: (resource: Resource, own: AnyOptions): unknown =>
      this.#defaults.under(resource, own).transform ?? this.#options.transform,
    /**
     * Returns the namespaces that limit an informer with these options. `undefined` if it has all namespaces, or
     * finds them itself.
     */
    namespacesFor: (resource: Resource, given: CachedSelection): readonly string[] | undefined => {
      const { namespace, namespaces } = this.#defaults.under(resource, given);
      if (resource.scope === "Cluster" || findingOf(namespaces) !== undefined) return undefined;
      const own = namespacesOf({ namespace, namespaces: namespaces as readonly string[] | undefined });
      return own ?? (namespace === "" || this.#finding !== undefined ? undefined : namespacesOf(this.#options));
    },
  };

  /**
   * Creates a factory without informers. Dispose the client yourself, after the factory.
   *
   * @throws {TypeError} if the namespaces contradict each other, or `defaults` has a kind twice.
   * @throws {SyntaxError} if a selector does not parse.
   * @throws {RangeError} if `maxBytes` or a duration is out of range.
   */
  constructor(client: Client, given: SharedInformerFactoryOptions = {}) {
    const filled = readOptions("create a factory", given, { ...FACTORY_OPTIONS, cluster: {} });
    const { namespaces, ...rest } = filled;
    const finding = this.#finding = findingOf(namespaces);
    const options: FactoryOptions = finding === undefined ? filled as FactoryOptions : rest;
    if (typeof finding === "object") checkSelectors({ labelSelector: finding.labels });
    namespacesOf(options);
    checkSelectors(options);
    checkDurations("create a factory", { intervalMs: options.snapshots?.intervalMs }, { min: 1 });
    const { maxBytes } = options;
    this.#client = client;
    this.#options = options;
    this.#defaults = new DefaultsByKind(options.defaults ?? []);
    this.#report = errorObserver(options.onError, (resource) => `informer of "${resourceName(resource)}"`);
    if (maxBytes !== undefined) {
      this.#budget = new MemoryBudget(maxBytes, this.#report);
    }
    this.#keepers = options.snapshots && new SnapshotKeepers(options.snapshots, client, this.#report);
  }

  /**
   * Returns the informer for a resource and selection. The first call creates it, later calls return the same one.
   * While `run()` runs, the informer starts immediately. Otherwise call `run()` or `start()` afterwards.
   *
   * - The type of the cached objects follows from the resource and options, see `Cached` in `@kube/informer/types`.
   * - A later call may add `indexers`. The same function under the same name is added once.
   * - With `namespaces`, one informer lists and watches each namespace separately. One name means the same as
   *   `namespace`. Either option replaces both factory options. Cluster-scoped resources ignore them.
   * - Each `shard`, each set of `fields`, and `secretData: "keep"` has its own informer.
   *
   * **With `full`**, you get a {@linkcode TieredInformer}: objects that `full.labelSelector` matches are whole, and all
   * others have only their metadata. `read(key)` gets one of them.
   *
   * - It joins two shared informers, of all metadata and of the whole objects. Each call joins them again, so keep the
   *   result, and wait for its own `waitForCacheSync()`. It stops with the factory.
   * - A change of labels causes one update, when the new form is there. The object is never missing meanwhile, and no
   *   state is followed by an older one.
   * - Secrets have no data without `secretData: "keep"`, and `read()` drops it then, too.
   *
   * See the guide: [Limit memory](../../../docs/guides/limit-memory.md#some-objects-whole-the-others-as-metadata).
   *
   * @throws {Error} if an option differs from the first call, an index name is taken by another function, or the
   * factory was shut down. You may leave out options in later calls.
   * @throws {TypeError} if the namespaces contradict each other, or are not valid in a URL path.
   * @throws {SyntaxError} if a selector does not parse.
   *
   * @example
   * ```ts
   * import { Client, field, SharedInformerFactory } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
   * await using informers = new SharedInformerFactory(client, { namespace: "shop" });
   * const pods = informers.forResource(Pod, { indexers: { node: field("spec.nodeName") } });
   * const phases = informers.forResource(Pod, { fields: ["status.phase"] }); // takes a fraction of the memory
   * informers.start();
   * await informers.waitForCacheSync();
   * console.log(pods.indexer.byIndex("node", "worker-1").length, phases.lister.get("shop/cart-0")?.status?.phase);
   * ```
   */
  forResource<
    T extends KubernetesObject,
    Name extends string = never,
    const P extends readonly string[] = never,
    D extends "keep" | undefined = undefined,
    F extends FullSelection["full"] = never,
  >(
    resource: Resource<T> | ApiResource,
    options: CachedOptions<[F] extends [never] ? T : MetadataOnly<T>, Name, P, D> & { readonly full?: F } = {},
  ): [F] extends [never] ? SharedIndexInformer<Cached<T, P, D>, Name> : TieredInformer<Cached<T, never, D>, Name> {
    if (options.full !== undefined) return this.#tiered(resource, options as AnyOptions & FullSelection) as never;
    const shared = this.#shared(resource, options);
    shared.demand.acquire(); // never released
    shared.isKept = true;
    if (this.#run !== undefined) this.#start(shared, this.#run);
    return typed(shared) as never;
  }

  #tiered(resource: Resource, { full, indexers, secretData, ...own }: AnyOptions & FullSelection): object {
    checkNames(`create an informer of "${resource.plural}"`, full, "labelSelector");
    this.#overlaps.found.add(resourceName(resource));
    const labelSelector = [own.labelSelector ?? this.#options.labelSelector, full.labelSelector].filter(Boolean).join();
    const whole = this.forResource(resource, { ...own, ...defined({ secretData }), labelSelector });
    const options = { ...defined({ indexers }), onError: (error: unknown) => this.#report(error, resource), ...full };
    const clientOf = (part: Selection): ResourceClient<KubernetesObject> => this.#client.resource(resource, part);
    return tiered(this.forResource(onlyMetadata(resource), own), whole, clientOf, options);
  }

  #given(source: unknown): SharedInformer {
    const shared = [...this.#informers.values()].find(({ informer }) => informer === source);
    if (shared !== undefined) return shared;
    throw new ArgumentError("Cannot watch an informer: this factory did not create it. Create it with forResource()");
  }

  /** The informer of a resource and selection, which is made if there is none that `isUsable`. */
  #shared(
    resource: Resource | ApiResource,
    options: object,
    isUsable: (informer: SharedInformer["informer"]) => boolean = () => true,
  ): SharedInformer {
    checkNames(`create an informer of "${resource.plural}"`, options, Object.keys(PLACED_OPTIONS));
    const isOwn = resource === NAMESPACE_METADATA;
    const placed = this.#placed(resource, isOwn ? options : this.#defaults.under(resource, options));
    const scope = this.#scopeOf(resource, placed);
    this.#defaults.checkForm(scope, placed);
    const known = this.#informers.get(scope.name);
    if (this.#changing.has(scope.name)) {
      throw new Error(`Cannot share the informer of "${scope.kind}": its rescope() has not ended. Wait for it first`);
    }
    if (known !== undefined && isUsable(known.informer)) {
      known.join(options);
      return known;
    }
    known?.demand.end();
    return this.#create(scope, placed);
  }

  /**
   * Returns a holder for the informer of a resource and selection, and starts it. The informer runs while it has
   * holders, so dispose yours with `using`. The options are the same as for `forResource()`, and both share one
   * informer.
   *
   * 1. You dispose the last holder. After `idleTimeoutMs` the watch ends, and the cache stays.
   * 2. A new holder within `cacheTtlMs` reads that cache immediately. It is `stale` until the watch has resumed,
   *    without a list. If the server no longer has the version, the informer lists, and handlers receive the
   *    difference.
   * 3. After `cacheTtlMs` the cache is dropped. The next holder starts with a list.
   *
   * If its signal has ended the informer, it runs again. If it was disposed or has failed, you get a new one.
   *
   * @throws the same errors as {@linkcode forResource}.
   *
   * @example
   * ```ts
   * import { Client, SharedInformerFactory } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
   * await using informers = new SharedInformerFactory(client, { idleTimeoutMs: 10_000 });
   * {
   *   using pods = informers.acquire(Pod, { namespace: "shop" });
   *   await pods.informer.waitForCacheSync();
   *   console.log(pods.informer.lister.list("app=web").length);
   * } // the watch ends 10 s later, unless pods are acquired again
   * ```
   */
  acquire<
    T extends KubernetesObject,
    Name extends string = never,
    const P extends readonly string[] = never,
    D extends "keep" | undefined = undefined,
  >(
    resource: Resource<T> | ApiResource,
    options: CachedOptions<T, Name, P, D> = {},
  ): AcquiredInformer<Cached<T, P, D>, Name> {
    const shared = this.#shared(resource, options, (informer) => !informer[internals].sync.isFinal);
    const release = shared.demand.acquire();
    this.#start(shared, {});
    return new AcquiredInformer(typed<Cached<T, P, D>, Name>(shared), shared.scope.kind, release);
  }

  /**
   * Starts the informers from `forResource()` that do not run. They stop when the signal aborts, or at `shutdown()`.
   * After the signal has aborted, another call runs them again, see {@linkcode SharedIndexInformer.run}.
   *
   * @throws {Error} if the factory was shut down.
   */
  start(options: Abortable = {}): void {
    checkNames("start informers", options, "signal");
    if (this.#isShutDown) throw new Error("Cannot start informers: the factory was shut down");
    for (const shared of this.#informers.values()) if (shared.isWanted) this.#start(shared, options);
  }

  /**
   * Runs the informers until the signal aborts or the factory is shut down, and resolves when all have stopped. It also
   * starts informers that `forResource()` creates later. Acquired informers follow their holders instead.
   *
   * After the signal has ended a run, you can call it again: informers keep their handlers, and resume. See
   * {@linkcode SharedIndexInformer.run}.
   *
   * If the server refuses or cannot be reached, the run continues: informers retry and report to `onError`. If your
   * program should end in that case, use {@linkcode waitForCacheSync}, or set `syncTimeoutMs`: the longest time for the
   * first sync, in milliseconds.
   *
   * @throws {Error} if the factory is running or was shut down.
   * @throws {RangeError} if `syncTimeoutMs` is out of range.
   * @throws {WaitError} if informers have not synced within `syncTimeoutMs`. It names them and the reasons. All
   * informers are stopped first.
   * @throws the error of an informer that ended by itself, or of handler calls that did not return within `graceMs`.
   * The other informers are stopped first.
   *
   * @example
   * ```ts
   * import { Client, SharedInformerFactory } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer, pod } from "@kube/informer/testing";
   *
   * const server = new FakeApiServer();
   * server.create(Pod, pod({ name: "cart-0" }));
   * using client = new Client({ server: "http://fake", transport: server });
   * const stop = new AbortController(); // in a program: using signal = shutdownSignal() of "@kube/informer/connect"
   * await using informers = new SharedInformerFactory(client);
   * informers.forResource(Pod).addEventHandler({
   *   onAdd: ({ key }) => console.log("found", key),
   *   onSynced: () => stop.abort(),
   * });
   * await informers.run({ signal: stop.signal });
   * ```
   */
  async run(options: Abortable & { readonly syncTimeoutMs?: number } = {}): Promise<void> {
    checkNames("run informers", options, "signal syncTimeoutMs");
    const { signal, syncTimeoutMs = Infinity } = options;
    checkDurations("run informers", { syncTimeoutMs }, { min: 1 });
    if (this.#isShutDown) throw new Error("Cannot run informers: the factory was shut down");
    if (this.#run !== undefined) throw new Error("Cannot run informers: the factory is already running");
    const run = this.#run = new FactoryRun(signal);
    try {
      for (const shared of this.#informers.values()) if (shared.isWanted) this.#start(shared, run);
      if (syncTimeoutMs !== Infinity) run.add(this.#synced(run.signal, syncTimeoutMs));
      await run.ended;
    } catch (error) {
      this.#thrown = error;
      throw error;
    } finally {
      this.#run = undefined;
    }
  }

  /**
   * Resolves when all informers have synced. Acquired informers without a holder do not count.
   *
   * @throws {Error} if an informer has not been started.
   * @throws the error from `SharedIndexInformer.waitForCacheSync()`, for the first wait that fails.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    checkNames("wait for a sync", options, "signal patient");
    const all = [...this.#informers.values()].filter(({ demand }) => demand.state === "held");
    const idle = all.filter(({ running }) => running === undefined).map(({ scope }) => `"${scope.kind}"`);
    if (idle.length > 0) {
      throw new Error(`Cannot wait for ${idle.join(", ")}: not started. Call start() after the last forResource()`);
    }
    await joined(
      (signal) =>
        all.map(async ({ scope, informer }) => {
          try {
            await informer.waitForCacheSync({ ...options, signal });
          } catch (error) {
            if (this.#informers.get(scope.name)?.informer === informer) throw error; // else it was given back
          }
        }),
      options.signal,
    );
  }

  /**
   * Returns the rights that the informers need and the client's user lacks. Call it after the last `forResource()` and
   * before the start, to name all of them at once. It remembers answers like `Client.can()`.
   *
   * Informers need `list` and `watch` for each kind and namespace, or only `list` with `pollMs`. For namespaces by
   * label, they also need both on namespaces. With `"readable"`, it asks only whether the client may list namespaces.
   *
   * @throws the same errors as `Client.can()`.
   */
  async missingRights(options: Abortable = {}): Promise<AccessRight[]> {
    return await this.#client.missingRights(this[internals].rights(), options);
  }

  /** Returns the status of each informer, in the order of their creation. */
  status(): InformerOfFactory[] {
    return Array.from(this.#informers.values(), ({ scope: { resource, selection }, informer }) => {
      return { resource, selection, status: informer.status() };
    });
  }

  /** Calls `SharedIndexInformer.measureDelivery()` on each informer, and on each later one. */
  measureDelivery(): void {
    this.#measuresDelivery = true;
    for (const { informer } of this.#informers.values()) informer.measureDelivery();
  }

  /** The bytes that all caches may hold, see the option. `undefined` without the option. */
  get maxBytes(): number | undefined {
    return this.#budget?.maxBytes;
  }

  /**
   * Changes the limit while the factory runs. Informers that it had stopped list again, if there is room now.
   *
   * @throws {RangeError} if it is not a whole number above 0.
   * @throws {TypeError} if the factory was created without `maxBytes`, because nothing was counted.
   */
  set maxBytes(maxBytes: number) {
    if (this.#budget === undefined) {
      throw new ArgumentError(
        "Cannot set maxBytes: the factory does not count bytes. Create it with the option maxBytes",
      );
    }
    this.#budget.maxBytes = maxBytes;
  }

  /** The bytes that all caches hold, as counted for `maxBytes`. `undefined` without that option. */
  get countedBytes(): number | undefined {
    return this.#budget?.bytes;
  }

  /** Returns the sizes of the cached objects for each informer, in the order of their creation. */
  memory(): MemoryOfInformer[] {
    return Array.from(this.#informers.values(), ({ scope: { resource, selection }, informer }) => {
      return { resource, selection, memory: informer.memory() };
    });
  }

  /**
   * Stops all informers for good, ends {@linkcode run}, and then waits up to `graceMs` for running handler calls.
   *
   * If you call it inside a handler, it does not wait for that call.
   *
   * @throws {Error} if handler calls have not returned by then. It names the handlers. `run()` throws it instead, if it
   * runs.
   */
  shutdown(): Promise<void> {
    this.#isShutDown = true;
    this.#run?.stop();
    for (const { demand } of this.#informers.values()) demand.end();
    this.#keepers?.abandon();
    return this.#stopAll(); // each time: a call from inside a handler waits for fewer calls
  }

  /** Shuts the factory down, see {@linkcode shutdown}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  /** Waits for the first sync, which fails the run if it takes too long. */
  async #synced(signal: AbortSignal, syncTimeoutMs: number): InformerEnd {
    try {
      await joined((signal) => [this.waitForCacheSync({ signal, patient: true })], signal, syncTimeoutMs);
    } catch (error) {
      // An informer that has ended by itself fails the run with its own error.
      if (!signal.aborted && error instanceof WaitError && error.reason !== undefined) return { error };
    }
  }

  async #stopAll(): Promise<void> {
    const informers = Array.from(this.#informers.values(), ({ informer }) => informer[Symbol.asyncDispose]());
    await Promise.allSettled(informers);
    await this.#optional[Symbol.asyncDispose]();
    await this.#keepers?.end();
    await allEnded("shut down all informers", informers, this.#thrown);
  }

  /**
   * Returns the options with the shard that stands for namespaces by label, or with `readable`.
   *
   * @throws {TypeError} beside another shard or a namespace.
   */
  #placed({ scope }: Resource, own: AnyOptions): PlacedOptions {
    const { namespaces, ...options } = own;
    const isPlaced = own.namespace !== undefined || Array.isArray(namespaces) || own.shard !== undefined;
    const finding = findingOf(namespaces) ?? (isPlaced ? undefined : this.#finding);
    if (finding === undefined || scope === "Cluster") {
      return findingOf(namespaces) === undefined ? own as PlacedOptions : options;
    }
    if (own.shard !== undefined || own.namespace !== undefined) {
      const name = finding === "readable" ? `that are readable` : `with labels "${finding.labels}"`;
      throw new ArgumentError(
        `Cannot select the namespaces ${name}: they cannot be combined with "namespace" or "shard". Remove one of them`,
      );
    }
    if (finding === "readable") return { ...options, readable: true };
    const { labels } = finding;
    checkSelectors({ labelSelector: labels });
    let shard = this.#labelled.get(labels);
    if (shard === undefined) {
      const open = (): SharedIndexInformer<KubernetesObject & Reduced> =>
        this.acquire(NAMESPACE_METADATA, { labelSelector: labels, fieldSelector: "" }).informer;
      this.#labelled.set(labels, shard = new LabelledNamespaces(labels, open));
    }
    return { ...options, shard };
  }

  /**
   * @throws {Error} when the factory was shut down.
   * @throws {TypeError} when the selection is not possible.
   */
  #scopeOf(
    complete: Resource | ApiResource,
    own: Pick<PlacedOptions, "fields" | "secretData" | "shard" | "readable"> & Selection,
  ): CacheScope<Resource> {
    const { fields } = own;
    const resource = fields === undefined
      ? complete
      : onlyFields<KubernetesObject, readonly string[]>(complete, fields);
    if (this.#isShutDown) throw new Error("Cannot create an informer: the factory was shut down");
    return CacheScope.inFactory(resource, own, this.#options);
  }

  /**
   * Makes an informer with the options of the first caller, and keeps it.
   *
   * @throws {Error} when there is an index of one of the names already.
   */
  #create(
    scope: CacheScope<Resource>,
    { fields: _fields, indexers = {}, readable, ...own }: PlacedOptions,
  ): SharedInformer {
    const { onError } = this.#options;
    const { resource, parts } = scope;
    const reduction = resource.fields === undefined ? {} : { deliverUnchanged: false };
    const given = { ...this.#options, ...reduction, ...defined(own), onError: own.onError };
    const options = withDefaults<SharedIndexInformerOptions<KubernetesObject, string>, typeof INFORMER_OPTIONS>(
      given,
      INFORMER_OPTIONS,
    );
    const sources = parts.map((part) => ({
      namespace: part.namespace ?? "",
      source: this.#client.resource<KubernetesObject>(resource, part),
    }));
    const finder = readable && ((wait: Abortable) => readablePart(this.#client, [resource], wait));
    const informer = new SharedIndexInformer<KubernetesObject, string>(
      sources.length === 1 ? sources[0].source : sources,
      {
        ...options,
        onError: (error: unknown): void => {
          callObserver(() => own.onError?.(error));
          if (own.onError === undefined || onError !== undefined) this.#report(error, resource);
        },
        [internals]: defined({ budget: this.#budget, finder }),
      },
    );
    if (this.#measuresDelivery) informer.measureDelivery();
    const shared = new SharedInformer(informer, options, this.#options, () => {
      this.#informers.delete(shared.scope.name);
    });
    informer[internals].sync.reserve = (next) => this.#reserve(shared, next);
    const others = Array.from(this.#informers.values(), ({ scope }) => scope).filter(({ name }) => name !== scope.name);
    const overlap = this.#overlaps.find(scope, others);
    if (overlap !== undefined) this.#report(overlap, resource);
    this.#informers.set(scope.name, shared);
    shared.join({ indexers });
    return shared;
  }

  /** As `CollectionSync.reserve`. While the scope changes, nobody gets an informer of either scope. */
  #reserve(shared: SharedInformer, next: CacheScope<Resource>): (isDone: boolean) => void {
    const names = [shared.scope.name, next.name];
    const isTaken = (this.#informers.get(next.name) ?? shared) !== shared;
    if (isTaken || shared.demand.holders - shared.guests > 1) {
      const why = isTaken
        ? `the factory has another informer of "${next.name}"`
        : "other callers of the factory share it";
      throw new Error(`Cannot rescope the informer of "${next.kind}": ${why}. Acquire the new scope instead`);
    }
    for (const name of names) this.#changing.add(name);
    return (isDone) => {
      for (const name of names) this.#changing.delete(name);
      if (isDone && this.#informers.delete(names[0])) this.#informers.set(next.name, shared);
    };
  }

  /**
   * Starts an informer, unless it runs; after its last run, if that is ending. It stops with a run of the factory;
   * without one nobody awaits its end, and its failure is reported.
   */
  #start(shared: SharedInformer, by: Abortable | FactoryRun): void {
    const run = by instanceof FactoryRun ? by : undefined;
    const { informer, scope, options, options: { graceMs, optional }, running: before } = shared;
    const isOver = shared.job?.signal.aborted && !informer[internals].sync.isFinal;
    const isStarted = before !== undefined && !isOver;
    if (run === undefined ? isStarted : shared.run === run) return;
    if (!isStarted) {
      const job = shared.job = new DerivedController(by.signal);
      const { signal } = job;
      const keepers = options.pollMs === undefined ? this.#keepers : undefined;
      shared.running = (keepers?.run(informer, { signal, graceMs }) ?? informer.run({ signal }))
        .then(() => undefined, (error) => ({ error })).finally(() => job.release());
      if (optional) void Promise.resolve(before).then(() => this.#optional.follow(scope.resource, informer));
    } else if (run !== undefined) shared.job!.follow(run.signal);
    const running = shared.running!;
    if (run === undefined) {
      return void running.then((failure) => {
        if (failure !== undefined) this.#report(failure.error, scope.resource);
      });
    }
    shared.run = run;
    run.add(running);
  }
}

/** Returns the informer with the type of its objects, which its resource and options decide. */
function typed<T extends KubernetesObject, Name extends string>(
  { informer }: SharedInformer,
): SharedIndexInformer<T, Name> {
  return informer as unknown as SharedIndexInformer<T, Name>;
}
