/**
 * A key on its way through a queue, and the result of the work on it.
 *
 * {@linkcode WorkItem} and {@linkcode ReconcileResult} are the entry points. Which item is handed out next is decided
 * by `waiting_items.ts`, and workers are called by `work_queue.ts`.
 *
 * @module
 */
import { checkDurations } from "../errors/checks.ts";
import { listOfTriggers, type Trigger, type TriggerList } from "./triggers.ts";

/**
 * A worker's result that asks for its key again. Create it with {@linkcode retry} or {@linkcode requeueAfter}. An
 * object with the same shape is refused.
 */
export class ReconcileResult {
  readonly #afterMs: number | undefined;

  /** Creates a result: the key comes back after `afterMs` milliseconds, or after the rate limiter's wait. */
  constructor(afterMs?: number) {
    this.#afterMs = afterMs;
  }

  /** The delay before the key comes back, in milliseconds. `undefined` means the rate limiter's wait. */
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
 * Asks for the key again after the rate limiter's wait, which grows with each retry. Return it if the work is not done
 * but has not failed, for example because a dependency is missing. It counts as a retry, not as an error or a success:
 * earlier failures are not forgotten.
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
 * Asks for the key again after `ms` milliseconds. The work has succeeded, so earlier failures of the key are forgotten.
 * If somebody adds the key earlier, it is processed earlier too.
 *
 * A negative `ms` counts as 0, so `requeueAfter(deadline - Date.now())` is safe.
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
 * @throws {RangeError} if `ms` is `NaN`, `Infinity` or not a number.
 */
export function requeueAfter(ms: number): ReconcileResult {
  const afterMs = typeof ms === "number" ? Math.max(0, ms) : ms ?? NaN;
  checkDurations("requeue a key", { ms: afterMs }, { finite: true });
  return new ReconcileResult(afterMs);
}

/**
 * A key that you took from a `WorkQueue`. Dispose the item to mark the key as done.
 *
 * If you dispose it twice, or late, a later item for the same key is not affected.
 */
export interface WorkItem<K> extends Disposable {
  /** The key to process. */
  readonly key: K;
  /** The number of rate-limited additions since the key was last forgotten. */
  readonly retries: number;
  /** The triggers of the additions that led to this item, at most 8. Empty if there were none. */
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
 * Refuses values of other types, which the type of `WorkFunction` does not allow either; `of` is the function that
 * returned it.
 */
export function checkResult(result: unknown, of: "worker" | "reconcile"): void {
  if (result instanceof ReconcileResult) return;
  throw new TypeError(
    `A ${of} must return nothing, retry() or requeueAfter(ms), found a value of type ${typeof result}`,
  );
}
