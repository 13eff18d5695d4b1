/** First in, first out, in a circle of slots: both ends in constant time, and nothing taken is held on to. */
export class Ring<T> {
  #slots: (T | undefined)[] = emptySlots(MIN_SLOTS);
  #head = 0;
  #length = 0;

  /** How many are in it. */
  get length(): number {
    return this.#length;
  }

  /** Puts one at the end. */
  push(value: T): void {
    if (this.#length === this.#slots.length) this.#resize(this.#slots.length * 2);
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  /** Takes the first; undefined when there is none. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const value = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    // After a burst the slots are given back; by halves, so that a queue about that long does not resize at every step.
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

/** A power of two, as are all sizes: a mask then wraps an index. */
const MIN_SLOTS = 16;

function emptySlots<T>(size: number): (T | undefined)[] {
  return new Array<T | undefined>(size).fill(undefined);
}
