import type { ApiResource } from "../api/api_resource.ts";
import { checkSelectors } from "../api/check_selectors.ts";
import { fieldsOf } from "../api/fields_of.ts";
import type { SecretLike, WithoutData } from "../api/is_secret.ts";
import type { KubernetesObject } from "../api/object.ts";
import { type Abortable, namespacesOf, type Selection } from "../api/options.ts";
import type { FieldPaths, Kept } from "../api/picked.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { checkDurations } from "../async/time/duration.ts";
import type { Client } from "../client/client.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { errorLine } from "../errors/error_line.ts";
import { InformerError } from "../errors/informer_error.ts";
import { AcquiredInformer } from "./acquired_informer.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import { FactoryRun } from "./factory_run.ts";
import { InformerScope } from "./informer_scope.ts";
import type { SharedIndexInformerOptions, SharedInformerFactoryOptions } from "./options.ts";
import { OverlapFinder } from "./overlapping_caches.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";
import { SharedInformer, type SharedInformerContext } from "./shared_informer.ts";
import { SnapshotKeepers } from "./snapshot/snapshot_keepers.ts";
import type { InformerStatus } from "./status.ts";
import { joined } from "./wait_error.ts";

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

/** An informer's reduction of objects to named fields. */
export type FieldsOption<T extends KubernetesObject, P extends readonly string[]> = {
  /** The paths of the fields that are kept, as in `fieldsOf`: `["spec.nodeName", "spec.containers.image"]`. */
  readonly fields?: P;
} & {
  // Not `P & FieldPaths<T, P>`: of an optional union of lists, the compiler would infer the first list as P.
  readonly fields?: FieldPaths<T, P>;
};

/** The selection of an informer of complete objects. */
export interface Unpicked extends Selection {
  /** Left out; informers of named fields are another signature. */
  readonly fields?: undefined;
}

