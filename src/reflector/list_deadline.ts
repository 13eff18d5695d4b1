import { UnreachableError } from "../api/errors.ts";
import { TimeLimit } from "../async/time/time_limit.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";

/** A list that can be aborted. */
interface Job {
  abort(error: Error): void;
}

/** Limits of a list; `Infinity` is no limit. */
export interface ListDeadlineOptions {
  /** The longest time until the server begins to answer, in milliseconds. */
  readonly beginMs: number;
  /** The longest time without a further object after that, in milliseconds. */
  readonly progressMs: number;
  /** The longest time from the beginning of the answer to the end of the list, in milliseconds. @default {Infinity} */
  readonly completeMs?: number;
}

/** `completeMs` grows by this for each object: a server that never sends the end, but an object now and then, stays below. */
const OBJECT_MS = 2;

/**
 * Aborts a list that does not begin, makes no progress, or does not end.
 *
 * `fetch` does not notice a dead connection, and a server that never sends the bookmark that ends a streaming list is given
 * up even while it sends new objects (client-go waits forever).
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

  /** Counts objects that have arrived. The first call begins the answer; later ones without an object are no progress. */
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
