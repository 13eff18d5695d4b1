/**
 * Prepares entries for the cache as they arrive: transforms, freezes, and parses where a program asks for it.
 *
 * {@linkcode EntryTransform} is the entry point. It recognizes its own entries, so a transform runs once for each
 * object that arrives. {@linkcode Quarantine} reports objects that cannot be read.
 *
 * @module
 */
import type { CacheEntry, Identity } from "../../api/entry.ts";
import { keyOf, type KubernetesObject, type ObjectKey, type Reduced, reduced } from "../../api/object.ts";
import { membersAt, parseFieldPath } from "../../api/selector.ts";
import { DecodeError } from "../../api/status.ts";
import { nextTurn } from "../../async/turns.ts";
import { brokenEntry } from "../../entry/entry.ts";
import { frozenEntry } from "../../entry/entry_around.ts";
import { ofEntries } from "../../entry/path.ts";
import type { SharedParts } from "../../entry/shared_parts.ts";
import { InformerError } from "../../errors/informer_error.ts";
import type { IndexFunction } from "../../store/value_index.ts";

/** Options for an {@linkcode EntryTransform}. */
export interface EntryTransformOptions<T extends KubernetesObject> {
  /** See `SharedIndexInformerOptions.transform`. */
  readonly transform?: (object: T) => T;
  /** Shares the parts of objects, which are frozen; `undefined` if they are not. See `CacheOptions.freeze`. */
  readonly parts: SharedParts | undefined;
  /** Receives errors of index functions. */
  readonly report: (error: unknown) => void;
}

/**
 * Prepares entries for the cache as they arrive, so that the commit of a list stays short: transforms, freezes, and
 * parses where all objects are read.
 */
export class EntryTransform<T extends KubernetesObject> {
  readonly #options: EntryTransformOptions<T>;
  /** `#made` has an entry if and only if {@linkcode apply} returned it for a transform; a source may yield it again. */
  readonly #made = new WeakSet<CacheEntry<T>>();
  /**
   * `#originals` has an entry if and only if a transform changed its key: the server's key. Created for the first one.
   */
  #originals: WeakMap<CacheEntry<T>, ObjectKey> | undefined;
  /** `#renamed` has those entries of `#originals` that are cached, by the server's key. */
  readonly #renamed = new Map<ObjectKey, CacheEntry<T>>();
  /** Parse objects as they arrive. Set if all of them will be read. */
  reads: boolean;

  constructor(options: EntryTransformOptions<T>, reads: boolean) {
    this.#options = options;
    this.reads = reads;
  }

