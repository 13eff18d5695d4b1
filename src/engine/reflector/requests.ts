/**
 * The requests of a reflector: lists, streaming lists and watches, their deadlines, and what is written of them.
 *
 * {@linkcode ListWatchWriter} writes lists and changes into a `ReflectorStore`; {@linkcode Replacement} is a list that
 * is staged, and committed in one step or abandoned. An observer is called around the sending of a request, not around
 * its effects. Phases are in `transition.ts`.
 *
 * @module
 */
import type { Abortable, ListOptions, Selection } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import { defined } from "../api/json.ts";
import {
  type ListerWatcher,
  type ListPart,
  type OpenPage,
  readPages,
  type WatchChange,
} from "../api/lister_watcher.ts";
import type { Resource } from "../api/resource.ts";
import { Arrivals, type ShardFilter } from "../api/shard.ts";
import { isOlder, isResourceVersion, StatusError, UnreachableError, UnversionedError } from "../api/status.ts";
import { WATCH_GRACE_MS, watchTimeoutError } from "../api/watch_timeout.ts";
import { type Durations, Histogram } from "../async/histogram.ts";
import { cancellable, type CancellableStream, ReadAhead } from "../async/iterate.ts";
import { RecentCount } from "../async/rates.ts";
import { DerivedController } from "../async/signals.ts";
import { monotonicMs, TimeLimit } from "../async/time.ts";
import { Pacer } from "../async/turns.ts";
import { failed, type FailedOutcome, type Outcome, type StreamFailure, type WatchFacts } from "./transition.ts";

/** A list or watch that a reflector starts. */
export interface ReflectorRequest {
  /** `"pages"` for a list in pages, `"stream"` for a streaming list (over the watch), or `"watch"`. */
  readonly type: "pages" | "stream" | "watch";
  /** A list is at least as new as this version. A watch delivers the changes after it. `""` means the newest state. */
  readonly resourceVersion: string;
  /** The resource, if the source names it. A client's source does. */
  readonly resource?: Resource;
  /** The selected part of the collection, if the source names it. */
  readonly selection?: Selection;
}

/** How a list, page or watch ended. */
export interface RequestEnd {
  /**
   * `"listed"`: a list or page is complete. `"ended"`: the server ended the watch. `"relist"`: somebody asked for a
   * list.
   */
  readonly outcome: "listed" | "ended" | "failed" | "relist" | "paused" | "stopped";
  /** The number of objects in a list or page. */
  readonly objects?: number;
  /** The number of changes that a watch delivered. */
  readonly events?: number;
  /** The error, after a failure. */
  readonly error?: unknown;
}

/**
 * Observes one request. Its methods must not throw: their errors count as failures of the request, or end the
 * reflector's run.
 */
export interface RequestObserver {
  /**
   * Must call `send` once, and return its result. `send` sends the request. Everything after the response happens
   * outside this call.
   */
  send<R>(send: () => R): R;
  /**
   * Called for each chunk in the response, with the time that decoding it took, in milliseconds. Only this package's
   * client calls it.
   */
  decoded(ms: number): void;
  /** Called once, at the end. */
  ended(end: RequestEnd): void;
}

/**
 * Observes a list or watch from a reflector. In a paged list each page is a request, with its own observer. A watch
 * after a streaming list continues the same response, and sends nothing.
 */
export interface ListWatchObserver extends RequestObserver {
  /** Called when a page is requested. The next page may be requested before this one has ended. */
  page(): RequestObserver;
  /** Called when a list has been committed to the store, with the commit's duration in milliseconds. */
  committed(ms: number): void;
}

/** Called when a list or watch starts. Return its observer, or `undefined` to observe nothing. */
export type ObserveRequest = (request: ReflectorRequest) => ListWatchObserver | undefined;

/** How a watch ended. */
export interface WatchEnd {
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  /** The reason, as a sentence. */
  readonly reason: string;
  /** The error that ended the watch. Not set if the server ended it without an error. */
  readonly error?: unknown;
}

