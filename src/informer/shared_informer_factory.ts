import type { ApiResource } from "../api/api_resource.ts";
import type { Identity } from "../api/entry.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type Abortable, namespacesOf, type Selection } from "../api/options.ts";
import { checkSelectors } from "../api/check_selectors.ts";
import type { SecretLike, WithoutData } from "../api/is_secret.ts";
import { fieldsOf } from "../api/fields_of.ts";
import type { FieldPaths, Picked } from "../api/picked.ts";
import { pathOf, type Resource, resourceName } from "../api/resource.ts";
import type { SnapshotStore } from "../api/snapshot_store.ts";
import type { Client } from "../client/client.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { errorLine } from "../errors/error_line.ts";
import { InformerError } from "../errors/informer_error.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { checkDurations } from "../async/time/duration.ts";
import { AcquiredInformer } from "./acquired_informer.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import { Demand } from "./demand.ts";
import { CACHE_DEFAULTS, type CacheOptions, type SharedIndexInformerOptions } from "./options.ts";
import { type CacheScope, overlap, OverlappingCachesError } from "./overlapping_caches.ts";
import type { InformerStatus } from "./status.ts";
import { sameOption } from "./same_option.ts";
import { FactoryRun } from "./factory_run.ts";
import { parsesObjects } from "../entry/path.ts";
import { isOfServer } from "./snapshot/is_of_server.ts";
import { SnapshotKeeper } from "./snapshot/snapshot_keeper.ts";
import { snapshotName } from "./snapshot/snapshot_name.ts";
import type { SnapshotOptions } from "./snapshot/snapshot_options.ts";
import { joined } from "./wait_error.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";

/** Options of a {@linkcode SharedInformerFactory}: the defaults of its informers. */
export interface SharedInformerFactoryOptions extends Selection, CacheOptions {
  /**
   * Called with each error that does not reject a wait, and with the resource that it concerns. Its return value is ignored.
   *
   * @default {as for a `SharedIndexInformer`; a cause that several informers share is written once}
   */
  readonly onError?: (error: unknown, resource: Resource) => unknown;
  /**
   * The time from the disposal of the last holder of an acquired informer to the end of its watch, in milliseconds;
   * `Infinity` is never.
   *
   * @default {30_000}
   */
  readonly idleMs?: number;
  /**
   * The time from the end of that watch to the end of the cache, in milliseconds; `Infinity` is never. A server keeps the
   * versions of 5 minutes at least, so a watch that is resumed within that time needs no list.
   *
   * @default {300_000}
   */
  readonly forgetMs?: number;
  /**
   * Keeps the caches beyond the life of the process. An informer begins with the snapshot of its cache, if there is one: it can
   * be read before any request, is `stale` until its watch has resumed, and lists only where the server has the version of the
   * snapshot no longer, or not its objects, of which one is read to see that. Snapshots are written while the caches change, and
   * when an informer stops, so dispose the factory. Those that cannot be used or written are reported. Caches with the data
   * of Secrets are left out, unless `secrets` is set.
   *
   * A snapshot is of one resource and selection, which its name says, and of the server's address, or of `cluster`.
   *
   * @default {nothing is kept}
   */
  readonly snapshots?: FactorySnapshots;
}

/** The snapshots that a factory keeps of its caches. */
export interface FactorySnapshots extends SnapshotOptions {
  /** The place of the snapshots. */
  readonly store: SnapshotStore;
  /**
   * The time between two snapshots of a cache that changes, in milliseconds; `Infinity` writes only when the informer stops.
   * @default {60_000}
   */
  readonly everyMs?: number;
}

/** The status of one informer of a factory. */
export interface InformerOfFactory {
  /** The resource. */
  readonly resource: Resource;
  /** The part of the collection that is selected, with the defaults of the factory. */
  readonly selection: Selection;
  /** The status of the informer. */
  readonly status: InformerStatus;
}

/** The sizes of the objects that one informer of a factory caches. */
export interface MemoryOfInformer extends Omit<InformerOfFactory, "status"> {
  /** The sizes. */
  readonly memory: MemoryReport;
}

/** A selection with the factory's defaults filled in. */
interface Selected extends CacheScope {
  /** The key of the informer. */
  readonly id: string;
}

