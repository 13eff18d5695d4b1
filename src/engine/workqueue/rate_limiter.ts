/**
 * Rate limiters: the waits of keys that are tried again.
 *
 * {@linkcode RateLimiter} and {@linkcode defaultRateLimiter} are the entry points. A limiter counts tries, and has no
 * timer; the delays are kept by `delay_queue.ts`.
 *
 * @module
 */
import { LeakyBucket } from "../async/rates.ts";
import { checkCounts, checkDurations } from "../errors/checks.ts";
import { checkNames } from "../errors/option_names.ts";

/** Decides how long a failed key waits before its next try. Pass it to `WorkQueue` or `Reconciler` as `rateLimiter`. */
export interface RateLimiter<K> {
  /** Counts a try for `key`, and returns how long it must wait, in milliseconds. */
  when(key: K): number;
  /** Resets `key`, because it has succeeded or you give it up. The next wait is short again. */
  forget(key: K): void;
  /** Returns the number of tries for `key` since it was last forgotten. */
  retries(key: K): number;
}

/** Options for {@linkcode exponentialBackoff}. */
export interface ExponentialBackoffOptions {
  /** A key's first wait in milliseconds. Each further wait is twice as long. @default {5} */
  readonly baseMs?: number;
  /** The longest wait, in milliseconds. @default {1_000_000} */
  readonly maxMs?: number;
}

/**
 * Creates a limiter that doubles a key's wait with each try, from `baseMs` up to `maxMs`.
 *
 * It remembers each key until you forget it. (client-go `ItemExponentialFailureRateLimiter`. Its item-based default
 * starts at 1 ms.)
 *
 * @throws {RangeError} if `baseMs` is not positive, or `maxMs` is less than `baseMs`.
 */
export function exponentialBackoff<K>(options: ExponentialBackoffOptions = {}): RateLimiter<K> {
  checkNames("back off exponentially", options, "baseMs maxMs");
  const { baseMs = 5, maxMs = 1_000_000 } = options;
  check("back off exponentially", "baseMs", baseMs, baseMs > 0, "positive");
  check("back off exponentially", "maxMs", maxMs, maxMs >= baseMs, `at least baseMs (${baseMs})`);
  // For many failures 2 ** failures is Infinity; maxMs limits it.
  return new PerKey((failures) => Math.min(baseMs * 2 ** failures, maxMs));
}

/** Options for {@linkcode fastSlow}. */
export interface FastSlowOptions {
  /** The wait for the first tries, in milliseconds. */
  readonly fastMs: number;
  /** The wait for all later tries, in milliseconds. */
  readonly slowMs: number;
  /** How many tries per key wait only `fastMs`. */
  readonly maxFast: number;
}

/**
 * Creates a limiter with a short wait for a key's first tries, and a long wait after them.
 *
 * It remembers each key until you forget it. (client-go `ItemFastSlowRateLimiter`.)
 *
 * @throws {RangeError} if a time is negative or not finite, or `maxFast` is not a whole number of at least 0.
 */
export function fastSlow<K>(options: FastSlowOptions): RateLimiter<K> {
  checkNames("limit by fast and slow tries", options, "fastMs slowMs maxFast");
  const { fastMs, slowMs, maxFast } = options;
  checkDurations("limit by fast and slow tries", { fastMs, slowMs }, { finite: true });
  checkCounts("limit by fast and slow tries", { maxFast });
  return new PerKey((failures) => failures < maxFast ? fastMs : slowMs);
}

/** Options for {@linkcode tokenBucket}. */
export interface TokenBucketOptions {
  /** The number of tries per second in the long run, for all keys together. @default {10} */
  readonly perSecond?: number;
  /** The number of tries that pass immediately after a pause. @default {100} */
  readonly burst?: number;
}

/**
 * Creates a limiter for all keys together: `burst` tries pass immediately, then `perSecond` tries per second.
 *
 * It does not distinguish keys: `retries` is always 0, and `forget` changes nothing. (client-go `BucketRateLimiter`.)
 *
 * @throws {RangeError} if `perSecond` is not positive, or `burst` is not a whole number of at least 1.
 */
export function tokenBucket<K>(options: TokenBucketOptions = {}): RateLimiter<K> {
  checkNames("fill a token bucket", options, "perSecond burst");
  const { perSecond = 10, burst = 100 } = options;
  check("fill a token bucket", "perSecond", perSecond, perSecond > 0, "positive");
  checkCounts("fill a token bucket", { burst }, { min: 1 });
  const bucket = new LeakyBucket(burst, 1_000 / perSecond);
  return { when: () => bucket.book(), forget: () => {}, retries: () => 0 };
}

/**
 * Creates a limiter that uses the longest wait from `limiters`. Each limiter counts every try, and `retries` is the
 * highest count.
 *
 * @throws {RangeError} if you pass no limiter.
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
 * Creates a limiter with the waits from `limiter`, but at most `maxMs` milliseconds. `Infinity` means no limit.
 *
 * @throws {RangeError} if `maxMs` is negative.
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
 * Creates the default limiter for a `WorkQueue`. Each key backs off from 5 ms to 1000 s. All keys together pass 100
 * tries immediately, and then 10 per second (client-go `DefaultTypedControllerRateLimiter`).
 *
 * All keys share the second limit: when 10,000 keys fail together, their retries take a quarter of an hour. If that is
 * too slow, use only {@linkcode exponentialBackoff}.
 */
export function defaultRateLimiter<K>(): RateLimiter<K> {
  return maxOf<K>(exponentialBackoff<K>(), tokenBucket<K>());
}

/** A limiter that counts the tries of each key. */
class PerKey<K> implements RateLimiter<K> {
  readonly #waitMs: (failures: number) => number;
  /** Has a key if and only if it was tried since it was last forgotten; the value is the number of these tries. */
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

function check(action: string, name: string, value: number, isValid: boolean, expected: string): void {
  if (!isValid || !Number.isFinite(value)) {
    throw new RangeError(`Cannot ${action}: ${name} must be ${expected}, but it is ${value}`);
  }
}
