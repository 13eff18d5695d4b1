/**
 * Follows a collection by its parts, and keeps their common state.
 *
 * {@linkcode CollectionSync} is the entry point: it has a `PartSync` for each source of an informer. Store, log and
 * handlers are shared by the parts.
 *
 * @module
 */
import type {
  DecodeOptions,
  KnownEntries,
  ListOptions,
  Projection,
  Selection,
  ShardOption,
  WatchOptions,
} from "../../api/call_options.ts";
import type { CacheEntry } from "../../api/entry.ts";
import { defined } from "../../api/json.ts";
import type { ListerWatcher, ListPart } from "../../api/lister_watcher.ts";
import type { KubernetesObject, ObjectMeta } from "../../api/object.ts";
import type { Resource } from "../../api/resource.ts";
import { type HashRange, ShardFilter } from "../../api/shard.ts";
import { isNotFound, oldestVersion } from "../../api/status.ts";
import type { Latest } from "../../async/iterate.ts";
import type { DerivedController } from "../../async/signals.ts";
import { nextTurn } from "../../async/turns.ts";
import { ArgumentError } from "../../errors/checks.ts";
import { InformerError } from "../../errors/informer_error.ts";
import type { ReflectorOptions } from "../../reflector/reflector.ts";
import type { ReflectorPhase } from "../../reflector/transition.ts";
import { CacheOverlay } from "../cache/cache_overlay.ts";
import { type CachedCollection, CacheScope, type ScopeChange } from "../cache/cache_scope.ts";
import { unknownFields, UnknownFieldsError } from "../cache/entry_transform.ts";
import type { CountedCache } from "../cache/memory_budget.ts";
import type { ObjectCache } from "../cache/object_cache.ts";
import type { Processor } from "../events/processor.ts";
import { InformerLog, type LogTarget } from "./informer_log.ts";
import { CacheWriter } from "./cache_writer.ts";
import { ChangingNamespaces } from "./changing_namespaces.ts";
import { ChangingParts } from "./changing_parts.ts";
import { NamespaceKeys } from "./changing_namespaces.ts";
import { PartSync } from "./part_sync.ts";
import { PolledSource } from "./polled_source.ts";
import { StateKeeper } from "./state_keeper.ts";
import { paced, ValidObjects } from "./valid_objects.ts";

function withDecodeOptions<T>(
  source: ListerWatcher<T>,
  decode: DecodeOptions & KnownEntries & Projection & ShardOption,
  isChecked: boolean,
): ListerWatcher<T> {
  const { resource, selection, identities } = source;
  const { shard } = decode;
  return {
    resource,
    selection,
    shard,
    identities: identities && shard !== undefined
      ? { server: identities.server, listEntries: (options) => identities.listEntries({ shard, ...options }) }
      : identities,
    listEntries: (options: ListOptions = {}) => {
      const parts = source.listEntries({ ...decode, ...options });
      const slice = (part: ListPart<T>, from: number, to: number): ListPart<T> => ({
        ...part,
        entries: part.entries.slice(from, to),
      });
      return isChecked ? paced(parts, ({ entries }) => entries.length, slice) : parts;
    },
    watchChanges: (options: WatchOptions = {}) => {
      const batches = source.watchChanges({ ...decode, ...options });
      return isChecked ? paced(batches, ({ length }) => length, (batch, from, to) => batch.slice(from, to)) : batches;
    },
    get connections(): ListerWatcher<T>["connections"] {
      return source.connections;
    },
  };
}

/**
 * The lists and watches of an informer: a {@linkcode PartSync} for each source of its collection, and their common
 * state.
 */
