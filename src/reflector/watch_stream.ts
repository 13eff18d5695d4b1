import type { Change } from "../api/change.ts";
import { DerivedController } from "../timing/derived.ts";
import { type Interruptible, interruptible } from "../timing/interruptible.ts";
import { Pacer } from "../timing/turn.ts";
import { IdleLimit } from "./deadlines.ts";

/** An open watch, that can be handed from the phase that opened it to the one that goes on reading. */
export class WatchStream<T> {
  readonly #controller: DerivedController;
  readonly #limit: IdleLimit;
  readonly #batches: Interruptible<readonly Change<T>[]>;
  /** A source may have its answers at hand, without ever waiting for anything. */
  readonly #pacer = new Pacer(0, 64);
  /** When it was asked for: proxies may hold the headers back until the first byte. */
  readonly startedAt: number = Date.now();
  /** Whether the server has answered. */
  open = false;
  /** How many changes and bookmarks it has told. */
  told = 0;

  /** Opens a watch that ends with `signal`, on {@linkcode close}, or when it is dead. */
  constructor(
    open: (signal: AbortSignal) => AsyncIterable<readonly Change<T>[]>,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly idleMs: number },
  ) {
    // mutant: stop-misses-watch
    this.#controller = new DerivedController(options.signal);
    try {
      this.#batches = interruptible(open(this.#controller.signal), this.#controller.signal);
    } catch (error) {
      this.#controller[Symbol.dispose]();
      throw error;
    }
    this.#limit = new IdleLimit(this.#controller, "the watch", options.idleMs, options.timeoutMs);
  }

  /** The next batch; `undefined` at the end. */
  next(): Promise<readonly Change<T>[] | undefined> {
    const batch = this.#pacer.step() ? this.#pacer.turn().then(this.#ask) : this.#batches.next();
    return batch.then(this.#take);
  }

  readonly #ask = (): Promise<IteratorResult<readonly Change<T>[], void>> => this.#batches.next();

  readonly #take = (result: IteratorResult<readonly Change<T>[], void>): readonly Change<T>[] | undefined => {
    if (result.done) return undefined;
    this.#limit.alive();
    this.open = true;
    this.told += result.value.length;
    return result.value;
  };

  /** Fails what waits for the next batch. */
  fail(error: Error): void {
    this.#controller.abort(error);
  }

  /** Ends it, wherever it is. */
  async close(): Promise<void> {
    this.#limit[Symbol.dispose]();
    this.#controller[Symbol.dispose]();
    await this.#batches.return();
  }
}
