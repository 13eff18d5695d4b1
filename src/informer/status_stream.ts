import type { Abortable } from "../api/options.ts";

/** Tells any number of readers the newest value, whenever it has changed. */
export class Changes<V> {
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

  /** The present value, then the newest after each change; who reads slowly misses those between. Ends with `end()`. */
  async *read(options: Abortable = {}): AsyncIterableIterator<V> {
    const { signal } = options;
    for (let seen = -1;;) {
      signal?.throwIfAborted();
      if (seen !== this.#number) {
        seen = this.#number;
        yield this.#current();
        continue;
      }
      if (this.#over) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal?.removeEventListener("abort", wake);
          this.#wakers.delete(wake);
          resolve();
        };
        this.#wakers.add(wake);
        signal?.addEventListener("abort", wake, { once: true });
      });
    }
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
