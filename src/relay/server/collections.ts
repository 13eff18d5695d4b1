/**
 * The collections of a relay under their names: lists, and streams of events.
 *
 * {@linkcode planCollections} is the entry point: it reads a request, which is answered once `authorize` has granted
 * it. A list that a client reads slowly is one version of the cache. Changes are distributed by `event_feed.ts`.
 *
 * @module
 */
import { eTag, ifNoneMatch } from "@std/http/etag";
import { accepts } from "@std/http/negotiation";
import type { CacheEntry } from "../../engine/api/entry.ts";
import { encoder, type KubernetesObject } from "../../engine/api/object.ts";
import type { Resource, TableRow } from "../../engine/api/resource.ts";
import { nextTurn } from "../../engine/async/turns.ts";
import { LongTimer, timedController } from "../../engine/async/time.ts";
import { jsonOf } from "../../engine/entry/entry_json.ts";
import { messageOf } from "../../engine/errors/errors.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { internals } from "../../engine/errors/internals.ts";
import { AcquiredInformer } from "../../engine/informer/acquired_informer.ts";
import { CacheScope } from "../../engine/informer/cache/cache_scope.ts";
import { DerivedCollection, type DerivedObject } from "../../engine/informer/derived_collection.ts";
import type { SharedIndexInformer } from "../../engine/informer/shared_index_informer.ts";
import type { SharedInformerFactory } from "../../engine/informer/shared_informer_factory.ts";
import { type Access, planWithoutData, requestedOf, type RequestPlan } from "./access.ts";
import { ANSWER_HEADERS, listHeaders, type Refusal, refuseRequest } from "./answers.ts";
import type { HeldBytes } from "./budget.ts";
import { ClientStream } from "./client_stream.ts";
import { UNKNOWN_BYTES } from "./change_log.ts";
import { EventFeed } from "./event_feed.ts";
import { type CollectionList, stateOf } from "./format.ts";
import {
  ObjectSelection,
  type ObjectTexts,
  objectTexts,
  PART_OBJECTS,
  type Show,
  showFor,
  ShownObject,
} from "./objects.ts";
import type { OpenRequest } from "./open_requests.ts";
import type { RelayedCollection, RelaySettings, RequestedPart } from "./options.ts";
import { Right } from "./rights.ts";
import { STREAM_HEADERS } from "./streamed_response.ts";

/** The number of rights whose digests are kept. */
const KNOWN_DIGESTS = 1_000;

/** The members of an object and a list, `items`, as a body of JSON that is made while it is read. */
export class ListBody implements ReadList {
  /** The bytes of the response. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #version: ListedVersion;
  readonly #textsFrom: (index: number) => ObjectTexts;
  readonly #open: OpenRequest;
  readonly #stall = new LongTimer(() => this.cut("The client does not read the response"));
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #index = 0;
  /** The text before the first object; `""` once it was written. */
  #head: string;
  /** The text before the next object. */
  #comma = "";
  #isOver = false;

  /**
   * Begins when the body is first read. `textsFrom` returns the selected objects of the version from an index on;
   * `head` has the other members.
   */
  constructor(version: ListedVersion, textsFrom: (index: number) => ObjectTexts, head: object, open: OpenRequest) {
    this.#version = version;
    this.#textsFrom = textsFrom;
    this.#open = open;
    this.#head = `${JSON.stringify(head).slice(0, -1)},"items":[`;
    this.stream = new ReadableStream({
      start: (controller): void => void (this.#controller = controller),
      pull: (): Promise<void> => this.#write(),
      cancel: (): void => this.#end(),
    }, { highWaterMark: 0 });
    version.readers.add(this);
    this.#stall.arm(version.lists.settings.stallMs);
  }

  /** Breaks the body, which is not complete. */
  cut(reason = "The relay was disposed, or has reached maxBytes and ends its oldest lists"): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller.error(new Error(reason));
  }

