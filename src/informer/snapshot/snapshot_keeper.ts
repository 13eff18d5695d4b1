import type { Abortable } from "../../api/options.ts";
import { isOlder } from "../../api/resource_version.ts";
import type { SnapshotStore } from "../../api/snapshot_store.ts";
import { DerivedController } from "../../async/derived_controller.ts";
import { LongTimer } from "../../async/time/long_timer.ts";
import { monotonicMs } from "../../async/time/monotonic_ms.ts";
import { InformerError } from "../../errors/informer_error.ts";
import type { SnapshotOptions } from "./snapshot_options.ts";

/** The members of an informer that a {@linkcode SnapshotKeeper} uses. */
export interface KeptCache {
  /** `true` once the cache has been equal to the server. */
  readonly hasSynced: boolean;
  /** Lists and watches until the signal aborts or the informer is stopped. */
  run(options: Abortable): Promise<void>;
  /** Returns the state and version of the cache, and counts of all that changes it. */
  status(): CacheChanges & { readonly state: string };
  /** Returns the cache as bytes. */
  snapshot(options: SnapshotOptions): AsyncIterable<Uint8Array>;
  /** Fills the cache. */
  restore(snapshot: AsyncIterable<Uint8Array>, options: SnapshotOptions): Promise<void>;
}

/** The version of a cache, and counts of all that changes it. */
interface CacheChanges {
  readonly resourceVersion: string;
  /** The number of changes received. */
  readonly events: number;
  /** The number of lists that have replaced its contents. */
  readonly completedLists: number;
  /** The number of differences that checks have repaired. */
  readonly differences: number;
}

/** Options of a {@linkcode SnapshotKeeper}. */
export interface SnapshotKeeperOptions extends SnapshotOptions {
  /** The place of the snapshots. */
  readonly store: SnapshotStore;
  /** The name of the snapshot there. */
  readonly name: string;
  /** The time between two snapshots, in milliseconds; `Infinity` writes only at the end. */
  readonly everyMs: number;
  /** The longest wait for the last snapshot to be written, in milliseconds; `Infinity` waits until it is. */
  readonly graceMs: number;
  /** Receives errors of reading and writing. */
  readonly report: (error: unknown) => void;
}

/** The longest wait for a snapshot at the start, in milliseconds. A list may take less. */
const RESTORE_MS = 10_000;

/**
 * The age of a snapshot at which it is written again although bookmarks alone have come since, in milliseconds: a server keeps
 * the versions of 5 minutes.
 */
const BOOKMARKS_MS = 240_000;

/** Restores the cache of one informer from its snapshot, and writes the snapshot while and after the informer runs. */
export class SnapshotKeeper {
  readonly #cache: KeptCache;
  readonly #options: SnapshotKeeperOptions;
  readonly #timer = new LongTimer(() => void this.#tick());
  /** The state of the cache that the store has, as far as this process knows, and the monotonic time at which it was written. */
  #kept = { resourceVersion: "", events: 0, completedLists: 0, differences: 0, atMs: -Infinity };
  /** `true` if and only if the snapshot of the store cannot be used, however new it is. */
  #isUseless = false;
  /** `true` while the informer runs. */
  #isRunning = false;
  /** The last write that the timer began. */
  #writing: Promise<void> | undefined;
  /** Set by the first {@linkcode end}. */
  #ended: Promise<void> | undefined;
  /** Ends the wait for the snapshot at the start. */
  readonly #abandoned = Promise.withResolvers<void>();

  /** Does nothing before {@linkcode run}. */
  constructor(cache: KeptCache, options: SnapshotKeeperOptions) {
    this.#cache = cache;
    this.#options = options;
  }

