/**
 * The keys of one of several namespaces in a shared store.
 *
 * {@linkcode NamespaceKeys} is the entry point. It does not write to the store.
 *
 * @module
 */
import type { KnownObjects } from "../../queue/delta_fifo.ts";

/**
 * The values that one namespace has brought into a shared store. A relist of the namespace deletes only keys of these.
 */
export class NamespaceKeys<V> implements KnownObjects<V> {
  /** The namespace's name. */
  readonly namespace: string;
  readonly #store: Pick<KnownObjects<V>, "getByKey">;
  /** `#keys` has a key if and only if the store had it after its last change from this namespace. */
  readonly #keys = new Set<string>();
  /** Another number after every change: the number of calls of {@linkcode touched} so far. */
  revision = 0;

  /** No keys of the store at first. */
  constructor(namespace: string, store: Pick<KnownObjects<V>, "getByKey">) {
    this.namespace = namespace;
    this.#store = store;
  }

  /** The number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  keys(): Iterable<string> {
    return this.#keys;
  }

  /** The values of the keys. */
  list(): V[] {
    return Array.from(this.#keys, (key) => this.#store.getByKey(key)!);
  }

  getByKey(key: string): V | undefined {
    return this.#keys.has(key) ? this.#store.getByKey(key) : undefined;
  }

  /** Records that a change of `key` from this namespace has been applied to the store. */
  touched(key: string): void {
    this.revision++;
    if (this.#store.getByKey(key) === undefined) this.#keys.delete(key);
    else this.#keys.add(key);
  }
}
