/**
 * The ranges of a shard, which come and go while a controller follows their objects.
 *
 * {@linkcode ChangingShard} is the entry point. A range that goes leaves the cache immediately. A range that comes is
 * listed before the next watch is opened, by `ArrivingParts` of the reflector.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import { defined } from "../../api/json.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import { type KubernetesObject, type ObjectKey, splitKey } from "../../api/object.ts";
import {
  commonRanges,
  hashesOf,
  type HashRange,
  rangesWithout,
  ShardFilter,
  type ShardSource,
} from "../../api/shard.ts";
import { isOlder } from "../../api/status.ts";
import { Latch } from "../../async/signals.ts";
import { LongTimer } from "../../async/time.ts";
import {
  type ArrivingParts,
  ListWatchWriter,
  LiveCounters,
  readPageList,
  type Replacement,
} from "../../reflector/requests.ts";

/** The time in which ranges that come one by one are gathered, to be listed together, in milliseconds. */
const GATHER_MS = 50;
/** The longest wait of a list for its first or next object, in milliseconds. */
const LIST_IDLE_MS = 70_000;

/** The part whose ranges change. */
interface Sharded<T extends KubernetesObject> {
  readonly source: ListerWatcher<T>;
  readonly known: { list(): readonly CacheEntry<T>[] };
  readonly gate: { readonly version: string };
  readonly pageSize: number;
  readonly check: { listing(): void } | undefined;
  cached(key: ObjectKey): CacheEntry<T> | undefined;
  serverKeyOf(entry: CacheEntry<T>): ObjectKey;
  /** Counts what is staged in a replacement, where the bytes of the cache are counted. */
  counted(replacement: Replacement<CacheEntry<T>>): Replacement<CacheEntry<T>>;
  /** Processes the state of an object that was listed beside the watch. */
  repair(entry: CacheEntry<T>): void;
  /** Removes a cached object as moved. */
  moved(entry: CacheEntry<T>): void;
  relist(reason: Error): void;
  /** Ends the watch, so that what is due is listed before it resumes. */
  renew(): void;
  report(error: unknown): void;
}

/**
 * The ranges of a shard that come and go while a part follows their objects.
 *
 * - A range that goes leaves at once: reads drop its objects from then on, and the cached ones are removed as moved.
 * - A range that comes ends the watch, at version W; it is listed alone, at V, which is not older, as the list is of
 *   the newest state and begins after the range was taken. The watch resumes from W with the new ranges, and its
 *   changes of the range up to V, which the list has, are dropped.
 * - A list of all takes the ranges that are held when it begins.
 */
export class ChangingShard<T extends KubernetesObject> implements ArrivingParts, Disposable {
  readonly #shard: ShardSource;
  readonly #filter: ShardFilter;
  readonly #part: Sharded<T>;
  #subscription: Disposable | undefined;
  readonly #gather: LongTimer = new LongTimer(() => this.#part.renew());
  /** The ranges that are being listed, or were last. */
  #listing: ShardFilter | undefined;
  /**
   * `"listing"` from the beginning of a list of all until its objects are cached: then the filter is ahead of them.
   * `"empty"` while the server does not have the kind, so that no range has objects.
   */
  #contents: "listing" | "cached" | "empty" = "listing";
  /** Notifies those that wait when the objects of more ranges are cached. */
  readonly #grown = new Latch();
  /** Ranges that were listed at a version that the watch has not reached. */
  #ahead: { readonly filter: ShardFilter; readonly version: string }[] = [];

  /** `filter`, which all reads of the part have, is kept at the ranges whose objects are cached. */
  constructor(shard: ShardSource, filter: ShardFilter, part: Sharded<T>) {
    this.#shard = shard;
    this.#filter = filter;
    this.#part = part;
  }

  /** Follows the changes of the ranges until it is disposed. */
  start(): this {
    this.#subscription = this.#shard.onChange!(() => this.changed());
    return this;
  }

  /** Resolves once the ranges are known, or the signal aborts. */
  async ready(options: Abortable): Promise<void> {
    try {
      await this.#shard.ready?.(options);
    } catch (error) {
      if (!options.signal?.aborted) throw error;
    }
  }

  /** `true` if there are ranges to be listed. */
  get isDue(): boolean {
    return this.#due.length > 0;
  }

  /** Takes all ranges, as a list of all begins. */
  listing(): void {
    this.#filter.ranges = this.#shard.ranges();
    this.#ahead = [];
    this.#contents = "listing";
  }

