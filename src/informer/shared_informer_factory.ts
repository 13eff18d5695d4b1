import { type Abortable, checkSelectors, defined, type Entry, namespacesOf, type Selection } from "../api/options.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { callObserver, DerivedController, Latch } from "../async/signals.ts";
import type { PolledIterator } from "../async/iterate.ts";
import type { ReadonlyIndexer } from "../store/indexer.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import type { Lister } from "./cache/lister.ts";
import type { Listener } from "./events/listener.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import type { InformerView } from "./informer_view.ts";
import { SharedIndexInformer } from "./shared_index_informer.ts";
import { type InformerStatus, joined } from "./status.ts";
import type { CheckResult } from "./sync/consistency_check.ts";
import { CacheView, type ViewOptions } from "./view/cache_view.ts";
import { checkDurations, LongTimer } from "../async/time.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import { type ApiResource, type Resource, resourceName, type SecretLike, type WithoutData } from "../api/resource.ts";
import { parsesObjects } from "../entry/path.ts";
import type { IndexFunction } from "../store/index.ts";
import { InformerScope, OverlapFinder } from "./overlapping_caches.ts";
import { CACHE_DEFAULTS, type SharedIndexInformerOptions, type SharedInformerFactoryOptions } from "./options.ts";
import { SnapshotKeepers } from "./snapshot/snapshot_keeper.ts";
import { type FieldPaths, fieldsOf, type Kept } from "../api/fields.ts";
import type { Client } from "../client/client.ts";
import { ConsoleReporter, errorLine } from "../errors/errors.ts";
import { InformerError } from "../errors/informer_error.ts";

/** The informer of a holder, until that is disposed. */
interface Held<T extends KubernetesObject, Name extends string> {
  readonly informer: SharedIndexInformer<T, Name>;
  readonly release: () => void;
}

/**
 * One holder of a shared informer, made by `SharedInformerFactory.acquire()`; its members are those of the informer.
 *
 * Disposing it gives the informer back, and ends what was begun here: handlers are removed (a running call continues,
 * with its signal aborted), iterators and views end, waits reject. Then its members throw; a second disposal does
 * nothing.
 */
