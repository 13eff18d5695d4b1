/**
 * Follows one part of a collection: one namespace, or all.
 *
 * {@linkcode PartSync} is the entry point. It has a reflector and a queue, and decides where a list is staged. It
 * drains its queue after each change, so events keep the order of the server. Store, log and handlers are the
 * informer's. {@linkcode stagedChanges} keeps what a part has read before its objects may be cached.
 *
 * @module
 */
import type { Abortable } from "../../api/call_options.ts";
import { type CacheEntry, sameVersion } from "../../api/entry.ts";
import { defined } from "../../api/json.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { KubernetesObject, ObjectKey } from "../../api/object.ts";
import type { HashRange } from "../../api/shard.ts";
import { isOlder, UnexpectedKindError } from "../../api/status.ts";
import { callObserver, Latch } from "../../async/signals.ts";
import { InformerError, withErrorJson } from "../../errors/informer_error.ts";
import { internals } from "../../errors/internals.ts";
import { DeltaFIFO, type Deltas, type KnownObjects } from "../../queue/delta_fifo.ts";
import { Reflector, type ReflectorOptions } from "../../reflector/reflector.ts";
import type { ReflectorCounters, ReflectorStore, Replacement } from "../../reflector/requests.ts";
import { NO_HISTORY, type ReflectorPhase } from "../../reflector/transition.ts";
import type { ReadonlyIndexer } from "../../store/indexer.ts";
import type { CachedCollection } from "../cache/cache_scope.ts";
import type { CountedCache } from "../cache/memory_budget.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import { noteListed } from "../events/event.ts";
import { type CacheWriter, OutdatedChanges } from "./cache_writer.ts";
import { ChangingShard } from "./changing_shard.ts";
import type { NamespaceKeys } from "./changing_namespaces.ts";
import { reachNewest, snapshotMismatch } from "./server_state.ts";
import { type NamespaceStatus, StateKeeper } from "./state_keeper.ts";
import type { ValidObjects } from "./valid_objects.ts";
import { VersionGate } from "./version_gate.ts";

/** A consistency check that runs, as the part sees it whose objects are compared. */
export interface RunningCheck {
  /** Records a deletion that the watch has sent, of an object that may not be cached. */
  deleted(key: ObjectKey): void;
  /** Ends the check, because the collection is being listed, which repairs everything. */
  listing(): void;
  /** Ends the check with `reason`. */
  abort(reason: Error): void;
}

/**
 * A part of an informer's collection, of one namespace or all: a reflector writes into it, its queue orders the
 * changes, and the informer's cache receives them.
 *
 * The queue is drained after each change of a watch, so changes are processed in the order in which the server sent
 * them, across keys, and in the turn in which their bytes arrived. After a list it is drained once the list is
 * committed. Only then does the version count as seen.
 *
 * Each part has its own version, state and first sync, and a relist deletes only its own objects. Store, handlers and
 * errors belong to the informer.
 */
export class PartSync<T extends KubernetesObject> implements ReflectorStore<CacheEntry<T>> {
  /** The source, with the options that all reads have. */
  readonly source: ListerWatcher<T>;
  /** The state. */
  readonly state: StateKeeper = new StateKeeper();
  /** The version reached, and the waits for one. */
  readonly gate: VersionGate = new VersionGate();
  /** Decides whether a change that is older than the cached object leads to a list. */
  readonly outdated: OutdatedChanges;
  /** What it has read, if it was made to be staged. */
  readonly staged: StagedChanges<CacheEntry<T>> | undefined;
  /** Set while a consistency check runs. */
  check: RunningCheck | undefined;
  readonly #options: ReflectorOptions | undefined;
  readonly #queue: DeltaFIFO<CacheEntry<T>>;
  /** `#process` writes to the cache, until {@linkcode end}. */
  #process: (deltas: Deltas<CacheEntry<T>>) => void;
  readonly #reflector: Reflector<T>;
  /** The collection, of which this is a part. */
  readonly #collection: PartOwner<T>;
  /** The ranges that change, if there are such. */
  readonly #shard: ChangingShard<T> | undefined;
  /** `#keys` is `undefined` if and only if no other namespace shares the store. */
  readonly #keys: NamespaceKeys<CacheEntry<T>> | undefined;
  readonly #synced = new Latch();
  /** `#isRestored` is `true` if and only if a {@linkcode restoring} was committed. */
  #isRestored = false;
  /** `#isDoubted` is `true` from then on, until the server was found to have the objects. */
  #isDoubted = false;
  /** `#hasBegun` is `true` if and only if {@linkcode run} was called. */
  #hasBegun = false;
  /** `#passedOver` has a kind if and only if an object of it, not the source's kind, was skipped and reported. */
  readonly #passedOver = new Set<string>();
  /** `#filling` is the last replacement that would fill the empty store. */
  #filling: { abandon(): void } | undefined;

