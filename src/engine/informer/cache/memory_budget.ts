/**
 * The limit of memory of a factory, `maxBytes`.
 *
 * {@linkcode MemoryBudget} is the entry point. Bytes are counted by each write, and a cache asks after the delivery of
 * a change, so it has nothing that was not delivered. A full cache fails its list or watch; the reflector then waits
 * for room before its back-off.
 *
 * @module
 */
import type { CacheEntry } from "../../api/entry.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { type Resource, resourceName } from "../../api/resource.ts";
import { MemoryLimitError } from "../../api/status.ts";
import { Latch } from "../../async/signals.ts";
import { TimeLimit } from "../../async/time.ts";
import { checkCounts } from "../../errors/checks.ts";
import { InformerError } from "../../errors/informer_error.ts";
import { internals } from "../../errors/internals.ts";
import type { Replacement } from "../../reflector/requests.ts";
import { bytesText, type FieldShare, heldBytes, largestFields } from "./memory_report.ts";
import type { ObjectCache } from "./object_cache.ts";

/** The share of the limit at which a warning is reported. */
const WARNED = 0.8;

/** With more than this part of the limit, lists become compact as they arrive. */
const SHORT = 4;

/** The share of the limit below which informers that have ended list again, and a next warning is possible. */
const ROOMY = 0.7;

/** The room for which a list waits that did not fit, as a multiple of what it had staged. */
const MORE = 1.1;

/** The number of caches in a warning. */
const MOST_CACHES = 3;

/**
 * The shortest wait before a list that did not fit begins again although no cache has made room for it, in
 * milliseconds: the collection may be smaller on the server by then. The longest is twice as long.
 */
const AGAIN_MS = 300_000;

/** The bytes that a cache holds, in a factory with `maxBytes`. */
export interface CountedBytes {
  /** This cache's bytes, including a list that is being read. */
  readonly bytes: number;
  /** The bytes of all caches in the factory. */
  readonly total: number;
  /** The factory's option `maxBytes`. */
  readonly maxBytes: number;
}

/** A cache in a {@linkcode MemoryWarning}. */
export interface LargeCache {
  /** The resource: `"pods"` or `"deployments.apps"`. */
  readonly resource: string;
  /** The number of objects. */
  readonly objects: number;
  /** The bytes that the cache holds. */
  readonly bytes: number;
  /** The largest fields, from a sample of objects: leave them out to save most. */
  readonly fields: readonly FieldShare[];
}

/**
 * The factory's caches hold 80 % of `maxBytes`. Reported to `onError`, and again after they have held less than 70 %.
 * See [Limit the memory of all caches](../../../../docs/guides/limit-memory.md).
 */
export class MemoryWarning extends InformerError {
  /** `"MemoryWarning"`. */
  override readonly name = "MemoryWarning";
  /** The bytes that the caches hold. */
  readonly bytes: number;
  /** The bytes that they may hold. */
  readonly maxBytes: number;
  /** The largest caches, the largest first. */
  readonly largest: readonly LargeCache[];

  /** Creates a warning that names the largest caches and their fields. */
  constructor(bytes: number, maxBytes: number, largest: readonly LargeCache[]) {
    const caches = largest.map(({ resource, bytes, fields }) => {
      const shares = fields.map(({ path, share }) => `${path} ${Math.round(share * 100)} %`);
      return `${resource} ${bytesText(bytes)}${shares.length === 0 ? "" : ` (${shares.join(", ")})`}`;
    });
    super(
      `The caches hold ${bytesText(bytes)}, ${Math.floor(bytes / maxBytes * 100)} % of maxBytes: ${
        caches.join(", ")
      }. ` +
        `Select only the fields that you read, select fewer objects, or raise maxBytes`,
    );
    this.bytes = bytes;
    this.maxBytes = maxBytes;
    this.largest = largest;
  }
}

/** A cache, as its budget sees it. */
type Counted = Pick<
  CountedCache<KubernetesObject>,
  "resource" | "bytes" | "large" | "compact" | "endSharing" | "mayShare"
>;

/** The bytes that all caches of a factory may hold. */
export class MemoryBudget {
  readonly #warn: (warning: MemoryWarning, resource: Resource) => void;
  readonly #caches = new Set<Counted>();
  #maxBytes = 0;
  /** The sum over `#caches`. */
  bytes = 0;
  /** True from a warning until the caches hold less than {@linkcode ROOMY}. */
  #isWarned = false;
  /** Notifies those that wait when the caches hold less, or may hold more. */
  readonly #room = new Latch();

