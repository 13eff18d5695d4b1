/** One iterator of {@linkcode Latest.read}. */
interface Reader {
  readonly signal: AbortSignal | undefined;
  /** Whether it was ended by `return()`. */
  left: boolean;
  /** Ends its wait for a change. */
  wake: (() => void) | undefined;
}

/** Tells any number of readers the newest value, whenever it has changed. */
export class Latest<V> {
  #number = 0;
  #over = false;
  #wakers = new Set<() => void>();
  readonly #current: () => V;

  /** Tells what `current` returns. */
  constructor(current: () => V) {
    this.#current = current;
  }

  /** The value has changed. */
  changed(): void {
    this.#number++;
    this.#wake();
  }

  /** It changes no more: readers get the last value, if they have not, and end. */
  end(): void {
    this.#over = true;
    this.#wake();
  }

  /**
   * The present value, then the newest after each change; a slow reader misses those between. Ends with `end()`, and at once
   * with `return()`, also while a `next()` waits.
   */
  read(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<V> {
    const reader: Reader = { signal: options.signal, left: false, wake: undefined };
    const values = this.#values(reader);
    return {
      next: () => values.next(),
      return: (): Promise<IteratorResult<V, undefined>> => {
        reader.left = true;
        reader.wake?.();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator](): AsyncIterableIterator<V> {
        return this;
      },
    };
  }

  async *#values(reader: Reader): AsyncGenerator<V, undefined, undefined> {
    for (let seen = -1; !reader.left;) {
      reader.signal?.throwIfAborted();
      if (seen !== this.#number) {
        seen = this.#number;
        yield this.#current();
        continue;
      }
      if (this.#over) return;
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
