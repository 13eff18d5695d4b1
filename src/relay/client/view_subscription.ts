/**
 * Views of a relay's collections: windows of sorted objects that the relay keeps up to date.
 *
 * {@linkcode subscribeViews} is the entry point. A {@linkcode RemoteView} holds the rows of its window only.
 *
 * @module
 */
import { ExternalStore, PolledIterator, Readers } from "../../engine/async/iterate.ts";
import { DerivedController } from "../../engine/async/signals.ts";
import { internals } from "../../engine/errors/internals.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { applyViewUpdate, type ViewRow, type ViewUpdate } from "../../engine/informer/cache_view.ts";
import type { CollectionData, NamespacesData, StreamData, ViewData, ViewRequest } from "../server/format.ts";
import {
  askRelay,
  CLIENT_OPTIONS,
  followRelay,
  onErrorOf,
  relayAddress,
  type RelayClientOptions,
  RelayError,
  type ServerEvent,
} from "./server_events.ts";

/** A {@linkcode RemoteView} at one moment. */
export interface ViewSnapshot<T> {
  /** The latest rows in the window. An unchanged row is the same in all snapshots. */
  readonly rows: readonly ViewRow<T>[];
  /** How many rows the view has, inside and outside the window. */
  readonly total: number;
  /** How many rows precede the window. */
  readonly offset: number;
  /** `true` once rows have arrived. */
  readonly hasSynced: boolean;
  /** `true` while the stream is open. Otherwise the rows may be out of date. */
  readonly isConnected: boolean;
  /** Why the subscription has failed. Unset otherwise. */
  readonly error?: unknown;
}

/**
 * A window into a relay's collection, sorted and filtered by the relay. You get one from
 * {@linkcode ViewSubscription.view}.
 */
export class RemoteView<T> implements Disposable {
  readonly #onChange: (hasEnded: boolean) => void;
  readonly #readers = new Readers<UpdateReader<T>>();
  readonly #store = new ExternalStore<ViewSnapshot<T>>(() => {
    const { total, offset, hasSynced } = this;
    return { rows: [...this.#rows], total, offset, hasSynced, isConnected: this.#isConnected, ...this.#failure };
  });
  #isConnected = false;
  /** The reason of the end, if the subscription has failed. */
  #failure: { readonly error: unknown } | undefined;
  #request: ViewRequest;
  #rows: ViewRow<T>[] = [];
  /** The last update; `undefined` before the first one. */
  #last: ViewUpdate<T> | undefined;

  /**
   * Called by {@linkcode ViewSubscription.view}. `onChange` is called if the view asks for something else, or has
   * ended.
   */
  constructor(request: ViewRequest, onChange: (hasEnded: boolean) => void) {
    this.#request = request;
    this.#onChange = onChange;
  }

  /** The objects and the window that the view asks for. */
  get request(): ViewRequest {
    return this.#request;
  }

  /** `true` once rows have arrived. */
  get hasSynced(): boolean {
    return this.#last !== undefined;
  }

  /** How many rows the view has, inside and outside the window. It is 0 before rows have arrived. */
  get total(): number {
    return this.#last?.total ?? 0;
  }

  /** The number of rows before the rows that have arrived. */
  get offset(): number {
    return this.#last?.offset ?? 0;
  }

  /** Returns the latest rows in the window. */
  rows(): readonly ViewRow<T>[] {
    return this.#rows;
  }

  /**
   * Asks for other objects, another order or another window. Properties that you leave out stay. The old rows stay
   * until the new ones arrive.
   */
  replace(request: Partial<ViewRequest>): void {
    this.#request = { ...this.#request, ...request };
    this.#onChange(false);
  }

