import { DerivedController } from "../../async/derived_controller.ts";

/** What is read one item at a time, and can be left: all that is asked of a generator here. */
export interface AsyncSource<T> {
  /** The next item. */
  next(): Promise<IteratorResult<T, void>>;
  /** Ends it; called while no item is waited for. */
  return(): Promise<unknown>;
}

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
  start: (signal: AbortSignal) => AsyncSource<T>,
): AsyncIterableIterator<T, void, undefined> {
  return new Stoppable(parent, start);
}

class Stoppable<T> implements AsyncIterableIterator<T, void, undefined> {
  readonly #parent: AbortSignal | undefined;
  readonly #start: (signal: AbortSignal) => AsyncSource<T>;
  #controller: DerivedController | undefined;
  #source: AsyncSource<T> | undefined;
  /** The last answer that was asked for: settled, if none is waited for. */
  #last: Promise<unknown> | undefined;
  #waiting = 0;
  #over = false;

  constructor(parent: AbortSignal | undefined, start: (signal: AbortSignal) => AsyncSource<T>) {
    this.#parent = parent;
    this.#start = start;
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    if (this.#source === undefined) {
      this.#controller = new DerivedController(this.#parent);
      this.#source = this.#start(this.#controller.signal);
    }
    // Who asks before the last answer is there waits in line, as with a generator.
    const asked = this.#waiting === 0 ? this.#source.next() : this.#last!.then(this.#ask, this.#ask);
    this.#waiting++;
    const answer = asked.then(this.#pass, this.#fail);
    this.#last = answer;
    return answer;
  }

  async return(): Promise<IteratorResult<T, void>> {
    if (!this.#over && this.#source !== undefined) {
      this.#over = true;
      const controller = this.#controller!;
      if (this.#waiting > 0) {
        controller.abort(new DOMException("Nobody reads it any more", "AbortError"));
        await this.#last; // never rejects any more
      }
      try {
        await this.#source.return();
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

  readonly #ask = (): Promise<IteratorResult<T, void>> => this.#source!.next();

  readonly #pass = (result: IteratorResult<T, void>): IteratorResult<T, void> => {
    this.#waiting--;
    if (result.done) this.#end();
    return result;
  };

  readonly #fail = (error: unknown): IteratorResult<T, void> => {
    this.#waiting--;
    if (this.#over) return { done: true, value: undefined }; // return() has called the wait off
    this.#end();
    throw error;
  };

  #end(): void {
    this.#over = true;
    this.#controller![Symbol.dispose]();
  }
}
