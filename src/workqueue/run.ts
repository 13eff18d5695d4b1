import { Pacer } from "../timing/turn.ts";
import type { WorkItem } from "./work_item.ts";

/** Does what a key asks for. It has succeeded when it returns, or its promise resolves. */
export type WorkFunction<K> = (key: K, context: WorkContext) => void | Promise<void>;

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
export type Taker<K> = (item: WorkItem<K> | undefined) => void;

/** All that running workers asks of a queue. */
export interface WorkSource<K> {
  /** The next key, if one waits. */
  tryGet(): WorkItem<K> | undefined;
  /** Tells `taker` the next key that comes, once, or undefined when there will be none. For when none waits. */
  wait(taker: Taker<K>): void;
  /** Tells `taker` nothing any more; false when it does not wait. */
  leave(taker: Taker<K>): boolean;
  /** Back at once. */
  add(key: K): void;
  /** Back after a while. */
  addRateLimited(key: K): void;
  /** No failures any more. */
  forget(key: K): void;
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
          try {
            await worker(key, { signal, retries });
          } catch (error) {
            hasFailed = true;
            await fail(key, error);
          }
          if (!hasFailed) source.forget(key);
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
