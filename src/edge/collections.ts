import { nextTurn } from "../async/turns.ts";
import { LongTimer } from "../async/time.ts";
import { ObjectSelection, objectTexts, type Show, showFor, ShownObject, type ShowOptions } from "./objects.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Entry, Selection } from "../api/options.ts";
import type { Resource, TableRow } from "../api/resource.ts";
import type { SharedIndexInformerOptions } from "../informer/options.ts";
import type { ByteBudget, Hold } from "./byte_budget.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";
import type { AcquiredInformer, SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import type { ClientStream } from "./channel.ts";
import { Feed, type FeedOptions, type StreamRequest } from "./feed.ts";
import { eTag, ifNoneMatch } from "@std/http/etag";
import { DerivedController } from "../async/signals.ts";
import { type CollectionList, stateOf } from "./format.ts";
import {
  ANSWER_HEADERS,
  listHeaders,
  type OpenRequest,
  planWithoutData,
  type Refusal,
  refuse,
  requestedOf,
  type RequestPlan,
  STREAM_HEADERS,
  streamResponse,
} from "./http.ts";
import { accepts } from "@std/http/negotiation";

const encoder = new TextEncoder();

/** Options of a {@linkcode ListBody}. */
interface ListBodyOptions {
  /** The members beside the objects. */
  readonly head: object;
  /** The objects and fields of them. */
  readonly selection: ObjectSelection;
  /** The time for which a client may leave unread what there is to read, in milliseconds. */
  readonly stallMs: number;
  /** Called once, when nothing more is written. */
  readonly onEnd: () => void;
}

/** The members of an object and a list, `items`, as a body of JSON that is made while it is read. */
class ListBody {
  /** The bytes of the response. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #selection: ObjectSelection;
  readonly #stallMs: number;
  readonly #onEnd: () => void;
  readonly #stall = new LongTimer(() => this.cut("The client does not read"));
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  /** Empty once the body has ended. */
  #objects: readonly ShownObject[];
  #index = 0;
  /** The text before the first object; `""` once it was written. */
  #head: string;
  /** The text before the next object. */
  #comma = "";
  #isOver = false;

  /** Begins when the body is first read. */
  constructor(objects: readonly ShownObject[], { head, selection, stallMs, onEnd }: ListBodyOptions) {
    this.#objects = objects;
    this.#selection = selection;
    this.#stallMs = stallMs;
    this.#onEnd = onEnd;
    this.#head = `${JSON.stringify(head).slice(0, -1)},"items":[`;
    this.stream = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): Promise<void> => this.#write(),
      cancel: (): void => this.#end(),
    }, { highWaterMark: 0 });
    this.#stall.arm(stallMs);
  }

  /** Breaks the body, which is not complete. */
  cut(reason: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller.error(new Error(reason));
  }

  async #write(): Promise<void> {
    this.#stall[Symbol.dispose]();
    while (!this.#isOver) {
      const { texts, to } = objectTexts(this.#objects, this.#index, this.#selection);
      this.#index = to;
      const isLast = to === this.#objects.length;
      if (texts.length > 0 || isLast) {
        const comma = texts.length > 0 ? this.#comma : "";
        this.#controller.enqueue(encoder.encode(`${this.#head}${comma}${texts.join(",")}${isLast ? "]}" : ""}`));
        this.#head = "";
        if (texts.length > 0) this.#comma = ",";
        if (!isLast) return this.#stall.arm(this.#stallMs);
        this.#end();
        return this.#controller.close();
      }
      await nextTurn();
    }
  }

  #end(): void {
    this.#stall[Symbol.dispose]();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#objects = [];
    this.#onEnd();
  }
}

/**
 * One collection that a relay serves: its resource, and the options of its informer. The data of Secrets is served if
 * `keep: "data"` asks for it.
 */
export interface RelayedCollection extends Selection, SharedIndexInformerOptions<KubernetesObject> {
  /** The kind, or the table of it: then views have its rows, and lists and event streams the objects in them. */
  readonly resource: Resource;
}

/** The bytes of an object in a list of its own, beside the object. */
const OBJECT_BYTES = 64;

/** The bytes of an object that came as something else than text. */
const UNKNOWN_BYTES = 2_048;

/** The objects of one version of the cache, while a list of them is being read. */
interface Version {
  readonly name: string;
  readonly entries: readonly Entry<KubernetesObject>[];
  readonly objects: readonly ShownObject[];
  readonly hold: Hold;
  /** Each cuts the list of one reader. */
  readonly readers: Set<() => void>;
}

