import type { Entry } from "../api/options.ts";
import { Arrivals, type ShardFilter } from "../api/shard.ts";
import { type Change, type ListerWatcher, readPages } from "../api/lister_watcher.ts";
import { DecodeError, isOlder, StatusError, UnreachableError } from "../api/status.ts";
import { monotonicMs } from "../async/time.ts";
import { ListDeadline, type ListWatchObserver, type LiveCounters, ObservedPage, type WatchStream } from "./requests.ts";
import { DerivedController } from "../async/signals.ts";
import { ReadAhead } from "../async/iterate.ts";
import { failed, type FailedOutcome, type Outcome, type StreamFailure } from "./transition.ts";

/** A replacement of a store's contents: staged as a list arrives, and committed in one step. */
export interface Replacement<V> {
  /** Stages values; of two with the same key the later one counts. */
  add(values: readonly V[]): void;
  /** Removes a staged value, which was deleted while the list arrived. */
  delete(value: V): void;
  /** Makes the staged values the store's contents, at `resourceVersion`. */
  commit(resourceVersion: string): void;
  /** Discards the staged values; the store keeps its contents. */
  abandon(): void;
}

/** The store that a reflector writes into; `Indexer` and `DeltaFIFO` implement it. */
export interface ReflectorStore<V> {
  /** Adds a value that is new on the server. */
  add(value: V): void;
  /** Updates a value that has changed on the server. */
  update(value: V): void;
  /** Deletes a value; `value` is its last state. */
  delete(value: V): void;
  /** Begins to replace the contents. */
  replacing(): Replacement<V>;
  /** Resyncs: re-delivers every cached value. */
  resync?(): void;
  /**
   * Called once after each batch or bookmark, in the same turn. When it returns, the store has everything up to
   * `resourceVersion`.
   */
  flush?(resourceVersion: string): void;
  /** Resolves once there is room for a list, after a call has thrown a `MemoryLimitError`. */
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
  readonly #store: ReflectorStore<Entry<T>>;
  /** Counts what arrives. */
  readonly counters: LiveCounters;
  readonly #report: (error: unknown) => void;
  /**
   * The store has every change up to this version; `""` if and only if it has had no complete list. Set after each
   * flush.
   */
  #version = "";

  /** Writes into `store`; calls `report` with the error of each object that has no key, and skips the object. */
  constructor(store: ReflectorStore<Entry<T>>, counters: LiveCounters, report: (error: unknown) => void) {
    this.#store = store;
    this.counters = counters;
    this.#report = report;
  }

  /** The version up to which the store has everything; `""` before the first list. */
  get version(): string {
    return this.#version;
  }

  /** Begins a replacement of the contents. */
  replacing(): Replacement<Entry<T>> {
    return this.#store.replacing();
  }

  /** Returns `true` if an entry has a key; reports it otherwise. */
  readonly hasKey = (entry: Entry<T>): boolean => {
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
  apply(batch: readonly Change<T>[], ordered: boolean): void {
    if (batch.length === 0) return;
    let seen = this.#version;
    for (const change of batch) {
      if (change.type === "BOOKMARK") {
        this.counters.lastBookmarkAt = Date.now();
        // mutant: bookmark-keeps-version
        if (!isOlder(change.resourceVersion, seen)) seen = change.resourceVersion;
        continue;
      }
      this.counters.events++;
      const { entry } = change;
      if (entry.key === "") this.#report(entry.error);
      else if (change.type === "ADDED") this.#store.add(entry);
      else if (change.type === "MODIFIED") this.#store.update(entry);
      else this.#store.delete(entry);
      const version = entry.resourceVersion;
      if (ordered && version !== "" && !isOlder(version, seen)) seen = version;
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

/**
 * A list that is staged as it arrives. The store is unchanged until {@linkcode commit}; disposing abandons it before
 * that.
 */
class StagedList<T> implements Disposable {
  readonly #store: ListWatchWriter<T>;
  /** The replacement under way; abandoned or committed exactly once. */
  #replacement: Replacement<Entry<T>>;
  /** True if and only if `#replacement` is committed. */
  #isCommitted = false;

  /** Stages in a replacement of the contents of `store`. */
  constructor(store: ListWatchWriter<T>, replacement: Replacement<Entry<T>>) {
    this.#store = store;
    this.#replacement = replacement;
  }

  /** Abandons the objects staged so far, and starts a new replacement. */
  restart(): void {
    this.#replacement.abandon();
    this.#replacement = this.#store.replacing();
  }

  /** Stages objects; reports and skips those without a key. */
  add(entries: readonly Entry<T>[]): void {
    this.#replacement.add(entries.filter(this.#store.hasKey));
  }

  /** Removes an object that was staged. */
  delete(entry: Entry<T>): void {
    // mutant: deletion-before-end-dropped
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
 * @throws {DecodeError} when the list has no version, or its pages do not come closer to an end.
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
    throw new DecodeError(
      "Cannot take the list: it has no resourceVersion from which a watch could resume; give the informer the option pollMs",
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
      // mutant: plain-bookmark-ends-list
      const end = batch.findIndex((change) => change.type === "BOOKMARK" && change.initialEventsEnd);
      // mutant: changes-before-end-dropped
      const before = end === -1 ? batch : batch.slice(0, end);
      const objects = stage(staged, before);
      counters.listed = (counters.listed ?? 0) + objects;
      deadline.progress(arrivals.count(objects));
      // mutant: list-seen-before-end
      if (end === -1) continue;
      const bookmark = batch[end] as Change<T> & { readonly type: "BOOKMARK" };
      const commitMs = staged.commit(bookmark.resourceVersion);
      observer?.committed(commitMs);
      counters.lastBookmarkAt = Date.now();
      // The rest of the batch belongs to the watch, which reads on from the same stream.
      // mutant: events-after-end-dropped
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
function stage<T>(staged: StagedList<T>, batch: readonly Change<T>[]): number {
  let objects = 0;
  let run: (Change<T> & { readonly type: "ADDED" | "MODIFIED" | "DELETED" })["entry"][] = [];
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
