/**
 * A queue of keys for workers, with delays and rate limits.
 *
 * Entry point: {@linkcode WorkQueue}; `run` gives its keys to workers, and `rate_limiter.ts` has the waits after
 * failures. The queue holds keys, not objects: workers read the present state from a cache. It does not persist keys,
 * and knows nothing of Kubernetes.
 *
 * @module
 */

import { CoarseClock } from "../async/coarse_clock.ts";
import { type Durations, Histogram } from "../async/histogram.ts";
import { DerivedController, isAbortOf, Latch, LazyController } from "../async/signals.ts";
import { nextTurn, Pacer } from "../async/turns.ts";
import { checkCounts } from "../errors/checks.ts";
import { ConsoleReporter } from "../errors/errors.ts";
import { withErrorJson } from "../errors/informer_error.ts";
import { checkNames } from "../errors/option_names.ts";
import { DelayQueue } from "./delay_queue.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate_limiter.ts";
import { type Trigger, type TriggerList, withTriggers } from "./triggers.ts";
import { ItemList, WaitingItems } from "./waiting_items.ts";
import { checkResult, Item, type ItemOwner, type ReconcileResult, SETTLED, type WorkItem } from "./work_item.ts";

/** Receives the item of the next key, or undefined when there will be none. */
type Taker<K> = (item: Item<K> | undefined) => void;

/** A run with checked options, which is stopped by its owner, or by a worker whose error ends it. */
interface Run<K> extends Required<Pick<WorkQueueRunOptions<K>, "concurrency" | "onError">> {
  readonly stop: DerivedController;
}

/** A key that a worker is processing. */
export interface RunningKey {
  /** The key. */
  readonly key: string | number;
  /** How long the worker has had the key, in milliseconds. */
  readonly runningMs: number;
  /** The triggers that the worker was called for. */
  readonly triggers: readonly Trigger[];
}

/** A `WorkQueue`'s state at one moment. Counters start at 0 and never decrease. */
export interface WorkQueueStatus {
  /** The queue's name. */
  readonly name: string;
  /** `true` if the queue was shut down and accepts no keys. */
  readonly isShutDown: boolean;
  /** The number of keys that wait for a worker. */
  readonly waiting: number;
  /** The number of waiting keys with low priority. */
  readonly lowPriority: number;
  /** The number of keys that workers are processing. */
  readonly processing: number;
  /** The number of keys in `processing` that were added again. They wait again when they are done. */
  readonly returning: number;
  /** The number of delayed keys. */
  readonly delayed: number;
  /** The number of additions, without keys that were waiting already. */
  readonly adds: number;
  /** The number of additions by `addAfter` or `addRateLimited`. */
  readonly retries: number;
  /** The number of additions refused and delays cancelled because the queue was shut down. */
  readonly dropped: number;
  /** The number of failed worker calls, for workers given to `run`. */
  readonly errors: number;
  /** The last of these errors, its key, and the triggers that the worker was called for. */
  readonly lastError?: {
    readonly key: string | number;
    readonly error: unknown;
    readonly triggers: readonly Trigger[];
  };
  /** How long keys waited for a worker. Delays before the addition do not count. */
  readonly queueLatencyMs: Durations;
  /** How long workers took for their keys. */
  readonly workDurationMs: Durations;
  /** How long all keys in `processing` have been processed, as a sum in milliseconds. It grows while workers hang. */
  readonly unfinishedWorkMs: number;
  /** The longest of these times, in milliseconds. 0 if no key is processed. */
  readonly longestRunningMs: number;
  /** The keys in `processing`, the oldest first. */
  readonly running: readonly RunningKey[];
}

/** Options for {@linkcode WorkQueue}. */
export interface WorkQueueOptions<K> {
  /** The queue's name in status and messages. @default {""} */
  readonly name?: string;
  /** Decides how long a key waits in `addRateLimited`. The default is `defaultRateLimiter()`. */
  readonly rateLimiter?: RateLimiter<K>;
}

/** Options to add a key to a {@linkcode WorkQueue}. If you use one object for many keys, it costs nothing per key. */
export interface WorkQueueAddOptions {
  /**
   * The key's priority. If you add a key several times before a worker takes it, the highest priority counts. While
   * keys of both priorities wait, one in eight keys that workers take has low priority.
   *
   * @default {"normal"}
   */
  readonly priority?: "normal" | "low";
  /**
   * The reason for the addition, or several. The worker gets the triggers from all additions before it took the key, at
   * most 8.
   */
  readonly trigger?: Trigger | readonly Trigger[];
}