export class CollectionSync<T extends KubernetesObject> {
  /** The sources, and the form of their objects. */
  readonly collection: CachedCollection<T>;
  /** The informer's cache. */
  readonly cache: ObjectCache<T>;
  /** Delivers the events. */
  readonly processor: Processor<T>;
  /** Publishes changes of state, cause, lists, watches and checks. */
  readonly changes: Pick<Latest<unknown>, "changed">;
  /** Receives errors that do not stop the sync. */
  readonly report: (error: unknown) => void;
  /** Counts the bytes of the cache, if they are counted. */
  readonly counted: CountedCache<T> | undefined;
  /** Writes to the cache. */
  readonly writer: CacheWriter<T>;
  /** The objects that are kept out because they do not fit their kind, if objects are checked. */
  readonly valid: ValidObjects | undefined;
  /** The worst state of the parts. */
  readonly state: StateKeeper = new StateKeeper();
  /** `true` if a watch may resume from the version that another part has reached. */
  readonly sharesVersions: boolean;
  /** Makes the part of a selection. Others may fill the same cache if it `isShared`; with `onProgress` it is staged. */
  readonly make: (selection: Selection, isShared: boolean, onProgress?: () => void) => PartSync<T>;
  /** Runs the parts, and exchanges them. */
  readonly changing: ChangingParts<T> = new ChangingParts<T>(this);
  /**
   * Reserves the scope that the informer changes to, in a factory. The result is called once, with `true` when it does.
   * Throws when others use the informer, or another one has that scope.
   */
  reserve: ((scope: CacheScope<Resource>) => (isDone: boolean) => void) | undefined;
  /** The namespaces that come and go, if there are such. */
  readonly #namespaces: ChangingNamespaces | undefined;
  /** One for each source, in their order. */
  parts: readonly PartSync<T>[];
  /** `true` once the first list of each part has been applied; parts that come later do not change it. */
  hasSynced = false;
  /** `new` before {@linkcode run}, then `running`, and `stopped` from {@linkcode end} on, until it runs again. */
  stage: "new" | "running" | "stopped" = "new";
  /** `true` if it does not run again: it was disposed, or has failed. */
  isFinal = false;
  /** Makes the part that takes the place of an ended one. */
  readonly #successor: (part: PartSync<T>) => PartSync<T>;
  readonly #log: InformerLog | undefined;
  /** `true` if and only if the status is to be published in the next turn. */
  #isDue = false;

  /** Sends no request before it runs. @throws {RangeError} if an option of the reflector is out of range. */
  constructor(
    { collection, cache, processor, changes, report, counted }: Pick<
      CollectionSync<T>,
      "collection" | "cache" | "processor" | "changes" | "report" | "counted"
    >,
    reflector: ReflectorOptions | undefined,
    pollMs?: number,
    validate?: boolean,
    log?: LogTarget,
  ) {
    this.#log = log && new InformerLog(collection.informer, log);
    this.valid = validate ? ValidObjects.of(collection.scope.resource) : undefined;
    this.collection = collection;
    this.cache = cache;
    this.processor = processor;
    this.changes = changes;
    this.report = report;
    this.counted = counted;
    this.writer = new CacheWriter<T>(cache, processor, collection.skipsUnchanged, counted);
    this.sharesVersions = pollMs === undefined;
    const options: ReflectorOptions | undefined = pollMs ? { ...reflector, streamingList: "off" } : reflector;
    const partOf = (source: ListerWatcher<T>, namespace?: string, onProgress?: () => void): PartSync<T> => {
      const keys = namespace === undefined ? undefined : new NamespaceKeys<CacheEntry<T>>(namespace, cache.store);
      return new PartSync<T>(source, options, this, keys, onProgress);
    };
    this.#successor = ({ source, namespace }) => partOf(source, namespace);
    const part = (source: ListerWatcher<T>, namespace?: string, onProgress?: () => void): PartSync<T> => {
      const { scope: { form, shard } } = collection;
      const read = pollMs ? new PolledSource<T>(source, pollMs, reflector?.pageSize) : source;
      const decoded = withDecodeOptions(read, {
        ...form,
        ...defined({ shard: shard && new ShardFilter(shard.by, shard.ranges()) }),
        known: (key) => cache.store.lookUp(key),
        knownNext: () => cache.store.lookUpNext(),
      }, this.valid !== undefined);
      return partOf(decoded, namespace, onProgress);
    };
    const { finder, sources } = collection;
    this.make = (selection, isShared, onProgress) =>
      part(sources[0].source.selecting!(selection), isShared ? selection.namespace : undefined, onProgress);
    this.parts = sources.map(({ source, namespace }) => part(source, namespace));
    this.#namespaces = finder && new ChangingNamespaces(finder, this);
  }

  /** Follows other parts from now on. */
  replace(parts: readonly PartSync<T>[]): void {
    this.parts = parts;
    this.#stateChanged();
    this.synced();
  }

