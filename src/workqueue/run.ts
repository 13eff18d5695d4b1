/**
 * The parts of a work queue: triggers of keys, results of workers, items, and rate limiters.
 *
 * {@linkcode Trigger}, {@linkcode ReconcileResult} and {@linkcode WorkItem} are the entry points. The queue itself,
 * which calls workers, is in `work_queue.ts`.
 *
 * @module
 */
import { checkCounts, checkDurations } from "../async/checks.ts";
import { LeakyBucket } from "../async/time.ts";
import { checkNames } from "../errors/option_names.ts";

/**
 * A reason why a key waits, for the worker and for `status()`. The queue compares triggers, and does not interpret
 * them.
 */
export interface Trigger {
  /**
   * The kind of reason. `run` gives `"retry"` (a failure, or `retry()`) and `"requeue"` (`requeueAfter()`); the queue
   * gives `"more"` for triggers that it left out. Programs use words of their own, such as `"event"`, `"resync"` or
   * `"external"`.
   */
  readonly type: string;
  /** The origin of the cause, such as the name of a handler. */
  readonly source?: string;
  /** The event, such as `"updated"`. */
  readonly event?: string;
  /** The key of the object that changed, where it is not the key that waits. */
  readonly object?: string;
  /** The paths that changed, such as `"spec.replicas"`. */
  readonly paths?: readonly string[];
  /** The number of retries of a `"retry"`, or the number of triggers that a `"more"` stands for. */
  readonly count?: number;
}

/**
 * The triggers of one key: none, one, or 2 to {@linkcode MAX_TRIGGERS}. One needs no array, which most keys would have
 * alone.
 */
export type TriggerList = Trigger | readonly Trigger[] | undefined;

/** The number of triggers that are kept for a key, and of paths that are kept for a cause. */
export const MAX_TRIGGERS = 8;

/**
 * Returns `triggers` with one more.
 *
 * A cause that differs from a known one in paths or count alone replaces it, with the paths of both. Of more than
 * {@linkcode MAX_TRIGGERS} the first ones are kept, and the last is a `"more"` that counts the others.
 */
export function withTrigger(triggers: TriggerList, cause: Trigger): TriggerList {
  if (triggers === undefined || triggers === cause) return cause;
  const known: readonly Trigger[] = isList(triggers) ? triggers : [triggers];
  const index = known.findIndex((it) => it === cause || isSame(it, cause));
  if (index >= 0) return known[index] === cause ? triggers : known.with(index, joined(known[index], cause));
  if (known.length < MAX_TRIGGERS) return [...known, cause];
  const last = known[MAX_TRIGGERS - 1];
  const count = last.type === "more" ? last.count! + (cause.type === "more" ? cause.count! : 1) : 2;
  return known.with(MAX_TRIGGERS - 1, { type: "more", count });
}

/** Returns the triggers of both. */
export function withTriggers(triggers: TriggerList, others: TriggerList): TriggerList {
  if (triggers === undefined || others === undefined) return triggers ?? others;
  return isList(others) ? others.reduce<TriggerList>(withTrigger, triggers) : withTrigger(triggers, others);
}

/** Returns triggers as a list. */
export function listOfTriggers(triggers: TriggerList): readonly Trigger[] {
  if (triggers === undefined) return NONE;
  return isList(triggers) ? triggers : [triggers];
}

const NONE: readonly Trigger[] = [];

function isList(triggers: Trigger | readonly Trigger[]): triggers is readonly Trigger[] {
  return Array.isArray(triggers);
}

function isSame(a: Trigger, b: Trigger): boolean {
  return a.type === b.type && a.source === b.source && a.event === b.event && a.object === b.object;
}

function joined(known: Trigger, cause: Trigger): Trigger {
  if (known.type === "more") return { type: "more", count: known.count! + cause.count! };
  if (known.paths === undefined || cause.paths === undefined) return { ...known, ...cause };
  const paths = [...new Set([...known.paths, ...cause.paths])].slice(0, MAX_TRIGGERS);
  return { ...known, ...cause, paths };
}

/**
 * A return value by which a worker asks for its key again. Create it with {@linkcode retry} or
 * {@linkcode requeueAfter}; an object of the same shape is refused.
 */
export class ReconcileResult {
  readonly #afterMs: number | undefined;

  /** Creates a result: the key is added again after `afterMs` milliseconds, or after the wait of the rate limiter. */
  constructor(afterMs?: number) {
    this.#afterMs = afterMs;
  }

  /** The delay before the key is added again, in milliseconds; undefined for the wait of the rate limiter. */
  get afterMs(): number | undefined {
    return this.#afterMs;
  }
}

const RETRY = new ReconcileResult();

/**
 * The result of a worker after which the queue leaves the key as it is: neither a success, which would forget its
 * failures, nor a retry. For workers that add the key again by themselves.
 */
export const SETTLED: ReconcileResult = new ReconcileResult();

/**
 * Asks for the key again after the wait of the rate limiter, which grows with each retry: the work is not done, but it
 * has not failed. Counts as a retry of the key, and neither as an error nor as a success: its earlier failures are not
 * forgotten.
 *
 * @example Wait for a dependency that does not exist yet
 * ```ts
 * import { retry, WorkQueue } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const tries: number[] = [];
 * await using queue = new WorkQueue();
 * queue.add("shop/cart-0");
 * await queue.run((key, { retries }) => {
 *   tries.push(retries);
 *   if (retries < 2) return retry(); // after 5 ms, then 10 ms
 *   queue.shutDown();
 * });
 * assertEquals(tries, [0, 1, 2]);
 * ```
 */
