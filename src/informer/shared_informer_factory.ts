/**
 * Makes informers and shares them, one for each resource and selection.
 *
 * {@linkcode SharedInformerFactory} is the entry point. {@linkcode Demand} pauses and resumes informers by the number
 * of their holders. It is the only file of this room that knows the client.
 *
 * @module
 */
import { type FieldPaths, onlyFields, type Picked } from "../api/fields.ts";
import type { KubernetesObject, Reduced } from "../api/object.ts";
import { type Abortable, checkSelectors, defined, namespacesOf, type Selection } from "../api/options.ts";
import { type ApiResource, type Resource, resourceName, type SecretLike, type WithoutData } from "../api/resource.ts";
import { checkDurations } from "../async/checks.ts";
import type { PolledIterator } from "../async/iterate.ts";
import { callObserver, DerivedController, Latch } from "../async/signals.ts";
import { LongTimer } from "../async/time.ts";
import type { Client } from "../client/client.ts";
import { readablePart } from "../client/readable_namespaces.ts";
import type { ResourceClient } from "../client/resource_client.ts";
import { parsesObjects } from "../entry/path.ts";
import { ConsoleReporter, errorLine } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { IndexFunction } from "../store/indexer.ts";
import { CacheScope, OverlapFinder } from "./cache/cache_scope.ts";
import type { MemoryReport } from "./cache/lister.ts";
import { MemoryBudget } from "./cache/memory_budget.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import type { Listener } from "./events/processor.ts";
import { LabelledNamespaces, NAMESPACE_METADATA, OptionalKinds } from "./metadata_watches.ts";
import {
  type AnyOptions,
  CACHE_DEFAULTS,
  type CachedSelection,
  FACTORY_OPTIONS,
  type NamespacesByLabel,
  PLACED_OPTIONS,
  type SharedIndexInformerOptions,
  type SharedInformerFactoryOptions,
} from "./options.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";
import { SnapshotKeepers } from "./snapshot_keeper.ts";
import { type InformerStatus, joined, WaitError } from "./status.ts";
import { CacheView, type ViewOptions } from "./view/cache_view.ts";

/**
 * One holder of a shared informer, made by `SharedInformerFactory.acquire()`.
 *
 * Disposing it gives the informer back, and ends what was begun here: handlers are removed (a running call continues,
 * with its signal aborted), iterators and views end, and {@linkcode signal} aborts, which ends waits of the informer
 * that were given it. Then its other members throw; a second disposal does nothing.
 */
export class AcquiredInformer<T extends KubernetesObject, Name extends string = never> implements Disposable {
  readonly #name: string;
  readonly #job = new AbortController();
  /** `undefined` from the disposal on, so that a holder which is kept does not keep the cache. */
  #informer: SharedIndexInformer<T, Name> | undefined;
  readonly #release: () => void;

  /** Holds `informer`, called `name` in errors, until the disposal calls `release`. */
  constructor(informer: SharedIndexInformer<T, Name>, name: string, release: () => void) {
    this.#informer = informer;
    this.#name = name;
    this.#release = release;
  }

  /** The informer, which runs at least until the disposal. After a pause it is `stale` until the watch is open. */
  get informer(): SharedIndexInformer<T, Name> {
    if (this.#informer === undefined) throw this.#disposed();
    return this.#informer;
  }

  /** Aborts when the holder is disposed: for the waits of {@linkcode informer}. */
  get signal(): AbortSignal {
    return this.#job.signal;
  }

  /** See `SharedIndexInformer.addEventHandler()`. The disposal removes the handler. */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#bound(this.informer.addEventHandler(handler, options));
  }

