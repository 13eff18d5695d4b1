/**
 * Copies of the collections of a relay, for browsers.
 *
 * {@linkcode subscribe} is the entry point. A copy follows the relay. After a cut it resumes without a new snapshot if
 * the relay still has the changes. It knows no API server and no credentials.
 *
 * @module
 */
import { keyOf, type KubernetesObject, type ObjectKey } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import { fieldMatcher, labelMatcher } from "../../api/selector.ts";
import { ExternalStore, type IterationFailure, PolledIterator, Readers } from "../../async/iterate.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { CacheSelection, Lister, NamespaceLister } from "../../informer/cache/lister.ts";
import type { CollectionEvent, ReadableCollection } from "../../informer/readable_collection.ts";
import type { InformerState } from "../../informer/sync/state.ts";
import type { DeletedData, StateData } from "../server/format.ts";
import {
  CLIENT_OPTIONS,
  followRelay,
  onErrorOf,
  relayAddress,
  type RelayClientOptions,
  type ServerEvent,
} from "./server_events.ts";

/** A {@linkcode Lister} over objects by their keys. */
class MapLister<T extends KubernetesObject> implements Lister<T> {
  readonly #objects: ReadonlyMap<ObjectKey, T>;

  /** Reads `objects`, which may change. */
  constructor(objects: ReadonlyMap<ObjectKey, T>) {
    this.#objects = objects;
  }

  /** See {@linkcode Lister.list}. */
  list(selection: string | CacheSelection = ""): T[] {
    return this.#select(selection, () => true);
  }

  /** See {@linkcode Lister.get}. */
  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  /** See {@linkcode Lister.namespace}. */
  namespace(namespace: string): NamespaceLister<T> {
    return {
      list: (selection = "") => this.#select(selection, ({ metadata }) => (metadata.namespace ?? "") === namespace),
      get: (name) => this.get(namespace === "" ? name : `${namespace}/${name}`),
    };
  }

  #select(given: string | CacheSelection, belongs: (object: T) => boolean): T[] {
    if (typeof given !== "string") checkNames("select objects", given, "labelSelector fieldSelector");
    const { labelSelector = "", fieldSelector = "" } = typeof given === "string" ? { labelSelector: given } : given;
    const hasLabels = labelMatcher(labelSelector);
    const hasFields = fieldMatcher(fieldSelector);
    return [...this.#objects.values()].filter((object) =>
      belongs(object) && hasLabels(object.metadata.labels) && hasFields(object)
    );
  }
}

/** Makes events of the differences between the objects that a reader has seen and those that there are. */
class SubscriptionReader<T extends KubernetesObject> extends PolledIterator<CollectionEvent<T>> {
  readonly #copy: Pick<Subscription<T>, "hasSynced">;
  readonly #objects: ReadonlyMap<ObjectKey, T>;
  /** The objects that the reader has seen. */
  readonly #known = new Map<ObjectKey, T>();
  /** The keys of objects that may differ from these. */
  readonly #changed = new Set<ObjectKey>();
  /** `true` once `synced` was delivered. */
  #isSynced = false;

  constructor(
    copy: Pick<Subscription<T>, "hasSynced">,
    objects: ReadonlyMap<ObjectKey, T>,
    readers: Readers<SubscriptionReader<T>>,
    signal: AbortSignal | undefined,
  ) {
    super(signal, readers);
    this.#copy = copy;
    this.#objects = objects;
  }

  /** Notes that the object of a key may have changed. */
  changed(key: ObjectKey): void {
    this.#changed.add(key);
    this.wake();
  }

