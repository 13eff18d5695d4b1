/** The error with which an iterator ends. */
export interface IterationFailure {
  /** The error. */
  readonly error: unknown;
}

/** Options of a {@linkcode PolledIterator}. */
export interface PolledIteratorOptions<V> {
  /** Returns the next value; `undefined` if there is none yet. */
  readonly poll: () => V | undefined;
  /** Called at the first `next()`. */
  readonly onBegin: () => void;
  /** Called once, when it ends, also where it has not begun. */
  readonly onEnd: () => void;
  /** Ends the iterator: `next()` rejects with its reason. */
  readonly signal: AbortSignal | undefined;
}

/** An async iterator over values that are made when they are asked for, by one consumer. */
export class PolledIterator<V> implements AsyncIterableIterator<V> {
  readonly #options: PolledIteratorOptions<V>;
  #state: "new" | "open" | "over" = "new";
  /** Set from a failure until `next()` has rejected with it. */
  #failure: IterationFailure | undefined;
  /** Set if and only if a `next()` waits. */
  #wake: (() => void) | undefined;

  /** Begins at the first `next()`. */
  constructor(options: PolledIteratorOptions<V>) {
    this.#options = options;
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
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#options.onEnd();
    this.wake();
  }

  /** Returns the next value, as soon as there is one. */
  async next(): Promise<IteratorResult<V, undefined>> {
    if (this.#state === "new") this.#begin();
    while (this.#state === "open") {
      const value = this.#options.poll();
      if (value !== undefined) return { done: false, value };
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    return { done: true, value: undefined };
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

  readonly #abort = (): void => this.end({ error: this.#options.signal!.reason });

  #begin(): void {
    const { signal, onBegin } = this.#options;
    if (signal?.aborted) return this.#abort();
    this.#state = "open";
    signal?.addEventListener("abort", this.#abort, { once: true });
    onBegin();
  }
}
