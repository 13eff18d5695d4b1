import { monotonicMs } from "./monotonic_ms.ts";

/** The rate of a {@linkcode LeakyBucket}. */
export interface LeakyBucketOptions {
  /** The number that passes at once. */
  readonly burst: number;
  /** One more passes after this many milliseconds. */
  readonly everyMs: number;
}

/**
 * Limits a rate: `burst` pass at once, and one more every `everyMs`.
 *
 * In any period of `t` milliseconds at most `burst + t / everyMs` pass.
 */
export class LeakyBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  /** The level of the bucket at `#atMs`, between 0 and `#burst`. */
  #level = 0;
  /** The time of the last call of `take()`. */
  #atMs: number = monotonicMs();

  /** Begins with an empty bucket. Time is that of the monotonic clock. */
  constructor(options: LeakyBucketOptions) {
    this.#burst = options.burst;
    this.#everyMs = options.everyMs;
  }

  /** Lets one pass and returns 0; or lets none pass, and returns the wait before another try, in milliseconds. */
  take(): number {
    const nowMs = monotonicMs();
    this.#level = Math.max(0, this.#level - (nowMs - this.#atMs) / this.#everyMs);
    this.#atMs = nowMs;
    const over = this.#level + 1 - this.#burst;
    // Without the tolerance, a rounding error would cause a wait.
    if (over > 1e-6) return Math.ceil(over * this.#everyMs);
    this.#level++;
    return 0;
  }
}
