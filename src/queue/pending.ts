import type { Delta } from "./delta.ts";

/** Up to so many keys are looked for one by one, which is faster than a Map that they enter and leave. */
const FEW = 4;

/** What waits, by key, in the order in which keys came. */
export class Pending<V> {
  #keys: string[] = [];
  #deltas: (Delta<V>[] | undefined)[] = [];
  /** The place of the oldest key. */
  #head = 0;
  /** Places by key, once there are more than a few; counted from the first key since the Map was made. */
  #places: Map<string, number> | undefined;
  #base = 0;

  /** How many keys wait. */
  get size(): number {
    return this.#keys.length - this.#head;
  }

  /** What waits of a key; yours to add to. */
  get(key: string): Delta<V>[] | undefined {
    if (this.#places !== undefined) {
      const place = this.#places.get(key);
      return place === undefined ? undefined : this.#deltas[place - this.#base];
    }
    for (let i = this.#head; i < this.#keys.length; i++) if (this.#keys[i] === key) return this.#deltas[i];
    return undefined;
  }

  /** Whether something waits of a key. */
  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds a key that does not wait. */
  add(key: string, delta: Delta<V>): void {
    this.#keys.push(key);
    this.#deltas.push([delta]);
    if (this.#places !== undefined) this.#places.set(key, this.#base + this.#keys.length - 1);
    else if (this.size > FEW) this.#places = this.#allPlaces();
  }

  /** Takes the oldest key, and what waits of it; nothing when none does. */
  shift(): { readonly key: string; readonly deltas: Delta<V>[] } | undefined {
    if (this.size === 0) return undefined;
    const key = this.#keys[this.#head];
    const deltas = this.#deltas[this.#head]!;
    this.#deltas[this.#head++] = undefined;
    if (this.#head === this.#keys.length) this.#clear();
    else {
      this.#places?.delete(key);
      if (this.#head >= 1_024 && 2 * this.#head >= this.#keys.length) this.#compact();
    }
    return { key, deltas };
  }

  /** All that waits, oldest first. */
  *[Symbol.iterator](): IterableIterator<[string, Delta<V>[]]> {
    for (let i = this.#head; i < this.#keys.length; i++) yield [this.#keys[i], this.#deltas[i]!];
  }

  #allPlaces(): Map<string, number> {
    const places = new Map<string, number>();
    for (let i = this.#head; i < this.#keys.length; i++) places.set(this.#keys[i], this.#base + i);
    return places;
  }

  #clear(): void {
    // A large array is let go; a small one is used again.
    if (this.#keys.length > 1_024) {
      this.#keys = [];
      this.#deltas = [];
    } else this.#keys.length = this.#deltas.length = 0;
    this.#head = this.#base = 0;
    this.#places = undefined;
  }

  /** Forgets the places of what has left, so that a queue that never runs empty does not grow. */
  #compact(): void {
    this.#keys.splice(0, this.#head);
    this.#deltas.splice(0, this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
