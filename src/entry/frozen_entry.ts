import type { Entry } from "../api/entry.ts";
import { DecodeError } from "../api/errors.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject, ObjectMeta } from "../api/object.ts";
import type { FieldValue } from "../api/field_values.ts";
import { brokenEntry } from "./json_entry.ts";
import { valuesAt } from "./values_at.ts";

/**
 * Wraps an entry so that its object, metadata and labels are frozen, deeply, when they are first read: writing to them
 * throws a `TypeError`. A frozen entry is returned as it is.
 *
 * Freezing costs about a third of a parse, once per object that is read. An object that cannot be frozen, such as one
 * that holds a typed array, makes the entry broken.
 */
export function frozenEntry<T extends KubernetesObject>(entry: Entry<T>): Entry<T> {
  return entry instanceof FrozenEntry ? entry : new FrozenEntry(entry);
}

class FrozenEntry<T extends KubernetesObject> implements Entry<T> {
  /** The entry that was given if no read has failed to freeze; else a broken entry with the error of that read. */
  #entry: Entry<T>;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;

  constructor(entry: Entry<T>) {
    this.#entry = entry;
    this.key = entry.key;
    this.namespace = entry.namespace;
    this.uid = entry.uid;
    this.resourceVersion = entry.resourceVersion;
  }

  get name(): string {
    return this.#entry.name;
  }

  /** As that of a `JsonEntry`. */
  get text(): string | Uint8Array | undefined {
    return (this.#entry as { readonly text?: string | Uint8Array }).text;
  }

  /** The entry that this one freezes. */
  get unfrozen(): Entry<T> {
    return this.#entry;
  }

  get error(): DecodeError | undefined {
    return this.#entry.error;
  }

  get textBytes(): number | undefined {
    return this.#entry.textBytes;
  }

  get isParsed(): boolean | undefined {
    return this.#entry.isParsed;
  }

  get metadata(): ObjectMeta {
    return this.#frozen(this.#entry.metadata);
  }

  get labels(): Entry<T>["labels"] {
    return this.#frozen(this.#entry.labels);
  }

  get object(): T {
    return this.#frozen(this.#entry.object);
  }

  /** See `valuesAt()`: strings need no freezing. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    return valuesAt(this.#entry, keys);
  }

  /** Freezes a value that was read; makes this entry broken when that fails. */
  #frozen<V>(value: V): V {
    try {
      return deepFreeze(value);
    } catch (cause) {
      const error = new DecodeError(`Cannot freeze "${this.key}"`, { cause, key: this.key });
      this.#entry = brokenEntry<T>(this, error);
      throw error;
    }
  }
}

/** Freezes a value and all parts of it. Does not recurse: an object may be nested deeper than the stack allows. */
function deepFreeze<V>(value: V): V {
  if (!canFreeze(value)) return value;
  const found: object[] = [value];
  for (let next = found.pop(); next !== undefined; next = found.pop()) {
    Object.freeze(next);
    for (const part of Object.values(next)) if (canFreeze(part)) found.push(part);
  }
  return value;
}

function canFreeze(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Object.isFrozen(value);
}
