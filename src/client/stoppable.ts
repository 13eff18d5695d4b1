import { DerivedController } from "../timing/derived.ts";

/**
 * An iterator over what `start` yields, that can be left at any time.
 *
 * - Nothing begins before the first `next()`, and nothing stays on `parent` once the iterator has ended.
 * - When `parent` aborts, `start`'s signal does, with the same reason.
 * - `return()` while a `next()` is waiting ends that wait: the waiting call resolves to the end. (A generator alone would
 *   keep `return()` waiting until the server says something.)
 */
export function stoppable<T>(
  parent: AbortSignal | undefined,
  start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncIterableIterator<T> {
  return new Stoppable(parent, start);
}

class Stoppable<T> implements AsyncIterableIterator<T> {
  readonly #parent: AbortSignal | undefined;
  readonly #start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>;
  #running:
    | { readonly controller: DerivedController; readonly generator: AsyncGenerator<T, void, undefined> }
    | undefined;
  #waiting = 0;
  #over = false;

  constructor(
    parent: AbortSignal | undefined,
    start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
  ) {
    this.#parent = parent;
    this.#start = start;
  }

  async next(): Promise<IteratorResult<T, void>> {
    if (this.#over) return { done: true, value: undefined };
    if (this.#running === undefined) {
      const controller = new DerivedController(this.#parent);
      this.#running = { controller, generator: this.#start(controller.signal) };
    }
    const { controller, generator } = this.#running;
    this.#waiting++;
    try {
      const result = await generator.next();
      if (result.done) this.#end(controller);
      return result;
    } catch (error) {
      if (this.#over) return { done: true, value: undefined }; // return() has called the wait off
      this.#end(controller);
      throw error;
    } finally {
      this.#waiting--;
    }
  }

  async return(): Promise<IteratorResult<T, void>> {
    if (!this.#over && this.#running !== undefined) {
      this.#over = true;
      const { controller, generator } = this.#running;
      if (this.#waiting > 0) controller.abort(new DOMException("Nobody reads it any more", "AbortError"));
      try {
        await generator.return();
      } catch (error) {
        // A source that was told to stop may say so once more while it lets go of its body.
        if (!controller.signal.aborted) throw error;
      } finally {
        controller[Symbol.dispose]();
      }
    }
    this.#over = true;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(controller: DerivedController): void {
    this.#over = true;
    controller[Symbol.dispose]();
  }
}
