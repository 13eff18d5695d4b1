import type { KubernetesObject } from "../../api/object.ts";
import { oldestVersion } from "../../api/resource_version.ts";
import type { DerivedController } from "../../async/derived_controller.ts";
import type { Latest } from "../../async/latest.ts";
import { nextTurn } from "../../async/next_turn.ts";
import type { ReflectorOptions } from "../../reflector/options.ts";
import type { ReflectorPhase } from "../../reflector/phase.ts";
import type { CachedCollection } from "../cache/cached_collection.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import type { Processor } from "../events/processor.ts";
import { NamespaceSync } from "./namespace_sync.ts";
import { StateKeeper } from "./state.ts";
import { StoreWriter } from "./store_writer.ts";

/** Options for a {@linkcode CollectionSync}. */
export interface CollectionSyncOptions<T extends KubernetesObject> {
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

/** The lists and watches of an informer, a {@linkcode NamespaceSync} for each source of its collection, and their common state. */
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

  /** Publishes the status: at once, or once in a turn where there are several parts, each of which it is computed from. */
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