/** Counts a reflector's work. */
export interface ReflectorCounters {
  /** The number of lists started. A streaming list counts as a watch. */
  readonly lists: number;
  /** The number of lists that replaced the store's contents, including streaming lists and restores. */
  readonly completedLists: number;
  /** The number of pages requested. */
  readonly pages: number;
  /** The number of watches started. */
  readonly watches: number;
  /** The number of changes received from watches. */
  readonly events: number;
  /** The number of failed phases. */
  readonly failures: number;
  /** The number of objects that have arrived in the current list. `undefined` while there is no list. */
  readonly listed: number | undefined;
  /** The number of objects still to arrive in the current list, if the server sends it. */
  readonly remaining: number | undefined;
  /** When the last bytes arrived from the server, in milliseconds since 1970. 0 before the first. */
  readonly lastByteAt: number;
  /** When the last bookmark arrived, in milliseconds since 1970. 0 before the first. */
  readonly lastBookmarkAt: number;
  /** How the last watch ended. `undefined` before the first end. */
  readonly lastWatchEnd: WatchEnd | undefined;
  /** The number of relists within the last minute. */
  readonly recentRelists: number;
  /** The number of watches within the last minute that resumed an earlier watch. */
  readonly recentResumes: number;
  /** How long complete lists took, from the request to the end of the commit. */
  readonly listMs: Durations;
  /** How long commits to the store took, for lists and restores. */
  readonly commitMs: Durations;
}

const RECENT_MS = 60_000;

/** The counts of a reflector while it works; the fields are those of {@linkcode ReflectorCounters}. */
export class LiveCounters {
  lists = 0;
  completedLists = 0;
  pages = 0;
  watches = 0;
  events = 0;
  failures = 0;
  listed: number | undefined;
  remaining: number | undefined;
  lastByteAt = 0;
  lastBookmarkAt = 0;
  lastWatchEnd: WatchEnd | undefined;
  readonly relists: RecentCount = new RecentCount(RECENT_MS);
  readonly resumes: RecentCount = new RecentCount(RECENT_MS);
  readonly listTimes: Histogram = new Histogram();
  readonly commitTimes: Histogram = new Histogram();

  /** Returns a copy. */
  snapshot(): ReflectorCounters {
    const { relists, resumes, listTimes, commitTimes, ...counts } = this;
    return {
      ...counts,
      recentRelists: relists.count,
      recentResumes: resumes.count,
      listMs: listTimes.durations,
      commitMs: commitTimes.durations,
    };
  }

  /** Starts the progress of a list at zero, or ends it. */
  setListed(listed: 0 | undefined): void {
    this.listed = listed;
    this.remaining = undefined;
  }

  /** Records the end of a watch. */
  watchEnded(reason: string, error?: unknown): void {
    this.lastWatchEnd = { at: Date.now(), reason, ...defined({ error }) };
  }
}

/** A list that can be aborted. */
interface Job {
  abort(error: Error): void;
}

/** Limits of a list; `Infinity` is no limit. */
interface ListDeadlineOptions {
  /** The longest time until the server begins to answer, in milliseconds. */
  readonly beginMs: number;
  /** The longest time without a further object after that, in milliseconds. */
  readonly progressMs: number;
  /** The longest time from the beginning of the answer to the end of the list, in milliseconds. @default {Infinity} */
  readonly completeMs?: number;
}

/**
 * `completeMs` grows by this for each object: a server that never sends the end, but an object now and then, stays
 * below.
 */
const OBJECT_MS = 2;

/**
 * Aborts a list that does not begin, makes no progress, or does not end.
 *
 * `fetch` does not notice a dead connection, and a server that never sends the bookmark that ends a streaming list is
 * given up even while it sends new objects (client-go waits forever).
 */
export class ListDeadline implements Disposable {
  readonly #job: Job;
  readonly #options: ListDeadlineOptions;
  readonly #limit: TimeLimit;
  /** The time until which the list must be complete; `undefined` if and only if the server has not begun to answer. */
  #completeAtMs: number | undefined;
  /** True if and only if the list was aborted after the server had begun to answer. */
  #isEndless = false;

  /** Starts the time of `beginMs`. */
  constructor(job: Job, options: ListDeadlineOptions) {
    this.#job = job;
    this.#options = options;
    this.#limit = new TimeLimit(() => this.#expire(), options.beginMs);
  }

