/**
 * Copies of collections and views of a relay, for browsers.
 *
 * {@linkcode subscribe} and {@linkcode subscribeViews} are the entry points. A copy follows the relay, and resumes
 * after a cut without a new snapshot where the relay can. It knows no API server and no credentials.
 *
 * @module
 */
import { keyOf, type KubernetesObject, type ObjectKey } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import { fieldMatcher, labelMatcher } from "../../api/selector.ts";
import { ExternalStore, type IterationFailure, PolledIterator, Readers } from "../../async/iterate.ts";
import { DerivedController, Latch } from "../../async/signals.ts";
import { backoffMs, LongTimer, sleep } from "../../async/time.ts";
import { ConsoleReporter } from "../../errors/errors.ts";
import { checkNames } from "../../errors/option_names.ts";
import type { CacheSelection, Lister, NamespaceLister } from "../../informer/cache/lister.ts";
import type { CollectionEvent, ReadableCollection } from "../../informer/readable_collection.ts";
import type { InformerState } from "../../informer/sync/state.ts";
import { applyViewUpdate, type ViewRow, type ViewUpdate } from "../../informer/cache_view.ts";
import type {
  CollectionData,
  DeletedData,
  NamespacesData,
  StateData,
  StreamData,
  ViewData,
  ViewRequest,
} from "../server/format.ts";

/** A function that sends a request, as `fetch` does. */
export type FetchLike = (input: string, init: RequestInit) => Promise<Response>;

/** Options of every subscription. */
export interface RelayClientOptions {
  /** Ends the subscription: its iterators end, and its waits reject with its reason. */
  readonly signal?: AbortSignal;
  /** Returns headers of each request, such as `authorization`. @default {none} */
  readonly headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** Sends the requests. @default {the global function} */
  readonly fetch?: FetchLike;
  /**
   * Called with the reason of each failed connection, before it is tried again.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown) => unknown;
}

/** The names of {@linkcode RelayClientOptions}. */
const CLIENT_OPTIONS = "signal headers fetch onError";

/** A relay has answered a request by an error. */
export class RelayError extends Error {
  /** `"RelayError"`. */
  override readonly name = "RelayError";
  /** The status code. */
  readonly status: number;

  /** Creates an error. */
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Returns `onError`, or a function that writes to the console. */
function onErrorOf({ onError }: RelayClientOptions, relay: string | URL): (error: unknown) => unknown {
  const reporter = new ConsoleReporter();
  return onError ?? ((error) => reporter.report(`subscription to "${relay}"`, error));
}

/** Returns an address below that of a relay, which may be relative to a page. */
function relayAddress(relay: string | URL, path: string): string {
  const base = new URL(relay, (globalThis as { location?: { href: string } }).location?.href);
  return new URL(path, base.href.replace(/\/?(\?.*)?$/, "/")).href;
}

/** Sends a request to a relay. @throws {RelayError} when it answers by an error. */
async function askRelay(address: string, options: RelayClientOptions, init: RequestInit): Promise<Response> {
  const { headers, fetch = globalThis.fetch.bind(globalThis) } = options;
  const response = await fetch(address, { ...init, headers: { ...await headers?.(), ...init.headers as object } });
  if (response.ok) return response;
  const text = await response.text();
  let reason = text.slice(0, 200);
  try {
    reason = JSON.parse(text).error;
  } catch { /* the text of a proxy */ }
  throw new RelayError(`Cannot subscribe to ${address}: ${response.status} ${reason}`, response.status);
}

/** A server-sent event. */
interface ServerEvent {
  /** The name. */
  readonly event: string;
  /** The data; `""` for a comment with an id. */
  readonly data: string;
  /** The id that the client shall resume at, if the event has one. */
  readonly id: string | undefined;
}

/** Reads the text of an event stream, however it is split. Lines end with LF or CR LF, as those of relays do. */
export class ServerEvents {
  /** The texts after the last complete event. */
  #parts: string[] = [];
  /** A line feed after the texts. It may be the first half of the end of an event. */
  #end = "";

