import type { KnownObjects } from "../../queue/delta.ts";

/** The values that one namespace has brought into a shared store. A relist of the namespace deletes only keys of these. */
export class NamespaceKeys<V> implements KnownObjects<V> {
  readonly #store: Pick<KnownObjects<V>, "getByKey">;
  /** `#keys` has a key if and only if the store had it after its last change from this namespace. */
  readonly #keys = new Set<string>();
  /** `#revision` is the number of calls of {@linkcode touched} so far. */
  #revision = 0;

  /** No keys of the store at first. */
  constructor(store: Pick<KnownObjects<V>, "getByKey">) {
    this.#store = store;
  }

  /** The number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  /** A number that is another one after every change. */
  get revision(): number {
    return this.#revision;
  }

  keys(): Iterable<string> {
    return this.#keys;
  }

  getByKey(key: string): V | undefined {
    return this.#keys.has(key) ? this.#store.getByKey(key) : undefined;
  }

  /** Records that a change of `key` from this namespace has been applied to the store. */
  touched(key: string): void {
    this.#revision++;
    if (this.#store.getByKey(key) === undefined) this.#keys.delete(key);
    else this.#keys.add(key);
  }
}
