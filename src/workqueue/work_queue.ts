import { CoarseClock } from "../async/time/coarse_clock.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { Latch } from "../async/latch.ts";
import { Pacer } from "../async/pacer.ts";
import { DelayQueue } from "./delay_queue.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate_limiter.ts";
import { Ring } from "./ring.ts";
import { runWorkers, type Taker, type WorkFunction, type WorkQueueRunOptions } from "./run.ts";
import { Tally, type WorkQueueStatus } from "./status.ts";
import { Item, type ItemOwner, type WorkItem } from "./work_item.ts";

/** How a {@linkcode WorkQueue} is made. */
export interface WorkQueueOptions<K> {
  /** What status and messages call it. @default {""} */
  readonly name?: string;
  /** How long `addRateLimited` makes a key wait. @default {defaultRateLimiter()} */
  readonly rateLimiter?: RateLimiter<K>;
}

/**
 * Keys that wait to be worked on, for any number of workers.
 *
 * - No key is ever with two workers.
 * - A key waits once, however often it is added; different keys are handed out in the order in which they came.
 * - A key added while a worker has it waits again, once, as soon as that worker is done.
 * - Who waits in `get` is served in the order of asking.
 * - A key handed out must be given back: by `using item`, by `item[Symbol.dispose]()` or by `done(key)`. Until then it is not
 *   handed out again, and a drain does not end.
 *
 * Adding, taking and giving back cost constant time; a delay costs the logarithm of the number of delayed keys. There is one
 * timer, armed only while some key is delayed.
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
 * queue.add("shop/cart-0"); // waits already
 *
 * const running = queue.run(async (key) => void seen.push(await Promise.resolve(key)), { concurrency: 2 });
 * await queue.shutDownWithDrain();
 * await running;
 * assertEquals(seen, ["shop/cart-0", "shop/cart-1"]);
 * ```
 *
 * @example By hand
 * ```ts
 * import { WorkQueue } from "@kube/informer";
 *
 * const queue = new WorkQueue<number>();
 * queue.add(1);
 * queue.shutDown();
 * for await (using item of queue) {
 *   queue.forget(item.key); // leaving the body is done(item.key)
 * }
 * ```
 */
export class WorkQueue<K extends string | number = string> implements AsyncIterable<WorkItem<K>>, AsyncDisposable {
  /** The name given to it. */
  readonly name: string;
  readonly #limiter: RateLimiter<K>;
  readonly #clock = new CoarseClock();
  /** Every key that waits or is being processed. */
  readonly #items = new Map<K, Item<K>>();
  readonly #waiting = new Ring<Item<K>>();
  /** In the order of taking. */
  readonly #processing = new Set<Item<K>>();
  readonly #delayed = new DelayQueue<K>((key) => this.add(key));
  /** Who waits for a key, in the order of asking; nobody does while a key waits. */
  readonly #takers = new Set<Taker<K>>();
  readonly #runs = new Map<DerivedController, Promise<void>>();
  readonly #owner: ItemOwner<K> = { retries: (key) => this.retries(key), finish: (item) => this.#finish(item) };
  readonly #latency = new Tally();
  readonly #duration = new Tally();
  #drained: Latch | undefined;
  #isShutDown = false;
  #returning = 0;
  #adds = 0;
  #retries = 0;
  #dropped = 0;
  #errors = 0;
  #lastError: WorkQueueStatus["lastError"];

  /**
   * An empty queue.
   *
   * @throws {TypeError} when `rateLimiter` lacks one of its methods.
   */
  constructor(options: WorkQueueOptions<NoInfer<K>> = {}) {
    const { name = "", rateLimiter = defaultRateLimiter<K>() } = options;
    for (const method of ["when", "forget", "retries"] as const) {
      if (typeof rateLimiter[method] !== "function") {
        throw new TypeError(`Cannot create work queue "${name}": rateLimiter must have a method "${method}"`);
      }
    }
    this.name = name;
    this.#limiter = rateLimiter;
  }

  /** How many keys wait for a worker now. Those with a worker, and those whose delay is not over, do not count. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Whether it was shut down. Keys that waited by then are still handed out. */
  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  /** How the queue and its workers are doing. Costs a look at each key being processed. */
  status(): WorkQueueStatus {
    const nowMs = this.#clock.now();
    let unfinishedWorkMs = 0;
    let longestRunningMs = 0;
    for (const { sinceMs } of this.#processing) {
      unfinishedWorkMs += nowMs - sinceMs;
      longestRunningMs = Math.max(longestRunningMs, nowMs - sinceMs);
    }
    return {
      name: this.name,
      isShutDown: this.#isShutDown,
      waiting: this.#waiting.length,
      processing: this.#processing.size,
      returning: this.#returning,
      delayed: this.#delayed.size,
      adds: this.#adds,
      retries: this.#retries,
      dropped: this.#dropped,
      errors: this.#errors,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      queueLatencyMs: this.#latency.durations,
      workDurationMs: this.#duration.durations,
      unfinishedWorkMs,
      longestRunningMs,
    };
  }