  /** Returns the events that this text completes. Its cost depends on this text, not on what came before. */
  push(text: string): ServerEvent[] {
    const more = this.#end + text.replaceAll("\r", "");
    this.#end = /(?<!\n)\n$|$/.exec(more)![0];
    const blocks = more.slice(0, more.length - this.#end.length).split("\n\n");
    this.#parts.push(blocks[0]);
    if (blocks.length === 1) return [];
    blocks[0] = this.#parts.join("");
    this.#parts = [blocks.pop()!];
    return blocks.map(read);
  }
}

function read(block: string): ServerEvent {
  let event = "message";
  const data: string[] = [];
  let id: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue; // a comment
    const value = line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    const field = line.slice(0, colon);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }
  return { event, data: data.join("\n"), id };
}

/**
 * A relay is silent for two heartbeats at most, each of 30 s at most: a connection that is silent for longer is given
 * up.
 */
const SILENCE_MS = 70_000;

/** Status codes below 500 after which the same request may succeed later: timeout, too early, too many. */
const TEMPORARY: readonly number[] = [408, 425, 429];

/** The connection of a subscription. */
interface RelayFollower {
  /** Returns the address to ask, and headers of this request. */
  readonly request: () => { readonly address: string; readonly headers?: Record<string, string> };
  /** Called with each event, and comments that have an id. */
  readonly onEvent: (event: ServerEvent) => void;
  /** Called when a connection has ended. */
  readonly onDown: () => void;
}

/**
 * Reads an event stream, and connects again when it ends: after 0.25 to 1 s, then after twice as long, up to 15 s.
 * Rejects when the signal aborts, and when the relay refuses the request by a status code that a later request would
 * get too.
 */
async function followRelay(
  { request, onEvent, onDown }: RelayFollower,
  options: RelayClientOptions & Required<Pick<RelayClientOptions, "signal" | "onError">>,
): Promise<never> {
  const { signal, onError } = options;
  for (let failures = 0;; failures++) {
    signal.throwIfAborted();
    const { address, headers } = request();
    try {
      await readStream(address, headers, options, (event) => {
        failures = 0;
        onEvent(event);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RelayError && error.status < 500 && !TEMPORARY.includes(error.status)) throw error;
      onError(error);
    }
    onDown();
    await sleep(backoffMs(failures, { initialMs: 500, maxMs: 15_000 }) * (0.5 + Math.random() / 2), { signal });
  }
}

async function readStream(
  address: string,
  headers: Record<string, string> | undefined,
  options: RelayClientOptions & { readonly signal: AbortSignal },
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const { signal } = options;
  const job = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const stop = (reason?: unknown): void => {
    // First, as Deno leaves connections of bodies open whose request aborts while they are read.
    reader?.cancel(reason).catch(() => {}); // the read rejects with the same error
    job.abort(reason);
  };
  const onAbort = (): void => stop(signal.reason);
  const silence = new LongTimer(() => stop(new Error(`Nothing came from ${address} for ${SILENCE_MS / 1_000} s`)));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    silence.arm(SILENCE_MS);
    const { body } = await askRelay(address, options, {
      headers: { accept: "text/event-stream", ...headers },
      cache: "no-store", // a stream in the cache of a browser holds one of its few connections
      signal: job.signal,
    });
    reader = body!.getReader();
    job.signal.throwIfAborted();
    const decoder = new TextDecoder();
    const events = new ServerEvents();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return job.signal.throwIfAborted(); // a cancelled reader is done
      silence.arm(SILENCE_MS);
      for (const event of events.push(decoder.decode(value, { stream: true }))) onEvent(event);
    }
  } finally {
    silence[Symbol.dispose]();
    signal.removeEventListener("abort", onAbort);
    stop(); // also where an event could not be read
  }
}

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

/** The state of a {@linkcode RemoteView} at one time. */
export interface ViewSnapshot<T> {
  /** The rows of the window that have come last; one that has not changed is the same in all snapshots with it. */
  readonly rows: readonly ViewRow<T>[];
  /** The number of rows of the view, in the window and outside of it. */
  readonly total: number;
  /** The number of rows before the window. */
  readonly offset: number;
  /** `true` once rows have come. */
  readonly hasSynced: boolean;
  /** `true` while the stream is open; otherwise the rows may be out of date. */
  readonly isConnected: boolean;
  /** The reason why the subscription has failed; unset unless it has. */
  readonly error?: unknown;
}

/** A window of a collection of a relay. */
export class RemoteView<T> implements Disposable {
  readonly #onChange: (hasEnded: boolean) => void;
  readonly #readers = new Readers<UpdateReader<T>>();
  readonly #store = new ExternalStore<ViewSnapshot<T>>(() => {
    const { total, offset, hasSynced } = this;
    return { rows: [...this.#rows], total, offset, hasSynced, isConnected: this.#isConnected, ...this.#failure };
  });
  #isConnected = false;
  /** The reason of the end, if the subscription has failed. */
  #failure: IterationFailure | undefined;
  #request: ViewRequest;
  #rows: ViewRow<T>[] = [];
  /** The last update; `undefined` before the first one. */
  #last: ViewUpdate<T> | undefined;