/**
 * A first-in, first-out queue of keys for any number of workers. It holds keys (`"shop/cart-0"`), not events: ten
 * changes to an object become one key.
 *
 * - Two workers never process the same key at the same time.
 * - A key waits once, however often you add it. Workers take keys in the order of their addition.
 * - If you add a key while a worker processes it, it waits again, once, as soon as that worker is done.
 * - Keys with low priority wait for the others, but neither priority starves. A low-priority key with n others ahead is
 *   taken as the 8·(n + 1)th key at the latest. A normal-priority key with n others ahead waits for at most n / 7 + 1
 *   low-priority keys. If you add a waiting low-priority key with normal priority, it moves up.
 * - Waiting `get()` calls are served in their order.
 * - Mark each key as done: by `using item`, `item[Symbol.dispose]()` or `done(key)`. Until then nobody gets it again,
 *   and a drain does not end.
 *
 * Adding, taking and marking as done take constant time. A delay takes logarithmic time in the number of delayed keys.
 * The queue has one timer, and only while a key is delayed.
 *
 * See the guide: [Work queue](../../../docs/controllers/work-queue.md).
 *
 * @example Two workers, retries with back-off
 * ```ts
 * import { WorkQueue } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * const seen: string[] = [];
 * await using queue = new WorkQueue();
 * queue.add("shop/cart-0");
 * queue.add("shop/cart-1");
 * queue.add("shop/cart-0"); // no effect: it waits already
 *
 * const running = queue.run(async (key) => void seen.push(await Promise.resolve(key)), { concurrency: 2 });
 * await queue.shutDownWithDrain();
 * await running;
 * assertEquals(seen, ["shop/cart-0", "shop/cart-1"]);
 * ```
 *
 * @example A loop in place of `run`
 * ```ts
 * import { WorkQueue } from "@kube/informer";
 *
 * const queue = new WorkQueue<number>();
 * queue.add(1);
 * queue.shutDown();
 * for await (using item of queue) {
 *   queue.forget(item.key); // the end of the block calls done(item.key)
 * }
 * ```
 */
export class WorkQueue<K extends string | number = string> implements AsyncIterable<WorkItem<K>>, AsyncDisposable {
  /** The queue's name. */
  readonly name: string;
  readonly #limiter: RateLimiter<K>;
  readonly #clock = new CoarseClock();
  /** Has a key if and only if its item is in `#waiting` or in `#processing`. */
  readonly #items = new Map<K, Item<K>>();
  /** Has an item if and only if its phase is `waiting`, in the order of addition. Empty while `#takers` is not. */
  readonly #waiting = new WaitingItems<K>();
  /** Has an item if and only if its phase is `processing`; in the order in which they were taken. */
  readonly #processing = new ItemList<K>();
  /** Has a key if and only if a delay of it has not ended, whether or not `#items` has it; empty after shutdown. */
  readonly #delayed = new DelayQueue<K>((key, isLow, triggers) => this.#add(key, isLow, triggers));
  /**
   * Has a taker if and only if it waits for a key, in the order of calls. Empty while `#waiting` is not, and after
   * shutdown.
   */
  readonly #takers = new Set<Taker<K>>();
  /** Has the controller and the promise of each call of `run` that has not settled. */
  readonly #runs = new Map<DerivedController, Promise<void>>();
  readonly #owner: ItemOwner<K> = { retries: (key) => this.retries(key), finish: (item) => this.#finish(item) };
  /** Has one duration for each item that was handed out: from its addition until then. */
  readonly #latency = new Histogram();
  /** Has one duration for each item that is done: from being handed out until then. */
  readonly #duration = new Histogram();
  /** Notifies calls of `shutDownWithDrain`, when `#items` becomes empty or `shutDown` is called. */
  readonly #drained = new Latch();
  /** Notifies calls of `idle`, when `#items` becomes empty or the delays end. */
  readonly #emptied = new Latch();
  /** True once the queue was shut down; it never becomes false again. */
  #isShutDown = false;
  /**
   * See `WorkQueueStatus`. `returning` is the number of items in `#processing` whose `again` is set; the others never
   * decrease.
   */
  readonly #counts = { returning: 0, adds: 0, retries: 0, dropped: 0, errors: 0 };
  /** Receives the errors of runs without `onError`. */
  readonly #reporter = new ConsoleReporter();
  /** Set if and only if `#counts.errors` is above 0: the last of these errors. */
  #lastError: WorkQueueStatus["lastError"];

