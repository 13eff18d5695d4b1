import {
  type Abortable,
  type DecodeOptions,
  type Entry,
  type KnownEntries,
  type ListOptions,
  type Projection,
  sameVersion,
  type WatchOptions,
} from "../../api/options.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { DeltaFIFO, type Deltas, type KnownObjects } from "../../queue/delta_fifo.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { ReflectorStore, Replacement } from "../../reflector/lists.ts";
import type { ReflectorPhase } from "../../reflector/transition.ts";
import type { ReflectorCounters } from "../../reflector/requests.ts";
import { Reflector, type ReflectorOptions } from "../../reflector/reflector.ts";
import {
  cannotOrder,
  compareResourceVersions,
  isOlder,
  isResourceVersion,
  oldestVersion,
  UnexpectedKindError,
} from "../../api/status.ts";
import { callObserver, DerivedController, Latch } from "../../async/signals.ts";
import { InformerError, withErrorJson } from "../../errors/informer_error.ts";
import type { CachedCollection, ObjectCache } from "../cache/lister.ts";
import {
  addResults,
  CacheDifferenceError,
  type CheckResult,
  ConsistencyCheck,
  NOTHING_CHECKED,
} from "./consistency_check.ts";
import { OutdatedChanges, StoreWriter } from "./store_writer.ts";
import { type NamespaceStatus, StateKeeper } from "./state.ts";
import { snapshotMismatch } from "./snapshot_mismatch.ts";
import type { Latest } from "../../async/iterate.ts";
import { inTurn, nextTurn } from "../../async/turns.ts";
import type { Processor } from "../events/processor.ts";
import { sleep } from "../../async/time.ts";

/** Options for a {@linkcode Controller}. */
export interface ControllerOptions<T extends KubernetesObject> {
  /** The collection to list and watch. */
  readonly source: ListerWatcher<T>;
  /** The queue that orders the changes. */
  readonly queue: DeltaFIFO<Entry<T>>;
  /** Called synchronously with the changes of one key. If it throws, the reflector lists again. */
  readonly process: (deltas: Deltas<Entry<T>>) => void;
  /** Begins the replacement that a list is staged in. @default {the queue's own} */
  readonly replacing?: () => Replacement<Entry<T>>;
  /** Called after each list, batch and bookmark, when everything up to `resourceVersion` has been processed. */
  readonly onProgress?: (resourceVersion: string) => void;
  /** Called with each deletion of a watch before it is queued, also of objects that are not known. */
  readonly onDeletion?: (entry: Entry<T>) => void;
  /** Options for the reflector. */
  readonly reflector?: ReflectorOptions;
}

/**
 * Runs a reflector into a queue and the queue into `process`.
 *
 * The queue is drained after each change of a watch, so changes are processed in the order in which the server sent
 * them, across keys, and in the turn in which their bytes arrived. After a list it is drained once the list is
 * committed. Only then does the version count as seen.
 */
export class Controller<T extends KubernetesObject> {
  readonly #queue: DeltaFIFO<Entry<T>>;
  readonly #process: ControllerOptions<T>["process"];
  readonly #reflector: Reflector<T>;

  /**
   * Sends no request before it runs.
   *
   * @throws {RangeError} if an option of the reflector is out of range.
   */
  constructor(options: ControllerOptions<T>) {
    this.#queue = options.queue;
    this.#process = options.process;
    this.#reflector = new Reflector<T>(options.source, new DrainedQueue(options), options.reflector);
  }

  /** The first list has been processed. */
  get hasSynced(): boolean {
    return this.lastSyncResourceVersion !== "";
  }

  /** The version up to which everything has been processed; `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#reflector.lastSyncResourceVersion;
  }

  /** The reflector's present phase. */
  get phase(): ReflectorPhase {
    return this.#reflector.phase;
  }

  /** The reflector's counters. */
  get counters(): ReflectorCounters {
    return this.#reflector.counters;
  }

  /** Processes a newer state of an object, which was read beside list and watch. The version stays. */
  repair(entry: Entry<T>): void {
    this.#queue.pass("Updated", entry, this.#process);
  }