  /**
   * Returns the entry to cache in place of `entry`. An entry that this method has returned before is returned
   * unchanged, so a transform runs once per arrived object. Does not throw: an entry that cannot be read or transformed
   * becomes broken.
   */
  apply(entry: CacheEntry<T>): CacheEntry<T> {
    const { transform, parts } = this.#options;
    if (transform !== undefined && this.#made.has(entry)) return entry;
    const changed = transform === undefined ? entry : this.#transformed(entry, transform);
    const taken = this.#read(parts === undefined ? changed : frozenEntry(changed, parts));
    if (transform !== undefined) this.#made.add(taken);
    if (taken.key !== entry.key) (this.#originals ??= new WeakMap()).set(taken, entry.key);
    return taken;
  }

  /**
   * Returns an entry to read an object as it arrived. It shares its parts with the cached entry if they can be shared.
   */
  arrived(entry: CacheEntry<T>): CacheEntry<T> {
    return this.#options.transform === undefined ? this.apply(entry) : entry;
  }

  /** `true` if objects are cached as they arrive, neither transformed nor frozen. */
  get isPlain(): boolean {
    return this.#options.transform === undefined && this.#options.parts === undefined;
  }

  /** Prepares an entry of a snapshot, which has been transformed before; {@linkcode apply} returns it unchanged. */
  restored(entry: CacheEntry<T>, originalKey: ObjectKey): CacheEntry<T> {
    const { transform, parts } = this.#options;
    const taken = this.#read(parts === undefined ? entry : frozenEntry(entry, parts));
    if (transform !== undefined) this.#made.add(taken);
    if (taken.key !== originalKey) (this.#originals ??= new WeakMap()).set(taken, originalKey);
    return taken;
  }

  /** Returns the server's key of an entry of {@linkcode apply}, if a transform changed it. */
  originalKey(entry: CacheEntry<T>): ObjectKey | undefined {
    return this.#originals?.get(entry);
  }

  /** Returns the key that the object of an entry of {@linkcode apply} has on the server. */
  serverKeyOf(entry: CacheEntry<T>): ObjectKey {
    return this.originalKey(entry) ?? entry.key;
  }

  /** Records that the cache stored an entry of {@linkcode apply}. */
  kept(entry: CacheEntry<T>): void {
    const original = this.#originals?.get(entry);
    if (original !== undefined) this.#renamed.set(original, entry);
  }

  /** As {@linkcode kept}, for many entries. */
  keptAll(entries: readonly CacheEntry<T>[]): void {
    if (this.#originals === undefined) return;
    for (const entry of entries) this.kept(entry);
  }

  /** Records that the cache removed an entry of {@linkcode apply}. */
  gone(entry: CacheEntry<T>): void {
    this.#options.parts?.deleted(entry.key);
    const original = this.#originals?.get(entry);
    if (original !== undefined && this.#renamed.get(original)?.key === entry.key) this.#renamed.delete(original);
  }

  /** Returns the key under which the server's object of `key` is cached, or `key` if it is not renamed. */
  cachedKeyOf(key: ObjectKey): ObjectKey {
    return this.#renamed.get(key)?.key ?? key;
  }

  /**
   * Returns an index function over entries. If `valuesOf` throws, the error is reported and the object has no index
   * values.
   */
  indexFunction(name: string, valuesOf: IndexFunction<T>): IndexFunction<CacheEntry<T>> {
    const ofEntry = ofEntries<T, unknown>(valuesOf);
    return (entry) => {
      try {
        const values = ofEntry(entry);
        if (Array.isArray(values)) return values;
        throw new TypeError(`it returned ${values === null ? "null" : typeof values} instead of an array of strings`);
      } catch (cause) {
        // An entry that cannot be read has the error from now on, so the index does not report it.
        if (cause !== entry.error) {
          this.#options.report(new InformerError(`Cannot add "${entry.key}" to index "${name}"`, { cause }));
        }
        return [];
      }
    };
  }

  /** Parses the object now if all objects are read. */
  #read(entry: CacheEntry<T>): CacheEntry<T> {
    if (!this.reads) return entry;
    try {
      void entry.object;
    } catch (cause) {
      if (!(cause instanceof DecodeError)) return this.#broken(entry, "read", cause);
      // The entry has the error from now on.
    }
    return entry;
  }

  /** Returns an entry of the transformed object and its key, with uid and version of the original. */
  #transformed(entry: CacheEntry<T>, transform: (object: T) => T): CacheEntry<T> {
    let object: T;
    try {
      object = entry.object;
    } catch (cause) {
      return this.#broken(entry, "read", cause);
    }
    try {
      object = markedAs(object, transform(object));
      const { name, namespace: given } = onlyMetadata(object);
      const namespace = given ?? "";
      const key = entry.name === name && entry.namespace === namespace ? entry.key : keyOf(object);
      return new ObjectEntry({ key, namespace, uid: entry.uid, resourceVersion: entry.resourceVersion }, object);
    } catch (cause) {
      return this.#broken(entry, "transform", cause);
    }
  }

  /** Returns a broken entry with `cause`, under the key that the object was cached with, if it was renamed. */
  #broken(entry: CacheEntry<T>, action: "read" | "transform", cause: unknown): CacheEntry<T> {
    const { key, namespace } = this.#renamed.get(entry.key) ?? entry;
    const error = action === "read" && cause instanceof DecodeError
      ? cause
      : new DecodeError(`Cannot ${action} "${entry.key}"`, { cause, key: entry.key });
    return brokenEntry<T>({ key, namespace, uid: entry.uid, resourceVersion: entry.resourceVersion }, error);
  }
}

/**
 * Returns the result of a transform, marked if its argument is: fields that a reduction left out are missing from both.
 */
function markedAs<T>(original: T, result: T): T {
  const mark = (original as Reduced)[reduced];
  if (mark === undefined || (result as Reduced | undefined)?.[reduced] === mark) return result;
  return { ...result, [reduced]: mark };
}

/** Returns the metadata of a transform's result. @throws {TypeError} if name or namespace is unusable. */
function onlyMetadata<T extends KubernetesObject>(object: T): Partial<T["metadata"]> {
  const metadata: { readonly name?: unknown; readonly namespace?: unknown } | undefined | null = object?.metadata;
  if (typeof metadata?.name !== "string" || metadata.name === "") {
    throw new TypeError("the result has no metadata.name");
  }
  if (typeof (metadata.namespace ?? "") !== "string") {
    throw new TypeError("the metadata.namespace of the result is not a string");
  }
  return object.metadata;
}

/** An entry of an object that the server has not sent so: of the result of a transform, or of a derivation. */
export class ObjectEntry<T extends KubernetesObject> implements CacheEntry<T> {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: T;

  constructor({ key, namespace, uid, resourceVersion }: Identity, object: T) {
    this.key = key;
    this.namespace = namespace;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.object = object;
  }

  get name(): string {
    return this.object.metadata.name;
  }

  get metadata(): T["metadata"] {
    return this.object.metadata;
  }

  get labels(): CacheEntry<T>["labels"] {
    return this.object.metadata.labels ?? undefined; // as Go
  }
}

/**
 * Reads objects for an informer's readers, and keeps account of those that cannot be read: each is reported once, and
 * counted while it is cached.
 */
export class Quarantine<T extends KubernetesObject> {
  /** Has a key if and only if reading its cached entry has failed. */
  readonly #broken = new Map<ObjectKey, DecodeError>();
  /** The errors that were reported. An entry throws the same error each time. */
  readonly #reported = new WeakSet<DecodeError>();
  readonly #report: (error: unknown) => void;
  readonly #isCached: (entry: CacheEntry<T>) => boolean;
  /** The name of the cluster, if the informer is of one of several. */
  readonly cluster: string | undefined;

  /** Reports each broken entry to `report` once, and counts those for which `isCached` holds. */
  constructor(report: (error: unknown) => void, isCached: (entry: CacheEntry<T>) => boolean, cluster?: string) {
    this.#report = report;
    this.#isCached = isCached;
    this.cluster = cluster;
  }

  /** The number of cached objects that are known to be broken. */
  get size(): number {
    return this.#broken.size;
  }

  /** Returns the object. @throws {DecodeError} when it cannot be read. */
  objectOf(entry: CacheEntry<T>): T {
    try {
      return entry.object;
    } catch (error) {
      this.add(entry, error);
      throw error;
    }
  }

  /** Returns what `of` reads of an entry. @throws {DecodeError} when it cannot be read. */
  read<R>(entry: CacheEntry<T>, of: (entry: CacheEntry<T>) => R): R {
    try {
      return of(entry);
    } catch (error) {
      this.add(entry, error);
      throw error;
    }
  }

  /** Returns the objects of selected entries that can be read. */
  objectsOf(entries: Iterable<CacheEntry<T>>, selects: (entry: CacheEntry<T>) => boolean = () => true): T[] {
    const objects: T[] = [];
    for (const entry of entries) {
      try {
        if (selects(entry)) objects.push(entry.object);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        this.add(entry, error);
      }
    }
    return objects;
  }

  /** Records an entry that could not be read, because of `error`. */
  add(entry: CacheEntry<T>, error: unknown): void {
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

/** So many entries are looked at in one turn: less than 1 ms. */
const TURN = 1_000;

/**
 * No cached object has some of the selected fields, so the paths may be wrong. Reported once, after the sync, by an
 * informer for a kind found by discovery.
 */
export class UnknownFieldsError extends InformerError {
  /** `"UnknownFieldsError"`. */
  override readonly name = "UnknownFieldsError";
  /** The paths without a value in any object. */
  readonly paths: readonly string[];

  /** Creates an error that names the resource and the paths. */
  constructor(resource: string, paths: readonly string[]) {
    super(
      `No cached object of "${resource}" has ${
        paths.map((path) => JSON.stringify(path)).join(" or ")
      }. Look for a mistake in ` +
        `the option fields, or ignore this error`,
    );
    this.paths = paths;
  }
}

/**
 * Returns the paths that lead to a value in none of the entries; none without entries. It parses few entries, in short
 * turns.
 */
export async function unknownFields(
  entries: Iterable<CacheEntry<unknown>>,
  paths: readonly string[],
): Promise<string[]> {
  const left = new Map(paths.map((path) => [path, parseFieldPath(path)]));
  let looked = 0;
  for (const entry of entries) {
    if (++looked % TURN === 0) await nextTurn();
    for (const [path, keys] of left) {
      if (mayHave(entry, keys) && membersAt(objectOf(entry), keys).length > 0) left.delete(path);
    }
    if (left.size === 0) break;
  }
  return looked === 0 ? [] : [...left.keys()];
}

/**
 * The text of an unread entry that does not have the last key has no such field: keys with escapes are parsed at once.
 */
function mayHave(entry: CacheEntry<unknown>, keys: readonly string[]): boolean {
  const { text } = entry as { readonly text?: unknown };
  return typeof text !== "string" || text.includes(JSON.stringify(keys[keys.length - 1]));
}

/** Returns the object; `undefined` if it cannot be read. */
export function objectOf(entry: CacheEntry<unknown>): unknown {
  try {
    return entry.object;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
