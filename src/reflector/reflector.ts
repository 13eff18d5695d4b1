import type { Change } from "../api/change.ts";
import type { Entry } from "../api/entry.ts";
import { DecodeError, isExpired, StatusError, UnreachableError } from "../api/errors.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { isOlder } from "../api/resource_version.ts";
import { Backoff, type BackoffOptions } from "../timing/backoff.ts";
import { DerivedController } from "../timing/derived.ts";
import { sleep } from "../timing/sleep.ts";
import { IdleLimit, InitialEventsDeadline } from "./deadlines.ts";
import { classify, failed } from "./failure.ts";
import type { ListerWatcher, ReflectorStore, Replacement } from "./list_watch.ts";
import { pagesOf } from "./pages.ts";
import { type Outcome, type ReflectorPhase, transition } from "./phase.ts";
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
  /** The server is asked for a random time between this and 1.8 times it; a watch silent 10 s longer is dead. @default {120_000} */
  readonly watchTimeoutMs?: number;
  /** A list, or the beginning of a streaming list, that is silent for so long is dead. @default {70_000} */
  readonly listIdleMs?: number;
  /** A streaming list that tells no further object for so long, and not its end either, is given up for pages. @default {20_000} */
  readonly initialEventsTimeoutMs?: number;
  /** How often the store is told to tell everything again; 0 is never. @default {0} */
  readonly resyncMs?: number;
  /** Waits after failures. */
  readonly backoff?: BackoffOptions;
  /** Called with each phase as it is entered. */
  readonly onPhase?: (phase: ReflectorPhase) => void;
  /** Called with what was passed over: objects that cannot be filed, a resync that failed. */
  readonly onError?: (error: unknown) => void;
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
}

