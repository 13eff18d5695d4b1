/**
 * Async iterators and streams that always end: by a signal, by their source, or by their reader.
 *
 * {@linkcode PolledIterator} makes values when they are asked for, {@linkcode CancellableStream} reads a source that
 * may never answer, and {@linkcode ReadAhead} begins a read early. None of them knows what the values are.
 *
 * @module
 */
import { callObserver, DerivedController } from "./signals.ts";

/** The error with which an iterator ends. */
export interface IterationFailure {
  /** The error. */
  readonly error: unknown;
}

/**
 * An async iterator over values that are made when they are asked for: of events, status, updates of views.
 *
 * - It begins at the first `next()`. Calls of `next()` during another one are answered in order.
 * - When its signal aborts it ends without an error, at once, and drops what was not taken.
 * - It rejects, once, with the failure that has ended it; then it has ended.
 * - `return()` ends it at once, also while a `next()` waits.
 * - While it is open it has one listener on each of its signals, and none before and afterwards.
 */
export abstract class PolledIterator<V> implements AsyncIterableIterator<V, undefined> {
  readonly #signals: AbortSignal[];
  readonly #readers: Readers<PolledIterator<V>> | undefined;
  #state: "new" | "open" | "over" = "new";
  /** Set from a failure until `next()` has rejected with it. */
  #failure: IterationFailure | undefined;
  /** Ends the wait of the last `next()` that has waited. */
  #wake: (() => void) | undefined;
  /** Settles behind all calls of `next()`. */
  #last: Promise<unknown> = Promise.resolve();

  /** Does not begin. `signal` ends it. It is one of `readers`, if they are given, from its beginning to its end. */
  constructor(signal: AbortSignal | undefined, readers?: Readers<PolledIterator<V>>) {
    this.#signals = signal === undefined ? [] : [signal];
    this.#readers = readers;
  }

  /** Returns the next value; `undefined` if there is none yet. */
  protected abstract poll(): V | undefined;

  /** Called at the first `next()`, if the iterator has not ended. What it throws ends the iterator. */
  protected begin(): void {}

  /** Called once, when the iterator ends, also where it has not begun. */
  protected finish(): void {}

  /** Resolves when there may be another value, or the iterator has ended. */
  protected wait(): Promise<void> {
    return new Promise((resolve) => this.#wake = resolve);
  }

  /** Ends with `signal` too. Called before the iterator begins. */
  endWith(signal: AbortSignal): void {
    this.#signals.push(signal);
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
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#abort);
    this.#readers?.delete(this);
    this.finish();
    this.wake();
  }

  /** Returns the next value, as soon as there is one. */
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

  /** Returns itself. */
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

  /** `true` once the source has ended. */
  get haveEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Adds a reader that begins; one of a source that has ended ends at once. */
  add(reader: R): void {
    if (this.#end === undefined) this.#open.add(reader);
    else reader.end(this.#end.failure);
  }

  /** Removes a reader that has ended. */
  delete(reader: R): void {
    this.#open.delete(reader);
  }

  /** Ends all readers, present and future ones, with this failure. Only the first call counts. */
  end(failure?: IterationFailure): void {
    this.#end ??= { failure };
    for (const reader of this.#open) reader.end(this.#end.failure);
  }

  /** The open readers. */
  [Symbol.iterator](): Iterator<R> {
    return this.#open.values();
  }
}

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
 * - When `signal` aborts, the pending `next()` rejects with its reason at once, or the following one does; where
 *   `quiet` has aborted, the stream ends without an error. The source is asked to end, and not waited for.
 * - `return()` during a `next()` ends both at once. Otherwise it waits until the source has ended, unless `signal` has
 *   aborted.
 * - After the end, an error or `return()`, `next()` resolves to the end, and nothing is left on `signal`. Before that
 *   there is one listener.
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
   * Does not call `open` yet. The signal that `open` receives aborts when the stream ends. `signal` aborts with
   * `quiet`, if that is given: a stream that its reader ends has not failed.
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

/** Publishes the newest value to any number of readers, each of which may miss values in between. */
export class Latest<V> {
  /** The number of changes so far: a reader has the newest value if and only if it has read at this number. */
  #changes = 0;
  /** `true` from `end()` on. */
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

  /** Ends all readers, behind the last value. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /**
   * Yields the present value, then the newest one after each change; a slow reader misses those in between. The
   * iterator ends with `end()`, and as a {@linkcode PolledIterator} does.
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

/** Publishes snapshots of a state that changes, as `useSyncExternalStore` of React reads them. */
export class ExternalStore<S extends object> {
  readonly #read: () => S;
  /** Each call of {@linkcode subscribe} has a member of its own, as functions may be given twice. */
  readonly #listeners = new Set<{ readonly call: () => void }>();
  #snapshot: S | undefined;
  /** `true` if the state may differ from the snapshot. */
  #isStale = false;
  /** `true` from a change until the listeners are called. */
  #isDue = false;

  /** `read` returns the present state, as a new object. */
  constructor(read: () => S) {
    this.#read = read;
  }

  /** Calls `listener` after each change, once for those of one turn. Returns a function that ends that. */
  readonly subscribe: (listener: () => void) => () => void = (call) => {
    const listener = { call };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Returns the present state: the same object while no member is another one. */
  readonly getSnapshot: () => S = () => {
    const last = this.#snapshot;
    if (last !== undefined && !this.#isStale) return last;
    this.#isStale = false;
    return this.#snapshot = last === undefined ? this.#read() : reuse(last, this.#read());
  };

  /** The state may have changed. */
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

/** Returns `last` if all members are the same; otherwise `next`, with those arrays of `last` that equal its own. */
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
