/**
 * Passes on what `source` yields until the signal aborts; then rejects with its reason, at once, even if the source does
 * not answer. The source is asked to end in any case, but not waited for once the signal has aborted: it may be stuck.
 *
 * Asked one at a time. Adds two promises per item, and keeps nothing on the signal but one listener.
 */
export function cancellable<T>(source: AsyncIterable<T>, signal: AbortSignal): Cancellable<T> {
  return new Cancellable<T>(source, signal);
}

/** See {@linkcode cancellable}. No generator, which would cost several promises more per item. */
export class Cancellable<T> implements AsyncIterableIterator<T, void, undefined> {
  readonly #items: AsyncIterable<T>;
  readonly #signal: AbortSignal;
  #source: AsyncIterator<T> | undefined;
  /** The item that was asked for last. */
  #last: Promise<IteratorResult<T, void>> | undefined;
  /** Whether the source has been asked and has not answered; says nothing once it is over. */
  #waiting = false;
  #over = false;
  #resolve!: (result: IteratorResult<T, void>) => void;
  #reject!: (reason: unknown) => void;

  /** Asks nothing yet. */
  constructor(items: AsyncIterable<T>, signal: AbortSignal) {
    this.#items = items;
    this.#signal = signal;
  }

  /** The next item. */
  next(): Promise<IteratorResult<T, void>> {
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    if (this.#signal.aborted) { // while the last item was looked at, or before the first
      this.#abandon();
      return Promise.reject(this.#signal.reason);
    }
    if (this.#source === undefined) {
      this.#source = this.#items[Symbol.asyncIterator]();
      this.#signal.addEventListener("abort", this.#interrupt, { once: true });
    }
    this.#last = new Promise(this.#wait);
    this.#waiting = true;
    this.#source.next().then(this.#pass, this.#fail);
    return this.#last;
  }

  /** Ends the source, and waits for that unless the signal has aborted. */
  async return(): Promise<IteratorResult<T, void>> {
    if (this.#waiting) await Promise.allSettled([this.#last]); // whoever asked is told
    if (!this.#over) {
      if (this.#signal.aborted) this.#abandon();
      else {
        this.#end();
        if (this.#source !== undefined) await endOf(this.#source);
      }
    }
    return { done: true, value: undefined };
  }

  /** Itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #wait = (resolve: (result: IteratorResult<T, void>) => void, reject: (reason: unknown) => void): void => {
    this.#resolve = resolve;
    this.#reject = reject;
  };

  readonly #pass = (result: IteratorResult<T>): void => {
    this.#waiting = false;
    if (result.done) this.#end();
    this.#resolve(result);
  };

  readonly #fail = (error: unknown): void => {
    this.#end(); // a source that has thrown has ended
    this.#reject(error);
  };

  readonly #interrupt = (): void => {
    if (!this.#waiting) return; // who asks next is told
    this.#abandon();
    this.#reject(this.#signal.reason);
  };

  /** Asks the source to end, now that the signal has aborted. */
  #abandon(): void {
    this.#end();
    // What a source throws while it is being stopped changes nothing: it was told to stop, and nobody reads it any more.
    if (this.#source !== undefined) endOf(this.#source).then(undefined, () => undefined);
  }

  #end(): void {
    this.#over = true;
    this.#signal.removeEventListener("abort", this.#interrupt);
  }
}

/** Async, so that what `return` throws at once rejects, as all else does. */
async function endOf<T>(source: AsyncIterator<T>): Promise<void> {
  await source.return?.();
}
