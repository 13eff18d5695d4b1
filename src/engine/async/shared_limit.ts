/**
 * One time limit for many short jobs, such as requests.
 *
 * {@linkcode SharedLimit} is the entry point. It measures time, and ends nothing by itself: each job says what to do.
 *
 * @module
 */
import { PassingMap } from "./passing_map.ts";
import { LongTimer, monotonicMs } from "./time.ts";

/** One time limit for many short jobs. They share a timer, because a timer for each would cost more than the job. */
export class SharedLimit {
  readonly #ms: number;
  /** The jobs that have not ended, in the order in which they are due. */
  readonly #jobs = new PassingMap<number, { readonly dueMs: number; readonly expire: () => void }>();
  /** Armed if and only if there is a job. Fires when the first job is due, or before. */
  readonly #timer = new LongTimer(() => this.#look());
  #begun = 0;

  /** Each job may take `ms` milliseconds. `Infinity` means no limit. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Begins a job. Calls `expire` when its time is over, unless you have disposed the result. */
  begin(expire: () => void): Disposable {
    const job = this.#begun++;
    this.#jobs.set(job, { dueMs: monotonicMs() + this.#ms, expire });
    if (!this.#timer.isArmed) this.#timer.arm(this.#ms);
    return {
      [Symbol.dispose]: () => {
        if (this.#jobs.delete(job) && this.#jobs.size === 0) this.#timer[Symbol.dispose]();
      },
    };
  }

  #look(): void {
    const nowMs = monotonicMs();
    for (const [job, { dueMs, expire }] of this.#jobs) {
      // A timer may fire a fraction of a millisecond early.
      if (dueMs > nowMs + 1) return this.#timer.arm(dueMs - nowMs);
      this.#jobs.delete(job);
      expire();
    }
  }
}
