/**
 * Rate limiters: the waits of keys that are tried again.
 *
 * {@linkcode RateLimiter} and {@linkcode defaultRateLimiter} are the entry points. A limiter counts tries, and has no
 * timer; the delays are kept by `delay_queue.ts`.
 *
 * @module
 */
import { checkCounts, checkDurations } from "../async/checks.ts";
import { LeakyBucket } from "../async/time.ts";
import { checkNames } from "../errors/option_names.ts";

/** Determines the wait before a key is tried again. */
export interface RateLimiter<K> {
  /** Counts a try of `key`, and returns the wait before it, in milliseconds from now. */
  when(key: K): number;
  /** Resets `key`, because it has succeeded or is given up: its next wait is that of a new key. */
  forget(key: K): void;
  /** The number of tries of `key` since it was last forgotten. */
  retries(key: K): number;
}

/** Options for {@linkcode exponentialBackoff}. */
export interface ExponentialBackoffOptions {
  /** The first wait of a key, in milliseconds; each further one is twice as long. @default {5} */
  readonly baseMs?: number;
  /** The longest wait, in milliseconds. @default {1_000_000} */
  readonly maxMs?: number;
}

/**
 * Creates a limiter that doubles the wait of a key with each try: `baseMs`, twice that, four times that, up to `maxMs`.
 *
 * The limiter remembers each key until it is forgotten. (client-go `ItemExponentialFailureRateLimiter`; its item-based
 * default starts at 1 ms.)
 *
 * @throws {RangeError} when `baseMs` is not positive, or `maxMs` is below it.
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
  /** The wait of the first tries, in milliseconds. */
  readonly fastMs: number;
  /** The wait of all further tries, in milliseconds. */
  readonly slowMs: number;
  /** The number of tries of a key that wait `fastMs`. */
  readonly maxFast: number;
}

/**
 * Creates a limiter whose first `maxFast` tries of a key wait `fastMs`, and all further ones `slowMs`.
 *
 * The limiter remembers each key until it is forgotten. (client-go `ItemFastSlowRateLimiter`.)
 *
 * @throws {RangeError} when a time is negative or not finite, or `maxFast` is not a whole number of at least 0.
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
  /** The number of tries per second in the long run, of all keys together. @default {10} */
  readonly perSecond?: number;
  /** The number of tries that pass at once after a pause. @default {100} */
  readonly burst?: number;
}

/**
 * Creates a limiter for all keys together: `burst` tries at once, then `perSecond` tries a second.
 *
 * It does not distinguish keys: `retries` is always 0, and `forget` changes nothing. (client-go `BucketRateLimiter`.)
 *
 * @throws {RangeError} when `perSecond` is not positive, or `burst` is not a whole number of at least 1.
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
 * Creates a limiter whose wait is the longest of those of `limiters`. Each of them counts every try; `retries` is the
 * highest of theirs.
 *
 * @throws {RangeError} when no limiter is given.
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
 * Creates a limiter with the waits of `limiter`, limited to `maxMs` milliseconds; `Infinity` means no limit.
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
 * Creates the default limiter of a `WorkQueue`: an exponential back-off from 5 ms to 1000 s per key, and a token bucket
 * of 100 tries at once and 10 a second for all keys together (client-go `DefaultTypedControllerRateLimiter`).
 *
 * The bucket is shared: when 10,000 keys fail at once, their retries take a quarter of an hour. Where that is too slow,
 * use {@linkcode exponentialBackoff} alone.
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
