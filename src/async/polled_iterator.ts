/** The error with which an iterator ends. */
export interface IterationFailure {
  /** The error. */
  readonly error: unknown;
}

/**
 * An async iterator over values that are made when they are asked for: of events, status, updates of views.
 *
 * - It begins at the first `next()`. Calls of `next()` during another one are answered in order.
 * - When its signal aborts it ends without an error, at once, and drops what was not taken.
 * - It rejects, once, with the failure that has ended it; then it has ended.
 * - `return()` ends it at once, also while a `next()` waits.
 * - While it is open it has one listener on each of its signals, and none before and afterwards.
 */
export abstract class PolledIterator<V> implements AsyncIterableIterator<V, undefined> {
  readonly #signals: AbortSignal[];
  #state: "new" | "open" | "over" = "new";
  /** Set from a failure until `next()` has rejected with it. */
  #failure: IterationFailure | undefined;
  /** Ends the wait of the last `next()` that has waited. */
  #wake: (() => void) | undefined;
  /** Settles behind all calls of `next()`. */
  #last: Promise<unknown> = Promise.resolve();

  /** Does not begin. `signal` ends it. */
  constructor(signal: AbortSignal | undefined) {
    this.#signals = signal === undefined ? [] : [signal];
  }

  /** Returns the next value; `undefined` if there is none yet. */
  protected abstract poll(): V | undefined;

  /** Called at the first `next()`, if the iterator has not ended. What it throws ends the iterator. */
  protected abstract begin(): void;

  /** Called once, when the iterator ends, also where it has not begun. */
  protected abstract finish(): void;

  /** Resolves when there may be another value, or the iterator has ended. */
  protected wait(): Promise<void> {
    return new Promise((resolve) => this.#wake = resolve);
  }

  /** Ends with `signal` too. Called before the iterator begins. */
  endWith(signal: AbortSignal): void {
    this.#signals.push(signal);
  }

  /** Polls again, if a `next()` waits. */
  wake(): void {
    this.#wake?.();
  }

  /** Ends the iterator. With a failure, one `next()`, which may be waiting, rejects with it. */
  end(failure?: IterationFailure): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#failure = failure;
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#abort);
    this.finish();
    this.wake();
  }

  /** Returns the next value, as soon as there is one. */
  next(): Promise<IteratorResult<V, undefined>> {
    const next = this.#last.then(this.#next);
    this.#last = next.then(undefined, () => undefined); // the caller of this `next()` gets its error, the following one does not
    return next;
  }

  /** Ends the iterator. */
  return(): Promise<IteratorResult<V, undefined>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Returns itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #abort = (): void => this.end();

  readonly #next = async (): Promise<IteratorResult<V, undefined>> => {
    if (this.#state === "new") this.#begin();
    while (this.#isOpen) {
      const value = this.poll();
      if (value !== undefined) return { done: false, value };
      if (this.#isOpen) await this.wait();
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    return { done: true, value: undefined };
  };

  get #isOpen(): boolean {
    return this.#state === "open";
  }

  #begin(): void {
    if (this.#signals.some(({ aborted }) => aborted)) return this.end();
    this.#state = "open";
    for (const signal of this.#signals) signal.addEventListener("abort", this.#abort, { once: true });
    try {
      this.begin();
    } catch (error) {
      this.end({ error });
    }
  }
}