  /** Resolves once the objects of `ranges` are cached. They were listed after the ranges were taken. */
  async holding(ranges: readonly HashRange[], signal: AbortSignal): Promise<void> {
    const isCached = (): boolean => {
      return this.#contents === "cached" && rangesWithout(ranges, this.#filter.ranges).length === 0;
    };
    while (this.#contents !== "empty" && !isCached()) await this.#grown.wait({ signal });
  }

  /** Records that nothing is cached, as the server does not have the kind, or the part has ended. */
  emptied(): void {
    this.#contents = "empty";
    this.#grown.notify();
  }

  /** Lists the ranges that are due, and adds their objects. */
  async list(signal: AbortSignal): Promise<void> {
    const { source, pageSize, gate } = this.#part;
    const filter = this.#listing = new ShardFilter(this.#shard.by, this.#due);
    const [namespace] = this.#shard.namespaces?.().filter((name) => filter.hasText(name)) ?? [];
    // One at a time: each has a version of its own.
    if (namespace !== undefined) filter.ranges = commonRanges(filter.ranges, hashesOf(namespace));
    let objects: readonly CacheEntry<T>[] = [];
    const staged = writerOfLists<T>(
      (entries) => objects = entries,
      (error) => this.#part.report(error),
      (replacement) => this.#part.counted(replacement),
    );
    const range: ListerWatcher<T> = {
      shard: filter,
      listEntries: (options) => source.listEntries({ ...options, ...defined({ namespace }), shard: filter }),
      watchChanges: (options) => source.watchChanges(options),
    };
    const version = await readPageList(range, staged, { version: "", signal, pageSize, listIdleMs: LIST_IDLE_MS });
    if (isOlder(version, gate.version)) {
      const reason = `the server's history went back from version ${gate.version} to ${version}`;
      return this.#part.relist(new Error(`A new range needs a list: ${reason}`));
    }
    this.#ahead.push({ filter, version });
    this.#filter.ranges = [...this.#filter.ranges, ...filter.ranges];
    // A range that went meanwhile is no longer among those of the filter.
    for (const entry of objects) if (filter.has(entry)) this.#part.repair(entry);
    this.#grown.notify();
  }

  /** Returns `true` for a change of the watch that the list of its range has shown, or the list of its successor. */
  hasListed(entry: CacheEntry<T>): boolean {
    const { key, resourceVersion } = entry;
    return this.#ahead.some(({ filter, version }) => {
      if (isOlder(version, resourceVersion)) return false;
      if (filter.has(entry)) return true;
      const cached = this.#part.cached(key);
      return cached !== undefined && isOlder(resourceVersion, cached.resourceVersion) && filter.has(cached);
    });
  }

  /** Records that the cache has reached a version, by a list of all or by the watch. */
  reached(version: string): void {
    if (this.#contents !== "cached") {
      this.#contents = "cached";
      this.#grown.notify();
    }
    if (this.#ahead.length > 0 && this.#ahead.every((range) => !isOlder(version, range.version))) this.#ahead = [];
  }

  /** A replacement without the objects of ranges that go before its commit. */
  replacing(replacement: Replacement<CacheEntry<T>>): Replacement<CacheEntry<T>> {
    const staged: (readonly CacheEntry<T>[])[] = [];
    return {
      add: (entries) => {
        staged.push(entries);
        replacement.add(entries);
      },
      delete: (entry) => replacement.delete(entry),
      commit: (version) => {
        for (const entry of staged.flat()) if (!this.#filter.has(entry)) replacement.delete(entry);
        replacement.commit(version);
      },
      abandon: () => replacement.abandon(),
    };
  }

  /** Follows the ranges that are held now. */
  changed(): void {
    const held = this.#shard.ranges();
    this.#part.check?.listing(); // which compares with other ranges
    // What goes and comes again is listed again, also if it is being listed.
    for (const filter of [this.#listing, ...this.#ahead.map(({ filter }) => filter)]) {
      if (filter !== undefined) filter.ranges = commonRanges(filter.ranges, held);
    }
    const kept = commonRanges(this.#filter.ranges, held);
    const hasLost = rangesWithout(this.#filter.ranges, kept).length > 0;
    this.#filter.ranges = kept;
    if (hasLost) this.#remove();
    if (this.isDue && !this.#gather.isArmed) this.#gather.arm(GATHER_MS);
  }

  /** Follows no further change. */
  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
    this.#gather[Symbol.dispose]();
  }

  get #due(): ReturnType<ShardSource["ranges"]> {
    return rangesWithout(this.#shard.ranges(), this.#filter.ranges);
  }

  /** Removes the cached objects that are no longer in the ranges. */
  #remove(): void {
    for (const entry of this.#part.known.list()) {
      const { namespace = "" } = splitKey(this.#part.serverKeyOf(entry));
      const object = this.#filter.by === "controller" ? entry : { uid: entry.uid, namespace };
      if (!this.#filter.has(object)) this.#part.moved(entry);
    }
  }
}

/**
 * Returns a writer for lists that are read beside those of a reflector, which passes their objects on. `wrap` returns
 * the replacement that a list is staged in.
 */
export function writerOfLists<T>(
  commit: (entries: readonly CacheEntry<T>[]) => void,
  report: (error: unknown) => void,
  wrap: (replacement: Replacement<CacheEntry<T>>) => Replacement<CacheEntry<T>> = (replacement) => replacement,
): ListWatchWriter<T> {
  const unused = (): void => {
    throw new Error("Internal error: the writer of a range received a change, although ranges are only listed");
  };
  const store = {
    add: unused,
    update: unused,
    delete: unused,
    replacing: () => {
      const staged: (readonly CacheEntry<T>[])[] = [];
      return wrap({
        add: (entries: readonly CacheEntry<T>[]) => void staged.push(entries),
        delete: unused,
        commit: () => commit(staged.flat()),
        abandon: () => void (staged.length = 0),
      });
    },
  };
  return new ListWatchWriter<T>(store, new LiveCounters(), report);
}
