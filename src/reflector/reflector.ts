import type { Change } from "../api/change.ts";
import type { Entry } from "../api/entry.ts";
import { DecodeError, StatusError, UnreachableError } from "../api/errors.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { isOlder } from "../api/resource_version.ts";
import { backoffMs, type BackoffOptions, checkBackoff, unreachableBackoffMs } from "../async/time/backoff.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { checkDurations } from "../async/time/duration.ts";
import { LeakyBucket } from "../async/time/leaky_bucket.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { RecentCount } from "../async/time/recent_count.ts";
import { sleep } from "../async/time/sleep.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { IdleLimit } from "./idle_limit.ts";
import { InitialEventsDeadline } from "./initial_events_deadline.ts";
import { failed } from "./classify.ts";
import type { ListerWatcher, ReflectorStore, Replacement } from "./lister_watcher.ts";
import { pagesOf } from "./page_list.ts";
import {
  type FailedOutcome,
  firstPhase,
  type Outcome,
  type ReflectorPhase,
  RequestRateError,
  type StreamFailure,
  transition,
  type TransitionRules,
} from "./phase.ts";
import { WatchStream } from "./watch_stream.ts";

/** How a reflector follows. */
export interface ReflectorOptions {
  /** How many objects a page of a list holds. @default {500} */
  readonly pageSize?: number;
  /**
   * Whether the initial state comes over the watch (Kubernetes 1.32 and later), which spares the server memory, and takes
   * it some 1.5 times as long as pages. `"auto"` falls back to pages where the server refuses or does not keep to it; `"on"`
   * does not. @default {"auto"}
   */
  readonly streamingList?: "auto" | "on" | "off";
  /**
   * How long the server is asked to keep a watch open, in milliseconds: a random time between this and 1.8 times it. A watch
   * that is open 10 s longer is given up, and resumed. @default {120_000}
   */
  readonly watchTimeoutMs?: number;
  /**
   * How long a list may take until its first or next object, in milliseconds; `Infinity` is for ever. @default {70_000}
   */
  readonly listIdleMs?: number;
  /**
   * How long a streaming list may take until its next object or its end, in milliseconds. It may take three times as long in
   * all, and 2 ms more for each object; then pages are asked for. `Infinity` is for ever. @default {20_000}
   */
  readonly initialEventsTimeoutMs?: number;
  /** How often the store re-delivers every cached object, in milliseconds; 0 and `Infinity` are never. @default {0} */
  readonly resyncMs?: number;
  /**
   * Waits after failures in a row. While the server does not answer, the first eight are 0.5 to 1 s (`initialMs` and its
   * jitter where that is given), later ones at most 5 s, or `maxMs` if that is less.
   */
  readonly backoff?: BackoffOptions;
  /**
   * After a lost connection, or a watch that the server ended before its time, the next request waits a random time up to
   * this, in milliseconds, so that clients do not come back all at once. @default {700}
   */
  readonly reconnectMs?: number;
  /** Called with each phase as it is entered. */
  readonly onPhase?: (phase: ReflectorPhase) => void;
  /**
   * Called with what was passed over: objects that cannot be filed, a resync that failed. What it throws is reported as an
   * uncaught error, and changes nothing else.
   */
  readonly onError?: (error: unknown) => void;
}

/** How a watch ended. */
export interface WatchEnd {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** Why, in a sentence. */
  readonly reason: string;
  /** The error that ended it; none when the server ended it in good order. */
  readonly error?: unknown;
}

/** What a reflector has done so far. */
export interface ReflectorCounters {
  /** Lists begun; a streaming list counts as a watch. */
  readonly lists: number;
  /** Pages asked for. */
  readonly pages: number;
  /** Watches begun. */
  readonly watches: number;
  /** Changes received from watches. */
  readonly events: number;
  /** Phases that failed. */
  readonly failures: number;
  /** Objects that the list under way has brought so far; `undefined` when none is. */
  readonly listed: number | undefined;
  /** Objects it still has to bring, where the server says. */
  readonly remaining: number | undefined;
  /** When the server last said anything, in milliseconds since 1970; 0 when it never did. */
  readonly lastByteAt: number;
  /** When it last said how far it is, in milliseconds since 1970; 0 when it never did. */
  readonly lastBookmarkAt: number;
  /** How the last watch ended; `undefined` before one has. */
  readonly lastWatchEnd: WatchEnd | undefined;
  /** Lists of the last minute, without the first one. */
  readonly recentRelists: number;
  /** Watches of the last minute that resumed where the one before had ended. */
  readonly recentResumes: number;
}