  /**
   * Returns all rows in the window once they have arrived, then changes to them. A slow reader receives all rows
   * instead of the changes that it missed.
   *
   * The iterator begins at its first `next()`. It ends with the view, if the signal aborts, or at `break`. If the
   * subscription has failed, `next()` rejects with the reason.
   */
  changes(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<ViewUpdate<T>> {
    checkNames("read a view", options, "signal");
    return new UpdateReader<T>(options.signal, this.#readers, () => this.#last && this.#all(this.#last));
  }

  /**
   * Calls a listener after {@linkcode getSnapshot} has changed, once for all changes that come together. It returns a
   * function that removes the listener. You can pass it without `this`:
   * `useSyncExternalStore(view.subscribe, view.getSnapshot)`.
   */
  get subscribe(): (listener: () => void) => () => void {
    return this.#store.subscribe;
  }

  /**
   * Returns the current rows and state. Without a change, you get the same snapshot again, and unchanged rows are the
   * same in the next one. The first call after a change copies the array. You can pass it without `this`.
   */
  get getSnapshot(): () => ViewSnapshot<T> {
    return this.#store.getSnapshot;
  }

  /** @ignore What the subscription says: an update has come, the stream is open or has ended, the view has ended. */
  readonly [internals] = {
    accept: ({ total, offset, rows: all, changes }: ViewUpdate<T>): void => {
      const update = { total, offset, ...(all && { rows: this.#reused(all) }), changes };
      this.#last = update;
      this.#rows = applyViewUpdate(this.#rows, update);
      this.#store.changed();
      for (const reader of this.#readers) {
        reader.update = reader.update === undefined ? update : this.#all(update);
        reader.wake();
      }
    },
    connected: (isConnected: boolean): void => {
      this.#isConnected = isConnected;
      this.#store.changed();
    },
    end: (failure?: { readonly error: unknown }): void => {
      if (this.#readers.haveEnded) return;
      this.#failure = failure;
      this[internals].connected(false);
      this.#readers.end(failure);
      this.#onChange(true);
    },
  };

  /** Ends the view. You can still read its rows. */
  [Symbol.dispose](): void {
    this[internals].end();
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

/** Options for {@linkcode subscribeViews}. */
export interface SubscribeViewsOptions extends RelayClientOptions {
  /** Called when a collection that has a view changes, at most twice a second. */
  readonly onCollection?: (collection: CollectionData) => unknown;
  /**
   * Called with a collection's namespaces, at first and whenever they change, if one of its views has all namespaces.
   * Use it for a namespace filter.
   */
  readonly onNamespaces?: (namespaces: NamespacesData) => unknown;
  /** Called with `true` when the stream opens, and with `false` when it ends. */
  readonly onConnected?: (isConnected: boolean) => unknown;
}

/**
 * Views of a relay's collections. All share one event stream. You get it from {@linkcode subscribeViews}.
 *
 * It follows the relay until you dispose it. After a cut it opens its views again, and receives all their rows.
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
  #end: { readonly failure: { readonly error: unknown } | undefined } | undefined;

  /** Connects immediately. See {@linkcode subscribeViews}. */
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

  /** `true` while the stream is open. Otherwise the rows may be out of date. */
  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  /** Opens a view. Its rows arrive later. @throws {Error} if the subscription has ended. */
  view<T>(request: ViewRequest): RemoteView<T> {
    if (this.#end !== undefined) throw new Error("Cannot open a view: the subscription has ended");
    const name = String(++this.#count);
    const view = new RemoteView<T>(request, (hasEnded) => {
      if (!hasEnded || this.#views.delete(name)) this.#due();
    });
    this.#views.set(name, view as RemoteView<unknown>);
    view[internals].connected(this.isConnected);
    this.#due();
    return view;
  }

  /** Ends the subscription and its views. You can still read their rows. */
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
      this.#views.get(update.view)?.[internals].accept(update);
    }
  }

  #connected(stream: string | undefined): void {
    this.#stream = stream;
    for (const view of this.#views.values()) view[internals].connected(this.isConnected);
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

  #over(failure: { readonly error: unknown } | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { failure };
    if (this.#stream !== undefined) this.#connected(undefined);
    for (const view of [...this.#views.values()]) view[internals].end(failure);
  }
}

/**
 * Subscribes to views of a relay's collections: sorted, filtered windows that the relay keeps up to date. The relay
 * sends only the rows in the windows, so use it for tables with thousands of objects. See the guide:
 * [Show live data in a browser](../../../docs/relay/browser.md).
 *
 * @param relay The relay's address, such as `"https://dash.example.com"`, or `"/"` on a page from the relay's own
 * server.
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
