/**
 * The watches of the fake server, and the features that may change while it runs.
 *
 * {@linkcode Watches} is the entry point: it opens a {@linkcode Watch}, delivers writes, and finds those that a fault
 * is for. {@linkcode ServerFeatures} has what lasts, bookmarks included.
 *
 * @module
 */
import { encoder } from "../../../engine/api/object.ts";
import type { Resource } from "../../../engine/api/resource.ts";
import { knownRefusal, statusJson } from "../../../engine/protocol/refusal.ts";
import { parseRevision, type ServerListOptions } from "../../../engine/protocol/requests.ts";
import { sameResource } from "../storage/definition.ts";
import {
  partialOf,
  restamped,
  type Store,
  type StoredCollection,
  type StoredObject,
  type StoreEvent,
} from "../storage/store.ts";
import { ByteBody, joinBytes } from "../wire/byte_body.ts";
import { type LineFault, LineFaults } from "../wire/faults.ts";
import { goJson } from "../wire/go_text.ts";
import type { JsonObject } from "../../../engine/api/json.ts";
import type { StoredSelection } from "./lists.ts";
import { bookmarkTable, type ResponseView, tableOfOne } from "./table.ts";

/** Settings of a watch. */
interface WatchPlan {
  /** The watched collection. */
  readonly collection: StoredCollection;
  /** The selected objects. */
  readonly selection: StoredSelection;
  /** Representation of the objects. */
  readonly view: ResponseView;
  /** Revision after which the watch starts. */
  readonly from: number;
  /** True if the client allows bookmarks. */
  readonly bookmarks: boolean;
  /** Duration in milliseconds. */
  readonly timeoutMs: number;
}

/** An event before serialization. */
type WatchLine = Pick<StoreEvent, "type" | "stored">;

const HEADS = {
  ADDED: encoder.encode('{"type":"ADDED","object":'),
  MODIFIED: encoder.encode('{"type":"MODIFIED","object":'),
  DELETED: encoder.encode('{"type":"DELETED","object":'),
} as const;
const TAIL = encoder.encode("}\n");

/** The server sends a last bookmark this long before the end of a watch. */
const LAST_BOOKMARK_MS = 2_000;
/** The longest delay that `setTimeout` supports. */
const LONGEST_MS = 0x7fff_ffff;

/**
 * One open watch: writes events as lines of JSON.
 *
 * Unread events are queued without a limit. Its timers are cleared when the watch ends for any reason.
 */
export class Watch {
  /** Body of the response. */
  readonly body: ByteBody;
  /** Settings of the watch. */
  readonly plan: WatchPlan;
  readonly #options: WatchesOptions;
  readonly #now: () => number;
  readonly #onEnd: (watch: Watch) => void;
  #endTimer: ReturnType<typeof setTimeout> | undefined;
  #bookmarkTimer: ReturnType<typeof setTimeout> | undefined;
  #elapsedMs = 0;
  #newest: StoredObject | undefined;
  #begun = false;
  /** Initial events that are sent one at a time, and events behind them; `undefined` when events are sent at once. */
  #spread: WatchLine[] | undefined;
  #spreadTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #faults = new LineFaults();

