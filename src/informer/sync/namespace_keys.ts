import type { KnownObjects } from "../../queue/delta.ts";

/**
 * The values of a shared store that one part of a collection has brought.
 *
 * A queue that knows only these takes what a list of its part lacks for deleted, and nothing else.
 */
export class NamespaceKeys<V> implements KnownObjects<V> {
  readonly #store: Pick<KnownObjects<V>, "getByKey">;
  readonly #keys = new Set<string>();
  #revision = 0;

  /** None of the store's, at first. */
  constructor(store: Pick<KnownObjects<V>, "getByKey">) {
    this.#store = store;
  }

  /** How many they are. */
  get size(): number {
    return this.#keys.size;
  }

  /** Another number after every change. */
  get revision(): number {
    return this.#revision;
  }

  keys(): Iterable<string> {
    return this.#keys;
  }

  getByKey(key: string): V | undefined {
    return this.#keys.has(key) ? this.#store.getByKey(key) : undefined;
  }

  /** The part has said something about `key`, and the store has taken it. */
  touched(key: string): void {
    this.#revision++;
    if (this.#store.getByKey(key) === undefined) this.#keys.delete(key);
    else this.#keys.add(key);
  }
}