interface Shared {
  readonly resource: Resource;
  readonly selected: Selected;
  /** Has a holder that stays once `isKept` is `true`. */
  readonly demand: Demand;
  readonly informer: SharedIndexInformer<KubernetesObject, string>;
  /** Keeps snapshots of the cache, if the factory keeps some, and the objects do not have the data of Secrets. */
  readonly keeper: SnapshotKeeper | undefined;
  readonly indexers: Map<string, unknown>;
  /** The options that the informer was made with, defaults included. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Set once it was started; resolves when it has stopped, with its failure, if any. */
  running: Promise<{ readonly error: unknown } | undefined> | undefined;
  /** `true` from the first `forResource()` on: then the demand never ends. */
  isKept: boolean;
  /** The run of the factory that it stops with. */
  run: FactoryRun | undefined;
}

/** The options that all callers of one informer must agree on. */
const COMPARED = [
  "transform",
  "managedFields",
  "parse",
  "freeze",
  "resyncMs",
  "reflector",
  "graceMs",
  "check",
  "onError",
  "unchanged",
] as const;

/** An informer's reduction of objects to named fields. */
export interface FieldsOption<T extends KubernetesObject, P extends readonly string[]> {
  /** The paths of the fields that are kept, as in `fieldsOf`: `["spec.nodeName", "spec.containers.image"]`. */
  readonly fields: P & FieldPaths<T, P>;
}

/** The options of an informer as they are implemented: its resource has the fields. */
type AnyOptions<T extends KubernetesObject, Name extends string> =
  & Selection
  & SharedIndexInformerOptions<T, Name>
  & { readonly fields?: readonly string[] };