  /**
   * Changes the selection. Resolves once the cache has it, and rejects as `SharedIndexInformer.rescope()` does; then
   * nothing has changed.
   */
  async rescope(change: ScopeChange, signal: AbortSignal | undefined): Promise<void> {
    const { changing, collection, informer, processor, stage } = this;
    const { scope, isOptional, sources: [{ source }] } = collection;
    if (stage === "stopped") throw new Error(`Cannot rescope ${informer}: it has stopped already`);
    const kept = processor.status.find(({ checkpoint }) => checkpoint !== undefined);
    const problem = source.selecting === undefined || source.resource === undefined
      ? "its source cannot make another selection. Create it from client.resource()"
      : scope.changing !== undefined || scope.shard !== undefined || !this.sharesVersions || isOptional
      ? 'it has the option "shard", "pollMs", "optional", or namespaces that are not named. Create it without them'
      : kept !== undefined
      ? `objects that leave would count as deleted for the checkpoint of "${kept.name}". Remove that handler`
      : stage === "new" && this.hasSynced
      ? "it has the objects of a snapshot. Call run() first"
      : undefined;
    if (problem !== undefined) throw new ArgumentError(`Cannot rescope ${informer}: ${problem}`);
    signal?.throwIfAborted();
    const next = CacheScope.changed(scope as CacheScope<Resource>, change);
    changing.undo?.(new InformerError(`Cannot rescope ${informer}: a later call of rescope() has replaced this one`));
    const settled = this.reserve?.(next);
    const settle = (isDone: boolean): void => {
      settled?.(isDone);
      if (isDone) [collection.scope, processor.deliveryTimes] = [next, undefined]; // what comes may be old
    };
    await changing.change(next.parts, settle, signal);
  }

  /** The name of the informer in messages. */
  get informer(): string {
    return this.collection.informer;
  }

  /**
   * `true` if a version says which state of the server is cached: not of kinds that are polled, whose versions may be
   * the informer's own, nor where ranges or namespaces change.
   */
  get followsVersions(): boolean {
    return this.sharesVersions && this.moves === undefined;
  }

  /**
   * The number of objects that were removed as moved, where ranges of the shard or namespaces change, so that versions
   * do not say what the cache has; `undefined` elsewhere.
   */
  get moves(): number | undefined {
    return this.collection.scope.changing === undefined ? undefined : this.writer.moves;
  }

  /** The oldest version of the parts; `""` before their first lists, or where their versions cannot be ordered. */
  get resourceVersion(): string {
    if (this.parts.length === 1) return this.parts[0].gate.version;
    const parts = this.hasSynced ? this.parts.filter(({ hasSynced }) => hasSynced) : this.parts;
    return oldestVersion(parts.map(({ gate }) => gate.version));
  }

  /**
   * Returns the parts of a namespace: all, if there is none given, or one part alone.
   *
   * @throws {RangeError} when there are several, of other namespaces.
   */
  partsOf(namespace: string | undefined): readonly PartSync<T>[] {
    if (namespace === undefined || this.parts[0].namespace === undefined) return this.parts;
    const part = this.parts.find((part) => part.namespace === namespace);
    if (part !== undefined) return [part];
    const names = this.parts.map(({ namespace }) => `"${namespace}"`).join(", ");
    throw new RangeError(`Cannot wait for namespace "${namespace}": ${this.informer} follows ${names}`);
  }

  /** Returns a reader of the cache that can show objects in other states than the cache has. */
  overlay(): CacheOverlay<T> {
    return new CacheOverlay<T>(this.cache, this.collection.scope);
  }

  /**
   * Returns true if an object is one of the shard's, or of the namespaces that are followed, or there is no such limit:
   * the cache has it, or will have it.
   */
  isInShard(object: ObjectMeta): boolean {
    const { uid, namespace = "" } = object;
    const [{ source, namespace: first }] = this.parts;
    if (this.collection.finder !== undefined && first !== undefined) {
      return this.parts.some((part) => part.namespace === namespace);
    }
    return source.shard?.has({ uid, namespace, metadata: object }) ?? true;
  }

  /**
   * Ends the lists or watches, and delivers the cached objects to all handlers as deleted, with the reason `"moved"`,
   * because their cluster is no longer followed. Resolves when they have received that, after `graceMs` at the latest;
   * those with a checkpoint do not. The cache stays as it is.
   */
  leave(): Promise<void> {
    this.pause();
    return this.processor.leave();
  }

  /** Ends the lists or watches until {@linkcode resume}. */
  pause(): void {
    this.#namespaces?.pause();
    this.changing.isPaused = true;
    for (const part of [...this.parts, ...this.changing.staging]) part.pause();
    this.#stateChanged();
  }

