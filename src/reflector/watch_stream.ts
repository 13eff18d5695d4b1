import type { Change } from "../api/change.ts";
import { UnreachableError } from "../api/errors.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { type Cancellable, cancellable } from "../async/cancellable.ts";
import { LongTimer } from "../async/time/long_timer.ts";
import { Pacer } from "../async/pacer.ts";
import type { WatchFacts } from "./phase.ts";

/** How much longer than it was asked for a watch may stay open. */
const GRACE_MS = 10_000;

/** How a watch is read. */
export interface WatchStreamOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** How long the server was asked to keep it open, in milliseconds. It fails 10 s later, whatever it delivers. */
  readonly timeoutMs: number;
}

/** An open watch. It can be handed from the phase that opened it to the one that reads on. */
export class WatchStream<T> {
  readonly #controller: DerivedController;
  readonly #timer: LongTimer;
  readonly #batches: Cancellable<readonly Change<T>[]>;
  /** A source may have its answers at hand, without ever waiting for anything. */
  readonly #pacer = new Pacer(0, 64);
  readonly #startedAtMs: number = monotonicMs();
  readonly #timeoutMs: number;
  /** Whether the server has answered. */
  open = false;
  /** How many changes and bookmarks it has delivered. */
  delivered = 0;

  /** Opens a watch that ends with `signal`, on {@linkcode close}, or when its time is over. */
  constructor(
    open: (signal: AbortSignal) => AsyncIterable<readonly Change<T>[]>,
    options: WatchStreamOptions,
  ) {
    const { signal, timeoutMs } = options;
    this.#timeoutMs = timeoutMs;
    // mutant: stop-misses-watch
    this.#controller = new DerivedController(signal);
    try {
      this.#batches = cancellable(open(this.#controller.signal), this.#controller.signal);
    } catch (error) {
      this.#controller[Symbol.dispose]();
      throw error;
    }
    this.#timer = new LongTimer(() =>
      // mutant: idle-limit-never-fires
      this.fail(
        new UnreachableError(
          `Cannot go on with the watch: the server has not ended it ${GRACE_MS / 1_000} s after the ` +
            `${timeoutMs / 1_000} s that it was asked for, so the connection may be dead`,
        ),
      )
    );
    this.#timer.arm(timeoutMs + GRACE_MS);
  }

  /** What is known of it by now. Proxies may hold the headers back until the first byte, so it lasts from its request on. */
  get facts(): WatchFacts {
    return {
      opened: this.open,
      delivered: this.delivered > 0,
      lastedMs: monotonicMs() - this.#startedAtMs,
      timeoutMs: this.#timeoutMs,
    };
  }

  /** The next batch; `undefined` at the end. */
  next(): Promise<readonly Change<T>[] | undefined> {
    const batch = this.#pacer.step() ? this.#pacer.turn().then(this.#ask) : this.#batches.next();
    return batch.then(this.#take);
  }

  readonly #ask = (): Promise<IteratorResult<readonly Change<T>[], void>> => this.#batches.next();

  readonly #take = (result: IteratorResult<readonly Change<T>[], void>): readonly Change<T>[] | undefined => {
    if (result.done) return undefined;
    this.open = true;
    this.delivered += result.value.length;
    return result.value;
  };

  /** Fails the read that waits for the next batch, or the next read. */
  fail(error: Error): void {
    this.#controller.abort(error);
  }

  /** Ends it, wherever it is. */
  async close(): Promise<void> {
    this.#timer[Symbol.dispose]();
    this.#controller[Symbol.dispose]();
    await this.#batches.return();
  }
}
