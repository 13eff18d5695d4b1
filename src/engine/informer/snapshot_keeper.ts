/**
 * Keeps the snapshots of a factory's caches in a store.
 *
 * {@linkcode SnapshotKeepers} is the entry point. It writes them regularly and when an informer stops, and restores
 * them by the name of their `CacheScope`. The format is in `snapshot.ts`.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Resource } from "../api/resource.ts";
import { isOlder } from "../api/status.ts";
import { DerivedController, withResolvers } from "../async/signals.ts";
import { endsWithin, LongTimer, monotonicMs } from "../async/time.ts";
import { InformerError } from "../errors/informer_error.ts";
import { internals } from "../errors/internals.ts";
import { checkNames } from "../errors/option_names.ts";
import type { CacheScope } from "./cache/cache_scope.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";
import type { FactorySnapshots } from "./snapshot.ts";

/** The longest wait for a snapshot at the start, in milliseconds. A list may take less. */
const RESTORE_MS = 10_000;

/**
 * The age of a snapshot at which it is written again although bookmarks alone have come since, in milliseconds: a
 * server keeps the versions of 5 minutes.
 */
const BOOKMARKS_MS = 240_000;

/** Restores the cache of one informer from its snapshot, and writes the snapshot while and after the informer runs. */
class SnapshotKeeper {
  readonly #informer: KeptInformer;
  readonly #graceMs: number;
  readonly #keepers: Pick<SnapshotKeepers, "options" | "report">;
  readonly #timer = new LongTimer(() => void this.#tick());
  /**
   * The state of the cache that the store has, as far as this process knows, and the monotonic time at which it was
   * written.
   */
  #kept = { name: "", resourceVersion: "", events: 0, completedLists: 0, differences: 0, atMs: -Infinity };
  /** `true` if and only if the snapshot of the store cannot be used, however new it is. */
  #isUseless = false;
  /** `true` while the informer runs. */
  #isRunning = false;
  /** The last write that the timer began. */
  #writing: Promise<void> | undefined;
  /** Set by the first {@linkcode end}. */
  #ended: Promise<void> | undefined;
  /** Ends the wait for the snapshot at the start. */
  readonly #abandoned = withResolvers<void>();

  /** Does nothing before {@linkcode run}. The last snapshot is written within `graceMs`. */
  constructor(
    informer: KeptInformer,
    graceMs: number,
    keepers: Pick<SnapshotKeepers, "options" | "report">,
  ) {
    this.#informer = informer;
    this.#graceMs = graceMs;
    this.#keepers = keepers;
  }

