/**
 * When the texts of a cache become compact.
 *
 * {@linkcode Compaction} is the entry point: it holds texts compactly in idle turns, while a long list arrives, and at
 * once when memory is short. `entry/compact_text.ts` has the form.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import { IdleTurns } from "../../async/idle_turns.ts";
import { monotonicMs } from "../../async/time.ts";
import { JsonEntry } from "../../entry/entry.ts";
import { entryWithin } from "../../entry/entry_around.ts";
import type { SharedParts } from "../../entry/shared_parts.ts";
import { isGood, TextTemplates } from "../../entry/text_templates.ts";
import { internals } from "../../errors/internals.ts";
import type { Replacement } from "../../reflector/requests.ts";
import type { Indexer } from "../../store/indexer.ts";

/** The longest step of an idle turn, in milliseconds. */
const STEP_MS = 2;

/** So many bytes of text a list may have before its objects become compact as they arrive. */
const LONG_LIST = 67_108_864;

/** With more changed keys than this, all objects are looked at instead. */
const MOST_CHANGED = 10_000;

/** Makes the texts of one cache compact. */
export class Compaction<T extends KubernetesObject> implements Disposable {
  /** The templates of the cache. */
  readonly templates: TextTemplates = new TextTemplates();
  readonly #store: Indexer<CacheEntry<T>, string>;
  readonly #parts: SharedParts | undefined;
  readonly #step = (): boolean => this.#work(monotonicMs() + STEP_MS);
  #idle = new IdleTurns(this.#step);
  /** The number of lists that are being staged. */
  #staging = 0;
  /** The keys of objects to look at. */
  readonly #changed = new Set<ObjectKey>();
  /** The keys that are being looked at: {@linkcode #changed}, or all keys of the store. */
  #keys: Iterator<ObjectKey> | undefined;
  /** Called after texts became compact, in a cache whose bytes are counted. */
  onSaved: (() => void) | undefined;
  /** Returns `true` when memory is short: then lists become compact from their beginning. */
  isShort: () => boolean = () => false;

  constructor(store: Indexer<CacheEntry<T>, string>, parts: SharedParts | undefined) {
    this.#store = store;
    this.#parts = parts;
  }

  /** An object was stored. */
  changed(key: ObjectKey): void {
    if (this.#changed.size < MOST_CHANGED) this.#changed.add(key);
    else this.#lookAtAll();
    this.#idle.wake();
  }

  /** An entry is not in the store any more. */
  left(entry: CacheEntry<T>): void {
    const inner = entryWithin(entry);
    if (!(inner instanceof JsonEntry)) return;
    inner.release();
    this.templates.left(inner);
  }

  /** Returns a replacement whose values are compact once there are many. */
  staging(replacement: Replacement<CacheEntry<T>>): Replacement<CacheEntry<T>> {
    let bytes = 0;
    let isOver = false;
    this.#staging++;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      this.#staging--;
      this.templates.leftAll(); // some were staged and are not stored
      this.#lookAtAll();
      this.#idle.wake();
    };
    return {
      add: (entries) => {
        for (const entry of entries) {
          const inner = entryWithin(entry);
          if (!(inner instanceof JsonEntry) || inner.isParsed || this.#stored(inner)) continue;
          bytes += inner.textBytes ?? 0;
          if (bytes > LONG_LIST || this.isShort()) inner.compact(this.templates);
        }
        replacement.add(entries);
      },
      delete: (entry) => replacement.delete(entry),
      commit: (version) => {
        replacement.commit(version);
        end();
      },
      abandon: () => {
        replacement.abandon();
        end();
      },
    };
  }

  /** Makes compact what can be, at once. */
  now(): void {
    this.#work(Infinity);
  }

  /** Ends the work until another object is stored. The cache stays as it is. */
  [Symbol.dispose](): void {
    this.#idle[Symbol.dispose]();
    this.#idle = new IdleTurns(this.#step);
    this.#keys = undefined;
    this.#changed.clear();
  }

  #lookAtAll(): void {
    this.#changed.clear();
    this.#keys = this.#store.keys();
  }

  /** Returns `true` if there is more to do. */
  #work(untilMs: number): boolean {
    let entry: CacheEntry<T> | undefined;
    let isMore = true;
    while (isMore && (entry = this.#next()) !== undefined) {
      this.#make(entry);
      isMore = monotonicMs() < untilMs;
    }
    this.onSaved?.();
    return !isMore;
  }

  #next(): CacheEntry<T> | undefined {
    for (;;) {
      const { value: key, done } = (this.#keys ??= this.#changed.values()).next();
      if (done) {
        this.#keys = undefined;
        if (this.#changed.size > 0) continue;
        if (this.#staging === 0) this.templates.dropUnused();
        return undefined;
      }
      this.#changed.delete(key);
      const entry = this.#store.getByKey(key);
      if (entry !== undefined) return entry;
    }
  }

  #make(entry: CacheEntry<T>): void {
    const inner = entryWithin(entry);
    if (!(inner instanceof JsonEntry)) return;
    this.#parts?.compact(inner.key, this.templates); // also of a version before
    this.#hold(inner);
    const partner = this.templates.takePartner();
    if (partner instanceof JsonEntry && this.#stored(partner)) this.#hold(partner); // others are of a list
  }

  #hold(inner: JsonEntry<KubernetesObject>): void {
    if (!isGood(inner.savedBytes, inner.textBytes ?? 0) && inner.compact(this.templates)) {
      this.#store[internals].resized(inner.key);
    }
    inner.use();
  }

  #stored(inner: CacheEntry<unknown>): boolean {
    const stored = this.#store.getByKey(inner.key);
    return stored !== undefined && entryWithin(stored) === inner;
  }
}
