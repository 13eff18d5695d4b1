import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { ReadonlyIndexer } from "../../store/indexer.ts";
import type { Quarantine } from "./quarantine.ts";

/** An index over a cache of entries that returns objects: they are parsed as they are read, and lists leave out broken ones. */
export class ObjectIndexer<T extends KubernetesObject, Name extends string> implements ReadonlyIndexer<T, Name> {
  readonly #entries: ReadonlyIndexer<Entry<T>, Name>;
  readonly #quarantine: Quarantine<T>;

  constructor(entries: ReadonlyIndexer<Entry<T>, Name>, quarantine: Quarantine<T>) {
    this.#entries = entries;
    this.#quarantine = quarantine;
  }

  get size(): number {
    return this.#entries.size;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** @throws {DecodeError} when the object cannot be read. */
  getByKey(key: string): T | undefined {
    const entry = this.#entries.getByKey(key);
    return entry && this.#quarantine.objectOf(entry);
  }

  list(): T[] {
    return this.#objectsOf(this.#entries.list());
  }

  byIndex(name: Name, value: string): T[] {
    return this.#objectsOf(this.#entries.byIndex(name, value));
  }

  indexKeys(name: Name, value: string): string[] {
    return this.#entries.indexKeys(name, value);
  }

  indexValues(name: Name): string[] {
    return this.#entries.indexValues(name);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const entry of this.#entries) {
      const [object] = this.#objectsOf([entry]);
      if (object !== undefined) yield object;
    }
  }

  #objectsOf(entries: readonly Entry<T>[]): T[] {
    const objects: T[] = [];
    for (const entry of entries) {
      try {
        objects.push(entry.object);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        this.#quarantine.take(entry, error);
      }
    }
    return objects;
  }
}