export function retry(): ReconcileResult {
  return RETRY;
}

/**
 * Asks for the key again after `ms` milliseconds. The work has succeeded: earlier failures of the key are forgotten.
 * The key is also processed earlier when it is added meanwhile.
 *
 * A time that has passed is no error: a negative `ms` counts as 0, so `requeueAfter(deadline - Date.now())` is safe.
 *
 * @example Check again later
 * ```ts
 * import { requeueAfter, WorkQueue } from "@kube/informer";
 *
 * let looks = 0;
 * await using queue = new WorkQueue();
 * queue.add("shop/cart-0");
 * await queue.run(() => {
 *   if (++looks < 3) return requeueAfter(10);
 *   queue.shutDown();
 * });
 * ```
 *
 * @throws {RangeError} when `ms` is `NaN`, `Infinity` or not a number.
 */
export function requeueAfter(ms: number): ReconcileResult {
  const afterMs = typeof ms === "number" ? Math.max(0, ms) : ms ?? NaN;
  checkDurations("requeue a key", { ms: afterMs }, { finite: true });
  return new ReconcileResult(afterMs);
}

/**
 * A key taken from a `WorkQueue`. Disposing the item marks the key as done.
 *
 * An item belongs to one taking of its key: disposing it twice, or late, does not affect a later taking of the same
 * key.
 */
export interface WorkItem<K> extends Disposable {
  /** The key to process. */
  readonly key: K;
  /** The number of rate-limited additions of the key since it was last forgotten. */
  readonly retries: number;
  /** The triggers of the additions that this taking answers, at most 8; empty when none was given. */
  readonly triggers: readonly Trigger[];
}

/** The queue that an item belongs to. */
export interface ItemOwner<K> {
  /** See {@linkcode WorkItem.retries}. */
  retries(key: K): number;
  /** Called when the item is disposed. */
  finish(item: Item<K>): void;
}

/** One pass of a key through the queue, from its addition until it is done. Never reused for a second pass. */
export class Item<K> implements WorkItem<K> {
  /** See {@linkcode WorkItem.key}. */
  readonly key: K;
  /** The progress of the key. */
  phase: "waiting" | "processing" | "done" = "waiting";
  /** The time at which the phase began, in milliseconds. */
  sinceMs: number;
  /** True when the key has low priority. */
  isLow: boolean;
  /** See {@linkcode WorkItem.triggers}. */
  held: TriggerList;
  /** The next pass of the key, which was added again while it is processed; undefined when it was not. */
  again: Item<K> | undefined = undefined;
  /** True when the key was added rate-limited while it was processed: its failures are then kept. */
  isRateLimited = false;
  /** The item before it in its list. */
  previous: Item<K> | undefined = undefined;
  /** The item behind it in its list. */
  next: Item<K> | undefined = undefined;
  readonly #owner: ItemOwner<K>;

  /** @param addedMs The time at which the key was added. */
  constructor(key: K, owner: ItemOwner<K>, addedMs: number, isLow: boolean, triggers: TriggerList) {
    this.key = key;
    this.#owner = owner;
    this.sinceMs = addedMs;
    this.isLow = isLow;
    this.held = triggers;
  }

  /** See {@linkcode WorkItem.retries}. */
  get retries(): number {
    return this.#owner.retries(this.key);
  }

  /** See {@linkcode WorkItem.triggers}. */
  get triggers(): readonly Trigger[] {
    return listOfTriggers(this.held);
  }

  /** Marks the key as done. */
  [Symbol.dispose](): void {
    this.#owner.finish(this);
  }
}

/**
 * Processes a key. It succeeds by returning nothing, or a promise that resolves with nothing; it returns `retry()` or
 * `requeueAfter(ms)` to receive the key again.
 */
export type WorkFunction<K> = (
  key: K,
  context: WorkContext,
) => void | ReconcileResult | Promise<void | ReconcileResult>;

/** The second argument of a worker. */
export interface WorkContext {
  /** Aborts when the run is stopped: by its own signal, by an error of `onError`, or by disposing the queue. */
  readonly signal: AbortSignal;
  /** The number of retries of this key since it was last forgotten, as by a success. */
  readonly retries: number;
  /** The triggers of the additions that this call answers, at most 8; empty when none was given. */
  readonly triggers: readonly Trigger[];
}

/** Options for `WorkQueue.run`. */
export interface WorkQueueRunOptions<K> {
  /** Stops the run: it takes no further key, and the signals of its workers abort. */
  readonly signal?: AbortSignal;
  /** The number of keys that are processed at a time. @default {1} */
  readonly concurrency?: number;
  /**
   * Called with each failure, after the key was added again. When it throws or rejects, the run ends with that error.
   * `status()` counts failures with or without it. Its return value is ignored.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown, key: K) => unknown;
}

/** Refuses values of other types, which the type of `WorkFunction` does not allow either. */
export function checkResult(result: unknown): void {
  if (result instanceof ReconcileResult) return;
  throw new TypeError(
    `A worker must return nothing, retry() or requeueAfter(ms), found a value of type ${typeof result}`,
  );
}

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
    throw new RangeError(`Cannot ${action}: ${name} must be ${expected}, found ${value}`);
  }
}