  /** Ends a pause: watches resume at their last version, or the collection is listed if there is none. */
  resume(): void {
    this.#namespaces?.resume();
    this.changing.isPaused = false;
    for (const part of [...this.parts, ...this.changing.staging]) part.resume();
    this.#stateChanged();
  }

  /** Ends the waits before the next attempts. */
  retry(): void {
    this.#namespaces?.retry();
    for (const part of [...this.parts, ...this.changing.staging]) part.retry();
  }

  /** Returns true for the wait after the answer that the server does not have the kind, where it may lack it. */
  lacksKind(phase: ReflectorPhase): boolean {
    return this.collection.isOptional && phase.name === "waiting" && isNotFound(phase.error);
  }

  /** Resolves once the objects of ranges of the shard are cached, as they were listed after these were taken. */
  async holding(ranges: readonly HashRange[], signal: AbortSignal): Promise<void> {
    await Promise.all(this.parts.map((part) => part.holding(ranges, signal)));
  }

  /** Resolves once the cache is not older than the call. */
  async present(signal: AbortSignal): Promise<void> {
    await Promise.all(this.parts.map((part) => part.present(signal)));
  }

  /**
   * Lists and watches until `job` aborts: again from the version of each part, if it has run. When a part fails, it
   * aborts `job`, and resolves with the failure.
   */
  async run(job: DerivedController): Promise<{ readonly error: unknown } | undefined> {
    const before = this.stage === "stopped" ? this.parts : [];
    this.stage = "running";
    if (before.length > 0) {
      this.parts = before.map(this.#successor);
      this.parts.forEach((part, i) => part.succeed(before[i]));
      this.#stateChanged();
    }
    let failure: { readonly error: unknown } | undefined;
    const failed = (error: unknown): void => {
      failure ??= { error };
      job.abort(error); // ends the others too
    };
    this.changing.start(this.#namespaces === undefined ? this.parts : [], job.signal, failed);
    await this.#namespaces?.run(job.signal).catch(failed);
    await this.changing.ended();
    return failure;
  }

  /** Enters the state `stopped`, with `cause` if there is one. Pending waits reject with what `error` returns then. */
  end(error: () => Error, cause: unknown): void {
    this.stage = "stopped";
    this.state.stopped(cause);
    const ended = error();
    this.changing.undo?.(ended);
    for (const part of this.parts) part.end(ended, cause);
    this.changes.changed();
  }

  /** Follows a phase that the reflector of a part has entered; `changed` is true if it changed state or cause. */
  entered(phase: ReflectorPhase, changed: boolean, namespace: string | undefined): void {
    this.#log?.entered(phase, namespace);
    this.#follow();
    const failure = phase.name === "waiting" && !this.lacksKind(phase) ? phase.error : undefined;
    if (failure !== undefined && !this.#namespaces?.refused(failure)) this.report(failure);
    const counted = phase.name === "listing" || (phase.name === "watching" && !phase.open);
    if (counted || changed) this.#publish();
  }

  /** The first list of a part has been applied. Behind the last one it delivers the event. */
  synced(): void {
    if (this.hasSynced || !this.parts.every(({ hasSynced }) => hasSynced)) return;
    this.hasSynced = true;
    this.#log?.write({ level: "info", message: "has synced", objects: this.cache.store.size });
    this.processor.synced();
    void this.#checkFields();
  }

  /** Reports paths of fields that lead nowhere, of a kind that the compiler has not checked. */
  async #checkFields(): Promise<void> {
    const { name, uncheckedFields } = this.collection;
    const unknown = await unknownFields(this.cache.store, uncheckedFields);
    if (unknown.length > 0 && this.stage !== "stopped") this.report(new UnknownFieldsError(name, unknown));
  }

  #stateChanged(): void {
    if (this.stage === "stopped") return;
    this.#follow();
    this.changes.changed();
  }

  /** Publishes the status: at once, or once in a turn if there are several parts, from which it is computed. */
  #publish(): void {
    if (this.parts.length === 1) return this.changes.changed();
    if (this.#isDue) return;
    this.#isDue = true;
    void nextTurn().then(() => {
      this.#isDue = false;
      this.changes.changed();
    });
  }

  #follow(): void {
    this.state.follow(this.parts.map(({ state }) => state));
  }
}
