import { type Entry, sameVersion } from "../api/entry.ts";
import { DecodeError } from "../api/errors.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable, ListOptions, WatchOptions } from "../api/options.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { isOlder } from "../api/resource_version.ts";
import type { Delta, Deltas } from "../queue/delta.ts";
import { DeltaFIFO } from "../queue/delta_fifo.ts";
import type { ListerWatcher } from "../reflector/list_watch.ts";
import type { ReflectorPhase } from "../reflector/phase.ts";
import type { Indexers, IndexFunction } from "../store/index.ts";
import { Indexer, type ReadonlyIndexer } from "../store/indexer.ts";
import { DerivedController } from "../timing/derived.ts";
import { Latch } from "../timing/latch.ts";
import { Controller } from "./controller.ts";
import { Added, Deleted, type InformerEvent, Updated } from "./event.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./handler.ts";
import { Intake } from "./intake.ts";
import { EntryLister, type Lister } from "./lister.ts";
import { ObjectView } from "./object_view.ts";
import type { SharedIndexInformerOptions } from "./options.ts";
import { Processor } from "./processor.ts";
import { Quarantine } from "./quarantine.ts";
import { type InformerStatus, StateKeeper } from "./status.ts";
import { Changes } from "./status_stream.ts";
import { VersionGate } from "./version_gate.ts";

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
  readonly #intake: Intake<T>;
  readonly #quarantine: Quarantine<T>;
  readonly #processor: Processor<T>;
  readonly #controller: Controller<T>;
  readonly #state = new StateKeeper();
  readonly #changes: Changes<InformerStatus>;
  readonly #synced = new Latch();
  readonly #gate = new VersionGate();
  readonly #job = new DerivedController();
  #running: Promise<void> | undefined;
  #stopped = false;
  #errors = 0;
  #outdated = 0;

  /** Asks nothing before it is run. @throws {RangeError} when an option is out of range. */
  constructor(source: ListerWatcher<T>, options: SharedIndexInformerOptions<T, Name> = {}) {
    const { indexers, transform, freeze = false, parse = "lazy", resyncMs = 0, graceMs = 10_000 } = options;
    for (const [name, value] of Object.entries({ resyncMs, graceMs })) {
      if (!(value >= 0)) throw new RangeError(`Cannot create an informer: ${name} must be at least 0, found ${value}`);
    }
    const report = (error: unknown): void => this.#report(error);
    this.#name = `the informer of "${nameOf(source)}"`;
    this.#options = options;
    this.#quarantine = new Quarantine<T>(report, (entry) => this.#store.getByKey(entry.key) === entry);
    this.#intake = new Intake<T>({ transform, freeze, report }, parse === "eager");
    this.#store = new Indexer<Entry<T>, "namespace">({ keyOf, indexers: { namespace: byNamespace() } });
    if (indexers !== undefined) this.#addIndexers(indexers);
    this.entries = this.#store as ReadonlyIndexer<Entry<T>, Name | "namespace">;
    this.indexer = new ObjectView(this.entries, this.#quarantine);
    this.lister = new EntryLister<T>(this.#store, this.#quarantine);
    this.#processor = new Processor<T>({
      name: this.#name,
      entries: () => this.#store.list(),
      resourceVersion: () => this.#gate.version,
      quarantine: this.#quarantine,
      report,
      resyncMs,
      graceMs,
    });
    this.#changes = new Changes(() => this.status());
    const queue = new DeltaFIFO<Entry<T>>({
      keyOf,
      knownObjects: this.#store,
      same: sameVersion,
      transform: (entry) => this.#intake.take(entry),
      onFlush: (resourceVersion) => this.#flushed(queue.hasSynced, resourceVersion),
    });
    this.#controller = new Controller<T>({
      source: withDecodeOptions(source, options.managedFields ?? "drop"),
      queue,
      process: (deltas) => this.#process(deltas),
      reflector: {
        ...options.reflector,
        onPhase: (phase) => this.#entered(phase),
        onError: (error) => {
          options.reflector?.onError?.(error);
          report(error);
        },
      },
    });
  }

  /** Whether the cache has been equal to the server once. */
  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** The version up to which the cache has everything; `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#gate.version;
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
    const { lists, watches, events, listed, remaining, lastByteAt, lastBookmarkAt } = this.#controller.counters;
    const { state, since, cause } = this.#state;
    return {
      state,
      since,
      ...(cause === undefined ? {} : { cause }),
      resourceVersion: this.#gate.version,
      objects: this.#store.size,
      ...(listed === undefined
        ? {}
        : { listing: { objects: listed, ...(remaining === undefined ? {} : { remaining }) } }),
      ...(lastByteAt === 0 ? {} : { lastByteAt: new Date(lastByteAt) }),
      ...(lastBookmarkAt === 0 ? {} : { lastBookmarkAt: new Date(lastBookmarkAt) }),
      events,
      lists,
      watches,
      errors: this.#errors,
      quarantined: this.#quarantine.size,
      outdated: this.#outdated,
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
   * The first object the predicate holds for, now or later: for scripts. Reads, and so parses, what it looks at.
   *
   * @throws the signal's reason; what the predicate throws; an error when the informer stops first.
   */
  async until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    const { key, signal } = options;
    for await (const event of this.events({ signal, name: "until" })) {
      if (event.type === "synced" || event.type === "deleted" || (key !== undefined && event.key !== key)) continue;
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
    for await (const event of this.events({ signal, name: "untilDeleted" })) {
      if (event.type === "synced") {
        if (!there) return;
      } else if (event.key === key) {
        if (event.type === "deleted") return;
        there = true;
      }
    }
    throw new Error(`Cannot wait for the deletion of "${key}": ${this.#name} has stopped`);
  }

  /**
   * Resolves once the cache has seen `resourceVersion`: read your own write. A write outside the selection is seen only
   * with the next change or bookmark, so pass a signal.
   *
   * @throws {RangeError} when a version is not a decimal number. @throws {Error} when a new list goes back to an older
   * state, or the informer stops. @throws the signal's reason.
   */
  atLeast(resourceVersion: string, options: Abortable = {}): Promise<void> {
    return this.#gate.wait(resourceVersion, options);
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
   * Resolves once {@linkcode hasSynced}.
   *
   * @throws the cause when the server refuses (401, 403, 404) before the first sync, unless `patient`: the informer keeps
   * trying all the same. @throws the signal's reason; an error when the informer stops first.
   */
  async waitForCacheSync(options: Abortable & { readonly patient?: boolean } = {}): Promise<void> {
    const { patient = false, signal } = options;
    for (;;) {
      if (!this.hasSynced && !patient && this.#state.refusal !== undefined) throw this.#state.refusal;
      try {
        return await this.#synced.wait({ signal });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (!patient) throw error.refusal;
      }
    }
  }

  /** Stops it, and waits for handlers' calls in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#job.abort(new DOMException(`${this.#name} was disposed`, "AbortError"));
    if (this.#running === undefined) await this.#stop();
    else await this.#running;
  }

  async #run(options: Abortable): Promise<void> {
    const { signal } = options;
    const stop = (): void => this.#job.abort(signal!.reason);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    this.#processor.begin();
    let failure: { readonly error: unknown } | undefined;
    try {
      await this.#controller.run({ signal: this.#job.signal });
    } catch (error) {
      failure = { error };
    } finally {
      signal?.removeEventListener("abort", stop);
    }
    await this.#stop(failure?.error);
    if (failure !== undefined) throw failure.error;
  }

  async #stop(cause?: unknown): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const error = new Error(`Cannot wait for ${this.#name}: it has stopped`, { cause: cause ?? this.#state.cause });
    this.#state.stopped(cause);
    this.#synced.fail(error);
    this.#gate.end(error);
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

  #entered(phase: ReflectorPhase): void {
    const before = { state: this.#state.state, cause: this.#state.cause };
    this.#state.entered(phase, this.hasSynced);
    if (phase.name === "waiting") {
      this.#report(phase.error);
      const refusal = this.#state.refusal;
      if (refusal !== undefined) this.#synced.interrupt(new Refused(refusal));
    }
    const { name } = phase;
    const counted = name === "listing" || (name === "watching" && !phase.open);
    if (counted || before.state !== this.#state.state || before.cause !== this.#state.cause) this.#changes.changed();
    this.#options.reflector?.onPhase?.(phase);
  }

  #process({ key, deltas, initial }: Deltas<Entry<T>>): void {
    for (const delta of deltas) this.#apply(key, delta, initial);
  }

  #apply(key: ObjectKey, delta: Delta<Entry<T>>, initial: boolean): void {
    const entry = delta.value;
    const known = this.#store.getByKey(key);
    if (delta.type === "Sync") return; // handlers are resynced each at its own period
    if (delta.type === "Deleted") {
      if (known === undefined) return;
      const another = isAnother(known, entry);
      // The end of an object whose name has been taken since says nothing about the one that has it now.
      if (another && isOlder(entry.resourceVersion, known.resourceVersion)) {
        this.#outdated++;
        return;
      }
      this.#store.deleteByKey(key);
      this.#quarantine.release(key);
      this.#processor.tell(new Deleted(another ? known : entry, this.#quarantine, another || delta.finalStateUnknown));
      return;
    }
    if (known === undefined) {
      this.#set(key, entry);
      this.#processor.tell(new Added(entry, this.#quarantine, initial));
      return;
    }
    if (sameVersion(known, entry)) return;
    // Within a watch versions rise; a list is always believed.
    if (delta.type !== "Replaced" && isOlder(entry.resourceVersion, known.resourceVersion)) {
      this.#outdated++;
      return;
    }
    this.#set(key, entry);
    if (isAnother(known, entry)) {
      this.#processor.tell(new Deleted(known, this.#quarantine, true));
      this.#processor.tell(new Added(entry, this.#quarantine, false));
    } else {
      this.#processor.tell(new Updated(entry, this.#quarantine, known, false));
    }
  }

  #set(key: ObjectKey, entry: Entry<T>): void {
    this.#quarantine.release(key);
    this.#store.set(key, entry);
    if (entry.error !== undefined) this.#quarantine.take(entry, entry.error);
  }

  #flushed(hasSynced: boolean, resourceVersion: string): void {
    this.#gate.reached(resourceVersion);
    if (!hasSynced || this.#synced.isOpen) return;
    this.#processor.tell({ type: "synced", objects: this.#store.size, resourceVersion });
    this.#synced.open();
    this.#changes.changed();
  }

  #report(error: unknown): void {
    this.#errors++;
    try {
      this.#options.onError?.(error);
    } catch (thrown) {
      reportError(thrown); // as the web does with what a listener throws: it must not stop anybody else
    }
  }
}

/** Wakes those who wait for a sync, so that they look at what the server said. */
class Refused extends Error {
  readonly refusal: unknown;

  constructor(refusal: unknown) {
    super("The server refuses", { cause: refusal });
    this.refusal = refusal;
  }
}

function keyOf<T>(entry: Entry<T>): ObjectKey {
  return entry.key;
}

/** Whether two entries of one key are different objects. */
function isAnother<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.uid !== b.uid && a.uid !== "" && b.uid !== "";
}

/** Files by namespace; neighbours share their values, so that nothing is kept per object. */
function byNamespace<T>(): IndexFunction<Entry<T>> {
  const shared = new Map<string, readonly string[]>();
  return ({ namespace }) => {
    let values = shared.get(namespace);
    if (values === undefined) shared.set(namespace, values = [namespace]);
    return values;
  };
}

function withDecodeOptions<T>(source: ListerWatcher<T>, managedFields: "drop" | "keep"): ListerWatcher<T> {
  return {
    listEntries: (options: ListOptions = {}) => source.listEntries({ managedFields, ...options }),
    watchChanges: (options: WatchOptions = {}) => source.watchChanges({ managedFields, ...options }),
  };
}

function nameOf(source: object): string {
  const { resource } = source as { readonly resource?: Resource };
  return resource === undefined ? "objects" : resourceName(resource);
}