/**
 * Makes informers and shares them: one per resource and selection, however many callers ask for it.
 *
 * An informer of `forResource()` runs from `start()` on, as long as the factory. One of `acquire()` runs while it has holders,
 * and somewhat longer, as `idleMs` and `forgetMs` say.
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
  readonly #options: SharedInformerFactoryOptions;
  /** Has an informer from its first `forResource()` or `acquire()` until it is forgotten, or replaced after it has stopped. */
  readonly #informers = new Map<string, Shared>();
  /** Receives errors where there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** Set while `run()` runs: starts an informer that was asked for meanwhile. */
  #run: FactoryRun | undefined;
  /** The error that `run()` has rejected with; a shutdown does not reject with it again. */
  #thrown: unknown;
  /** Has a promise if and only if an informer with a keeper runs, or its last snapshot is being written. */
  readonly #kept = new Set<Promise<void>>();
  /** `#overlapping` has the kinds of which overlapping caches were reported. */
  readonly #overlapping = new Set<string>();
  /** `true` from `shutdown()` on. */
  #isShutDown = false;

  /**
   * Makes a factory without informers. The caller disposes the client.
   *
   * @throws {TypeError} when the namespaces contradict each other, see `namespacesOf()`.
   * @throws {SyntaxError} when a selector does not parse.
   * @throws {RangeError} when `idleMs`, `forgetMs` or `everyMs` is out of range.
   */
  constructor(client: Client, options: SharedInformerFactoryOptions = {}) {
    namespacesOf(options);
    checkSelectors(options);
    checkDurations("make a factory", { idleMs: options.idleMs, forgetMs: options.forgetMs });
    checkDurations("make a factory", { everyMs: options.snapshots?.everyMs }, { min: 1 });
    this.#client = client;
    this.#options = options;
  }

  /**
   * Returns the informer of a resource and selection: the first call makes it, later calls return the same. While `run()` runs,
   * it is started; otherwise call `run()` afterwards, or `start()` again.
   *
   * Indexers of a later call are added to the existing ones; the same function under the same name is added once.
   *
   * With `namespaces`, one informer lists and watches each namespace separately. Their order does not matter, and a list of one
   * namespace means the same as `namespace`. Either of the two options replaces both of the factory; a cluster-scoped resource
   * ignores them.
   *
   * An informer of Secrets without their data is another one than that with `keep: "data"`.
   *
   * With `fields`, the informer is that of `fieldsOf(resource, fields)`: another one than that of the complete objects, and the
   * same for paths that keep the same fields.
   *
   * @throws {Error} when an option differs from that of the first call, or an index has the name of another function's; when the
   * factory was shut down. An option that is left out never differs.
   * @throws {TypeError} when the namespaces contradict each other, see `namespacesOf()`, or cannot be part of a path.
   * @throws {SyntaxError} when a selector does not parse.
   */
  forResource<T extends KubernetesObject, const P extends readonly string[], Name extends string = never>(
    resource: Resource<T>,
    options: FieldsOption<T, P> & Selection & SharedIndexInformerOptions<Picked<T, P>, Name>,
  ): SharedIndexInformer<Picked<T, P>, Name>;
  /** As above, with Secrets that lack their data, unless an option asks for it. */
  forResource<T extends SecretLike, Name extends string = never>(
    resource: Resource<T>,
    options?: Selection & SharedIndexInformerOptions<WithoutData<T>, Name> & { readonly keep?: undefined },
  ): SharedIndexInformer<WithoutData<T>, Name>;
  /** As above, with complete objects. */
  forResource<T extends KubernetesObject, Name extends string = never>(
    resource: Resource<T> | ApiResource,
    options?: Selection & SharedIndexInformerOptions<T, Name>,
  ): SharedIndexInformer<T, Name>;
  forResource<T extends KubernetesObject, Name extends string = never>(
    complete: Resource<T> | ApiResource,
    { fields, ...options }: AnyOptions<T, Name> = {},
  ): SharedIndexInformer<T, Name> {
    const resource = fields === undefined ? complete : fieldsOf<KubernetesObject, readonly string[]>(complete, fields);
    const selected = this.#select(resource, options);
    const shared = this.#informers.get(selected.id) ?? this.#create(resource as Resource<T>, selected, options);
    this.#join(shared, options as Selection & SharedIndexInformerOptions<KubernetesObject, string>);
    if (!shared.isKept) shared.demand.acquire(); // never released
    shared.isKept = true;
    if (this.#run !== undefined) this.#enlist(shared, this.#run);
    return shared.informer as unknown as SharedIndexInformer<T, Name>;
  }

  /**
   * Returns a holder of the informer of a resource and selection, which runs, without `start()`, while it has holders: dispose
   * it with `using`. Options are those of `forResource()`, and are shared with its callers.
   *
   * `idleMs` after the last holder was disposed the watch ends, and the cache is kept; `forgetMs` later it is dropped. A
   * holder that comes before that reads the cache at once (`status()` calls it `stale`, with its age), while the watch resumes
   * without a list. If the server has that version no longer, the collection is listed, and handlers receive the difference.
   *
   * An informer that has stopped is replaced by a new one.
   *
   * @throws as {@linkcode forResource}.
   *
   * @example
   * ```ts
   * import { Client, SharedInformerFactory } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer } from "@kube/informer/testing";
   *
   * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
   * await using informers = new SharedInformerFactory(client, { idleMs: 10_000 });
   * {
   *   using pods = informers.acquire(Pod, { namespace: "shop" });
   *   await pods.waitForCacheSync();
   *   console.log(pods.lister.list("app=web").length);
   * } // the watch ends 10 s later, unless pods are acquired again
   * ```
   */
  acquire<T extends KubernetesObject, const P extends readonly string[], Name extends string = never>(
    resource: Resource<T>,
    options: FieldsOption<T, P> & Selection & SharedIndexInformerOptions<Picked<T, P>, Name>,
  ): AcquiredInformer<Picked<T, P>, Name>;
  /** As above, with Secrets that lack their data, unless an option asks for it. */
  acquire<T extends SecretLike, Name extends string = never>(
    resource: Resource<T>,
    options?: Selection & SharedIndexInformerOptions<WithoutData<T>, Name> & { readonly keep?: undefined },
  ): AcquiredInformer<WithoutData<T>, Name>;
  /** As above, with complete objects. */
  acquire<T extends KubernetesObject, Name extends string = never>(
    resource: Resource<T>,
    options?: Selection & SharedIndexInformerOptions<T, Name>,
  ): AcquiredInformer<T, Name>;
  acquire<T extends KubernetesObject, Name extends string = never>(
    complete: Resource<T>,
    { fields, ...options }: AnyOptions<T, Name> = {},
  ): AcquiredInformer<T, Name> {
    const resource = fields === undefined ? complete : fieldsOf<KubernetesObject, readonly string[]>(complete, fields);
    const selected = this.#select(resource, options);
    const known = this.#informers.get(selected.id);
    const isUsable = known !== undefined && known.informer.status().state !== "stopped";
    if (!isUsable) known?.demand.end();
    const shared = isUsable ? known : this.#create(resource as Resource<T>, selected, options);
    const release = shared.demand.acquire();
    try {
      this.#join(shared, options as Selection & SharedIndexInformerOptions<KubernetesObject, string>);
    } catch (error) {
      release();
      throw error;
    }
    this.#startAlone(shared, {});
    return new AcquiredInformer(
      shared.informer as unknown as SharedIndexInformer<T, Name>,
      resourceName(resource),
      release,
    );
  }

  /**
   * Starts the informers of `forResource()` that have not been started. They stop when the signal aborts, and by `shutdown()`.
   *
   * @throws {Error} when the factory was shut down.
   */
  start(options: Abortable = {}): void {
    if (this.#isShutDown) throw new Error("Cannot start informers: the factory was shut down");
    for (const shared of this.#informers.values()) if (shared.isKept) this.#startAlone(shared, options);
  }

  /**
   * Runs the informers until the signal aborts or the factory is shut down, and resolves when all have stopped. It starts those
   * that have not been started, and those that `forResource()` is asked for meanwhile. Those of
   * `acquire()` alone follow their holders, and end with `shutdown()`.
   *
   * A server that refuses or cannot be reached does not end it: the informers retry, and report to `onError`. For a program that
   * must end then, there is {@linkcode waitForCacheSync}.
   *
   * @throws {Error} when the factory runs or was shut down already.
   * @throws the error of an informer that ends for another reason than the signal, or of handlers whose calls have not returned
   * within `graceMs`; then it stops the others first.
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
   * const stop = new AbortController(); // in a program: using signal = shutdownSignal() of "@kube/informer/deno"
   * await using informers = new SharedInformerFactory(client);
   * informers.forResource(Pod).addEventHandler({
   *   onAdd: ({ key }) => console.log("found", key),
   *   onSynced: () => stop.abort(),
   * });
   * await informers.run({ signal: stop.signal });
   * ```
   */
  async run(options: Abortable = {}): Promise<void> {
    if (this.#isShutDown) throw new Error("Cannot run informers: the factory was shut down");
    if (this.#run !== undefined) throw new Error("Cannot run informers: the factory is running already");
    const run = this.#run = new FactoryRun(options.signal);
    try {
      for (const shared of this.#informers.values()) if (shared.isKept) this.#enlist(shared, run);
      await run.ended;
    } catch (error) {
      this.#thrown = error;
      throw error;
    } finally {
      this.#run = undefined;
    }
  }

  /**
   * Resolves once all informers have synced, but for those of `acquire()` that have no holder.
   *
   * @throws {Error} when an informer has not been started.
   * @throws as `SharedIndexInformer.waitForCacheSync()`, for the first wait that fails.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    const all = [...this.#informers.values()].filter(({ demand }) => demand.state === "held");
    const idle = all.filter((shared) => shared.running === undefined).map((shared) =>
      `"${resourceName(shared.resource)}"`
    );
    if (idle.length > 0) {
      throw new Error(`Cannot wait for ${idle.join(", ")}: not started; call start() after the last forResource()`);
    }
    await joined(
      (signal) => all.map(({ informer }) => informer.waitForCacheSync({ ...options, signal })),
      options.signal,
    );
  }

  /** Returns the status of each informer, in the order in which they were made. */
  status(): InformerOfFactory[] {
    return Array.from(this.#informers.values(), (shared) => ({ ...scopeOf(shared), status: shared.informer.status() }));
  }

  /** Returns the sizes of the objects that each informer caches, in the same order. */
  memory(): MemoryOfInformer[] {
    return Array.from(this.#informers.values(), (shared) => ({ ...scopeOf(shared), memory: shared.informer.memory() }));
  }

  /**
   * Stops all informers, ends {@linkcode run}, and waits up to `graceMs` for running calls of their handlers; from inside a handler it does not wait
   * for that call, see the disposal of `SharedIndexInformer`.
   *
   * @throws {Error} that names the handlers whose calls have not returned by then, unless `run()` has.
   */
  shutdown(): Promise<void> {
    this.#isShutDown = true;
    this.#run?.stop();
    for (const { demand, keeper } of this.#informers.values()) {
      demand.end();
      keeper?.abandon();
    }
    return this.#stopAll(); // each time: a call from inside a handler waits for fewer calls
  }

  /** Shuts the factory down; see {@linkcode shutdown}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  async #stopAll(): Promise<void> {
    const results = await Promise.allSettled(
      [...this.#informers.values()].map(({ informer }) => informer[Symbol.asyncDispose]()),
    );
    while (this.#kept.size > 0) await Promise.all(this.#kept);
    const errors = results.filter((result) => result.status === "rejected").map(({ reason }) => reason)
      .filter((error) => error !== this.#thrown);
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) {
      throw new InformerError(`Cannot shut down all informers: ${errors.map(errorLine).join("; ")}`, {
        cause: errors[0],
      });
    }
  }

  /** Starts an informer, unless it was started; resolves when it has stopped, with its failure, if any. */
  #start(shared: Shared, options: Abortable): NonNullable<Shared["running"]> {
    return shared.running ??= this.#runKept(shared, options).then(() => undefined, (error) => ({ error }));
  }

  /** Runs an informer, from its snapshot and to its next one, if the factory keeps them. */
  #runKept({ informer, keeper }: Shared, options: Abortable): Promise<void> {
    if (keeper === undefined) return informer.run(options);
    const run = async (): Promise<void> => {
      await keeper.restore();
      if (informer.status().state === "stopped") return;
      keeper.begin();
      try {
        await informer.run(options);
      } finally {
        await keeper.end();
      }
    };
    const running = run();
    const settled = running.then(() => {}, () => {}).finally(() => this.#kept.delete(settled));
    this.#kept.add(settled);
    return running;
  }

  /** Starts an informer, unless it was started, and reports its failure, for a caller that does not wait for its end. */
  #startAlone(shared: Shared, options: Abortable): void {
    if (shared.running !== undefined) return;
    void this.#start(shared, options).then((failure) => {
      if (failure !== undefined) this.#report(shared.resource, failure.error);
    });
  }

  /** Starts an informer, unless it was started, and lets it stop with the run. */
  #enlist(shared: Shared, run: FactoryRun): void {
    if (shared.run === run) return;
    shared.run = run;
    const wasStarted = shared.running !== undefined;
    run.add(this.#start(shared, { signal: run.signal }));
    if (!wasStarted) return; // survives: started-by-run
    // The run has the error of stopping.
    const stop = (): void => void shared.informer[Symbol.asyncDispose]().then(undefined, () => undefined);
    if (run.signal.aborted) stop();
    else run.signal.addEventListener("abort", stop, { once: true });
  }

  #forget(shared: Shared): void {
    this.#informers.delete(shared.selected.id);
    // The error of stopping is that of `running`, which is reported.
    shared.informer[Symbol.asyncDispose]().then(undefined, () => undefined);
  }

  /**
   * @throws {Error} when the factory was shut down.
   * @throws {TypeError} when the selection is not possible.
   */
  #select(resource: Resource, own: Selection & { readonly keep?: "data" }): Selected {
    if (this.#isShutDown) throw new Error("Cannot make an informer: the factory was shut down");
    const defaults = this.#options;
    const where = own.namespace === undefined && own.namespaces === undefined ? defaults : own;
    // Checked also for a cluster-scoped resource, which ignores it.
    const given = namespacesOf(where);
    const namespaces = resource.scope === "Cluster" ? undefined : given;
    for (const namespace of namespaces ?? []) pathOf(resource, { namespace });
    const { labelSelector = defaults.labelSelector, fieldSelector = defaults.fieldSelector } = own;
    const { group, version, plural, representation = "object", fields } = resource;
    return {
      id: JSON.stringify([
        ...[group, version, plural, representation, fields, own.keep],
        ...[[...namespaces ?? []].sort(), labelSelector ?? "", fieldSelector ?? ""],
      ]),
      resource,
      namespaces,
      selectors: { labelSelector, fieldSelector },
      keep: own.keep,
    };
  }

  #create<T extends KubernetesObject, Name extends string>(
    resource: Resource<T>,
    selected: Selected,
    own: SharedIndexInformerOptions<T, Name>,
  ): Shared {
    const { onError: _factory, snapshots: _snapshots, idleMs = 30_000, forgetMs = 300_000, ...defaults } =
      this.#options;
    const { indexers: _indexers, ...rest } = defined(own);
    const reduction = resource.fields === undefined ? {} : { unchanged: "skip" as const };
    const options = { ...CACHE_DEFAULTS, ...defined(defaults), ...reduction, ...rest };
    const { id, namespaces, selectors } = selected;
    const sources = (namespaces ?? [undefined]).map((namespace) => {
      return { namespace: namespace ?? "", source: this.#client.resource(resource, { namespace, ...selectors }) };
    });
    const informer = new SharedIndexInformer<T>(sources.length === 1 ? sources[0].source : sources, {
      ...options,
      onError: (error: unknown): void => {
        callObserver(() => own.onError?.(error));
        if (own.onError === undefined || this.#options.onError !== undefined) this.#report(resource, error);
      },
    });
    const shared: Shared = {
      resource,
      selected,
      demand: new Demand({
        idleMs,
        forgetMs,
        onPause: () => informer.pause(),
        onResume: () => informer.resume(),
        onForget: () => this.#forget(shared),
      }),
      informer: informer as unknown as SharedIndexInformer<KubernetesObject, string>,
      keeper: this.#keeperOf(informer, selected),
      indexers: new Map(),
      options,
      running: undefined,
      isKept: false,
      run: undefined,
    };
    this.#checkOverlap(selected);
    this.#informers.set(id, shared);
    return shared;
  }

  #keeperOf<T extends KubernetesObject>(
    informer: SharedIndexInformer<T>,
    { resource, namespaces, selectors }: Selected,
  ): SnapshotKeeper | undefined {
    const { snapshots } = this.#options;
    if (snapshots === undefined || (informer.hasSecrets && !snapshots.secrets)) return undefined;
    const { everyMs = 60_000, cluster = this.#client.server.href } = snapshots;
    return new SnapshotKeeper(informer, {
      ...snapshots,
      everyMs,
      cluster,
      isOfServer: () =>
        isOfServer(
          informer.entries,
          informer.lastSyncResourceVersion,
          (object, version, signal) => this.#uidOf(resource, object, version, signal),
        ),
      name: snapshotName(resource, { ...selectors, namespaces }, informer.hasSecrets),
      report: (error) => this.#report(resource, error),
    });
  }

  async #uidOf(
    resource: Resource,
    { key, namespace }: Pick<Identity, "key" | "namespace">,
    version: string,
    signal: AbortSignal,
  ): Promise<string> {
    const name = namespace === "" ? key : key.slice(namespace.length + 1);
    const path = `${pathOf(resource, { namespace, name })}?resourceVersion=${version}`;
    const headers = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json" };
    const { metadata } = await (await this.#client.fetch(path, { headers, signal })).json() as KubernetesObject;
    return metadata.uid ?? "";
  }

  /** Adds a caller's indexers to a shared informer. @throws {Error} when its options contradict those of the first caller. */
  #join(shared: Shared, own: SharedIndexInformerOptions<KubernetesObject, string>): void {
    const name = resourceName(shared.resource);
    for (const option of COMPARED) {
      if (own[option] === undefined || sameOption(own[option], shared.options[option])) continue;
      throw new Error(`Cannot share the informer of "${name}": option "${option}" is not what the first caller gave`);
    }
    const added: [string, (object: KubernetesObject) => readonly string[]][] = [];
    for (const [index, valuesOf] of Object.entries(own.indexers ?? {})) {
      const known = shared.indexers.get(index);
      if (known === valuesOf || (!parsesObjects(valuesOf) && String(known) === String(valuesOf))) continue;
      if (known !== undefined) {
        throw new Error(`Cannot share the informer of "${name}": index "${index}" has another function already`);
      }
      added.push([index, valuesOf]);
    }
    if (added.length === 0) return;
    shared.informer.withIndexers(Object.fromEntries(added));
    for (const [index, valuesOf] of added) shared.indexers.set(index, valuesOf);
  }

  /** Reports the first overlapping caches of a kind. */
  #checkOverlap(selected: Selected): void {
    const name = resourceName(selected.resource);
    if (this.#overlapping.has(name)) return;
    const other = [...this.#informers.values()].find((shared) =>
      shared.selected.id !== selected.id && overlap(shared.selected, selected)
    );
    if (other === undefined) return;
    this.#overlapping.add(name);
    this.#report(selected.resource, new OverlappingCachesError(other.selected, selected));
  }

  #report(resource: Resource, error: unknown): void {
    const { onError = (error) => this.#reporter.report(`informer of "${resourceName(resource)}"`, error) } =
      this.#options;
    callObserver(() => onError(error, resource));
  }
}

function scopeOf({ resource, selected: { namespaces, selectors } }: Shared): Omit<InformerOfFactory, "status"> {
  return { resource, selection: { ...(namespaces === undefined ? {} : { namespaces }), ...selectors } };
}

/** Returns the members that are not `undefined`, so that the others do not hide defaults. */
function defined<O extends object>(options: O): Partial<O> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<O>;
}