  /** The scope, which `rescope()` changes. */
  get #scope(): CacheScope<Resource> {
    return this.#informer[internals].sync.collection.scope as CacheScope<Resource>;
  }

  /** Runs the informer, from its snapshot and to its next one, unless it is stopped before it has the former. */
  async run(options: Abortable): Promise<void> {
    using stop = new DerivedController(options.signal);
    stop.signal.addEventListener("abort", () => this.abandon(), { once: true });
    const { sync } = this.#informer[internals];
    if (!stop.signal.aborted && sync.stage === "new") await this.#begin();
    if (sync.isFinal) return;
    this.#isRunning = true;
    this.#timer.arm(this.#keepers.options.intervalMs);
    try {
      await this.#informer.run(options);
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
    const { name } = this.#scope;
    try {
      if (await endsWithin(RESTORE_MS, Promise.race([this.#restore(), this.#abandoned.promise]))) return;
      this.#report(
        new InformerError(`Cannot restore "${name}": its snapshot was not read within ${RESTORE_MS / 1_000} s`),
      );
    } catch (cause) {
      this.#isUseless = true;
      this.#report(new InformerError(`Cannot restore "${name}", so it is listed instead`, { cause }));
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
    const { name } = this.#scope;
    const graceMs = this.#graceMs;
    if (await endsWithin(graceMs, this.#end())) return;
    this.#report(
      new InformerError(`Cannot keep the last snapshot of "${name}": it was not written within ${graceMs / 1_000} s`),
    );
  }

  async #end(): Promise<void> {
    this.#isRunning = false;
    this.#timer[Symbol.dispose]();
    await this.#writing;
    if (this.#changed !== "nothing") await this.#write();
  }

  async #restore(): Promise<void> {
    const { store, cluster } = this.#keepers.options;
    const bytes = await store.get(this.#scope.name);
    if (bytes === undefined) return;
    await this.#informer.restore(bytes, { cluster });
    this.#kept = { ...this.#informer.status(), name: this.#scope.name, atMs: -Infinity };
  }

  async #tick(): Promise<void> {
    const changed = this.#changed;
    const isDue = changed === "objects" || (changed === "version" && monotonicMs() - this.#kept.atMs >= BOOKMARKS_MS);
    if (isDue) await (this.#writing = this.#write());
    if (this.#isRunning) this.#timer.arm(this.#keepers.options.intervalMs);
  }

  get #changed(): "nothing" | "version" | "objects" {
    const { resourceVersion, events, unserved } = this.#informer.status();
    if (!this.#informer.hasSynced || unserved) return "nothing";
    const kept = this.#kept;
    if (this.#isUseless || kept.name !== this.#scope.name) return "objects";
    if (events !== kept.events || this.#isRewritten) return "objects";
    return resourceVersion === kept.resourceVersion ? "nothing" : "version";
  }

  /** `true` if a list or a check has changed the cache since the kept snapshot, perhaps at the same version. */
  get #isRewritten(): boolean {
    const { completedLists, differences } = this.#informer.status();
    return completedLists !== this.#kept.completedLists || differences !== this.#kept.differences;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { store, cluster, secretData } = this.#keepers.options;
    const { name } = this.#scope;
    const { resourceVersion, events, completedLists, differences } = this.#informer.status();
    const replacesSame = this.#kept.name === name && this.#isRewritten;
    const replacesNewer = this.#isUseless || isOlder(resourceVersion, this.#kept.resourceVersion);
    try {
      const bytes = this.#informer.snapshot({ cluster, secretData });
      await store.set(name, { bytes, version: resourceVersion, replacesNewer, replacesSame });
      this.#kept = { name, resourceVersion, events, completedLists, differences, atMs: monotonicMs() };
      this.#isUseless = false;
    } catch (cause) {
      this.#report(new InformerError(`Cannot keep a snapshot of "${name}"`, { cause }));
    }
  }

  #report(error: unknown): void {
    this.#keepers.report(error, this.#scope.resource);
  }
}

/** The informer of a {@linkcode SnapshotKeeper}. */
type KeptInformer = Pick<
  SharedIndexInformer<KubernetesObject, string>,
  "keepsSecretData" | "hasSynced" | "run" | "status" | "snapshot" | "restore" | typeof internals
>;

/** Keeps snapshots of the caches of a factory. */
export class SnapshotKeepers {
  /** The options, with defaults. */
  readonly options: FactorySnapshots & Required<Pick<FactorySnapshots, "intervalMs" | "cluster">>;
  /** Receives the errors of reading and writing. */
  readonly report: (error: unknown, resource: Resource) => void;
  /** Has a keeper if and only if its informer runs, or the last snapshot is being written. */
  readonly #running = new Set<SnapshotKeeper>();

  /** Keeps snapshots of caches of `client`. */
  constructor(
    options: FactorySnapshots,
    client: { readonly server: URL },
    report: (error: unknown, resource: Resource) => void,
  ) {
    checkNames("keep snapshots", options, "store intervalMs cluster secretData");
    const { intervalMs = 60_000, cluster = client.server.href } = options;
    this.options = { ...options, intervalMs, cluster };
    this.report = report;
  }

  /**
   * Runs an informer, from its snapshot and to its next one, unless its objects have data of Secrets that is not to be
   * kept, or are of namespaces, or of a shard, that change.
   */
  async run(
    informer: KeptInformer,
    { signal, graceMs }: Abortable & { readonly graceMs: number },
  ): Promise<void> {
    const { scope } = informer[internals].sync.collection;
    if (scope.changing !== undefined || (informer.keepsSecretData && this.options.secretData !== "keep")) {
      return await informer.run({ signal });
    }
    const keeper = new SnapshotKeeper(informer, graceMs, this);
    this.#running.add(keeper);
    try {
      await keeper.run({ signal });
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
