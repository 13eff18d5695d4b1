import type { KubernetesObject } from "../../api/object.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import type { ByteBudget, Hold } from "../budget/byte_budget.ts";
import type { AcquiredInformer } from "../../informer/acquired_informer.ts";
import type { CacheView } from "../../informer/view/cache_view.ts";
import { eventText } from "../format/event_text.ts";
import { stateOf } from "../format/state_of.ts";
import type { Show } from "../objects/show.ts";
import { ViewSelection } from "./view_selection.ts";
import { type ViewLease, ViewStream } from "./view_stream.ts";

/** The time between two looks at the state of collections, in milliseconds. */
const LOOK_MS = 500;

/** The bytes of a row of a view, and of each value that it is sorted by. */
const ROW_BYTES = { row: 160, value: 40 };

/** There is no room for another view. */
export class TooManyViewsError extends Error {
  /** Creates the error. */
  constructor() {
    super("too many lists and views are open");
  }
}

/** A collection that views are of. */
export interface ViewedCollection {
  /** Acquires its informer. */
  acquire(): AcquiredInformer<KubernetesObject>;
  /** Returns what clients may see of an object. */
  readonly showRow: Show;
  /** `true` if there may be objects of which clients see nothing. */
  readonly hides: boolean;
  /** Returns the namespaces that a selection asks for. */
  namespacesOf(selection: ViewSelection): readonly string[] | "all";
}

/** Options of a {@linkcode ViewHub}. */
export interface ViewHubOptions {
  /** The time between two heartbeats of a stream, in milliseconds. */
  readonly heartbeatMs: number;
  /** The time for which a client may leave unread what there is to read, in milliseconds. */
  readonly stallMs: number;
  /** The time for which a view without readers is kept, in milliseconds. */
  readonly lingerMs: number;
  /** The bytes that rows may hold. */
  readonly budget: ByteBudget;
}

/** A view that streams share. */
interface SharedView {
  /** The name of the collection. */
  readonly of: string;
  readonly informer: AcquiredInformer<KubernetesObject>;
  readonly view: CacheView<KubernetesObject>;
  readonly show: Show;
  readonly linger: LongTimer;
  /** The rows; they can be given up while there are no readers. */
  readonly hold: Hold;
  readonly rowBytes: number;
  readers: number;
}

/** The views that clients ask for. Those of the same objects in the same order are one, whatever their windows. */
export class ViewHub implements Disposable {
  readonly #collections: ReadonlyMap<string, ViewedCollection>;
  readonly #options: ViewHubOptions;
  /** By `ViewSelection.order`. */
  readonly #views = new Map<string, SharedView>();
  readonly #streams = new Map<string, ViewStream>();
  /** The data of the last `collection` of each stream, by its name. */
  readonly #sent = new WeakMap<ViewStream, Map<string, string>>();
  /** Set if and only if there are streams. */
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Has no views yet, and makes them of `collections`, which are by their names. */
  constructor(collections: ReadonlyMap<string, ViewedCollection>, options: ViewHubOptions) {
    this.#collections = collections;
    this.#options = options;
  }