  /** True if the server has begun to answer. */
  get begun(): boolean {
    return this.#completeAtMs !== undefined;
  }

  /** True if the list was aborted after it had begun. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /**
   * Counts objects that have arrived. The first call begins the answer; later ones without an object are no progress.
   */
  progress(objects: number): void {
    if (this.begun && objects === 0) return;
    const nowMs = monotonicMs();
    const { progressMs, completeMs = Infinity } = this.#options;
    this.#completeAtMs = (this.#completeAtMs ?? nowMs + completeMs) + OBJECT_MS * objects;
    this.#limit.set(Math.min(progressMs, this.#completeAtMs - nowMs));
  }

  /** Ends the deadline. */
  [Symbol.dispose](): void {
    this.#limit[Symbol.dispose]();
  }

  #expire(): void {
    const { beginMs, progressMs } = this.#options;
    this.#isEndless = this.begun;
    const problem = this.#completeAtMs === undefined
      ? `has not begun to answer for ${beginMs / 1_000} s`
      : monotonicMs() < this.#completeAtMs
      ? `has sent neither an object nor the end for ${progressMs / 1_000} s`
      : "has not sent the end in time";
    this.#job.abort(new UnreachableError(`Cannot read the list: the server ${problem}`));
  }
}

/** A page of a list, which is observed. */
class ObservedPage<T> implements OpenPage<ListPart<T>> {
  readonly #list: ListWatchObserver;
  readonly #stop: AbortSignal;
  readonly #parts: ReadAhead<ListPart<T>>;
  /** Defined if and only if the page was requested and has not ended. */
  #observer: RequestObserver | undefined;
  #isRequested = false;
  #objects = 0;

  /** Requests nothing yet. `signal` ends the page; `stop` aborts when the list is stopped or paused, no failure. */
  constructor(
    source: ListerWatcher<T>,
    list: ListOptions & Required<Abortable>,
    observer: ListWatchObserver,
    stop: AbortSignal,
  ) {
    this.#list = observer;
    this.#stop = stop;
    const onDecoded = (ms: number): void => this.#observer?.decoded(ms);
    this.#parts = new ReadAhead((signal) => source.listEntries({ ...list, signal, onDecoded }), list.signal);
  }