  protected override begin(): void {
    for (const key of this.#objects.keys()) this.#changed.add(key);
  }

  protected override poll(): CollectionEvent<T> | undefined {
    if (!this.#copy.hasSynced) return undefined;
    for (const key of this.#changed) {
      this.#changed.delete(key);
      const previous = this.#known.get(key);
      const object = this.#objects.get(key);
      if (object === previous) continue;
      if (previous !== undefined && previous.metadata.uid !== object?.metadata.uid) {
        this.#known.delete(key);
        this.#changed.add(key); // another object of that name may follow
        return { type: "deleted", key, object: previous };
      }
      this.#known.set(key, object!);
      return previous === undefined
        ? { type: "added", key, object: object!, initial: !this.#isSynced }
        : { type: "updated", key, object: object!, previous };
    }
    if (this.#isSynced) return undefined;
    this.#isSynced = true;
    return { type: "synced", objects: this.#known.size };
  }
}

/** Options of {@linkcode subscribe}. */
export interface SubscribeOptions extends RelayClientOptions, CacheSelection {
  /** One namespace. @default {all that the relay serves} */
  readonly namespace?: string;
  /** The paths of the fields that the relay shall send of each object. @default {all} */
  readonly fields?: readonly string[];
}

/**
 * The state of a subscription: that of the relay's informer, `"connecting"` before the first connection,
 * `"disconnected"` between two, and `"failed"` once it has ended.
 */
export type SubscriptionState = InformerState | "connecting" | "disconnected" | "failed";

/** The state of a {@linkcode Subscription} at one time. */
export interface SubscriptionSnapshot<T> {
  /** The objects, in the order in which they came; one that has not changed is the same in all snapshots. */
  readonly objects: readonly T[];
  /** The state. */
  readonly state: SubscriptionState;
  /** `true` once the copy has been equal to the relay's cache. */
  readonly hasSynced: boolean;
  /** The reason why the subscription has failed; unset unless it has. */
  readonly error?: unknown;
}

/**
 * A copy of a collection of a relay.
 *
 * It follows the relay until it is disposed: after a cut it resumes where it was, without a new snapshot where the
 * relay still has the changes since then; otherwise its events are the differences.
 */
export class Subscription<T extends KubernetesObject>
  implements ReadableCollection<T>, AsyncIterable<CollectionEvent<T>>, Disposable {
  /** Reads the copy. */
  readonly lister: Lister<T>;
  readonly #job: DerivedController;
  readonly #objects = new Map<ObjectKey, T>();
  readonly #readers = new Readers<SubscriptionReader<T>>();
  readonly #synced = new Latch();
  readonly #store = new ExternalStore<SubscriptionSnapshot<T>>(() => {
    return { objects: [...this.#objects.values()], ...this.status() };
  });
  /** The reason of the end, if it has failed. */
  #failure: IterationFailure | undefined;
  /** The objects of a snapshot that is not complete. After a cut another one begins, as the id names no position. */
  #staged: Map<ObjectKey, T> | undefined;
  #state: SubscriptionState = "connecting";
  #lastEventId = "";

  /** Connects at once; see {@linkcode subscribe}. */
  constructor(relay: string | URL, name: string, options: SubscribeOptions = {}) {
    checkNames("subscribe", options, `${CLIENT_OPTIONS} namespace fields labelSelector fieldSelector`);
    const { signal, namespace = "", labelSelector = "", fieldSelector = "", fields = [] } = options;
    const parameters = Object.entries({ namespace, labelSelector, fieldSelector, fields: fields.join(",") });
    const query = new URLSearchParams(parameters.filter(([, value]) => value !== ""));
    const address = relayAddress(relay, `events/${encodeURIComponent(name)}${query.size === 0 ? "" : `?${query}`}`);
    this.lister = new MapLister(this.#objects);
    this.#job = new DerivedController(signal);
    followRelay({
      request: () => {
        const id = this.#lastEventId;
        return id === "" ? { address } : { address, headers: { "last-event-id": id } };
      },
      onEvent: (event) => this.#accept(event),
      onDown: () => this.#enter("disconnected"),
    }, { ...options, signal: this.#job.signal, onError: onErrorOf(options, address) }).catch((error) => {
      this.#job.release();
      this.#over(signal?.aborted ? undefined : { error }, error);
    });
  }

  /** Returns the present state, and the reason why the subscription has failed, if it has. */
  status(): Omit<SubscriptionSnapshot<T>, "objects"> {
    const { hasSynced } = this;
    return { state: this.#state, hasSynced, ...this.#failure };
  }

  /** `true` once the copy has been equal to the relay's cache. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** Resolves once {@linkcode hasSynced}; rejects when the signal aborts, or the subscription ends first. */
  async waitForCacheSync(options: Abortable = {}): Promise<void> {
    checkNames("wait", options, "signal");
    await this.#synced.wait(options);
  }

  /**
   * Calls a listener after changes of {@linkcode getSnapshot}, once for all that come together, until the function that
   * it returns is called. It needs no `this`: `useSyncExternalStore(pods.subscribe, pods.getSnapshot)`.
   */
  get subscribe(): (listener: () => void) => () => void {
    return this.#store.subscribe;
  }

  /**
   * Returns what the subscription has: the same snapshot, array of objects, and objects, while they have not changed.
   * After a change it costs a copy of the array. It needs no `this`.
   */
  get getSnapshot(): () => SubscriptionSnapshot<T> {
    return this.#store.getSnapshot;
  }

  /**
   * Returns the objects as events, then changes. The iterator begins at its first `next()`, and ends with the
   * subscription, when a signal aborts, or at `break`; `next()` rejects with the reason why the subscription has
   * failed.
   *
   * A slow reader receives the last state of each object, and not those in between.
   */
  events(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<CollectionEvent<T>> {
    checkNames("read events", options, "signal");
    return new SubscriptionReader<T>(this, this.#objects, this.#readers, options.signal);
  }

  /**
   * Resolves with the first object, in the copy or to come, for which the predicate holds; with `key`, only the object
   * of that key is looked at. It rejects when the signal aborts, or the subscription ends first.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    const { key, ...others } = options;
    for await (const event of this.events(others)) {
      if (event.type === "synced" || event.type === "deleted" || (key ?? event.key) !== event.key) continue;
      if (predicate(event.object)) return event.object;
    }
    others.signal?.throwIfAborted();
    throw new Error("Cannot wait: the subscription has ended");
  }

  /** Returns {@linkcode events}. */
  [Symbol.asyncIterator](): AsyncIterableIterator<CollectionEvent<T>> {
    return this.events();
  }

  /** Ends the subscription. The copy stays as it is. */
  [Symbol.dispose](): void {
    this.#over(undefined, new Error("Cannot wait: the subscription has ended"));
    this.#job.abort(new DOMException("The subscription was disposed", "AbortError"));
  }

  /** Ends the subscription: its iterators with `failure`, if there is one, and its waits with `error`. */
  #over(failure: IterationFailure | undefined, error: unknown): void {
    if (this.#readers.haveEnded) return;
    this.#failure = failure;
    this.#enter("failed");
    this.#synced.fail(error);
    this.#readers.end(failure);
  }

  #accept({ event, data, id }: ServerEvent): void {
    if (this.#readers.haveEnded) return;
    if (event === "state") this.#enter((JSON.parse(data) as StateData).state);
    else if (event === "snapshot") this.#staged = new Map();
    else if (event === "synced") this.#commit();
    else if (event === "added" || event === "updated") this.#put(JSON.parse(data));
    else if (event === "deleted") this.#delete((JSON.parse(data) as DeletedData).key);
    if (id !== undefined) this.#lastEventId = id;
  }

  #enter(state: SubscriptionState): void {
    this.#state = state;
    this.#store.changed();
  }

  #put(object: T): void {
    const key = keyOf(object);
    if (this.#staged !== undefined) this.#staged.set(key, object);
    else if (!isSame(this.#objects.get(key), object)) {
      this.#objects.set(key, object);
      this.#changed(key);
    }
  }

  #delete(key: ObjectKey): void {
    if (this.#staged !== undefined) this.#staged.delete(key);
    else if (this.#objects.delete(key)) this.#changed(key);
  }

  #commit(): void {
    const staged = this.#staged ?? new Map<ObjectKey, T>();
    this.#staged = undefined;
    for (const key of this.#objects.keys()) if (!staged.has(key)) this.#delete(key);
    for (const object of staged.values()) this.#put(object);
    this.#synced.open();
    this.#store.changed();
    for (const reader of this.#readers) reader.wake();
  }

  #changed(key: ObjectKey): void {
    this.#store.changed();
    for (const reader of this.#readers) reader.changed(key);
  }
}

/** Returns true for the same version of an object, or the same text where there are no versions. */
function isSame(known: KubernetesObject | undefined, object: KubernetesObject): boolean {
  const { uid, resourceVersion } = object.metadata;
  if (known?.metadata.uid !== uid || known?.metadata.resourceVersion !== resourceVersion) return false;
  return resourceVersion !== undefined || JSON.stringify(known) === JSON.stringify(object);
}

/**
 * Subscribes to a collection of a relay.
 *
 * @param relay The address of the relay: `"https://dash.example.com"`, or in pages of its own `"/"`.
 * @param name The name of the collection.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { InformerRelay } from "@kube/informer/relay";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { subscribe } from "@kube/informer/relay/client";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * await using relay = new InformerRelay(informers, { collections: { pods: Pod } });
 * const connection = { remoteAddr: { hostname: "127.0.0.1" } };
 *
 * // In a browser: subscribe<Pod>("/", "pods", { namespace: "shop" })
 * using pods = subscribe<Pod>("http://localhost", "pods", {
 *   namespace: "shop",
 *   fetch: (input, init) => relay.fetch(new Request(input, init), connection),
 * });
 * await pods.waitForCacheSync();
 * assertEquals(pods.lister.namespace("shop").get("cart-0")?.metadata.name, "cart-0");
 * ```
 */
export function subscribe<T extends KubernetesObject = KubernetesObject>(
  relay: string | URL,
  name: string,
  options: SubscribeOptions = {},
): Subscription<T> {
  return new Subscription<T>(relay, name, options);
}
