import type { Abortable, Entry, Selection } from "../../api/options.ts";
import { isOlder } from "../../api/status.ts";
import type { SnapshotStore } from "../../api/lister_watcher.ts";
import { DerivedController } from "../../async/signals.ts";
import { LongTimer, monotonicMs } from "../../async/time.ts";
import { InformerError } from "../../errors/informer_error.ts";
import {
  checkSnapshotScope,
  type FactorySnapshots,
  SnapshotError,
  snapshotName,
  type SnapshotOptions,
  type SnapshotScope,
} from "./snapshot.ts";
import type { Resource } from "../../api/resource.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { nextTurn, Pacer } from "../../async/turns.ts";
import { Reduction } from "../../entry/entry.ts";
import type { CollectionSync } from "../sync/collection_sync.ts";
import { readSnapshot, type RestoredEntry, type SnapshotContents, snapshotStream } from "./snapshot_stream.ts";

/** The members of an informer that a {@linkcode SnapshotKeeper} uses. */
interface KeptCache {
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
interface SnapshotKeeperOptions extends SnapshotOptions {
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
 * The age of a snapshot at which it is written again although bookmarks alone have come since, in milliseconds: a
 * server keeps the versions of 5 minutes.
 */
const BOOKMARKS_MS = 240_000;

/** Restores the cache of one informer from its snapshot, and writes the snapshot while and after the informer runs. */
class SnapshotKeeper {
  readonly #cache: KeptCache;
  readonly #options: SnapshotKeeperOptions;
  readonly #timer = new LongTimer(() => void this.#tick());
  /**
   * The state of the cache that the store has, as far as this process knows, and the monotonic time at which it was
   * written.
   */
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

  /**
   * Restores the cache, if the store has a snapshot that can be used; else it stays empty, and the reason is reported.
   */
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

  /**
   * Writes the last snapshot once, if anything has changed, versions alone included, within `graceMs`. Errors are
   * reported.
   */
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

/** Keeps snapshots of the caches of a factory. */
export class SnapshotKeepers {
  readonly #options: FactorySnapshots;
  readonly #client: { readonly server: URL };
  readonly #report: (error: unknown, resource: Resource) => void;
  /** Has a keeper if and only if its informer runs, or the last snapshot is being written. */
  readonly #running = new Set<SnapshotKeeper>();

  /** `report` receives the errors of reading and writing. */
  constructor(
    options: FactorySnapshots,
    client: { readonly server: URL },
    report: (error: unknown, resource: Resource) => void,
  ) {
    this.#options = options;
    this.#client = client;
    this.#report = report;
  }

