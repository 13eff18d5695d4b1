/**
 * Keeps a store equal to a collection on the server: lists, watches, and recovers from every failure.
 *
 * The entry point is {@linkcode Reflector}. `transition.ts` has the states, and the protocol as a pure table;
 * `requests.ts` performs one request each, and writes what it delivers. It neither sends requests itself (a
 * `ListerWatcher` does) nor keeps objects or notifies anybody (a `ReflectorStore` does).
 *
 * @module
 */

import type { Abortable } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import { defined } from "../api/json.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { KubernetesObject } from "../api/object.ts";
import { MemoryLimitError } from "../api/status.ts";
import { WatchRenewal, watchTimeoutSeconds } from "../api/watch_timeout.ts";
import { LeakyBucket } from "../async/rates.ts";
import { abortReason, callObserver, DerivedController, Latch } from "../async/signals.ts";
import { backoffMs, type BackoffOptions, LongTimer, monotonicMs, sleep, unreachableBackoffMs } from "../async/time.ts";
import { ConsoleReporter, messageOf } from "../errors/errors.ts";
import { internals } from "../errors/internals.ts";
import { checkBackoff, checkNames } from "../errors/option_names.ts";
import { type OptionTable, plainRows, readOptions, type Settings } from "../errors/option_table.ts";
import {
  type ArrivingParts,
  type ListWatchObserver,
  ListWatchWriter,
  LiveCounters,
  type ObserveRequest,
  readPageList,
  readStreamingList,
  readWatch,
  type ReflectorCounters,
  type ReflectorStore,
  type Replacement,
  type RequestEnd,
  WatchStream,
} from "./requests.ts";
import {
  failed,
  firstPhase,
  type ListingPhase,
  type Outcome,
  type ReflectorPhase,
  RequestRateError,
  resumedPhase,
  toNewest,
  transition,
  type TransitionRules,
  type WatchFacts,
  type WatchingPhase,
  withRelist,
} from "./transition.ts";

/** Options for lists and watches. */
export interface ReflectorOptions {
  /**
   * Parts that come while the rest is watched. With them, every list is of the newest state.
   * @internal
   */
  readonly [internals]?: ArrivingParts;
  /** The number of objects in each page of a list. @default {500} */
  readonly pageSize?: number;
  /**
   * Whether to list over the watch (a streaming list, Kubernetes 1.32 and later). It takes the server less memory, but
   * about 1.5 times as long as pages. `"auto"` falls back to pages if the server refuses or does not complete streaming
   * lists. `"on"` does not. @default {"auto"}
   */
  readonly streamingList?: "auto" | "on" | "off";
  /**
   * The duration to request for a watch, in milliseconds: a random time from this to 1.8 times this. A watch that stays
   * open 10 s longer is closed and resumed. With `Infinity` the server decides, and a dead connection is not noticed.
   * @default {120_000}
   */
  readonly watchTimeoutMs?: number;
  /**
   * How long a list waits for its first or next object, in milliseconds. `Infinity` means no limit. @default {70_000}
   */
  readonly listIdleMs?: number;
  /**
   * How long a streaming list waits for its next object or its end, in milliseconds. The whole list may take three
   * times as long, plus 2 ms per object. After that, pages are requested. `Infinity` means no limit. @default {20_000}
   */
  readonly initialEventsTimeoutMs?: number;
  /**
   * The resync period in milliseconds, after which the store delivers every cached object again. 0 and `Infinity` mean
   * never.
   *
   * @default {0}
   */
  readonly resyncMs?: number;
  /**
   * How long to wait after failures in a row. While the server does not respond, the first eight waits are 0.5 to 1 s
   * (`initialMs` and its jitter, if you set it). Later waits are at most 5 s, or `maxMs` if that is less.
   */
  readonly backoff?: BackoffOptions;
  /**
   * The longest wait after a lost connection, or after a watch that the server ended early, in milliseconds. The wait
   * is random, so that clients do not all reconnect at the same moment. @default {700}
   */
  readonly reconnectMs?: number;
  /** Called with each phase when it begins. */
  readonly onPhase?: (phase: ReflectorPhase) => void;
  /**
   * Observes each list and watch. `observeRequests` in `./otel` turns them into spans. By default, nothing is observed.
   */
  readonly observe?: ObserveRequest;
  /**
   * Receives each error that does not end a phase: an object without a key, a failed resync. If it throws, that is
   * reported as an uncaught error. By default each new error is written to the console in one line. An informer reports
   * to its own `onError` in any case.
   */
  readonly onError?: (error: unknown) => unknown;
}

