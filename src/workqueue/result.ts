import { checkDurations } from "../async/time/duration.ts";

/**
 * A return value by which a worker asks for its key again. Create it with {@linkcode retry} or
 * {@linkcode requeueAfter}; an object of the same shape is refused.
 */
export class Result {
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

const RETRY = new Result();

/**
 * The result of a worker after which the queue leaves the key as it is: neither a success, which would forget its failures, nor
 * a retry. For workers that add the key again by themselves.
 */
export const SETTLED: Result = new Result();

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
export function retry(): Result {
  return RETRY;
}

/**
 * Asks for the key again after `ms` milliseconds. The work has succeeded: earlier failures of the key are forgotten.
 * The key is also processed earlier when it is added meanwhile.
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
 * @throws {RangeError} when `ms` is negative, not a number or not finite.
 */
export function requeueAfter(ms: number): Result {
  checkDurations("requeue a key", { ms }, { finite: true });
  return new Result(ms);
}