  /** Processes the deletion of a known object, which list and watch have not shown. The version stays. */
  remove(entry: Entry<T>): void {
    this.#queue.lose(entry);
    while (this.#queue.pop(this.#process));
  }

  /**
   * Lists again, because of `reason`: at once, or after the wait or pause of the reflector. Does nothing while it
   * lists.
   */
  relist(reason: Error): void {
    this.#reflector.relist(reason);
  }

  /** Processes `entries` as a list at `resourceVersion`, from which the next {@linkcode run} watches. */
  restore(entries: readonly Entry<T>[], resourceVersion: string): void {
    this.#reflector.restore(entries, resourceVersion);
  }

  /** Begins a {@linkcode restore} whose entries are staged over several turns; see `Reflector.restoring()`. */
  restoring(): Replacement<Entry<T>> {
    return this.#reflector.restoring();
  }

  /** Lets the next {@linkcode run} begin with a list although there was a {@linkcode restore}. */
  listFirst(): void {
    this.#reflector.listFirst();
  }

  /** Ends the list or watch until {@linkcode resume}; queue and version stay. */
  pause(): void {
    this.#reflector.pause();
  }

  /** Ends a pause: resumes the watch at the last version, or lists if there is none. */
  resume(): void {
    this.#reflector.resume();
  }

  /** Runs until the signal aborts, then closes the queue and resolves. */
  async run(options: Abortable = {}): Promise<void> {
    try {
      await this.#reflector.run(options);
    } finally {
      this.#queue.close();
    }
  }
}

/** The reflector's side of a controller: each write goes into the queue, which is drained at once. */
class DrainedQueue<T extends KubernetesObject> implements ReflectorStore<Entry<T>> {
  readonly #options: ControllerOptions<T>;
  readonly #queue: DeltaFIFO<Entry<T>>;

  constructor(options: ControllerOptions<T>) {
    this.#options = options;
    this.#queue = options.queue;
  }

  add(entry: Entry<T>): void {
    this.#queue.pass("Added", entry, this.#options.process);
  }

  update(entry: Entry<T>): void {
    // mutant: update-after-batch
    this.#queue.pass("Updated", entry, this.#options.process);
  }

  delete(entry: Entry<T>): void {
    this.#options.onDeletion?.(entry);
    this.#queue.pass("Deleted", entry, this.#options.process);
  }

  replacing(): Replacement<Entry<T>> {
    const { replacing } = this.#options;
    return replacing === undefined ? this.#queue.replacing() : replacing();
  }

  resync(): void {
    this.#queue.resync();
  }

  flush(resourceVersion: string): void {
    while (this.#queue.pop(this.#options.process));
    this.#options.onProgress?.(resourceVersion);
  }
}

/**
 * The values that one namespace has brought into a shared store. A relist of the namespace deletes only keys of these.
 */
export class NamespaceKeys<V> implements KnownObjects<V> {
  readonly #store: Pick<KnownObjects<V>, "getByKey">;
  /** `#keys` has a key if and only if the store had it after its last change from this namespace. */
  readonly #keys = new Set<string>();
  /** `#revision` is the number of calls of {@linkcode touched} so far. */
  #revision = 0;

  /** No keys of the store at first. */
  constructor(store: Pick<KnownObjects<V>, "getByKey">) {
    this.#store = store;
  }

  /** The number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  /** A number that is another one after every change. */
  get revision(): number {
    return this.#revision;
  }

  keys(): Iterable<string> {
    return this.#keys;
  }

  getByKey(key: string): V | undefined {
    return this.#keys.has(key) ? this.#store.getByKey(key) : undefined;
  }

  /** Records that a change of `key` from this namespace has been applied to the store. */
  touched(key: string): void {
    this.#revision++;
    if (this.#store.getByKey(key) === undefined) this.#keys.delete(key);
    else this.#keys.add(key);
  }
}

/** Resolves waits for a resource version once the store has reached it. */
export class VersionGate {
  /** `#version` is the version last passed to {@linkcode reached}. */
  #version = "";
  /** `#over` is `undefined` if and only if {@linkcode end} was not called. */
  #over: unknown;
  /** No pending wait is for an older version; `undefined` only if there is none. */
  #nearest: string | undefined;
  /** `#waiting` has a waiter if and only if its wait is pending. */
  readonly #waiting = new Set<{ readonly version: string; readonly latch: Latch }>();

