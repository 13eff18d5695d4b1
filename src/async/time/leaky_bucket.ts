import { monotonicMs } from "./monotonic_ms.ts";

/** How many are let through. */
export interface LeakyBucketOptions {
  /** How many at once. */
  readonly burst: number;
  /** One more after this many milliseconds. */
  readonly everyMs: number;
}

/**
 * Lets `burst` through at once, and one more every `everyMs`.
 *
 * Over any time of `t` milliseconds it lets at most `burst + t / everyMs` through.
 */
export class LeakyBucket {
  readonly #burst: number;
  readonly #everyMs: number;
  /** How full the bucket was at `#atMs`: between 0 and `#burst` takings. */
  #level = 0;
  #atMs: number = monotonicMs();

  /** An empty bucket, by the monotonic clock. */
  constructor(options: LeakyBucketOptions) {
    this.#burst = options.burst;
    this.#everyMs = options.everyMs;
  }

  /** Takes one: 0, or how many milliseconds to wait before another try, in which case nothing was taken. */
  take(): number {
    const nowMs = monotonicMs();
    this.#level = Math.max(0, this.#level - (nowMs - this.#atMs) / this.#everyMs);
    this.#atMs = nowMs;
    const over = this.#level + 1 - this.#burst;
    // A rounding error is no reason to wait.
    if (over > 1e-6) return Math.ceil(over * this.#everyMs);
    this.#level++;
    return 0;
  }
}