  /** See `SharedIndexInformer.events()`. The disposal ends the iterator. */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#bound(this.informer.events(options));
  }

  /** See `SharedIndexInformer.view()`. The disposal ends the view. */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    return new CacheView<T>(this, options);
  }

  /** Gives the informer back. */
  [Symbol.dispose](): void {
    if (this.#informer === undefined) return;
    this.#informer = undefined;
    this.#job.abort(this.#disposed());
    this.#release();
  }

  #disposed(): Error {
    return new DOMException(`Cannot use the informer of "${this.#name}": this holder was disposed`, "AbortError");
  }

  /** Returns what the informer has returned, a {@linkcode PolledIterator} or a {@linkcode Listener}, ended here too. */
  #bound<R>(begun: R): R {
    (begun as R & Pick<Listener<T> | PolledIterator<unknown>, "endWith">).endWith(this.signal);
    return begun;
  }
}

/** The end of an informer: its failure, if it has failed. */
type InformerEnd = Promise<{ readonly error: unknown } | undefined>;

/** One `run()` of a factory: the informers that run in it, to which more may be added, and their common end. */
class FactoryRun {
  readonly #job: DerivedController;
  readonly #ended = new Latch();
  /** Has an informer if and only if it has not ended. */
  readonly #running = new Set<InformerEnd>();
  /** The first failure of an informer. */
  #failure: { readonly error: unknown } | undefined;

  /** Stops with `signal`. */
  constructor(signal?: AbortSignal) {
    this.#job = new DerivedController(signal);
    if (this.#job.signal.aborted) this.#check();
    else this.#job.signal.addEventListener("abort", () => this.#check(), { once: true });
  }

  /** Stops the informers: aborted with the signal of the run, by `stop()`, and by the failure of an informer. */
  get signal(): AbortSignal {
    return this.#job.signal;
  }

  /**
   * Resolves once the run was stopped and all informers have ended; rejects then with the first failure, if there is
   * one.
   */
  get ended(): Promise<void> {
    return this.#ended.wait();
  }

  /** Adds a running informer. */
  add(end: InformerEnd): void {
    this.#running.add(end);
    void end.then((failure) => {
      this.#running.delete(end);
      if (failure !== undefined) {
        this.#failure ??= failure;
        this.stop();
      }
      this.#check();
    });
  }

  /** Stops all informers. */
  stop(): void {
    if (!this.#job.signal.aborted) this.#job.abort(new DOMException("The run of the factory has ended", "AbortError"));
  }

  #check(): void {
    if (!this.#job.signal.aborted || this.#running.size > 0) return;
    if (this.#failure === undefined) this.#ended.open();
    else this.#ended.fail(this.#failure.error);
  }
}

/**
 * The state of a {@linkcode Demand}.
 *
 * - `held`: there are holders.
 * - `idle`: there are none, for less than `idleTimeoutMs`.
 * - `paused`: there were none for `idleTimeoutMs`, and have been none since then.
 * - `over`: there were none for `cacheTtlMs` more, or the demand was ended.
 */
type DemandState = "held" | "idle" | "paused" | "over";

/**
 * Counts the holders of an informer, pauses and resumes it, and says when it is to be forgotten.
 *
 * | in | event | next | call |
 * | --- | --- | --- | --- |
 * | held | acquire; release, but not of the last holder | held | |
 * | held | release of the last holder | idle | |
 * | idle | acquire | held | |
 * | idle | `idleTimeoutMs` are over | paused | `pause` |
 * | paused | acquire | held | `resume` |
 * | paused | `cacheTtlMs` are over | over | `forget` |
 * | any | end | over | |
 */
export class Demand {
  readonly #informer: Pick<SharedIndexInformer<KubernetesObject>, "pause" | "resume">;
  readonly #times: Required<Pick<SharedInformerFactoryOptions, "idleTimeoutMs" | "cacheTtlMs">>;
  readonly #forget: () => void;
  /**
   * `#timer` is armed if and only if `#state` is `idle`, from the first release on, or `paused`, and that time is
   * finite.
   */
  readonly #timer = new LongTimer(() => this.#elapsed());
  /** `#holders` is above 0 if `#state` is `held`, and 0 if it is `idle` or `paused`. */
  #holders = 0;
  #state: DemandState = "idle";

  /** There is no holder, and no time runs before the first one. */
  constructor(
    informer: Pick<SharedIndexInformer<KubernetesObject>, "pause" | "resume">,
    times: Required<Pick<SharedInformerFactoryOptions, "idleTimeoutMs" | "cacheTtlMs">>,
    forget: () => void,
  ) {
    this.#informer = informer;
    this.#times = times;
    this.#forget = forget;
  }

  /** The present state. */
  get state(): DemandState {
    return this.#state;
  }

  /** Adds a holder, until the returned function is called. Only the first call of that counts. */
  acquire(): () => void {
    this.#holders++;
    const before = this.#state;
    if (before !== "over") this.#enter("held");
    if (before === "paused") this.#informer.resume();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#holders--;
      if (this.#holders === 0 && this.#state === "held") this.#enter("idle");
    };
  }

  /** Ends the demand: nothing is called from now on. */
  end(): void {
    this.#enter("over");
  }

  #enter(state: DemandState): void {
    const { idleTimeoutMs, cacheTtlMs } = this.#times;
    this.#state = state;
    this.#timer.arm(state === "idle" ? idleTimeoutMs : state === "paused" ? cacheTtlMs : Infinity);
  }

  #elapsed(): void {
    if (this.#state === "idle") {
      this.#enter("paused");
      this.#informer.pause();
    } else if (this.#state === "paused") {
      this.#enter("over");
      this.#forget();
    }
  }
}

/**
 * Returns `true` if two values of an option mean the same: they are equal, or plain objects or arrays whose members
 * mean the same. Functions and other objects are compared by identity; a member that is `undefined` counts as absent.
 */
function sameOption(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => sameOption(a[name], b[name]));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null &&
    (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);
}

