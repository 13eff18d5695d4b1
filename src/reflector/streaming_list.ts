import { StatusError, UnreachableError } from "../api/errors.ts";
import type { Change } from "../api/lister_watcher.ts";
import { failed } from "./classify.ts";
import type { LiveCounters } from "./counters.ts";
import { ListDeadline } from "./list_deadline.ts";
import type { FailedOutcome, Outcome, StreamFailure } from "./phase.ts";
import type { ListWatchObserver } from "./request_observer.ts";
import type { StagedList, SyncedStore } from "./synced_store.ts";
import type { WatchStream } from "./watch_stream.ts";

/** A streaming list may take this many times as long as it may make no progress. */
const TOTAL_FACTOR = 3;

/** A watch without an object that ended earlier is `short`. */
const SHORT_MS = 1_000;

/** Options for {@linkcode readStreamingList}. */
export interface StreamingListOptions {
  /** The version that was requested. */
  readonly version: string;
  /** Aborts the list; the call then rejects. */
  readonly signal: AbortSignal;
  /** The longest wait for the first object, in milliseconds. */
  readonly listIdleMs: number;
  /** The longest wait for the next object or the end, in milliseconds. */
  readonly initialEventsTimeoutMs: number;
  /** Observes the list. @default {nothing} */
  readonly observer?: ListWatchObserver;
}

/**
 * Reads the initial events of a watch into the store. If the outcome is `listed`, the watch is still open: its next batch is
 * the first one after the list.
 */
export async function readStreamingList<T>(
  stream: WatchStream<T>,
  store: SyncedStore<T>,
  counters: LiveCounters,
  options: StreamingListOptions,
): Promise<Outcome> {
  const { version, signal, listIdleMs, initialEventsTimeoutMs } = options;
  using deadline = new ListDeadline({ abort: (error) => stream.fail(error) }, {
    beginMs: listIdleMs,
    progressMs: initialEventsTimeoutMs,
    completeMs: TOTAL_FACTOR * initialEventsTimeoutMs,
  });
  try {
    using staged = store.stage();
    for (;;) {
      const batch = stream.accept(await stream.next());
      if (batch === undefined) break;
      counters.lastByteAt = Date.now();
      // mutant: plain-bookmark-ends-list
      const end = batch.findIndex((change) => change.type === "BOOKMARK" && change.initialEventsEnd);
      // mutant: changes-before-end-dropped
      const before = end === -1 ? batch : batch.slice(0, end);
      const objects = stage(staged, before);
      counters.listed = (counters.listed ?? 0) + objects;
      deadline.progress(objects);
      // mutant: list-seen-before-end
      if (end === -1) continue;
      const bookmark = batch[end] as Change<T> & { readonly type: "BOOKMARK" };
      const commitMs = staged.commit(bookmark.resourceVersion);
      options.observer?.committed(commitMs);
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
  // A server that does not know streaming lists does not learn them while the reflector runs.
  if (error instanceof StatusError && (error.status.code === 422 || error.status.code === 400)) return "unsupported";
  return outcome.failure === "unreachable" && deadline.begun ? "broken" : undefined;
}
