/**
 * Collections that are computed from others.
 *
 * {@linkcode derive} and {@linkcode deriveGroups} are the entry points. Store, events, lister and views are the ones
 * that informers have; `derivation.ts` calls the function and finds out which calls are due.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import { defined } from "../api/json.ts";
import type { KubernetesObject, ObjectKey } from "../api/object.ts";
import { Latest } from "../async/iterate.ts";
import { errorObserver } from "../errors/errors.ts";
import { withErrorJson } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import { type OptionTable, plainRows, readOptions } from "../errors/option_table.ts";
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
import { type InformerStatus, InformerWaiter, joined } from "./status.ts";
import { StateKeeper } from "./sync/state_keeper.ts";

/** An object in a derived collection. Its name and namespace together are its key. */
export interface DerivedObject {
  /** The object's identity, and its labels. */
  readonly metadata: {
    /** The name, unique in its namespace. */
    readonly name: string;
    /** The namespace, if the object belongs to one. */
    readonly namespace?: string;
    /** Labels, if you want to select by label. */
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/**
 * Reads another collection inside your function, and remembers what you read. When the result may have changed, your
 * function is called again:
 *
 * | you read | you get | called again when |
 * | --- | --- | --- |
 * | `{ key }` | the object, or `undefined` | this object changes |
 * | `{ index, value }` | the objects with this index value | an object changes that has the value, or had it before |
 * | `{ labelSelector, fieldSelector, namespace }`, all optional | the objects that match | an object changes that matches, or matched before |
 * | `{ where }` | the objects that the predicate accepts | any object changes |
 *
 * It throws if there is no such index, a selector does not parse, the collection depends on your result, or your
 * function has returned already.
 */
export interface ReadObjects {
  /** Returns the object with this key, or `undefined`. */
  <T>(source: IndexedCollection<T, string>, query: { readonly key: ObjectKey | undefined }): T | undefined;
  /** Returns the objects that a query selects. */
  <T, Name extends string>(
    source: IndexedCollection<T, Name>,
    query: Exclude<ReadQuery<T, NoInfer<Name>>, { readonly key: unknown }>,
  ): T[];
}

/** The second argument of the function that you give to {@linkcode derive}. */
export interface DeriveContext {
  /** Reads another collection, see {@linkcode ReadObjects}. */
  readonly read: ReadObjects;
}

/** A group: objects with the same index value. */
export interface ObjectGroup<T> {
  /** The index value. */
  readonly value: string;
  /** The objects, at least one, in no particular order. */
  readonly objects: readonly T[];
}

/** The result for one input: an object, several, or `undefined` for none. */
export type Derived<T extends DerivedObject> = T | readonly T[] | undefined;

/** Options for a derived collection. */
export interface DeriveOptions<T extends DerivedObject, Name extends string = never> {
  /** The collection's name in status and errors. The default names the input: `derived from "pods"`. */
  readonly name?: string;
  /**
   * Index functions by name. If a function throws, the object is missing from that index, and the error is reported.
   */
  readonly indexers?: Indexers<T, Name>;
  /** The resync period in milliseconds, for handlers that set none. 0 and `Infinity` mean never. @default {0} */
  readonly resyncMs?: number;
  /** How long stopping waits for running handler calls, in milliseconds. @default {10_000} */
  readonly graceMs?: number;
  /**
   * Receives each error: from your function, from handlers and index functions, and if two inputs return the same key.
   * The return value is ignored. By default each new error is written to the console in one line, and repeated at most
   * once a minute.
   */
  readonly onError?: (error: unknown) => unknown;
}

const OPTIONS = {
  ...plainRows("name indexers onError"),
  resyncMs: { default: 0, ms: {} },
  graceMs: { default: 10_000, ms: {} },
} as const satisfies OptionTable<DeriveOptions<DerivedObject>>;

/** A derived collection's status at one moment. */
export interface DerivedStatus extends
  Pick<
    InformerStatus,
    "state" | "since" | "cause" | "notLiveSince" | "staleForMs" | "objects" | "errors" | "handlers"
  > {
  /** Always `""`: the result comes from several collections, so it has no version. */
  readonly resourceVersion: "";
  /** The number of changes so far. */
  readonly events: number;
  /** The number of inputs that wait for a call of your function. */
  readonly due: number;
  /**
   * How long the result has been out of date, in milliseconds: since calls have been waiting, here or in a derived
   * collection that this one reads. 0 if no call waits.
   */
  readonly behindMs: number;
  /** The number of inputs for which your function threw. Their earlier results stay. */
  readonly failing: number;
  /** The errors for the first ten of these inputs. */
  readonly failures: readonly DerivationError[];
  /**
   * The number of keys that several inputs return. The object from the first input counts, in the order of input keys.
   */
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
 * A collection that a function computes from other collections. Create it with {@linkcode derive} or
 * {@linkcode deriveGroups}. You use it like an informer: handlers, events, a lister, indexes and views.
 *
 * - **No half joins.** It has synced when every input is computed and everything that was read has synced. A call that
 *   reads a collection before it has synced does not count, and is repeated.
 * - **No state in between.** Changes are collected, and your function runs in a later turn of the event loop. If one
 *   change arrives by two paths, it is computed once: the collection waits up to one second for the collections it
 *   reads.
 * - **Fair turns.** Each collection computes for about 5 ms, then the next one gets its turn. `status()` shows how far
 *   it lags: `due` and `behindMs`.
 * - **No event without a change.** A result that equals the previous result, member by member, causes no event.
 * - **State follows the sources.** Its state is the worst state of all sources. It stops when its input stops.
 * - **No versions.** So there are no snapshots, consistency checks, waits for a version, or durable checkpoints.
 */
export class DerivedCollection<T extends DerivedObject, Name extends string = never>
  implements IndexedCollection<T, Name>, AsyncDisposable {
  /** The objects, indexed by namespace and by your `indexers`. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** The same objects, as entries. */
  readonly entries: ReadonlyIndexer<CacheEntry<T>, Name | "namespace">;
  /** Reads the objects by namespace, name and label selector. */
  readonly lister: Lister<T>;
  /** @internal */
  readonly [internals]: { readonly sync: FollowedCollection };

  readonly #derivation: Derivation;
  readonly #processor: Delivery<T & KubernetesObject>;
  readonly #waits: InformerWaiter<T & KubernetesObject>;
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
    const { name = `derived from "${input.sources[0][internals].sync.collection.name}"`, indexers, resyncMs, graceMs } =
      readOptions("derive a collection", options, OPTIONS);
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
      present: () => Promise.resolve(), // checkpoints are refused
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
    this.#waits = new InformerWaiter({ collection, processor, state, partsOf: () => [] });
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

  /** `true` once every input is computed, and everything that was read has synced. */
  get hasSynced(): boolean {
    return this.#derivation.hasSynced;
  }

  /** Returns the current status. */
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

  /** Yields the current status, then the newest one after each change of state, like `SharedIndexInformer`. */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<DerivedStatus> {
    checkNames("read the status", options, "signal");
    return this.#changes.read(options);
  }

  /**
   * Calls `handler` for each object, as added events with `initial: true`, then for each change.
   *
   * @throws {Error} if the collection has stopped.
   * @throws {RangeError} if an option is out of range.
   * @throws {TypeError} if you pass a checkpoint, because the objects have no version.
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    this.#checkOptions(options);
    return this.#processor.add(handler, options);
  }

  /**
   * Returns the objects as events, then each change, like `SharedIndexInformer`.
   *
   * @throws {RangeError} if an option is out of range.
   * @throws {TypeError} if you pass a checkpoint, because the objects have no version.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    this.#checkOptions(options);
    return this.#processor.stream(options);
  }

  /**
   * Returns a view: the objects that `where` accepts, in the order of `sortBy`, see `SharedIndexInformer`.
   *
   * @throws {SyntaxError} if a sort key is not a field path.
   * @throws {RangeError} if the offset or limit is not a count.
   * @throws {Error} if the collection has stopped.
   */
  view(options: ViewOptions<T> = {}): OrderedView<T> {
    const addEventHandler = this.#processor.add.bind(this.#processor);
    return new CacheView<T & KubernetesObject>({ addEventHandler }, options);
  }

  /**
   * Resolves with the first object that the predicate accepts, whether it exists now or arrives later.
   *
   * @throws {WaitError} if the signal aborts, or the collection stops first.
   * @throws the predicate's error.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    return (await this.#waits.until(predicate, options)).object;
  }

  /**
   * Resolves when no object with this key exists: immediately if the synced collection has none.
   *
   * @throws {WaitError} if the signal aborts, or the collection stops first.
   */
  untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    return this.#waits.untilDeleted(key, options);
  }

  /**
   * Resolves when {@linkcode hasSynced} is `true`.
   *
   * @throws {WaitError} if a source's wait for its sync rejects, the signal aborts, or the collection stops first.
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
   * Stops the collection: streams end, handlers are removed, and running handler calls are awaited. The sources
   * continue, and you can still read the objects.
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
type AnySource = IndexedCollection<never, string> & DerivationInput["sources"][number];

/**
 * Derives a collection: calls `compute` for each object in `source`, and again when the object changes, or anything
 * that the call has read. `compute` returns one object, several, or `undefined` for none. Use it to join kinds without
 * stale results.
 *
 * - Read other collections only through {@linkcode ReadObjects}. A change to the clock or an outer variable does not
 *   trigger another call.
 * - `compute` cannot be async. Do not change an object after you returned it.
 * - If it throws, or returns an object that cannot be cached, the input's earlier results stay. A `DerivationError`
 *   with the input's key is reported, and `status().failures` lists it until a later call succeeds.
 * - If two inputs return the same key, the object from the first input counts, in the order of input keys. The conflict
 *   is reported.
 *
 * A change costs a look-up for reads by key or index, and one test for each distinct selector. A predicate repeats all
 * calls that used one on that collection.
 *
 * See the guide: [Derived collections](../../../docs/guides/derived-collections.md).
 *
 * @throws {TypeError} if `source` is not an informer or derived collection.
 * @throws {RangeError} if an option is out of range.
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
  const { indexer } = checkedSource(source)[internals].sync.cache;
  const input: DerivationInput = {
    sources: [source as AnySource],
    idsOf: ({ key }) => [key],
    get: (key) => indexer.getByKey(key),
  };
  return DerivedCollection[internals](input, compute, options);
}

/**
 * Derives a collection like {@linkcode derive}, from the objects of several collections, whose names differ. It stops
 * when the first one stops.
 */
export function deriveAll<I, T extends DerivedObject, Name extends string = never>(
  sources: readonly IndexedCollection<I, string>[],
  compute: (object: I, context: DeriveContext) => Derived<T>,
  options: DeriveOptions<T, Name> = {},
): DerivedCollection<T, Name> {
  const followed = sources.map((source) => checkedSource(source)[internals].sync);
  const input: DerivationInput = {
    sources: sources as readonly AnySource[],
    idsOf: ({ key }, _isBefore, at) => [`${followed[at].collection.name} ${key}`],
    get: (id) => {
      const [of, key] = id.split(" ");
      return followed.find(({ collection }) => collection.name === of)!.cache.indexer.getByKey(key);
    },
  };
  return DerivedCollection[internals](input, compute, options);
}

/**
 * Derives a collection from groups: objects in `source` that share a value of its index `index` are one input.
 * Otherwise it works like {@linkcode derive}. A group without objects is no input.
 *
 * @throws {TypeError} if `source` is not an informer or derived collection.
 * @throws {RangeError} if `source` has no such index, or an option is out of range.
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
    sources: [source as AnySource],
    idsOf: (entry, isBefore) => isBefore ? filedBefore(index, entry) : filed(index, entry.key),
    get: (value) => {
      const objects = indexer.byIndex(index as "namespace", value);
      return objects.length === 0 ? undefined : { value, objects };
    },
  };
  return DerivedCollection[internals](input, compute, options);
}
