/** One iterator of {@linkcode Latest.read}. */
interface Reader {
  readonly signal: AbortSignal | undefined;
  /** `true` once `return()` was called. */
  hasReturned: boolean;
  /** Ends its wait for a change, if it waits. */
  wake: (() => void) | undefined;
}

/** Publishes the newest value to any number of readers, each of which may miss values in between. */
export class Latest<V> {
  /** The number of changes so far: a reader has the newest value if and only if it has read at this number. */
  #changes = 0;
  /** `true` from `end()` on. */
  #isOver = false;
  /** Has a callback if and only if its reader waits for a change. */
  readonly #wakers = new Set<() => void>();
  readonly #current: () => V;

  /** Publishes the values that `current` returns. */
  constructor(current: () => V) {
    this.#current = current;
  }

  /** Publishes the present value, because it has changed. */
  changed(): void {
    this.#changes++;
    this.#wake();
  }

  /** Ends all readers, behind the last value. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /**
   * Yields the present value, then the newest one after each change; a slow reader misses those in between. The iterator ends
   * with `end()`, and at once with `return()`, also while a `next()` waits. It rejects with the signal's reason.
   */
  read(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<V> {
    const reader: Reader = { signal: options.signal, hasReturned: false, wake: undefined };
    const values = this.#values(reader);
    return {
      next: () => values.next(),
      return: (): Promise<IteratorResult<V, undefined>> => {
        reader.hasReturned = true;
        reader.wake?.();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator](): AsyncIterableIterator<V> {
        return this;
      },
    };
  }

  async *#values(reader: Reader): AsyncGenerator<V, undefined, undefined> {
    for (let seen = -1; !reader.hasReturned;) {
      reader.signal?.throwIfAborted();
      if (seen !== this.#changes) {
        seen = this.#changes;
        yield this.#current();
        continue;
      }
      if (this.#isOver) return;
      await this.#nextWake(reader);
    }
  }

  /** Resolves when the value changes or ends, the signal aborts, or the reader leaves. */
  #nextWake(reader: Reader): Promise<void> {
    return new Promise<void>((resolve) => {
      const wake = reader.wake = (): void => {
        reader.signal?.removeEventListener("abort", wake);
        this.#wakers.delete(wake);
        resolve();
      };
      this.#wakers.add(wake);
      reader.signal?.addEventListener("abort", wake, { once: true });
    });
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
