import { checkDurations } from "../async/time/duration.ts";

/**
 * What a worker asks for by returning it. Made by {@linkcode retry} or {@linkcode requeueAfter}, and by nothing else: an
 * object of the same shape is refused.
 */
export class Result {
  readonly #afterMs: number | undefined;

  /** A key comes back after `afterMs` milliseconds, or as long as the rate limiter says. */
  constructor(afterMs?: number) {
    this.#afterMs = afterMs;
  }

  /** When the key comes back, in milliseconds; undefined leaves that to the rate limiter. */
  get afterMs(): number | undefined {
    return this.#afterMs;
  }
}

const RETRY = new Result();

/**
 * Asks for the key to come back after as long as the rate limiter says, longer each time: the work is not done, but nothing
 * has failed. Counts as a retry of the key, and neither as an error nor as success: its earlier failures are not forgotten.
 *
 * @example Wait for something that is not there yet
 * ```ts
 * import { retry, WorkQueue } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const tries: number[] = [];
 * await using queue = new WorkQueue();
 * queue.add("shop/cart-0");
 * await queue.run((key, { retries }) => {
 *   tries.push(retries);
 *   if (retries < 2) return retry(); // back after 5 ms, then 10 ms
 *   queue.shutDown();
 * });
 * assertEquals(tries, [0, 1, 2]);
 * ```
 */
export function retry(): Result {
  return RETRY;
}

/**
 * Asks for the key to come back after `ms` milliseconds. The work has succeeded: earlier failures of the key are forgotten.
 * The key comes back earlier, too, when somebody adds it.
 *
 * @example Look again after a while
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
