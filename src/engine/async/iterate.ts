/**
 * Async iterators and streams that always end: by a signal, by their source, or by their reader.
 *
 * {@linkcode PolledIterator} makes values on demand, {@linkcode CancellableStream} reads a source that may never
 * respond, and {@linkcode ReadAhead} begins a read early. None of them looks at the values.
 *
 * @module
 */
import { callObserver, DerivedController } from "./signals.ts";

/** The error that ends an iterator. */
export interface IterationFailure {
  /** The error. */
  readonly error: unknown;
}

/**
 * An async iterator over values that are made on demand, such as events, status, or view updates.
 *
 * - It begins at the first `next()`. If you call `next()` again before the last call has settled, results arrive in
 *   order.
 * - When its signal aborts, it ends at once without an error, and drops the remaining values.
 * - If a failure ends it, `next()` rejects once with that failure, and then the iterator has ended.
 * - `return()` ends it at once, even while a `next()` waits.
 * - While it is open it has one listener on each of its signals. Before and afterwards it has none.
 */
export abstract class PolledIterator<V> implements AsyncIterableIterator<V, undefined> {
  readonly #signals: AbortSignal[];
  readonly #readers: Readers<PolledIterator<V>> | undefined;
  #state: "new" | "open" | "over" = "new";
  /** Set from a failure until `next()` has rejected with it. */
  #failure: IterationFailure | undefined;
  /** Ends the wait in the last `next()` that has waited. */
  #wake: (() => void) | undefined;
  /** Settles after all calls of `next()`. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Creates an iterator that has not begun. `signal` ends it. If `readers` is given, it contains the iterator while the
   * iterator is open.
   */
  constructor(signal: AbortSignal | undefined, readers?: Readers<PolledIterator<V>>) {
    this.#signals = signal === undefined ? [] : [signal];
    this.#readers = readers;
  }

  /** Returns the next value, or `undefined` if there is none yet. */
  protected abstract poll(): V | undefined;

  /** Called at the first `next()`, unless the iterator has ended. If it throws, the iterator ends with that error. */
  protected begin(): void {}

  /** Called once when the iterator ends, even if it has not begun. */
  protected finish(): void {}

  /** Resolves when there may be another value, or the iterator has ended. */
  protected wait(): Promise<void> {
    return new Promise((resolve) => this.#wake = resolve);
  }

  /** Ends with `signal` too. Call it before the iterator begins. */
  endWith(signal: AbortSignal): void {
    this.#signals.push(signal);
  }

  /** Polls again if a `next()` waits. */
  wake(): void {
    this.#wake?.();
  }

  /** Ends the iterator. With a failure, one `next()`, which may be waiting, rejects with it. */
  end(failure?: IterationFailure): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#failure = failure;
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#abort);
    this.#readers?.delete(this);
    this.finish();
    this.wake();
  }

  /** Returns the next value as soon as there is one. */
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

  /** Returns this iterator. */
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
    this.#readers?.add(this);
    try {
      if (this.#isOpen) this.begin();
    } catch (error) {
      this.end({ error });
    }
  }
}

/** The open iterators over one source. */
export class Readers<R extends PolledIterator<unknown>> implements Iterable<R> {
  readonly #open = new Set<R>();
  #end: { readonly failure: IterationFailure | undefined } | undefined;