const OPTIONS = {
  watchTimeoutMs: { default: 120_000, ms: { min: 1 } },
  listIdleMs: { default: 70_000, ms: { min: 1 } },
  initialEventsTimeoutMs: { default: 20_000, ms: { min: 1 } },
  resyncMs: { default: 0, ms: {} },
  reconnectMs: { default: 700, ms: { finite: true } },
  pageSize: { default: 500, count: { min: 1 } },
  streamingList: { default: "auto" },
  backoff: { default: {} },
  ...plainRows("onPhase observe onError"),
} as const satisfies OptionTable<ReflectorOptions>;

/** Requests that may begin without a wait, whatever the server answers: this many at once, and one more a second. */
const UNWAITED = { burst: 10, intervalMs: 1_000 };

/** The reason with which a request or a wait ends when the reflector is paused. */
const paused = abortReason("The reflector was paused");

/**
 * Lists and watches a collection, and keeps a store in sync with it. An informer contains one. Use it directly only if
 * you have your own store.
 *
 * - The store receives changes in the server's order. A version counts as seen once the store has taken it.
 * - After a failure it resumes from the last version. If the server no longer has that version, it relists, and the
 *   store receives the list in one step.
 * - When you stop it, it stops whatever it waits for.
 *
 * @example
 * ```ts
 * import { Client, type CacheEntry, Indexer, Reflector } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const cache = new Indexer<CacheEntry<Pod>>({ keyOf: (entry) => entry.key });
 * const stop = new AbortController();
 * const reflector = new Reflector(client.resource(Pod), cache, {
 *   onPhase: (phase) => phase.name === "watching" && phase.open && stop.abort(),
 * });
 * await reflector.run({ signal: stop.signal });
 * ```
 */
export class Reflector<T extends KubernetesObject> {
  readonly #source: ListerWatcher<T>;
  readonly #store: ListWatchWriter<T>;
  readonly #settings: Settings<ReflectorOptions, typeof OPTIONS>;
  readonly #rules: TransitionRules;
  readonly #counters = new LiveCounters();
  /** The current phase; `stopped` outside of `run()`. Every value that the next transition depends on is in it. */
  #phase: ReflectorPhase = { name: "stopped" };
  /**
   * True from the call of `run()` until that has left its loop: it guards against a second call, also from `onPhase`.
   */
  #isRunning = false;
  /** The open watch, while a streaming list or a watch is read, and between the two; `undefined` otherwise. */
  #stream: WatchStream<T> | undefined;
  /** Receives errors where there is no `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** The observer of the latest list or watch; `undefined` where it has none. */
  #observer: ListWatchObserver | undefined;
  /** Defined if and only if the reflector is to be paused; `resume()` opens it. */
  #pause: Latch | undefined;
  /** Ends the latest wait, so that what it delays begins. */
  #wait: DerivedController | undefined;
  /** Ends the current request or wait. Set by `run()` and after each pause, aborted with `paused()` by `pause()`. */
  #work: DerivedController | undefined;
  /** True if and only if the store was restored since the last run. */
  #isRestored = false;
  /** True from {@linkcode listNewest} to the next run. */
  #listsNewest = false;
  /** Parts that come while the rest is watched, if there are such. */
  readonly #parts: ArrivingParts | undefined;
  /** The error that `onPhase` threw during this run, if it threw one: it ends the run and is no failure of a phase. */
  #thrown: { readonly error: unknown } | undefined;

