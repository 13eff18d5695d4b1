import type { Entry } from "../api/entry.ts";
import { DecodeError } from "../api/errors.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { oldestVersion } from "../api/resource_version.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { ReflectorPhase } from "../reflector/phase.ts";
import type { Indexers, IndexFunction } from "../store/index.ts";
import { Indexer, type ReadonlyIndexer } from "../store/indexer.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { checkDurations } from "../async/time/duration.ts";
import type { InformerEvent } from "./events/event.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./events/handler.ts";
import { EntryTransform } from "./sync/entry_transform.ts";
import { EntryLister, type Lister } from "./cache/lister.ts";
import { ObjectIndexer } from "./cache/object_indexer.ts";
import { CACHE_DEFAULTS, type SharedIndexInformerOptions } from "./options.ts";
import { type NamespaceSource, NamespaceSync } from "./sync/namespace_sync.ts";
import { Processor } from "./events/processor.ts";
import { Quarantine } from "./cache/quarantine.ts";
import { type InformerStatus, totalOf } from "./status.ts";
import { StateKeeper } from "./sync/state.ts";
import { Latest } from "../async/latest.ts";
import { StoreWriter } from "./sync/store_writer.ts";

/** An informer as its readers see it, whatever its indexes: what functions over several kinds take. */
export interface InformerView<T extends KubernetesObject> {
  /** Reads the cache. */
  readonly lister: Lister<T>;
  /** Whether the cache has been equal to the server once. */
  readonly hasSynced: boolean;
  /** What is true of it right now. */
  status(): InformerStatus;
  /** Tells `handler` what is cached, then what changes. */
  addEventHandler(handler: ResourceEventHandler<T>, options?: HandlerOptions<T>): HandlerRegistration;
  /** What is cached, then what changes. */
  events(options?: HandlerOptions<T>): AsyncIterableIterator<InformerEvent<T>>;
}

/**
 * One cached, watched collection, shared by its handlers.
 *
 * - The cache follows the server: it never shows a state the server did not have, and a new list replaces it in one step.
 * - Each handler is told a gapless story of every object: added, updated with rising versions, deleted, and after that
 *   nothing but added. States between two lists may be missing from it; the last one never is.
 * - Reads are synchronous: those without an `await` between them see one state. Objects are the cache's own.
 * - It goes on after every failure until it is told to stop, and {@linkcode status} says what is wrong meanwhile.
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using pods = new SharedIndexInformer(client.resource(Pod), {
 *   indexers: { node: (pod) => pod.spec.nodeName ? [pod.spec.nodeName] : [] },
 * });
 * pods.run();
 * await pods.waitForCacheSync();
 * assertEquals(pods.indexer.indexKeys("node", "worker-1"), ["shop/cart-0"]);
 * ```
 */