  async #write(): Promise<void> {
    this.#stall[Symbol.dispose]();
    try {
      await this.#writePart();
    } catch (cause) {
      this.#open.report(new InformerError("Cannot send a list, so its response was cut off", { cause }));
      this.cut("The relay failed; its log has the reason");
    }
  }

  async #writePart(): Promise<void> {
    while (!this.#isOver) {
      const { entries, lists } = this.#version;
      const { texts, to } = this.#textsFrom(this.#index);
      this.#index = to;
      const isLast = to === entries.length;
      if (texts.length > 0 || isLast) {
        const comma = texts.length > 0 ? this.#comma : "";
        this.#controller.enqueue(encoder.encode(`${this.#head}${comma}${texts.join(",")}${isLast ? "]}" : ""}`));
        this.#head = "";
        if (texts.length > 0) this.#comma = ",";
        if (!isLast) return this.#stall.arm(lists.settings.stallMs);
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
    this.#version.lists.left(this.#version, this);
    this.#open.leave();
  }
}

/** The bytes that a list needs for a reference to an object. */
const OBJECT_BYTES = 64;

/** A list that is being read. The relay cuts it if others need the bytes. */
interface ReadList {
  /** Ends the list, which is not complete. */
  cut(): void;
}

/** The objects of one version of the cache, while a list of them is being read. */
export interface ListedVersion {
  readonly name: string;
  readonly lists: SharedLists;
  readonly entries: readonly CacheEntry<KubernetesObject>[];
  readonly objects: readonly ShownObject[];
  /** The same in the order of their keys, which says nothing of objects that a reader may not see. */
  readonly sorted: () => readonly ShownObject[];
  readonly hold: HeldBytes;
  readonly readers: Set<ReadList>;
}

/**
 * The objects of unread lists. Lists of one version of the cache share them. A version holds what it has beside the
 * cache: a reference to each object, and the objects that the next version does not have.
 */
export class SharedLists implements Disposable {
  readonly settings: RelaySettings;
  readonly #show: Show;
  /** The versions with readers, from the oldest on. */
  readonly #versions: ListedVersion[] = [];

  /** None yet, of objects as `show` leaves them. */
  constructor(show: Show, settings: RelaySettings) {
    this.#show = show;
    this.settings = settings;
  }

  /**
   * Returns the version of that name, whose entries are `entries()`, for a list that is to be read; `undefined` if
   * there is no room. Its lists are cut when others need the bytes.
   */
  version(name: string, entries: () => readonly CacheEntry<KubernetesObject>[]): ListedVersion | undefined {
    const last = this.#versions.at(-1);
    return last?.name === name ? last : this.#begin(name, entries());
  }

  /** A list of a version is no longer read. */
  left(version: ListedVersion, reader: ReadList): void {
    if (version.readers.delete(reader) && version.readers.size === 0) this.#end(version);
  }