  /**
   * Creates a reflector. It does nothing before {@linkcode run}.
   *
   * @throws {RangeError} if an option is out of range.
   */
  constructor(source: ListerWatcher<T>, store: ReflectorStore<CacheEntry<T>>, options: ReflectorOptions = {}) {
    this.#parts = options[internals];
    const settings = readOptions("create a reflector", options, OPTIONS);
    checkBackoff(settings.backoff);
    const { streamingList, backoff, reconnectMs } = settings;
    const bucket = new LeakyBucket(UNWAITED.burst, UNWAITED.intervalMs);
    this.#source = source;
    this.#store = new ListWatchWriter<T>(store, this.#counters, (error) => this.#report(error));
    this.#settings = settings;
    this.#rules = {
      streamingList,
      reconnectMs: () => Math.random() * reconnectMs,
      backOffMs: (failure, attempt) => (failure === "unreachable" ? unreachableBackoffMs : backoffMs)(attempt, backoff),
      admitMs: () => bucket.take(),
    };
  }

  /** The current phase. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /** A copy of the current counters. */
  get counters(): ReflectorCounters {
    return this.#counters.snapshot();
  }

  /** The version up to which the store has everything, and `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#store.version;
  }

  /**
   * Lists the newest state. Call it if the store may have missed changes. While watching it lists immediately,
   * otherwise after the current wait or pause. It does nothing while a list runs, or while the reflector does not run.
   * `reason` is not reported.
   */
  relist(reason: Error): void {
    this.#phase = withRelist(this.#phase, reason);
    if (this.#phase.name === "watching") this.#stream?.fail(reason);
  }

  /**
   * Replaces the store's contents, like a list at `resourceVersion`. The next {@linkcode run} begins with a watch from
   * that version instead of a list.
   *
   * @throws {Error} if the reflector is running.
   */
  restore(entries: readonly CacheEntry<T>[], resourceVersion: string): void {
    const restored = this.restoring();
    try {
      restored.add(entries);
      restored.commit(resourceVersion);
    } finally {
      restored.abandon();
    }
  }

  /**
   * Starts a {@linkcode restore} whose entries you stage over several turns. Nothing changes before its commit. After
   * the commit, `abandon()` does nothing.
   *
   * @throws {Error} if the reflector is running, also at the commit.
   */
  restoring(): Replacement<CacheEntry<T>> {
    this.#checkRestorable();
    const list = this.#store.stage();
    return {
      add: (entries) => {
        list.add(entries);
      },
      delete: (entry) => list.delete(entry),
      commit: (resourceVersion) => {
        this.#checkRestorable();
        list.commit(resourceVersion);
        this.#isRestored = true;
      },
      abandon: () => list[Symbol.dispose](),
    };
  }

  /** Ends a watch, so that newly added parts are listed before it resumes. */
  renew(): void {
    if (this.#phase.name === "watching") this.#stream?.fail(new WatchRenewal("a part of the collection was added"));
  }

  #checkRestorable(): void {
    if (this.#isRunning) throw new Error("Cannot restore the store: the reflector is running");
  }

  /** Makes the next {@linkcode run} begin with a list, although the store was restored. */
  listFirst(): void {
    this.#isRestored = false;
  }

  /** Makes the first list in the next {@linkcode run} read the newest state, not just any state that the server has. */
  listNewest(): void {
    this.#listsNewest = true;
  }

  /**
   * Ends the current request or wait, and sends no request until {@linkcode resume}, not even in a later `run()`. The
   * store keeps its contents. An interrupted list changes nothing.
   */
  pause(): void {
    if (this.#pause !== undefined) return;
    this.#pause = new Latch();
    this.#work?.abort(paused());
  }

  /** Ends a pause: a watch resumes from the store's last version, a list starts again, a wait continues. */
  resume(): void {
    this.#pause?.open();
    this.#pause = undefined;
  }

  /** Ends the current wait, if there is one, so that the next request starts now. */
  retry(): void {
    this.#wait?.abort();
  }

  /**
   * Lists and watches until the signal aborts, and then resolves. If you run it again, it begins with a list that is at
   * least as new as the last version.
   *
   * @throws {Error} if it is running already.
   * @throws any error from `onPhase`.
   */
  async run(options: Abortable = {}): Promise<void> {
    checkNames("run the reflector", options, "signal");
    if (this.#isRunning) throw new Error("Cannot run the reflector: it is running already");
    this.#isRunning = true;
    this.#thrown = undefined;
    using job = new DerivedController(options.signal);
    using _resync = this.#startResync();
    try {
      this.#rules.admitMs();
      this.#work = new DerivedController(job.signal);
      const begins = (this.#isRestored ? resumedPhase : firstPhase)(this.#store.version, this.#rules);
      const first = this.#listsNewest && begins.name === "listing" ? toNewest(begins) : begins;
      this.#isRestored = this.#listsNewest = false;
      this.#enter(this.#pause === undefined ? first : { name: "paused", next: first });
      while (this.#phase.name !== "stopped") {
        const phase = this.#phase;
        const observer = this.#work.signal.aborted ? undefined : this.#observerOf(phase);
        const outcome = observer === undefined
          ? await this.#perform(phase, job.signal)
          : await this.#observed(phase, observer, job.signal);
        const next = transition(this.#phase, outcome, this.#rules);
        if (outcome.type === "failed" && !fallsBack(this.#phase, next)) this.#counters.failures++;
        this.#enter(next);
      }
    } finally {
      this.#isRunning = false;
      this.#phase = { name: "stopped" };
      this.#closeStream();
    }
  }

  #enter(entered: ReflectorPhase): void {
    let phase = entered;
    if (this.#parts !== undefined && phase.name === "listing") {
      phase = toNewest(phase); // an older state may lack what the former holder of a part wrote
      this.#parts.listing();
    }
    const isList = phase.name === "listing";
    if (isList && this.#phase.name !== "listing" && this.#store.version !== "") this.#counters.relists.add();
    this.#counters.setListed(isList ? 0 : undefined);
    this.#phase = phase;
    try {
      this.#settings.onPhase?.(phase);
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }

  /** Begins to observe a list or watch. */
  #observerOf(phase: ReflectorPhase): ListWatchObserver | undefined {
    const { observe } = this.#settings;
    if (observe === undefined || (phase.name !== "listing" && phase.name !== "watching")) return undefined;
    return this.#observer = observe({
      type: phase.name === "watching" ? "watch" : phase.by,
      resourceVersion: phase.resourceVersion,
      resource: this.#source.resource,
      selection: this.#source.selection,
    });
  }

  /** Performs a list or watch with its observer. */
  async #observed(phase: ReflectorPhase, observer: ListWatchObserver, stop: AbortSignal): Promise<Outcome> {
    const { events } = this.#counters;
    let end: RequestEnd = { outcome: "stopped" };
    try {
      const outcome = await this.#perform(phase, stop);
      end = endOf(outcome);
      return outcome;
    } finally {
      const count = phase.name === "watching"
        ? { events: this.#counters.events - events }
        : { objects: this.#counters.listed };
      callObserver(() => observer.ended({ ...end, ...count }));
    }
  }

  async #perform(phase: ReflectorPhase, stop: AbortSignal): Promise<Outcome> {
    if (stop.aborted) return { type: "stopped" };
    const beganMs = monotonicMs();
    const { signal } = this.#work!;
    try {
      if (signal.aborted && phase.name !== "paused") {
        this.#closeStream(); // of a complete streaming list
        return this.#interrupted(signal, 0);
      }
      switch (phase.name) {
        case "listing": {
          const list = phase.by === "pages" ? this.#listPages(phase, signal) : this.#listStream(phase, signal);
          const outcome = await list;
          if (outcome.type === "listed") this.#counters.listTimes.add(monotonicMs() - beganMs);
          return outcome;
        }
        case "watching":
          return await this.#watch(phase, signal);
        case "waiting":
          if (phase.error instanceof MemoryLimitError) await this.#store.room(signal); // first, as it may take long
          await this.#sleep(phase.delayMs, signal);
          return { type: "elapsed" };
        case "paused":
          while (this.#pause !== undefined) await this.#pause.wait({ signal: stop });
          this.#work = new DerivedController(stop);
          return { type: "resumed" };
        case "stopped":
          return { type: "stopped" };
        default:
          return phase satisfies never;
      }
    } catch (error) {
      if (this.#thrown !== undefined) throw error;
      if (stop.aborted) return { type: "stopped" };
      if (signal.aborted) return this.#interrupted(signal, monotonicMs() - beganMs);
      return failed(error, phase.name === "listing" ? phase.resourceVersion : this.#store.version);
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    using wait = this.#wait = new DerivedController(signal);
    await sleep(ms, { signal: wait.signal }).catch((error) => {
      if (signal.aborted) throw error;
    });
  }

  async #listPages(phase: ListingPhase, signal: AbortSignal): Promise<Outcome> {
    const version = phase.resourceVersion;
    this.#counters.lists++;
    const request = { ...this.#settings, version, signal, observer: this.#observer };
    const resourceVersion = await readPageList(this.#source, this.#store, request);
    return { type: "listed", resourceVersion };
  }

  async #listStream(phase: ListingPhase, signal: AbortSignal): Promise<Outcome> {
    const version = phase.resourceVersion;
    // "0" could be older than the last version; the server serves the newest state at the same cost.
    const stream = this.#openStream(version === "0" ? "" : version, signal, true);
    this.#stream = stream;
    let outcome: Outcome | undefined;
    try {
      const request = { ...this.#settings, version, signal, observer: this.#observer, shard: this.#source.shard };
      outcome = await readStreamingList(stream, this.#store, request);
      return outcome;
    } finally {
      if (outcome?.type !== "listed") this.#closeStream();
    }
  }

  async #watch(phase: WatchingPhase, signal: AbortSignal): Promise<Outcome> {
    if (phase.relist !== undefined) {
      this.#closeStream();
      return { type: "relist" };
    }
    while (this.#parts?.isDue) {
      this.#closeStream();
      try {
        await this.#parts.list(signal);
      } catch (error) {
        if (signal.aborted) throw error;
        const outcome = failed(error, this.#store.version);
        // The rest is as it was: the watch is tried again, and no list.
        return outcome.failure === "full" ? outcome : { ...outcome, failure: "unreachable" };
      }
      if ((this.#phase as WatchingPhase).relist !== undefined) return { type: "relist" };
    }
    if (phase.after === "watch") this.#counters.resumes.add();
    const stream = this.#stream ??= this.#openStream(phase.resourceVersion, signal, false);
    let outcome: Outcome;
    try {
      const onOpen = (): void => this.#enter({ ...this.#phase as WatchingPhase, open: true });
      await readWatch(stream, this.#store, phase.resourceVersion, onOpen);
      outcome = { type: "ended", resourceVersion: this.#store.version, watch: stream.facts };
    } catch (error) {
      if (this.#thrown !== undefined) throw error;
      if (signal.aborted) return this.#interrupted(signal, stream.facts.lastedMs, stream.facts);
      const resourceVersion = this.#store.version;
      outcome = error instanceof WatchRenewal
        ? { type: "ended", resourceVersion, watch: stream.facts, renewal: error }
        : { ...failed(error, resourceVersion), watch: stream.facts };
    } finally {
      this.#closeStream();
    }
    const { relist } = this.#phase as WatchingPhase;
    if (relist !== undefined) outcome = { type: "relist" };
    this.#recordWatchEnd(outcome, relist);
    return outcome;
  }

  #interrupted(signal: AbortSignal, lastedMs: number, watch?: WatchFacts): Outcome {
    if (signal.reason !== paused()) return { type: "stopped" };
    if (watch !== undefined) this.#counters.watchEnded("it was paused");
    return { type: "paused", resourceVersion: this.#store.version, lastedMs, ...defined({ watch }) };
  }

  #recordWatchEnd(outcome: Outcome, relist: Error | undefined): void {
    if (outcome.type === "ended") {
      const { renewal, watch } = outcome;
      this.#counters.watchEnded(
        renewal?.message ?? `the server ended it after ${Math.round(watch.lastedMs / 1_000)} s`,
      );
    } else if (outcome.type === "failed") {
      const { error } = outcome;
      this.#counters.watchEnded(messageOf(error), error);
    } else this.#counters.watchEnded("a list was asked for", relist);
  }

  #openStream(version: string, signal: AbortSignal, sendInitialEvents: boolean): WatchStream<T> {
    const timeoutSeconds = watchTimeoutSeconds(this.#settings.watchTimeoutMs);
    this.#counters.watches++;
    return new WatchStream<T>(
      (signal) =>
        this.#source.watchChanges({
          signal,
          ...(timeoutSeconds === Infinity ? {} : { timeoutSeconds }),
          allowBookmarks: true,
          ...(version === "" ? {} : { resourceVersion: version }),
          ...(sendInitialEvents ? { sendInitialEvents } : {}),
          // The watch after a streaming list has another observer.
          ...(this.#observer === undefined ? {} : { onDecoded: (ms) => this.#observer?.decoded(ms) }),
        }),
      { signal, timeoutMs: timeoutSeconds * 1_000, observer: this.#observer },
    );
  }

  #closeStream(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  #report(error: unknown): void {
    const { onError = (error) => this.#reporter.report("reflector", error) } = this.#settings;
    callObserver(() => onError(error));
  }

  #startResync(): Disposable {
    const { resyncMs } = this.#settings;
    const timer = new LongTimer(() => {
      timer.arm(resyncMs);
      try {
        this.#store.resync();
      } catch (error) {
        this.#report(error);
      }
    });
    if (resyncMs > 0) timer.arm(resyncMs);
    return timer;
  }
}

/** The end of a list or watch, for its observer. */
function endOf(outcome: Outcome): RequestEnd {
  if (outcome.type === "elapsed" || outcome.type === "resumed") return { outcome: "stopped" }; // of waits alone
  return { outcome: outcome.type, ...(outcome.type === "failed" ? { error: outcome.error } : {}) };
}

/** True if a streaming list is followed by a list in pages at once: that is no failure. */
function fallsBack(phase: ReflectorPhase, next: ReflectorPhase): boolean {
  const isStream = phase.name === "listing" && phase.by === "stream";
  const after = next.name === "waiting" && next.error instanceof RequestRateError ? next.next : next;
  return isStream && after.name === "listing" && after.by === "pages";
}
