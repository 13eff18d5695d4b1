import type { Cause } from "./cause.ts";

/** A summary of measured durations. */
export interface Durations {
  /** The number of durations. */
  readonly count: number;
  /** Their sum, in milliseconds. */
  readonly sumMs: number;
  /** The longest, in milliseconds. */
  readonly maxMs: number;
}

/** A key that a worker processes. */
export interface RunningKey {
  /** The key. */
  readonly key: string | number;
  /** The time since the key was handed to its worker, in milliseconds. */
  readonly runningMs: number;
  /** The causes of the additions that the worker answers. */
  readonly causes: readonly Cause[];
}

/** The state of a `WorkQueue` at one time. Counters start at 0 with the queue and never decrease. */
export interface WorkQueueStatus {
  /** The name of the queue. */
  readonly name: string;
  /** True when the queue was shut down and accepts no more keys. */
  readonly isShutDown: boolean;
  /** The number of keys that wait for a worker. */
  readonly waiting: number;
  /** The number of keys in `waiting` that have low priority. */
  readonly lowPriority: number;
  /** The number of keys that workers process. */
  readonly processing: number;
  /** The number of keys in `processing` that were added again, and will wait again when they are done. */
  readonly returning: number;
  /** The number of keys whose delay has not ended. */
  readonly delayed: number;
  /** The number of additions of keys that did not wait already. */
  readonly adds: number;
  /** The number of additions by `addAfter` or `addRateLimited`. */
  readonly retries: number;
  /** The number of additions that were refused, and of delays that were cancelled, because the queue was shut down. */
  readonly dropped: number;
  /** The number of failed calls of workers that were given to `run`. */
  readonly errors: number;
  /** The last of these errors, its key, and the causes that the worker answered. */
  readonly lastError?: { readonly key: string | number; readonly error: unknown; readonly causes: readonly Cause[] };
  /** The times between adding a key and handing it to a worker. Delays before the addition do not count. */
  readonly queueLatencyMs: Durations;
  /** The times between handing a key to a worker and the worker being done with it. */
  readonly workDurationMs: Durations;
  /** The sum of the present processing times of all keys in `processing`, in milliseconds. Grows while workers hang. */
  readonly unfinishedWorkMs: number;
  /** The longest of these times, in milliseconds; 0 when no key is processed. */
  readonly longestRunningMs: number;
  /** The keys in `processing`, in the order in which they were handed out. */
  readonly running: readonly RunningKey[];
}

/** Counts durations, and keeps their sum and maximum. */
export class Tally {
  /** The number of calls of `add`. */
  #count = 0;
  /** The sum of all durations added. */
  #sumMs = 0;
  /** The longest duration added; 0 when there is none. */
  #maxMs = 0;

  /** Adds a duration. */
  add(ms: number): void {
    this.#count++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  /** A summary of the durations added so far. */
  get durations(): Durations {
    return { count: this.#count, sumMs: this.#sumMs, maxMs: this.#maxMs };
  }
}
