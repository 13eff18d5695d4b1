import type { Entry } from "../api/entry.ts";
import type { Change } from "../api/lister_watcher.ts";
import { isOlder } from "../api/resource_version.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import type { LiveCounters } from "./counters.ts";
import type { ReflectorStore, Replacement } from "./reflector_store.ts";

/** Writes lists and changes into a store, and knows the version up to which the store has everything. */
export class SyncedStore<T> {
  readonly #store: ReflectorStore<Entry<T>>;
  readonly #counters: LiveCounters;
  readonly #report: (error: unknown) => void;
  /** The store has every change up to this version; `""` if and only if it has had no complete list. Set after each flush. */
  #version = "";

  /** Writes into `store`; calls `report` with the error of each object that has no key, and skips the object. */
  constructor(store: ReflectorStore<Entry<T>>, counters: LiveCounters, report: (error: unknown) => void) {
    this.#store = store;
    this.#counters = counters;
    this.#report = report;
  }

  /** The version up to which the store has everything; `""` before the first list. */
  get version(): string {
    return this.#version;
  }

  /** Begins to stage a list. */
  stage(): StagedList<T> {
    return new StagedList<T>(this.#store, this.#report, (version) => {
      this.#counters.completedLists++;
      this.#flush(version);
    });
  }

  /**
   * Applies one batch, and only then moves the version. Until a batch is `ordered`, its objects do not move it: a watch without
   * a version first sends the existing objects, in any order.
   */
  apply(batch: readonly Change<T>[], ordered: boolean): void {
    if (batch.length === 0) return;
    let seen = this.#version;
    for (const change of batch) {
      if (change.type === "BOOKMARK") {
        this.#counters.lastBookmarkAt = Date.now();
        // mutant: bookmark-keeps-version
        if (!isOlder(change.resourceVersion, seen)) seen = change.resourceVersion;
        continue;
      }
      this.#counters.events++;
      const { entry } = change;
      if (entry.key === "") this.#report(entry.error);
      else if (change.type === "ADDED") this.#store.add(entry);
      else if (change.type === "MODIFIED") this.#store.update(entry);
      else this.#store.delete(entry);
      const version = entry.resourceVersion;
      if (ordered && version !== "" && !isOlder(version, seen)) seen = version;
    }
    this.#flush(seen);
  }

  /** Re-delivers every cached object. Does nothing before the first list. */
  resync(): void {
    if (this.#version === "") return;
    this.#store.resync?.();
    this.#flush(this.#version);
  }

  #flush(version: string): void {
    this.#store.flush?.(version);
    this.#version = version;
  }
}

/** A list that is staged as it arrives. The store is unchanged until {@linkcode commit}; disposing abandons it before that. */
export class StagedList<T> implements Disposable {
  readonly #store: ReflectorStore<Entry<T>>;
  readonly #report: (error: unknown) => void;
  readonly #flush: (version: string) => void;
  /** The replacement under way; abandoned or committed exactly once. */
  #replacement: Replacement<Entry<T>>;
  /** True if and only if `#replacement` is committed. */
  #isCommitted = false;

  /** Begins a replacement of the contents of `store`. */
  constructor(
    store: ReflectorStore<Entry<T>>,
    report: (error: unknown) => void,
    flush: (version: string) => void,
  ) {
    this.#store = store;
    this.#report = report;
    this.#flush = flush;
    this.#replacement = store.replacing();
  }

  /** Abandons the objects staged so far, and starts a new replacement. */
  restart(): void {
    this.#replacement.abandon();
    this.#replacement = this.#store.replacing();
  }

  /** Stages objects; reports and skips those without a key. */
  add(entries: readonly Entry<T>[]): void {
    this.#replacement.add(entries.filter(this.#hasKey));
  }

  /** Removes an object that was staged. */
  delete(entry: Entry<T>): void {
    // mutant: deletion-before-end-dropped
    this.#replacement.delete(entry);
  }

  /** Replaces the contents of the store in one step. Returns the time that this took, in milliseconds. */
  commit(version: string): number {
    const beganMs = monotonicMs();
    this.#replacement.commit(version);
    this.#isCommitted = true;
    this.#flush(version);
    return monotonicMs() - beganMs;
  }

  /** Abandons the list unless it is committed. */
  [Symbol.dispose](): void {
    if (!this.#isCommitted) this.#replacement.abandon();
  }

  readonly #hasKey = (entry: Entry<T>): boolean => {
    if (hasNoKey(entry)) this.#report(entry.error);
    return !hasNoKey(entry);
  };
}

function hasNoKey(entry: Entry<unknown>): boolean {
  return entry.key === "";
}