  /**
   * Creates an empty queue.
   *
   * @throws {TypeError} if `rateLimiter` lacks one of its methods.
   */
  constructor(options: WorkQueueOptions<NoInfer<K>> = {}) {
    checkNames("create a work queue", options, "name rateLimiter");
    const { name = "", rateLimiter = defaultRateLimiter<K>() } = options;
    for (const method of ["when", "forget", "retries"] as const) {
      if (typeof rateLimiter[method] !== "function") {
        throw new TypeError(`Cannot create work queue "${name}": rateLimiter must have a method "${method}"`);
      }
    }
    this.name = name;
    this.#limiter = rateLimiter;
  }

  /** The number of keys that wait for a worker, without processed and delayed keys. */
  get length(): number {
    return this.#waiting.length;
  }

  /** `true` if the queue was shut down. Keys that were waiting are still handed out. */
  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  /** Returns the queue's state and counters, in linear time in the number of processed keys. */
  status(): WorkQueueStatus {
    const nowMs = this.#clock.now();
    let unfinishedWorkMs = 0;
    let longestRunningMs = 0;
    const running: RunningKey[] = [];
    for (const { key, sinceMs, triggers } of this.#processing) {
      unfinishedWorkMs += nowMs - sinceMs;
      longestRunningMs = Math.max(longestRunningMs, nowMs - sinceMs);
      running.push({ key, runningMs: nowMs - sinceMs, triggers });
    }
    return withErrorJson({
      name: this.name,
      isShutDown: this.#isShutDown,
      waiting: this.#waiting.length,
      lowPriority: this.#waiting.lowPriority,
      processing: this.#processing.length,
      ...this.#counts,
      delayed: this.#delayed.size,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      queueLatencyMs: this.#latency.durations,
      workDurationMs: this.#duration.durations,
      unfinishedWorkMs,
      longestRunningMs,
      running,
    });
  }

  /**
   * Adds a key, unless it waits already. If the key is also delayed, the delay continues and adds it once more.
   *
   * After shutdown the key is not added, and counts in `status().dropped`.
   */
  add(key: K, options?: WorkQueueAddOptions): void {
    this.#add(key, options?.priority === "low", options?.trigger);
  }

  /**
   * Adds a key after `delayMs` milliseconds, or immediately if that is 0 or less. If the key is delayed already, the
   * earlier time counts, and the key is added once. Shutdown cancels all delays.
   *
   * @throws {RangeError} if `delayMs` is not a finite number.
   */
  addAfter(key: K, delayMs: number, options?: WorkQueueAddOptions): void {
    if (!Number.isFinite(delayMs)) {
      throw new RangeError(
        `Cannot add "${key}" to work queue "${this.name}": delayMs must be a finite number, but it is ${delayMs}`,
      );
    }
    if (this.#isShutDown) {
      this.#counts.dropped++;
      return;
    }
    this.#counts.retries++;
    const isLow = options?.priority === "low";
    if (delayMs <= 0) return this.#add(key, isLow, options?.trigger);
    this.#delayed.add(key, delayMs, isLow, options?.trigger);
  }

