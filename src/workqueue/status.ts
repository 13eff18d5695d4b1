/** Durations, summed up. */
export interface Durations {
  /** How many there were. */
  readonly count: number;
  /** All of them together, in milliseconds. */
  readonly sumMs: number;
  /** The longest, in milliseconds. */
  readonly maxMs: number;
}

/** What is true of a {@linkcode WorkQueue} right now. Counts start with the queue and never go down. */
export interface WorkQueueStatus {
  /** The name given to the queue. */
  readonly name: string;
  /** Whether it was shut down: no key is accepted any more. */
  readonly isShutDown: boolean;
  /** Keys that wait for a worker now. */
  readonly waiting: number;
  /** Keys that workers have now. */
  readonly processing: number;
  /** Those of `processing` that were added meanwhile, and will wait again once they are done. */
  readonly returning: number;
  /** Keys whose delay is not over. */
  readonly delayed: number;
  /** How many keys were added, without those that waited already. */
  readonly adds: number;
  /** How often a key was added with a delay, by `addAfter` or `addRateLimited`. */
  readonly retries: number;
  /** How often a key was not accepted, or its delay was given up, because the queue was shut down. */
  readonly dropped: number;
  /** How many calls of a worker given to `run` have failed. */
  readonly errors: number;
  /** The last of these errors, and the key it was about. */
  readonly lastError?: { readonly key: string | number; readonly error: unknown };
  /** From when a key was added to when a worker got it. Delays before it was added do not count. */
  readonly queueLatencyMs: Durations;
  /** From when a worker got a key to when it was done with it. */
  readonly workDurationMs: Durations;
  /** How long the workers have had the keys they have now, all together, in milliseconds. Grows while they hang. */
  readonly unfinishedWorkMs: number;
  /** The longest of these, in milliseconds; 0 when there is none. */
  readonly longestRunningMs: number;
}

/** Sums up durations. */
export class Tally {
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  /** Counts one more. */
  add(ms: number): void {
    this.#count++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  /** What came together so far. */
  get durations(): Durations {
    return { count: this.#count, sumMs: this.#sumMs, maxMs: this.#maxMs };
  }
}
