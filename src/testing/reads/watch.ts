import { type LineFault, LineFaults } from "../faults/line_faults.ts";
import type { StoredCollection } from "../storage/stored_collection.ts";
import { partialOf, protobufOf, restamped, type StoredObject } from "../storage/stored_object.ts";
import type { StoreEvent } from "../storage/watch_history.ts";
import { ByteBody, joinBytes } from "../wire/byte_body.ts";
import { goJson, type JsonObject } from "../wire/json.ts";
import { writeProtobuf, writeProtobufEvent } from "../wire/write_protobuf.ts";
import { inProtobuf, type ResponseView } from "./response_view.ts";
import type { StoredSelection } from "./stored_selection.ts";
import { bookmarkTable, tableOfOne } from "./table.ts";

/** Settings of a watch. */
export interface WatchPlan {
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
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** Returns true if the server currently sends bookmarks. */
  readonly sendsBookmarks: () => boolean;
  /** Duration in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum bytes per chunk. */
  readonly chunkBytes: number;
}

/** An event before serialization. */
interface WatchLine {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly stored: StoredObject;
}

const encoder = new TextEncoder();
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
  constructor(plan: WatchPlan, now: () => number, onEnd: (watch: Watch) => void) {
    this.plan = plan;
    this.#now = now;
    this.#onEnd = onEnd;
    this.body = new ByteBody({ chunkBytes: plan.chunkBytes, onClose: () => this.#ended() });
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
    if (end) this.#endInitial();
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
      : joinBytes(...this.#bytesOf("MODIFIED", this.#newest));
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
    const pieces = this.#bytesOf(type, stored);
    if (!this.#faults.idle) {
      if (this.#faults.send(this.body, stored.key, joinBytes(...pieces))) this.end();
      return;
    }
    this.body.push(...pieces);
  }

  /** Returns the pieces of an event: a line of JSON, or a frame of protobuf. */
  #bytesOf(type: WatchLine["type"], stored: StoredObject): readonly Uint8Array[] {
    const { view, collection: { definition } } = this.plan;
    if (inProtobuf(view)) return [writeProtobufEvent(type, protobufOf(definition, stored))];
    return [HEADS[type], this.#textOf(stored), TAIL];
  }

  #bookmarkBytes(end: boolean): Uint8Array {
    return this.#eventOf("BOOKMARK", bookmarkObject(this.plan, this.#now(), end, () => this.#first()));
  }

  /** Returns an event of an object that is not stored. */
  #eventOf(type: string, object: JsonObject): Uint8Array {
    return inProtobuf(this.plan.view)
      ? writeProtobufEvent(type, writeProtobuf(object))
      : encoder.encode(`{"type":"${type}","object":${goJson(object)}}\n`);
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

  #endInitial(): void {
    if (this.plan.sendsBookmarks()) this.bookmark(true);
  }

  #scheduleSpread(spreadMs: number, end: boolean): void {
    this.#spreadTimer = setTimeout(() => {
      const line = this.#spread!.shift();
      if (line === undefined) {
        this.#spread = undefined;
        if (end) this.#endInitial();
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
      if (this.#now() > this.plan.from && this.plan.sendsBookmarks()) this.bookmark();
      this.#scheduleBookmark();
    }, delayMs);
  }

  /** Returns the delay of the next bookmark: one per interval, and a last one shortly before the end. */
  #nextBookmarkMs(): number | undefined {
    const { bookmarkMs, timeoutMs } = this.plan;
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

function bookmarkObject(
  { collection: { definition }, view }: WatchPlan,
  revision: number,
  end: boolean,
  first: () => boolean,
): JsonObject {
  const partial = view.as === "partial";
  const resourceVersion = String(revision);
  const annotations = end ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  if (view.as === "table") {
    return JSON.parse(bookmarkTable(definition, { resourceVersion, ...annotations }, first()));
  }
  const { kind, apiVersion } = partial ? { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } : definition;
  return definition.custom && !partial
    ? { apiVersion, kind, metadata: { ...annotations, resourceVersion } }
    : { kind, apiVersion, metadata: { resourceVersion, ...annotations } };
}
