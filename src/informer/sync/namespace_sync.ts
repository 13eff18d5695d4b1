import { type Entry, sameVersion } from "../../api/entry.ts";
import { UnexpectedKindError } from "../../api/errors.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable, DecodeOptions, KnownEntries, ListOptions, WatchOptions } from "../../api/options.ts";
import { DeltaFIFO } from "../../queue/delta_fifo.ts";
import type { ListerWatcher } from "../../api/lister_watcher.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";
import type { ReflectorCounters } from "../../reflector/counters.ts";
import type { ReflectorOptions } from "../../reflector/options.ts";
import type { Indexer } from "../../store/indexer.ts";
import { Latch } from "../../async/latch.ts";
import { callObserver } from "../../async/report_uncaught.ts";
import { Controller } from "./controller.ts";
import type { EntryTransform } from "./entry_transform.ts";
import { OutdatedChanges } from "./outdated_changes.ts";
import { NamespaceKeys } from "./namespace_keys.ts";
import { type NamespaceStatus, StateKeeper } from "./state.ts";
import type { StoreWriter } from "./store_writer.ts";
import { VersionGate } from "./version_gate.ts";

/** One of several namespaces that an informer follows, and where it is followed. */
export interface NamespaceSource<T> {
  /** The namespace. */
  readonly namespace: string;
  /** The collection in that namespace: `client.resource(Pod, { namespace })`. */
  readonly source: ListerWatcher<T>;
}

/** What a part needs of the informer around it. */
export interface NamespaceSyncOptions<T extends KubernetesObject> {
  /** What is followed. */
  readonly source: ListerWatcher<T>;
  /** Which namespace that is, when it is one of several. */
  readonly namespace?: string;
  /** What all parts fill. */
  readonly store: Indexer<Entry<T>, string>;
  /** Through which they fill it. */
  readonly writer: StoreWriter<T>;
  /** How entries are prepared. */
  readonly intake: EntryTransform<T>;
  /** What the source is asked to do with them. */
  readonly managedFields: "drop" | "keep";
  /** How the source is followed. */
  readonly reflector?: ReflectorOptions;
  /** Told of each phase, and whether it has changed the part's state or cause. */
  readonly onPhase: (phase: ReflectorPhase, changed: boolean) => void;
  /** Told when the part has synced. */
  readonly onSynced: () => void;
  /** Told of objects that cannot be filed. */
  readonly onError: (error: unknown) => void;
}

/**
 * What an informer follows by one list and one watch: its whole collection, or one of several namespaces.
 *
 * Version, state and sync are a part's own, and so is what a new list of it takes for deleted; store, handlers and errors
 * are the informer's.
 */
export class NamespaceSync<T extends KubernetesObject> {
  /** The namespace, when it is one of several. */
  readonly namespace: string | undefined;
  /** How it is doing. */
  readonly state: StateKeeper = new StateKeeper();
  /** How far it has come. */
  readonly gate: VersionGate = new VersionGate();
  readonly #synced = new Latch();
  readonly #controller: Controller<T>;
  readonly #objects: NamespaceKeys<Entry<T>> | undefined;
  readonly #outdated: OutdatedChanges;
  /** The kinds, other than its own, of which objects were passed over and reported. */
  readonly #passedOver = new Set<string>();

  /** Asks nothing before it is run. @throws {RangeError} when an option of the reflector is out of range. */
  constructor(options: NamespaceSyncOptions<T>) {
    const { source, namespace, store, writer, intake, managedFields, reflector, onPhase, onSynced, onError } = options;
    this.namespace = namespace;
    // The only part knows all there is.
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
      // A store that others fill too cannot be filled at once.
      ...(objects === undefined ? { whole: () => writer.whole() } : {}),
      onFlush: (resourceVersion) => {
        this.gate.reached(resourceVersion);
        outdated.reached(resourceVersion);
        if (!queue.hasSynced || this.#synced.isOpen) return;
        this.#synced.open();
        onSynced();
      },
    });
    this.#controller = new Controller<T>({
      source: withDecodeOptions(source, {
        managedFields,
        known: (key) => store.lookUp(key),
        knownNext: () => store.lookUpNext(),
      }),
      queue,
      process: objects === undefined ? (deltas) => writer.apply(deltas, outdated) : (deltas) => {
        try {
          writer.apply(deltas, outdated);
        } finally {
          objects.touched(deltas.key);
        }
      },
      reflector: {
        ...reflector,
        onPhase: (phase) => {
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

  /** Whether the cache has been equal to this part of the server once. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** What its reflector has done so far. */
  get counters(): ReflectorCounters {
    return this.#controller.counters;
  }

  /** What is true of it right now. */
  get status(): NamespaceStatus {
    const { state, since, cause } = this.state;
    return {
      namespace: this.namespace ?? "",
      state,
      since,
      ...(cause === undefined ? {} : { cause }),
      resourceVersion: this.gate.version,
      objects: this.#objects?.size ?? 0,
    };
  }

  /** Resolves once it has synced; rejects as `SharedIndexInformer.waitForCacheSync()`. */
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

  /** Follows until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    using _outdated = this.#outdated;
    await this.#controller.run({ signal });
  }

  /** It has ended for good, because of `cause`, if of anything; who still waits is told `error`. */
  end(error: Error, cause: unknown): void {
    this.state.stopped(cause);
    this.#synced.fail(error);
    this.gate.end(error);
  }
}

/** Wakes those who wait for a sync, so that they look at what the server said. */
class Refused extends Error {}

function withDecodeOptions<T>(source: ListerWatcher<T>, decode: DecodeOptions & KnownEntries): ListerWatcher<T> {
  return {
    listEntries: (options: ListOptions = {}) => source.listEntries({ ...decode, ...options }),
    watchChanges: (options: WatchOptions = {}) => source.watchChanges({ ...decode, ...options }),
  };
}