  /**
   * Adds a key after the rate limiter's wait, and counts a retry. In a worker for {@linkcode run}, return `retry()`
   * instead.
   */
  addRateLimited(key: K, options?: WorkQueueAddOptions): void {
    const item = this.#items.get(key);
    if (item?.phase === "processing") item.isRateLimited = true;
    this.addAfter(key, this.#limiter.when(key), options);
  }

  /**
   * Resets a key's failures in the rate limiter, because it has succeeded or you give it up.
   *
   * It does not remove the key. A waiting or delayed key is still handed out, and a processed key must still be marked
   * as done.
   */
  forget(key: K): void {
    this.#limiter.forget(key);
  }

  /** Returns the number of rate-limited additions since the key was last forgotten. */
  retries(key: K): number {
    return this.#limiter.retries(key);
  }

  /** Takes the next key, or returns `undefined` if no key waits. */
  tryGet(): WorkItem<K> | undefined {
    return this.#take();
  }

  /**
   * Takes the next key, and waits until there is one. Resolves with `undefined` if the queue was shut down and no key
   * waits.
   *
   * Rejects with the signal's reason if the signal aborts first. It takes no key then.
   */
  get(options: { readonly signal?: AbortSignal } = {}): Promise<WorkItem<K> | undefined> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const item = this.#take();
    if (item !== undefined || this.#isShutDown) return Promise.resolve(item);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#takers.delete(taker);
        reject(signal!.reason);
      };
      const taker: Taker<K> = (item) => {
        signal?.removeEventListener("abort", stop);
        resolve(item);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#takers.add(taker);
    });
  }

  /**
   * Marks a key as done. If you added it while it was processed, it waits again, even after shutdown.
   *
   * Does nothing if the key is not being processed. Prefer to dispose the item, because that cannot affect a later item
   * for the same key.
   */
  done(key: K): void {
    const item = this.#items.get(key);
    if (item !== undefined) this.#finish(item);
  }

  /**
   * Calls `worker` with each key, for up to `concurrency` keys at a time.
   *
   * - **It returns nothing**: success. The key's failures are forgotten, unless `addRateLimited` added it meanwhile.
   * - **It returns `requeueAfter(ms)`**: success, and the key comes back by `addAfter`.
   * - **It returns `retry()`**: the key comes back by `addRateLimited`. Any other value counts as a failure.
   * - **It throws or rejects**: the failure is counted and reported, and the key comes back by `addRateLimited`. After
   *   shutdown it does not come back.
   * - **It rejects with its signal's reason after the run was stopped**: no failure. The key waits for the next run,
   *   unless the queue is shut down.
   *
   * Resolves when no worker is running, after the signal has aborted or the queue was shut down and emptied. A queue
   * can have several runs at a time.
   *
   * @throws {RangeError} if `concurrency` is not a whole number of at least 1.
   */
  async run(worker: WorkFunction<K>, options: WorkQueueRunOptions<K> = {}): Promise<void> {
    checkNames(`run work queue "${this.name}"`, options, "signal concurrency onError");
    const {
      signal,
      concurrency = 1,
      onError = (error, key) => this.#reporter.report(this.#subject(key), error, String(key)),
    } = options;
    checkCounts(`run work queue "${this.name}"`, { concurrency }, { min: 1 });
    using stop = new DerivedController(signal);
    const running = this.#work(worker, { concurrency, onError, stop });
    this.#runs.set(stop, running);
    try {
      await running;
    } finally {
      this.#runs.delete(stop);
    }
  }

  /**
   * Shuts the queue down: it accepts no keys, and cancels all delays. Waiting keys are still handed out, and then `get`
   * resolves with `undefined`. It does not wait for workers, and ends a {@linkcode shutDownWithDrain}.
   */
  shutDown(): void {
    this.#close();
    this.#drained.notify();
  }

  /**
   * Shuts the queue down like {@linkcode shutDown}, and resolves when no key waits or is processed, or when you call
   * `shutDown`.
   *
   * Keys must still be taken, otherwise it never resolves. Do not await it in a worker: the worker would wait for
   * itself. Rejects with the signal's reason if the signal aborts first. The queue stays shut down.
   */
  async shutDownWithDrain(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkNames(`drain work queue "${this.name}"`, options, "signal");
    this.#close();
    if (this.#items.size > 0) await this.#drained.wait(options);
  }

  /**
   * Resolves when no key waits, is processed or is delayed, and none arrives within one turn of the event loop. Use it
   * in tests, after a change has reached the cache. With `ignoreDelayed`, delayed keys and retries do not count.
   *
   * Keys must be taken meanwhile, otherwise it never resolves. Rejects with the signal's reason if the signal aborts
   * first.
   *
   * @example
   * ```ts
   * import { WorkQueue } from "@kube/informer";
   * import { assertEquals } from "@std/assert";
   *
   * const done: string[] = [];
   * await using queue = new WorkQueue();
   * queue.run((key) => void done.push(key));
   * queue.add("shop/cart-0");
   * await queue.idle();
   * assertEquals(done, ["shop/cart-0"]);
   * ```
   */
  async idle(options: { readonly signal?: AbortSignal; readonly ignoreDelayed?: boolean } = {}): Promise<void> {
    checkNames(`wait for work queue "${this.name}"`, options, "signal ignoreDelayed");
    const { signal, ignoreDelayed = false } = options;
    const isIdle = (): boolean => this.#items.size === 0 && (ignoreDelayed || this.#delayed.size === 0);
    for (;;) {
      signal?.throwIfAborted();
      if (isIdle()) {
        await nextTurn();
        if (isIdle()) return;
      } else {
        await this.#emptied.wait({ signal });
      }
    }
  }

  /**
   * Takes each key in turn, until the queue is shut down and empty. Mark each key as done, for example by `using item`.
   */
  [Symbol.asyncIterator](): AsyncIterator<WorkItem<K>, undefined> {
    const pacer = new Pacer();
    // A call of `next` that still waits at the end must not take a key: no body would process it.
    const end = new LazyController();
    let isOver = false;
    const next = async (): Promise<IteratorResult<WorkItem<K>, undefined>> => {
      // A loop whose body awaits only resolved promises would otherwise starve timers and sockets.
      if (pacer.step()) await pacer.turn();
      const item = isOver ? undefined : this.#take() ?? await this.get(end).catch((error) => {
        if (!isOver) throw error;
      });
      return item === undefined ? { done: true, value: undefined } : { done: false, value: item };
    };
    return {
      next,
      return: () => {
        isOver = true;
        end.abort(undefined);
        return next();
      },
    };
  }

  /**
   * Shuts the queue down, stops all runs, and resolves when their workers have ended. Waiting keys stay in the queue.
   * Keys that you took without `run` are not awaited.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.shutDown();
    const runs = [...this.#runs];
    for (const [stop] of runs) stop.abort(new DOMException(`Work queue "${this.name}" was disposed`, "AbortError"));
    // The result of a run belongs to the caller of `run`.
    await Promise.allSettled(runs.map(([, running]) => running));
  }

  /**
   * Gives keys to `worker`, `concurrency` at a time, until the run is stopped or the queue ends.
   *
   * Settles when no worker runs any more: rejects if `onError`, or the queue itself, has thrown, else resolves.
   */
  async #work(worker: WorkFunction<K>, run: Run<K>): Promise<void> {
    const { concurrency, stop } = run;
    const { signal } = stop;
    const pacer = new Pacer();
    const takers: Taker<K>[] = [];
    let failure: { readonly error: unknown } | undefined;

    const loop = async (): Promise<void> => {
      let resolve: Taker<K>;
      const taker: Taker<K> = (item) => resolve(item);
      const wait = (taken: Taker<K>): void => {
        resolve = taken;
        this.#wait(taker);
      };
      takers.push(taker);
      try {
        while (!signal.aborted) {
          const item = this.#take() ?? await new Promise(wait);
          if (item === undefined) return;
          // No `using`, and no function per key: each of them would add half of the cost of this loop.
          try {
            const { key, retries, triggers } = item;
            let hasFailed = false;
            let result: ReconcileResult | void = undefined;
            try {
              result = await worker(key, { signal, retries, triggers });
              if (result !== undefined) checkResult(result, "worker");
            } catch (error) {
              hasFailed = true;
              await this.#fail(item, error, run);
            }
            if (!hasFailed) this.#settle(item, result);
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
    };

    // One listener for all: a listener per key would cost more than handing the key over.
    signal.addEventListener("abort", () => {
      for (const taker of takers) {
        if (this.#takers.delete(taker)) taker(undefined);
      }
    }, { once: true });
    await Promise.all(Array.from({ length: concurrency }, loop));
    if (failure !== undefined) throw failure.error;
  }

  async #fail(item: Item<K>, error: unknown, { onError, stop }: Run<K>): Promise<void> {
    const { key, isLow, held, triggers } = item;
    // A worker that ends by the stop has not failed; its key waits for the next run.
    if (isAbortOf(stop.signal, error)) return this.#add(key, isLow, held);
    this.#counts.errors++;
    this.#lastError = { key, error, triggers };
    this.#retry(item);
    await onError(error, key);
  }

  /** Forgets the failures of a key that has succeeded, unless it was added rate-limited while it was processed. */
  #settle(item: Item<K>, result: ReconcileResult | void): void {
    if (result === SETTLED) return;
    if (result !== undefined && result.afterMs === undefined) return this.#retry(item);
    const { key, isLow, isRateLimited } = item;
    if (!isRateLimited) this.forget(key);
    if (result?.afterMs !== undefined) this.addAfter(key, result.afterMs, isLow ? REQUEUE_LOW : REQUEUE);
  }

  #retry({ key, isLow }: Item<K>): void {
    const delayMs = this.#limiter.when(key);
    const cause = { type: "retry", count: this.retries(key) };
    this.addAfter(key, delayMs, isLow ? { priority: "low", trigger: cause } : { trigger: cause });
  }

  /** Registers `taker` for one key, while no key waits. */
  #wait(taker: Taker<K>): void {
    if (this.#isShutDown) taker(undefined);
    else this.#takers.add(taker);
  }

  #take(): Item<K> | undefined {
    const item = this.#waiting.shift();
    return item === undefined ? undefined : this.#handOut(item, this.#clock.now());
  }

  #add(key: K, isLow: boolean, triggers: TriggerList): void {
    if (this.#isShutDown) {
      this.#counts.dropped++;
      return;
    }
    const item = this.#items.get(key);
    if (item === undefined) {
      this.#counts.adds++;
      const nowMs = this.#clock.now();
      this.#enqueue(new Item(key, this.#owner, nowMs, isLow, triggers), nowMs);
    } else if (item.phase === "waiting") {
      this.#join(item, isLow, triggers);
    } else if (item.again === undefined) {
      this.#counts.adds++;
      this.#counts.returning++;
      item.again = new Item(key, this.#owner, this.#clock.now(), isLow, triggers);
    } else {
      this.#join(item.again, isLow, triggers);
      item.again.isLow &&= isLow;
    }
  }

  /**
   * Adds the triggers of one more addition to an item that was not handed out, and raises its priority where it waits.
   */
  #join(item: Item<K>, isLow: boolean, triggers: TriggerList): void {
    if (triggers !== undefined) item.held = withTriggers(item.held, triggers);
    if (item.isLow && !isLow && this.#items.get(item.key) === item) this.#waiting.raise(item);
  }

  #enqueue(item: Item<K>, nowMs: number): void {
    this.#items.set(item.key, item);
    if (this.#takers.size === 0) return this.#waiting.push(item);
    for (const taker of this.#takers) {
      this.#takers.delete(taker);
      this.#waiting.passedBy(item);
      taker(this.#handOut(item, nowMs));
      return;
    }
  }

  #handOut(item: Item<K>, nowMs: number): Item<K> {
    this.#latency.add(nowMs - item.sinceMs);
    item.phase = "processing";
    item.sinceMs = nowMs;
    this.#processing.push(item);
    return item;
  }

  #finish(item: Item<K>): void {
    if (item.phase !== "processing") return;
    item.phase = "done";
    this.#processing.remove(item);
    const nowMs = this.#clock.now();
    this.#duration.add(nowMs - item.sinceMs);
    const { again } = item;
    if (again !== undefined) {
      item.again = undefined;
      this.#counts.returning--;
      this.#enqueue(again, nowMs);
    } else {
      this.#items.delete(item.key);
      if (this.#items.size === 0) {
        this.#drained.notify();
        this.#emptied.notify();
      }
    }
  }

  #close(): void {
    this.#isShutDown = true;
    this.#counts.dropped += this.#delayed.clear();
    this.#emptied.notify();
    const takers = [...this.#takers];
    this.#takers.clear();
    for (const taker of takers) taker(undefined);
  }

  #subject(key: K): string {
    return `worker of ${this.name === "" ? "a work queue" : `work queue "${this.name}"`} failed on "${key}"`;
  }
}

