import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { checkDurations } from "../async/time/duration.ts";

/** Says how long a key has to wait before it is tried again. */
export interface RateLimiter<K> {
  /** The wait before the next try of `key`, in milliseconds, from now; counts as a try. */
  when(key: K): number;
  /** `key` has succeeded, or will not be tried any more: its next wait is that of a new key. */
  forget(key: K): void;
  /** How many tries of `key` were counted since it was last forgotten. */
  retries(key: K): number;
}

/** How waits grow. */
export interface ExponentialBackoffOptions {
  /** The first wait of a key, in milliseconds; each further one is twice as long. @default {5} */
  readonly baseMs?: number;
  /** The longest wait, in milliseconds. @default {1_000_000} */
  readonly maxMs?: number;
}

/**
 * Each key waits twice as long as the last time: `baseMs`, twice that, four times, up to `maxMs`.
 *
 * Keys are remembered until they are forgotten. (client-go `ItemExponentialFailureRateLimiter`; its item-based default starts
 * at 1 ms.)
 *
 * @throws {RangeError} when `baseMs` is not positive, or `maxMs` is below it.
 */
export function exponentialBackoff<K>(options: ExponentialBackoffOptions = {}): RateLimiter<K> {
  const { baseMs = 5, maxMs = 1_000_000 } = options;
  check("back off exponentially", "baseMs", baseMs, baseMs > 0, "positive");
  check("back off exponentially", "maxMs", maxMs, maxMs >= baseMs, `at least baseMs (${baseMs})`);
  // 2 ** failures becomes Infinity in the end, which maxMs caps.
  return new PerKey((failures) => Math.min(baseMs * 2 ** failures, maxMs));
}

/** When quick tries end. */
export interface FastSlowOptions {
  /** The wait of the first tries, in milliseconds. */
  readonly fastMs: number;
  /** The wait of all further tries, in milliseconds. */
  readonly slowMs: number;
  /** How many tries of a key are quick. */
  readonly maxFast: number;
}

/**
 * The first `maxFast` tries of a key wait `fastMs`, all further ones `slowMs`.
 *
 * Keys are remembered until they are forgotten. (client-go `ItemFastSlowRateLimiter`.)
 *
 * @throws {RangeError} when a time is negative or not finite, or `maxFast` is not a whole number of at least 0.
 */
export function fastSlow<K>(options: FastSlowOptions): RateLimiter<K> {
  const { fastMs, slowMs, maxFast } = options;
  checkDurations("limit by fast and slow tries", { fastMs, slowMs }, { finite: true });
  check("limit by fast and slow tries", "maxFast", maxFast, Number.isInteger(maxFast) && maxFast >= 0, "a count");
  return new PerKey((failures) => failures < maxFast ? fastMs : slowMs);
}

/** How many tries a bucket lets through. */
export interface TokenBucketOptions {
  /** How many tries a second there may be in the long run, of all keys together. @default {10} */
  readonly perSecond?: number;
  /** How many there may be at once after a pause. @default {100} */
  readonly burst?: number;
}

/**
 * All keys together: `burst` tries at once, then `perSecond` tries a second.
 *
 * It does not know one key from another: `retries` is always 0, and `forget` changes nothing. (client-go `BucketRateLimiter`.)
 *
 * @throws {RangeError} when `perSecond` is not positive, or `burst` is not a whole number of at least 1.
 */
export function tokenBucket<K>(options: TokenBucketOptions = {}): RateLimiter<K> {
  const { perSecond = 10, burst = 100 } = options;
  check("fill a token bucket", "perSecond", perSecond, perSecond > 0, "positive");
  check("fill a token bucket", "burst", burst, Number.isInteger(burst) && burst >= 1, "a count of at least 1");
  return new TokenBucket(perSecond, burst);
}

/**
 * The longest wait any of the limiters asks for. Each of them counts every try; `retries` is the highest of theirs.
 *
 * @throws {RangeError} when there is no limiter.
 */
export function maxOf<K>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  if (limiters.length === 0) {
    throw new RangeError("Cannot take the longest wait: found no rate limiter, expected at least 1");
  }
  return {
    when: (key) => limiters.reduce((longest, limiter) => Math.max(longest, limiter.when(key)), 0),
    forget: (key) => limiters.forEach((limiter) => limiter.forget(key)),
    retries: (key) => limiters.reduce((most, limiter) => Math.max(most, limiter.retries(key)), 0),
  };
}

/**
 * The waits of `limiter`, but none longer than `maxMs` milliseconds; `Infinity` is no cap.
 *
 * @throws {RangeError} when `maxMs` is negative.
 */
export function withMaxWait<K>(limiter: RateLimiter<K>, maxMs: number): RateLimiter<K> {
  checkDurations("cap a rate limiter", { maxMs });
  return {
    when: (key) => Math.min(limiter.when(key), maxMs),
    forget: (key) => limiter.forget(key),
    retries: (key) => limiter.retries(key),
  };
}

/**
 * What a {@linkcode WorkQueue} uses unless told otherwise: 5 ms to 1000 s per key, and beyond 100 at once 10 tries a second
 * of all keys together (client-go `DefaultTypedControllerRateLimiter`).
 *
 * The bucket is shared: when ten thousand keys fail at once, their retries take a quarter of an hour. Where that is too
 * careful, use {@linkcode exponentialBackoff} alone.
 */
export function defaultRateLimiter<K>(): RateLimiter<K> {
  return maxOf<K>(exponentialBackoff<K>(), tokenBucket<K>());
}

class PerKey<K> implements RateLimiter<K> {
  readonly #waitMs: (failures: number) => number;
  readonly #failures = new Map<K, number>();

  constructor(waitMs: (failures: number) => number) {
    this.#waitMs = waitMs;
  }

  when(key: K): number {
    const failures = this.retries(key);
    this.#failures.set(key, failures + 1);
    return this.#waitMs(failures);
  }

  forget(key: K): void {
    this.#failures.delete(key);
  }

  retries(key: K): number {
    return this.#failures.get(key) ?? 0;
  }
}

class TokenBucket<K> implements RateLimiter<K> {
  readonly #perMs: number;
  readonly #burst: number;
  /** Below 0: so many tries have been promised a token that is not there yet. */
  #tokens: number;
  #filledMs: number;

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledMs = monotonicMs();
  }

  when(_key: K): number {
    const nowMs = monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledMs) * this.#perMs) - 1;
    this.#filledMs = nowMs;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  forget(_key: K): void {
    // The tokens belong to all keys; none comes back.
  }

  retries(_key: K): number {
    return 0;
  }
}

function check(action: string, name: string, value: number, isValid: boolean, expected: string): void {
  if (!isValid || !Number.isFinite(value)) {
    throw new RangeError(`Cannot ${action}: ${name} must be ${expected}, found ${value}`);
  }
}