  /** Cuts all lists. */
  [Symbol.dispose](): void {
    for (const { readers } of [...this.#versions]) for (const reader of [...readers]) reader.cut();
  }

  #begin(name: string, entries: readonly CacheEntry<KubernetesObject>[]): ListedVersion | undefined {
    const last = this.#versions.at(-1);
    if (last !== undefined) {
      const present = new Set(entries);
      const old = last.entries.filter((entry) => !present.has(entry));
      last.hold.resize(
        old.reduce((sum, { textBytes = UNKNOWN_BYTES }) => sum + textBytes, entries.length * OBJECT_BYTES),
      );
    }
    const readers = new Set<ReadList>();
    const hold = this.settings.budget.hold(Math.max(1, entries.length * OBJECT_BYTES), () => {
      for (const reader of [...readers]) reader.cut();
    });
    if (hold === undefined) return undefined;
    const objects = entries.map((entry) => new ShownObject(entry, this.#show));
    let inOrder: readonly ShownObject[] | undefined;
    const sorted = (): readonly ShownObject[] => inOrder ??= objects.toSorted((a, b) => a.key < b.key ? -1 : 1);
    const version = { name, lists: this, entries, objects, sorted, hold, readers };
    this.#versions.push(version);
    return version;
  }

  /** Forgets a version without readers. Objects that only this version had may also be in an older one. */
  #end(version: ListedVersion): void {
    const index = this.#versions.indexOf(version);
    this.#versions.splice(index, 1);
    const bytes = version.hold.bytes - version.entries.length * OBJECT_BYTES;
    version.hold[Symbol.dispose]();
    const older = this.#versions[index - 1]?.hold;
    if (bytes > 0) older?.resize(older.bytes + bytes);
  }
}

/**
 * A collection under the name that it has in addresses: its informers, its objects as clients may see them, and the
 * feed of its streams.
 *
 * The feed holds an informer from the first stream until `lingerMs` after the last one, or from the beginning to the
 * end of a relay that has replicas; lists and views acquire informers of their own.
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
  readonly #informers: SharedInformerFactory;
  readonly #collection: RelayedCollection;
  /** Set if and only if the collection is derived. */
  readonly #derived: DerivedCollection<DerivedObject, string> | undefined;
  /** Distinguishes states without a version, as of a derived collection, from another process's states. */
  readonly #life: string = crypto.randomUUID();
  readonly #settings: RelaySettings;
  /** Equal for collections of the same objects of the same cluster, as clients see them. */
  readonly #identity: string;
  /** The objects of lists that are being read. */
  readonly #lists: SharedLists;
  /** Aborts with the disposal. */
  readonly #job = new AbortController();
  /** The last digests of what rights have, by their ids. */
  readonly #seen = new Map<string, { readonly name: string; readonly digest: string }>();
  /** Set while there are streams, and `lingerMs` longer. Always set if the relay has replicas. */
  #feed: EventFeed | undefined;

  /** @throws {TypeError} when the name cannot be part of an address. */
  constructor(informers: SharedInformerFactory, name: string, settings: RelaySettings) {
    if (!/^[\w.-]+$/.test(name) || name === "." || name === "..") {
      throw new TypeError(
        `Cannot serve ${JSON.stringify(name)}: a collection's name must consist of letters, digits, ".", "_" and "-"`,
      );
    }
    const given = settings.collections[name];
    this.name = name;
    this.#informers = informers;
    this.#derived = given instanceof DerivedCollection ? given : undefined;
    this.#collection = given instanceof DerivedCollection
      ? { resource: { group: "derived", version: "v1", plural: name, kind: name, scope: "Namespaced" } }
      : "resource" in given
      ? given
      : { resource: given };
    this.#settings = settings;
    this.resource = this.#collection.resource;
    this.showRow = showFor(this.resource, settings);
    this.show = this.resource.representation === "table"
      ? (entry) => (this.showRow(entry) as TableRow | undefined)?.object
      : this.showRow;
    this.#lists = new SharedLists(this.show, settings);
    const { namespace, namespaces, labelSelector, fieldSelector, secretData: keep } = this.#collection;
    const shape = [this.resource, namespace, namespaces, labelSelector, fieldSelector, keep, this.reduction];
    this.#identity = JSON.stringify([settings.cluster, name, shape, String(settings.redact)]);
  }

  /** The number of open streams; `undefined` if there have been none for `lingerMs`. */
  get streams(): number | undefined {
    return this.#feed?.streams.length;
  }

  /** `true` if its objects are derived: no kind of the API server has them. */
  get isDerived(): boolean {
    return this.#derived !== undefined;
  }

  /** The part or form of its objects, for messages; `undefined` if they are complete. */
  get reduction(): string | undefined {
    const transform = this.isDerived
      ? undefined
      : this.#informers[internals].transformFor(this.resource, this.#collection);
    return new CacheScope(this.resource, [], { ...this.#collection, transform }).reduction;
  }

  /** Acquires its informer; a derived collection is there in any case, and has all that a relay uses of informers. */
  acquire(): AcquiredInformer<KubernetesObject> {
    if (this.#derived !== undefined) {
      const informer = this.#derived as unknown as SharedIndexInformer<KubernetesObject>;
      return new AcquiredInformer<KubernetesObject>(informer, this.name, () => {});
    }
    const { resource, ...options } = this.#collection;
    return this.#informers.acquire(resource, options);
  }

  /** Returns the objects that a selection asks for. */
  requested({ namespace }: { readonly namespace: string }): RequestedPart {
    const own = this.#derived === undefined
      ? this.#informers[internals].namespacesFor(this.resource, this.#collection)
      : undefined;
    const namespaces = namespace === "" ? own ?? "all" : [namespace];
    return { collection: this.name, resource: this.resource, namespaces };
  }

  /** Returns the right to it that `access` has; `undefined` if a client may see all of it. */
  rightOf({ rights }: Access): Right | undefined {
    return rights && Right.of(rights[this.name], this.resource, this.#settings);
  }

  /**
   * Answers a request for its selected objects, as `RelayList` describes, or by 304 if the client has them.
   */
  async answerList(request: Request, asked: ObjectSelection, open: OpenRequest, access: Access): Promise<Response> {
    const selection = this.#limit(asked, access);
    using held = this.acquire();
    const { informer } = held;
    const problem = await this.unsynced(informer);
    if (problem !== undefined) return refuseRequest(request, problem);
    const status = informer.status();
    const { resourceVersion, namespaces = [] } = status;
    const head = { name: this.name, resourceVersion, ...stateOf(status) };
    const { moves } = informer[internals].sync;
    const versions = this.#derived === undefined && moves === undefined
      ? namespaces.map((it) => it.resourceVersion)
      : [this.#life, ...[status.events, status.objects, moves].map(String)];
    const name = JSON.stringify([resourceVersion, versions, status.objects, status.events]);
    const { right } = selection;
    // Taken with the versions: what comes while the tag is made is of the next list.
    const entries = informer.entries.list();
    // The versions of the cache, or a digest that is the same after changes that the client may not see.
    const state = right === undefined ? [versions, head] : [await this.#seenBy(right, name, entries), stateOf(status)];
    const etag = await eTag(JSON.stringify([this.#identity, selection.id, ...state]), { weak: true });
    const headers = { ...listHeaders(this.resource.kind), etag };
    if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    if (request.method === "HEAD") return new Response(null, { headers });
    const version = this.#lists.version(name, () => entries);
    if (version === undefined) {
      return refuseRequest(request, { status: 503, reason: "too many lists and views are open" });
    }
    const objects = right === undefined ? version.objects : version.sorted();
    const { stream } = new ListBody(version, (from) => objectTexts(objects, from, selection), head, open);
    open.keep();
    return new Response(stream, { headers });
  }

  /** Answers a request for its selected objects and their changes, as `RelayEvents` describes, until a time. */
  answerEvents(request: Request, asked: ObjectSelection, open: OpenRequest, access: Access): Response {
    if (this.#job.signal.aborted) return refuseRequest(request, { status: 503, reason: "the relay was stopped" });
    const id = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("lastEventId");
    const selectionFor = (granted: Access): ObjectSelection => this.#limit(asked, granted);
    return new ClientStream(this.follow(), { open, selectionFor, lastEventId: id || undefined }, access).response(
      access,
    );
  }

  /** Begins to keep changes for event streams, if that has not begun. */
  follow(): EventFeed {
    const onOver = (): void => void (this.#feed = undefined);
    return this.#feed ??= new EventFeed(this.acquire(), this.show, this.#identity, this.#settings, onOver);
  }

  /** Ends its streams, with the reason `closed`, cuts its lists, and gives the informers back. */
  [Symbol.dispose](): void {
    this.#job.abort(new DOMException("The relay was disposed", "AbortError"));
    this.#feed?.[Symbol.dispose]();
    this.#lists[Symbol.dispose]();
  }

  /** Returns a selection of what `access` grants. */
  #limit(asked: ObjectSelection, access: Access): ObjectSelection {
    return asked.limitedTo(this.rightOf(access));
  }

  /** Returns a digest of the objects that a right has; `name` is the cache's present version. */
  async #seenBy(right: Right, name: string, entries: readonly CacheEntry<KubernetesObject>[]): Promise<string> {
    const known = this.#seen.get(right.id);
    if (known?.name === name) return known.digest;
    const versions: string[] = [];
    for (const [index, entry] of entries.entries()) {
      if (index % PART_OBJECTS === PART_OBJECTS - 1) await nextTurn();
      if (!right.allowsKey(entry.key)) continue;
      const object = this.show(entry);
      if (object === undefined || !right.allows(object)) continue;
      const { uid, resourceVersion } = entry;
      versions.push(this.#derived === undefined ? `${uid} ${resourceVersion}` : jsonOf(object, entry.key));
    }
    const seen = { name, digest: await eTag(versions.sort().join()) };
    this.#seen.delete(right.id);
    this.#seen.set(right.id, seen);
    if (this.#seen.size > KNOWN_DIGESTS) this.#seen.delete(this.#seen.keys().next().value!);
    return seen.digest;
  }

  /** Waits until the informer has synced; returns the reason if it does not. */
  async unsynced(informer: SharedIndexInformer<KubernetesObject, never>): Promise<Refusal | undefined> {
    if (informer.hasSynced) return undefined;
    // Not the signal of the request: Deno warns of its use, as it aborts after a successful answer too.
    using wait = timedController(this.#settings.syncMs, "The first sync takes too long", this.#job.signal);
    try {
      await informer.waitForCacheSync({ signal: wait.signal });
      return undefined;
    } catch {
      const { state } = informer.status();
      if (state === "forbidden" || state === "unauthorized" || state === "notFound") {
        return { status: 502, reason: `the API server refuses the requests of this relay (${state})` };
      }
      return { status: 503, reason: `the cache has not synced (${state})` };
    }
  }
}

/** The paths of collections: the objects as JSON, or as events. */
const COLLECTION = /^\/(api|events)\/([^/]+)$/;

/**
 * Reads a request whose path is `/api`, `/api/<name>` or `/events/<name>`, which is answered as `RelayEvents`
 * describes; `undefined` for other paths.
 */
export function planCollections(
  request: Request,
  collections: ReadonlyMap<string, ServedCollection>,
  open: OpenRequest,
): RequestPlan | undefined {
  const refused = (refusal: Refusal, more?: Record<string, string>): RequestPlan =>
    planWithoutData(() => refuseRequest(request, refusal, more));
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
    return refused({ status: 404, reason: `the relay has no collection with this name. Its collections are ${names}` });
  }
  if (!isRead) return refused({ status: 405, reason: "use GET" }, { allow: "GET, HEAD" });
  const isList = route === "api";
  const type = isList ? "application/json" : "text/event-stream";
  if (accepts(request, type) === undefined) {
    return refused({ status: 406, reason: `the header Accept does not allow ${type}` });
  }
  let selection: ObjectSelection;
  try {
    selection = ObjectSelection.parse(searchParams, isList ? [] : ["lastEventId"]);
  } catch (error) {
    return refused({ status: 400, reason: messageOf(error) });
  }
  return {
    requested: requestedOf([collection.requested(selection)], !isList),
    answer: (access) => {
      if (isList) return collection.answerList(request, selection, open, access);
      if (request.method === "HEAD") return new Response(null, { headers: STREAM_HEADERS });
      return collection.answerEvents(request, selection, open, access);
    },
  };
}

function listOf(collections: ReadonlyMap<string, ServedCollection>): CollectionList {
  return {
    collections: [...collections].map(([name, { resource: { kind, scope, representation } }]) => {
      return { name, kind, scope, isTable: representation === "table" };
    }),
  };
}
