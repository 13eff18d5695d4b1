/**
 * Views for clients: windows of a collection in order, over one stream of events.
 *
 * {@linkcode ViewHub} and {@linkcode planViews} are the entry points. Views of the same objects in the same order are
 * one, whatever their windows. The order itself is kept by `informer/cache_view.ts`.
 *
 * @module
 */
import { isObject } from "../../engine/api/json.ts";
import { encoder, type KubernetesObject } from "../../engine/api/object.ts";
import type { TableRow } from "../../engine/api/resource.ts";
import { LongTimer, sleep } from "../../engine/async/time.ts";
import { messageOf, quoted } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import type { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import {
  type CacheView,
  checkedWindow,
  parseSortKey,
  type RowChange,
  type SortKey,
  type SortValue,
  type ViewRow,
  type ViewUpdate,
  type ViewUpdates,
  type ViewWindow,
} from "../../engine/informer/cache_view.ts";
import { type Access, planWithoutData, requestedOf, type RequestPlan } from "./access.ts";
import { ANSWER_HEADERS, type Refusal, refuseRequest } from "./answers.ts";
import type { HeldBytes } from "./budget.ts";
import type { ServedCollection } from "./collections.ts";
import { eventText, heartbeatText, stateOf, type ViewRequest } from "./format.ts";
import { ObjectSelection, type Show } from "./objects.ts";
import type { OpenRequest } from "./open_requests.ts";
import type { RelaySettings, RequestedPart } from "./options.ts";
import type { Right } from "./rights.ts";
import { StreamedResponse } from "./streamed_response.ts";

/** The longest window. */
const MAX_LIMIT = 1_000;

/** The greatest number of views of a stream. */
const MAX_VIEWS = 16;

/** The members of a request, and the types that they have as JSON. */
const MEMBERS: Readonly<Record<keyof ViewRequest, "string" | "number" | "strings">> = {
  of: "string",
  namespace: "string",
  labelSelector: "string",
  fieldSelector: "string",
  search: "string",
  sortBy: "strings",
  fields: "strings",
  offset: "number",
  limit: "number",
};

/** The objects, their order, their fields and the window that a client asks for. */
export class ViewSelection {
  /** The name of the collection. */
  readonly of: string;
  /** Equal for views with the same rows in the same order. */
  readonly order: string;
  /** Equal for views that differ only in their window. */
  readonly id: string;
  /** The window. */
  readonly window: ViewWindow;
  readonly #request: ViewRequest;
  readonly #objects: ObjectSelection;
  readonly #fields: ObjectSelection;
  readonly #words: readonly string[];
  readonly #sortBy: readonly string[];

  private constructor(request: ViewRequest, right?: Right) {
    this.#request = request;
    const { of, namespace, labelSelector, fieldSelector, search = "", sortBy = [], fields = [], offset } = request;
    this.of = of;
    this.#objects = ObjectSelection.parse(parameters({ namespace, labelSelector, fieldSelector })).limitedTo(right);
    this.#fields = ObjectSelection.parse(parameters({ fields: fields.join(",") }));
    this.#words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
    this.#sortBy = sortBy;
    sortBy.forEach((key) => parseSortKey(key));
    this.window = checkedWindow({ offset, limit: request.limit ?? 50 });
    if (this.window.limit! > MAX_LIMIT) {
      throw new RangeError(`the limit is ${request.limit}, but it must be at most ${MAX_LIMIT}`);
    }
    this.order = JSON.stringify([of, this.#objects.id, this.#words, sortBy]);
    this.id = JSON.stringify([this.order, this.#fields.id]);
  }

  /**
   * Reads the views of a stream.
   *
   * @throws {SyntaxError} when the text is no JSON, or a selector or path does not parse.
   * @throws {TypeError} when it is no object of requests.
   * @throws {RangeError} when there are too many views, or a window is too long.
   */
  static parse(json: string): Map<string, ViewSelection> {
    const requests: unknown = JSON.parse(json);
    if (!isObject(requests)) throw new TypeError("views must be an object with a view for each name");
    const entries = Object.entries(requests);
    if (entries.length > MAX_VIEWS) {
      throw new RangeError(`the request has ${entries.length} views, but ${MAX_VIEWS} is the limit`);
    }
    return new Map(entries.map(([name, request]) => [name, new ViewSelection(checked(request))]));
  }

  /** Returns the same view of what a right has; `undefined` is all. */
  limitedTo(right: Right | undefined): ViewSelection {
    return new ViewSelection(this.#request, right);
  }

  /** `true` if there may be objects that the client does not see. */
  get isLimited(): boolean {
    return this.#objects.right !== undefined;
  }

  /** `true` if every object of the collection belongs to the view. */
  get selectsAll(): boolean {
    return this.#words.length === 0 && this.#objects.id === ObjectSelection.parse(new URLSearchParams()).id;
  }

  /** The namespace; `""` is all. */
  get namespace(): string {
    return this.#objects.namespace;
  }

  /** The number of sort keys. */
  get keys(): number {
    return this.#sortBy.length;
  }

  /** Returns the sort keys, which read what `show` returns. */
  sortBy(show: Show): readonly SortKey<KubernetesObject>[] {
    return this.#sortBy.map((text) => {
      const key = parseSortKey<KubernetesObject>(text);
      return {
        by: (object) => {
          const shown = show({ object });
          return shown === undefined ? undefined : fractionOf(key.by(shown));
        },
        descending: key.descending,
      };
    });
  }

  /** Returns true when an object, as clients may see it, belongs to the view. */
  matches(object: KubernetesObject): boolean {
    if (!this.#objects.matches(object)) return false;
    if (this.#words.length === 0) return true;
    const { namespace = "", name } = object.metadata;
    const { cells = [] } = object as Partial<TableRow>;
    const text = [namespace, name, ...cells].join("\n").toLowerCase();
    return this.#words.every((word) => text.includes(word));
  }

  /** Returns the fields of an object that the client asks for, as JSON. */
  json(object: KubernetesObject): string {
    return this.#fields.json(object);
  }
}

function parameters(values: Readonly<Record<string, string | undefined>>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""),
  );
}

function checked(request: unknown): ViewRequest {
  if (!isObject(request)) throw new TypeError("each view must be an object");
  for (const [name, value] of Object.entries(request)) {
    const type = Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof ViewRequest] : undefined;
    if (type === undefined) {
      throw new TypeError(
        `${JSON.stringify(quoted(name))} is not a member of a view. The members are ${Object.keys(MEMBERS).join(", ")}`,
      );
    }
    const isRight = type === "number"
      ? typeof value === "number"
      : type === "string"
      ? typeof value === "string"
      : Array.isArray(value) && value.length <= 100 && value.every((it) => typeof it === "string");
    if (!isRight) throw new TypeError(`${quoted(JSON.stringify(value))} is not valid as ${name} of a view`);
  }
  if (typeof request.of !== "string") throw new TypeError(`"of" of a view must be the name of a collection`);
  return request as unknown as ViewRequest;
}

/** The time between two updates of a view, in milliseconds: changes in between come together. */
const INTERVAL_MS = 50;

/** A view that a stream reads. */
interface ViewLease extends Disposable {
  /** The updates of the window. */
  readonly updates: ViewUpdates<KubernetesObject>;
  /** Returns what the client may see of an object. */
  readonly show: Show;
}

interface OpenView {
  readonly selection: ViewSelection;
  readonly lease: ViewLease;
  readonly job: AbortController;
}

/**
 * The updates of views for one client.
 *
 * At most one text for each view and each collection waits for the client; the next update of a view is made when the
 * last one was taken, of what has changed until then.
 */
export class ViewStream extends StreamedResponse {
  /** The name of the stream, a secret of its client. */
  readonly id: string = crypto.randomUUID();
  readonly #hub: Pick<ViewHub, "lease" | "left" | "regrant">;
  readonly #views = new Map<string, OpenView>();
  /** The texts that wait for the client, by what they are about. */
  readonly #pending = new Map<string, string>();
  /** Called when the client has taken the texts. */
  #taken: (() => void)[] = [];

  /** A stream without views, which it leases from `hub`. */
  constructor(hub: Pick<ViewHub, "lease" | "left" | "regrant">, open: OpenRequest) {
    super(open);
    this.#hub = hub;
    this.offer("stream", eventText("stream", JSON.stringify({ id: this.id })));
  }

  /** The views, by their names. */
  get selections(): ReadonlyMap<string, ViewSelection> {
    return new Map([...this.#views].map(([name, { selection }]) => [name, selection]));
  }

  /** Replaces the views. It moves a view that differs only in its window, and opens and closes the others. */
  replace(selections: ReadonlyMap<string, ViewSelection>): void {
    for (const [name, { selection }] of this.#views) if (selections.get(name)?.id !== selection.id) this.#close(name);
    for (const [name, selection] of selections) {
      const known = this.#views.get(name);
      if (known === undefined) this.#open(name, selection);
      else if (JSON.stringify(known.selection.window) !== JSON.stringify(selection.window)) {
        known.lease.updates.moveTo(selection.window);
        this.#views.set(name, { ...known, selection });
      }
    }
  }

  /** Writes a text when the client reads; a later one about the same replaces it until then. */
  offer(about: string, text: string): void {
    this.#pending.set(about, text);
    this.write();
  }

  /** Also writes a comment if nothing was written for `heartbeatMs`. */
  override check(settings: Pick<RelaySettings, "stallMs" | "heartbeatMs">): void {
    super.check(settings);
    if (this.isReading && this.idleTimeoutMs >= settings.heartbeatMs) this.offer("heartbeat", heartbeatText());
  }

  protected override next(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#pending.size === 0) return undefined;
    const text = [...this.#pending.values()].join("");
    this.#pending.clear();
    for (const taken of this.#taken.splice(0)) taken();
    return encoder.encode(text);
  }

  protected override finish(): void {
    for (const name of [...this.#views.keys()]) this.#close(name);
    this.#hub.left(this);
  }

  protected override change(access: Access): void {
    this.#hub.regrant(this, access);
  }

  #open(name: string, selection: ViewSelection): void {
    const view = { selection, lease: this.#hub.lease(selection), job: new AbortController() };
    this.#views.set(name, view);
    void this.#follow(name, view).catch((cause) => this.fail(cause));
  }

  #close(name: string): void {
    const view = this.#views.get(name)!;
    this.#views.delete(name);
    this.#pending.delete(`view ${name}`);
    view.job.abort();
    view.lease[Symbol.dispose]();
  }

  async #follow(name: string, { selection, lease, job: { signal } }: OpenView): Promise<void> {
    for await (const update of lease.updates) {
      if (signal.aborted) return;
      const taken = new Promise<void>((resolve) => this.#taken.push(resolve));
      this.offer(`view ${name}`, eventText("view", updateText(name, update, selection, lease.show)));
      try {
        await Promise.all([taken, sleep(INTERVAL_MS, { signal })]);
      } catch {
        return; // the view was closed
      }
    }
    if (!signal.aborted) this.end("closed"); // its informer has stopped
  }
}

/** Returns an update as JSON, with what `selection` keeps of what may be shown. */
function updateText(
  view: string,
  { total, offset, rows, changes }: ViewUpdate<KubernetesObject>,
  selection: ViewSelection,
  show: Show,
): string {
  const rowText = (row: ViewRow<KubernetesObject>): string => {
    const shown = show(row);
    return `{"key":${JSON.stringify(row.key)},"object":${shown === undefined ? null : selection.json(shown)}}`;
  };
  const changeText = (change: RowChange<KubernetesObject>): string => {
    if (change.type === "left") return JSON.stringify(change);
    const { row, ...rest } = change;
    return `${JSON.stringify(rest).slice(0, -1)},"row":${rowText(row)}}`;
  };
  const head = JSON.stringify({ view, total, offset }).slice(0, -1);
  const all = rows === undefined ? "" : `,"rows":[${rows.map(rowText).join(",")}]`;
  return `${head}${all},"changes":[${changes.map(changeText).join(",")}]}`;
}

/** The time between two looks at the state of collections, in milliseconds. */
const LOOK_MS = 500;

/** The greatest number of namespaces that are reported of a collection. */
const MAX_NAMESPACES = 1_000;

/** Returns 0.5 for `1/2`, so that rows come first that lack the most; other values as they are. */
function fractionOf(value: SortValue): SortValue {
  const [, part, whole] = typeof value === "string" ? /^(\d+)\/(\d+)$/.exec(value) ?? [] : [];
  return part === undefined ? value : whole === "0" ? 1 : Number(part) / Number(whole);
}

/** The bytes of a row of a view, and of each value that it is sorted by. */
const ROW_BYTES = { row: 160, value: 40 };

/** There is no room for another view. */
class TooManyViewsError extends Error {
  /** Creates the error. */
  constructor() {
    super("too many lists and views are open");
  }
}

/** A collection that views are of. */
type ViewedCollection = Pick<ServedCollection, "acquire" | "showRow" | "requested" | "rightOf">;

/** A view that streams share. */
interface SharedView {
  /** The name of the collection. */
  readonly of: string;
  readonly held: AcquiredInformer<KubernetesObject>;
  readonly view: CacheView<KubernetesObject>;
  readonly show: Show;
  readonly linger: LongTimer;
  /** The rows; they can be given up while there are no readers. */
  readonly hold: HeldBytes;
  readonly rowBytes: number;
  readers: number;
}

/** The views that clients ask for. Views of the same objects in the same order are one, whatever their windows. */
export class ViewHub implements Disposable {
  readonly #collections: ReadonlyMap<string, ViewedCollection>;
  readonly #settings: RelaySettings;
  /** By `ViewSelection.order`. */
  readonly #views = new Map<string, SharedView>();
  readonly #streams = new Map<string, ViewStream>();
  /** The data of the last `collection` and `namespaces` of each stream, by event and name. */
  readonly #sent = new WeakMap<ViewStream, Map<string, string>>();
  /** Set if and only if there are streams. */
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Has no views yet, and makes them of `collections`, which are by their names. */
  constructor(collections: ReadonlyMap<string, ViewedCollection>, settings: RelaySettings) {
    this.#collections = collections;
    this.#settings = settings;
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
      if (!this.#collections.has(of)) {
        throw new TypeError(`the relay has no collection ${JSON.stringify(quoted(String(of)))}`);
      }
    }
    return selections;
  }

  /** Returns the objects that a selection asks for, of its collection. */
  requested(selection: ViewSelection): RequestedPart {
    return this.#collections.get(selection.of)!.requested(selection);
  }

  /** Returns `true` if there is a stream of that name. */
  has(id: string): boolean {
    return this.#streams.has(id);
  }

  /**
   * Opens a stream of these views, of what `access` grants.
   *
   * @throws {TooManyViewsError} when there is no room; then the stream has ended.
   */
  open(selections: ReadonlyMap<string, ViewSelection>, open: OpenRequest, access: Access): ViewStream {
    const stream = new ViewStream(this, open);
    if (this.#streams.size === 0) this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#streams.set(stream.id, stream);
    try {
      this.#replace(stream, selections, access);
    } catch (error) {
      void stream.body.cancel(); // nobody will read it
      throw error;
    }
    return stream;
  }

  /**
   * Replaces the views of a stream, and what was granted to it; it ends at the earlier time if `access` has none.
   * Returns `false` if there is no such stream.
   *
   * @throws {TooManyViewsError} when there is no room; then the stream has ended.
   */
  replace(id: string, selections: ReadonlyMap<string, ViewSelection>, access: Access): boolean {
    const stream = this.#streams.get(id);
    if (stream === undefined) return false;
    this.#replace(stream, selections, access);
    stream.follow({ ...access, expiresAt: access.expiresAt ?? stream.expiresAt });
    return true;
  }

  /** Shows in a stream what `access` grants; the stream ends if there is no room for it. */
  regrant(stream: ViewStream, access: Access): void {
    try {
      this.#replace(stream, stream.selections, access);
    } catch (error) {
      this.#settings.onError(new InformerError("Cannot change the views of a stream", { cause: error }));
    }
  }

  /** A stream has ended. */
  left(stream: ViewStream): void {
    this.#streams.delete(stream.id);
    if (this.#streams.size === 0) clearInterval(this.#timer);
  }

  /** Lends a view to a stream. @throws {TooManyViewsError} when there is no room. */
  lease(selection: ViewSelection): ViewLease {
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
        shared.linger.arm(this.#settings.lingerMs);
      },
    };
  }

  /** Ends all streams and views, and gives the informers back. */
  [Symbol.dispose](): void {
    for (const stream of [...this.#streams.values()]) stream.end("closed");
    for (const order of [...this.#views.keys()]) this.#forget(order);
  }

  #replace(stream: ViewStream, selections: ReadonlyMap<string, ViewSelection>, access: Access): void {
    try {
      stream.replace(
        new Map([...selections].map(([name, selection]) => {
          return [name, selection.limitedTo(this.#collections.get(selection.of)!.rightOf(access))];
        })),
      );
    } catch (error) {
      stream.end("closed"); // an informer has stopped, or there is no room
      throw error;
    }
    this.#report(stream);
  }

  #share(selection: ViewSelection): SharedView {
    const { of, order } = selection;
    const collection = this.#collections.get(of)!;
    const { showRow: show } = collection;
    const held = collection.acquire();
    const rowBytes = ROW_BYTES.row + selection.keys * ROW_BYTES.value;
    // For all objects, until the view has found the selected ones.
    const hold = this.#settings.budget.hold(Math.max(1, held.informer.status().objects) * rowBytes);
    if (hold === undefined) {
      held[Symbol.dispose]();
      throw new TooManyViewsError();
    }
    const where = (object: KubernetesObject): boolean => {
      const shown = show({ object });
      return shown !== undefined && selection.matches(shown);
    };
    const view = held.view({
      // Without it, and without a sort key, only the objects in windows are parsed.
      where: this.#hides || !selection.selectsAll ? where : undefined,
      sortBy: selection.sortBy(show),
      name: "relayed view",
    });
    const linger = new LongTimer(() => this.#forget(order));
    const shared = { of, held, view, show, linger, hold, rowBytes, readers: 0 };
    this.#views.set(order, shared);
    return shared;
  }

  #forget(order: string): void {
    const { held, linger, hold } = this.#views.get(order)!;
    this.#views.delete(order);
    linger[Symbol.dispose]();
    hold[Symbol.dispose]();
    held[Symbol.dispose](); // and its view
  }

  #look(): void {
    for (const { view, hold, rowBytes } of [...this.#views.values()]) {
      if (view.hasSynced) hold.resize(Math.max(1, view.total) * rowBytes);
    }
    const namespaces = new Map<string, string>();
    for (const stream of [...this.#streams.values()]) {
      this.#report(stream, namespaces);
      stream.check(this.#settings);
    }
  }

  /** `true` if there may be objects of which clients see nothing. */
  get #hides(): boolean {
    return this.#settings.redact !== undefined;
  }

  /**
   * Writes the state and the namespaces of the collections of a stream, if they have changed. `namespaces` has the
   * texts that were read for another stream.
   */
  #report(stream: ViewStream, namespaces = new Map<string, string>()): void {
    const sent = this.#sent.get(stream) ?? new Map<string, string>();
    this.#sent.set(stream, sent);
    const offer = (event: string, name: string, text: string): void => {
      const about = `${event} ${name}`;
      if (text === sent.get(about)) return;
      sent.set(about, text);
      stream.offer(about, eventText(event, text));
    };
    const selections = Map.groupBy(stream.selections.values(), ({ of }) => of);
    for (const [name, views] of selections) {
      const informer = [...this.#views.values()].find(({ of }) => of === name)?.held.informer;
      if (informer === undefined) continue;
      const status = informer.status();
      const isLimited = views.some((selection) => selection.isLimited);
      const objects = this.#hides || isLimited ? undefined : status.objects;
      const events = isLimited ? undefined : status.events;
      offer("collection", name, JSON.stringify({ name, ...stateOf(status), objects, events }));
      if (this.#hides || isLimited || !views.some(({ namespace }) => namespace === "")) continue;
      const text = namespaces.get(name) ?? namespacesText(name, informer.indexer.indexValues("namespace"));
      namespaces.set(name, text);
      offer("namespaces", name, text);
    }
  }
}

/** Returns the namespaces of a collection, in which objects without one have `""`, as JSON. */
function namespacesText(name: string, values: readonly string[]): string {
  const namespaces = values.filter((value) => value !== "").sort().slice(0, MAX_NAMESPACES);
  return JSON.stringify({ name, namespaces });
}

/** The longest body of a request, in bytes. */
const MAX_BODY = 16_384;

/** The time within which a body comes, in milliseconds. */
const BODY_MS = 5_000;

/** The paths of views: all streams, or one of them. */
const VIEWS = /^\/views(?:\/([\w-]+))?$/;

/**
 * Reads a request whose path is one of views, which is answered as `ViewEvents` describes; `undefined` for other paths.
 */
export async function planViews(request: Request, hub: ViewHub, open: OpenRequest): Promise<RequestPlan | undefined> {
  const { pathname, searchParams } = new URL(request.url);
  const match = VIEWS.exec(pathname);
  if (match === null) return undefined;
  const id: string | undefined = match[1];
  const method = id === undefined ? "GET" : "POST";
  const refused = (refusal: Refusal, more?: Record<string, string>): RequestPlan =>
    planWithoutData(() => refuseRequest(request, refusal, more));
  const unknown = { status: 404, reason: "the relay has no stream with this name; open another one" };
  if (request.method !== method) return refused({ status: 405, reason: `use ${method}` }, { allow: method });
  if (id !== undefined && !hub.has(id)) return refused(unknown);
  let selections: ReadonlyMap<string, ViewSelection>;
  try {
    const text = id === undefined ? searchParams.get("views") ?? "{}" : await shortText(request);
    if (typeof text !== "string") return refused(text);
    selections = hub.parse(text);
  } catch (error) {
    return refused({ status: 400, reason: messageOf(error) });
  }
  return {
    requested: requestedOf([...selections.values()].map((selection) => hub.requested(selection)), true),
    answer: (access) => {
      try {
        if (id === undefined) return hub.open(selections, open, access).response(access);
        if (!hub.replace(id, selections, access)) return refuseRequest(request, unknown);
        return new Response(null, { status: 204, headers: ANSWER_HEADERS });
      } catch (error) {
        if (error instanceof TooManyViewsError) return refuseRequest(request, { status: 503, reason: error.message });
        throw error;
      }
    },
  };
}

/** Returns the body of a request as text, or the reason why it is not read to its end. */
async function shortText({ body }: Request): Promise<string | Refusal> {
  if (body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  const reader = body.getReader();
  let isLate = false;
  const late = new LongTimer(() => {
    isLate = true;
    reader.cancel().catch(() => {}); // the read rejects with the same error
  });
  late.arm(BODY_MS);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > MAX_BODY) return { status: 413, reason: `the body is longer than ${MAX_BODY} bytes` };
      text += decoder.decode(part.value, { stream: true });
    }
    return isLate ? { status: 408, reason: `the body took longer than ${BODY_MS / 1_000} s` } : text + decoder.decode();
  } finally {
    late[Symbol.dispose]();
    reader.releaseLock();
  }
}