type Options = SharedIndexInformerOptions<KubernetesObject, string>;

/**
 * The options that all callers of one informer must agree on: all but the indexes, which are joined, and those that
 * make another informer.
 */
const COMPARED: { readonly [Name in Exclude<keyof Options, "indexers" | "secretData" | "shard">]-?: true } = {
  transform: true,
  managedFields: true,
  secretAnnotations: true,
  parse: true,
  freeze: true,
  resyncMs: true,
  reflector: true,
  graceMs: true,
  consistencyCheck: true,
  cluster: true,
  onError: true,
  deliverUnchanged: true,
  pollMs: true,
  optional: true,
};

/** An informer of a factory, which runs once, for all callers that ask for the same objects. */
interface SharedInformer {
  /** The objects that are cached. */
  readonly scope: CacheScope<Resource>;
  readonly informer: SharedIndexInformer<KubernetesObject, string>;
  /** The options that the informer was made with, defaults included. */
  readonly options: Options;
  /** Those of all callers. */
  readonly indexers: Map<string, IndexFunction<KubernetesObject>>;
  /** Pauses the informer while it has no holder. */
  readonly demand: Demand;
  /** `true` if it runs as long as the factory: then the demand never ends. */
  isKept: boolean;
  /** The number of its followers, see {@linkcode SharedInformerFactory.follow}. */
  followers: number;
  /** Set once it was started. */
  running: InformerEnd | undefined;
  /** The run of the factory that it stops with. */
  run: FactoryRun | undefined;
}

/** Adds a caller's indexers. @throws {Error} when its options contradict those of the first caller. */
function join({ scope, informer, options, indexers }: SharedInformer, own: Options): void {
  const name = resourceName(scope.resource);
  for (const option of Object.keys(COMPARED) as (keyof typeof COMPARED)[]) {
    if (own[option] === undefined || sameOption(own[option], options[option])) continue;
    throw new Error(`Cannot share the informer of "${name}": option "${option}" is not what the first caller gave`);
  }
  const added: [string, IndexFunction<KubernetesObject>][] = [];
  for (const [index, valuesOf] of Object.entries(own.indexers ?? {})) {
    const known = indexers.get(index);
    if (known === valuesOf || (!parsesObjects(valuesOf) && String(known) === String(valuesOf))) continue;
    if (known !== undefined) {
      throw new Error(`Cannot share the informer of "${name}": index "${index}" has another function already`);
    }
    added.push([index, valuesOf]);
  }
  if (added.length === 0) return;
  informer.withIndexers(Object.fromEntries(added));
  for (const [index, valuesOf] of added) indexers.set(index, valuesOf);
}