  /**
   * Adds a key, unless it waits already. A delay the same key may be in goes on, and adds it once more in the end.
   *
   * After shutdown nothing is added; `status().dropped` counts that.
   */
  add(key: K): void {
    if (this.#isShutDown) {
      this.#dropped++;
      return;
    }
    const item = this.#items.get(key);
    if (item === undefined) {
      this.#adds++;
      const nowMs = this.#clock.now();
      this.#enqueue(new Item(key, this.#owner, nowMs), nowMs);
    } else if (item.phase === "processing" && item.addedAgainMs === undefined) {
      this.#adds++;
      this.#returning++;
      item.addedAgainMs = this.#clock.now();
    }
  }

  /**
   * Adds a key after `delayMs` milliseconds; at once if that is 0 or less. If the key is delayed already, the earlier of the
   * two times counts, and it is added once.
   *
   * Shutting down gives up all delays.
   *
   * @throws {RangeError} when `delayMs` is not a finite number.
   */
  addAfter(key: K, delayMs: number): void {
    if (!Number.isFinite(delayMs)) {
      throw new RangeError(
        `Cannot add "${key}" to work queue "${this.name}": delayMs must be a finite number, found ${delayMs}`,
      );
    }
    if (this.#isShutDown) {
      this.#dropped++;
      return;
    }
    this.#retries++;
    if (delayMs <= 0) this.add(key);
    else this.#delayed.add(key, delayMs);
  }

  /**
   * Adds a key after as long as the rate limiter says, and counts as a retry of it. A worker given to {@linkcode run} returns
   * `retry()` instead.
   */
  addRateLimited(key: K): void {
    const item = this.#items.get(key);
    if (item?.phase === "processing") item.isRateLimited = true;
    this.addAfter(key, this.#limiter.when(key));
  }

  /**
   * Makes the rate limiter forget the failures of a key, because it has succeeded or is given up.
   *
   * That is all: a key that waits, or is delayed, is still handed out, and one that is being processed must still be done.
   */
  forget(key: K): void {
    this.#limiter.forget(key);
  }

  /** How often a key was added rate-limited since it was last forgotten. */
  retries(key: K): number {
    return this.#limiter.retries(key);
  }

  /** Takes the next key, if one waits now. */
  tryGet(): WorkItem<K> | undefined {
    return this.#take();
  }

  /**
   * Takes the next key, as soon as there is one; undefined when the queue was shut down and no key waits.
   *
   * Rejects with the signal's reason when that aborts first, and then takes nothing.
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
   * Gives a key back. If it was added meanwhile, it waits again, even after shutdown.
   *
   * Does nothing when no worker has the key. Prefer disposing the item, which cannot hit somebody else's.
   */
  done(key: K): void {
    const item = this.#items.get(key);
    if (item !== undefined) this.#finish(item);
  }

  /**
   * Gives every key to `worker`, up to `concurrency` of them at a time.
   *
   * - A worker that returns nothing has succeeded: its key is done, and its failures are forgotten, unless the key was added
   *   by `addRateLimited` meanwhile.
   * - A worker that returns `retry()` gets its key again by `addRateLimited`; one that returns `requeueAfter(ms)` has
   *   succeeded, and gets it again by `addAfter`. Any other value counts as a failure.
   * - A worker that throws or rejects has failed: it is counted and reported, and its key comes back by `addRateLimited`. Once
   *   the queue is shut down it does not come back.
   * - A worker that rejects with its signal's reason, told to stop, has not failed: its key waits again at once,
   *   for the next run, unless the queue is shut down.
   *
   * Resolves when no worker runs any more after the signal has aborted, or after the queue was shut down and emptied. A queue
   * can have several runs at a time.
   *
   * @throws {RangeError} when `concurrency` is not a whole number of at least 1.
   */
  async run(worker: WorkFunction<K>, options: WorkQueueRunOptions<K> = {}): Promise<void> {
    const { signal, concurrency = 1, onError } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new RangeError(
        `Cannot run work queue "${this.name}": concurrency must be a whole number of at least 1, found ${concurrency}`,
      );
    }
    using stop = new DerivedController(signal);
    const source = {
      tryGet: (): Item<K> | undefined => this.#take(),
      wait: (taker: Taker<K>): void => this.#wait(taker),
      leave: (taker: Taker<K>): boolean => this.#takers.delete(taker),
      add: (key: K): void => this.add(key),
      addRateLimited: (key: K): void => this.addRateLimited(key),
      addAfter: (key: K, delayMs: number): void => this.addAfter(key, delayMs),
      succeed: (item: Item<K>): void => {
        if (!item.isRateLimited) this.forget(item.key);
      },
      report: (error: unknown, key: K): void => {
        this.#errors++;
        this.#lastError = { key, error };
      },
    };
    const running = runWorkers<K>(source, worker, { concurrency, onError, stop });
    this.#runs.set(stop, running);
    try {
      await running;
    } finally {
      this.#runs.delete(stop);
    }
  }