/** Requests that begin without a wait, whatever the server answers: so many at once, and one more a second. */
const UNWAITED = { burst: 10, everyMs: 1_000 };

const RECENT_MS = 60_000;

/**
 * Keeps a store equal to a collection on the server.
 *
 * - The store is told of changes in the server's order; a version counts as seen once the store has taken it.
 * - It goes on after every failure, from where it was if the server still knows that version, else by a new list, of which
 *   the store sees the whole at once.
 * - Told to stop, it stops at whatever it waits for.
 *
 * @example
 * ```ts
 * import { Client, type Entry, Indexer, Reflector } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const cache = new Indexer<Entry<Pod>>({ keyOf: (entry) => entry.key });
 * const stop = new AbortController();
 * const reflector = new Reflector(client.resource(Pod), cache, {
 *   onPhase: (phase) => phase.name === "watching" && phase.open && stop.abort(),
 * });
 * await reflector.run({ signal: stop.signal });
 * ```
 */
export class Reflector<T extends KubernetesObject> {
  readonly #source: ListerWatcher<T>;
  readonly #store: ReflectorStore<Entry<T>>;
  readonly #options: ReflectorOptions;
  readonly #rules: TransitionRules;
  readonly #bucket = new LeakyBucket(UNWAITED);
  readonly #relists = new RecentCount(RECENT_MS);
  readonly #resumes = new RecentCount(RECENT_MS);
  readonly #counters = {
    lists: 0,
    pages: 0,
    watches: 0,
    events: 0,
    failures: 0,
    listed: undefined as number | undefined,
    remaining: undefined as number | undefined,
    lastByteAt: 0,
    lastBookmarkAt: 0,
    lastWatchEnd: undefined as WatchEnd | undefined,
  };
  #phase: ReflectorPhase = { name: "stopped" };
  #running = false;
  #seen = "";
  /** A streaming list that is complete, for the watch that reads on. */
  #stream: WatchStream<T> | undefined;
  /** The watch that is read. */
  #watched: WatchStream<T> | undefined;
  /** Whether a watch has ended since the last list: the next one resumes it. */
  #isResuming = false;
  /** Why {@linkcode relist} was called, until a list begins. */
  #relist: { readonly error: unknown } | undefined;
  /** What `onPhase` threw: it ends the run, wherever it was called. */
  #thrown: { readonly error: unknown } | undefined;

  /** Does nothing before it is run. @throws {RangeError} when an option is out of range. */
  constructor(source: ListerWatcher<T>, store: ReflectorStore<Entry<T>>, options: ReflectorOptions = {}) {
    const { pageSize = 500, watchTimeoutMs, listIdleMs, initialEventsTimeoutMs, resyncMs, reconnectMs = 700 } = options;
    const action = "create a reflector";
    if (!Number.isInteger(pageSize) || pageSize < 1) {
      throw new RangeError(`Cannot ${action}: pageSize must be a positive integer, found ${pageSize}`);
    }
    checkDurations(action, { watchTimeoutMs }, { min: 1, finite: true });
    checkDurations(action, { listIdleMs, initialEventsTimeoutMs }, { min: 1 });
    checkDurations(action, { resyncMs });
    checkDurations(action, { reconnectMs }, { finite: true });
    const { backoff = {}, streamingList = "auto" } = options;
    checkBackoff(backoff);
    this.#source = source;
    this.#store = store;
    this.#options = options;
    this.#rules = {
      streamingList,
      reconnect: () => Math.random() * reconnectMs,
      backOff: (failure, attempt) => (failure === "unreachable" ? unreachableBackoffMs : backoffMs)(attempt, backoff),
    };
  }

  /** Where it is in its cycle. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /** What it has done so far. */
  get counters(): ReflectorCounters {
    return { ...this.#counters, recentRelists: this.#relists.count, recentResumes: this.#resumes.count };
  }

  /** The version up to which the store has everything; `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#seen;
  }

  /**
   * Lists anew, the newest state, because the store cannot have everything that the server has: the watch under way ends.
   * Does nothing while a list is under way or next. `reason` is not reported.
   */
  relist(reason: Error): void {
    if (this.#phase.name !== "watching") return;
    this.#relist = { error: reason };
    this.#watched?.fail(reason);
  }

  /**
   * Follows until the signal aborts, and then resolves. Run again, it lists what is not older than what it had seen.
   *
   * @throws {Error} when it is running already; and whatever `onPhase` throws.
   */
  async run(options: Abortable = {}): Promise<void> {
    if (this.#running) throw new Error("Cannot run the reflector: it is running already");
    this.#running = true;
    this.#thrown = undefined;
    using job = new DerivedController(options.signal);
    using _resync = this.#startResync();
    try {
      this.#bucket.take();
      this.#enter(firstPhase(this.#seen, this.#rules));
      while (this.#phase.name !== "stopped") {
        const outcome = await this.#perform(this.#phase, job.signal);
        const next = transition(this.#phase, outcome, this.#rules);
        // A list that is asked for in pages instead has not failed.
        const inPages = this.#phase.name === "listing" && this.#phase.by === "stream" && next.name === "listing" &&
          next.by === "pages";
        if (outcome.type === "failed" && !inPages) this.#counters.failures++;
        this.#enter(this.#limit(next, outcome));
      }
    } finally {
      this.#running = false;
      this.#phase = { name: "stopped" };
      await this.#takeStream()?.close();
    }
  }

  #enter(phase: ReflectorPhase): void {
    if (phase.name === "listing" && this.#phase.name !== "listing" && this.#seen !== "") this.#relists.add();
    this.#phase = phase;
    this.#counters.listed = phase.name === "listing" ? 0 : undefined;
    this.#counters.remaining = undefined;
    try {
      this.#options.onPhase?.(phase);
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }

  /** The phase that follows: a request that would begin without a wait has one, where there were too many of them. */
  #limit(next: ReflectorPhase, outcome: Outcome): ReflectorPhase {
    if (next.name !== "listing" && (next.name !== "watching" || this.#stream !== undefined)) return next;
    const before = this.#phase;
    if (before.name === "waiting" && before.delayMs > 0 && !(before.error instanceof RequestRateError)) return next;
    const delayMs = this.#bucket.take();
    if (delayMs === 0) return next;
    const request = next.name === "listing" ? "list" : "watch";
    const error = new RequestRateError(
      `Cannot ${request} at once: too many lists and watches ended early or failed in a row, so this one waits`,
      outcome.type === "failed" ? { cause: outcome.error } : {},
    );
    return { name: "waiting", delayMs, next, error };
  }

  async #perform(phase: ReflectorPhase, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { type: "stopped" };
    try {
      switch (phase.name) {
        case "listing":
          this.#relist = undefined;
          this.#isResuming = false;
          if (phase.by === "pages") return await this.#pageList(phase.resourceVersion, signal);
          return await this.#streamList(phase.resourceVersion, signal);
        case "watching":
          return await this.#watch(phase.resourceVersion, signal);
        case "waiting":
          await sleep(phase.delayMs, { signal });
          return { type: "elapsed" };
        case "stopped":
          return { type: "stopped" };
        default:
          return phase satisfies never;
      }
    } catch (error) {
      if (this.#thrown !== undefined) throw error;
      if (signal.aborted) return { type: "stopped" };
      return failed(
        error,
        phase.name === "watching" ? this.#seen : phase.name === "listing" ? phase.resourceVersion : "",
      );
    }
  }

  // ── listing ──

  async #pageList(version: string, signal: AbortSignal): Promise<Outcome> {
    const { pageSize = 500, listIdleMs = 70_000 } = this.#options;
    this.#counters.lists++;
    using job = new DerivedController(signal);
    using limit = new IdleLimit(job, listIdleMs);
    let replacement = this.#store.replacing();
    let listedAt: string | undefined;
    let begun = false;
    try {
      const parts = pagesOf(this.#source, {
        signal: job.signal,
        limit: pageSize,
        ...(version === "" ? {} : { resourceVersion: version }),
        // With a limit, a version without a match would mean Exact.
        ...(version === "" || version === "0" ? {} : { resourceVersionMatch: "NotOlderThan" as const }),
      }, () => this.#counters.pages++);
      for await (const part of parts) {
        // Life is complete objects; an empty part says that the answer begins.
        if (part.entries.length > 0 || !begun) limit.alive();
        begun = true;
        this.#counters.lastByteAt = Date.now();
        if (part.restart) {
          replacement.abandon();
          replacement = this.#store.replacing();
          listedAt = undefined;
          this.#counters.listed = 0;
          this.#counters.remaining = undefined;
        }
        replacement.add(this.#fileable(part.entries));
        this.#counters.listed! += part.entries.length;
        this.#counters.remaining = part.remainingItemCount ?? this.#counters.remaining;
        listedAt ??= part.resourceVersion;
      }
      if (!listedAt) {
        // client-go takes it, and watches without a version: what was deleted in between would stay for good.
        throw new DecodeError(
          "Cannot take the list: it has no resourceVersion, so nothing says from where to watch on; list it from time to time",
        );
      }
      replacement.commit(listedAt);
    } catch (error) {
      replacement.abandon();
      throw error;
    }
    this.#store.flush?.(listedAt);
    this.#seen = listedAt;
    return { type: "listed", resourceVersion: listedAt };
  }

  async #streamList(version: string, signal: AbortSignal): Promise<Outcome> {
    // "0" could be older than what there was before; the server has the newest state at hand anyway.
    const stream = this.#openStream(version === "0" ? "" : version, signal, true);
    let replacement: Replacement<Entry<T>> | undefined;
    let committed = false;
    const { listIdleMs = 70_000, initialEventsTimeoutMs = 20_000 } = this.#options;
    using deadline = new InitialEventsDeadline(
      { abort: (error) => stream.fail(error) },
      listIdleMs,
      initialEventsTimeoutMs,
    );
    try {
      replacement = this.#store.replacing();
      for (;;) {
        const batch = stream.accept(await stream.next());
        if (batch === undefined) break;
        this.#counters.lastByteAt = Date.now();
        // mutant: plain-bookmark-ends-list
        const end = batch.findIndex((change) => change.type === "BOOKMARK" && change.initialEventsEnd);
        // mutant: changes-before-end-dropped
        const before = end === -1 ? batch : batch.slice(0, end);
        const objects = this.#stage(replacement, before);
        if (objects > 0 || !deadline.begun) deadline.progress(objects);
        // mutant: list-seen-before-end
        if (end === -1) continue;
        const listedAt = (batch[end] as Change<T> & { readonly type: "BOOKMARK" }).resourceVersion;
        replacement.commit(listedAt);
        committed = true;
        this.#store.flush?.(listedAt);
        this.#seen = listedAt;
        this.#counters.lastBookmarkAt = Date.now();
        // The rest of the batch belongs to the watch, which reads on from the same stream.
        // mutant: events-after-end-dropped
        this.#apply(batch.slice(end + 1), true);
        this.#stream = stream;
        return { type: "listed", resourceVersion: this.#seen };
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const outcome = failed(error, version);
      return { ...outcome, stream: streamFailureOf(outcome, deadline) };
    } finally {
      if (!committed) replacement?.abandon();
      if (this.#stream !== stream) await stream.close();
    }
    const error = new UnreachableError("Cannot take the streaming list: it ended before it was complete");
    const short = stream.delivered === 0 && stream.facts.lastedMs < 1_000;
    return {
      type: "failed",
      failure: "unreachable",
      error,
      resourceVersion: version,
      stream: short ? "short" : "broken",
    };
  }

  /** Stages changes of a streaming list; returns how many objects among them count as progress. */
  #stage(
    replacement: { add(values: readonly Entry<T>[]): void; delete(value: Entry<T>): void },
    batch: readonly Change<T>[],
  ): number {
    let objects = 0;
    let run: Entry<T>[] = [];
    for (const change of batch) {
      if (change.type === "BOOKMARK") continue;
      if (change.type === "ADDED") objects++;
      if (change.type !== "DELETED") {
        run.push(change.entry);
        continue;
      }
      replacement.add(this.#fileable(run));
      run = [];
      // mutant: deletion-before-end-dropped
      replacement.delete(change.entry);
    }
    replacement.add(this.#fileable(run));
    this.#counters.listed! += objects;
    return objects;
  }

  // ── watching ──

  async #watch(version: string, signal: AbortSignal): Promise<Outcome> {
    const stream = this.#watched = this.#takeStream() ?? this.#resume(version, signal);
    // Without a version the server first sends what is there, in any order: only what comes behind that moves the version.
    let ordered = version !== "" && version !== "0";
    try {
      if (stream.open) this.#opened();
      while (this.#relist === undefined) {
        const batch = stream.accept(await stream.next());
        if (batch === undefined) {
          const watch = stream.facts;
          this.#watchEnded(`the server ended it after ${Math.round(watch.lastedMs / 1_000)} s`);
          return { type: "ended", resourceVersion: this.#seen, watch };
        }
        this.#counters.lastByteAt = Date.now();
        if (this.#phase.name === "watching" && !this.#phase.open) this.#opened();
        ordered ||= batch.some((change) => change.type !== "ADDED");
        this.#apply(batch, ordered);
      }
      return this.#relistOutcome(this.#relist.error);
    } catch (error) {
      if (this.#thrown !== undefined) throw error;
      if (signal.aborted) return { type: "stopped" };
      if (this.#relist !== undefined) return this.#relistOutcome(this.#relist.error);
      this.#watchEnded(error instanceof Error ? error.message : String(error), error);
      return { ...failed(error, this.#seen), watch: stream.facts };
    } finally {
      this.#watched = undefined;
      await stream.close();
    }
  }

  #resume(version: string, signal: AbortSignal): WatchStream<T> {
    if (this.#isResuming) this.#resumes.add();
    return this.#openStream(version, signal, false);
  }

  #relistOutcome(error: unknown): Outcome {
    this.#watchEnded("a list was asked for", error);
    return { type: "relist", error };
  }

  #watchEnded(reason: string, error?: unknown): void {
    this.#isResuming = true;
    this.#counters.lastWatchEnd = { at: Date.now(), reason, ...(error === undefined ? {} : { error }) };
  }

  #opened(): void {
    if (this.#phase.name === "watching") this.#enter({ ...this.#phase, open: true });
  }

  /** Takes one batch into the store, and only then counts its version as seen. */
  #apply(batch: readonly Change<T>[], ordered: boolean): void {
    if (batch.length === 0) return;
    let seen = this.#seen;
    for (const change of batch) {
      if (change.type === "BOOKMARK") {
        this.#counters.lastBookmarkAt = Date.now();
        // mutant: bookmark-keeps-version
        if (!isOlder(change.resourceVersion, seen)) seen = change.resourceVersion;
        continue;
      }
      this.#counters.events++;
      const { entry } = change;
      if (entry.key === "") this.#report(entry.error);
      else if (change.type === "ADDED") this.#store.add(entry);
      else if (change.type === "MODIFIED") this.#store.update(entry);
      else this.#store.delete(entry);
      const version = entry.resourceVersion;
      if (ordered && version !== "" && !isOlder(version, seen)) seen = version;
    }
    this.#store.flush?.(seen);
    this.#seen = seen;
  }

  // ── both ──

  #openStream(version: string, signal: AbortSignal, sendInitialEvents: boolean): WatchStream<T> {
    const { watchTimeoutMs = 120_000 } = this.#options;
    const timeoutSeconds = Math.max(1, Math.ceil((watchTimeoutMs * (1 + 0.8 * Math.random())) / 1_000));
    this.#counters.watches++;
    return new WatchStream<T>(
      (signal) =>
        this.#source.watchChanges({
          signal,
          timeoutSeconds,
          allowBookmarks: true,
          ...(version === "" ? {} : { resourceVersion: version }),
          ...(sendInitialEvents ? { sendInitialEvents } : {}),
        }),
      { signal, timeoutMs: timeoutSeconds * 1_000 },
    );
  }

  #takeStream(): WatchStream<T> | undefined {
    const stream = this.#stream;
    this.#stream = undefined;
    return stream;
  }

  /** The entries that have a key; the others are reported. */
  #fileable(entries: readonly Entry<T>[]): readonly Entry<T>[] {
    return entries.filter((entry) => {
      if (entry.key === "") this.#report(entry.error);
      return entry.key !== "";
    });
  }

  #report(error: unknown): void {
    callObserver(() => this.#options.onError?.(error));
  }

  #startResync(): Disposable {
    const { resyncMs = 0 } = this.#options;
    const timer = new LongTimer(() => {
      timer.arm(resyncMs);
      if (this.#seen === "") return;
      try {
        this.#store.resync?.();
        this.#store.flush?.(this.#seen);
      } catch (error) {
        this.#report(error);
      }
    });
    if (resyncMs > 0) timer.arm(resyncMs);
    return timer;
  }
}

/** How a streaming list failed. */
function streamFailureOf(outcome: FailedOutcome, deadline: InitialEventsDeadline): StreamFailure | undefined {
  if (deadline.passed) return "endless";
  const { error } = outcome;
  // The server, or what it was built from, does not know streaming lists: it will not learn while we run.
  if (error instanceof StatusError && (error.status.code === 422 || error.status.code === 400)) return "unsupported";
  return outcome.failure === "unreachable" && deadline.begun ? "broken" : undefined;
}
