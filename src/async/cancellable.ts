/**
 * A stream that can be cancelled at any time, over a source that may never answer.
 *
 * {@linkcode CancellableStream} is the one such stream of this package: the client's watches and lists are of this class,
 * and the reflector wraps the sources of others in it. It adds two promises per item to those of its source. It does not
 * limit how long a source may be silent: for a deadline, abort the signal.
 *
 * @module
 */

/** The source of a {@linkcode CancellableStream}. `R` is the result of one read, which only the source looks at. */
export interface StreamSource<T, R = unknown> {
  /** Reads on. Not called while a read is pending. */
  read(): Promise<R>;
  /** Converts the result of a read into an item or the end, in the turn in which the result arrives. */
  decode(result: R): IteratorResult<T, void>;
  /** Frees the source after a read rejected or `decode` threw. Returns the error that the reader receives. */
  fail(error: unknown): unknown;
  /** Ends the source. It may be called while a read is pending; the result of that read is dropped. */
  cancel(): Promise<void>;
}

/**
 * The items of a source, one `next()` after the other.
 *
 * - The source is opened by the first `next()`.
 * - When `signal` aborts, the pending `next()` rejects with its reason at once, or the following one does; where `quiet` has
 *   aborted, the stream ends without an error. The source is asked to end, and not waited for.
 * - `return()` during a `next()` ends both at once. Otherwise it waits until the source has ended, unless `signal` has
 *   aborted.
 * - After the end, an error or `return()`, `next()` resolves to the end, and nothing is left on `signal`. Before that there
 *   is one listener.
 * - Calls of `next()` during another one are answered in order.
 */
export class CancellableStream<T> implements AsyncIterableIterator<T, void, undefined> {
  /** The signal that cancels the stream. */
  readonly signal: AbortSignal | undefined;
  readonly #open: (signal: AbortSignal) => StreamSource<T>;
  readonly #quiet: AbortSignal | undefined;
  /** Aborted once the stream has ended or is cancelled. */
  readonly #controller = new AbortController();
  /** Set by the first read. */
  #source: StreamSource<T> | undefined;
  /** The promise of the latest `next()`. */
  #last: Promise<IteratorResult<T, void>> | undefined;
  /** Until the end: true while the source reads; then `#resolve` and `#reject` settle the pending `next()`. */
  #pending = false;
  #resolve!: (item: IteratorResult<T, void>) => void;
  #reject!: (reason: unknown) => void;
  /** The number of `next()` calls that wait until an earlier one has settled. */
  #queued = 0;
  /** True once every further `next()` resolves to the end. */
  #ended = false;

  /**
   * Does not call `open` yet. The signal that `open` receives aborts when the stream ends. `signal` aborts with `quiet`, if that is
   * given: a stream that its reader ends has not failed.
   */
  constructor(open: (signal: AbortSignal) => StreamSource<T>, signal?: AbortSignal, quiet?: AbortSignal) {
    this.#open = open;
    this.signal = signal;
    this.#quiet = quiet;
  }

  /** The next item. */
  next(): Promise<IteratorResult<T, void>> {
    if (!this.#pending && this.#queued === 0) return this.#last = this.#read();
    this.#queued++;
    return this.#last = this.#last!.then(this.#readQueued, this.#readQueued);
  }

  /** Ends the stream. Rejects with the error of a source that cannot end, unless the stream was cancelled. */
  async return(): Promise<IteratorResult<T, void>> {
    const end = { done: true, value: undefined } as const;
    if (this.#ended) return end;
    this.#ended = true;
    if (this.#pending) {
      this.#cancel(new DOMException("The stream is no longer read", "AbortError"));
      this.#resolve(end);
    } else if (!this.#controller.signal.aborted) {
      try {
        await this.#source?.cancel();
      } finally {
        this.#release();
      }
    }
    return end;
  }

  /** Itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  #read(): Promise<IteratorResult<T, void>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    if (this.signal?.aborted) {
      this.#ended = true;
      if (this.#quiet?.aborted) return Promise.resolve({ done: true, value: undefined });
      return Promise.reject(this.signal.reason);
    }
    const item = new Promise(this.#wait);
    try {
      if (this.#source === undefined) {
        this.signal?.addEventListener("abort", this.#abort, { once: true });
        this.#source = this.#open(this.#controller.signal);
      }
      this.#source.read().then(this.#accept, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
    return item;
  }

  readonly #readQueued = (): Promise<IteratorResult<T, void>> => {
    this.#queued--;
    return this.#read();
  };

  readonly #wait = (resolve: (item: IteratorResult<T, void>) => void, reject: (reason: unknown) => void): void => {
    this.#pending = true;
    this.#resolve = resolve;
    this.#reject = reject;
  };

  readonly #accept = (result: unknown): void => {
    if (this.#ended) return; // cancelled
    let item: IteratorResult<T, void>;
    try {
      item = this.#source!.decode(result);
    } catch (error) {
      return this.#fail(error);
    }
    this.#pending = false;
    if (item.done) this.#end();
    this.#resolve(item);
  };

  readonly #fail = (error: unknown): void => {
    if (this.#ended) return; // cancelled
    const reason = this.#source === undefined ? error : this.#source.fail(error);
    this.#end();
    this.#reject(reason);
  };

  readonly #abort = (): void => {
    const { reason } = this.signal!;
    this.#cancel(reason);
    if (!this.#pending) return; // the following next() ends
    this.#ended = true;
    if (this.#quiet?.aborted) this.#resolve({ done: true, value: undefined });
    else this.#reject(reason);
  };

  /** Asks the source to end, and drops its answer: a source that fails while it ends has ended too. */
  #cancel(reason: unknown): void {
    this.#release(reason);
    this.#source?.cancel().then(undefined, () => undefined);
  }

  #end(): void {
    this.#ended = true;
    this.#release();
  }

  #release(reason: unknown = new DOMException("The stream has ended", "AbortError")): void {
    this.signal?.removeEventListener("abort", this.#abort);
    this.#controller.abort(reason);
  }
}

/** A source for a {@linkcode CancellableStream} that reads an async iterator. */
export class IteratorSource<T> implements StreamSource<T, IteratorResult<T, void>> {
  readonly #items: AsyncIterator<T, void>;

  /** Reads nothing yet. */
  constructor(items: AsyncIterator<T, void>) {
    this.#items = items;
  }

  /** The iterator's next result. */
  read(): Promise<IteratorResult<T, void>> {
    return this.#items.next();
  }

  /** The result as it is. */
  decode(result: IteratorResult<T, void>): IteratorResult<T, void> {
    return result;
  }

  /** The error as it is: an iterator that has thrown has ended. */
  fail(error: unknown): unknown {
    return error;
  }

  /** Ends the iterator. */
  async cancel(): Promise<void> {
    await this.#items.return?.();
  }
}

/** `items` as a stream that `signal` cancels: `items` itself if it is one already. */
export function cancellable<T>(items: AsyncIterable<T, void>, signal: AbortSignal): CancellableStream<T> {
  if (items instanceof CancellableStream && items.signal === signal) return items;
  return new CancellableStream(() => new IteratorSource(items[Symbol.asyncIterator]()), signal);
}