  /** Opens the watch; `now` returns the store's revision, `onEnd` is called once. */
  constructor(plan: WatchPlan, options: WatchesOptions, now: () => number, onEnd: (watch: Watch) => void) {
    this.plan = plan;
    this.#options = options;
    this.#now = now;
    this.#onEnd = onEnd;
    this.body = new ByteBody({ chunkBytes: options.chunkBytes, onClose: () => this.#ended() });
    this.#endTimer = setTimeout(() => this.end(), Math.min(plan.timeoutMs, LONGEST_MS));
    if (plan.bookmarks) this.#scheduleBookmark();
  }

  /**
   * Sends the initial objects of a streaming list, and with `end` the bookmark that marks their end. With `spreadMs`,
   * sends one event in that many milliseconds; later changes queue behind them, before the bookmark.
   */
  sendInitial(objects: Iterable<StoredObject>, end: boolean, spreadMs?: number): void {
    if (spreadMs !== undefined) {
      this.#spread = Array.from(objects, (stored) => ({ type: "ADDED", stored }));
      this.#scheduleSpread(spreadMs, end);
      return;
    }
    for (const stored of objects) this.#emit("ADDED", stored);
    if (end && this.#options.features.bookmarks) this.bookmark(true);
  }

  /** Delivers a write, if the selected objects are affected. */
  deliver({ type, stored, before }: StoreEvent): void {
    if (stored.revision <= this.plan.from) return;
    const { selection } = this.plan;
    const was = before !== undefined && selection.matches(before);
    if (type === "DELETED") {
      if (was) this.#emit("DELETED", stored);
    } else if (selection.matches(stored)) {
      this.#emit(was ? "MODIFIED" : "ADDED", stored);
    } else if (was) {
      // The object left the selection: send its last selected state under the revision of the change.
      this.#emit("DELETED", restamped(this.plan.collection.definition, before, stored.revision));
    }
  }

  /** Sends a bookmark; `end` marks the end of the initial events. While these are spread, sends nothing. */
  bookmark(end = false): void {
    if (this.#spread !== undefined) return;
    this.#faults.flush(this.body);
    this.body.push(this.#bookmarkBytes(end));
  }

  /** Sends an ERROR event and ends the watch cleanly, like kube-apiserver. */
  fail(status: JsonObject): void {
    this.#faults.flush(this.body);
    this.body.push(this.#eventOf("ERROR", status));
    this.end();
  }

  /** Ends cleanly: queued events are still delivered. */
  end(): void {
    this.#faults.flush(this.body);
    this.body.end();
    this.#ended();
  }

  /** Ends inside a line: half of an event of its newest object, or of a bookmark. */
  truncate(): void {
    this.#faults.flush(this.body);
    const line = this.#newest === undefined
      ? this.#bookmarkBytes(false)
      : joinBytes(HEADS.MODIFIED, this.#textOf(this.#newest), TAIL);
    this.body.push(line.subarray(0, line.length >>> 1));
    this.end();
  }

  /** Arms a fault for the next event that it can apply to. */
  faultNext(fault: LineFault): void {
    this.#faults.arm(fault);
  }

  #emit(type: WatchLine["type"], stored: StoredObject): void {
    if (this.#spread === undefined) this.#send({ type, stored });
    else this.#spread.push({ type, stored });
  }

  #send({ type, stored }: WatchLine): void {
    this.#newest = stored;
    const pieces = [HEADS[type], this.#textOf(stored), TAIL];
    if (!this.#faults.idle) {
      if (this.#faults.send(this.body, stored.key, joinBytes(...pieces))) this.end();
      return;
    }
    this.body.push(...pieces);
  }

  #bookmarkBytes(end: boolean): Uint8Array {
    const { collection: { definition }, view } = this.plan;
    const resourceVersion = String(this.#now());
    const annotations = end ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    const metadata = { resourceVersion, ...annotations };
    if (view.as === "table") {
      return this.#eventOf("BOOKMARK", JSON.parse(bookmarkTable(definition, metadata, this.#first())));
    }
    const partial = view.as === "partial";
    const { kind, apiVersion } = partial ? { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } : definition;
    const sorted = { apiVersion, kind, metadata: { ...annotations, resourceVersion } };
    return this.#eventOf("BOOKMARK", definition.custom && !partial ? sorted : { kind, apiVersion, metadata });
  }

  /** Returns an event of an object that is not stored. */
  #eventOf(type: string, object: JsonObject): Uint8Array {
    return encoder.encode(`{"type":"${type}","object":${goJson(object)}}\n`);
  }

  #textOf(stored: StoredObject): Uint8Array {
    const { view, collection: { definition } } = this.plan;
    if (view.as === "object") return stored.bytes;
    return view.as === "partial" ? partialOf(definition, stored) : tableOfOne(definition, stored, view, this.#first());
  }

  /** Returns true for the first line, the only one with the columns of a table. */
  #first(): boolean {
    const first = !this.#begun;
    this.#begun = true;
    return first;
  }

  #scheduleSpread(spreadMs: number, end: boolean): void {
    this.#spreadTimer = setTimeout(() => {
      const line = this.#spread!.shift();
      if (line === undefined) {
        this.#spread = undefined;
        if (end && this.#options.features.bookmarks) this.bookmark(true);
        return;
      }
      this.#send(line);
      if (!this.body.ended) this.#scheduleSpread(spreadMs, end);
    }, Math.min(spreadMs, LONGEST_MS));
  }

  #scheduleBookmark(): void {
    const delayMs = this.#nextBookmarkMs();
    if (delayMs === undefined) return;
    this.#bookmarkTimer = setTimeout(() => {
      this.#elapsedMs += delayMs;
      // Like the server: sends a bookmark only if the revision has moved since the start of the watch.
      if (this.#now() > this.plan.from && this.#options.features.bookmarks) this.bookmark();
      this.#scheduleBookmark();
    }, delayMs);
  }

  /** Returns the delay of the next bookmark: one per interval, and a last one shortly before the end. */
  #nextBookmarkMs(): number | undefined {
    const { bookmarkMs } = this.#options;
    const { timeoutMs } = this.plan;
    const leftMs = timeoutMs - this.#elapsedMs;
    const beforeLastMs = leftMs - LAST_BOOKMARK_MS;
    if (beforeLastMs >= bookmarkMs) return Math.min(bookmarkMs, LONGEST_MS);
    if (beforeLastMs > 0) return Math.min(beforeLastMs, LONGEST_MS);
    return bookmarkMs < LAST_BOOKMARK_MS && bookmarkMs < leftMs ? bookmarkMs : undefined;
  }

  #ended(): void {
    if (this.#endTimer === undefined) return;
    clearTimeout(this.#endTimer);
    clearTimeout(this.#bookmarkTimer);
    clearTimeout(this.#spreadTimer);
    this.#endTimer = undefined;
    this.#onEnd(this);
  }
}

/** Optional features of the server; they may change while it runs. */
export interface ServerFeatures {
  /** Support for streaming lists. A watch from version 0 with bookmarks is one, too. */
  streamingList: boolean;
  /** Automatic bookmarks. */
  bookmarks: boolean;
  /** Lists and watches of shards. */
  readonly shards: boolean;
}

/** Settings of all watches. */
interface WatchesOptions {
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** Returns the duration in milliseconds of a watch without a timeout. */
  readonly timeoutMs: () => number;
  /** Maximum bytes per chunk. */
  readonly chunkBytes: number;
  /** Optional features of the server. */
  readonly features: ServerFeatures;
}

/** All open watches: opens them, delivers writes to them, and finds those that a fault applies to. */
export class Watches {
  readonly #store: Store;
  readonly #options: WatchesOptions;
  readonly #open = new Map<StoredCollection, Set<Watch>>();

  /** Starts without a watch. */
  constructor(store: Store, options: WatchesOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Number of open watches. */
  get count(): number {
    return this.of().length;
  }

  /**
   * Opens a watch and sends the initial objects, or the events since its version.
   *
   * A compacted version, or a future version of a streaming list, is reported as an ERROR event inside the watch. With
   * `spreadMs`, initial events are sent one at a time, that many milliseconds apart.
   *
   * @throws {StatusError} 500 if the version is not a number, like kube-apiserver.
   */
  open(
    collection: StoredCollection,
    selection: StoredSelection,
    options: ServerListOptions,
    view: ResponseView,
    spreadMs?: number,
  ): Watch {
    const asked = parseRevision(options.resourceVersion, true);
    const { allowWatchBookmarks: bookmarks, sendInitialEvents } = options;
    // The server's rule: send the initial objects unless a version is given or they are declined.
    const initial = sendInitialEvents ?? asked === 0;
    const streaming = sendInitialEvents === true || (initial && this.#options.features.streamingList);
    const from = initial || asked === 0 ? this.#store.revision : asked;
    const oldest = Math.max(this.#store.history.compacted, collection.since);
    const failure = sendInitialEvents === true && asked > this.#store.revision
      ? knownRefusal("tooLarge", asked, this.#store.revision)
      : !initial && from < oldest
      ? knownRefusal("expired", `too old resource version: ${from} (${oldest})`)
      : undefined;
    const watch = this.#add({
      collection,
      selection,
      view,
      from,
      bookmarks,
      timeoutMs: options.timeoutSeconds > 0 ? options.timeoutSeconds * 1_000 : this.#options.timeoutMs(),
    });
    if (failure !== undefined) watch.fail(statusJson(failure.status));
    else if (initial) {
      const objects = collection.slice({ namespace: selection.namespace, revision: from });
      watch.sendInitial(objects.filter((stored) => selection.matches(stored)), streaming && bookmarks, spreadMs);
    } else {
      for (const event of this.#store.history.after(from)) if (event.collection === collection) watch.deliver(event);
    }
    return watch;
  }

  /** Delivers a write to the watches of its collection. */
  deliver(event: StoreEvent): void {
    const watches = this.#open.get(event.collection);
    if (watches !== undefined) { for (const watch of watches) watch.deliver(event); }
  }

  /** Ends the watches of a collection that is no longer served. */
  endAll(collection: StoredCollection): void {
    for (const watch of [...this.#open.get(collection) ?? []]) watch.end();
  }

  /** Returns the open watches of one resource, or all. */
  of(resource?: Resource): Watch[] {
    return [...this.#open].flatMap(([collection, watches]) =>
      resource === undefined || sameResource(collection.definition, resource) ? [...watches] : []
    );
  }

  #add(plan: WatchPlan): Watch {
    const watch = new Watch(plan, this.#options, () => this.#store.revision, (watch) => this.#remove(watch));
    let watches = this.#open.get(plan.collection);
    if (watches === undefined) this.#open.set(plan.collection, watches = new Set());
    watches.add(watch);
    return watch;
  }

  #remove(watch: Watch): void {
    const { collection } = watch.plan;
    const watches = this.#open.get(collection);
    watches?.delete(watch);
    if (watches?.size === 0) this.#open.delete(collection);
  }
}
