import {
  type Abortable,
  defined,
  type ListOptions,
  type Selection,
  WATCH_GRACE_MS,
  watchTimeoutError,
} from "../api/options.ts";
import type { Resource } from "../api/resource.ts";
import { type Durations, Histogram, monotonicMs, RecentCount, TimeLimit } from "../async/time.ts";
import { UnreachableError } from "../api/status.ts";
import type { Change, ListerWatcher, ListPart, OpenPage } from "../api/lister_watcher.ts";
import { cancellable, type CancellableStream, ReadAhead } from "../async/iterate.ts";
import { DerivedController } from "../async/signals.ts";
import { Pacer } from "../async/turns.ts";
import type { WatchFacts } from "./transition.ts";

/** A list or watch that a reflector begins. */
export interface ReflectorRequest {
  /** A list in pages, a list over the watch (a streaming list), or a watch. */
  readonly type: "pages" | "stream" | "watch";
  /** The list is not older than this version; the watch delivers changes after it. `""`: the newest state. */
  readonly resourceVersion: string;
  /** The resource, where the source names it; that of a client does. */
  readonly resource?: Resource;
  /** The part of the collection, where the source names it. */
  readonly selection?: Selection;
}

/** The end of a list, page or watch. */
export interface RequestEnd {
  /**
   * `"listed"`: a list or page is complete; `"ended"`: the server ended the watch; `"relist"`: a list was asked for.
   */
  readonly outcome: "listed" | "ended" | "failed" | "relist" | "paused" | "stopped";
  /** The number of objects that a list or page had. */
  readonly objects?: number;
  /** The number of changes that a watch delivered. */
  readonly events?: number;
  /** The error, of a failure. */
  readonly error?: unknown;
}

/**
 * Observes one request. Its methods must not throw: their errors are failures of the request, or end the run of the
 * reflector.
 */
export interface RequestObserver {
  /**
   * Calls `send` once, and returns its result. `send` sends the request; what follows the answer runs outside of the
   * call.
   */
  send<R>(send: () => R): R;
  /**
   * Called for each chunk of the answer, with the time that decoding it took, in milliseconds; by the client of this
   * package.
   */
  decoded(ms: number): void;
  /** Called once, at the end. */
  ended(end: RequestEnd): void;
}

/**
 * Observes a list or watch of a reflector. Of a list in pages each page is a request, with an observer of its own. A
 * watch after a streaming list reads on from the same response: then nothing is sent.
 */
export interface ListWatchObserver extends RequestObserver {
  /** Called when a page of a list is requested. The next page may be requested before this one has ended. */
  page(): RequestObserver;
  /** Called when a list has been committed to the store, with the time that the commit took, in milliseconds. */
  committed(ms: number): void;
}

/** Called when a list or watch begins. Returns its observer; `undefined` for one that is not observed. */
export type ObserveRequest = (request: ReflectorRequest) => ListWatchObserver | undefined;

/** The end of a watch. */
export interface WatchEnd {
  /** The time of day, in milliseconds since 1970. */
  readonly at: number;
  /** The reason, in a sentence. */
  readonly reason: string;
  /** The error that ended the watch; absent where the server ended it without one. */
  readonly error?: unknown;
}

/** Counts of the work of a reflector. */
export interface ReflectorCounters {
  /** Lists begun; a streaming list counts as a watch. */
  readonly lists: number;
  /** Lists that have replaced the contents of the store, streaming lists included; a restore counts as one. */
  readonly completedLists: number;
  /** Pages requested. */
  readonly pages: number;
  /** Watches begun. */
  readonly watches: number;
  /** Changes received from watches. */
  readonly events: number;
  /** Phases that failed. */
  readonly failures: number;
  /** Objects of the current list that have arrived; `undefined` while there is no list. */
  readonly listed: number | undefined;
  /** Objects of the current list that are still to arrive, where the server sends their number. */
  readonly remaining: number | undefined;
  /** The time of the last bytes from the server, in milliseconds since 1970; 0 before the first. */
  readonly lastByteAt: number;
  /** The time of the last bookmark, in milliseconds since 1970; 0 before the first. */
  readonly lastBookmarkAt: number;
  /** The end of the last watch; `undefined` before the first. */
  readonly lastWatchEnd: WatchEnd | undefined;
  /** Lists of the last minute, without the first one. */
  readonly recentRelists: number;
  /** Watches of the last minute that resumed an earlier one. */
  readonly recentResumes: number;
  /** The times from the beginning of a list to the end of its commit, of complete lists. */
  readonly listMs: Durations;
  /** The times that commits to the store took: of lists, and of restores. */
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
export class ObservedPage<T> implements OpenPage<ListPart<T>> {
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
  readonly #batches: CancellableStream<readonly Change<T>[]>;
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
  constructor(
    open: (signal: AbortSignal) => AsyncIterable<readonly Change<T>[]>,
    options: WatchStreamOptions,
  ) {
    const { signal, timeoutMs, observer } = options;
    this.#timeoutMs = timeoutMs;
    if (observer !== undefined) this.#send = (send) => observer.send(send);
    // mutant: stop-misses-watch
    this.#controller = new DerivedController(signal);
    try {
      this.#batches = cancellable(open(this.#controller.signal), this.#controller.signal);
    } catch (error) {
      this.#controller[Symbol.dispose]();
      throw error;
    }
    this.#limit = new TimeLimit(
      // mutant: idle-limit-never-fires
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
  next(): Promise<IteratorResult<readonly Change<T>[], void>> {
    if (this.#send !== undefined) return this.#request(this.#send);
    return this.#pacer.step() ? this.#pacer.turn().then(this.#readOn) : this.#batches.next();
  }

  #request(send: RequestObserver["send"]): Promise<IteratorResult<readonly Change<T>[], void>> {
    this.#send = undefined;
    return send(this.#readOn);
  }

  readonly #readOn = (): Promise<IteratorResult<readonly Change<T>[], void>> => this.#batches.next();

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