/** Returns `true` for an informer that runs with the factory, and not for its holders alone. */
function isWanted({ isKept, followers }: SharedInformer): boolean {
  return isKept || followers > 0;
}

/** Stops an informer. The error of stopping is that of its run. */
function stop({ informer }: SharedInformer): void {
  informer[Symbol.asyncDispose]().then(undefined, () => undefined);
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

/**
 * The type of the objects that an informer of `Resource<T>` caches:
 *
 * - with the option `fields`, whose paths are `P`, the objects have only these fields, see `onlyFields()`;
 * - Secrets have no data, unless the option `secretData`, whose type is `D`, is `"keep"`;
 * - otherwise the objects are complete.
 *
 * In a generic function the compiler does not know whether `T` is a Secret. Name the informer's objects `Cached<T>`
 * there, or give `secretData: "keep"`, with which they are `T`.
 */
export type Cached<T extends KubernetesObject, P extends readonly string[] = never, D = undefined> = [P] extends [never]
  ? D extends "keep" ? T : T extends SecretLike ? WithoutData<T> : T
  : Picked<T, P>;

/** The options of `forResource()` and `acquire()`. Functions among them receive the objects that are cached. */
export type CachedOptions<T extends KubernetesObject, Name extends string, P extends readonly string[], D> =
  & CachedSelection
  & SharedIndexInformerOptions<Cached<T, P, D>, Name>
  & {
    /** This option also decides whether the type of Secrets has the data. */
    readonly secretData?: D;
    /** The paths of the fields that are kept, as in `onlyFields`: `["spec.nodeName", "spec.containers.image"]`. */
    readonly fields?: P;
  }
  // Not `P & FieldPaths<T, P>`: of an optional union of lists, the compiler would infer the first list as P.
  & { readonly fields?: FieldPaths<T, P> };

/** The options whose namespaces are named. */
type PlacedOptions = Omit<AnyOptions, "namespaces"> & Selection & { readonly readable?: true };

/** The options of a factory whose namespaces are named. */
type FactoryOptions = Omit<SharedInformerFactoryOptions, "namespaces"> & Selection;

/** Returns the way to find namespaces that are not named. @throws {TypeError} where it is not known. */
function findingOf(namespaces: CachedSelection["namespaces"]): "readable" | NamespacesByLabel | undefined {
  if (namespaces === undefined || namespaces === "readable") return namespaces;
  if (typeof namespaces === "object") return "labels" in namespaces ? namespaces : undefined;
  throw new TypeError(
    `Cannot read namespaces: found ${JSON.stringify(namespaces)}, expected names, { labels } or "readable"`,
  );
}

/**
 * Makes informers and shares them: one per resource and selection, however many callers ask for it.
 *
 * An informer of `forResource()` runs from `start()` on, as long as the factory. One of `acquire()` runs while it has
 * holders, and somewhat longer, as `idleTimeoutMs` and `cacheTtlMs` say.
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
  /** The way to find the namespaces of informers that name none. */
  readonly #finding: "readable" | NamespacesByLabel | undefined;
  /** The namespaces by their labels. */
  readonly #labelled = new Map<string, LabelledNamespaces>();
  /** Keeps snapshots of the caches, if the factory does. */
  readonly #keepers: SnapshotKeepers | undefined;
  /**
   * Has an informer from its first `forResource()` or `acquire()` until it is forgotten, or replaced after it has
   * stopped.
   */
  readonly #informers = new Map<string, SharedInformer>();
  /** The informers whose kinds the server need not have. */
  readonly #optional = new OptionalKinds(
    (definitions) => this.#client.resource(definitions),
    (error, definitions) => this.#report(error, definitions),
  );
  /** Counts the bytes of the caches, if they have a limit. */
  readonly #budget: MemoryBudget | undefined;
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
      "plural" in source ? source : this.#given(source).scope.resource as unknown as Resource<T>,
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
      const shared = "plural" in source ? this.#shared(source, options as unknown as AnyOptions) : this.#given(source);
      const release = shared.demand.acquire();
      shared.followers++;
      if (this.#run !== undefined) this.#start(shared, this.#run);
      return {
        informer: shared.informer as unknown as SharedIndexInformer<T, string>,
        release: (): void => {
          release();
          shared.followers--;
          if (shared.demand.state === "held") return;
          shared.demand.end();
          this.#informers.delete(shared.scope.name);
          stop(shared);
        },
      };
    },
    /**
     * Returns the namespaces that an informer with these options is limited to; `undefined` if it has all, or those
     * that it finds.
     */
    namespacesFor: (
      { scope }: Resource,
      { namespace, namespaces }: { readonly namespace?: string; readonly namespaces?: CachedSelection["namespaces"] },
    ): readonly string[] | undefined => {
      if (scope === "Cluster" || findingOf(namespaces) !== undefined) return undefined;
      const own = namespacesOf({ namespace, namespaces: namespaces as readonly string[] | undefined });
      return own ?? (namespace === "" || this.#finding !== undefined ? undefined : namespacesOf(this.#options));
    },
  };

  /**
   * Makes a factory without informers. The caller disposes the client.
   *
   * @throws {TypeError} when the namespaces contradict each other, see `namespacesOf()`.
   * @throws {SyntaxError} when a selector does not parse.
   * @throws {RangeError} when `idleTimeoutMs`, `cacheTtlMs`, `intervalMs` or `maxBytes` is out of range.
   */
  constructor(client: Client, given: SharedInformerFactoryOptions = {}) {
    checkNames("make a factory", given, `${FACTORY_OPTIONS} cluster`);
    const { namespaces, ...rest } = given;
    const finding = this.#finding = findingOf(namespaces);
    const options = finding === undefined ? given as FactoryOptions : rest;
    if (typeof finding === "object") checkSelectors({ labelSelector: finding.labels });
    namespacesOf(options);
    checkSelectors(options);
    checkDurations("make a factory", { idleTimeoutMs: options.idleTimeoutMs, cacheTtlMs: options.cacheTtlMs });
    checkDurations("make a factory", { intervalMs: options.snapshots?.intervalMs }, { min: 1 });
    const { maxBytes } = options;
    this.#client = client;
    this.#options = options;
    if (maxBytes !== undefined) {
      this.#budget = new MemoryBudget(maxBytes, (warning, resource) => this.#report(warning, resource));
    }
    this.#keepers = options.snapshots &&
      new SnapshotKeepers(options.snapshots, client, (error, resource) => this.#report(error, resource));
  }

  /**
   * Returns the informer of a resource and selection: the first call makes it, later calls return the same. While
   * `run()` runs, the informer starts at once; otherwise call `run()` afterwards, or `start()` again.
   *
   * - The type of the cached objects follows from the resource and the options, see `Cached` in
   *   `@kube/informer/types`.
   * - `indexers` of a later call are added to the existing ones; the same function under the same name is added once.
   * - With `namespaces`, one informer lists and watches each namespace separately. Their order does not matter, and a
   *   list of one namespace means the same as `namespace`. Either option replaces both options of the factory. A
   *   cluster-scoped resource ignores them.
   * - Another informer caches the objects of each `shard`, and Secrets with `secretData: "keep"`.
   * - With `fields`, the informer is the one of `onlyFields(resource, fields)`: another one than the informer of the
   *   complete objects, and the same for paths that keep the same fields.
   *
   * @throws {Error} when an option differs from that of the first call, or an index has the name of another function's;
   * when the factory was shut down. An option that is left out never differs.
   * @throws {TypeError} when the namespaces contradict each other, see `namespacesOf()`, or cannot be part of a path.
   * @throws {SyntaxError} when a selector does not parse.
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
  >(
    resource: Resource<T> | ApiResource,
    options: CachedOptions<T, Name, P, D> = {},
  ): SharedIndexInformer<Cached<T, P, D>, Name> {
    const shared = this.#shared(resource, options as AnyOptions);
    if (!shared.isKept) shared.demand.acquire(); // never released
    shared.isKept = true;
    if (this.#run !== undefined) this.#start(shared, this.#run);
    return shared.informer as unknown as SharedIndexInformer<Cached<T, P, D>, Name>;
  }

  #given(source: unknown): SharedInformer {
    const shared = [...this.#informers.values()].find(({ informer }) => informer as unknown === source);
    if (shared !== undefined) return shared;
    throw new TypeError("Cannot watch an informer: this factory has not made it. Create it with forResource()");
  }

  /** The informer of a resource and selection, which is made if it is not there. */
  #shared(resource: Resource | ApiResource, options: AnyOptions): SharedInformer {
    const placed = this.#placed(resource, options);
    const scope = this.#scopeOf(resource, placed);
    const shared = this.#informers.get(scope.name) ?? this.#create(scope, placed);
    join(shared, placed);
    return shared;
  }

  /**
   * Returns a holder of the informer of a resource and selection, which runs, without `start()`, while it has holders:
   * dispose it with `using`. Options are those of `forResource()`, and are shared with its callers.
   *
   * `idleTimeoutMs` after the last holder was disposed the watch ends, and the cache is kept; `cacheTtlMs` later it is
   * dropped. A holder that comes before that reads the cache at once (`status()` calls it `stale`, with its age), while
   * the watch resumes without a list. If the server has that version no longer, the collection is listed, and handlers
   * receive the difference.
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
    const placed = this.#placed(resource, options as AnyOptions);
    const scope = this.#scopeOf(resource, placed);
    const known = this.#informers.get(scope.name);
    const isUsable = known !== undefined && known.informer.status().state !== "stopped";
    if (!isUsable) known?.demand.end();
    const shared = isUsable ? known : this.#create(scope, placed);
    const release = shared.demand.acquire();
    try {
      join(shared, placed);
    } catch (error) {
      release();
      throw error;
    }
    this.#start(shared, {});
    const informer = shared.informer as unknown as SharedIndexInformer<Cached<T, P, D>, Name>;
    return new AcquiredInformer(informer, resourceName(scope.resource), release);
  }

  /**
   * Starts the informers of `forResource()` that have not been started. They stop when the signal aborts, and by
   * `shutdown()`.
   *
   * @throws {Error} when the factory was shut down.
   */
  start(options: Abortable = {}): void {
    checkNames("start informers", options, "signal");
    if (this.#isShutDown) throw new Error("Cannot start informers: the factory was shut down");
    for (const shared of this.#informers.values()) if (isWanted(shared)) this.#start(shared, options);
  }

  /**
   * Runs the informers until the signal aborts or the factory is shut down, and resolves when all have stopped. It
   * starts those that have not been started, and those that `forResource()` is asked for meanwhile. Those of
   * `acquire()` alone follow their holders, and end with `shutdown()`.
   *
   * A server that refuses or cannot be reached does not end it: the informers retry, and report to `onError`. For a
   * program that must end then, there is {@linkcode waitForCacheSync}.
   *
   * With `syncTimeoutMs`, the first sync of these informers may take that long, in milliseconds.
   *
   * @throws {Error} when the factory runs or was shut down already.
   * @throws {RangeError} when `syncTimeoutMs` is out of range.
   * @throws {WaitError} that names the informers which have not synced within `syncTimeoutMs`, and why; then it stops
   * all of them first.
   * @throws the error of an informer that ends for another reason than the signal, or of handlers whose calls have not
   * returned within `graceMs`; then it stops the others first.
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
    if (this.#run !== undefined) throw new Error("Cannot run informers: the factory is running already");
    const run = this.#run = new FactoryRun(signal);
    try {
      for (const shared of this.#informers.values()) if (isWanted(shared)) this.#start(shared, run);
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
   * Resolves once all informers have synced, but for those of `acquire()` that have no holder.
   *
   * @throws {Error} when an informer has not been started.
   * @throws as `SharedIndexInformer.waitForCacheSync()`, for the first wait that fails.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    checkNames("wait for a sync", options, "signal patient");
    const all = [...this.#informers.values()].filter(({ demand }) => demand.state === "held");
    const idle = all.filter(({ running }) => running === undefined).map(({ scope }) =>
      `"${resourceName(scope.resource)}"`
    );
    if (idle.length > 0) {
      throw new Error(`Cannot wait for ${idle.join(", ")}: not started; call start() after the last forResource()`);
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

  /** Returns the status of each informer, in the order in which they were made. */
  status(): InformerOfFactory[] {
    return Array.from(this.#informers.values(), ({ scope: { resource, selection }, informer }) => {
      return { resource, selection, status: informer.status() };
    });
  }

  /** Calls `SharedIndexInformer.measureDelivery()` of each informer, also of those that are made later. */
  measureDelivery(): void {
    this.#measuresDelivery = true;
    for (const { informer } of this.#informers.values()) informer.measureDelivery();
  }

  /** The bytes that all caches may hold, see the option; `undefined` without it. */
  get maxBytes(): number | undefined {
    return this.#budget?.maxBytes;
  }

  /**
   * Changes that limit. Informers that it had ended list again, if there is room now.
   *
   * @throws {RangeError} when it is no whole number above 0.
   * @throws {TypeError} when the factory has no option `maxBytes`, so that nothing was counted.
   */
  set maxBytes(maxBytes: number) {
    if (this.#budget === undefined) {
      throw new TypeError("Cannot set maxBytes: the factory counts nothing; give it the option maxBytes");
    }
    this.#budget.maxBytes = maxBytes;
  }

  /** The bytes that all caches hold, as they are counted for `maxBytes`; `undefined` without that option. */
  get countedBytes(): number | undefined {
    return this.#budget?.bytes;
  }

  /** Returns the sizes of the objects that each informer caches, in the same order. */
  memory(): MemoryOfInformer[] {
    return Array.from(this.#informers.values(), ({ scope: { resource, selection }, informer }) => {
      return { resource, selection, memory: informer.memory() };
    });
  }

  /**
   * Stops all informers, ends {@linkcode run}, and waits up to `graceMs` for running calls of their handlers; from
   * inside a handler it does not wait for that call, see the disposal of `SharedIndexInformer`.
   *
   * @throws {Error} that names the handlers whose calls have not returned by then, unless `run()` has.
   */
  shutdown(): Promise<void> {
    this.#isShutDown = true;
    this.#run?.stop();
    for (const { demand } of this.#informers.values()) demand.end();
    this.#keepers?.abandon();
    return this.#stopAll(); // each time: a call from inside a handler waits for fewer calls
  }

  /** Shuts the factory down; see {@linkcode shutdown}. */
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
    const results = await Promise.allSettled(
      [...this.#informers.values()].map(({ informer }) => informer[Symbol.asyncDispose]()),
    );
    await this.#optional[Symbol.asyncDispose]();
    await this.#keepers?.end();
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
   * Returns the options with the shard that stands for namespaces by label, or with `readable`.
   *
   * @throws {TypeError} beside another shard or a namespace.
   */
  #placed({ scope, plural }: Resource, own: AnyOptions): PlacedOptions {
    checkNames(`make an informer of "${plural}"`, own, PLACED_OPTIONS);
    const { namespaces, ...options } = own;
    const isPlaced = own.namespace !== undefined || Array.isArray(namespaces) || own.shard !== undefined;
    const finding = findingOf(namespaces) ?? (isPlaced ? undefined : this.#finding);
    if (finding === undefined || scope === "Cluster") {
      return findingOf(namespaces) === undefined ? own as PlacedOptions : options;
    }
    if (own.shard !== undefined || own.namespace !== undefined) {
      const name = finding === "readable" ? `that are readable` : `of "${finding.labels}"`;
      throw new TypeError(
        `Cannot select the namespaces ${name}: found a namespace or a shard beside them; leave one out`,
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
      : onlyFields<KubernetesObject, readonly string[]>(complete as Resource<KubernetesObject>, fields);
    if (this.#isShutDown) throw new Error("Cannot make an informer: the factory was shut down");
    return CacheScope.inFactory(resource, own, this.#options);
  }

  /** Makes an informer with the options of the first caller, but for its indexers, which {@linkcode join} adds. */
  #create(
    scope: CacheScope<Resource>,
    { fields: _fields, indexers: _indexers, readable, ...own }: PlacedOptions,
  ): SharedInformer {
    const { onError, idleTimeoutMs = 30_000, cacheTtlMs = 300_000, ...rest } = this.#options;
    const { snapshots: _snapshots, maxBytes: _max, ...defaults } = rest;
    const { resource, parts } = scope;
    const reduction = resource.fields === undefined ? {} : { deliverUnchanged: false };
    const options: Options = { ...CACHE_DEFAULTS, ...defined(defaults), ...reduction, ...defined(own) };
    const sourceOf = (part: Selection): ResourceClient<KubernetesObject> =>
      this.#client.resource(resource as Resource<KubernetesObject>, part);
    const sources = parts.map((part) => ({ namespace: part.namespace ?? "", source: sourceOf(part) }));
    const finder = readable && {
      find: (wait: Abortable) => readablePart(this.#client, [resource], wait),
      sourceOf: (namespace: string) => sourceOf({ ...parts[0], namespace }),
    };
    const informer = new SharedIndexInformer<KubernetesObject>(sources.length === 1 ? sources[0].source : sources, {
      ...options,
      onError: (error: unknown): void => {
        callObserver(() => own.onError?.(error));
        if (own.onError === undefined || onError !== undefined) this.#report(error, resource);
      },
    }, defined({ budget: this.#budget, finder })) as SharedIndexInformer<KubernetesObject, string>;
    if (this.#measuresDelivery) informer.measureDelivery();
    const demand = new Demand(informer, { idleTimeoutMs, cacheTtlMs }, () => {
      this.#informers.delete(scope.name);
      stop(shared);
    });
    const shared: SharedInformer = {
      scope,
      informer,
      options,
      demand,
      indexers: new Map(),
      isKept: false,
      followers: 0,
      running: undefined,
      run: undefined,
    };
    const others = Array.from(this.#informers.values(), ({ scope }) => scope).filter(({ name }) => name !== scope.name);
    const overlap = this.#overlaps.find(scope, others);
    if (overlap !== undefined) this.#report(overlap, resource);
    this.#informers.set(scope.name, shared);
    if (options.optional) void this.#optional.follow(resource, informer);
    return shared;
  }

  /**
   * Starts an informer, unless it was started. It stops with a run of the factory; without one nobody awaits its end,
   * and its failure is reported.
   */
  #start(shared: SharedInformer, by: Abortable | FactoryRun): void {
    const run = by instanceof FactoryRun ? by : undefined;
    const wasStarted = shared.running !== undefined;
    if (run === undefined ? wasStarted : shared.run === run) return;
    const { informer, scope, options, options: { graceMs = CACHE_DEFAULTS.graceMs } } = shared;
    const { signal } = by;
    const keepers = options.pollMs === undefined ? this.#keepers : undefined;
    shared.running ??= (keepers?.run(informer, scope, { signal, graceMs }) ?? informer.run({ signal }))
      .then(() => undefined, (error) => ({ error }));
    if (run === undefined) {
      return void shared.running.then((failure) => {
        if (failure !== undefined) this.#report(failure.error, scope.resource);
      });
    }
    shared.run = run;
    run.add(shared.running);
    if (!wasStarted) return;
    if (run.signal.aborted) return stop(shared);
    const ended = (): void => stop(shared);
    run.signal.addEventListener("abort", ended, { once: true });
    void shared.running.then(() => run.signal.removeEventListener("abort", ended));
  }

  #report(error: unknown, resource: Resource): void {
    const { onError = (error) => this.#reporter.report(`informer of "${resourceName(resource)}"`, error) } =
      this.#options;
    callObserver(() => onError(error, resource));
  }
}