/** The objects of a list, until its disposal. */
interface ListReading extends Disposable {
  /** The objects. */
  readonly objects: readonly ShownObject[];
}

/**
 * The objects of unread lists. Lists of one version of the cache share them. A version holds what it has beside the
 * cache: a reference to each object, and the objects that the next version does not have.
 */
class SharedLists implements Disposable {
  readonly #budget: ByteBudget;
  readonly #show: Show;
  /** Those that have readers, from the oldest on. */
  readonly #versions: Version[] = [];

  /** None yet, of objects as `show` leaves them. */
  constructor(budget: ByteBudget, show: Show) {
    this.#budget = budget;
    this.#show = show;
  }

  /**
   * Begins to read the version of that name, whose entries are `entries()`. `cut` ends the list, when others need the
   * bytes. Returns `undefined` if there is no room.
   */
  read(name: string, entries: () => readonly Entry<KubernetesObject>[], cut: () => void): ListReading | undefined {
    const last = this.#versions.at(-1);
    const version = last?.name === name ? last : this.#begin(name, entries());
    if (version === undefined) return undefined;
    version.readers.add(cut);
    return {
      objects: version.objects,
      [Symbol.dispose]: () => {
        if (version.readers.delete(cut) && version.readers.size === 0) this.#end(version);
      },
    };
  }

  /** Cuts all lists. */
  [Symbol.dispose](): void {
    for (const { readers } of [...this.#versions]) for (const cut of [...readers]) cut();
  }

  #begin(name: string, entries: readonly Entry<KubernetesObject>[]): Version | undefined {
    const last = this.#versions.at(-1);
    if (last !== undefined) {
      const present = new Set(entries);
      const old = last.entries.filter((entry) => !present.has(entry));
      last.hold.resize(
        old.reduce((sum, { textBytes = UNKNOWN_BYTES }) => sum + textBytes, entries.length * OBJECT_BYTES),
      );
    }
    const readers = new Set<() => void>();
    const hold = this.#budget.hold(Math.max(1, entries.length * OBJECT_BYTES), () => {
      for (const cut of [...readers]) cut();
    });
    if (hold === undefined) return undefined;
    const objects = entries.map((entry) => new ShownObject(entry, this.#show));
    const version = { name, entries, objects, hold, readers };
    this.#versions.push(version);
    return version;
  }

  /** Forgets a version without readers. What it alone had, an older one may have too. */
  #end(version: Version): void {
    const index = this.#versions.indexOf(version);
    this.#versions.splice(index, 1);
    const bytes = version.hold.bytes - version.entries.length * OBJECT_BYTES;
    version.hold[Symbol.dispose]();
    const older = this.#versions[index - 1]?.hold;
    if (bytes > 0) older?.resize(older.bytes + bytes);
  }
}

/** Options of a {@linkcode ServedCollection}. */
interface ServedCollectionOptions extends ShowOptions, Pick<FeedOptions, "budget" | "heartbeatMs" | "stallMs"> {
  /** The name of the cluster, or of the relay alone. */
  readonly cluster: string;
  /** The time from the end of the last stream to the release of the informer, in milliseconds. */
  readonly lingerMs: number;
}

/**
 * A collection under the name that it has in addresses: its informers, its objects as clients may see them, and the
 * feed of its streams.
 *
 * The feed holds an informer from the first stream until `lingerMs` after the last one; lists and views acquire
 * informers of their own.
 */
export class ServedCollection implements Disposable {
  /** The name. */
  readonly name: string;
  /** The kind, or the table of it. */
  readonly resource: Resource;
  /** Returns what clients may see of an object, also where the collection is a table. */
  readonly show: Show;
  /** Returns what clients may see of an object of views: the row, where the collection is a table. */
  readonly showRow: Show;
  /** `true` if there may be objects of which clients see nothing. */
  readonly hides: boolean;
  /** The objects of lists that are being read. */
  readonly lists: SharedLists;
  readonly #informers: SharedInformerFactory;
  readonly #collection: RelayedCollection;
  readonly #options: ServedCollectionOptions;
  readonly #linger = new LongTimer(() => this[Symbol.dispose]());
  /** Set while there are streams, and `lingerMs` longer. */
  #feed: Feed | undefined;

