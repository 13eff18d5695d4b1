/**
 * Resolves in the next turn of the event loop, after timers, sockets and rendering had theirs.
 *
 * `setImmediate` where there is one (3 to 17 µs), else one message channel (10 µs); `setTimeout(0)` would take 2 ms.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => schedule(resolve));
}

type Schedule = (callback: () => void) => unknown;

let found: Schedule | undefined;

/** Found when it is first needed: in Deno, to look at `setImmediate` loads a part of Node, which takes 5 ms. */
function schedule(callback: () => void): void {
  if (found === undefined) {
    const { setImmediate } = globalThis as { setImmediate?: Schedule };
    found = typeof setImmediate === "function" ? setImmediate : byMessage();
  }
  found(callback);
}

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

/**
 * Shares the event loop between those who work by it and everybody else: when they have worked for a while in one turn, they
 * give way, and go on in later turns, one after the other, in the order in which they gave way, as long as a turn's time
 * lasts.
 */
export class Pacer {
  readonly #budgetMs: number;
  readonly #every: number;
  #steps = 0;
  /** When the event loop was last known to have a turn: it may have had others since. */
  #since: number = performance.now();
  /** Whether the time of this turn is used up. */
  #isOver = false;
  #isScheduled = false;
  #turns = 0;
  readonly #waiting = new Set<() => void>();
  /** Goes through those who wait, so that nobody steps over the places of those who have gone on. */
  #cursor: SetIterator<() => void> | undefined;

  /** Gives way after `budgetMs` milliseconds of work in a turn, looked at every `every` steps, whoever takes them. */
  constructor(budgetMs = 5, every = 64) {
    this.#budgetMs = budgetMs;
    this.#every = every;
  }

  /** How many turns there were for those who gave way. */
  get turns(): number {
    return this.#turns;
  }

  /** Counts a step; true when it is time for `await pacer.turn()`, and then for whoever asks until the next turn. */
  step(): boolean {
    if (this.#isOver) return true;
    if (++this.#steps < this.#every) return false;
    this.#steps = 0;
    return this.#isOver = this.#isLate();
  }

  /** Gives way: resolves in a later turn, behind those who gave way before. */
  turn(): Promise<void> {
    return new Promise((resolve) => void this.onTurn(resolve));
  }

  /** As {@linkcode turn}: calls `go`, once, unless the returned function is called before. */
  onTurn(go: () => void): () => void {
    this.#isOver = true;
    this.#waiting.add(go);
    this.#schedule();
    return () => this.#waiting.delete(go);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
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
    const { value: go, done } = (this.#cursor ??= this.#waiting.values()).next();
    if (done) {
      this.#cursor = undefined;
      return;
    }
    this.#waiting.delete(go);
    go();
    queueMicrotask(this.#goOn); // behind what it does before it waits for anything
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