const SHORT_WATCH_MS = 1_000;
const WATCH_GRACE_MS = 10_000;
const CUT_AFTER_MS = 10_000;
const STUCK_AFTER_WATCHES = 8;

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
  readonly #backoff: Backoff;
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
  };
  #phase: ReflectorPhase = { name: "stopped" };
  #running = false;
  #seen = "";
  #streaming: boolean;
  #cutShort = 0;
  #expired = false;
  #brief = false;
  #silent = 0;
  #stream: WatchStream<T> | undefined;
  /** What `onPhase` threw: it ends the run, wherever it was called. */
  #thrown: { readonly error: unknown } | undefined;

  /** Does nothing before it is run. @throws {RangeError} when an option is out of range. */
  constructor(source: ListerWatcher<T>, store: ReflectorStore<Entry<T>>, options: ReflectorOptions = {}) {
    const {
      pageSize = 500,
      watchTimeoutMs = 120_000,
      listIdleMs = 70_000,
      initialEventsTimeoutMs = 20_000,
      resyncMs = 0,
    } = options;
    if (!Number.isInteger(pageSize) || pageSize < 1) {
      throw new RangeError(`Cannot create a reflector: pageSize must be a positive integer, found ${pageSize}`);
    }
    for (const [name, value] of Object.entries({ watchTimeoutMs, listIdleMs, initialEventsTimeoutMs })) {
      if (!(value >= 1)) throw new RangeError(`Cannot create a reflector: ${name} must be at least 1, found ${value}`);
    }
    if (!(resyncMs >= 0)) {
      throw new RangeError(`Cannot create a reflector: resyncMs must be at least 0, found ${resyncMs}`);
    }
    this.#source = source;
    this.#store = store;
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
    this.#streaming = options.streamingList !== "off";
  }

  /** Where it is in its cycle. */
  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /** What it has done so far. */
  get counters(): ReflectorCounters {
    return { ...this.#counters };
  }

  /** The version up to which the store has everything; `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#seen;
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
    const resync = this.#startResync();
    try {
      this.#enter({ name: "listing", resourceVersion: this.#seen || "0" });
      while (this.#phase.name !== "stopped") {
        const outcome = await this.#perform(this.#phase, job.signal);
        if (outcome.type === "failed") this.#counters.failures++;
        // What was cut waits as after a first failure, each time.
        const backoff = outcome.type === "failed" && outcome.cut ? new Backoff(this.#options.backoff) : this.#backoff;
        this.#enter(transition(this.#phase, outcome, () => backoff.next()));
      }
    } finally {
      clearInterval(resync);
      this.#running = false;
      this.#phase = { name: "stopped" };
      await this.#takeStream()?.close();
    }
  }

  #enter(phase: ReflectorPhase): void {
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

  async #perform(phase: ReflectorPhase, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { type: "stopped" };
    try {
      switch (phase.name) {
        case "listing":
          return await this.#list(phase.resourceVersion, signal);
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

  async #list(version: string, signal: AbortSignal): Promise<Outcome> {
    if (this.#streaming) {
      const outcome = await this.#streamList(version, signal);
      if (outcome !== "pages") return outcome;
    }
    return await this.#pageList(version, signal);
  }

  async #pageList(version: string, signal: AbortSignal): Promise<Outcome> {
    const { pageSize = 500, listIdleMs = 70_000 } = this.#options;
    this.#counters.lists++;
    using job = new DerivedController(signal);
    using limit = new IdleLimit(job, "the list", listIdleMs);
    let replacement = this.#store.replacing();
    let listedAt: string | undefined;
    try {
      const parts = pagesOf(this.#source, {
        signal: job.signal,
        limit: pageSize,
        ...(version === "" ? {} : { resourceVersion: version }),
        // With a limit, a version without a match would mean Exact.
        ...(version === "" || version === "0" ? {} : { resourceVersionMatch: "NotOlderThan" as const }),
      }, () => this.#counters.pages++);
      for await (const part of parts) {
        limit.alive();
        this.#counters.lastByteAt = Date.now();
        if (part.restart) {
          replacement.abandon();
          replacement = this.#store.replacing();
          listedAt = undefined;
          this.#counters.listed = 0;
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

  /** The streaming list; `"pages"` when it is to be listed in pages instead. */
  async #streamList(version: string, signal: AbortSignal): Promise<Outcome | "pages"> {
    const auto = this.#options.streamingList !== "on";
    // "0" could be older than what there was before; the server has the newest state at hand anyway.
    const stream = this.#openStream(version === "0" ? "" : version, signal, true);
    let replacement: Replacement<Entry<T>> | undefined;
    let committed = false;
    const { listIdleMs = 70_000, initialEventsTimeoutMs = 20_000 } = this.#options;
    using deadline = new InitialEventsDeadline(stream, listIdleMs, initialEventsTimeoutMs);
    try {
      replacement = this.#store.replacing();
      for (;;) {
        const batch = await stream.next();
        if (batch === undefined) break;
        this.#counters.lastByteAt = Date.now();
        // mutant: plain-bookmark-ends-list
        const end = batch.findIndex((change) => change.type === "BOOKMARK" && change.initialEventsEnd);
        // mutant: changes-before-end-dropped
        const before = end === -1 ? batch : batch.slice(0, end);
        if (this.#stage(replacement, before) || !deadline.begun) deadline.progress();
        // mutant: list-seen-before-end
        if (end === -1) continue;
        const listedAt = (batch[end] as Change<T> & { readonly type: "BOOKMARK" }).resourceVersion;
        replacement.commit(listedAt);
        committed = true;
        this.#store.flush?.(listedAt);
        this.#seen = listedAt;
        this.#counters.lastBookmarkAt = Date.now();
        this.#cutShort = 0;
        // The rest of the batch belongs to the watch, which reads on from the same stream.
        // mutant: events-after-end-dropped
        this.#apply(batch.slice(end + 1), true);
        this.#stream = stream;
        return { type: "listed", resourceVersion: this.#seen };
      }
    } catch (error) {
      if (signal.aborted || !auto) throw error;
      const failure = classify(error);
      if (deadline.passed || isUnsupported(error)) this.#streaming = false;
      else if (failure !== "refused") {
        if (failure === "unreachable" && deadline.begun) this.#wasCutShort();
        throw error; // pages would fail alike
      }
      return "pages";
    } finally {
      if (!committed) replacement?.abandon();
      if (this.#stream !== stream) await stream.close();
    }
    // Ended in good order, but before its end was told.
    this.#wasCutShort();
    if (auto && (!this.#streaming || isShort(stream))) return "pages";
    const error = new UnreachableError("Cannot take the streaming list: it ended before it was complete");
    return { type: "failed", failure: "unreachable", error, resourceVersion: version };
  }

  /** A streaming list was told in part. Twice in a row: something on the way does not let it through. */
  #wasCutShort(): void {
    if (++this.#cutShort >= 2 && this.#options.streamingList !== "on") this.#streaming = false;
  }

  /** Stages changes of a streaming list; whether there was an object among them that counts as progress. */
  #stage(
    replacement: { add(values: readonly Entry<T>[]): void; delete(value: Entry<T>): void },
    batch: readonly Change<T>[],
  ): boolean {
    let progress = false;
    let run: Entry<T>[] = [];
    for (const change of batch) {
      if (change.type === "BOOKMARK") continue;
      progress ||= change.type === "ADDED";
      if (change.type === "ADDED") this.#counters.listed!++;
      if (change.type !== "DELETED") {
        run.push(change.entry);
        continue;
      }
      replacement.add(this.#fileable(run));
      run = [];
      replacement.delete(change.entry);
    }
    replacement.add(this.#fileable(run));
    return progress;
  }

  // ── watching ──

  async #watch(version: string, signal: AbortSignal): Promise<Outcome> {
    const stream = this.#takeStream() ?? this.#openStream(version, signal, false);
    // Without a version the server first tells what is there, in any order: only what comes behind that moves the version.
    let ordered = version !== "" && version !== "0";
    try {
      if (stream.open) this.#opened();
      for (;;) {
        const batch = await stream.next();
        if (batch === undefined) break;
        this.#counters.lastByteAt = Date.now();
        if (this.#phase.name === "watching" && !this.#phase.open) this.#opened();
        if (batch.length === 0) continue;
        this.#expired = false;
        ordered ||= batch.some((change) => change.type !== "ADDED");
        this.#apply(batch, ordered);
      }
      const [short, stuck] = [this.#isHurried(stream), this.#isStuck(stream)];
      return { type: "ended", resourceVersion: this.#seen, short, stuck };
    } catch (error) {
      if (this.#thrown !== undefined) throw error;
      if (signal.aborted) return { type: "stopped" };
      const outcome = failed(error, this.#seen);
      const repeated = this.#expired;
      this.#expired = isExpired(error);
      const { failure } = outcome as Outcome & { readonly type: "failed" };
      const cut = failure === "unreachable" && stream.open && Date.now() - stream.startedAt >= CUT_AFTER_MS;
      return { ...outcome, repeated: repeated && this.#expired, cut } as Outcome;
    } finally {
      await stream.close();
    }
  }

  /** Whether the server ended the watch so soon that asking again at once would be a hurry: twice, or having said nothing. */
  #isHurried(stream: WatchStream<T>): boolean {
    const brief = Date.now() - stream.startedAt < SHORT_WATCH_MS;
    const hurried = isShort(stream) || (brief && this.#brief);
    this.#brief = brief;
    return hurried;
  }

  /** Whether so many watches in a row ended at once, having said nothing, that only a list can tell what there is. */
  #isStuck(stream: WatchStream<T>): boolean {
    this.#silent = isShort(stream) ? this.#silent + 1 : 0;
    if (this.#silent < STUCK_AFTER_WATCHES) return false;
    this.#silent = 0;
    return true;
  }

  #opened(): void {
    this.#backoff.healthy();
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
      { signal, timeoutMs: timeoutSeconds * 1_000, idleMs: WATCH_GRACE_MS },
    );
  }

  #takeStream(): WatchStream<T> | undefined {
    const stream = this.#stream;
    this.#stream = undefined;
    return stream;
  }

  /** The entries that have a key; the others are reported. */
  #fileable(entries: readonly Entry<T>[]): readonly Entry<T>[] {
    if (!entries.some((entry) => entry.key === "")) return entries;
    return entries.filter((entry) => {
      if (entry.key === "") this.#report(entry.error);
      return entry.key !== "";
    });
  }

  #report(error: unknown): void {
    this.#options.onError?.(error);
  }

  #startResync(): ReturnType<typeof setInterval> | undefined {
    const { resyncMs = 0 } = this.#options;
    if (resyncMs === 0) return undefined;
    return setInterval(() => {
      if (this.#seen === "") return;
      try {
        this.#store.resync?.();
        this.#store.flush?.(this.#seen);
      } catch (error) {
        this.#report(error);
      }
    }, resyncMs);
  }
}

/** Whether the server ended a watch within a second, having said nothing. */
function isShort<T>(stream: WatchStream<T>): boolean {
  return stream.told === 0 && Date.now() - stream.startedAt < SHORT_WATCH_MS;
}

/** Whether the server, or what it was built from, does not know streaming lists: it will not learn while we run. */
function isUnsupported(error: unknown): boolean {
  return error instanceof StatusError && (error.status.code === 422 || error.status.code === 400);
}