  /** Runs the informer, from its snapshot and to its next one, unless it is stopped before it has the former. */
  async run(options: Abortable): Promise<void> {
    using stop = new DerivedController(options.signal);
    stop.signal.addEventListener("abort", () => this.abandon(), { once: true });
    if (!stop.signal.aborted) await this.#begin();
    if (this.#cache.status().state === "stopped") return;
    this.#isRunning = true;
    this.#timer.arm(this.#options.everyMs);
    try {
      await this.#cache.run(options);
    } finally {
      await this.end();
    }
  }

  /** Ends the wait for the snapshot at the start. */
  abandon(): void {
    this.#abandoned.resolve();
  }

  /** Restores the cache, if the store has a snapshot that can be used; else it stays empty, and the reason is reported. */
  async #begin(): Promise<void> {
    const { name, report } = this.#options;
    const late = new LongTimer(() => {
      report(new InformerError(`Cannot restore "${name}": its snapshot has not come within ${RESTORE_MS / 1_000} s`));
      this.abandon();
    });
    late.arm(RESTORE_MS);
    try {
      await Promise.race([this.#restore(), this.#abandoned.promise]);
    } catch (cause) {
      this.#isUseless = true;
      report(new InformerError(`Cannot restore "${name}", which is listed instead`, { cause }));
    } finally {
      late[Symbol.dispose]();
    }
  }

  /** Writes the last snapshot once, if anything has changed, versions alone included, within `graceMs`. Errors are reported. */
  end(): Promise<void> {
    return this.#ended ??= this.#endInTime();
  }

  async #endInTime(): Promise<void> {
    const { name, graceMs, report } = this.#options;
    const late = Promise.withResolvers<void>();
    using timer = new LongTimer(() => {
      report(
        new InformerError(`Cannot keep the last snapshot of "${name}": it was not written within ${graceMs / 1_000} s`),
      );
      late.resolve();
    });
    timer.arm(graceMs);
    await Promise.race([this.#end(), late.promise]);
  }

  async #end(): Promise<void> {
    this.#isRunning = false;
    this.#timer[Symbol.dispose]();
    await this.#writing;
    // mutant: last-snapshot-not-written
    if (this.#changed !== "nothing") await this.#write();
  }

  async #restore(): Promise<void> {
    const { store, name, cluster } = this.#options;
    const bytes = await store.get(name);
    if (bytes === undefined) return;
    await this.#cache.restore(bytes, { cluster });
    this.#kept = { ...this.#cache.status(), atMs: -Infinity };
  }

  async #tick(): Promise<void> {
    const changed = this.#changed;
    const isDue = changed === "objects" || (changed === "version" && monotonicMs() - this.#kept.atMs >= BOOKMARKS_MS);
    if (isDue) await (this.#writing = this.#write());
    if (this.#isRunning) this.#timer.arm(this.#options.everyMs);
  }

  get #changed(): "nothing" | "version" | "objects" {
    if (!this.#cache.hasSynced) return "nothing";
    const { resourceVersion, events } = this.#cache.status();
    const kept = this.#kept;
    if (this.#isUseless || kept.resourceVersion === "") return "objects";
    if (events !== kept.events || this.#isRewritten) return "objects";
    return resourceVersion === kept.resourceVersion ? "nothing" : "version";
  }

  /** `true` if a list or a check has changed the cache since the kept snapshot, perhaps at the same version. */
  get #isRewritten(): boolean {
    const { completedLists, differences } = this.#cache.status();
    return completedLists !== this.#kept.completedLists || differences !== this.#kept.differences;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { store, name, cluster, secrets, report } = this.#options;
    const { resourceVersion, events, completedLists, differences } = this.#cache.status();
    const replacesSame = this.#kept.resourceVersion !== "" && this.#isRewritten;
    const replacesNewer = this.#isUseless || isOlder(resourceVersion, this.#kept.resourceVersion);
    try {
      const bytes = this.#cache.snapshot({ cluster, secrets });
      await store.set(name, { bytes, version: resourceVersion, replacesNewer, replacesSame });
      this.#kept = { resourceVersion, events, completedLists, differences, atMs: monotonicMs() };
      this.#isUseless = false;
    } catch (cause) {
      report(new InformerError(`Cannot keep a snapshot of "${name}"`, { cause }));
    }
  }
}