  /**
   * Reads the views that a client asks for.
   *
   * @throws {SyntaxError} when the text is no JSON, or a selector or path does not parse.
   * @throws {TypeError} when it is no object of requests, or a collection is unknown.
   * @throws {RangeError} when there are too many views, or a window is too long.
   */
  parse(json: string): ReadonlyMap<string, ViewSelection> {
    const selections = ViewSelection.parse(json);
    for (const { of } of selections.values()) {
      if (!this.#collections.has(of)) throw new TypeError(`found no collection ${JSON.stringify(of)}`);
    }
    return selections;
  }

  /** Returns the namespaces that a selection asks for, of its collection. */
  namespacesOf(selection: ViewSelection): readonly string[] | "all" {
    return this.#collections.get(selection.of)!.namespacesOf(selection);
  }

  /** Returns `true` if there is a stream of that name. */
  has(id: string): boolean {
    return this.#streams.has(id);
  }

  /**
   * Opens a stream of these views. `onEnd` is called once, when it has ended.
   *
   * @throws {TooManyViewsError} when there is no room; then the stream has ended.
   */
  open(selections: ReadonlyMap<string, ViewSelection>, onEnd: () => void): ViewStream {
    const stream = new ViewStream((selection) => this.#lease(selection), () => {
      this.#streams.delete(stream.id);
      if (this.#streams.size === 0) clearInterval(this.#timer);
      onEnd();
    });
    if (this.#streams.size === 0) this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#streams.set(stream.id, stream);
    try {
      this.#replace(stream, selections);
    } catch (error) {
      void stream.body.cancel(); // nobody will read it
      throw error;
    }
    return stream;
  }

  /**
   * Replaces the views of a stream, which ends at `expiresAt` from now on, if that is given. Returns `false` if there is no such stream.
   *
   * @throws {TooManyViewsError} when there is no room; then the stream has ended.
   */
  replace(id: string, selections: ReadonlyMap<string, ViewSelection>, expiresAt: Date | undefined): boolean {
    const stream = this.#streams.get(id);
    if (stream === undefined) return false;
    this.#replace(stream, selections);
    if (expiresAt !== undefined) stream.expireAt(expiresAt);
    return true;
  }

  /** Ends all streams and views, and gives the informers back. */
  [Symbol.dispose](): void {
    for (const stream of [...this.#streams.values()]) stream.end("closed");
    for (const order of [...this.#views.keys()]) this.#forget(order);
  }

  #replace(stream: ViewStream, selections: ReadonlyMap<string, ViewSelection>): void {
    try {
      stream.replace(selections);
    } catch (error) {
      stream.end("closed"); // an informer has stopped, or there is no room
      throw error;
    }
    this.#report(stream);
  }

  #lease(selection: ViewSelection): ViewLease {
    const { order } = selection;
    const shared = this.#views.get(order) ?? this.#share(selection);
    shared.linger[Symbol.dispose]();
    shared.hold.giveUp = undefined;
    shared.readers++;
    const updates = shared.view.changes(selection.window);
    return {
      updates,
      show: shared.show,
      [Symbol.dispose]: () => {
        void updates.return!();
        if (--shared.readers > 0 || this.#views.get(order) !== shared) return;
        shared.hold.giveUp = () => this.#forget(order);
        shared.linger.arm(this.#options.lingerMs);
      },
    };
  }

  #share(selection: ViewSelection): SharedView {
    const { of, order } = selection;
    const collection = this.#collections.get(of)!;
    const { showRow: show, hides } = collection;
    const informer = collection.acquire();
    const rowBytes = ROW_BYTES.row + selection.keys * ROW_BYTES.value;
    // Of all objects, until the view has found those that it selects.
    const hold = this.#options.budget.hold(Math.max(1, informer.status().objects) * rowBytes);
    if (hold === undefined) {
      informer[Symbol.dispose]();
      throw new TooManyViewsError();
    }
    const where = (object: KubernetesObject): boolean => {
      const shown = show({ object });
      return shown !== undefined && selection.matches(shown);
    };
    const view = informer.view({
      // Without it, and without a sort key, the objects of windows alone are parsed.
      where: hides || !selection.selectsAll ? where : undefined,
      sortBy: selection.sortBy(show),
      name: "relayed view",
    });
    const linger = new LongTimer(() => this.#forget(order));
    const shared = { of, informer, view, show, linger, hold, rowBytes, readers: 0 };
    this.#views.set(order, shared);
    return shared;
  }

  #forget(order: string): void {
    const { informer, linger, hold } = this.#views.get(order)!;
    this.#views.delete(order);
    linger[Symbol.dispose]();
    hold[Symbol.dispose]();
    informer[Symbol.dispose](); // and its view
  }

  #look(): void {
    for (const { view, hold, rowBytes } of [...this.#views.values()]) {
      if (view.hasSynced) hold.resize(Math.max(1, view.total) * rowBytes);
    }
    for (const stream of [...this.#streams.values()]) {
      this.#report(stream);
      stream.check(this.#options);
    }
  }

  /** Writes the state of the collections of a stream, where it has changed. */
  #report(stream: ViewStream): void {
    const sent = this.#sent.get(stream) ?? new Map<string, string>();
    this.#sent.set(stream, sent);
    for (const name of stream.collections) {
      const informer = [...this.#views.values()].find(({ of }) => of === name)?.informer;
      if (informer === undefined) continue;
      const status = informer.status();
      const { events } = status;
      const objects = this.#collections.get(name)!.hides ? undefined : status.objects;
      const text = JSON.stringify({ name, ...stateOf(status), objects, events });
      if (text === sent.get(name)) continue;
      sent.set(name, text);
      stream.offer(`collection ${name}`, eventText("collection", text));
    }
  }
}
