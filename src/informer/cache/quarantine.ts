import type { Entry } from "../../api/entry.ts";
import { DecodeError } from "../../api/errors.ts";
import type { FieldValue } from "../../api/field_values.ts";
import type { ObjectKey } from "../../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import { valuesAt } from "../../entry/values_at.ts";

/**
 * Reads objects for an informer's readers, and keeps account of those that cannot be read: each is reported once, and counted
 * while it is cached.
 */
export class Quarantine<T extends KubernetesObject> {
  /** Has a key if and only if reading its cached entry has failed. */
  readonly #broken = new Map<ObjectKey, DecodeError>();
  /** The errors that were reported. An entry throws the same error each time. */
  readonly #reported = new WeakSet<DecodeError>();
  readonly #report: (error: unknown) => void;
  readonly #isCached: (entry: Entry<T>) => boolean;

  /** Reports each broken entry to `report` once, and counts those for which `isCached` holds. */
  constructor(report: (error: unknown) => void, isCached: (entry: Entry<T>) => boolean) {
    this.#report = report;
    this.#isCached = isCached;
  }

  /** The number of cached objects that are known to be broken. */
  get size(): number {
    return this.#broken.size;
  }

  /** Returns the object. @throws {DecodeError} when it cannot be read. */
  objectOf(entry: Entry<T>): T {
    try {
      return entry.object;
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** Returns the metadata. @throws {DecodeError} when they cannot be read. */
  metadataOf(entry: Entry<T>): ObjectMeta {
    try {
      return entry.metadata;
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** Returns the labels. @throws {DecodeError} when they cannot be read. */
  labelsOf(entry: Entry<T>): Entry<T>["labels"] {
    try {
      return entry.labels;
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** Returns what the keys of a field path lead to. @throws {DecodeError} when the object cannot be read. */
  valuesOf(entry: Entry<T>, keys: readonly string[]): readonly FieldValue[] {
    try {
      return valuesAt(entry, keys);
    } catch (error) {
      this.take(entry, error);
      throw error;
    }
  }

  /** Records an entry that could not be read, because of `error`. */
  take(entry: Entry<T>, error: unknown): void {
    if (!(error instanceof DecodeError)) return;
    // An event may be about a state that is no longer cached.
    if (this.#isCached(entry)) this.#broken.set(entry.key, error);
    if (this.#reported.has(error)) return;
    this.#reported.add(error);
    this.#report(error);
  }

  /** Forgets a key, because the cache has another entry for it, or none. */
  release(key: ObjectKey): void {
    if (this.#broken.size > 0) this.#broken.delete(key);
  }
}