  /**
   * Runs an informer, from its snapshot and to its next one, unless its objects have data of Secrets that is not to be
   * kept.
   */
  async run(
    informer: KeptCache & { readonly hasSecrets: boolean },
    { resource, selection }: { readonly resource: Resource; readonly selection: Omit<Selection, "namespace"> },
    options: Abortable & { readonly graceMs: number },
  ): Promise<void> {
    if (informer.hasSecrets && !this.#options.secrets) return await informer.run(options);
    const { everyMs = 60_000, cluster = this.#client.server.href } = this.#options;
    const keeper = new SnapshotKeeper(informer, {
      ...this.#options,
      everyMs,
      cluster,
      graceMs: options.graceMs,
      name: snapshotName(resource, selection, informer.hasSecrets),
      report: (error) => this.#report(error, resource),
    });
    this.#running.add(keeper);
    try {
      await keeper.run(options);
    } finally {
      this.#running.delete(keeper);
    }
  }

  /** Ends the waits for snapshots that are read: those informers list instead, or end. */
  abandon(): void {
    for (const keeper of this.#running) keeper.abandon();
  }

  /**
   * Writes the last snapshots of informers that no longer list or watch. Calls of their handlers may still be running.
   */
  async end(): Promise<void> {
    await Promise.all(Array.from(this.#running, (keeper) => keeper.end()));
  }
}

/** The number of bytes of restored objects that are copied in one turn: about a millisecond. */
const DETACHED_BYTES = 1_024 * 1_024;

/** The time for which entries are staged in one turn, in milliseconds: index functions read each of them. */
const STAGED_MS = 5;

/** The number of entries that are staged before the clock is read. */
const STAGED_ENTRIES = 16;

/** Writes an informer's cache as bytes, and fills it from them. */
export class CacheSnapshots<T extends KubernetesObject> {
  readonly #sync: CollectionSync<T>;
  /** The parts of the collection, in the order of their namespaces, which is that of snapshots. */
  readonly #parts: CollectionSync<T>["parts"];
  readonly #scope: Omit<SnapshotScope, "cluster">;
  /** The reduction of the objects; `undefined` if they are complete, or rows of complete ones. */
  readonly #reduction: Reduction | undefined;

  /** Reads and writes nothing yet. */
  constructor(sync: CollectionSync<T>) {
    this.#sync = sync;
    this.#parts = inOrder(sync.parts);
    const { name, resource, secretData, secretAnnotations, selections, managedFields, isTransformed } = sync.collection;
    this.#reduction = resource && Reduction.of(resource, { secretData, secretAnnotations, managedFields });
    this.#scope = {
      resource: `${name}/${resource?.version ?? ""}`,
      representation: resource?.representation ?? "object",
      fields: resource?.fields ?? "all",
      secretData: [secretData, ...secretAnnotations].join(" "),
      selections: inOrder(selections).map(({ namespace = "", labelSelector = "", fieldSelector = "" }) => {
        return { namespace, labelSelector, fieldSelector };
      }),
      managedFields,
      transformed: isTransformed,
    };
  }

  /** Returns the cache as bytes. @throws as `SharedIndexInformer.snapshot()`. */
  write({ cluster = "", secrets = false }: SnapshotOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
    const sync = this.#sync;
    const { collection: { hasSecrets, informer }, cache: { intake } } = sync;
    if (!sync.hasSynced) throw new Error(`Cannot write a snapshot of ${informer}: it has not synced`);
    if (hasSecrets && !secrets) {
      throw new TypeError(
        `Cannot write a snapshot of ${informer}: it has the data of Secrets; set "secrets" to write it`,
      );
    }
    return snapshotStream(
      {
        scope: { ...this.#scope, cluster },
        versions: this.#parts.map(({ gate }) => gate.version),
        at: sync.state.notLiveSince?.getTime() ?? Date.now(),
      },
      this.#parts.map(({ known }) => ({
        entries: known.list(),
        originalKey: (entry: Entry<T>) => intake.originalKey(entry),
      })),
    );
  }

  /** Fills the cache. Rejects as `SharedIndexInformer.restore()` does; then nothing has changed. */
  async restore(snapshot: AsyncIterable<Uint8Array>, { cluster = "" }: SnapshotOptions): Promise<void> {
    this.#checkEmpty();
    const { parts, header } = await this.#read(snapshot, { ...this.#scope, cluster });
    this.#checkEmpty();
    const staged = this.#parts.map((part) => part.restoring(header.at));
    try {
      const pacer = new Pacer(STAGED_MS, 1);
      for (const [index, entries] of parts.entries()) {
        for (let at = 0; at < entries.length; at += STAGED_ENTRIES) {
          staged[index].add(entries.slice(at, at + STAGED_ENTRIES).map(({ entry }) => entry));
          if (pacer.step()) await pacer.turn();
          this.#checkEmpty();
        }
      }
      this.#sync.state.restored(header.at);
      void this.#detach(parts.flat());
      for (const [index, part] of staged.entries()) part.commit(header.versions[index]);
    } finally {
      for (const part of staged) part.abandon();
    }
  }

  /** Gives the restored entries texts of their own, in later turns. */
  async #detach(restored: readonly RestoredEntry<T>[]): Promise<void> {
    let size = 0;
    for (const { text } of restored) {
      size += text.detach();
      if (size < DETACHED_BYTES) continue;
      size = 0;
      await nextTurn();
      if (this.#sync.stage === "stopped") return;
    }
  }

  async #read(snapshot: AsyncIterable<Uint8Array>, scope: SnapshotScope): Promise<SnapshotContents<T>> {
    try {
      return await readSnapshot<T>(snapshot, {
        reduction: this.#reduction,
        check: (header) => checkSnapshotScope(header, scope),
        prepare: (entry, originalKey) => this.#sync.cache.intake.restored(entry, originalKey),
      });
    } catch (cause) {
      if (!(cause instanceof SnapshotError)) throw cause;
      throw new SnapshotError(
        cause.reason,
        `Cannot restore ${this.#sync.informer} from this snapshot: ${cause.message}`,
      );
    }
  }

  #checkEmpty(): void {
    const { hasSynced, informer, stage } = this.#sync;
    if (stage === "new" && !hasSynced) return;
    const state = stage === "stopped" ? "has stopped" : stage === "new" ? "has objects" : "is running";
    throw new Error(`Cannot restore ${informer}: it ${state} already`);
  }
}

/** Returns parts of a collection in the order of their namespaces. */
function inOrder<P extends { readonly namespace?: string }>(parts: readonly P[]): readonly P[] {
  return [...parts].sort(({ namespace: a = "" }, { namespace: b = "" }) => a < b ? -1 : a > b ? 1 : 0);
}
