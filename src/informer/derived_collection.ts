/**
 * Collections that are computed from others.
 *
 * {@linkcode derive} and {@linkcode deriveGroups} are the entry points. Store, events, lister and views are the ones
 * that informers have; `derivation.ts` calls the function and finds out which calls are due.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { type Abortable, defined } from "../api/options.ts";
import { checkDurations } from "../async/checks.ts";
import { Latest } from "../async/iterate.ts";
import { errorObserver } from "../errors/errors.ts";
import { withErrorJson } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { Indexers, ReadonlyIndexer } from "../store/indexer.ts";
import type { Lister } from "./cache/lister.ts";
import { ObjectCache } from "./cache/object_cache.ts";
import { CacheView, type OrderedView, type ViewOptions } from "./cache_view.ts";
import {
  Derivation,
  type DerivationError,
  type DerivationInput,
  type FollowedCollection,
  type ReadQuery,
} from "./derivation.ts";
import type { HandlerOptions, HandlerRegistration, InformerEvent, ResourceEventHandler } from "./events/event.ts";
import { Processor } from "./events/processor.ts";
import { CACHE_DEFAULTS } from "./options.ts";
import type { IndexedCollection } from "./readable_collection.ts";
import { type InformerStatus, InformerWaits, joined } from "./status.ts";
import { StateKeeper } from "./sync/state.ts";

/** An object of a derived collection: it has a name, which together with the namespace is its key. */
export interface DerivedObject {
  /** The identity, and the labels that selectors match. */
  readonly metadata: {
    /** The name; unique among the objects of one namespace. */
    readonly name: string;
    /** The namespace, where the object is in one. */
    readonly namespace?: string;
    /** Names and values that label selectors match. */
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/**
 * Reads another collection for the call in progress, which is made again when the result may be another one:
 *
 * | query | result | the call is made again when |
 * | --- | --- | --- |
 * | `{ key }` | the object, or `undefined` | that object changes |
 * | `{ index, value }` | those with the index value | one that has the value, or had it before, changes |
 * | `{ labelSelector, fieldSelector, namespace }`, any of them or none | those that are selected | one that is selected, or was before, changes |
 * | `{ where }` | those for which the predicate holds | any object changes |
 *
 * It throws an error for an unknown index, a selector that does not parse, a collection that is itself computed from
 * the result, and once the call has returned.
 */
export interface ReadObjects {
  /** Returns the object of a key; `undefined` if there is none. */
  <T>(source: IndexedCollection<T, string>, query: { readonly key: ObjectKey | undefined }): T | undefined;
  /** Returns the objects that a query selects. */
  <T, Name extends string>(
    source: IndexedCollection<T, Name>,
    query: Exclude<ReadQuery<T, NoInfer<Name>>, { readonly key: unknown }>,
  ): T[];
}

/** The second argument of the function of a derived collection. */
export interface DeriveContext {
  /** Reads another collection, see {@linkcode ReadObjects}. */
  readonly read: ReadObjects;
}

/** Objects that have an index value in common. */
export interface ObjectGroup<T> {
  /** The index value. */
  readonly value: string;
  /** The objects, in no particular order; at least one. */
  readonly objects: readonly T[];
}

/** The output of an input: an object, several, or none. */
export type Derived<T extends DerivedObject> = T | readonly T[] | undefined;

/** Options of a derived collection. */
export interface DeriveOptions<T extends DerivedObject, Name extends string = never> {
  /** Its name in status and errors. @default {`derived from "pods"`, by the input} */
  readonly name?: string;
  /** Index functions by name. An object for which one throws is missing from that index, and the error is reported. */
  readonly indexers?: Indexers<T, Name>;
  /** The resync period of handlers that name none, in milliseconds; 0 or `Infinity` is never. @default {0} */
  readonly resyncMs?: number;
  /** The time that stopping waits for running calls of handlers, in milliseconds. @default {10_000} */
  readonly graceMs?: number;
  /**
   * Called with each error: of the function, of two inputs with one output key, of handlers and index functions. Its
   * return value is ignored.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown) => unknown;
}

/** The status of a derived collection at one moment. */
export interface DerivedStatus extends
  Pick<
    InformerStatus,
    "state" | "since" | "cause" | "notLiveSince" | "staleForMs" | "objects" | "errors" | "handlers"
  > {
  /** Always `""`: what is computed from several collections has no version. */
  readonly resourceVersion: "";
  /** The number of changes of objects. */
  readonly events: number;
  /** The number of inputs for which the function is to be called. */
  readonly due: number;
  /**
   * The time that the objects have been behind the caches of their sources, in milliseconds. It counts from the moment
   * at which this collection, or a derived collection that it reads, began to have calls to make. 0 without such calls.
   */
  readonly behindMs: number;
  /** The number of inputs for which the function has thrown; the objects that it returned before have stayed. */
  readonly failing: number;
  /** The errors of the first ten of them. */
  readonly failures: readonly DerivationError[];
  /** The number of keys that several inputs have an object of; that of the first input, by its key, counts. */
  readonly conflicting: number;
  /** The first ten of these keys. */
  readonly conflicts: readonly ObjectKey[];
}

/** The number of failures and conflicts that the status names. */
const NAMED = 10;

/** Returns what a derived collection follows of a source. @throws {TypeError} when it is none. */
function checkedSource(source: unknown): AnySource {
  const { sync } = (source as Partial<AnySource> | undefined)?.[internals] ?? {};
  if (sync?.cache !== undefined) return source as AnySource;
  throw new TypeError(
    "Cannot derive a collection: the source is neither an informer nor a derived collection. Pass the result of " +
      "forResource(), or cluster(name) of a multi-cluster informer",
  );
}

/**
 * A collection whose objects are computed from those of others, made by {@linkcode derive} and
 * {@linkcode deriveGroups}. It is read as an informer is: by handlers, events, a lister, indexes and views.
 *
 * - It has synced when all inputs have been computed, and all that they fetched has synced. An output that needs a
 *   collection which has not synced is not there yet, or stays as it is.
 * - It follows its sources in later turns of the event loop: a turn takes all changes so far. It waits for the derived
 *   collections that it reads, for a second at most, so what is derived from one change by several ways is computed
 *   once.
 * - Collections take turns of some 5 ms, so that a busy one delays no other for long. `status()` says how far it is
 *   behind: `due` and `behindMs`.
 * - An output that equals the one before, by its members, leads to no event.
 * - Its state is the worst of its sources. When its input stops, it stops.
 * - Its objects have no version: it has no snapshots, checks, waits for versions, or durable positions.
 */
export class DerivedCollection<T extends DerivedObject, Name extends string = never>
  implements IndexedCollection<T, Name>, AsyncDisposable {
  /** The objects, indexed by namespace and by `indexers`. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** The same, as entries. */
  readonly entries: ReadonlyIndexer<CacheEntry<T>, Name | "namespace">;
  /** Reads the objects by namespace, name and label selector. */
  readonly lister: Lister<T>;
  /** @internal */
  readonly [internals]: { readonly sync: FollowedCollection };

  readonly #derivation: Derivation;
  readonly #processor: Delivery<T & KubernetesObject>;
  readonly #waits: InformerWaits<T & KubernetesObject>;
  readonly #changes: Latest<DerivedStatus>;
  readonly #report: (error: unknown) => void;
  /** The collections that are read, the input first. */
  readonly #sources: AnySource[] = [];
  readonly #job = new AbortController();
  /** Set by the first disposal. */
  #end: Promise<void> | undefined;
  /** Only rises. */
  #errors = 0;

  /** @internal */
  private constructor(input: DerivationInput, compute: Compute, options: DeriveOptions<T, Name>) {
    checkNames("derive a collection", options, "name indexers resyncMs graceMs onError");
    const { name = `derived from "${input.source[internals].sync.collection.name}"`, indexers } = options;
    const { resyncMs = CACHE_DEFAULTS.resyncMs, graceMs = CACHE_DEFAULTS.graceMs } = options;
    checkDurations("derive a collection", { resyncMs, graceMs });
    const collection = { name, subject: `"${name}"`, informer: `derived collection "${name}"` };
    const observe = errorObserver(options.onError, () => collection.informer);
    const report = this.#report = (error: unknown): void => {
      this.#errors++;
      observe(error);
    };
    const cache = new ObjectCache<T & KubernetesObject>(undefined, CACHE_DEFAULTS, report);
    this.entries = cache.store;
    this.indexer = cache.indexer;
    this.lister = cache.lister;
    if (indexers !== undefined) cache.addIndexers(indexers);
    const state = new StateKeeper();
    const processor = this.#processor = new Processor<T & KubernetesObject>({
      name: collection.informer,
      cache,
      resourceVersion: () => "",
      present: () => Promise.resolve(), // positions are refused
      report,
      waitForSync: (handler, signal, call) => this.#waits.forHandler(handler, signal, call),
      resyncMs,
      graceMs,
    });
    this.#changes = new Latest(() => this.status());
    const context: DeriveContext = {
      read: ((source: AnySource, query: ReadQuery<KubernetesObject>) => {
        return this.#derivation.fetch(checkedSource(source), query);
      }) as ReadObjects,
    };
    const own: unknown = { collection, cache, processor, state };
    const sync = this.#derivation = new Derivation(own as Omit<FollowedCollection, "hasSynced">, {
      input,
      compute: (input) => compute(input as never, context),
      report,
      onSource: (source) => void this.#follow(source as AnySource),
      onSynced: () => this.#changes.changed(),
    });
    this[internals] = { sync };
    this.#waits = new InformerWaits({ collection, processor, state, partsOf: () => [] });
    sync.begin();
    processor.begin();
  }

  /** @internal */
  static [internals]<T extends DerivedObject, Name extends string>(
    input: DerivationInput,
    compute: Compute,
    options: DeriveOptions<T, Name>,
  ): DerivedCollection<T, Name> {
    return new DerivedCollection<T, Name>(input, compute, options);
  }

  /** `true` once all inputs have been computed, and all that they fetched has synced. */
  get hasSynced(): boolean {
    return this.#derivation.hasSynced;
  }

  /** Returns the present status. */
  status(): DerivedStatus {
    const { state, since, cause, notLiveSince } = this.#derivation.state;
    const failures = [...this.#derivation.failures];
    const conflicts = [...this.#derivation.conflicts];
    return withErrorJson({
      state: state === "live" && !this.hasSynced ? "listing" : state,
      since,
      ...defined({ cause, notLiveSince }),
      ...(notLiveSince === undefined || !this.hasSynced ? {} : { staleForMs: Date.now() - notLiveSince.getTime() }),
      resourceVersion: "" as const,
      objects: this.entries.size,
      events: this.#derivation.changes,
      due: this.#derivation.due,
      behindMs: this.#derivation.behindMs,
      errors: this.#errors,
      failing: failures.length,
      failures: failures.slice(0, NAMED),
      conflicting: conflicts.length,
      conflicts: conflicts.slice(0, NAMED),
      handlers: this.#derivation.processor.status,
    });
  }

  /** Yields the present status, then the newest one after changes of state; as `SharedIndexInformer` does. */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<DerivedStatus> {
    checkNames("read the status", options, "signal");
    return this.#changes.read(options);
  }

  /**
   * Calls `handler` for the objects, as added events with `initial`, then for changes; see `SharedIndexInformer`.
   *
   * @throws {Error} when the collection has stopped.
   * @throws {RangeError} when an option is out of range.
   * @throws {TypeError} when it has a checkpoint: the objects have no version.
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    this.#checkOptions(options);
    return this.#processor.add(handler, options);
  }

  /**
   * Returns the objects as events, then changes; see `SharedIndexInformer`.
   *
   * @throws {RangeError} when an option is out of range.
   * @throws {TypeError} when it has a checkpoint: the objects have no version.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    this.#checkOptions(options);
    return this.#processor.stream(options);
  }

  /**
   * Returns the objects for which `where` holds, in the order of `sortBy`; see `SharedIndexInformer`.
   *
   * @throws {SyntaxError} when a sort key is no path of a field.
   * @throws {RangeError} when the offset or limit is no count.
   * @throws {Error} when the collection has stopped.
   */
  view(options: ViewOptions<T> = {}): OrderedView<T> {
    const addEventHandler = this.#processor.add.bind(this.#processor);
    return new CacheView<T & KubernetesObject>({ addEventHandler }, options);
  }

  /**
   * Resolves with the first object, there or to come, for which the predicate holds.
   *
   * @throws {WaitError} when the signal aborts, or the collection stops first.
   * @throws an error of the predicate.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    return (await this.#waits.until(predicate, options)).object;
  }

  /**
   * Resolves when there is no object of that key: at once, if there is none when the collection has synced.
   *
   * @throws {WaitError} when the signal aborts, or the collection stops first.
   */
  untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    return this.#waits.untilDeleted(key, options);
  }

  /**
   * Resolves once {@linkcode hasSynced}.
   *
   * @throws {WaitError} when the wait for the sync of a source rejects, the signal aborts, or the collection stops
   * first.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    checkNames("wait for a sync", options, "signal patient");
    const { signal, patient } = options;
    await this.#waits.wait(`"${this.#derivation.collection.name}" to sync`, signal, async () => {
      for await (const _ of this.#changes.read({ signal })) {
        if (this.hasSynced) return;
        await joined((signal) => this.#sources.map((it) => it.waitForCacheSync({ signal, patient })), signal);
      }
      signal?.throwIfAborted();
      throw this.#waits.stopped;
    });
  }

  /**
   * Stops: it follows its sources no more, streams end, handlers are removed, and their running calls are waited for.
   * The sources are not touched; the objects can still be read.
   */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#end ??= this.#stop();
  }

  async #stop(): Promise<void> {
    const { state, processor } = this.#derivation;
    this.#job.abort(new DOMException("The derived collection was disposed", "AbortError"));
    this.#derivation[Symbol.dispose]();
    state.stopped();
    this.#changes.changed();
    this.#changes.end();
    await processor.stop(processor.caller);
  }

  /** Follows the state of a source. */
  async #follow(source: AnySource): Promise<void> {
    this.#sources.push(source);
    this.#stateChanged();
    for await (const _ of source.statusChanges({ signal: this.#job.signal })) this.#stateChanged();
    if (this.#job.signal.aborted) return;
    if (source !== this.#sources[0]) return this.#stateChanged();
    await this[Symbol.asyncDispose]().catch((error) => this.#report(error));
  }

  #stateChanged(): void {
    this.#derivation.state.follow(this.#sources.map(({ [internals]: { sync: { state } } }) => state));
    this.#changes.changed();
  }

  #checkOptions({ checkpoint }: Pick<HandlerOptions<T>, "checkpoint">): void {
    if (checkpoint === undefined) return;
    throw new TypeError(
      `Cannot use a checkpoint with ${this.#derivation.collection.informer}: its objects have no resourceVersion. ` +
        "Remove the option checkpoint",
    );
  }
}

/** Delivers the events of a collection, as a `Processor` does. */
interface Delivery<T> {
  add(handler: ResourceEventHandler<T>, options: HandlerOptions<T>): HandlerRegistration;
  stream(options: HandlerOptions<T>): AsyncIterableIterator<InformerEvent<T>>;
}

/** The function of a derived collection, whatever its inputs. */
type Compute = (input: never, context: DeriveContext) => unknown;

/** A source of any objects. */
type AnySource = IndexedCollection<never, string> & DerivationInput["source"];

/**
 * Derives a collection: calls `compute` for each object of `source`, and again when the object, or what the call has
 * fetched, changes. What it returns are the objects of the collection: one, several, or none.
 *
 * `compute` depends only on its argument, and on what it reads by {@linkcode ReadObjects}; it changes nothing, and
 * what it returns is not changed later. It cannot be async. If it throws, or returns what cannot be cached, the objects
 * that it returned before stay, the error is reported as a `DerivationError` with the key of the input, and the status
 * names it until a later call returns; no other input or collection is affected. Each object has a name of its own;
 * where two inputs return the same, the one of the first input, by its key, counts, and the conflict is reported.
 *
 * A change costs the calls that it leads to: those for objects that were fetched by key or by an index are looked up;
 * each distinct selector is tested; a predicate leads to all calls that have used one on that collection.
 *
 * @throws {TypeError} when the source is none.
 * @throws {RangeError} when an option is out of range.
 *
 * @example
 * ```ts
 * import { Client, derive, SharedInformerFactory } from "@kube/informer";
 * import { Node, Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, node, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Node, node({ name: "worker-1", labels: { zone: "a" } }));
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const nodes = informers.forResource(Node);
 * const pods = informers.forResource(Pod);
 * await using placed = derive(pods, ({ metadata: { name, namespace }, spec }, { read }) => ({
 *   metadata: { name, namespace },
 *   zone: read(nodes, { key: spec.nodeName })?.metadata.labels?.zone,
 * }), { indexers: { zone: ({ zone }) => zone === undefined ? [] : [zone] } });
 * informers.start();
 * await placed.waitForCacheSync();
 * assertEquals(placed.indexer.indexKeys("zone", "a"), ["shop/cart-0"]);
 * server.patch(Node, "worker-1", { metadata: { labels: { zone: "b" } } });
 * await placed.until(({ zone }) => zone === "b");
 * ```
 */
export function derive<I, T extends DerivedObject, Name extends string = never>(
  source: IndexedCollection<I, string>,
  compute: (object: I, context: DeriveContext) => Derived<T>,
  options: DeriveOptions<T, Name> = {},
): DerivedCollection<T, Name> {
  const { store, quarantine } = checkedSource(source)[internals].sync.cache;
  const input: DerivationInput = {
    source: source as AnySource,
    idsOf: ({ key }) => [key],
    get: (key) => {
      const entry = store.getByKey(key);
      return entry && quarantine.objectOf(entry);
    },
  };
  return DerivedCollection[internals](input, compute, options);
}

/**
 * Derives a collection from groups of objects, as {@linkcode derive} does from single ones: the objects of `source`
 * that have a value of its index `index` in common are one input, while there are any.
 *
 * @throws {TypeError} when the source is none.
 * @throws {RangeError} when the source has no such index, or an option is out of range.
 *
 * @example
 * ```ts
 * import { Client, deriveGroups, field, SharedInformerFactory } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * for (const name of ["cart-0", "cart-1"]) server.create(Pod, pod({ name, namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * const pods = informers.forResource(Pod, { indexers: { node: field("spec.nodeName") } });
 * await using loads = deriveGroups(pods, "node", ({ value, objects }) => ({
 *   metadata: { name: value },
 *   pods: objects.length,
 * }));
 * informers.start();
 * await loads.waitForCacheSync();
 * assertEquals(loads.lister.get("worker-1")?.pods, 2);
 * ```
 */
export function deriveGroups<I, Of extends string, T extends DerivedObject, Name extends string = never>(
  source: IndexedCollection<I, Of>,
  index: NoInfer<Of> | "namespace",
  compute: (group: ObjectGroup<I>, context: DeriveContext) => Derived<T>,
  options: DeriveOptions<T, Name> = {},
): DerivedCollection<T, Name> {
  const { store, indexer } = checkedSource(source)[internals].sync.cache;
  const { filed, filedBefore } = store[internals];
  store.indexValues(index); // an unknown index is refused here
  const input: DerivationInput = {
    source: source as AnySource,
    idsOf: (entry, isBefore) => isBefore ? filedBefore(index, entry) : filed(index, entry.key),
    get: (value) => {
      const objects = indexer.byIndex(index as "namespace", value);
      return objects.length === 0 ? undefined : { value, objects };
    },
  };
  return DerivedCollection[internals](input, compute, options);
}