  /**
   * Accepts no more keys and gives up all delays. Keys that wait are still handed out, then everybody who asks gets
   * undefined. Does not wait for workers, and ends the wait of a {@linkcode shutDownWithDrain} under way.
   */
  shutDown(): void {
    this.#close();
    this.#settleDrain();
  }

  /**
   * Like {@linkcode shutDown}, and resolves when nothing waits and no worker has a key, or when `shutDown` is called.
   *
   * Somebody must go on taking keys, or it never ends. A worker that waits for it before being done waits for itself.
   * Rejects with the signal's reason when that aborts first; the queue stays shut down.
   */
  shutDownWithDrain(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#close();
    if (this.#items.size === 0) return Promise.resolve();
    this.#drained ??= new Latch();
    return this.#drained.wait(options);
  }

  /** Takes one key after the other, until the queue is shut down and empty. Each must be given back, as by `using item`. */
  [Symbol.asyncIterator](): AsyncIterator<WorkItem<K>, undefined> {
    const pending = new Set<Taker<K>>();
    const pacer = new Pacer();
    let isOver = false;
    const next = (): Promise<IteratorResult<WorkItem<K>, undefined>> => {
      const item = isOver ? undefined : this.tryGet();
      if (item !== undefined || isOver || this.#isShutDown) return Promise.resolve(resultOf(item));
      return new Promise((resolve) => {
        const taker: Taker<K> = (item) => {
          pending.delete(taker);
          resolve(resultOf(item));
        };
        pending.add(taker);
        this.#takers.add(taker);
      });
    };
    return {
      // A loop whose body waits for nothing real would otherwise keep timers and sockets from their turn.
      next: () => pacer.step() ? pacer.turn().then(next) : next(),
      return: () => {
        isOver = true;
        // A step still waiting must not take a key that nobody would work on.
        for (const taker of pending) {
          this.#takers.delete(taker);
          taker(undefined);
        }
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  /**
   * Shuts down, tells all runs to stop, and resolves when their workers have ended. Keys that wait stay where they are; keys
   * taken by hand are not waited for.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.shutDown();
    const runs = [...this.#runs];
    for (const [stop] of runs) stop.abort(new DOMException(`Work queue "${this.name}" was disposed`, "AbortError"));
    // How a run ends is told to whoever started it.
    await Promise.allSettled(runs.map(([, running]) => running));
  }

  /** Tells `taker` the next key that comes; there is none that waits. */
  #wait(taker: Taker<K>): void {
    if (this.#isShutDown) taker(undefined);
    else this.#takers.add(taker);
  }

  #take(): Item<K> | undefined {
    const item = this.#waiting.shift();
    return item === undefined ? undefined : this.#handOut(item, this.#clock.now());
  }

  #enqueue(item: Item<K>, nowMs: number): void {
    this.#items.set(item.key, item);
    for (const taker of this.#takers) {
      this.#takers.delete(taker);
      taker(this.#handOut(item, nowMs));
      return;
    }
    this.#waiting.push(item);
  }

  #handOut(item: Item<K>, nowMs: number): Item<K> {
    this.#latency.add(nowMs - item.sinceMs);
    item.phase = "processing";
    item.sinceMs = nowMs;
    this.#processing.add(item);
    return item;
  }

  #finish(item: Item<K>): void {
    if (item.phase !== "processing") return;
    item.phase = "done";
    this.#processing.delete(item);
    const nowMs = this.#clock.now();
    this.#duration.add(nowMs - item.sinceMs);
    if (item.addedAgainMs !== undefined) {
      this.#returning--;
      this.#enqueue(new Item(item.key, this.#owner, item.addedAgainMs), nowMs);
    } else {
      this.#items.delete(item.key);
      if (this.#items.size === 0) this.#settleDrain();
    }
  }

  #close(): void {
    this.#isShutDown = true;
    this.#dropped += this.#delayed.clear();
    const takers = [...this.#takers];
    this.#takers.clear();
    for (const taker of takers) taker(undefined);
  }

  #settleDrain(): void {
    this.#drained?.open();
    this.#drained = undefined;
  }
}

function resultOf<K>(item: WorkItem<K> | undefined): IteratorResult<WorkItem<K>, undefined> {
  return item === undefined ? { done: true, value: undefined } : { done: false, value: item };
}