export class SharedIndexInformer<T extends KubernetesObject, Name extends string = never>
  implements InformerView<T>, AsyncDisposable {
  /** The cache, filed by namespace and by the indexes asked for. Lists leave out objects that cannot be read. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** The same cache, unread. */
  readonly entries: ReadonlyIndexer<Entry<T>, Name | "namespace">;
  /** Reads the cache as one would ask the server. */
  readonly lister: Lister<T>;

  readonly #name: string;
  readonly #options: SharedIndexInformerOptions<T, Name>;
  readonly #store: Indexer<Entry<T>, string>;
  readonly #intake: EntryTransform<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #processor: Processor<T>;
  readonly #writer: StoreWriter<T>;
  readonly #parts: readonly NamespaceSync<T>[];
  readonly #state = new StateKeeper();
  readonly #changes: Latest<InformerStatus>;
  readonly #job = new DerivedController();
  #running: Promise<void> | undefined;
  /** Resolves when no part follows the server any more, with what made one of them fail. */
  #following: Promise<{ readonly error: unknown } | undefined> | undefined;
  #stopped = false;
  #errors = 0;

  /**
   * Asks nothing before it is run.
   *
   * Of several sources, each of a namespace of its own, one informer is made: each is listed and watched by itself, so that
   * one that is refused leaves the others as they are. Between namespaces there is no order; the cache has synced when
   * all of them have.
   *
   * @throws {RangeError} when an option is out of range. @throws {TypeError} when there is no source, or a namespace is there
   * twice or has no name.
   */
  constructor(
    source: ListerWatcher<T> | readonly NamespaceSource<T>[],
    options: SharedIndexInformerOptions<T, Name> = {},
  ) {
    const { indexers, transform, freeze, parse, resyncMs, graceMs, managedFields } = withDefaults(options);
    checkDurations("create an informer", { resyncMs, graceMs });
    const report = (error: unknown): void => this.#report(error);
    const sources = sourcesOf(source);
    this.#name = `the informer of "${nameOf(sources[0].source)}"`;
    this.#options = options;
    this.#quarantine = new Quarantine<T>(report, (entry) => this.#store.getByKey(entry.key) === entry);
    this.#intake = new EntryTransform<T>({ transform, freeze, report }, parse === "eager");
    this.#store = new Indexer<Entry<T>, "namespace">({
      keyOf,
      indexers: { namespace: byNamespace(() => this.#store.indexValues("namespace")) },
      byKey: ["namespace"],
    });
    if (indexers !== undefined) this.#addIndexers(indexers);
    this.entries = this.#store as ReadonlyIndexer<Entry<T>, Name | "namespace">;
    this.indexer = new ObjectIndexer(this.entries, this.#quarantine);
    this.lister = new EntryLister<T>(this.#store, this.#quarantine);
    this.#processor = new Processor<T>({
      name: this.#name,
      entries: (key) => key === undefined ? this.#store.list() : this.#entriesOf(key),
      size: () => this.#store.size,
      resourceVersion: () => this.lastSyncResourceVersion,
      quarantine: this.#quarantine,
      report,
      resyncMs,
      graceMs,
    });
    this.#changes = new Latest(() => this.status());
    this.#writer = new StoreWriter<T>({
      store: this.#store,
      intake: this.#intake,
      quarantine: this.#quarantine,
      processor: this.#processor,
    });
    this.#parts = sources.map(({ namespace, source }) =>
      new NamespaceSync<T>({
        source,
        namespace,
        store: this.#store,
        writer: this.#writer,
        intake: this.#intake,
        managedFields,
        reflector: options.reflector,
        onPhase: (phase, changed) => this.#entered(phase, changed),
        onSynced: () => this.#partSynced(),
        onError: report,
      })
    );
  }

  /** Whether the cache has been equal to the server once; of several namespaces, in each of them. */
  get hasSynced(): boolean {
    return this.#parts.every((part) => part.hasSynced);
  }

  /**
   * The version up to which the cache has everything; `""` before the first list. Of several namespaces the oldest, which may
   * be `""` where versions cannot be ordered.
   */
  get lastSyncResourceVersion(): string {
    return oldestVersion(this.#parts.map(({ gate }) => gate.version));
  }

  /**
   * The same informer, with more indexes, which are filled at once.
   *
   * @throws {Error} when there is an index of one of these names already, or the informer has stopped; nothing is added then.
   */
  withIndexers<More extends string>(indexers: Indexers<T, More>): SharedIndexInformer<T, Name | More> {
    if (this.#stopped) throw new Error(`Cannot add an index to ${this.#name}: it has stopped already`);
    this.#addIndexers(indexers);
    return this as unknown as SharedIndexInformer<T, Name | More>;
  }

  /** What is true of it right now. Costs a few microseconds, whatever the size of the cache. */
  status(): InformerStatus {
    const { state, since, cause, notLiveSince, retryAt } = this.#state;
    return {
      state,
      since,
      ...(cause === undefined ? {} : { cause }),
      ...(notLiveSince === undefined ? {} : { notLiveSince }),
      ...(retryAt === undefined ? {} : { retryAt }),
      resourceVersion: this.lastSyncResourceVersion,
      ...(this.#parts.length === 1 ? {} : { namespaces: this.#parts.map(({ status }) => status) }),
      objects: this.#store.size,
      ...totalOf(this.#parts.map(({ counters }) => counters)),
      errors: this.#errors,
      quarantined: this.#quarantine.size,
      outdated: this.#writer.outdated,
      handlers: this.#processor.status,
    };
  }

  /** The present status, then on every change of state, cause, lists or watches; who reads slowly sees the newest. */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<InformerStatus> {
    return this.#changes.read(options);
  }

  /**
   * Tells `handler` what is cached, as added events with `initial`, then what changes. It is never called before this
   * method has returned.
   *
   * @throws {Error} when the informer has stopped. @throws {RangeError} when an option is out of range.
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#processor.add(handler, options);
  }

  /**
   * What is cached, then what changes: starts at the first `next()`. Ends when the informer stops, or at `break`.
   *
   * `next()` rejects with the signal's reason, with an error when a `{ max }` of backlog is passed, and when the informer
   * had stopped before the first one.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#processor.stream(options);
  }

  /**
   * The first object the predicate holds for, now or later: for scripts. Reads, and so parses, what it looks at; with `key`,
   * that is the object of that key, which is looked up.
   *
   * @throws the signal's reason; what the predicate throws; an error when the informer stops first.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    const { key, signal } = options;
    for await (const event of this.#processor.stream({ signal, name: "until" }, key)) {
      if (event.type === "synced" || event.type === "deleted") continue;
      let object: T;
      try {
        object = event.object;
      } catch (error) {
        if (error instanceof DecodeError) continue; // reported; others may be the one
        throw error;
      }
      if (predicate(object)) return object;
    }
    throw new Error(`Cannot wait for an object: ${this.#name} has stopped`);
  }

  /**
   * Resolves when there is no object of that key: at once, if there is none when the cache has synced, else when it is
   * deleted, even if another one of that name follows.
   *
   * @throws the signal's reason; an error when the informer stops first.
   */
  async untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    const { signal } = options;
    let there = false;
    for await (const event of this.#processor.stream({ signal, name: "untilDeleted" }, key)) {
      if (event.type === "deleted" || (event.type === "synced" && !there)) return;
      there = true;
    }
    throw new Error(`Cannot wait for the deletion of "${key}": ${this.#name} has stopped`);
  }

  /**
   * Resolves once the cache has seen `resourceVersion`: read your own write. A write outside the selection is seen only
   * with the next change or bookmark, so pass a signal.
   *
   * When several namespaces are followed, say in which one the write was: without, all of them must have come so far.
   *
   * @throws {RangeError} when a version is not a decimal number, or the namespace is none of several. @throws {Error} when a
   * new list goes back to an older state, or the informer stops. @throws the signal's reason.
   */
  async atLeast(resourceVersion: string, options: Abortable & { readonly namespace?: string } = {}): Promise<void> {
    const parts = this.#partsOf(options.namespace);
    await all(parts, options.signal, (part, signal) => part.gate.wait(resourceVersion, { signal }));
  }

  /**
   * Follows the server until the signal aborts or the informer is disposed; resolves when handlers' calls in progress have
   * returned. It runs once.
   *
   * @throws {Error} when it runs or has run already; when a handler's call has not returned within `graceMs`.
   */
  run(options: Abortable = {}): Promise<void> {
    if (this.#running !== undefined || this.#stopped) {
      const state = this.#stopped ? "has stopped" : "is running";
      return Promise.reject(new Error(`Cannot run ${this.#name}: it ${state} already`));
    }
    return this.#running = this.#run(options);
  }

  /**
   * Resolves once {@linkcode hasSynced}; with `namespace`, once that one of several has synced, whatever the others do.
   *
   * @throws the cause when the server refuses (401, 403, 404) before the first sync, unless `patient`: the informer keeps
   * trying all the same. Of several namespaces the first refusal counts; a client's errors name the namespace, and
   * {@linkcode status} has the cause of each. @throws {RangeError} when the namespace is none of several. @throws the signal's
   * reason; an error when the informer stops first.
   */
  async waitForCacheSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string } = {},
  ): Promise<void> {
    const { patient, namespace } = options;
    await all(this.#partsOf(namespace), options.signal, (part, signal) => part.waitForSync({ patient, signal }));
  }

  /**
   * Stops it, and waits for handlers' calls in progress; from inside a handler it does not wait for that call. Behind an
   * `await` of the handler that cannot be known: abort the signal of `run()` there.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const caller = this.#processor.caller;
    this.#job.abort(new DOMException(`${this.#name} was disposed`, "AbortError"));
    if (caller === undefined) return await (this.#running ?? this.#stop());
    // `run()` waits for the caller's call, which may wait for this.
    await this.#following;
    await this.#processor.stop(caller);
  }

  async #run(options: Abortable): Promise<void> {
    const { signal } = options;
    const stop = (): void => this.#job.abort(signal!.reason);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    this.#processor.begin();
    const failure = await (this.#following = this.#follow());
    signal?.removeEventListener("abort", stop);
    await this.#stop(failure?.error);
    if (failure !== undefined) throw failure.error;
  }

  async #follow(): Promise<{ readonly error: unknown } | undefined> {
    let failure: { readonly error: unknown } | undefined;
    await Promise.all(this.#parts.map(async (part) => {
      try {
        await part.run(this.#job.signal);
      } catch (error) {
        failure ??= { error };
        this.#job.abort(error); // the others end too, and are waited for
      }
    }));
    return failure;
  }

  async #stop(cause?: unknown): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const error = new Error(`Cannot wait for ${this.#name}: it has stopped`, { cause: cause ?? this.#state.cause });
    this.#state.stopped(cause);
    for (const part of this.#parts) part.end(error, cause);
    this.#changes.changed();
    this.#changes.end();
    await this.#processor.stop();
  }

  #addIndexers(indexers: Indexers<T, string>): void {
    const wrapped = Object.entries(indexers).map(([name, valuesOf]) => {
      return [name, this.#intake.indexFunction(name, valuesOf as IndexFunction<T>)];
    });
    if (wrapped.length === 0) return;
    this.#store.withIndexers(Object.fromEntries(wrapped));
    this.#intake.reads = true;
    // Filling them has read what nobody had read before.
    for (const entry of this.#store) if (entry.error !== undefined) this.#quarantine.take(entry, entry.error);
  }

  #entriesOf(key: ObjectKey): readonly Entry<T>[] {
    const entry = this.#store.getByKey(key);
    return entry === undefined ? [] : [entry];
  }

  #entered(phase: ReflectorPhase, changed: boolean): void {
    this.#state.follow(this.#parts.map(({ state }) => state));
    if (phase.name === "waiting" && phase.error !== undefined) this.#report(phase.error);
    const counted = phase.name === "listing" || (phase.name === "watching" && !phase.open);
    if (counted || changed) this.#changes.changed();
    this.#options.reflector?.onPhase?.(phase);
  }

  /** A part has synced: with the last one, the informer has. */
  #partSynced(): void {
    if (this.hasSynced) {
      this.#processor.distribute({
        type: "synced",
        objects: this.#store.size,
        resourceVersion: this.lastSyncResourceVersion,
      });
    }
    this.#changes.changed();
  }

  /** The parts that a wait is about. With one part, that is all there is, whatever its namespace. */
  #partsOf(namespace: string | undefined): readonly NamespaceSync<T>[] {
    if (namespace === undefined || this.#parts.length === 1) return this.#parts;
    const part = this.#parts.find((part) => part.namespace === namespace);
    if (part !== undefined) return [part];
    const names = this.#parts.map(({ namespace }) => `"${namespace}"`).join(", ");
    throw new RangeError(`Cannot wait for namespace "${namespace}": ${this.#name} follows ${names}`);
  }

  #report(error: unknown): void {
    this.#errors++;
    callObserver(() => this.#options.onError?.(error));
  }
}