  /** `true` after the source has ended. */
  get haveEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Adds a reader that begins. If the source has ended, the reader ends at once. */
  add(reader: R): void {
    if (this.#end === undefined) this.#open.add(reader);
    else reader.end(this.#end.failure);
  }

  /** Removes a reader that has ended. */
  delete(reader: R): void {
    this.#open.delete(reader);
  }

  /** Ends all readers, present and future, with this failure. Only the first call counts. */
  end(failure?: IterationFailure): void {
    this.#end ??= { failure };
    for (const reader of this.#open) reader.end(this.#end.failure);
  }

  /** Returns the open readers. */
  [Symbol.iterator](): Iterator<R> {
    return this.#open.values();
  }
}

/**
 * The source for a {@linkcode CancellableStream}. `R` is the result type for one read, which only the source looks at.
 */
export interface StreamSource<T, R = unknown> {
  /** Reads the next result. Not called while a read is pending. */
  read(): Promise<R>;
  /** Converts a read's result into an item or the end, in the turn in which the result arrives. */
  decode(result: R): IteratorResult<T, void>;
  /** Frees the source after a read rejected or `decode` threw. Returns the error that the reader receives. */
  fail(error: unknown): unknown;
  /** Ends the source. It may be called while a read is pending, and that read's result is dropped. */
  cancel(): Promise<void>;
}

/**
 * Reads items from a source one by one, and can always be cancelled.
 *
 * - The first `next()` opens the source.
 * - When `signal` aborts, the pending or next `next()` rejects at once with its reason. If `quiet` has aborted, the
 *   stream ends without an error instead. The source is asked to end, but the stream does not wait for it.
 * - `return()` during a `next()` ends both at once. Otherwise it waits until the source has ended, unless `signal` has
 *   aborted.
 * - After the end, an error or `return()`, `next()` resolves to the end, and there is no listener left on `signal`.
 *   Before that, there is one.
 * - If you call `next()` again before the last call has settled, results arrive in order.
 */
export class CancellableStream<T> implements AsyncIterableIterator<T, void, undefined> {
  /** The signal that cancels the stream. */
  readonly signal: AbortSignal | undefined;
  readonly #open: (signal: AbortSignal) => StreamSource<T>;
  readonly #quiet: AbortSignal | undefined;
  /** Aborted after the stream has ended or is cancelled. */
  readonly #controller = new AbortController();
  /** Set by the first read. */
  #source: StreamSource<T> | undefined;
  /** The promise from the latest `next()`. */
  #last: Promise<IteratorResult<T, void>> | undefined;
  /** Until the end: `true` while the source reads. Then `#resolve` and `#reject` settle the pending `next()`. */
  #pending = false;
  #resolve!: (item: IteratorResult<T, void>) => void;
  #reject!: (reason: unknown) => void;
  /** The number of `next()` calls that wait until an earlier call has settled. */
  #queued = 0;
  /** `true` once every further `next()` resolves to the end. */
  #ended = false;

  /**
   * Creates a stream without calling `open` yet. The signal that `open` receives aborts when the stream ends.
   *
   * If `quiet` is given, `signal` must abort with it: a stream that its reader ends has not failed.
   */
  constructor(open: (signal: AbortSignal) => StreamSource<T>, signal?: AbortSignal, quiet?: AbortSignal) {
    this.#open = open;
    this.signal = signal;
    this.#quiet = quiet;
  }

  /** Returns the next item. */
  next(): Promise<IteratorResult<T, void>> {
    if (!this.#pending && this.#queued === 0) return this.#last = this.#read();
    this.#queued++;
    return this.#last = this.#last!.then(this.#readQueued, this.#readQueued);
  }

  /** Ends the stream. Rejects if the source cannot end, unless the stream was cancelled. */
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

  /** Returns this stream. */
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

  /** Asks the source to end, and ignores the result: a source that fails while it ends has ended too. */
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

  /** Creates a source, and reads nothing yet. */
  constructor(items: AsyncIterator<T, void>) {
    this.#items = items;
  }

  /** Returns the iterator's next result. */
  read(): Promise<IteratorResult<T, void>> {
    return this.#items.next();
  }

  /** Returns the result unchanged. */
  decode(result: IteratorResult<T, void>): IteratorResult<T, void> {
    return result;
  }

  /** Returns the error unchanged: an iterator that has thrown has ended. */
  fail(error: unknown): unknown {
    return error;
  }

  /** Ends the iterator. */
  async cancel(): Promise<void> {
    await this.#items.return?.();
  }
}

/** Returns `items` as a stream that `signal` cancels. If `items` is such a stream already, it returns `items`. */
export function cancellable<T>(items: AsyncIterable<T, void>, signal: AbortSignal): CancellableStream<T> {
  if (items instanceof CancellableStream && items.signal === signal) return items;
  return new CancellableStream(() => new IteratorSource(items[Symbol.asyncIterator]()), signal);
}

/** Publishes the newest value to any number of readers, each of which may miss values in between. */
export class Latest<V> {
  /** The number of changes so far. A reader has the newest value if and only if it has read at this number. */
  #changes = 0;
  /** `true` after `end()`. */
  #isOver = false;
  readonly #readers = new Readers<LatestReader<V>>();
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

  /** Ends all readers after the last value. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /**
   * Yields the present value, and then the newest value after each change. A slow reader misses values in between. The
   * iterator ends with `end()`, and like a {@linkcode PolledIterator}.
   */
  read(options: { readonly signal?: AbortSignal } = {}): PolledIterator<V> {
    let seen = -1;
    return new LatestReader(options.signal, this.#readers, (reader) => {
      if (seen === this.#changes) {
        if (this.#isOver) reader.end();
        return undefined;
      }
      seen = this.#changes;
      return this.#current();
    });
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

class LatestReader<V> extends PolledIterator<V> {
  readonly #take: (reader: LatestReader<V>) => V | undefined;

  constructor(
    signal: AbortSignal | undefined,
    readers: Readers<LatestReader<V>>,
    take: (reader: LatestReader<V>) => V | undefined,
  ) {
    super(signal, readers);
    this.#take = take;
  }

  protected override poll(): V | undefined {
    return this.#take(this);
  }
}

/** Publishes snapshots of changing state, in the form that React's `useSyncExternalStore` reads. */
export class ExternalStore<S extends object> {
  readonly #read: () => S;
  /** Each call of {@linkcode subscribe} adds a separate member, because the same function may be given twice. */
  readonly #listeners = new Set<{ readonly call: () => void }>();
  #snapshot: S | undefined;
  /** `true` if the state may differ from the snapshot. */
  #isStale = false;
  /** `true` from a change until the listeners are called. */
  #isDue = false;

  /** Creates a store. `read` returns the present state as a new object. */
  constructor(read: () => S) {
    this.#read = read;
  }

  /** Calls `listener` once per turn with changes. Call the returned function to unsubscribe. */
  readonly subscribe: (listener: () => void) => () => void = (call) => {
    const listener = { call };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Returns the present state: the same object until a member changes. */
  readonly getSnapshot: () => S = () => {
    const last = this.#snapshot;
    if (last !== undefined && !this.#isStale) return last;
    this.#isStale = false;
    return this.#snapshot = last === undefined ? this.#read() : reuse(last, this.#read());
  };

  /** Tells the store that the state may have changed. */
  changed(): void {
    this.#isStale = true;
    if (this.#isDue || this.#listeners.size === 0) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      for (const listener of [...this.#listeners]) {
        if (this.#listeners.has(listener)) callObserver(listener.call); // an earlier one may have removed it
      }
    });
  }
}

/**
 * Returns `last` if all members are the same. Otherwise returns `next`, and replaces its arrays by equal arrays from
 * `last`.
 */
function reuse<S extends object>(last: S, next: S): S {
  const [known, members] = [last, next] as Record<string, unknown>[];
  let isChanged = false;
  for (const name in members) {
    if (isSame(known[name], members[name])) members[name] = known[name];
    else isChanged = true;
  }
  return isChanged ? next : last;
}

function isSame(last: unknown, next: unknown): boolean {
  if (!Array.isArray(last) || !Array.isArray(next)) return last === next;
  return last.length === next.length && next.every((element, index) => element === last[index]);
}

/**
 * Reads a source whose first item you can request before anybody waits for it.
 *
 * It ends at once with its signal, whatever the source does: it aborts the source and calls `return()`, without
 * waiting.
 */
export class ReadAhead<T> {
  readonly #job: DerivedController;
  readonly #items: CancellableStream<T>;
  /** The first item, if and only if `request()` has requested it and nobody has waited for it yet. */
  #first: Promise<IteratorResult<T, void>> | undefined;

  /** Opens the source, which is aborted with `signal`. Requests nothing yet. */
  constructor(open: (signal: AbortSignal) => AsyncIterable<T>, signal?: AbortSignal) {
    this.#job = new DerivedController(signal);
    try {
      this.#items = cancellable(open(this.#job.signal), this.#job.signal);
    } catch (error) {
      this.#job[Symbol.dispose]();
      throw error;
    }
  }

  /** Requests the first item without waiting for it. */
  request(): void {
    this.#first = this.#items.next();
    // next() rejects with the error; if nobody calls it, the source was given up.
    this.#first.then(undefined, () => undefined);
  }

  /** Returns the next item, or `undefined` at the end. */
  async next(): Promise<T | undefined> {
    const first = this.#first;
    this.#first = undefined;
    const result = await (first ?? this.#items.next());
    return result.done ? undefined : result.value;
  }

  /** Ends the source, and waits until it has ended unless an item is pending. */
  async close(): Promise<void> {
    try {
      await this.#items.return();
    } finally {
      this.#job[Symbol.dispose]();
    }
  }
}