export class AcquiredInformer<T extends KubernetesObject, Name extends string = never>
  implements InformerView<T>, Disposable {
  readonly #name: string;
  /** Aborts when the holder is disposed. */
  readonly #job = new AbortController();
  /** `undefined` from the disposal on, so that a holder which is kept does not keep the cache. */
  #held: Held<T, Name> | undefined;

  /** Holds `informer`, called `name` in errors, until the disposal calls `release`. */
  constructor(informer: SharedIndexInformer<T, Name>, name: string, release: () => void) {
    this.#held = { informer, release };
    this.#name = name;
  }

  /** The cache, indexed by namespace and by `indexers`. Lists leave out objects that cannot be read. */
  get indexer(): ReadonlyIndexer<T, Name | "namespace"> {
    return this.#informer.indexer;
  }

  /** The same cache, as entries that are not parsed. */
  get entries(): ReadonlyIndexer<Entry<T>, Name | "namespace"> {
    return this.#informer.entries;
  }

  /** Reads the cache by namespace, name and label selector. */
  get lister(): Lister<T> {
    return this.#informer.lister;
  }

  /** `true` once the cache has been equal to the server; also while it is stale. */
  get hasSynced(): boolean {
    return this.#informer.hasSynced;
  }

  /** See `SharedIndexInformer.lastSyncResourceVersion`. */
  get lastSyncResourceVersion(): string {
    return this.#informer.lastSyncResourceVersion;
  }

  /** Returns the present status. After a pause the state is `stale`, with `staleMs`, until the watch is open. */
  status(): InformerStatus {
    return this.#informer.status();
  }

  /** See `SharedIndexInformer.memory()`. */
  memory(): MemoryReport {
    return this.#informer.memory();
  }

  /** See `SharedIndexInformer.statusChanges()`. */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<InformerStatus> {
    return this.#bound(this.#informer.statusChanges(options));
  }

  /** See `SharedIndexInformer.addEventHandler()`. The disposal removes the handler. */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#bound(this.#informer.addEventHandler(handler, options));
  }

  /** See `SharedIndexInformer.events()`. The disposal ends the iterator. */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#bound(this.#informer.events(options));
  }

  /** See `SharedIndexInformer.view()`. The disposal ends the view. */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    return new CacheView((handler, registered) => this.addEventHandler(handler, registered), options);
  }

  /** See `SharedIndexInformer.until()`. */
  until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    return this.#wait(options, (informer, bound) => informer.until(predicate, bound));
  }

  /** See `SharedIndexInformer.untilDeleted()`. */
  untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    return this.#wait(options, (informer, bound) => informer.untilDeleted(key, bound));
  }

  /** See `SharedIndexInformer.atLeast()`. */
  atLeast(resourceVersion: string, options: Abortable & { readonly namespace?: string } = {}): Promise<void> {
    return this.#wait(options, (informer, bound) => informer.atLeast(resourceVersion, bound));
  }

  /** See `SharedIndexInformer.waitForCacheSync()`. It resolves at once for a cache that was kept through a pause. */
  waitForCacheSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string } = {},
  ): Promise<void> {
    return this.#wait(options, (informer, bound) => informer.waitForCacheSync(bound));
  }

  /** See `SharedIndexInformer.check()`. */
  check(options: Abortable = {}): Promise<CheckResult> {
    return this.#wait(options, (informer, bound) => informer.check(bound));
  }

  /** Gives the informer back. */
  [Symbol.dispose](): void {
    if (this.#held === undefined) return;
    const { release } = this.#held;
    this.#held = undefined;
    this.#job.abort(this.#disposed());
    release();
  }

  get #informer(): SharedIndexInformer<T, Name> {
    if (this.#held === undefined) throw this.#disposed();
    return this.#held.informer;
  }

  #disposed(): Error {
    return new DOMException(`Cannot use the informer of "${this.#name}": this holder was disposed`, "AbortError");
  }

  /**
   * Returns what the informer has returned, a {@linkcode PolledIterator} or a {@linkcode Listener}, which ends with the
   * holder too.
   */
  #bound<R>(begun: R): R {
    (begun as R & Pick<Listener<T> | PolledIterator<unknown>, "endWith">).endWith(this.#job.signal);
    return begun;
  }

  async #wait<O extends Abortable, R>(
    options: O,
    wait: (informer: SharedIndexInformer<T, Name>, bound: O) => Promise<R>,
  ): Promise<R> {
    const informer = this.#informer;
    using job = new DerivedController(options.signal, this.#job.signal);
    return await wait(informer, { ...options, signal: job.signal });
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
 * - `idle`: there are none, for less than `idleMs`.
 * - `paused`: there were none for `idleMs`, and have been none since then.
 * - `over`: there were none for `forgetMs` more, or the demand was ended.
 */
type DemandState = "held" | "idle" | "paused" | "over";

/** Options for a {@linkcode Demand}. */
interface DemandOptions {
  /** The time from the last holder's release to `onPause`, in milliseconds; `Infinity` is never. */
  readonly idleMs: number;
  /** The time from `onPause` to `onForget`, in milliseconds; `Infinity` is never. */
  readonly forgetMs: number;
  /** Called when nobody has held for `idleMs`. */
  readonly onPause: () => void;
  /** Called when somebody holds again after `onPause`. */
  readonly onResume: () => void;
  /** Called once, when nobody has held for `forgetMs` after `onPause`. */
  readonly onForget: () => void;
}

/**
 * Counts the holders of something, and says when it is to be paused, resumed and forgotten.
 *
 * | in | event | next | call |
 * | --- | --- | --- | --- |
 * | held | acquire; release, but not of the last holder | held | |
 * | held | release of the last holder | idle | |
 * | idle | acquire | held | |
 * | idle | `idleMs` are over | paused | `onPause` |
 * | paused | acquire | held | `onResume` |
 * | paused | `forgetMs` are over | over | `onForget` |
 * | any | end | over | |
 */
export class Demand {
  readonly #options: DemandOptions;
  /**
   * `#timer` is armed if and only if `#state` is `idle`, from the first release on, or `paused`, and that time is
   * finite.
   */
  readonly #timer = new LongTimer(() => this.#elapsed());
  /** `#holders` is above 0 if `#state` is `held`, and 0 if it is `idle` or `paused`. */
  #holders = 0;
  #state: DemandState = "idle";

  /** There is no holder, and no time runs before the first one. */
  constructor(options: DemandOptions) {
    this.#options = options;
  }

  /** The present state. */
  get state(): DemandState {
    return this.#state;
  }

  /** Adds a holder, until the returned function is called. Only the first call of that counts. */
  acquire(): () => void {
    this.#holders++;
    const { onResume } = this.#options;
    const before = this.#state;
    if (before !== "over") this.#enter("held");
    if (before === "paused") onResume();
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
    const { idleMs, forgetMs } = this.#options;
    this.#state = state;
    this.#timer.arm(state === "idle" ? idleMs : state === "paused" ? forgetMs : Infinity);
  }

  #elapsed(): void {
    const { onPause, onForget } = this.#options;
    if (this.#state === "idle") {
      this.#enter("paused");
      onPause();
    } else if (this.#state === "paused") {
      this.#enter("over");
      onForget();
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

/** The options that all callers of one informer must agree on. */
const COMPARED = [
  "transform",
  "managedFields",
  "secretAnnotations",
  "parse",
  "freeze",
  "resyncMs",
  "reflector",
  "graceMs",
  "check",
  "onError",
  "unchanged",
] as const;

/** The connection of a {@linkcode SharedInformer} to its factory. */
interface SharedInformerContext {
  /** The options of the factory. */
  readonly defaults: SharedInformerFactoryOptions;
  /** Keeps snapshots of the caches, if the factory does. */
  readonly keepers: SnapshotKeepers | undefined;
  /** Returns the source of a part of a collection. */
  readonly sourceOf: (resource: Resource<KubernetesObject>, part: Selection) => ListerWatcher<KubernetesObject>;
  /** Receives the errors of an informer, and of one whose end nobody awaits. */
  readonly report: (error: unknown, resource: Resource) => void;
  /** Called when the informer had no holder for so long that it is to be forgotten. */
  readonly onForget: (shared: SharedInformer) => void;
}

type Options = SharedIndexInformerOptions<KubernetesObject, string>;

/** An informer of a factory, which runs once, for all callers that ask for the same objects. */
class SharedInformer {
  /** The objects that are cached. */
  readonly scope: InformerScope;
  /** The informer. */
  readonly informer: SharedIndexInformer<KubernetesObject, string>;
  /** Pauses the informer while it has no holder. */
  readonly demand: Demand;
  readonly #context: SharedInformerContext;
  /** The options that the informer was made with, defaults included. */
  readonly #options: Options;
  readonly #indexers = new Map<string, IndexFunction<KubernetesObject>>();
  /** `true` from the first {@linkcode keep} on: then the demand never ends. */
  #isKept = false;
  /** Set once it was started. */
  #running: InformerEnd | undefined;
  /** The run of the factory that it stops with. */
  #run: FactoryRun | undefined;

  /** Makes the informer with the options of the first caller, but for its indexers, which {@linkcode join} adds. */
  constructor(scope: InformerScope, own: Options, context: SharedInformerContext) {
    const { onError: _, snapshots: _snapshots, idleMs = 30_000, forgetMs = 300_000, ...defaults } = context.defaults;
    const { indexers: _indexers, ...rest } = defined(own);
    const { resource, parts } = scope;
    const reduction = resource.fields === undefined ? {} : { unchanged: "skip" as const };
    this.scope = scope;
    this.#context = context;
    this.#options = { ...CACHE_DEFAULTS, ...defined(defaults), ...reduction, ...rest };
    const sources = parts.map((part) => {
      return {
        namespace: part.namespace ?? "",
        source: context.sourceOf(resource as Resource<KubernetesObject>, part),
      };
    });
    const informer = new SharedIndexInformer<KubernetesObject>(sources.length === 1 ? sources[0].source : sources, {
      ...this.#options,
      onError: (error: unknown): void => {
        callObserver(() => own.onError?.(error));
        if (own.onError === undefined || context.defaults.onError !== undefined) context.report(error, resource);
      },
    });
    this.informer = informer as SharedIndexInformer<KubernetesObject, string>;
    this.demand = new Demand({
      idleMs,
      forgetMs,
      onPause: () => informer.pause(),
      onResume: () => informer.resume(),
      onForget: () => context.onForget(this),
    });
  }

  /** `true` once it was started. */
  get isStarted(): boolean {
    return this.#running !== undefined;
  }

  /** `true` if it runs as long as the factory. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Lets it run as long as the factory, whatever its holders. */
  keep(): void {
    if (!this.#isKept) this.demand.acquire(); // never released
    this.#isKept = true;
  }

  /** Adds a caller's indexers. @throws {Error} when its options contradict those of the first caller. */
  join(own: Options): void {
    const name = resourceName(this.scope.resource);
    for (const option of COMPARED) {
      if (own[option] === undefined || sameOption(own[option], this.#options[option])) continue;
      throw new Error(`Cannot share the informer of "${name}": option "${option}" is not what the first caller gave`);
    }
    const added: [string, IndexFunction<KubernetesObject>][] = [];
    for (const [index, valuesOf] of Object.entries(own.indexers ?? {})) {
      const known = this.#indexers.get(index);
      if (known === valuesOf || (!parsesObjects(valuesOf) && String(known) === String(valuesOf))) continue;
      if (known !== undefined) {
        throw new Error(`Cannot share the informer of "${name}": index "${index}" has another function already`);
      }
      added.push([index, valuesOf]);
    }
    if (added.length === 0) return;
    this.informer.withIndexers(Object.fromEntries(added));
    for (const [index, valuesOf] of added) this.#indexers.set(index, valuesOf);
  }

  /** Starts it, unless it was started, and reports its failure, for a caller that does not wait for its end. */
  start(options: Abortable): void {
    if (this.#running !== undefined) return;
    void this.#start(options).then((failure) => {
      if (failure !== undefined) this.#context.report(failure.error, this.scope.resource);
    });
  }

  /** Starts it, unless it was started, and lets it stop with a run. */
  enlist(run: FactoryRun): void {
    if (this.#run === run) return;
    this.#run = run;
    const wasStarted = this.#running !== undefined;
    run.add(this.#start({ signal: run.signal }));
    if (!wasStarted) return; // survives: started-by-run
    if (run.signal.aborted) this.stop();
    else run.signal.addEventListener("abort", () => this.stop(), { once: true });
  }

  /** Stops the informer. The error of stopping is that of its run. */
  stop(): void {
    this.informer[Symbol.asyncDispose]().then(undefined, () => undefined);
  }

  #start(options: Abortable): InformerEnd {
    const { keepers } = this.#context;
    return this.#running ??=
      (keepers === undefined ? this.informer.run(options) : keepers.run(this.informer, this.scope, {
        ...options,
        graceMs: this.#options.graceMs ?? CACHE_DEFAULTS.graceMs,
      }))
        .then(() => undefined, (error) => ({ error }));
  }
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
 * An informer of `forResource()` runs from `start()` on, as long as the factory. One of `acquire()` runs while it has
 * holders, and somewhat longer, as `idleMs` and `forgetMs` say.
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
  /**
   * Has an informer from its first `forResource()` or `acquire()` until it is forgotten, or replaced after it has
   * stopped.
   */
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
   * Returns the informer of a resource and selection: the first call makes it, later calls return the same. While
   * `run()` runs, it is started; otherwise call `run()` afterwards, or `start()` again.
   *
   * Indexers of a later call are added to the existing ones; the same function under the same name is added once.
   *
   * With `namespaces`, one informer lists and watches each namespace separately. Their order does not matter, and a
   * list of one namespace means the same as `namespace`. Either of the two options replaces both of the factory; a
   * cluster-scoped resource ignores them.
   *
   * An informer of Secrets without their data is another one than that with `keep: "data"`.
   *
   * With `fields`, the informer is that of `fieldsOf(resource, fields)`: another one than that of the complete objects,
   * and the same for paths that keep the same fields.
   *
   * @throws {Error} when an option differs from that of the first call, or an index has the name of another function's;
   * when the factory was shut down. An option that is left out never differs.
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
   * Returns a holder of the informer of a resource and selection, which runs, without `start()`, while it has holders:
   * dispose it with `using`. Options are those of `forResource()`, and are shared with its callers.
   *
   * `idleMs` after the last holder was disposed the watch ends, and the cache is kept; `forgetMs` later it is dropped.
   * A holder that comes before that reads the cache at once (`status()` calls it `stale`, with its age), while the
   * watch resumes without a list. If the server has that version no longer, the collection is listed, and handlers
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
   * Starts the informers of `forResource()` that have not been started. They stop when the signal aborts, and by
   * `shutdown()`.
   *
   * @throws {Error} when the factory was shut down.
   */
  start(options: Abortable = {}): void {
    if (this.#isShutDown) throw new Error("Cannot start informers: the factory was shut down");
    for (const shared of this.#informers.values()) if (shared.isKept) shared.start(options);
  }

  /**
   * Runs the informers until the signal aborts or the factory is shut down, and resolves when all have stopped. It
   * starts those that have not been started, and those that `forResource()` is asked for meanwhile. Those of
   * `acquire()` alone follow their holders, and end with `shutdown()`.
   *
   * A server that refuses or cannot be reached does not end it: the informers retry, and report to `onError`. For a
   * program that must end then, there is {@linkcode waitForCacheSync}.
   *
   * @throws {Error} when the factory runs or was shut down already.
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
   * Stops all informers, ends {@linkcode run}, and waits up to `graceMs` for running calls of their handlers; from
   * inside a handler it does not wait for that call, see the disposal of `SharedIndexInformer`.
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