function keyOf<T>(entry: Entry<T>): ObjectKey {
  return entry.key;
}

/**
 * Files by namespace. The objects of a namespace share their values, so that nothing is kept per object; now and then those
 * of namespaces that are not in use any more are dropped.
 */
function byNamespace<T>(inUse: () => readonly string[]): IndexFunction<Entry<T>> {
  const shared = new Map<string, readonly string[]>();
  const few = 64;
  let limit = few;
  return ({ namespace }) => {
    const known = shared.get(namespace);
    if (known !== undefined) return known;
    if (shared.size >= limit) {
      const used = new Set(inUse());
      for (const name of shared.keys()) if (!used.has(name)) shared.delete(name);
      limit = 2 * shared.size + few;
    }
    const values = [namespace];
    shared.set(namespace, values);
    return values;
  };
}

/** The options, with what counts where they say nothing. */
function withDefaults<T extends KubernetesObject, Name extends string>(
  options: SharedIndexInformerOptions<T, Name>,
): SharedIndexInformerOptions<T, Name> & typeof CACHE_DEFAULTS {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...CACHE_DEFAULTS, ...Object.fromEntries(given) };
}

/** Waits for all parts; when one wait fails the others end. */
async function all<T extends KubernetesObject>(
  parts: readonly NamespaceSync<T>[],
  signal: AbortSignal | undefined,
  wait: (part: NamespaceSync<T>, signal?: AbortSignal) => Promise<void>,
): Promise<void> {
  if (parts.length === 1) return await wait(parts[0], signal);
  using job = new DerivedController(signal);
  await Promise.all(parts.map((part) => wait(part, job.signal)));
}

/** @throws {TypeError} when there is none, or a namespace is there twice or has no name. */
function sourcesOf<T>(
  source: ListerWatcher<T> | readonly NamespaceSource<T>[],
): readonly { readonly namespace?: string; readonly source: ListerWatcher<T> }[] {
  if ("listEntries" in source) return [{ source }];
  const names = source.map(({ namespace }) => namespace);
  if (names.length === 0) throw new TypeError("Cannot create an informer: found no source, expected one at least");
  if (new Set(names).size < names.length || names.some((name) => !name)) {
    throw new TypeError(
      `Cannot create an informer: found the namespaces ${
        JSON.stringify(names)
      }, expected each to have a name of its own`,
    );
  }
  return names.length === 1 ? [{ source: source[0].source }] : source;
}

function nameOf(source: object): string {
  const { resource } = source as { readonly resource?: Resource };
  return resource === undefined ? "objects" : resourceName(resource);
}