  /**
   * Sends no request before it runs. With `keys`, it is one of several namespaces. With `onProgress`, it is staged.
   *
   * @throws {RangeError} if an option of the reflector is out of range.
   */
  constructor(
    source: ListerWatcher<T>,
    reflector: ReflectorOptions | undefined,
    collection: PartOwner<T>,
    keys?: NamespaceKeys<CacheEntry<T>>,
    onProgress?: () => void,
  ) {
    this.staged = onProgress && stagedChanges<CacheEntry<T>>(this, onProgress);
    this.source = source;
    this.#options = reflector;
    this.#collection = collection;
    this.#keys = keys;
    this.#queue = this.#newQueue();
    this.#process = this.#writing();
    this.outdated = new OutdatedChanges(this, (error) => collection.report(error));
    const { shard } = collection.collection.scope;
    if (shard?.onChange !== undefined) this.#shard = new ChangingShard<T>(shard, source.shard!, this);
    this.#reflector = new Reflector<T>(source, this.staged ?? this, {
      ...reflector,
      onPhase: (phase) => this.#entered(phase),
      onError: (error) => this.report(error),
      [internals]: this.#shard,
    });
  }

  /** The first list has been processed. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** The reflector's present phase. */
  get phase(): ReflectorPhase {
    return this.#reflector.phase;
  }

  /** The reflector's counters. */
  get counters(): ReflectorCounters {
    return this.#reflector.counters;
  }

  /** The namespace, if the informer has several. */
  get namespace(): string | undefined {
    return this.#keys?.namespace;
  }

  /** The namespace of its selection; `""` for all namespaces. */
  get place(): string {
    return this.namespace ?? this.source.selection?.namespace ?? "";
  }

  /** The cached entries, of those of an informer. */
  get known(): KnownPart<T> {
    return this.#keys ?? this.#collection.cache.store;
  }

  /** Returns the cached entry of the object that has this key on the server, whatever key a transform has given it. */
  cached(key: ObjectKey): CacheEntry<T> | undefined {
    const { entryTransform } = this.#collection.cache;
    const entry = this.known.getByKey(entryTransform.cachedKeyOf(key));
    return entry === undefined || entryTransform.serverKeyOf(entry) === key ? entry : undefined;
  }

  /** Returns the key that the object of a cached entry has on the server. */
  serverKeyOf(entry: CacheEntry<T>): ObjectKey {
    return this.#collection.cache.entryTransform.serverKeyOf(entry);
  }

  /** The number of objects to a page of a list. */
  get pageSize(): number {
    return this.#options?.pageSize ?? 500;
  }

  /** The present status of this namespace. */
  get status(): NamespaceStatus {
    const { state, since, cause } = this.state;
    return withErrorJson({
      namespace: this.place,
      state,
      since,
      ...defined({ cause }),
      resourceVersion: this.gate.version,
      objects: this.#keys?.size ?? 0,
    });
  }

  /** Resolves after the first sync; rejects as `SharedIndexInformer.waitForCacheSync()` does. */
  async waitForSync(options: Abortable & { readonly patient?: boolean }): Promise<void> {
    const { patient = false, signal } = options;
    for (;;) {
      if (!this.hasSynced && !patient && this.state.refusal !== undefined) throw this.state.refusal;
      try {
        return await this.#synced.wait({ signal });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
  }

  /**
   * Resolves once the store is not older than the call: after a first list of the newest state, or at the version that
   * the server has.
   */
  async present(signal: AbortSignal): Promise<void> {
    if (!this.#hasBegun) {
      this.#reflector.listNewest();
      await this.waitForSync({ patient: true, signal });
      if (!this.#isRestored) return;
    }
    await reachNewest(this, signal, (error) => this.report(error));
  }

  /**
   * Takes cached entries over from another part. What is staged replaces them: the others were deleted, or left the
   * selection if that `isOther`. Otherwise the watch resumes from `version`, up to which the entries are all. With `""`
   * the part begins with a list of the newest state.
   */
  join(entries: readonly CacheEntry<T>[], version: string, isOther: boolean): void {
    const { hasSynced, writer } = this.#collection;
    if (version !== "" && this.staged === undefined) {
      this.state.restored(Date.now());
      return this.#reflector.restore(entries, version);
    }
    for (const { key } of entries) this.#keys?.touched(key); // or the list would not delete those that are gone
    if (this.staged === undefined) return this.#reflector.listNewest();
    if (hasSynced) this.#synced.open(); // what comes is not initial
    writer.reason = isOther ? "scope" : undefined;
    this.staged.commit();
    this.flush(this.staged.version!);
    writer.reason = undefined;
  }

  /** Takes the place of a part that has ended, with its objects, as {@linkcode join}. */
  succeed(before: PartSync<T>): void {
    this.#isDoubted = before.#isDoubted && before.counters.completedLists < 2; // the restore is one
    this.join(before.known.list(), before.gate.version, false);
    if (this.hasSynced) this.#shard?.changed();
  }

  /** Enters a wait, because of `error`, before it runs. */
  delay(error: unknown, delayMs: number): void {
    const next = { name: "listing", resourceVersion: "0", by: "pages", history: NO_HISTORY } as const;
    this.#entered({ name: "waiting", delayMs, error, next });
  }

  /** Resolves once the objects of ranges of the shard are cached; at once where its ranges do not change. */
  async holding(ranges: readonly HashRange[], signal: AbortSignal): Promise<void> {
    await this.#shard?.holding(ranges, signal);
  }

  /** Takes an addition of the watch. */
  add(entry: CacheEntry<T>): void {
    if (this.#shard?.hasListed(entry) || this.#keepsOut(entry)) return;
    this.#pass("Added", entry);
  }

  /** Takes a change of the watch. */
  update(entry: CacheEntry<T>): void {
    if (this.#shard?.hasListed(entry) || this.#keepsOut(entry)) return;
    this.#pass("Updated", entry);
  }

  /** Takes a deletion of the watch, also of an object that is not known. */
  delete(entry: CacheEntry<T>): void {
    if (this.#shard?.hasListed(entry)) return;
    this.check?.deleted(entry.key);
    this.valid?.forget(entry.key);
    this.#pass("Deleted", entry);
  }

  /** Begins the replacement that a list is staged in. */
  replacing(): Replacement<CacheEntry<T>> {
    const collection = this.#collection;
    // A first list is staged in the store's own table and swapped in. A table that other namespaces fill too cannot
    // be swapped, for its index buckets mix their rows.
    const isOnly = this.#keys === undefined && this.staged === undefined;
    const fills = isOnly && !this.hasSynced && collection.cache.store.size === 0;
    const counted = this.counted(fills ? this.#filling = collection.writer.replacing() : this.#queue.replacing());
    const replacement = this.#filtered(collection.cache.compaction?.staging(counted) ?? counted);
    return this.#shard?.replacing(replacement) ?? replacement;
  }

  /** Returns a replacement whose values are counted while they are staged, where the bytes of the cache are. */
  counted(replacement: Replacement<CacheEntry<T>>): Replacement<CacheEntry<T>> {
    return this.#collection.counted?.staging(replacement) ?? replacement;
  }

  /** Resolves once there is room for a list. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#collection.counted?.room(signal);
  }

  /** Queues a resync of all known objects. */
  resync(): void {
    this.#queue.resync();
  }

  /** Drains the queue: everything up to `resourceVersion` has been processed. */
  flush(resourceVersion: string): void {
    while (this.#queue.pop(this.#process));
    this.gate.reached(resourceVersion);
    this.outdated.reached(resourceVersion);
    this.#shard?.reached(resourceVersion);
    this.#settle();
  }

  /** Processes a newer state of an object, which was read beside list and watch. The version stays. */
  repair(entry: CacheEntry<T>): void {
    if (this.#keepsOut(entry)) return;
    const taken = this.#collection.cache.entryTransform.apply(entry);
    noteListed(taken);
    this.#pass("Updated", taken);
  }

  /** Processes the deletion of a known object, which list and watch have not shown. The version stays. */
  remove(entry: CacheEntry<T>): void {
    this.#queue.deleteUnknown(entry);
    while (this.#queue.pop(this.#process));
  }

  /** Removes a cached object that is not deleted on the server: it moved, or the reason is given. */
  moved(entry: CacheEntry<T>, reason?: "invalid" | "scope"): void {
    this.#collection.writer.moved(entry, reason);
    this.#keys?.touched(entry.key);
  }

  /** The objects that are kept out because they do not fit their kind, if objects are checked. */
  get valid(): ValidObjects | undefined {
    return this.#collection.valid;
  }

  /** Ends a watch, so that ranges that came are listed before it resumes. */
  renew(): void {
    this.#reflector.renew();
  }

  /**
   * Lists again, because of `reason`: at once, or after the wait or pause of the reflector. Does nothing while it
   * lists.
   */
  relist(reason: Error): void {
    this.#reflector.relist(reason);
  }

  /**
   * Begins to process the entries of a snapshot of the time `at`, in milliseconds since 1970. The commit does so in one
   * step, as a first list would; {@linkcode run} resumes the watch from there, a part of an informer if the server has
   * the objects. See `Reflector.restoring()`.
   */
  restoring(at: number): Replacement<CacheEntry<T>> {
    const restored = this.#reflector.restoring();
    return {
      ...restored,
      commit: (resourceVersion) => {
        restored.commit(resourceVersion);
        this.state.restored(at);
        this.#isRestored = this.#isDoubted = true;
      },
    };
  }

  /** Ends the wait before the next attempt, if there is one. */
  retry(): void {
    this.#reflector.retry();
  }

  /** Ends the list or watch until {@linkcode resume}; queue and version stay. */
  pause(): void {
    this.#endCheck();
    this.#reflector.pause();
    this.state.paused();
  }

  /** Ends a pause: resumes the watch at the last version, or lists if there is none. */
  resume(): void {
    this.#reflector.resume();
    this.state.resumed(this.hasSynced);
  }

  /** Lists and watches until the signal aborts, then closes the queue and resolves. */
  async run(options: Abortable = {}): Promise<void> {
    using _outdated = this.outdated;
    using _queue = this.#queue;
    using _shard = this.#shard?.start();
    this.#hasBegun = true;
    if (this.#shard !== undefined) await this.#shard.ready(options); // others begin at once
    if (this.valid !== undefined) await this.valid.load();
    if (this.#isDoubted) await this.#askForRestored(options.signal);
    await this.#reflector.run(options);
  }

  /** Enters the state `stopped`, with `cause` if there is one, and writes nothing more. Waits reject with `error`. */
  end(error: Error, cause?: unknown): void {
    this.#process = () => {};
    this.#filling?.abandon();
    this.staged?.abandon();
    this.state.stopped(cause);
    this.check?.abort(error);
    this.#shard?.emptied();
    this.#synced.fail(error);
    this.gate.end(error);
  }

  /**
   * Processes a change, behind those that are queued. A change of an informer that nothing waits before is not queued,
   * which is the path of every event of a watch.
   *
   * @throws whatever `process` throws; changes behind it stay queued.
   */
  #pass(type: "Added" | "Updated" | "Deleted", entry: CacheEntry<T>): void {
    if (this.#queue.size > 0) {
      if (type === "Added") this.#queue.add(entry);
      else if (type === "Updated") this.#queue.update(entry);
      else this.#queue.delete(entry);
      while (this.#queue.pop(this.#process));
      return;
    }
    const value = this.#collection.cache.entryTransform.apply(entry);
    const { key } = value;
    if (type !== "Deleted") return this.#process({ key, deltas: [{ type, value }], initial: false });
    if (this.known.getByKey(key) === undefined) return;
    this.#process({ key, deltas: [{ type, value, finalStateUnknown: false }], initial: false });
  }

  /** A replacement without the objects that are kept out. */
  #filtered(replacement: Replacement<CacheEntry<T>>): Replacement<CacheEntry<T>> {
    const { valid } = this;
    if (valid === undefined && this.source.shard?.by !== "controller") return replacement;
    const { delete: remove, commit, abandon } = replacement;
    const listed = new Set<ObjectKey>();
    return {
      delete: remove.bind(replacement),
      commit: (resourceVersion) => {
        valid?.listed(listed, this.namespace);
        commit.call(replacement, resourceVersion);
      },
      abandon: abandon.bind(replacement),
      add: (entries) => {
        if (valid !== undefined) { for (const { key } of entries) listed.add(key); }
        replacement.add(entries.filter((entry) => !this.#keepsOut(entry)));
      },
    };
  }

  /**
   * Returns `true` for an object of another shard, or an object that does not fit its kind, and removes the cached
   * one.
   */
  #keepsOut(entry: CacheEntry<T>): boolean {
    const { shard } = this.source;
    if (entry.key === "") return false;
    const leaves = shard?.by === "controller" && !shard.has(entry); // its controller is another one now
    const { entryTransform } = this.#collection.cache;
    const isInvalid = !leaves && this.valid?.fits(entryTransform.arrived(entry)) === false;
    if (!leaves && !isInvalid) return false;
    const cached = this.cached(entry.key);
    if (cached !== undefined && !isOlder(entry.resourceVersion, cached.resourceVersion)) {
      this.moved(cached, isInvalid ? "invalid" : undefined);
    }
    return true;
  }

  #newQueue(): DeltaFIFO<CacheEntry<T>> {
    const { entryTransform, sizeOf } = this.#collection.cache;
    return new DeltaFIFO<CacheEntry<T>>({
      keyOf: (entry) => entry.key,
      knownObjects: this.known,
      same: sameVersion,
      sizeOf,
      transform: (entry) => entryTransform.apply(entry),
    });
  }

  #writing(): (deltas: Deltas<CacheEntry<T>>) => void {
    const { writer } = this.#collection;
    const keys = this.#keys;
    if (keys === undefined) return (deltas) => writer.apply(deltas, !this.hasSynced, this.outdated);
    return (deltas) => {
      try {
        writer.apply(deltas, !this.hasSynced, this.outdated);
      } finally {
        keys.touched(deltas.key);
      }
    };
  }

  /** Lets the reflector begin with a list, and reports why, if the restored objects are not those of the server. */
  async #askForRestored(signal: AbortSignal | undefined): Promise<void> {
    const collection = this.#collection;
    const { identities } = this.source;
    if (identities === undefined || signal?.aborted) return;
    const { entryTransform } = collection.cache;
    const originalKey = (entry: CacheEntry<unknown>): string => entryTransform.serverKeyOf(entry as CacheEntry<T>);
    const restored = { entries: this.known.list(), version: this.gate.version, originalKey };
    const reason = await snapshotMismatch(restored, identities, signal);
    if (reason === undefined) return void (this.#isDoubted = signal?.aborted === true);
    this.#reflector.listFirst();
    collection.report(
      new InformerError(
        `Cannot use the snapshot of ${collection.informer}, so it is listed instead: the server does not have this ` +
          `state, because ${reason}`,
      ),
    );
  }

  #entered(phase: ReflectorPhase): void {
    if (phase.name === "listing") this.check?.listing();
    if (phase.name === "paused") this.#endCheck(); // of one that has begun while a resume was under way
    this.outdated.entered(phase);
    const wasNotFound = this.state.state === "notFound";
    const changed = this.state.entered(phase, this.hasSynced);
    if (this.#collection.lacksKind(phase) && (!this.hasSynced || wasNotFound)) this.#empty();
    if (phase.name === "waiting" && this.state.refusal !== undefined) this.#synced.notify(new Refused());
    this.#collection.entered(phase, changed, this.namespace);
    this.#options?.onPhase?.(phase);
  }

  /** Reports an error that does not stop the part. */
  report(error: unknown): void {
    if (error instanceof UnexpectedKindError) {
      if (this.#passedOver.has(error.kind)) return;
      this.#passedOver.add(error.kind);
    }
    callObserver(() => this.#options?.onError?.(error));
    this.#collection.report(error);
  }

  /**
   * Deletes the cached objects of a kind that the server does not have. That counts as the first list, without a
   * version. A cache that had one is emptied by the second answer in a row, so that a single wrong one changes nothing.
   */
  #empty(): void {
    this.#queue.replacing().commit("");
    while (this.#queue.pop(this.#process));
    this.#shard?.emptied();
    this.#settle();
  }

  #settle(): void {
    this.#synced.open();
    this.#collection.synced();
  }

  #endCheck(): void {
    this.check?.abort(new Error("Cannot continue the check: the informer was paused"));
  }
}

/** The collection of an informer, as its parts see it. */
interface PartOwner<T extends KubernetesObject> {
  readonly informer: string;
  readonly collection: CachedCollection<T>;
  readonly cache: ObjectCache<T>;
  readonly counted: CountedCache<T> | undefined;
  readonly writer: CacheWriter<T>;
  readonly valid: ValidObjects | undefined;
  readonly hasSynced: boolean;
  lacksKind(phase: ReflectorPhase): boolean;
  entered(phase: ReflectorPhase, changed: boolean, namespace: string | undefined): void;
  synced(): void;
  report(error: unknown): void;
}

/** The cached objects of a part. */
type KnownPart<T extends KubernetesObject> =
  & KnownObjects<CacheEntry<T>>
  & Pick<ReadonlyIndexer<CacheEntry<T>>, "list">;

/** Interrupts waits for the first sync, so that they check the server's refusal. */
class Refused extends Error {}

/**
 * The list of a part, and the changes that its watch sends after it, up to `version`, which is `undefined` before the
 * first list. `commit` passes them on in one step, and later changes as they come. `abandon` drops them.
 */
type StagedChanges<E> = ReflectorStore<E> & { version?: string; commit(): void; abandon(): void };

/** Stages changes of `store`, and calls `onProgress` whenever they have reached a version. */
function stagedChanges<E>(store: ReflectorStore<E>, onProgress: () => void): StagedChanges<E> {
  /** The last complete list, with the changes since; `undefined` before the first one, and after the commit. */
  let list: Replacement<E> | undefined;
  let isCommitted = false;
  const put = (entry: E): void => {
    list!.delete(entry); // the later state may be one that is kept out
    list!.add([entry]);
  };
  const staged: StagedChanges<E> = {
    add: (entry) => list === undefined ? store.add(entry) : put(entry),
    update: (entry) => list === undefined ? store.update(entry) : put(entry),
    delete: (entry) => (list ?? store).delete(entry),
    replacing: () => {
      const next = store.replacing();
      const commit = next.commit.bind(next);
      next.commit = (version) => {
        if (isCommitted) return commit(version);
        list?.abandon();
        list = next;
      };
      return next;
    },
    flush: (version) => {
      if (isCommitted) return store.flush?.(version);
      staged.version = version;
      onProgress();
    },
    room: async (signal) => await store.room?.(signal),
    commit: () => {
      isCommitted = true;
      list!.commit(staged.version!);
      list = undefined;
    },
    abandon: () => list?.abandon(),
  };
  return staged;
}