  /** The version up to which the store has every change; `""` before the first list. */
  get version(): string {
    return this.#version;
  }

  /** Records that the store has every change up to `version`. If that is older than before, pending waits reject. */
  reached(version: string): void {
    const before = this.#version;
    this.#version = version;
    const back = before !== "" && isOlder(version, before);
    if (this.#nearest === undefined) return;
    if (isResourceVersion(version) && !back && isOlder(version, this.#nearest)) return;
    this.#nearest = undefined;
    for (const { version: awaited, latch } of this.#waiting) {
      if (!isResourceVersion(version)) latch.fail(cannotOrder(version));
      else if (back) {
        latch.fail(new Error(`Cannot wait for version ${awaited}: the server went back from ${before} to ${version}`));
      } else if (!isOlder(version, awaited)) latch.open();
      else this.#await(awaited);
    }
  }

  /**
   * Resolves once the store has `version`.
   *
   * @throws {RangeError} if it or the store's version is not a decimal number.
   */
  async wait(version: string, options: Abortable): Promise<void> {
    if (this.#version === "") compareResourceVersions(version, version);
    else if (compareResourceVersions(this.#version, version) >= 0) return;
    if (this.#over !== undefined) throw this.#over;
    const waiter = { version, latch: new Latch() };
    this.#waiting.add(waiter);
    this.#await(version);
    try {
      await waiter.latch.wait(options);
    } finally {
      this.#waiting.delete(waiter); // survives: settled-wait
    }
  }

  /** Rejects pending and later waits with `error`. */
  end(error: Error): void {
    this.#over = error;
    for (const { latch } of this.#waiting) latch.fail(error);
  }

  #await(version: string): void {
    if (this.#nearest === undefined || isOlder(version, this.#nearest)) this.#nearest = version;
  }
}

/** Options for a {@linkcode NamespaceSync}. */
interface NamespaceSyncOptions<T extends KubernetesObject> {
  /** The collection to list and watch. */
  readonly source: ListerWatcher<T>;
  /** The namespace of the collection, if the informer has several. */
  readonly namespace?: string;
  /** The form of the objects. */
  readonly collection: Pick<CachedCollection<T>, "informer" | "managedFields" | "secretData" | "secretAnnotations">;
  /** The informer's cache. */
  readonly cache: ObjectCache<T>;
  /** Writes to the cache. */
  readonly writer: StoreWriter<T>;
  /** Options for the reflector. */
  readonly reflector?: ReflectorOptions;
  /** Called with each phase; `changed` is true if it changed state or cause. */
  readonly onPhase: (phase: ReflectorPhase, changed: boolean) => void;
  /** Called once, when the first list has been applied. */
  readonly onSynced: () => void;
  /** Receives errors that do not stop the sync, such as objects without a usable key. */
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps the objects of one list and watch in an informer's store: its collection, or one of several namespaces.
 *
 * Each has its own version, state and first sync, and a relist deletes only its own objects. Store, handlers and errors
 * belong to the informer.
 */
class NamespaceSync<T extends KubernetesObject> {
  /** The namespace, if the informer has several. */
  readonly namespace: string | undefined;
  /** The state. */
  readonly state: StateKeeper = new StateKeeper();
  /** The version reached, and the waits for one. */
  readonly gate: VersionGate = new VersionGate();
  readonly #synced = new Latch();
  readonly #controller: Controller<T>;
  /** `#objects` is `undefined` if and only if there is no other namespace in the store. */
  readonly #objects: NamespaceKeys<Entry<T>> | undefined;
  readonly #outdated: OutdatedChanges;
  readonly #options: NamespaceSyncOptions<T>;
  /** The source, with the options that all reads have. */
  readonly #source: ListerWatcher<T>;
  /** `#check` is defined if and only if a consistency check runs. */
  #check: ConsistencyCheck<T> | undefined;
  /** `#isRestored` is `true` if and only if a {@linkcode restoring} was committed. */
  #isRestored = false;
  /** `#passedOver` has a kind if and only if an object of it, not the source's kind, was skipped and reported. */
  readonly #passedOver = new Set<string>();

  /** Sends no request before it runs. @throws {RangeError} if an option of the reflector is out of range. */
  constructor(options: NamespaceSyncOptions<T>) {
    const { source, namespace, cache: { store, intake }, writer, reflector } = options;
    const { managedFields, secretData, secretAnnotations } = options.collection;
    const { onPhase, onSynced, onError } = options;
    this.namespace = namespace;
    this.#options = options;
    const objects = this.#objects = namespace === undefined ? undefined : new NamespaceKeys(store);
    const outdated = this.#outdated = new OutdatedChanges({
      relist: (reason) => this.#controller.relist(reason),
      report: onError,
    });
    const queue = new DeltaFIFO<Entry<T>>({
      keyOf: (entry) => entry.key,
      knownObjects: objects ?? store,
      same: sameVersion,
      transform: (entry) => intake.take(entry),
    });
    this.#source = withDecodeOptions(source, {
      managedFields,
      secretData,
      secretAnnotations,
      known: (key) => store.lookUp(key),
      knownNext: () => store.lookUpNext(),
    });
    this.#controller = new Controller<T>({
      source: this.#source,
      queue,
      process: objects === undefined ? (deltas) => writer.apply(deltas, !this.hasSynced, outdated) : (deltas) => {
        try {
          writer.apply(deltas, !this.hasSynced, outdated);
        } finally {
          objects.touched(deltas.key);
        }
      },
      // A first list is staged in the store's own table and swapped in. A table that other namespaces fill too cannot
      // be swapped, for its index buckets mix their rows.
      replacing: () =>
        objects === undefined && !this.hasSynced && store.size === 0 ? writer.replacing() : queue.replacing(),
      onProgress: (resourceVersion) => {
        this.gate.reached(resourceVersion);
        outdated.reached(resourceVersion);
        if (this.hasSynced) return;
        this.#synced.open();
        onSynced();
      },
      onDeletion: ({ key }) => this.#check?.deleted(key),
      reflector: {
        ...reflector,
        onPhase: (phase) => {
          if (phase.name === "listing") this.#check?.listing();
          if (phase.name === "paused") this.#endCheck(); // of one that has begun while a resume was under way
          outdated.entered(phase);
          const changed = this.state.entered(phase, this.hasSynced);
          if (phase.name === "waiting" && this.state.refusal !== undefined) this.#synced.interrupt(new Refused());
          onPhase(phase, changed);
        },
        onError: (error) => {
          if (error instanceof UnexpectedKindError) {
            if (this.#passedOver.has(error.kind)) return;
            this.#passedOver.add(error.kind);
          }
          callObserver(() => reflector?.onError?.(error));
          onError(error);
        },
      },
    });
  }

  /** The first list has been applied to the store. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** The reflector's counters. */
  get counters(): ReflectorCounters {
    return this.#controller.counters;
  }

  /** The present status. */
  get status(): NamespaceStatus {
    const { state, since, cause } = this.state;
    return withErrorJson({
      namespace: this.namespace ?? "",
      state,
      since,
      ...(cause === undefined ? {} : { cause }),
      resourceVersion: this.gate.version,
      objects: this.#objects?.size ?? 0,
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

  /** The cached entries of this part. */
  get entries(): Entry<T>[] {
    const objects = this.#objects;
    const { store } = this.#options.cache;
    if (objects === undefined) return store.list();
    return Array.from(objects.keys(), (key) => store.getByKey(key)!);
  }

  /**
   * Begins to fill the cache with the entries of a snapshot of the time `at`, those of
   * {@linkcode EntryTransform.restored}. Its commit does so in one step, as a first list would; {@linkcode run} resumes
   * the watch from there, if the server has the objects.
   */
  restoring(at: number): Replacement<Entry<T>> {
    const restored = this.#controller.restoring();
    return {
      ...restored,
      commit: (resourceVersion) => {
        restored.commit(resourceVersion);
        this.state.restored(at);
        this.#isRestored = true;
      },
    };
  }

  /** Ends the list or watch until {@linkcode resume}. */
  pause(): void {
    this.#endCheck();
    this.#controller.pause();
    this.state.paused();
  }

  /** Ends a pause: resumes the watch at the last version, or lists if there is none. */
  resume(): void {
    this.#controller.resume();
    this.state.resumed(this.hasSynced);
  }

  /**
   * Compares the objects with the server, and repairs those that differ. Not before the first list, not while it is
   * paused, and one check at a time.
   */
  async check(signal: AbortSignal): Promise<CheckResult> {
    const { source, cache: { store, intake }, reflector } = this.#options;
    const known = this.#objects ?? store;
    const check = this.#check = new ConsistencyCheck<T>({
      identities: source.identities ?? source,
      source: this.#source,
      known,
      cached: (key) => {
        const entry = known.getByKey(intake.cachedKeyOf(key));
        return entry === undefined || intake.serverKeyOf(entry) === key ? entry : undefined;
      },
      serverKeyOf: (entry) => intake.serverKeyOf(entry),
      version: () => this.gate.version,
      reached: (version, options) => this.gate.wait(version, options),
      repair: (entry) => this.#controller.repair(entry),
      remove: (entry) => this.#controller.remove(entry),
      relist: (reason) => this.#controller.relist(reason),
      pageSize: reflector?.pageSize ?? 500,
    }, signal);
    try {
      return await check.run();
    } finally {
      this.#check = undefined;
    }
  }

  /** Lists and watches until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    using _outdated = this.#outdated;
    if (this.#isRestored) await this.#askForRestored(signal);
    await this.#controller.run({ signal });
  }

  /** Enters the state `stopped`, with `cause` if there is one. Pending waits reject with `error`. */
  end(error: Error, cause: unknown): void {
    this.state.stopped(cause);
    this.#synced.fail(error);
    this.gate.end(error);
  }

  /** Lets the reflector begin with a list, and reports why, if the restored objects are not those of the server. */
  async #askForRestored(signal: AbortSignal): Promise<void> {
    const { source: { identities }, collection: { informer }, cache: { intake }, onError } = this.#options;
    if (identities === undefined || signal.aborted) return; // survives: stopped-before-run
    const originalKey = (entry: Entry<unknown>): string => intake.originalKey(entry as Entry<T>) ?? entry.key;
    const restored = { entries: this.entries, version: this.gate.version, originalKey };
    // mutant: restored-of-other-history
    const reason = await snapshotMismatch(restored, identities, signal);
    if (reason === undefined) return;
    this.#controller.listFirst();
    onError(
      new InformerError(
        `Cannot use the snapshot of ${informer}, which is listed instead, because the server does not have its state: ${reason}`,
      ),
    );
  }

  #endCheck(): void {
    this.#check?.abort(new Error("Cannot go on with the check: the informer was paused"));
  }
}

/** Interrupts waits for the first sync, so that they check the server's refusal. */
class Refused extends Error {}

function withDecodeOptions<T>(
  source: ListerWatcher<T>,
  decode: DecodeOptions & KnownEntries & Projection,
): ListerWatcher<T> {
  return {
    resource: source.resource,
    selection: source.selection,
    listEntries: (options: ListOptions = {}) => source.listEntries({ ...decode, ...options }),
    watchChanges: (options: WatchOptions = {}) => source.watchChanges({ ...decode, ...options }),
  };
}

/** Options for a {@linkcode CollectionSync}. */
interface CollectionSyncOptions<T extends KubernetesObject> {
  /** The sources, and the form of their objects. */
  readonly collection: CachedCollection<T>;
  /** The informer's cache. */
  readonly cache: ObjectCache<T>;
  /** Delivers the events. */
  readonly processor: Processor<T>;
  /** Options for the reflectors. */
  readonly reflector?: ReflectorOptions;
  /** Publishes changes of state, cause, lists, watches and checks. */
  readonly changes: Pick<Latest<unknown>, "changed">;
  /** Called once, when all parts have synced. */
  readonly onSynced: () => void;
  /** Receives errors that do not stop the sync. */
  readonly report: (error: unknown) => void;
}

/**
 * The lists and watches of an informer, a {@linkcode NamespaceSync} for each source of its collection, and their common
 * state.
 */
export class CollectionSync<T extends KubernetesObject> {
  /** One for each source, in their order. */
  readonly parts: readonly NamespaceSync<T>[];
  /** The worst state of the parts. */
  readonly state: StateKeeper = new StateKeeper();
  readonly #options: CollectionSyncOptions<T>;
  readonly #writer: StoreWriter<T>;
  #stage: "new" | "running" | "stopped" = "new";
  /** `true` if and only if the status is to be published in the next turn. */
  #isDue = false;

  /** Sends no request before it runs. @throws {RangeError} if an option of the reflector is out of range. */
  constructor(options: CollectionSyncOptions<T>) {
    this.#options = options;
    const { collection, cache, processor, reflector, onSynced, report } = options;
    const writer = this.#writer = new StoreWriter<T>(cache, processor, collection.skipsUnchanged);
    this.parts = collection.sources.map(({ namespace, source }) =>
      new NamespaceSync<T>({
        source,
        namespace,
        collection,
        cache,
        writer,
        reflector,
        onPhase: (phase, changed) => this.#entered(phase, changed),
        onSynced: () => {
          if (this.hasSynced) onSynced();
        },
        onError: report,
      })
    );
  }

  /** `new` before {@linkcode run}, then `running`, and `stopped` from {@linkcode end} on. */
  get stage(): "new" | "running" | "stopped" {
    return this.#stage;
  }

  /** The first list of each part has been applied to the store. */
  get hasSynced(): boolean {
    return this.parts.every((part) => part.hasSynced);
  }

  /** The number of changes that were dropped because they were older than the cached object. */
  get outdated(): number {
    return this.#writer.outdated;
  }

  /** The oldest version of the parts; `""` before their first lists, or where their versions cannot be ordered. */
  get resourceVersion(): string {
    return oldestVersion(this.parts.map(({ gate }) => gate.version));
  }

  /**
   * Returns the parts of a namespace: all, if there is none given, or one part alone.
   *
   * @throws {RangeError} when there are several, of other namespaces.
   */
  partsOf(namespace: string | undefined): readonly NamespaceSync<T>[] {
    if (namespace === undefined || this.parts.length === 1) return this.parts;
    const part = this.parts.find((part) => part.namespace === namespace);
    if (part !== undefined) return [part];
    const names = this.parts.map(({ namespace }) => `"${namespace}"`).join(", ");
    const { informer } = this.#options.collection;
    throw new RangeError(`Cannot wait for namespace "${namespace}": ${informer} follows ${names}`);
  }

  /** Ends the lists or watches until {@linkcode resume}. */
  pause(): void {
    for (const part of this.parts) part.pause();
    this.#stateChanged();
  }

  /** Ends a pause: watches resume at their last version, or the collection is listed if there is none. */
  resume(): void {
    for (const part of this.parts) part.resume();
    this.#stateChanged();
  }

  /** Lists and watches until `job` aborts. When a part fails, it aborts `job`, and resolves with the failure. */
  async run(job: DerivedController): Promise<{ readonly error: unknown } | undefined> {
    this.#stage = "running";
    let failure: { readonly error: unknown } | undefined;
    await Promise.all(this.parts.map(async (part) => {
      try {
        await part.run(job.signal);
      } catch (error) {
        failure ??= { error };
        job.abort(error); // ends the others too
      }
    }));
    return failure;
  }

  /** Enters the state `stopped`, with `cause` if there is one. Pending waits reject with what `error` returns then. */
  end(error: () => Error, cause: unknown): void {
    this.#stage = "stopped";
    this.state.stopped(cause);
    const ended = error();
    for (const part of this.parts) part.end(ended, cause);
    this.#options.changes.changed();
  }

  #stateChanged(): void {
    if (this.#stage === "stopped") return;
    this.#follow();
    this.#options.changes.changed();
  }

  #entered(phase: ReflectorPhase, changed: boolean): void {
    const { reflector, report } = this.#options;
    this.#follow();
    if (phase.name === "waiting" && phase.error !== undefined) report(phase.error);
    const counted = phase.name === "listing" || (phase.name === "watching" && !phase.open);
    if (counted || changed) this.#publish();
    reflector?.onPhase?.(phase);
  }

  /**
   * Publishes the status: at once, or once in a turn where there are several parts, each of which it is computed from.
   */
  #publish(): void {
    const { changes } = this.#options;
    if (this.parts.length === 1) return changes.changed();
    if (this.#isDue) return;
    this.#isDue = true;
    void nextTurn().then(() => {
      this.#isDue = false;
      changes.changed();
    });
  }

  #follow(): void {
    this.state.follow(this.parts.map(({ state }) => state));
  }
}

/** The largest share by which the time between two checks is longer than asked for. */
const JITTER = 0.2;

/** The consistency checks of an informer, and their results. */
export class ConsistencyChecks<T extends KubernetesObject> {
  readonly #sync: CollectionSync<T>;
  readonly #options: Pick<CollectionSyncOptions<T>, "collection" | "changes" | "report">;
  readonly #signal: AbortSignal;
  /** Only rises. */
  #differences = 0;
  #last: (CheckResult & { readonly at: Date }) | undefined;

