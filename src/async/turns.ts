import { Latch } from "./signals.ts";

/** The end of the last job of each object. */
const ends = new WeakMap<object, Latch>();

/**
 * Calls `job` once all earlier jobs of the same object have settled, so that one of them runs at a time. Rejects with
 * the signal's reason, without a call, when that aborts before.
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
    // A job that was given up while it waited leaves later ones behind those that it waited for.
    if (before === undefined || before.isOpen) end.open();
    else void before.wait().then(() => end.open());
  }
}

/** Calls a function in a later turn of the event loop. */
type Schedule = (callback: () => void) => unknown;

/**
 * Resolves in the next turn of the event loop, after timers, sockets and rendering have had theirs.
 *
 * It uses `setImmediate` where there is one (3 to 17 µs), otherwise a message channel (10 µs); `setTimeout(0)` would
 * take 2 ms.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => scheduleTurn(resolve));
}

/** Calls `callback` in the next turn of the event loop; see {@linkcode nextTurn}. */
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
 * Shares the event loop between a group of workers and everything else. When the group has worked for a while in one
 * turn, its workers yield: they queue, and continue in later turns, in the order in which they yielded, as many in
 * each turn as its time allows.
 */
export class Pacer {
  readonly #budgetMs: number;
  readonly #every: number;
  readonly #scheduleTurn: Schedule;
  /** The number of steps since the clock was last read; less than `#every`. */
  #steps = 0;
  /** The time at which the event loop was last known to have begun a turn; it may have begun others since. */
  #since: number = performance.now();
  /** `true` if and only if the time of this turn is used up. */
  #isOver = false;
  /** `true` if and only if `#begin` is scheduled. */
  #isScheduled = false;
  /** Only rises: by one in each turn in which workers continue. */
  #turns = 0;
  /** Has a callback if and only if its worker waits for its turn. */
  readonly #waiting = new Set<() => void>();
  /** Walks `#waiting` while that has callbacks; a new walk would pass all deleted places again. */
  #walk: SetIterator<() => void> | undefined;

  /**
   * Gives workers `budgetMs` milliseconds of work in a turn, all together. The clock is read once in `every` steps of
   * the group.
   */
  constructor(budgetMs = 5, every = 64, schedule: Schedule = scheduleTurn) {
    this.#budgetMs = budgetMs;
    this.#every = every;
    this.#scheduleTurn = schedule;
  }

  /** The number of turns that workers which yielded have had. */
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

  /** Gives way: resolves in a later turn, behind all workers that yielded before. */
  turn(): Promise<void> {
    return new Promise((resolve) => void this.onTurn(resolve));
  }

  /** Gives way as {@linkcode turn} does: calls `go`, once, unless the returned function is called before. */
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
    queueMicrotask(this.#goOn); // behind the work that the worker does before it waits for anything
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
