import type { Delta } from "./delta.ts";

/** Up to so many keys are looked for one by one, which is faster than a Map that they enter and leave. */
const FEW = 4;

/** What waits, by key, in the order in which keys came. */
export class PendingKeys<V> {
  readonly #keys: string[] = [];
  readonly #deltas: (Delta<V>[] | undefined)[] = [];
  /** The place of the oldest key. */
  #head = 0;
  /** Places by key, once one of more than a few is looked for; counted from the first key since the queue was last empty. */
  #places: Map<string, number> | undefined;
  #base = 0;

  /** How many keys wait. */
  get size(): number {
    return this.#keys.length - this.#head;
  }

  /** What waits of a key; yours to add to. */
  get(key: string): Delta<V>[] | undefined {
    // survives: places-of-many
    if (this.#places === undefined && this.size > FEW) this.#places = this.#allPlaces();
    if (this.#places !== undefined) { // survives: places-of-many
      const place = this.#places.get(key);
      // Of a key that has left, the place may still be there: it lies before the oldest.
      // survives: places-of-many
      return place === undefined ? undefined : this.#deltas[place - this.#base];
    }
    for (let i = this.#head; i < this.#keys.length; i++) if (this.#keys[i] === key) return this.#deltas[i];
  }

  /** Whether something waits of a key. */
  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds a key that does not wait. */
  add(key: string, delta: Delta<V>): void {
    this.#keys.push(key);
    this.#deltas.push([delta]);
    this.#places?.set(key, this.#base + this.#keys.length - 1);
  }

  /** The oldest key, if any waits. */
  get oldest(): string | undefined {
    return this.size === 0 ? undefined : this.#keys[this.#head];
  }

  /** Takes the oldest key: what waits of it. Only while something waits. */
  shift(): Delta<V>[] {
    const deltas = this.#deltas[this.#head]!;
    this.#deltas[this.#head++] = undefined;
    // Its place in the Map is forgotten with all others: a Map that keys leave one by one is made anew again and again.
    if (this.#head === this.#keys.length) this.#clear();
    else if (this.#head >= 1_024 && 2 * this.#head >= this.#keys.length) this.#compact();
    return deltas;
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
    this.#keys.length = this.#deltas.length = 0;
    this.#head = this.#base = 0;
    this.#places = undefined;
  }

  /** Forgets the places of what has left, so that a queue that never runs empty does not grow. */
  #compact(): void {
    if (this.#places !== undefined) {
      for (let i = 0; i < this.#head; i++) {
        // Unless it waits again, at a later place.
        if (this.#places.get(this.#keys[i]) === this.#base + i) this.#places.delete(this.#keys[i]);
      }
    }
    this.#keys.splice(0, this.#head);
    this.#deltas.splice(0, this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
