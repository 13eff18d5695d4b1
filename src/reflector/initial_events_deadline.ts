import { UnreachableError } from "../api/errors.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { LongTimer } from "../async/time/long_timer.ts";

/** The list that is failed. */
interface Job {
  abort(error: Error): void;
}

/** How long a streaming list may take without an object, as a multiple of the time without progress. */
const TOTAL_FACTOR = 3;

/** How much longer it may take for each object: a server that never sends the end, and now and then an object, stays below. */
const OBJECT_MS = 2;

/**
 * Fails a streaming list that does not begin, makes no progress, or goes on without an end.
 *
 * Once it has begun it may take `3 * progressMs`, and 2 ms more for each object. So a server that never sends the bookmark
 * that ends the list is given up, even if objects that are created meanwhile trickle in (client-go waits for ever).
 */
export class InitialEventsDeadline implements Disposable {
  readonly #job: Job;
  readonly #progressMs: number;
  /** Until when it must begin or make progress. */
  #progressAtMs: number;
  /** Until when it must be complete; `Infinity` before it has begun. */
  #completeAtMs = Infinity;
  #passed = false;
  readonly #timer: LongTimer = new LongTimer(() => this.#look());

  /** Aborts `job` when the list has not begun within `beginMs`, or makes no progress for `progressMs` after that. */
  constructor(job: Job, beginMs: number, progressMs: number) {
    this.#job = job;
    this.#progressMs = progressMs;
    this.#progressAtMs = monotonicMs() + beginMs;
    this.#timer.arm(Math.min(beginMs, progressMs));
  }

  /** Whether the server has answered. */
  get begun(): boolean {
    return this.#completeAtMs !== Infinity;
  }

  /** Whether the deadline has passed after the server had answered: it does not end the list, and will not. */
  get passed(): boolean {
    return this.#passed;
  }

  /** The server has answered, or has sent `objects` more. */
  progress(objects: number): void {
    const nowMs = monotonicMs();
    this.#progressAtMs = nowMs + this.#progressMs;
    if (!this.begun) this.#completeAtMs = nowMs + TOTAL_FACTOR * this.#progressMs;
    this.#completeAtMs += OBJECT_MS * objects;
  }

  /** Ends the deadline. */
  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #look(): void {
    const leftMs = Math.min(this.#progressAtMs, this.#completeAtMs) - monotonicMs();
    if (leftMs > 0) return this.#timer.arm(leftMs);
    this.#passed = this.begun;
    const what = !this.begun
      ? "did not begin in time"
      : this.#progressAtMs <= this.#completeAtMs
      ? `sent neither an object nor the end for ${this.#progressMs} ms`
      : "did not send the end in time";
    this.#job.abort(new UnreachableError(`Cannot take the streaming list: the server ${what}`));
  }
}