  /** @throws {TypeError} when the name cannot be part of an address. */
  constructor(
    informers: SharedInformerFactory,
    name: string,
    given: Resource | RelayedCollection,
    options: ServedCollectionOptions,
  ) {
    if (!/^[\w.-]+$/.test(name) || name === "." || name === "..") {
      throw new TypeError(`Cannot serve ${JSON.stringify(name)}: expected letters, digits, ".", "_" and "-"`);
    }
    this.name = name;
    this.#informers = informers;
    this.#collection = "resource" in given ? given : { resource: given };
    this.#options = options;
    this.resource = this.#collection.resource;
    this.showRow = showFor(this.resource, options);
    this.show = this.resource.representation === "table"
      ? (entry) => (this.showRow(entry) as TableRow | undefined)?.object
      : this.showRow;
    this.hides = options.redact !== undefined;
    this.lists = new SharedLists(options.budget, this.show);
  }

  /** The number of open streams; `undefined` if there have been none for `lingerMs`. */
  get streams(): number | undefined {
    return this.#feed?.size;
  }

  /** Acquires its informer. */
  acquire(): AcquiredInformer<KubernetesObject> {
    const { resource, ...options } = this.#collection;
    return this.#informers.acquire(resource, options);
  }

  /** Returns the namespaces that a selection asks for. */
  namespacesOf({ namespace }: { readonly namespace: string }): readonly string[] | "all" {
    return namespace === "" ? this.#collection.namespaces ?? "all" : [namespace];
  }

  /**
   * Returns a digest of the cluster, the collection and a selection: equal for requests of the same objects and fields.
   */
  scopeOf({ id }: ObjectSelection): Promise<string> {
    return digest(JSON.stringify([this.#options.cluster, this.name, this.#collection.namespaces, id]));
  }

  /** Opens a stream of its feed. */
  openStream(request: StreamRequest): ClientStream {
    const { budget, heartbeatMs, stallMs, lingerMs } = this.#options;
    this.#linger[Symbol.dispose]();
    const feed = this.#feed ??= new Feed(this.acquire(), {
      show: this.show,
      hides: this.hides,
      budget,
      heartbeatMs,
      stallMs,
      onStop: () => this[Symbol.dispose](),
    });
    return feed.open({
      ...request,
      onEnd: () => {
        request.onEnd();
        if (this.#feed === feed && feed.size === 0) this.#linger.arm(lingerMs);
      },
    });
  }

  /** Ends its streams, with the reason `closed`, and gives the informer of its feed back. */
  [Symbol.dispose](): void {
    const feed = this.#feed;
    this.#feed = undefined; // so that the last stream does not arm the timer
    this.#linger[Symbol.dispose]();
    feed?.[Symbol.dispose]();
  }
}

/** Returns 96 bits of the SHA-256 of a text, as base64url. */
async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes.subarray(0, 12))).replaceAll("+", "-").replaceAll("/", "_");
}

/** The longest wait for the first sync of a cache. */
interface SyncWait {
  /** The time, in milliseconds. */
  readonly syncMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode answerList}. */
interface AnswerListOptions extends SyncWait {
  /** The request, which lasts until its answer was read. */
  readonly open: OpenRequest;
  /** The time for which a client may leave unread what there is to read, in milliseconds. */
  readonly stallMs: number;
}

/**
 * Answers a request for the selected objects of a collection, as `RelayList` describes, or by 304 where it has them.
 */
async function answerList(
  request: Request,
  collection: ServedCollection,
  selection: ObjectSelection,
  { open, stallMs, ...wait }: AnswerListOptions,
): Promise<Response> {
  const scope = await collection.scopeOf(selection);
  using held = collection.acquire();
  const { informer } = held;
  const problem = await unsynced(informer, wait);
  if (problem !== undefined) return refuse(request, problem);
  const status = informer.status();
  const { resourceVersion, namespaces = [] } = status;
  const head = { name: collection.name, resourceVersion, ...stateOf(status) };
  const versions = namespaces.map((it) => it.resourceVersion);
  const etag = await eTag(JSON.stringify([scope, versions, head]), { weak: true });
  const headers = { ...listHeaders(collection.resource.kind), etag };
  if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  if (request.method === "HEAD") return new Response(null, { headers });
  const version = JSON.stringify([resourceVersion, versions, status.objects, status.events]);
  const cut = (): void => body.cut("The relay was disposed, or is short of memory, and other lists are younger");
  const reading = collection.lists.read(version, () => informer.entries.list(), cut);
  if (reading === undefined) return refuse(request, { status: 503, reason: "too many lists and views are open" });
  const onEnd = (): void => {
    reading[Symbol.dispose]();
    open.leave();
  };
  const body = new ListBody(reading.objects, { head, selection, stallMs, onEnd });
  open.keep();
  return new Response(body.stream, { headers });
}

