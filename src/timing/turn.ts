/**
 * Resolves in the next turn of the event loop, after timers, sockets and rendering had theirs.
 *
 * `setImmediate` where there is one (3 to 17 µs), else one message channel (10 µs); `setTimeout(0)` would take 2 ms.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => schedule(resolve));
}

type Schedule = (callback: () => void) => unknown;

const immediate = (globalThis as { setImmediate?: Schedule }).setImmediate;
const schedule: Schedule = typeof immediate === "function" ? immediate : byMessage();

function byMessage(): Schedule {
  const waiting: (() => void)[] = [];
  let channel: MessageChannel | undefined;
  return (callback) => {
    if (channel === undefined) {
      channel = new MessageChannel();
      channel.port1.onmessage = (): void => {
        // One message for all that asked since the last: they share the turn.
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

/** Gives way when a run of synchronous work has lasted for a while, looking at the clock only every few steps. */
export class Pacer {
  readonly #budgetMs: number;
  readonly #every: number;
  #steps = 0;
  #since: number = performance.now();

  /** Gives way after `budgetMs` milliseconds of work, looked at every `every` steps. */
  constructor(budgetMs = 5, every = 64) {
    this.#budgetMs = budgetMs;
    this.#every = every;
  }

  /** Counts a step; true when it is time for `await pacer.turn()`. */
  step(): boolean {
    if (++this.#steps < this.#every) return false;
    this.#steps = 0;
    return performance.now() - this.#since >= this.#budgetMs;
  }

  /** Starts counting anew: the event loop has had a turn anyway. */
  reset(): void {
    this.#steps = 0;
    this.#since = performance.now();
  }

  /** Gives way, and starts counting anew. */
  async turn(): Promise<void> {
    await nextTurn();
    this.reset();
  }
}