/** The options of an informer, whatever its objects and indexes. */
type AnyOptions = Selection & SharedIndexInformerOptions<KubernetesObject, string> & {
  readonly fields?: readonly string[];
};

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
  readonly #options: SharedInformerFactoryOptions;
  /** Connects the informers to this factory. */
  readonly #context: SharedInformerContext;
  /** Has an informer from its first `forResource()` or `acquire()` until it is forgotten, or replaced after it has stopped. */
  readonly #informers = new Map<string, SharedInformer>();
  /** Finds informers that cache the same objects. */
  readonly #overlaps = new OverlapFinder();
  /** Receives errors where there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** Set while `run()` runs: starts an informer that was asked for meanwhile. */
  #run: FactoryRun | undefined;
  /** The error that `run()` has rejected with; a shutdown does not reject with it again. */
  #thrown: unknown;
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
    this.#options = options;
    const report = (error: unknown, resource: Resource): void => this.#report(error, resource);
    this.#context = {
      defaults: options,
      keepers: options.snapshots && new SnapshotKeepers(options.snapshots, client, report),
      sourceOf: (resource, part) => client.resource(resource, part),
      report,
      onForget: (shared) => {
        this.#informers.delete(shared.scope.id);
        shared.stop();
      },
    };
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
  forResource<T extends SecretLike, Name extends string = never>(
    resource: Resource<T>,
    options?: Unpicked & SharedIndexInformerOptions<WithoutData<T>, Name> & { readonly keep?: undefined },
  ): SharedIndexInformer<WithoutData<T>, Name>;
  /** As above, with the data of Secrets. */
  forResource<T extends SecretLike, Name extends string = never>(
    resource: Resource<T>,
    options: Unpicked & SharedIndexInformerOptions<T, Name> & { readonly keep: "data" },
  ): SharedIndexInformer<T, Name>;
  /** As above, with complete objects. */
  forResource<T extends KubernetesObject, Name extends string = never>(
    resource: Resource<T> | ApiResource,
    options?: Unpicked & SharedIndexInformerOptions<T, Name>,
  ): SharedIndexInformer<T, Name>;
  /** As above, with named fields of objects. */
  forResource<T extends KubernetesObject, const P extends readonly string[] = never, Name extends string = never>(
    resource: Resource<T>,
    options: FieldsOption<T, P> & Selection & SharedIndexInformerOptions<Kept<T, P>, Name>,
  ): SharedIndexInformer<Kept<T, P>, Name>;
  forResource<T extends KubernetesObject, Name extends string = never>(
    complete: Resource<T> | ApiResource,
    options: Selection & SharedIndexInformerOptions<T, Name> = {},
  ): SharedIndexInformer<T, Name> {
    const scope = this.#scopeOf(complete, options);
    const shared = this.#informers.get(scope.id) ?? this.#create(scope, options as AnyOptions);
    shared.join(options as AnyOptions);
    shared.keep();
    if (this.#run !== undefined) shared.enlist(this.#run);
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
  acquire<T extends SecretLike, Name extends string = never>(
    resource: Resource<T>,
    options?: Unpicked & SharedIndexInformerOptions<WithoutData<T>, Name> & { readonly keep?: undefined },
  ): AcquiredInformer<WithoutData<T>, Name>;
  /** As above, with the data of Secrets. */
  acquire<T extends SecretLike, Name extends string = never>(
    resource: Resource<T>,
    options: Unpicked & SharedIndexInformerOptions<T, Name> & { readonly keep: "data" },
  ): AcquiredInformer<T, Name>;
  /** As above, with complete objects. */
  acquire<T extends KubernetesObject, Name extends string = never>(
    resource: Resource<T>,
    options?: Unpicked & SharedIndexInformerOptions<T, Name>,
  ): AcquiredInformer<T, Name>;
  /** As above, with named fields of objects. */
  acquire<T extends KubernetesObject, const P extends readonly string[] = never, Name extends string = never>(
    resource: Resource<T>,
    options: FieldsOption<T, P> & Selection & SharedIndexInformerOptions<Kept<T, P>, Name>,
  ): AcquiredInformer<Kept<T, P>, Name>;
  acquire<T extends KubernetesObject, Name extends string = never>(
    complete: Resource<T>,
    options: Selection & SharedIndexInformerOptions<T, Name> = {},
  ): AcquiredInformer<T, Name> {
    const scope = this.#scopeOf(complete, options);
    const known = this.#informers.get(scope.id);
    const isUsable = known !== undefined && known.informer.status().state !== "stopped";
    if (!isUsable) known?.demand.end();
    const shared = isUsable ? known : this.#create(scope, options as AnyOptions);
    const release = shared.demand.acquire();
    try {
      shared.join(options as AnyOptions);
    } catch (error) {
      release();
      throw error;
    }
    shared.start({});
    const informer = shared.informer as unknown as SharedIndexInformer<T, Name>;
    return new AcquiredInformer(informer, resourceName(scope.resource), release);
  }

  /**
   * Starts the informers of `forResource()` that have not been started. They stop when the signal aborts, and by `shutdown()`.
   *
   * @throws {Error} when the factory was shut down.
   */
  start(options: Abortable = {}): void {
    if (this.#isShutDown) throw new Error("Cannot start informers: the factory was shut down");
    for (const shared of this.#informers.values()) if (shared.isKept) shared.start(options);
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
      for (const shared of this.#informers.values()) if (shared.isKept) shared.enlist(run);
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
    const idle = all.filter(({ isStarted }) => !isStarted).map(({ scope }) => `"${resourceName(scope.resource)}"`);
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
    return Array.from(this.#informers.values(), ({ scope: { resource, selection }, informer }) => {
      return { resource, selection, status: informer.status() };
    });
  }

  /** Returns the sizes of the objects that each informer caches, in the same order. */
  memory(): MemoryOfInformer[] {
    return Array.from(this.#informers.values(), ({ scope: { resource, selection }, informer }) => {
      return { resource, selection, memory: informer.memory() };
    });
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
    for (const { demand } of this.#informers.values()) demand.end();
    this.#context.keepers?.abandon();
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
    await this.#context.keepers?.end();
    const errors = results.filter((result) => result.status === "rejected").map(({ reason }) => reason)
      .filter((error) => error !== this.#thrown);
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) {
      throw new InformerError(`Cannot shut down all informers: ${errors.map(errorLine).join("; ")}`, {
        cause: errors[0],
      });
    }
  }

  /**
   * @throws {Error} when the factory was shut down.
   * @throws {TypeError} when the selection is not possible.
   */
  #scopeOf(complete: Resource | ApiResource, own: Pick<AnyOptions, "fields" | "keep"> & Selection): InformerScope {
    const { fields } = own;
    const resource = fields === undefined
      ? complete
      : fieldsOf<KubernetesObject, readonly string[]>(complete as Resource<KubernetesObject>, fields);
    if (this.#isShutDown) throw new Error("Cannot make an informer: the factory was shut down");
    return new InformerScope(resource, own, this.#options);
  }

  #create(scope: InformerScope, { fields: _fields, ...own }: AnyOptions): SharedInformer {
    const shared = new SharedInformer(scope, own, this.#context);
    const others = Array.from(this.#informers.values(), ({ scope }) => scope).filter(({ id }) => id !== scope.id);
    const overlap = this.#overlaps.find(scope, others);
    if (overlap !== undefined) this.#report(overlap, scope.resource);
    this.#informers.set(scope.id, shared);
    return shared;
  }

  #report(error: unknown, resource: Resource): void {
    const { onError = (error) => this.#reporter.report(`informer of "${resourceName(resource)}"`, error) } =
      this.#options;
    callObserver(() => onError(error, resource));
  }
}
