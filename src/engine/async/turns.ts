/**
 * Turns: of the event loop, of the workers that share it, and of jobs that run one at a time.
 *
 * {@linkcode nextTurn}, {@linkcode Pacer} and {@linkcode inTurn} are the entry points. Waits for a time are in
 * `time.ts`.
 *
 * @module
 */
import { Latch } from "./signals.ts";

/** The end of each object's last job. */
const ends = new WeakMap<object, Latch>();

/**
 * Calls `job` after all earlier jobs with the same `shared` object have settled, so that only one runs at a time. If
 * the signal aborts before, it rejects with the signal's reason and does not call `job`.
 */
export async function inTurn<R>(
  shared: object,
  job: () => Promise<R>,
  options: { readonly signal?: AbortSignal } = {},
): Promise<R> {
  const before = ends.get(shared);
  const end = new Latch();
  ends.set(shared, end);
  try {
    await before?.wait(options);
    return await job();
  } finally {
    // If this job was given up while it waited, later jobs still wait for the earlier jobs.
    if (before === undefined || before.isOpen) end.open();
    else void before.wait().then(() => end.open());
  }
}

/** Calls a function in a later event loop turn. */
type Schedule = (callback: () => void) => unknown;

/**
 * Resolves in the next event loop turn, after timers, sockets and rendering have had theirs.
 *
 * It uses `setImmediate` if there is one (3 to 17 µs), otherwise a message channel (10 µs). `setTimeout(0)` would take
 * 2 ms.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => scheduleTurn(resolve));
}

/** Calls `callback` in the next event loop turn, see {@linkcode nextTurn}. */
export function scheduleTurn(callback: () => void): void {
  if (found === undefined) {
    const { setImmediate } = globalThis as { setImmediate?: Schedule };
    found = typeof setImmediate === "function" ? setImmediate : byMessage();
  }
  found(callback);
}

/** Looked up at the first call: in Deno, reading `setImmediate` loads a part of Node, which takes 5 ms. */
let found: Schedule | undefined;

function byMessage(): Schedule {
  const waiting: (() => void)[] = [];
  let channel: MessageChannel | undefined;
  return (callback) => {
    if (channel === undefined) {
      channel = new MessageChannel();
      channel.port1.onmessage = (): void => {
        // One message serves all callbacks that were added since the last one: they share the turn.
        for (const next of waiting.splice(0)) next();
        // An open port with a listener keeps some runtimes alive.
        channel?.port1.close();
        channel?.port2.close();
        channel = undefined;
      };
      channel.port2.postMessage(undefined);
    }
    waiting.push(callback);
  };
}

/**
 * Shares the event loop between a group of workers and everything else.
 *
 * When the group has used up its time in one turn, its workers yield. They queue, and continue in later turns in the
 * same order, with as many workers in each turn as its time allows.
 */
export class Pacer {
  readonly #budgetMs: number;
  readonly #every: number;
  readonly #scheduleTurn: Schedule;
  /** The number of steps since the clock was last read, less than `#every`. */
  #steps = 0;
  /** The time at which the event loop was last known to have begun a turn. It may have begun others since. */
  #since: number = performance.now();
  /** `true` if and only if this turn's time is used up. */
  #isOver = false;
  /** `true` if and only if `#begin` is scheduled. */
  #isScheduled = false;
  /** Only rises: by one in each turn in which workers continue. */
  #turns = 0;
  /** Has a callback if and only if its worker waits for its turn. */
  readonly #waiting = new Set<() => void>();
  /** Iterates over `#waiting` while it has callbacks. A new iterator would pass all deleted places again. */
  #walk: SetIterator<() => void> | undefined;

  /**
   * Gives all workers together `budgetMs` milliseconds in a turn. The clock is read once every `every` steps in the
   * group.
   */
  constructor(budgetMs = 5, every = 64, schedule: Schedule = scheduleTurn) {
    this.#budgetMs = budgetMs;
    this.#every = every;
    this.#scheduleTurn = schedule;
  }

  /** The number of turns in which workers that had yielded continued. */
  get turns(): number {
    return this.#turns;
  }

  /** Counts a step. Returns `true` when it is time for `await pacer.turn()`, and from then on until the next turn. */
  step(): boolean {
    if (this.#isOver) return true;
    if (++this.#steps < this.#every) return false;
    this.#steps = 0;
    return this.#isOver = this.#isLate();
  }

  /** Yields: resolves in a later turn, after all workers that yielded before. */
  turn(): Promise<void> {
    return new Promise((resolve) => void this.onTurn(resolve));
  }

  /** Yields like {@linkcode turn}, but calls `go` once. Call the returned function before then to cancel it. */
  onTurn(go: () => void): () => void {
    this.#isOver = true;
    this.#waiting.add(go);
    this.#schedule();
    return () => this.#waiting.delete(go);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const schedule = this.#scheduleTurn;
    schedule(this.#begin);
  }

  readonly #begin = (): void => {
    this.#isScheduled = false;
    this.#turns++;
    this.#steps = 0;
    this.#since = performance.now();
    this.#isOver = false;
    this.#letOneGo();
  };

  #letOneGo(): void {
    const { value: go, done } = (this.#walk ??= this.#waiting.values()).next();
    if (done) {
      this.#walk = undefined;
      return;
    }
    this.#waiting.delete(go);
    go();
    queueMicrotask(this.#goOn); // after the work that the worker does before it waits for anything
  }

  readonly #goOn = (): void => {
    if (this.#waiting.size === 0) return;
    this.#isOver ||= this.#isLate();
    if (this.#isOver) this.#schedule();
    else this.#letOneGo();
  };

  #isLate(): boolean {
    return performance.now() - this.#since >= this.#budgetMs;
  }
}
