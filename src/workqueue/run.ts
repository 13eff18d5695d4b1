import { isAbortOf } from "../async/is_abort_of.ts";
import { Pacer } from "../async/pacer.ts";
import type { Cause } from "./cause.ts";
import { Result, SETTLED } from "./result.ts";
import type { Item } from "./work_item.ts";

/**
 * Processes a key. It succeeds by returning nothing, or a promise that resolves with nothing; it returns `retry()` or
 * `requeueAfter(ms)` to receive the key again.
 */
export type WorkFunction<K> = (key: K, context: WorkContext) => void | Result | Promise<void | Result>;

/** The second argument of a worker. */
export interface WorkContext {
  /** Aborts when the run is stopped: by its own signal, by an error of `onError`, or by disposing the queue. */
  readonly signal: AbortSignal;
  /** The number of retries of this key since it was last forgotten, as by a success. */
  readonly retries: number;
  /** The causes of the additions that this call answers, at most 8; empty when none was given. */
  readonly causes: readonly Cause[];
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

/** Receives the item of the next key, or undefined when there will be none. */
export type Taker<K> = (item: Item<K> | undefined) => void;

/** The queue as {@linkcode runWorkers} needs it. */
export interface WorkSource<K> {
  /** Takes the next key; undefined when no key waits. */
  tryGet(): Item<K> | undefined;
  /** Registers `taker` for one key, while no key waits. It receives undefined when there will be none. */
  wait(taker: Taker<K>): void;
  /** Removes `taker`; false when it was not registered. */
  leave(taker: Taker<K>): boolean;
  /** Adds the key of an item again, without a delay, with its causes. */
  returnKey(item: Item<K>): void;
  /** Adds the key of an item again, after the wait of the rate limiter. */
  retry(item: Item<K>): void;
  /** Adds the key of an item again, after `delayMs` milliseconds. */
  requeue(item: Item<K>, delayMs: number): void;
  /** Resets the failures of a key, unless it was added rate-limited while it was processed. */
  succeed(item: Item<K>): void;
  /** Records the failure of a worker. */
  report(error: unknown, item: Item<K>): void;
}

/** A run with checked options. */
export interface Run<K> {
  /** See {@linkcode WorkQueueRunOptions.concurrency}. */
  readonly concurrency: number;
  /** See {@linkcode WorkQueueRunOptions.onError}. */
  readonly onError: WorkQueueRunOptions<K>["onError"];
  /** Stops the workers; aborted by the owner of the run, or by a worker whose error ends it. */
  readonly stop: { readonly signal: AbortSignal; abort(reason: unknown): void };
}

/**
 * Gives keys to `worker`, `concurrency` at a time, until `stop` aborts or the source ends.
 *
 * Settles when no worker runs any more: rejects if `onError`, or the source itself, has thrown, and resolves otherwise.
 */
export async function runWorkers<K>(
  source: WorkSource<K>,
  worker: WorkFunction<K>,
  { concurrency, onError, stop }: Run<K>,
): Promise<void> {
  const { signal } = stop;
  const pacer = new Pacer();
  const takers: Taker<K>[] = [];
  let failure: { readonly error: unknown } | undefined;

  async function fail(item: Item<K>, error: unknown): Promise<void> {
    // A worker that ends by the stop has not failed; its key waits for the next run.
    if (isAbortOf(signal, error)) return source.returnKey(item);
    source.report(error, item);
    source.retry(item);
    await onError?.(error, item.key);
  }

  function settle(item: Item<K>, result: Result | void): void {
    if (result === undefined) return source.succeed(item);
    if (result === SETTLED) return;
    const { afterMs } = result;
    if (afterMs === undefined) return source.retry(item);
    source.succeed(item);
    source.requeue(item, afterMs);
  }

  async function loop(): Promise<void> {
    let resolve: Taker<K>;
    const taker: Taker<K> = (item) => resolve(item);
    const wait = (taken: Taker<K>): void => {
      resolve = taken;
      source.wait(taker);
    };
    takers.push(taker);
    try {
      while (!signal.aborted) {
        const item = source.tryGet() ?? await new Promise(wait);
        if (item === undefined) return;
        // No `using`, and no function per key: each of them would add half of the cost of this loop.
        try {
          const { key, retries, causes } = item;
          let hasFailed = false;
          let result: Result | void = undefined;
          try {
            result = await worker(key, { signal, retries, causes });
            if (result !== undefined) checkResult(result);
          } catch (error) {
            hasFailed = true;
            await fail(item, error);
          }
          if (!hasFailed) settle(item, result);
        } finally {
          item[Symbol.dispose]();
        }
        // Workers that await only resolved promises would otherwise starve timers and sockets.
        if (pacer.step()) await pacer.turn();
      }
    } catch (error) {
      failure ??= { error };
      stop.abort(error);
    }
  }

  // One listener for all: a listener per key would cost more than handing the key over.
  signal.addEventListener("abort", () => {
    for (const taker of takers) {
      if (source.leave(taker)) taker(undefined);
    }
  }, { once: true });
  await Promise.all(Array.from({ length: concurrency }, loop));
  if (failure !== undefined) throw failure.error;
}

/** Refuses values of other types, which the type of `WorkFunction` does not allow either. */
function checkResult(result: unknown): void {
  if (result instanceof Result) return;
  throw new TypeError(
    `A worker must return nothing, retry() or requeueAfter(ms), found a value of type ${typeof result}`,
  );
}
