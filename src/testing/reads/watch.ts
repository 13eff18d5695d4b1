import { type LineFault, LineFaults } from "../faults/line_faults.ts";
import type { StoredCollection } from "../storage/stored_collection.ts";
import { partialOf, restamped, type StoredObject } from "../storage/stored_object.ts";
import type { StoreEvent } from "../storage/watch_history.ts";
import { ByteBody, joinBytes } from "../wire/byte_body.ts";
import { goJson } from "../wire/json.ts";
import type { ResponseView } from "./response_view.ts";
import type { StoredSelection } from "./stored_selection.ts";
import { bookmarkTable, tableOf } from "./table.ts";

/** What a watch was asked for. */
export interface WatchPlan {
  /** The collection it is about. */
  readonly collection: StoredCollection;
  /** Which objects of it. */
  readonly selection: StoredSelection;
  /** How objects are written. */
  readonly view: ResponseView;
  /** It tells of what came after this revision. */
  readonly from: number;
  /** Whether bookmarks were asked for. */
  readonly bookmarks: boolean;
  /** Milliseconds between bookmarks. */
  readonly bookmarkMs: number;
  /** Whether the server sends bookmarks at all, now. */
  readonly sendsBookmarks: () => boolean;
  /** Milliseconds until it ends. */
  readonly timeoutMs: number;
  /** Most bytes to a chunk. */
  readonly chunkBytes: number;
}

/** An event before it is written. */
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
/** The longest that `setTimeout` can wait. */
const LONGEST_MS = 0x7fff_ffff;

/**
 * One open watch: lines of JSON, as events come.
 *
 * What the reader has not read yet is queued without a limit. Its timers are cleared when it ends, whatever ends it.
 */
export class Watch {
  /** What goes to the client. */
  readonly body: ByteBody;
  /** What was asked for. */
  readonly plan: WatchPlan;
  readonly #now: () => number;
  readonly #onEnd: (watch: Watch) => void;
  #endTimer: ReturnType<typeof setTimeout> | undefined;
  #bookmarkTimer: ReturnType<typeof setTimeout> | undefined;
  #elapsedMs = 0;
  #newest: StoredObject | undefined;
  #begun = false;
  /** Events that are still to be sent, one at a time; `undefined` when each is sent at once. */
  #spread: WatchLine[] | undefined;
  #spreadTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #faults = new LineFaults();

  /** Opens it; `now` gives the store's revision, `onEnd` is called once. */
  constructor(plan: WatchPlan, now: () => number, onEnd: (watch: Watch) => void) {
    this.plan = plan;
    this.#now = now;
    this.#onEnd = onEnd;
    this.body = new ByteBody({ chunkBytes: plan.chunkBytes, onClose: () => this.#ended() });
    this.#endTimer = setTimeout(() => this.end(), Math.min(plan.timeoutMs, LONGEST_MS));
    if (plan.bookmarks) this.#scheduleBookmark();
  }

  /**
   * Sends the objects of a watch that begins with a list, and with `end` the bookmark behind them. With `spreadMs`, one
   * event in so many milliseconds; changes that happen meanwhile queue up behind them, before that bookmark.
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

  /** Tells of a write, as far as it concerns what was selected. */
  deliver({ type, stored, before }: StoreEvent): void {
    if (stored.revision <= this.plan.from) return;
    const { selection } = this.plan;
    const was = before !== undefined && selection.matches(before);
    if (type === "DELETED") {
      if (was) this.#emit("DELETED", stored);
    } else if (selection.matches(stored)) {
      this.#emit(was ? "MODIFIED" : "ADDED", stored);
    } else if (was) {
      // It left the selection: its last state in there, under the revision of the change.
      this.#emit("DELETED", restamped(this.plan.collection.definition, before, stored.revision));
    }
  }

  /** Says how far the server is; `end` closes the objects that were there at first. Sends nothing while these are spread. */
  bookmark(end = false): void {
    if (this.#spread !== undefined) return;
    this.#faults.flush(this.body);
    this.body.push(bookmarkLine(this.plan, this.#now(), end, () => this.#first()));
  }

  /** Tells a failure, and ends cleanly, as the server does. */
  fail(status: unknown): void {
    this.#faults.flush(this.body);
    this.body.push(encoder.encode(`{"type":"ERROR","object":${goJson(status)}}\n`));
    this.end();
  }

  /** Ends cleanly: what is queued is still delivered. */
  end(): void {
    this.#faults.flush(this.body);
    this.body.end();
    this.#ended();
  }

  /** Ends inside a line: half of what would tell of its newest object, or of a bookmark. */
  truncate(): void {
    this.#faults.flush(this.body);
    const line = this.#newest === undefined
      ? bookmarkLine(this.plan, this.#now(), false, () => this.#first())
      : joinBytes(HEADS.MODIFIED, this.#textOf(this.#newest), TAIL);
    this.body.push(line.subarray(0, line.length >>> 1));
    this.end();
  }

  /** Lets something happen to the next event that it is possible for. */
  faultNext(fault: LineFault): void {
    this.#faults.arm(fault);
  }

  #emit(type: WatchLine["type"], stored: StoredObject): void {
    if (this.#spread === undefined) this.#send({ type, stored });
    else this.#spread.push({ type, stored });
  }

  #send({ type, stored }: WatchLine): void {
    this.#newest = stored;
    const head = HEADS[type];
    const text = this.#textOf(stored);
    if (!this.#faults.idle) {
      if (this.#faults.send(this.body, stored.key, joinBytes(head, text, TAIL))) this.end();
      return;
    }
    this.body.push(head, text, TAIL);
  }

  #textOf(stored: StoredObject): Uint8Array {
    const { view, collection: { definition } } = this.plan;
    if (view.as === "object") return stored.bytes;
    return view.as === "partial" ? partialOf(definition, stored) : tableOf(definition, stored, view, this.#first());
  }

  /** Whether this is the first line: the columns of a table are told only once. */
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
      // Like the server: only what is newer than the watch's beginning is worth a bookmark.
      if (this.#now() > this.plan.from && this.plan.sendsBookmarks()) this.bookmark();
      this.#scheduleBookmark();
    }, delayMs);
  }

  /** One every so often, one shortly before the end, and none in the last moments, unless they are wanted that often. */
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

function bookmarkLine(
  { collection: { definition }, view }: WatchPlan,
  revision: number,
  end: boolean,
  first: () => boolean,
): Uint8Array {
  const partial = view.as === "partial";
  const resourceVersion = String(revision);
  const annotations = end ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  if (view.as === "table") {
    const table = bookmarkTable(definition, { resourceVersion, ...annotations }, first());
    return encoder.encode(`{"type":"BOOKMARK","object":${table}}\n`);
  }
  const { kind, apiVersion } = partial ? { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" } : definition;
  const object = definition.custom && !partial
    ? { apiVersion, kind, metadata: { ...annotations, resourceVersion } }
    : { kind, apiVersion, metadata: { resourceVersion, ...annotations } };
  return encoder.encode(`{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`);
}
