import { type Entry, sameVersion } from "../../api/entry.ts";
import { UnexpectedKindError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type {
  Abortable,
  DecodeOptions,
  KnownEntries,
  ListOptions,
  Projection,
  WatchOptions,
} from "../../api/options.ts";
import { DeltaFIFO } from "../../queue/delta_fifo.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";
import type { ReflectorCounters } from "../../reflector/counters.ts";
import type { ReflectorOptions } from "../../reflector/options.ts";
import type { Replacement } from "../../reflector/reflector_store.ts";
import { InformerError, withErrorJson } from "../../errors/informer_error.ts";
import { Latch } from "../../async/latch.ts";
import { callObserver } from "../../async/report_uncaught.ts";
import type { CachedCollection } from "../cache/cached_collection.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import type { CheckResult } from "./check_result.ts";
import { ConsistencyCheck } from "./consistency_check.ts";
import { Controller } from "./controller.ts";
import { OutdatedChanges } from "./outdated_changes.ts";
import { NamespaceKeys } from "./namespace_keys.ts";
import { type NamespaceStatus, StateKeeper } from "./state.ts";
import { snapshotMismatch } from "./snapshot_mismatch.ts";
import type { StoreWriter } from "./store_writer.ts";
import { VersionGate } from "./version_gate.ts";

/** Options for a {@linkcode NamespaceSync}. */
export interface NamespaceSyncOptions<T extends KubernetesObject> {
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
export class NamespaceSync<T extends KubernetesObject> {
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
      // A first list is staged in the store's own table and swapped in. A table that other namespaces fill too cannot be
      // swapped, for its index buckets mix their rows.
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
   * Begins to fill the cache with the entries of a snapshot of the time `at`, those of {@linkcode EntryTransform.restored}. Its
   * commit does so in one step, as a first list would; {@linkcode run} resumes the watch from there, if the server has the objects.
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
   * Compares the objects with the server, and repairs those that differ. Not before the first list, not while it is paused,
   * and one check at a time.
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
