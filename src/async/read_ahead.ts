import { cancellable, type CancellableStream } from "./cancellable.ts";
import { DerivedController } from "./derived_controller.ts";

/**
 * Reads a source whose first item can be requested before somebody waits for it.
 *
 * It ends with its signal at once, whatever the source does: the source is aborted and returned, and not waited for.
 */
export class ReadAhead<T> {
  readonly #job: DerivedController;
  readonly #items: CancellableStream<T>;
  /** The first item, if and only if it was requested by `request()` and nobody has waited for it yet. */
  #first: Promise<IteratorResult<T, void>> | undefined;

  /** Opens the source, which is aborted with `signal`. Nothing is requested yet. */
  constructor(open: (signal: AbortSignal) => AsyncIterable<T>, signal?: AbortSignal) {
    this.#job = new DerivedController(signal);
    try {
      this.#items = cancellable(open(this.#job.signal), this.#job.signal);
    } catch (error) {
      this.#job[Symbol.dispose]();
      throw error;
    }
  }

  /** Requests the first item, without waiting for it. */
  request(): void {
    this.#first = this.#items.next();
    // next() rejects with the error; if nobody calls it, the source was given up.
    this.#first.then(undefined, () => undefined);
  }

  /** Returns the next item; `undefined` at the end. */
  async next(): Promise<T | undefined> {
    const first = this.#first;
    this.#first = undefined;
    const result = await (first ?? this.#items.next());
    return result.done ? undefined : result.value;
  }

  /** Ends the source. Waits for that, unless an item is pending. */
  async close(): Promise<void> {
    try {
      await this.#items.return();
    } finally {
      this.#job[Symbol.dispose]();
    }
  }
}
