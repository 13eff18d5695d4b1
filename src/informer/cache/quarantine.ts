import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";

/**
 * Through which an informer's readers read objects, so that one that cannot be read is known, counted and reported once,
 * whoever came across it.
 */
export class Quarantine<T extends KubernetesObject> {
  readonly #broken = new Map<ObjectKey, DecodeError>();
  readonly #reported = new WeakSet<DecodeError>();
  readonly #report: (error: unknown) => void;
  readonly #isCached: (entry: Entry<T>) => boolean;

  /** Broken entries are reported to `report`, each once; those that `isCached` are counted. */
  constructor(report: (error: unknown) => void, isCached: (entry: Entry<T>) => boolean) {
    this.#report = report;
    this.#isCached = isCached;
  }

  /** How many cached objects are known to be broken. */
  get size(): number {
    return this.#broken.size;
  }

  /** The object. @throws {DecodeError} */
  objectOf(entry: Entry<T>): T {
    try {
      return entry.object;
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** The metadata. @throws {DecodeError} */
  metadataOf(entry: Entry<T>): ObjectMeta {
    try {
      return entry.metadata;
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** The labels. @throws {DecodeError} */
  labelsOf(entry: Entry<T>): Entry<T>["labels"] {
    try {
      return entry.labels;
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** Takes note of an entry that could not be read. */
  take(entry: Entry<T>, error: unknown): void {
    if (!(error instanceof DecodeError)) return;
    // An event may be about a state that the cache has left behind.
    if (this.#isCached(entry)) this.#broken.set(entry.key, error);
    if (this.#reported.has(error)) return;
    this.#reported.add(error);
    this.#report(error);
  }

  /** The cache has another entry for the key now, or none. */
  release(key: ObjectKey): void {
    if (this.#broken.size > 0) this.#broken.delete(key);
  }
}
