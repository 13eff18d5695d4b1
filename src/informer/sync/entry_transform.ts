import { brokenEntry, type Entry, frozenEntry, type Identity } from "../../api/entry.ts";
import { DecodeError, messageOf } from "../../api/errors.ts";
import { keyOf, type ObjectKey } from "../../api/key.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { IndexFunction } from "../../store/index.ts";

/** What is done to entries before they are cached. */
export interface EntryTransformOptions<T extends KubernetesObject> {
  /** See `SharedIndexInformerOptions.transform`. */
  readonly transform?: (object: T) => T;
  /** See `CacheOptions.freeze`. */
  readonly freeze: boolean;
  /** Told of what an index function threw. */
  readonly report: (error: unknown) => void;
}

/** Prepares entries as they arrive, so that nothing long is left to do when a list is taken. */
export class EntryTransform<T extends KubernetesObject> {
  readonly #options: EntryTransformOptions<T>;
  /** What the transform has made, which a source may hand back in place of an equal arrival. */
  readonly #made = new WeakSet<Entry<T>>();
  /** The server's keys of entries that a transform has given another; none before the first. */
  #originals: WeakMap<Entry<T>, ObjectKey> | undefined;
  /** Those of them that are cached, by the server's key. */
  readonly #renamed = new Map<ObjectKey, Entry<T>>();
  /** Whether objects are parsed as they arrive: somebody reads all of them anyway. */
  reads: boolean;

  constructor(options: EntryTransformOptions<T>, reads: boolean) {
    this.#options = options;
    this.reads = reads;
  }

  /**
   * The entry to cache in place of `entry`; an entry that this method has returned is returned as it is, so that a transform
   * runs once per arrived object. Does not throw: what can not be read or transformed is broken from now on.
   */
  take(entry: Entry<T>): Entry<T> {
    const { transform, freeze } = this.#options;
    if (transform !== undefined && this.#made.has(entry)) return entry;
    const changed = transform === undefined ? entry : this.#transformed(entry, transform);
    const taken = this.#read(freeze ? frozenEntry(changed) : changed);
    if (transform !== undefined) this.#made.add(taken);
    if (taken.key !== entry.key) (this.#originals ??= new WeakMap()).set(taken, entry.key);
    return taken;
  }

  /** The cache has taken an entry that {@linkcode take} made. */
  kept(entry: Entry<T>): void {
    const original = this.#originals?.get(entry);
    if (original !== undefined) this.#renamed.set(original, entry);
  }

  /** As {@linkcode kept}, of all that the cache has taken at once. */
  keptAll(entries: readonly Entry<T>[]): void {
    if (this.#originals === undefined) return;
    for (const entry of entries) this.kept(entry);
  }

  /** The cache has let go of an entry that {@linkcode take} made. */
  gone(entry: Entry<T>): void {
    const original = this.#originals?.get(entry);
    if (original !== undefined && this.#renamed.get(original)?.key === entry.key) this.#renamed.delete(original);
  }

  /** An index function over entries: what `valuesOf` throws is reported, and files the object under nothing. */
  indexFunction(name: string, valuesOf: IndexFunction<T>): IndexFunction<Entry<T>> {
    return (entry) => {
      if (entry.error !== undefined) return [];
      let object: T;
      try {
        object = entry.object;
      } catch (error) {
        // Not the index's fault; the entry says so itself from now on.
        if (error instanceof DecodeError) return [];
        throw error;
      }
      try {
        const values: unknown = valuesOf(object);
        if (Array.isArray(values)) return values;
        throw new TypeError(`it returned ${values === null ? "null" : typeof values}, expected an array of strings`);
      } catch (cause) {
        const message = `Cannot file "${entry.key}" in index "${name}": ${messageOf(cause)}`;
        this.#options.report(new Error(message, { cause }));
        return [];
      }
    };
  }

  /** Parses now what would be parsed later, if all objects are read. */
  #read(entry: Entry<T>): Entry<T> {
    if (!this.reads) return entry;
    try {
      void entry.object;
    } catch (cause) {
      if (!(cause instanceof DecodeError)) return this.#broken(entry, "read", cause);
      // The entry has the error from now on.
    }
    return entry;
  }

  /** The transformed object, filed as what it is now, at the version it was. */
  #transformed(entry: Entry<T>, transform: (object: T) => T): Entry<T> {
    let object: T;
    try {
      object = entry.object;
    } catch (cause) {
      return this.#broken(entry, "read", cause);
    }
    try {
      object = transform(object);
      const { name, namespace } = metadataOf(object);
      if (entry.name === name && entry.namespace === (namespace ?? "")) {
        return new TransformedEntry(entry, entry.key, object);
      }
      return new TransformedEntry(entry, keyOf(object), object);
    } catch (cause) {
      return this.#broken(entry, "transform", cause);
    }
  }

  /** An entry that is broken because of `cause`, under the key that its object has been given before. */
  #broken(entry: Entry<T>, action: "read" | "transform", cause: unknown): Entry<T> {
    const { key, namespace } = this.#renamed.get(entry.key) ?? entry;
    const error = action === "read" && cause instanceof DecodeError
      ? cause
      : new DecodeError(`Cannot ${action} "${entry.key}": ${messageOf(cause)}`, { cause, key: entry.key });
    return brokenEntry<T>({ key, namespace, uid: entry.uid, resourceVersion: entry.resourceVersion }, error);
  }
}

/** The metadata of what a transform has returned. @throws {TypeError} when it cannot be filed. */
function metadataOf<T extends KubernetesObject>(object: T): Partial<T["metadata"]> {
  const metadata: { readonly name?: unknown; readonly namespace?: unknown } | undefined | null = object?.metadata;
  if (typeof metadata?.name !== "string" || metadata.name === "") {
    throw new TypeError("the result has no metadata.name");
  }
  if (typeof (metadata.namespace ?? "") !== "string") {
    throw new TypeError("the result has a metadata.namespace that is no string");
  }
  return object.metadata;
}

/** What a transform made: its own object and key, the uid and version of what it was made from. */
class TransformedEntry<T extends KubernetesObject> implements Entry<T> {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: T;

  constructor(original: Identity, key: ObjectKey, object: T) {
    this.key = key;
    this.namespace = object.metadata.namespace ?? "";
    this.uid = original.uid;
    this.resourceVersion = original.resourceVersion;
    this.object = object;
  }

  get name(): string {
    return this.object.metadata.name;
  }

  get metadata(): T["metadata"] {
    return this.object.metadata;
  }

  get labels(): Entry<T>["labels"] {
    return this.object.metadata.labels ?? undefined;
  }

  get error(): undefined {
    return undefined;
  }
}
