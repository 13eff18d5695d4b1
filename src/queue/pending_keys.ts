import type { Delta } from "./delta.ts";

/** Up to so many keys are searched one by one, which is faster than a Map that they enter and leave. */
const FEW = 4;

/** Up to this many keys that have left stay in the arrays. */
const MANY = 1_024;

/** The keys of a queue and the deltas of each, in the order in which keys were added. */
export class PendingKeys<V> {
  /** `#keys` has the pending keys from `#head` on, oldest first; before `#head`, keys that have left. */
  readonly #keys: string[] = [];
  /** `#deltas[i]` has the deltas of `#keys[i]`; `undefined` if and only if the key has left (i < `#head`). */
  readonly #deltas: (Delta<V>[] | undefined)[] = [];
  /** `#head` is the index of the oldest key; the arrays' length if nothing is pending, and both are 0 then. */
  #head = 0;
  /**
   * `#places` has `#base` + the last index of each pending key. It is defined from a look-up among more than {@linkcode FEW}
   * keys until nothing is pending.
   */
  #places: Map<string, number> | undefined;
  /** `#base` is the number of keys that have been removed from the front of the arrays since the queue was last empty. */
  #base = 0;

  /** The number of pending keys. */
  get size(): number {
    return this.#keys.length - this.#head;
  }

  /** The deltas of a pending key, oldest first. */
  get(key: string): readonly Delta<V>[] | undefined {
    return this.#find(key);
  }

  /** The key is pending. */
  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** Adds a key that is not pending. */
  add(key: string, delta: Delta<V>): void {
    this.#keys.push(key);
    this.#deltas.push([delta]);
    this.#places?.set(key, this.#base + this.#keys.length - 1);
  }

  /** Appends a delta to those of its key, pending or not. Of two deletions in a row, one that saw the final state is kept. */
  append(key: string, delta: Delta<V>): void {
    const deltas = this.#find(key);
    if (deltas === undefined) return this.add(key, delta);
    const last = deltas[deltas.length - 1];
    if (last.type !== "Deleted" || delta.type !== "Deleted") {
      deltas.push(delta);
    } else if (last.finalStateUnknown && !delta.finalStateUnknown) deltas[deltas.length - 1] = delta;
  }

  /** The oldest pending key. */
  get oldest(): string | undefined {
    return this.size === 0 ? undefined : this.#keys[this.#head];
  }

  /** Removes the oldest key and returns its deltas. Call it only while a key is pending. */
  shift(): Delta<V>[] {
    const deltas = this.#deltas[this.#head]!;
    this.#deltas[this.#head++] = undefined;
    // Its place in the Map is dropped with all others later: a Map that keys leave one by one is rebuilt again and again.
    if (this.#head === this.#keys.length) this.#clear();
    else if (this.#head >= MANY && 2 * this.#head >= this.#keys.length) this.#compact();
    return deltas;
  }

  /** All pending keys and their deltas, oldest key first. */
  *[Symbol.iterator](): IterableIterator<[string, readonly Delta<V>[]]> {
    for (let i = this.#head; i < this.#keys.length; i++) yield [this.#keys[i], this.#deltas[i]!];
  }

  #find(key: string): Delta<V>[] | undefined {
    // survives: places-of-many
    if (this.#places === undefined && this.size > FEW) this.#places = this.#allPlaces();
    if (this.#places !== undefined) { // survives: places-of-many
      const place = this.#places.get(key);
      // The Map may still have the place of a key that has left: it lies before the oldest.
      // survives: places-of-many
      return place === undefined ? undefined : this.#deltas[place - this.#base];
    }
    for (let i = this.#head; i < this.#keys.length; i++) if (this.#keys[i] === key) return this.#deltas[i];
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

  /** Removes keys that have left from the arrays and the Map, so that a queue that never runs empty does not grow. */
  #compact(): void {
    if (this.#places !== undefined) {
      for (let i = 0; i < this.#head; i++) {
        // The Map has a later place if the key is pending again.
        if (this.#places.get(this.#keys[i]) === this.#base + i) this.#places.delete(this.#keys[i]);
      }
    }
    this.#keys.splice(0, this.#head);
    this.#deltas.splice(0, this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}
