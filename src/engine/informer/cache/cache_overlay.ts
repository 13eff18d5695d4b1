/**
 * Objects that are read in place of the cached ones.
 *
 * {@linkcode CacheOverlay} is the entry point. A reconciler covers cached objects with the responses of its own writes,
 * until the cache has them. The cache itself does not change.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import { exactJson, keepLiterals } from "../../api/large_integers.ts";
import { type KubernetesObject, type ObjectKey, reduced } from "../../api/object.ts";
import { isCustom } from "../../api/resource.ts";
import { PassingMap } from "../../async/passing_map.ts";
import { monotonicMs } from "../../async/time.ts";
import { entryOf, NO_POSITION, unreadEntry } from "../../entry/entry.ts";
import { entryBytes } from "../../entry/entry_json.ts";
import type { CacheScope } from "./cache_scope.ts";
import type { EntryLister } from "./lister.ts";
import type { ObjectCache } from "./object_cache.ts";

/** How long an object is read in place of the cached one. */
export interface CoveringWrite {
  /** The time at which the cover ends in any case, of the monotonic clock. */
  readonly dueMs: number;
  /** Returns `true` once the cached object is to be read. It is asked at each read. */
  isOver(): boolean;
}

/** A cover, and its object. */
interface Covered<T> {
  readonly key: ObjectKey;
  readonly cover: CoveringWrite;
  /** The object as JSON, until it is first read; `undefined` if there is none. */
  text: string | undefined;
  /** The object in the form of the cached ones, once it was read. */
  entry: CacheEntry<T> | undefined;
}

/**
 * Reads a cache whose objects are covered by others, which are selected, reduced and transformed as the cached ones.
 * The cache itself, its handlers and its other readers know nothing of that. A read without covers costs the same.
 */
export class CacheOverlay<T extends KubernetesObject> {
  /** Reads what is covered, and the rest of the cache. */
  readonly lister: EntryLister<T>;
  readonly #cache: ObjectCache<T>;
  readonly #scope: CacheScope;
  /** By key, in the order in which they were set. */
  readonly #covered = new PassingMap<ObjectKey, Covered<T>>();

  /** Covers nothing yet. */
  constructor(cache: ObjectCache<T>, scope: CacheScope) {
    this.#cache = cache;
    this.#scope = scope;
    this.lister = cache.listerOf(this);
  }

  /** True if the objects have the managedFields of all managers, or of one manager. */
  get hasManagedFields(): boolean {
    return this.#scope.form.managedFields !== "drop";
  }

  /** The number of covers, which may be over. */
  get size(): number {
    return this.#covered.size;
  }

  /**
   * Covers an object with `object`, as the server has it, instead of an earlier cover. Without `object` there is none,
   * or none that the cache selects.
   *
   * The caller may change `object` later: what is read is its JSON text, which is parsed by the first read. Nothing is
   * covered if `object` does not have the form of the cached objects, for example because it is a subresource's.
   */
  cover(
    key: ObjectKey,
    cover: CoveringWrite,
    object?: KubernetesObject,
    text: string | undefined = object && exactJson(object),
  ): void {
    const nowMs = monotonicMs();
    for (let first = this.#covered.first; first !== undefined && first.cover.dueMs <= nowMs;) {
      this.#covered.delete(first.key);
      first = this.#covered.first;
    }
    if (object !== undefined && !this.#scope.forms(object)) return;
    this.#covered.set(key, { key, cover, text, entry: undefined });
  }

  /** The cover of a key, if it is not over. */
  coverOf(key: ObjectKey): CoveringWrite | undefined {
    return this.#live(key)?.cover;
  }

  /** Removes the cover of a key. */
  uncover(key: ObjectKey): void {
    this.#covered.delete(key);
  }

  /** As `ReadonlyIndexer.getByKey`. */
  getByKey(key: ObjectKey): CacheEntry<T> | undefined {
    const covered = this.#covered.size === 0 ? undefined : this.#at(key);
    return covered === undefined ? this.#cache.store.getByKey(key) : covered.entry;
  }

  /** As `ReadonlyIndexer.list`. */
  list(): CacheEntry<T>[] {
    return this.#over(this.#cache.store.list(), () => true);
  }

  /** As `ReadonlyIndexer.byIndex`. */
  byIndex(name: string, value: string): CacheEntry<T>[] {
    const { store } = this.#cache;
    return this.#over(store.byIndex(name, value), (entry) => store.indexValuesOf(name, entry).includes(value));
  }

  #over(cached: CacheEntry<T>[], selects: (entry: CacheEntry<T>) => boolean): CacheEntry<T>[] {
    if (this.#covered.size === 0) return cached;
    const covers = [...this.#covered].flatMap(([key]) => this.#at(key)?.entry ?? []);
    return [...cached.filter(({ key }) => this.#covered.get(key) === undefined), ...covers.filter(selects)];
  }

  /** The cover of a key, with its entry; forgets one that a transform has given another key. */
  #at(key: ObjectKey): Covered<T> | undefined {
    const covered = this.#live(key);
    if (covered?.text !== undefined) {
      const object = JSON.parse(covered.text) as T;
      const isOfCustomKind = isCustom(this.#scope.resource!); // without a resource, nothing has its form
      if (isOfCustomKind) keepLiterals(object, covered.text);
      covered.entry = this.#cache.entryTransform.apply(unread(this.#scope.formed(object), isOfCustomKind));
      covered.text = undefined;
    }
    if (covered?.entry === undefined || covered.entry.key === key) return covered;
    this.#covered.delete(key);
    return undefined;
  }

  /** The cover of a key; forgets one that is over. */
  #live(key: ObjectKey): Covered<T> | undefined {
    const covered = this.#covered.get(key);
    if (covered === undefined || (covered.cover.dueMs > monotonicMs() && !covered.cover.isOver())) return covered;
    this.#covered.delete(key);
    return undefined;
  }
}

/** Returns an entry of an object that shares its parts with the cached object when it is read. */
function unread<T extends KubernetesObject>(object: T, isOfCustomKind: boolean): CacheEntry<T> {
  const entry = entryOf(object);
  if (reduced in object) return entry; // its mark has no JSON
  const { text, metadataStart, metadataEnd } = entryBytes(entry);
  return unreadEntry<T>(entry, text, metadataStart, metadataEnd, NO_POSITION, NO_POSITION, isOfCustomKind);
}
