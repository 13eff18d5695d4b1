/**
 * A map for things that come and go, such as requests under way.
 *
 * {@linkcode PassingMap} is the entry point. It is a `Map` whose deleted values can be collected soon.
 *
 * @module
 */

/** The place of a value, which is empty once the value was deleted. */
interface Slot<V> {
  value: V | undefined;
}

/**
 * A long-lived map whose values come and go often.
 *
 * A `Map` that lives long keeps deleted values, and everything that they refer to, until V8 next collects the old
 * generation. (The table that a `Map` has outgrown refers to the next table, so an old one keeps all later ones.) With
 * hundreds of requests a second, that is tens of megabytes. This map lets go of a value when it is deleted.
 */
export class PassingMap<K, V extends object> {
  readonly #places = new Map<K, Slot<V>>();

  /** The number of values. */
  get size(): number {
    return this.#places.size;
  }

  /** Returns the value at `key`. */
  get(key: K): V | undefined {
    return this.#places.get(key)?.value;
  }

  /** Sets the value at `key`. It becomes the last one. */
  set(key: K, value: V): void {
    this.delete(key);
    this.#places.set(key, { value });
  }

  /** Deletes the value at `key`. Returns `true` if there was one. */
  delete(key: K): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    place.value = undefined;
    return this.#places.delete(key);
  }

  /** The value that was set first. */
  get first(): V | undefined {
    return this.#places.values().next().value?.value;
  }

  /** Calls `call` with each value, in the order in which they were set. Values may be deleted meanwhile. */
  forEach(call: (value: V) => void): void {
    this.#places.forEach(({ value }) => call(value!));
  }

  /** The values, in the order in which they were set. */
  *values(): IterableIterator<V> {
    for (const [, value] of this) yield value;
  }

  /** The keys and values, in the order in which they were set. Values may be deleted meanwhile. */
  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { value }] of this.#places) yield [key, value!];
  }
}
