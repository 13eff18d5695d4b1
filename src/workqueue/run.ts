import { Pacer } from "../async/pacer.ts";
import { Result } from "./result.ts";
import type { Item } from "./work_item.ts";

/**
 * Does what a key asks for. It has succeeded when it returns nothing, or its promise resolves with nothing; it can return
 * `retry()` or `requeueAfter(ms)` to get the key again.
 */
export type WorkFunction<K> = (key: K, context: WorkContext) => void | Result | Promise<void | Result>;

/** What a worker should know besides the key. */
export interface WorkContext {
  /** Aborts when the run is told to stop, or another worker's failure ends it. */
  readonly signal: AbortSignal;
  /** How often this key has failed since it last succeeded. */
  readonly retries: number;
}

/** How workers are run. */
export interface WorkQueueRunOptions<K> {
  /** Tells the run to stop: no further key is taken, and workers see their signal abort. */
  readonly signal?: AbortSignal;
  /** How many keys are worked on at a time. @default {1} */
  readonly concurrency?: number;
  /**
   * Hears of each failure; the key is then already on its way back. Throwing, or rejecting, ends the run with that error.
   * Failures are counted in `status()` with or without it.
   */
  readonly onError?: (error: unknown, key: K) => void | Promise<void>;
}

/** Is told a key, or undefined when there will be none. */
export type Taker<K> = (item: Item<K> | undefined) => void;

/** All that running workers asks of a queue. */
export interface WorkSource<K> {
  /** The next key, if one waits. */
  tryGet(): Item<K> | undefined;
  /** Tells `taker` the next key that comes, once, or undefined when there will be none. For when none waits. */
  wait(taker: Taker<K>): void;
  /** Tells `taker` nothing any more; false when it does not wait. */
  leave(taker: Taker<K>): boolean;
  /** Back at once. */
  add(key: K): void;
  /** Back after a while. */
  addRateLimited(key: K): void;
  /** Back after `delayMs` milliseconds. */
  addAfter(key: K, delayMs: number): void;
  /** Forgets the failures of a key, unless it was added rate-limited while it was being processed. */
  succeed(item: Item<K>): void;
  /** A worker has failed. */
  report(error: unknown, key: K): void;
}

/** A run, checked and ready. */
export interface Run<K> {
  /** See {@linkcode WorkQueueRunOptions}. */
  readonly concurrency: number;
  /** See {@linkcode WorkQueueRunOptions}. */
  readonly onError: WorkQueueRunOptions<K>["onError"];
  /** What tells the workers to stop, from outside or when one of them ends the run. */
  readonly stop: { readonly signal: AbortSignal; abort(reason: unknown): void };
}

/**
 * Gives keys to `worker`, `concurrency` at a time, until `stop` aborts or the source ends; resolves when no worker runs any
 * more, and rejects then if `onError`, or the source itself, has thrown.
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

  async function fail(key: K, error: unknown): Promise<void> {
    // A worker that gave up because it was told to has not failed; its key waits for the next run.
    if (signal.aborted && error === signal.reason) return source.add(key);
    source.report(error, key);
    source.addRateLimited(key);
    await onError?.(error, key);
  }

  function settle(item: Item<K>, result: Result | void): void {
    if (result === undefined) return source.succeed(item);
    const { afterMs } = result;
    if (afterMs === undefined) return source.addRateLimited(item.key);
    source.succeed(item);
    source.addAfter(item.key, afterMs);
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
        // Neither `using` nor a function per key: either costs as much as half of all else here.
        try {
          const { key, retries } = item;
          let hasFailed = false;
          let result: Result | void = undefined;
          try {
            result = await worker(key, { signal, retries });
            if (result !== undefined) checkResult(result);
          } catch (error) {
            hasFailed = true;
            await fail(key, error);
          }
          if (!hasFailed) settle(item, result);
        } finally {
          item[Symbol.dispose]();
        }
        // Workers that never wait for anything real would otherwise keep timers and sockets from their turn.
        if (pacer.step()) await pacer.turn();
      }
    } catch (error) {
      failure ??= { error };
      stop.abort(error);
    }
  }

  // One for all: to listen anew for each key costs more than to hand it over.
  signal.addEventListener("abort", () => {
    for (const taker of takers) {
      if (source.leave(taker)) taker(undefined);
    }
  }, { once: true });
  await Promise.all(Array.from({ length: concurrency }, loop));
  if (failure !== undefined) throw failure.error;
}

/** Refuses other values at run time, as the type does at compile time. */
function checkResult(result: unknown): void {
  if (result instanceof Result) return;
  throw new TypeError(
    `A worker must return nothing, retry() or requeueAfter(ms), found a value of type ${typeof result}`,
  );
}
