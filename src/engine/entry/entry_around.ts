/**
 * Entries around others, and the entries in them.
 *
 * {@linkcode frozenEntry} and {@linkcode entryWithin} are the entry points. Rows of tables, which are such entries too,
 * are in `row_entry.ts`. This file shares no parts between versions; `shared_parts.ts` does.
 *
 * @module
 */
import type { CacheEntry } from "../api/entry.ts";
import type { KubernetesObject, ObjectKey, ObjectMeta } from "../api/object.ts";
import type { FieldValue } from "../api/selector.ts";
import type { DecodeError } from "../api/status.ts";
import { JsonEntry, unreadText } from "./entry.ts";
import { valuesAt } from "./path.ts";
import { deepFreeze, type SharedParts } from "./shared_parts.ts";

/**
 * Returns an entry whose object, metadata and labels are frozen, deeply, when they are first read: writing to them
 * throws a `TypeError`. An unread entry is returned as it is, and shares its parts by `parts`. Others are wrapped.
 *
 * Freezing costs about a third of a parse, once per object that is read, and nothing for shared parts.
 */
export function frozenEntry<T extends KubernetesObject>(entry: CacheEntry<T>, parts: SharedParts): CacheEntry<T> {
  if (entry instanceof FrozenEntry) return entry;
  if (entry instanceof JsonEntry && entry.share(parts)) return entry;
  return new FrozenEntry(entry);
}

/** An entry around another one, of the same object. */
export abstract class EntryAround<T extends KubernetesObject, O> implements CacheEntry<O> {
  /** The entry inside. */
  readonly inner: CacheEntry<T>;
  /** See {@linkcode CacheEntry.key}. */
  readonly key: ObjectKey;
  /** See {@linkcode CacheEntry.namespace}. */
  readonly namespace: string;
  /** See {@linkcode CacheEntry.uid}. */
  readonly uid: string;
  /** See {@linkcode CacheEntry.resourceVersion}. */
  readonly resourceVersion: string;

  constructor(entry: CacheEntry<T>) {
    this.inner = entry;
    this.key = entry.key;
    this.namespace = entry.namespace;
    this.uid = entry.uid;
    this.resourceVersion = entry.resourceVersion;
  }

  abstract get object(): O;

  /** See {@linkcode CacheEntry.name}. */
  get name(): string {
    return this.inner.name;
  }

  /** See {@linkcode CacheEntry.error}. */
  get error(): DecodeError | undefined {
    return this.inner.error;
  }

  /** See {@linkcode CacheEntry.textBytes}: the number of the entry inside. */
  get textBytes(): number | undefined {
    return this.inner.textBytes;
  }

  /** See {@linkcode CacheEntry.savedBytes}. */
  get savedBytes(): number | undefined {
    return this.inner.savedBytes;
  }

  /** See {@linkcode CacheEntry.isParsed}. */
  get isParsed(): boolean | undefined {
    return this.inner.isParsed;
  }

  /** See {@linkcode CacheEntry.metadata}. */
  get metadata(): ObjectMeta {
    return this.inner.metadata;
  }

  /** See {@linkcode CacheEntry.labels}. */
  get labels(): CacheEntry<O>["labels"] {
    return this.inner.labels;
  }
}

/** An entry around an entry that was parsed before, or made of an object. */
class FrozenEntry<T extends KubernetesObject> extends EntryAround<T, T> {
  /** See {@linkcode JsonEntry.text}. */
  get text(): string | Uint8Array | undefined {
    return unreadText(this.inner);
  }

  /** The entry that this one freezes. */
  get unfrozen(): CacheEntry<T> {
    return this.inner;
  }

  override get metadata(): ObjectMeta {
    return deepFreeze(this.inner.metadata);
  }

  override get labels(): CacheEntry<T>["labels"] {
    return deepFreeze(this.inner.labels);
  }

  override get object(): T {
    return deepFreeze(this.inner.object);
  }

  /** See `valuesAt()`: strings need no freezing. */
  valuesAt(keys: readonly string[]): readonly FieldValue[] {
    return valuesAt(this.inner, keys);
  }
}

/** Returns the entry of an object itself: without its freezing, and for a row, the entry of the row's object. */
export function entryWithin(entry: CacheEntry<KubernetesObject>): CacheEntry<KubernetesObject> {
  return entry instanceof EntryAround ? entryWithin(entry.inner) : entry;
}