  /** Made by {@linkcode ViewSubscription.view}. `onChange` is called when it asks for something else, or has ended. */
  constructor(request: ViewRequest, onChange: (hasEnded: boolean) => void) {
    this.#request = request;
    this.#onChange = onChange;
  }

  /** The objects and the window that the view asks for. */
  get request(): ViewRequest {
    return this.#request;
  }

  /** `true` once rows have come. */
  get hasSynced(): boolean {
    return this.#last !== undefined;
  }

  /** The number of rows of the view, in the window and outside of it; 0 before the first ones have come. */
  get total(): number {
    return this.#last?.total ?? 0;
  }

  /** The number of rows before those that have come. */
  get offset(): number {
    return this.#last?.offset ?? 0;
  }

  /** The rows of the window that have come last. */
  rows(): readonly ViewRow<T>[] {
    return this.#rows;
  }

  /** Asks for other objects, another order or window; what is not given stays. The rows stay until others have come. */
  replace(request: Partial<ViewRequest>): void {
    this.#request = { ...this.#request, ...request };
    this.#onChange(false);
  }

  /**
   * Returns the rows of the window, once they have come, then their changes. The iterator begins at its first `next()`,
   * and ends with the view, when a signal aborts, or at `break`; `next()` rejects with the reason why the subscription
   * has failed. A slow reader receives all rows instead of the changes that it has missed.
   */
  changes(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<ViewUpdate<T>> {
    checkNames("read a view", options, "signal");
    return new UpdateReader<T>(options.signal, this.#readers, () => this.#last && this.#all(this.#last));
  }

  /**
   * Calls a listener after changes of {@linkcode getSnapshot}, once for all that come together, until the function that
   * it returns is called. It needs no `this`: `useSyncExternalStore(view.subscribe, view.getSnapshot)`.
   */
  get subscribe(): (listener: () => void) => () => void {
    return this.#store.subscribe;
  }

  /**
   * Returns what the view has: the same snapshot, array of rows, and rows, while they have not changed. After a change
   * it costs a copy of the array. It needs no `this`.
   */
  get getSnapshot(): () => ViewSnapshot<T> {
    return this.#store.getSnapshot;
  }

  /** Applies an update; the subscription calls it. */
  accept({ total, offset, rows: all, changes }: ViewUpdate<T>): void {
    const update = { total, offset, ...(all && { rows: this.#reused(all) }), changes };
    this.#last = update;
    this.#rows = applyViewUpdate(this.#rows, update);
    this.#store.changed();
    for (const reader of this.#readers) {
      reader.update = reader.update === undefined ? update : this.#all(update);
      reader.wake();
    }
  }

  /** The stream of the view is open, or has ended; the subscription calls it. */
  connected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    this.#store.changed();
  }

  /** Ends the view. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#readers.haveEnded) return;
    this.#failure = failure;
    this.connected(false);
    this.#readers.end(failure);
    this.#onChange(true);
  }

  /** Ends the view; its rows stay as they are. */
  [Symbol.dispose](): void {
    this.end();
  }

  /** Returns rows, with those in place of equal ones that are there already. */
  #reused(rows: readonly ViewRow<T>[]): readonly ViewRow<T>[] {
    const known = new Map(this.#rows.map((row) => [row.key, row]));
    return rows.map((row) => {
      const last = known.get(row.key);
      return last !== undefined && JSON.stringify(last) === JSON.stringify(row) ? last : row;
    });
  }

  #all({ total, offset }: ViewUpdate<T>): ViewUpdate<T> {
    return { total, offset, rows: [...this.#rows], changes: [] };
  }
}

/** An iterator over the updates of a view. */
class UpdateReader<T> extends PolledIterator<ViewUpdate<T>> {
  /** The update that it has not yielded. */
  update: ViewUpdate<T> | undefined;
  readonly #first: () => ViewUpdate<T> | undefined;

  constructor(
    signal: AbortSignal | undefined,
    readers: Readers<UpdateReader<T>>,
    first: () => ViewUpdate<T> | undefined,
  ) {
    super(signal, readers);
    this.#first = first;
  }

  protected override begin(): void {
    this.update = this.#first();
  }

  protected override poll(): ViewUpdate<T> | undefined {
    const { update } = this;
    this.update = undefined;
    return update;
  }
}

/** The longest address of a stream with its views; longer ones are sent behind it. */
const MAX_ADDRESS = 2_000;

/** Options of {@linkcode subscribeViews}. */
export interface SubscribeViewsOptions extends RelayClientOptions {
  /** Called when a collection that views are of has changed, at most twice a second. */
  readonly onCollection?: (collection: CollectionData) => unknown;
  /** Called with the namespaces of a collection that a view of all namespaces is of, and when they have changed. */
  readonly onNamespaces?: (namespaces: NamespacesData) => unknown;
  /** Called with `true` when the stream is open, and with `false` when it has ended. */
  readonly onConnected?: (isConnected: boolean) => unknown;
}

/**
 * Views of the collections of a relay, over one stream of events.
 *
 * It follows the relay until it is disposed: after a cut it opens its views again, which costs their windows.
 */
export class ViewSubscription implements Disposable {
  readonly #relay: string | URL;
  readonly #options: SubscribeViewsOptions & Required<Pick<SubscribeViewsOptions, "onError">>;
  readonly #job: DerivedController;
  readonly #views = new Map<string, RemoteView<unknown>>();
  /** The number of views so far, which gives the next one its name. */
  #count = 0;
  /** The name of the open stream; `undefined` if there is none. */
  #stream: string | undefined;
  /** `true` if and only if the requests have changed since they were last sent. */
  #isDue = false;
  /** `true` while a request for other views is sent. */
  #isSending = false;
  /** Ends the present connection. */
  #connection = new DerivedController();
  /** Set when the subscription has ended. */
  #end: { readonly failure: IterationFailure | undefined } | undefined;

  /** Connects at once; see {@linkcode subscribeViews}. */
  constructor(relay: string | URL, options: SubscribeViewsOptions = {}) {
    checkNames("subscribe to views", options, `${CLIENT_OPTIONS} onCollection onNamespaces onConnected`);
    const { signal } = options;
    this.#relay = relay;
    this.#options = { ...options, onError: onErrorOf(options, relay) };
    this.#job = new DerivedController(signal);
    // Views that are opened in this turn are in the first request.
    Promise.resolve().then(() => this.#follow()).catch((error) => {
      this.#job.release();
      this.#over(signal?.aborted ? undefined : { error });
    });
  }

  /** `true` while the stream is open; otherwise the rows may be out of date. */
  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /** Opens a view, whose rows come later. @throws {Error} when the subscription has ended. */
  view<T>(request: ViewRequest): RemoteView<T> {
    if (this.#end !== undefined) throw new Error("Cannot open a view: the subscription has ended");
    const name = String(++this.#count);
    const view = new RemoteView<T>(request, (hasEnded) => {
      if (!hasEnded || this.#views.delete(name)) this.#due();
    });
    this.#views.set(name, view as RemoteView<unknown>);
    view.connected(this.isConnected);
    this.#due();
    return view;
  }

  /** Ends the subscription and its views, whose rows stay as they are. */
  [Symbol.dispose](): void {
    this.#over(undefined);
    this.#job.abort(new DOMException("The subscription was disposed", "AbortError"));
  }

  #requests(): string {
    return JSON.stringify(Object.fromEntries([...this.#views].map(([name, { request }]) => [name, request])));
  }

  #follow(): Promise<never> {
    const { signal } = this.#job;
    return followRelay({
      request: () => {
        const query = `?views=${encodeURIComponent(this.#requests())}`;
        this.#isDue = query.length > MAX_ADDRESS;
        return { address: relayAddress(this.#relay, `views${this.#isDue ? "" : query}`) };
      },
      onEvent: (event) => this.#accept(event),
      onDown: () => this.#connected(undefined),
    }, { ...this.#options, signal, fetch: (input, init) => this.#fetch(input, init) });
  }

  /** Sends the request of a stream, which {@linkcode #connection} ends too. */
  #fetch(input: string, init: RequestInit): Promise<Response> {
    const { fetch = globalThis.fetch.bind(globalThis) } = this.#options;
    this.#connection = new DerivedController(init.signal ?? undefined);
    return fetch(input, { ...init, signal: this.#connection.signal });
  }

  #accept({ event, data }: ServerEvent): void {
    if (this.#end !== undefined) return;
    if (event === "stream") this.#connected((JSON.parse(data) as StreamData).id);
    else if (event === "collection") this.#options.onCollection?.(JSON.parse(data));
    else if (event === "namespaces") this.#options.onNamespaces?.(JSON.parse(data));
    else if (event === "view") {
      const update = JSON.parse(data) as ViewData;
      this.#views.get(update.view)?.accept(update);
    }
  }

  #connected(stream: string | undefined): void {
    this.#stream = stream;
    for (const view of this.#views.values()) view.connected(this.isConnected);
    this.#options.onConnected?.(stream !== undefined);
    if (this.#isDue) void this.#send();
  }

  /** Sends the requests, together with those that change in this turn. */
  #due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => void this.#send());
  }

  async #send(): Promise<void> {
    while (this.#isDue && !this.#isSending && this.#stream !== undefined && this.#end === undefined) {
      this.#isDue = false;
      this.#isSending = true;
      const address = relayAddress(this.#relay, `views/${this.#stream}`);
      const connection = this.#connection;
      try {
        const headers = { "content-type": "application/json" };
        const init = { method: "POST", body: this.#requests(), headers, signal: connection.signal };
        await askRelay(address, this.#options, init);
      } catch (error) {
        if (error instanceof RelayError && error.status === 400) this.#options.onError(error);
        else {
          // Another instance of the relay answers, or none: the next stream begins with the views.
          const cause = { cause: error };
          connection.abort(new Error("Cannot change the views: another stream follows", cause));
        }
      } finally {
        this.#isSending = false;
      }
    }
  }

  #over(failure: IterationFailure | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { failure };
    if (this.#stream !== undefined) this.#connected(undefined);
    for (const view of [...this.#views.values()]) view.end(failure);
  }
}

/**
 * Subscribes to views of a relay: windows of its collections, in order, which the relay keeps up to date. Of the
 * objects outside of the windows nothing is sent.
 *
 * @param relay The address of the relay: `"https://dash.example.com"`, or in pages of its own `"/"`.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { InformerRelay } from "@kube/informer/relay";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { subscribeViews } from "@kube/informer/relay/client";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * for (const name of ["cart-0", "cart-1", "web-0"]) server.create(Pod, pod({ name, namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informers = new SharedInformerFactory(client);
 * await using relay = new InformerRelay(informers, { collections: { pods: Pod } });
 * const connection = { remoteAddr: { hostname: "127.0.0.1" } };
 *
 * // In a browser: subscribeViews("/")
 * using views = subscribeViews("http://localhost", {
 *   fetch: (input, init) => relay.fetch(new Request(input, init), connection),
 * });
 * const pods = views.view<Pod>({ of: "pods", sortBy: ["-metadata.name"], limit: 2, fields: ["metadata.name"] });
 * for await (const { total } of pods.changes()) {
 *   assertEquals([total, pods.rows().map(({ key }) => key)], [3, ["shop/web-0", "shop/cart-1"]]);
 *   break; // or continue, and show each change
 * }
 * ```
 */
export function subscribeViews(relay: string | URL, options: SubscribeViewsOptions = {}): ViewSubscription {
  return new ViewSubscription(relay, options);
}