/** Waits until the informer has synced; returns the reason if it does not. */
async function unsynced(
  informer: SharedIndexInformer<KubernetesObject, never>,
  { syncMs, signal }: SyncWait,
): Promise<Refusal | undefined> {
  if (informer.hasSynced) return undefined;
  // Not the signal of the request: Deno warns of its use, as it aborts after a successful answer too.
  using wait = new DerivedController(signal);
  using timer = new LongTimer(() => wait.abort(new DOMException("The first sync takes too long", "TimeoutError")));
  timer.arm(syncMs);
  try {
    await informer.waitForCacheSync({ signal: wait.signal });
    return undefined;
  } catch {
    const { state } = informer.status();
    if (state === "forbidden" || state === "unauthorized" || state === "notFound") {
      return { status: 502, reason: `the API server refuses this relay (${state})` };
    }
    return { status: 503, reason: `the cache has not synced (${state})` };
  }
}

/** The paths of collections: the objects as JSON, or as events. */
const COLLECTION = /^\/(api|events)\/([^/]+)$/;

/** Options of {@linkcode planCollections}; the signal aborts when the relay is disposed. */
interface PlanCollectionsOptions extends AnswerListOptions {
  /** The collections by their names. */
  readonly collections: ReadonlyMap<string, ServedCollection>;
}

/**
 * Reads a request whose path is `/api`, `/api/<name>` or `/events/<name>`, which is answered as `RelayEvents`
 * describes; `undefined` for other paths.
 */
export function planCollections(request: Request, options: PlanCollectionsOptions): RequestPlan | undefined {
  const { collections } = options;
  const refused = (refusal: Refusal, more?: Record<string, string>): RequestPlan =>
    planWithoutData(() => refuse(request, refusal, more));
  const { pathname, searchParams } = new URL(request.url);
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (pathname === "/api" && isRead) {
    return planWithoutData(() => {
      const body = request.method === "HEAD" ? null : JSON.stringify(listOf(collections));
      return new Response(body, { headers: { ...ANSWER_HEADERS, "content-type": "application/json" } });
    });
  }
  const match = COLLECTION.exec(pathname);
  if (match === null) return undefined;
  const [, route, name] = match;
  const collection = collections.get(name);
  if (collection === undefined) {
    const names = [...collections.keys()].join(", ");
    return refused({ status: 404, reason: `found no collection of that name, expected one of ${names}` });
  }
  if (!isRead) {
    return refused({ status: 405, reason: "use GET" }, { allow: "GET, HEAD" });
  }
  const isList = route === "api";
  const type = isList ? "application/json" : "text/event-stream";
  if (accepts(request, type) === undefined) return refused({ status: 406, reason: `expected ${type}` });
  let selection: ObjectSelection;
  try {
    selection = ObjectSelection.parse(searchParams, isList ? [] : ["lastEventId"]);
  } catch (error) {
    return refused({ status: 400, reason: (error as Error).message });
  }
  return {
    requested: requestedOf([{ collection: name, namespaces: collection.namespacesOf(selection) }]),
    answer: (expiresAt) => {
      if (isList) return answerList(request, collection, selection, options);
      if (request.method === "HEAD") return new Response(null, { headers: STREAM_HEADERS });
      return answerEvents(request, collection, selection, { ...options, expiresAt });
    },
  };
}

async function answerEvents(
  request: Request,
  collection: ServedCollection,
  selection: ObjectSelection,
  options: PlanCollectionsOptions & { readonly expiresAt: Date | undefined },
): Promise<Response> {
  const scope = await collection.scopeOf(selection);
  if (options.signal.aborted) return refuse(request, { status: 503, reason: "the relay was stopped" });
  const id = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("lastEventId");
  const lastEventId = id || undefined;
  return streamResponse((onEnd) => collection.openStream({ selection, scope, lastEventId, onEnd }), options);
}

function listOf(collections: ReadonlyMap<string, ServedCollection>): CollectionList {
  return {
    collections: [...collections].map(([name, { resource: { kind, scope, representation } }]) => {
      return { name, kind, scope, isTable: representation === "table" };
    }),
  };
}