  /** `warn` receives a warning, and the resource that grows. @throws {RangeError} as the setter of the limit. */
  constructor(maxBytes: number, warn: (warning: MemoryWarning, resource: Resource) => void) {
    this.maxBytes = maxBytes;
    this.#warn = warn;
  }

  /** The bytes that they may hold. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  /**
   * Changes them. Informers that have ended list again where there is room now.
   *
   * @throws {RangeError} when it is no whole number above 0.
   */
  set maxBytes(maxBytes: number) {
    checkCounts("limit the caches of a factory", { maxBytes }, { min: 1, infinite: true });
    this.#maxBytes = maxBytes;
    this.#endSharing();
    this.makeRoom();
  }

  /** Counts a cache until its disposal. */
  count<T extends KubernetesObject>(resource: Resource, cache: ObjectCache<T>): CountedCache<T> {
    const counted = new CountedCache<T>(this, resource, cache);
    this.#caches.add(counted);
    return counted;
  }

  /** Counts a cache no more, which has no bytes left. */
  forget(cache: Counted): void {
    this.#caches.delete(cache);
  }

  /** Resolves once the caches hold less than {@linkcode ROOMY}, and there is room for what `missing` returns, too. */
  async room(missing: () => number, signal: AbortSignal): Promise<void> {
    const hasRoom = (): boolean => this.bytes < ROOMY * this.#maxBytes && this.bytes + missing() < this.#maxBytes;
    while (!hasRoom()) await this.#room.wait({ signal });
  }