  /** Checks nothing yet. `signal` ends the checks. */
  constructor(
    sync: CollectionSync<T>,
    options: Pick<CollectionSyncOptions<T>, "collection" | "changes" | "report">,
    signal: AbortSignal,
  ) {
    this.#sync = sync;
    this.#options = options;
    this.#signal = signal;
  }

  /** The number of objects that have differed, and the result of the last check, if there was one. */
  get status(): { readonly differences: number; readonly lastCheck?: CheckResult & { readonly at: Date } } {
    return { differences: this.#differences, ...(this.#last === undefined ? {} : { lastCheck: this.#last }) };
  }

  /** Checks all parts. Rejects as `SharedIndexInformer.check()` does. */
  async check({ signal }: Abortable = {}): Promise<CheckResult> {
    signal?.throwIfAborted();
    using job = new DerivedController(signal, this.#signal);
    return await inTurn(this.#options.collection.server, () => this.#check(job.signal), { signal: job.signal });
  }

  /** Checks while the informer is live, each `everyMs` milliseconds or up to 1.2 times that; `Infinity` is never. */
  async runEvery(everyMs: number): Promise<void> {
    if (everyMs === Infinity) return;
    const signal = this.#signal;
    const { state } = this.#sync;
    while (!signal.aborted) {
      try {
        await sleep(everyMs * (1 + JITTER * Math.random()), { signal });
        // Otherwise a list or a resumed watch repairs the cache, or nothing can be read.
        if (state.state === "live") await this.check();
      } catch (error) {
        if (!signal.aborted && state.state !== "paused") this.#options.report(error);
      }
    }
  }

  async #check(signal: AbortSignal): Promise<CheckResult> {
    const { collection, changes, report } = this.#options;
    const sync = this.#sync;
    let result = NOTHING_CHECKED;
    for (const part of sync.parts) {
      const { state } = sync.state;
      const isIdle = state === "paused" || state === "stopped";
      if (isIdle || !sync.hasSynced) {
        throw new Error(`Cannot check ${collection.informer}: it ${isIdle ? `is ${state}` : "has not synced yet"}`);
      }
      result = addResults(result, await part.check(signal));
    }
    this.#differences += result.differences;
    this.#last = { ...result, at: new Date() };
    changes.changed();
    const { differences, keys, repair, reason } = result;
    if (repair === "objects" || repair === "list") {
      const text = repair === "objects"
        ? "repaired by further reads"
        : `the collection is listed again, because ${reason}`;
      report(new CacheDifferenceError(collection.name, differences, keys, text));
    }
    return result;
  }
}
