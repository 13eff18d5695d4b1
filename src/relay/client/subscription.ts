/**
 * Copies of the collections of a relay, for browsers.
 *
 * {@linkcode subscribe} is the entry point. A copy follows the relay. After a cut it resumes without a new snapshot if
 * the relay still has the changes. It knows no API server and no credentials.
 *
 * @module
 */
import { keyOf, type KubernetesObject, type ObjectKey } from "../../engine/api/object.ts";
import type { Abortable } from "../../engine/api/call_options.ts";
import { fieldMatcher, labelMatcher } from "../../engine/api/selector.ts";
import { ExternalStore, PolledIterator, Readers } from "../../engine/async/iterate.ts";
import { DerivedController, Latch } from "../../engine/async/signals.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import type { CacheSelection, Lister, NamespaceLister } from "../../engine/informer/cache/lister.ts";
import type { CollectionEvent, ReadableCollection } from "../../engine/informer/readable_collection.ts";
import type { InformerState } from "../../engine/informer/sync/state_keeper.ts";
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

/** Options for {@linkcode subscribe}. */
export interface SubscribeOptions extends RelayClientOptions, CacheSelection {
  /** One namespace. Without it, the copy has everything that the relay serves. */
  readonly namespace?: string;
  /**
   * The paths of the fields that the relay sends, such as `["status.phase"]`. The identifying fields are always there.
   * Without it, objects are complete, and a pod is several kB.
   */
  readonly fields?: readonly string[];
}

/**
 * A subscription's state. While it is connected, this is the state of the relay's informer. It is `"connecting"` before
 * the first connection, `"disconnected"` between two connections, and `"failed"` after the subscription has ended.
 */
export type SubscriptionState = InformerState | "connecting" | "disconnected" | "failed";

/** A {@linkcode Subscription} at one moment. */
export interface SubscriptionSnapshot<T> {
  /** The objects, in the order in which they arrived. An unchanged object is the same in all snapshots. */
  readonly objects: readonly T[];
  /** The state. */
  readonly state: SubscriptionState;
  /** `true` once the copy was equal to the relay's cache. */
  readonly hasSynced: boolean;
  /** Why the subscription has failed. Unset otherwise. */
  readonly error?: unknown;
}

/**
 * A copy of a relay's collection. You get one from {@linkcode subscribe}.
 *
 * It follows the relay until you dispose it. After a cut it reconnects, and the relay sends the changes that you
 * missed. If the relay no longer has these changes, you receive the differences as ordinary events.
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
  #failure: { readonly error: unknown } | undefined;
  /** The objects of a snapshot that is not complete. After a cut another one begins, as the id names no position. */
  #staged: Map<ObjectKey, T> | undefined;
  #state: SubscriptionState = "connecting";
  #lastEventId = "";

  /** Connects immediately. See {@linkcode subscribe}. */
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

  /** Returns the current state, and why the subscription has failed, if it has. */
  status(): Omit<SubscriptionSnapshot<T>, "objects"> {
    const { hasSynced } = this;
    return { state: this.#state, hasSynced, ...this.#failure };
  }

  /** `true` once the copy was equal to the relay's cache. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** Resolves once {@linkcode hasSynced} is `true`. It rejects if the signal aborts or the subscription ends first. */
  async waitForCacheSync(options: Abortable = {}): Promise<void> {
    checkNames("wait", options, "signal");
    await this.#synced.wait(options);
  }

  /**
   * Calls a listener after {@linkcode getSnapshot} has changed, once for all changes that come together. It returns a
   * function that removes the listener. You can pass it without `this`:
   * `useSyncExternalStore(pods.subscribe, pods.getSnapshot)`.
   */
  get subscribe(): (listener: () => void) => () => void {
    return this.#store.subscribe;
  }

  /**
   * Returns the current objects and state. Without a change, you get the same snapshot again, and unchanged objects are
   * the same in the next one. The first call after a change copies the array. You can pass it without `this`.
   */
  get getSnapshot(): () => SubscriptionSnapshot<T> {
    return this.#store.getSnapshot;
  }

  /**
   * Returns the objects as `added` events, then `synced`, then changes. A slow reader gets the latest state of each
   * object, and not each state in between.
   *
   * The iterator begins at its first `next()`. It ends with the subscription, if the signal aborts, or at `break`. If
   * the subscription has failed, `next()` rejects with the reason.
   */
  events(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<CollectionEvent<T>> {
    checkNames("read events", options, "signal");
    return new SubscriptionReader<T>(this, this.#objects, this.#readers, options.signal);
  }

  /**
   * Resolves with the first object for which the predicate returns `true`, now or later. With `key`, only this object
   * is checked. It rejects if the signal aborts or the subscription ends first.
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

  /** Ends the subscription. You can still read the copy. */
  [Symbol.dispose](): void {
    this.#over(undefined, new Error("Cannot wait: the subscription has ended"));
    this.#job.abort(new DOMException("The subscription was disposed", "AbortError"));
  }

  /** Ends the subscription: its iterators with `failure`, if there is one, and its waits with `error`. */
  #over(failure: { readonly error: unknown } | undefined, error: unknown): void {
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
 * Subscribes to a relay's collection, and returns a copy of it that follows the relay. Use it for all objects in a
 * namespace or with a label. For a long table, use `subscribeViews()`. See the guide:
 * [Show live data in a browser](../../../docs/relay/browser.md).
 *
 * @param relay The relay's address, such as `"https://dash.example.com"`, or `"/"` on a page from the relay's own
 * server.
 * @param name The collection's name.
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