  /** Counts bytes that a cache holds more, or less. */
  changed(grown: number, by: Counted): void {
    this.bytes += grown;
    if (grown < 0) return this.makeRoom();
    if (this.bytes >= WARNED * this.#maxBytes) { for (const cache of this.#caches) cache.compact(); }
    this.#endSharing();
    if (this.#isWarned || this.bytes < WARNED * this.#maxBytes) return;
    this.#isWarned = true;
    const largest = [...this.#caches].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_CACHES)
      .filter(({ bytes }) => bytes > 0).map(({ large }) => large);
    this.#warn(new MemoryWarning(this.bytes, this.#maxBytes, largest), by.resource);
  }

  /** Gives up the texts of read objects when memory is short, before anything else is given up. */
  #endSharing(): void {
    if (this.bytes < WARNED * this.#maxBytes) return;
    for (const cache of this.#caches) this.bytes -= cache.endSharing();
    this.makeRoom();
  }

  /** Lets those that wait for room look whether there is some. */
  makeRoom(): void {
    if (this.bytes >= ROOMY * this.#maxBytes) return;
    this.#isWarned = false;
    for (const cache of this.#caches) cache.mayShare();
    this.#room.notify();
  }
}

/**
 * The bytes that one cache holds: its entries and indexes, and those of lists that are staged. What is written is
 * counted with the write, so that a count costs the same whatever the size of the cache.
 */
export class CountedCache<T extends KubernetesObject> implements Disposable {
  /** The resource. */
  readonly resource: Resource;
  readonly #budget: MemoryBudget;
  readonly #cache: ObjectCache<T>;
  /** The bytes as last counted. */
  bytes = 0;
  /** Those that are staged. */
  #staged = 0;
  /** The room that the last list that did not fit waits for; 0 once a list was committed, or may begin again. */
  #missing = 0;
  /** The part of a list that is being staged. */
  #arriving: readonly CacheEntry<T>[] = [];
  /** True if nothing is counted any more. */
  #isOver = false;

  /** Made by `MemoryBudget.count()`. */
  constructor(budget: MemoryBudget, resource: Resource, cache: ObjectCache<T>) {
    this.resource = resource;
    this.#budget = budget;
    this.#cache = cache;
    const recount = (): void => void this.#recount();
    if (cache.parts !== undefined) cache.parts.onKept = recount;
    const { compaction } = cache;
    if (compaction === undefined) return;
    compaction.onSaved = recount;
    compaction.isShort = () => budget.bytes > budget.maxBytes / SHORT;
    compaction.templates.onRead = (key) => {
      cache.store[internals].resized(key);
      recount();
    };
  }

  /** The bytes, for the status of the informer. */
  get counted(): CountedBytes {
    return { bytes: this.bytes, total: this.#budget.bytes, maxBytes: this.#budget.maxBytes };
  }

  /** The cache as a warning describes it. */
  get large(): LargeCache {
    const { size } = this.#cache.store;
    const entries = size === 0 ? this.#arriving : this.#cache.store.list();
    return { resource: resourceName(this.resource), objects: size, bytes: this.bytes, fields: largestFields(entries) };
  }

  /**
   * Counts what has been written since the last call.
   *
   * @throws {MemoryLimitError} when the cache has grown by a change of the watch, and the caches hold more than they
   * may.
   */
  wrote(by: "watch" | "list"): void {
    if (this.#recount() && by === "watch") throw this.#limitError("follow");
  }

  /**
   * Returns a replacement whose values are counted while they are staged.
   *
   * @throws {MemoryLimitError} by its `add`, when the caches and what is staged hold more than they may.
   */
  staging(replacement: Replacement<CacheEntry<T>> & { readonly bytes?: number }): Replacement<CacheEntry<T>> {
    let bytes = 0;
    const stage = (now: number): void => {
      this.#staged += now - bytes;
      bytes = now;
    };
    return {
      add: (entries) => {
        replacement.add(entries);
        stage(replacement.bytes ?? entries.reduce((sum, entry) => sum + heldBytes(entry), bytes));
        this.#arriving = entries;
        const isFull = this.#recount();
        this.#arriving = [];
        if (!isFull) return;
        this.#missing = MORE * this.#staged; // it would have staged more
        throw this.#limitError("list");
      },
      delete: (entry) => replacement.delete(entry),
      commit: (version) => {
        stage(0);
        this.#missing = 0;
        replacement.commit(version);
        this.#recount();
      },
      abandon: () => {
        stage(0);
        replacement.abandon();
        this.#recount();
      },
    };
  }

  /** Resolves once there is room for a list. One that did not fit waits for as much room, or five minutes at least. */
  async room(signal: AbortSignal): Promise<void> {
    const again = (): void => {
      this.#missing = 0;
      this.#budget.makeRoom();
    };
    using _again = new TimeLimit(again, this.#missing === 0 ? Infinity : AGAIN_MS * (1 + Math.random()));
    await this.#budget.room(() => this.#missing, signal);
  }

  /** Makes compact what can be. */
  compact(): void {
    this.#cache.compaction?.now();
  }

  /** Gives up the texts of read objects, so that versions share nothing. Returns their bytes. */
  endSharing(): number {
    const { parts } = this.#cache;
    if (parts === undefined) return 0;
    const before = this.bytes;
    parts.isOn = false;
    parts.clear();
    this.bytes = this.#held;
    return before - this.bytes;
  }

  /** Versions may share what has not changed. */
  mayShare(): void {
    if (this.#cache.parts !== undefined) this.#cache.parts.isOn = true;
  }

  /** Counts nothing any more, and gives all bytes back. The cache can still be read. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    const { parts, compaction } = this.#cache;
    if (parts !== undefined) parts.onKept = undefined;
    if (compaction !== undefined) compaction.onSaved = compaction.templates.onRead = undefined;
    this.#recount();
    this.#budget.forget(this);
  }

  /** Returns true if the cache has grown, and the caches hold more than they may. */
  #recount(): boolean {
    const before = this.bytes;
    this.bytes = this.#held;
    const grown = this.bytes - before;
    if (grown !== 0) this.#budget.changed(grown, this);
    return grown > 0 && this.#budget.bytes > this.#budget.maxBytes;
  }

  get #held(): number {
    const { store, parts, compaction } = this.#cache;
    if (this.#isOver) return 0;
    return store.bytes + this.#staged + (parts?.bytes ?? 0) + (compaction?.templates.bytes ?? 0);
  }

  #limitError(action: "follow" | "list"): MemoryLimitError {
    const { total, maxBytes } = this.counted;
    const resource = resourceName(this.resource);
    return new MemoryLimitError(
      `Cannot ${action} "${resource}": the caches of the factory hold more than maxBytes, ${
        bytesText(maxBytes)
      }. The ` +
        `cache is stale until they hold less than 70 % of that. Select only the fields that you read, select fewer ` +
        `objects, or raise maxBytes`,
      { resource, total, maxBytes },
    );
  }
}
