/** A first-in, first-out queue in a circular array. Both ends take constant time, and taken values can be collected. */
export class Ring<T> {
  /** Its length is a power of two, at least `MIN_SLOTS`; slots outside the `#length` from `#head` on are undefined. */
  #slots: (T | undefined)[] = emptySlots(MIN_SLOTS);
  /** The index of the first value; the others follow it, modulo the length of `#slots`. */
  #head = 0;
  /** The number of values, at most the length of `#slots`. */
  #length = 0;

  /** The number of values in the queue. */
  get length(): number {
    return this.#length;
  }

  /** Adds a value at the end. */
  push(value: T): void {
    if (this.#length === this.#slots.length) this.#resize(this.#slots.length * 2);
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  /** Removes the first value and returns it; undefined when the queue is empty. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const value = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    // Frees slots after a burst, at a quarter full: a queue whose length varies a little does not resize at every step.
    if (this.#slots.length > MIN_SLOTS && this.#length * 4 <= this.#slots.length) this.#resize(this.#slots.length / 2);
    return value;
  }

  #resize(size: number): void {
    const slots = emptySlots<T>(size);
    for (let i = 0; i < this.#length; i++) slots[i] = this.#slots[(this.#head + i) & (this.#slots.length - 1)];
    this.#slots = slots;
    this.#head = 0;
  }
}

/** The smallest size. All sizes are powers of two, so that a mask wraps an index. */
const MIN_SLOTS = 16;

function emptySlots<T>(size: number): (T | undefined)[] {
  return new Array<T | undefined>(size).fill(undefined);
}
