import { PolledIterator } from "./polled_iterator.ts";

/** Publishes the newest value to any number of readers, each of which may miss values in between. */
export class Latest<V> {
  /** The number of changes so far: a reader has the newest value if and only if it has read at this number. */
  #changes = 0;
  /** `true` from `end()` on. */
  #isOver = false;
  /** Has a reader if and only if it has begun and not ended. */
  readonly #readers = new Set<LatestReader<V>>();
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
   * with `end()`, and as a {@linkcode PolledIterator} does.
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
  readonly #readers: Set<LatestReader<V>>;
  readonly #take: (reader: LatestReader<V>) => V | undefined;

  constructor(
    signal: AbortSignal | undefined,
    readers: Set<LatestReader<V>>,
    take: (reader: LatestReader<V>) => V | undefined,
  ) {
    super(signal);
    this.#readers = readers;
    this.#take = take;
  }

  protected override poll(): V | undefined {
    return this.#take(this);
  }

  protected override begin(): void {
    this.#readers.add(this);
  }

  protected override finish(): void {
    this.#readers.delete(this);
  }
}