const REQUEUE: WorkQueueAddOptions = { trigger: { type: "requeue" } };
const REQUEUE_LOW: WorkQueueAddOptions = { ...REQUEUE, priority: "low" };

/**
 * Processes a key. Return nothing, or a promise that resolves with nothing, for success. Return `retry()` or
 * `requeueAfter(ms)` to get the key again.
 */
export type WorkFunction<K> = (
  key: K,
  context: WorkContext,
) => void | ReconcileResult | Promise<void | ReconcileResult>;

/** The worker's second argument. */
export interface WorkContext {
  /** Aborts when the run is stopped: by its own signal, by an error from `onError`, or by disposing the queue. */
  readonly signal: AbortSignal;
  /** The number of retries since the key was last forgotten, for example by a success. */
  readonly retries: number;
  /** The triggers that led to this call, at most 8. Empty if there were none. */
  readonly triggers: readonly Trigger[];
}

/** Options for `WorkQueue.run`. */
export interface WorkQueueRunOptions<K> {
  /** Stops the run: it takes no more keys, and the workers' signals abort. */
  readonly signal?: AbortSignal;
  /** The number of keys to process at the same time. @default {1} */
  readonly concurrency?: number;
  /**
   * Receives each failure, after the key was added again. If it throws or rejects, the run ends with that error. The
   * return value is ignored. `status()` counts failures either way. By default each new error is written to the console
   * in one line, and repeated at most once a minute.
   */
  readonly onError?: (error: unknown, key: K) => unknown;
}