  /** As `OpenPage.request`. */
  request(): void {
    this.#isRequested = true;
    const observer = this.#observer = this.#list.page();
    observer.send(() => this.#parts.request());
  }

  /** As `OpenPage.next`. */
  async next(): Promise<ListPart<T> | undefined> {
    if (!this.#isRequested) this.request();
    try {
      const part = await this.#parts.next();
      if (part === undefined) this.#end({ outcome: "listed" });
      else this.#objects += part.entries.length;
      return part;
    } catch (error) {
      this.#end(this.#stop.aborted ? { outcome: "stopped" } : { outcome: "failed", error });
      throw error;
    }
  }

  /** As `OpenPage.close`. */
  async close(): Promise<void> {
    this.#end({ outcome: "stopped" });
    await this.#parts.close();
  }

  #end(end: RequestEnd): void {
    const observer = this.#observer;
    this.#observer = undefined;
    observer?.ended({ ...end, objects: this.#objects });
  }
}

/** Options for {@linkcode WatchStream}. */
interface WatchStreamOptions {
  /** Cancels the watch. */
  readonly signal: AbortSignal;
  /** The timeout that the server was asked for, in milliseconds. The watch fails 10 s later, even if it delivers. */
  readonly timeoutMs: number;
  /** Observes the request. @default {nothing} */
  readonly observer?: RequestObserver;
}

/** An open watch with a deadline. A phase of the reflector may open it, and the following one read on. */
export class WatchStream<T> {
  readonly #controller: DerivedController;
  readonly #limit: TimeLimit;
  readonly #batches: CancellableStream<readonly WatchChange<T>[]>;
  /** A source may yield batch after batch without waiting for anything. */
  readonly #pacer = new Pacer(0, 64);
  readonly #startedAtMs: number = monotonicMs();
  readonly #timeoutMs: number;
  /** Sends the request, until it is sent; `undefined` after that, and where nobody observes it. */
  #send: RequestObserver["send"] | undefined;
  /** True once the server has answered. */
  open = false;
  /** The number of changes and bookmarks so far. */
  delivered = 0;

  /** Opens a watch that ends with `signal`, by {@linkcode close} or at its deadline. */
  constructor(open: (signal: AbortSignal) => AsyncIterable<readonly WatchChange<T>[]>, options: WatchStreamOptions) {
    const { signal, timeoutMs, observer } = options;
    this.#timeoutMs = timeoutMs;
    if (observer !== undefined) this.#send = (send) => observer.send(send);
    this.#controller = new DerivedController(signal);
    try {
      this.#batches = cancellable(open(this.#controller.signal), this.#controller.signal);
    } catch (error) {
      this.#controller[Symbol.dispose]();
      throw error;
    }
    this.#limit = new TimeLimit(
      () => this.fail(watchTimeoutError("continue the watch", timeoutMs / 1_000)),
      timeoutMs + WATCH_GRACE_MS,
    );
  }

  /**
   * The watch so far. Its duration counts from the request, as proxies may hold the headers back until the first byte.
   */
  get facts(): WatchFacts {
    return {
      opened: this.open,
      delivered: this.delivered > 0,
      lastedMs: monotonicMs() - this.#startedAtMs,
      timeoutMs: this.#timeoutMs,
    };
  }

  /**
   * The next result, which its reader counts in {@linkcode open} and {@linkcode delivered}: the stream's own promise,
   * without another one per chunk.
   */
  next(): Promise<IteratorResult<readonly WatchChange<T>[], void>> {
    if (this.#send !== undefined) return this.#request(this.#send);
    return this.#pacer.step() ? this.#pacer.turn().then(this.#readOn) : this.#batches.next();
  }

  #request(send: RequestObserver["send"]): Promise<IteratorResult<readonly WatchChange<T>[], void>> {
    this.#send = undefined;
    return send(this.#readOn);
  }

  readonly #readOn = (): Promise<IteratorResult<readonly WatchChange<T>[], void>> => this.#batches.next();

  /** Fails the pending `next()`, or the following one. */
  fail(error: Error): void {
    this.#controller.abort(error);
  }

  /** Ends the watch. A pending `next()` rejects. */
  close(): void {
    this.#limit[Symbol.dispose]();
    this.#controller[Symbol.dispose]();
  }
}

/** Replaces a store's contents: values are staged while a list arrives, and committed in one step. */
export interface Replacement<V> {
  /** Stages values. If two have the same key, the later one counts. */
  add(values: readonly V[]): void;
  /** Removes a staged value that was deleted while the list arrived. */
  delete(value: V): void;
  /** Makes the staged values the store's contents, at `resourceVersion`. */
  commit(resourceVersion: string): void;
  /** Drops the staged values. The store keeps its contents. */
  abandon(): void;
}

/** The store that a reflector writes to. `Indexer` and `DeltaFIFO` implement it. */
export interface ReflectorStore<V> {
  /** Adds a value that is new on the server. */
  add(value: V): void;
  /** Updates a value that changed on the server. */
  update(value: V): void;
  /** Deletes a value. `value` is its last state. */
  delete(value: V): void;
  /** Starts to replace the contents. */
  replacing(): Replacement<V>;
  /** Resyncs: delivers every cached value again. */
  resync?(): void;
  /**
   * Called once after each batch or bookmark, in the same turn. When it returns, the store has everything up to
   * `resourceVersion`.
   */
  flush?(resourceVersion: string): void;
  /** Resolves when there is room for a list, after a call has thrown a `MemoryLimitError`. */
  room?(signal: AbortSignal): Promise<void>;
}

/** Parts of a collection that come while the rest is watched: each is listed alone, before the watch continues. */
export interface ArrivingParts {
  /** True if there are parts to be listed. */
  readonly isDue: boolean;
  /** Takes all parts, as a list of the collection begins. */
  listing(): void;
  /** Lists what is due, and adds it to the store. */
  list(signal: AbortSignal): Promise<void>;
}

/** Writes lists and changes into a store, and knows the version up to which the store has everything. */
export class ListWatchWriter<T> {
  readonly #store: ReflectorStore<CacheEntry<T>>;
  /** Counts what arrives. */
  readonly counters: LiveCounters;
  readonly #report: (error: unknown) => void;
  /**
   * The store has every change up to this version; `""` if and only if it has had no complete list. Set after each
   * flush.
   */
  #version = "";

  /** Writes into `store`; calls `report` with the error of each object that has no key, and skips the object. */
  constructor(store: ReflectorStore<CacheEntry<T>>, counters: LiveCounters, report: (error: unknown) => void) {
    this.#store = store;
    this.counters = counters;
    this.#report = report;
  }

  /** The version up to which the store has everything; `""` before the first list. */
  get version(): string {
    return this.#version;
  }

  /** Begins a replacement of the contents. */
  replacing(): Replacement<CacheEntry<T>> {
    return this.#store.replacing();
  }

  /** Returns `true` if an entry has a key; reports it otherwise. */
  readonly hasKey = (entry: CacheEntry<T>): boolean => {
    if (entry.key === "") this.#report(entry.error);
    return entry.key !== "";
  };

  /** Moves the version, because a list was committed. */
  listed(version: string): void {
    this.counters.completedLists++;
    this.#flush(version);
  }

  /** Begins to stage a list. */
  stage(): StagedList<T> {
    return new StagedList<T>(this, this.#store.replacing());
  }

  /**
   * Applies one batch, and only then moves the version. Until a batch is `ordered`, its objects do not move it: a watch
   * without a version first sends the existing objects, in any order.
   */
  apply(batch: readonly WatchChange<T>[], ordered: boolean): void {
    if (batch.length === 0) return;
    let seen = this.#version;
    for (const change of batch) {
      if (change.type === "BOOKMARK") {
        this.counters.lastBookmarkAt = Date.now();
        if (isNewer(change.resourceVersion, seen)) seen = change.resourceVersion;
        continue;
      }
      this.counters.events++;
      const { entry } = change;
      if (entry.key === "") this.#report(entry.error);
      else if (change.type === "ADDED") this.#store.add(entry);
      else if (change.type === "MODIFIED") this.#store.update(entry);
      else this.#store.delete(entry);
      const version = entry.resourceVersion;
      if (ordered && isNewer(version, seen)) seen = version;
    }
    this.#flush(seen);
  }

  /** Resolves once the store takes a list. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#store.room?.(signal);
  }

  /** Re-delivers every cached object. Does nothing before the first list. */
  resync(): void {
    if (this.#version === "") return;
    this.#store.resync?.();
    this.#flush(this.#version);
  }

  #flush(version: string): void {
    this.#store.flush?.(version);
    this.#version = version;
  }
}

/** Returns `true` if a watch may resume from `version` after `seen`. The version of an odd event may be no number. */
function isNewer(version: string, seen: string): boolean {
  if (version === "" || (isResourceVersion(seen) && !isResourceVersion(version))) return false;
  return !isOlder(version, seen);
}

/**
 * A list that is staged as it arrives. The store is unchanged until {@linkcode commit}; disposing abandons it before
 * that.
 */
class StagedList<T> implements Disposable {
  readonly #store: ListWatchWriter<T>;
  /** The replacement under way; abandoned or committed exactly once. */
  #replacement: Replacement<CacheEntry<T>>;
  /** True if and only if `#replacement` is committed. */
  #isCommitted = false;

  /** Stages in a replacement of the contents of `store`. */
  constructor(store: ListWatchWriter<T>, replacement: Replacement<CacheEntry<T>>) {
    this.#store = store;
    this.#replacement = replacement;
  }

  /** Abandons the objects staged so far, and starts a new replacement. */
  restart(): void {
    this.#replacement.abandon();
    this.#replacement = this.#store.replacing();
  }

  /** Stages objects; reports and skips those without a key. */
  add(entries: readonly CacheEntry<T>[]): void {
    this.#replacement.add(entries.filter(this.#store.hasKey));
  }

  /** Removes an object that was staged. */
  delete(entry: CacheEntry<T>): void {
    this.#replacement.delete(entry);
  }

  /** Replaces the contents of the store in one step. Returns the time that this took, in milliseconds. */
  commit(version: string): number {
    const beganMs = monotonicMs();
    this.#replacement.commit(version);
    this.#isCommitted = true;
    this.#store.listed(version);
    const commitMs = monotonicMs() - beganMs;
    this.#store.counters.commitTimes.add(commitMs);
    return commitMs;
  }

  /** Abandons the list unless it is committed. */
  [Symbol.dispose](): void {
    if (!this.#isCommitted) this.#replacement.abandon();
  }
}

/** A list that is to be read. */
interface ListRequest {
  /** The list is not older than this; `"0"`: any state that the server has at hand; `""`: the newest. */
  readonly version: string;
  /** Aborts the list; the call then rejects. */
  readonly signal: AbortSignal;
  /** The number of objects to a page. */
  readonly pageSize: number;
  /** The longest wait for the first object, and of pages for the next one, in milliseconds. */
  readonly listIdleMs: number;
  /** The longest wait of a streaming list for the next object or the end, in milliseconds. */
  readonly initialEventsTimeoutMs: number;
  /** The shard that the list is of: objects that it leaves out are progress, too. @default {all objects} */
  readonly shard?: ShardFilter;
  /** Observes the list. @default {nothing} */
  readonly observer?: ListWatchObserver;
}

/**
 * Lists in pages, and replaces the contents of the store in one step. Resolves with the version of the list.
 *
 * When a token expires, the list is started again, once, in one page. A page is closed with the signal at once,
 * whatever the source does.
 *
 * @throws {UnversionedError} when the list has no version.
 * @throws {DecodeError} when its pages do not come closer to an end.
 */
export async function readPageList<T>(
  source: ListerWatcher<T>,
  store: ListWatchWriter<T>,
  request: Omit<ListRequest, "initialEventsTimeoutMs">,
): Promise<string> {
  const { version, pageSize, listIdleMs, observer } = request;
  const { counters } = store;
  using job = new DerivedController(request.signal);
  using deadline = new ListDeadline(job, { beginMs: listIdleMs, progressMs: listIdleMs });
  using staged = store.stage();
  let listedAt: string | undefined;
  const [read, sent] = [new Arrivals(source.shard), new Arrivals(source.shard)];
  const parts = readPages({
    action: "take the list",
    list: {
      limit: pageSize,
      ...(version === "" ? {} : { resourceVersion: version }),
      // With a limit, a version without a match would mean Exact.
      ...(version === "" || version === "0" ? {} : { resourceVersionMatch: "NotOlderThan" as const }),
    },
    open: (list) => {
      counters.pages++;
      if (observer !== undefined) {
        return new ObservedPage(source, { ...list, signal: job.signal }, observer, request.signal);
      }
      return new ReadAhead((signal) => source.listEntries({ ...list, signal }), job.signal);
    },
    sizeOf: (part) => sent.count(part.entries.length),
    restart: true,
  });
  for await (const { part, restarted } of parts) {
    counters.lastByteAt = Date.now();
    deadline.progress(read.count(part.entries.length));
    if (restarted) {
      staged.restart();
      listedAt = undefined;
      counters.setListed(0);
    }
    staged.add(part.entries);
    counters.listed = (counters.listed ?? 0) + part.entries.length;
    counters.remaining = part.remainingItemCount ?? counters.remaining;
    listedAt ??= part.resourceVersion;
  }
  if (!listedAt) {
    // client-go accepts it, and watches without a version: objects that were deleted in between would never be removed.
    throw new UnversionedError(
      "Cannot use the list: it has no resourceVersion from which a watch could start. Create the informer with pollMs",
    );
  }
  const commitMs = staged.commit(listedAt);
  observer?.committed(commitMs);
  return listedAt;
}

/** A streaming list may take this many times as long as it may make no progress. */
const TOTAL_FACTOR = 3;

/** A watch without an object that ended earlier is `short`. */
const SHORT_MS = 1_000;

/**
 * Reads the initial events of a watch into the store. If the outcome is `listed`, the watch is still open: its next
 * batch is the first one after the list.
 */
export async function readStreamingList<T>(
  stream: WatchStream<T>,
  store: ListWatchWriter<T>,
  { version, signal, listIdleMs, initialEventsTimeoutMs, observer, shard }: ListRequest,
): Promise<Outcome> {
  const { counters } = store;
  const arrivals = new Arrivals(shard);
  using deadline = new ListDeadline({ abort: (error) => stream.fail(error) }, {
    beginMs: listIdleMs,
    progressMs: initialEventsTimeoutMs,
    completeMs: TOTAL_FACTOR * initialEventsTimeoutMs,
  });
  try {
    using staged = store.stage();
    for (;;) {
      const { done, value: batch } = await stream.next();
      if (done) break;
      stream.open = true;
      stream.delivered += batch.length;
      counters.lastByteAt = Date.now();
      const end = batch.findIndex((change) => change.type === "BOOKMARK" && change.initialEventsEnd);
      const before = end === -1 ? batch : batch.slice(0, end);
      const objects = stage(staged, before);
      counters.listed = (counters.listed ?? 0) + objects;
      deadline.progress(arrivals.count(objects));
      if (end === -1) continue;
      const bookmark = batch[end] as WatchChange<T> & { readonly type: "BOOKMARK" };
      const commitMs = staged.commit(bookmark.resourceVersion);
      observer?.committed(commitMs);
      counters.lastBookmarkAt = Date.now();
      // The rest of the batch belongs to the watch, which reads on from the same stream.
      store.apply(batch.slice(end + 1), true);
      return { type: "listed", resourceVersion: store.version };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const outcome = failed(error, version);
    const stream = streamFailureOf(outcome, deadline);
    return stream === undefined ? outcome : { ...outcome, stream };
  }
  const isShort = stream.delivered === 0 && stream.facts.lastedMs < SHORT_MS;
  return {
    type: "failed",
    failure: "unreachable",
    error: new UnreachableError("Cannot read the streaming list: it ended before it was complete"),
    resourceVersion: version,
    stream: isShort ? "short" : "broken",
  };
}

/** Stages changes that precede the end; returns the number of added objects. */
function stage<T>(staged: StagedList<T>, batch: readonly WatchChange<T>[]): number {
  let objects = 0;
  let run: (WatchChange<T> & { readonly type: "ADDED" | "MODIFIED" | "DELETED" })["entry"][] = [];
  for (const change of batch) {
    if (change.type === "BOOKMARK") continue;
    if (change.type === "ADDED") objects++;
    if (change.type !== "DELETED") {
      run.push(change.entry);
      continue;
    }
    staged.add(run);
    run = [];
    staged.delete(change.entry);
  }
  staged.add(run);
  return objects;
}

function streamFailureOf(outcome: FailedOutcome, deadline: ListDeadline): StreamFailure | undefined {
  if (deadline.isEndless) return "endless";
  const { error } = outcome;
  // A server that does not know streaming lists, or tables in them, does not learn them while the reflector runs.
  if (error instanceof StatusError && [400, 406, 422].includes(error.status.code)) return "unsupported";
  return outcome.failure === "unreachable" && deadline.begun ? "broken" : undefined;
}

/**
 * Reads a watch that begins after `version` into the store; resolves when the server has ended it. Calls `onOpen` once,
 * when the watch is open.
 */
export async function readWatch<T>(
  stream: WatchStream<T>,
  store: ListWatchWriter<T>,
  version: string,
  onOpen: () => void,
): Promise<void> {
  let isOpen = stream.open;
  if (isOpen) onOpen();
  // Without a version the server first sends the existing objects, in any order; only later changes move the version.
  let ordered = version !== "" && version !== "0";
  for (;;) {
    const { done, value: batch } = await stream.next();
    if (done) return;
    stream.open = true;
    stream.delivered += batch.length;
    store.counters.lastByteAt = Date.now();
    if (!isOpen) onOpen();
    isOpen = true;
    ordered ||= batch.some((change) => change.type !== "ADDED");
    store.apply(batch, ordered);
  }
}
