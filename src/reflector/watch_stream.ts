import type { Change } from "../api/lister_watcher.ts";
import { WATCH_GRACE_MS, watchTimeoutError } from "../api/watch_timeout.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { cancellable, type CancellableStream } from "../async/cancellable.ts";
import { TimeLimit } from "../async/time/time_limit.ts";
import { Pacer } from "../async/pacer.ts";
import type { WatchFacts } from "./phase.ts";
import type { RequestObserver } from "./request_observer.ts";

/** Options for {@linkcode WatchStream}. */
export interface WatchStreamOptions {
  /** Cancels the watch. */
  readonly signal: AbortSignal;
  /** The timeout that the server was asked for, in milliseconds. The watch fails 10 s later, even if it delivers. */
  readonly timeoutMs: number;
  /** Observes the request. @default {nothing} */
  readonly observer?: RequestObserver;
}

/** An open watch with a deadline. A phase of the reflector may open it, and the following one read on. */
export class WatchStream<T> {
  readonly #controller: DerivedController;
  readonly #limit: TimeLimit;
  readonly #batches: CancellableStream<readonly Change<T>[]>;
  /** A source may yield batch after batch without waiting for anything. */
  readonly #pacer = new Pacer(0, 64);
  readonly #startedAtMs: number = monotonicMs();
  readonly #timeoutMs: number;
  /** Sends the request, until it is sent; `undefined` after that, and where nobody observes it. */
  #send: RequestObserver["send"] | undefined;
  /** True once the server has answered. */
  open = false;
  /** The number of changes and bookmarks so far. */
  delivered = 0;

  /** Opens a watch that ends with `signal`, by {@linkcode close} or at its deadline. */
  constructor(
    open: (signal: AbortSignal) => AsyncIterable<readonly Change<T>[]>,
    options: WatchStreamOptions,
  ) {
    const { signal, timeoutMs, observer } = options;
    this.#timeoutMs = timeoutMs;
    if (observer !== undefined) this.#send = (send) => observer.send(send);
    // mutant: stop-misses-watch
    this.#controller = new DerivedController(signal);
    try {
      this.#batches = cancellable(open(this.#controller.signal), this.#controller.signal);
    } catch (error) {
      this.#controller[Symbol.dispose]();
      throw error;
    }
    this.#limit = new TimeLimit(
      // mutant: idle-limit-never-fires
      () => this.fail(watchTimeoutError("continue the watch", timeoutMs / 1_000)),
      timeoutMs + WATCH_GRACE_MS,
    );
  }

  /** The watch so far. Its duration counts from the request, as proxies may hold the headers back until the first byte. */
  get facts(): WatchFacts {
    return {
      opened: this.open,
      delivered: this.delivered > 0,
      lastedMs: monotonicMs() - this.#startedAtMs,
      timeoutMs: this.#timeoutMs,
    };
  }

  /** The next result, to be given to {@linkcode accept}: the stream's own promise, without another one per chunk. */
  next(): Promise<IteratorResult<readonly Change<T>[], void>> {
    if (this.#send !== undefined) return this.#request(this.#send);
    return this.#pacer.step() ? this.#pacer.turn().then(this.#readOn) : this.#batches.next();
  }

  #request(send: RequestObserver["send"]): Promise<IteratorResult<readonly Change<T>[], void>> {
    this.#send = undefined;
    return send(this.#readOn);
  }

  /** Counts the changes in a result of {@linkcode next}, and returns them; `undefined` at the end. */
  accept(result: IteratorResult<readonly Change<T>[], void>): readonly Change<T>[] | undefined {
    if (result.done) return undefined;
    this.open = true;
    this.delivered += result.value.length;
    return result.value;
  }

  readonly #readOn = (): Promise<IteratorResult<readonly Change<T>[], void>> => this.#batches.next();

  /** Fails the pending `next()`, or the following one. */
  fail(error: Error): void {
    this.#controller.abort(error);
  }

  /** Ends the watch. A pending `next()` rejects. */
  close(): void {
    this.#limit[Symbol.dispose]();
    this.#controller[Symbol.dispose]();
  }
}
