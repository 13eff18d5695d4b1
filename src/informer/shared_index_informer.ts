/**
 * The informer: `sync` writes lists and watches into the store, `events` delivers the changes, and `cache` reads the store.
 *
 * {@linkcode SharedIndexInformer} is the entry point: it connects the three, keeps state and status, and stops them. This
 * folder sends no requests (the reflector does) and changes nothing on the server.
 *
 * @module
 */
import type { Entry } from "../api/entry.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable, Selection } from "../api/options.ts";
import { FieldTree } from "../api/field_tree.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { isSecret } from "../api/is_secret.ts";
import { oldestVersion } from "../api/resource_version.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { ReflectorPhase } from "../reflector/phase.ts";
import type { Indexers, IndexFunction } from "../store/index.ts";
import { Indexer, type ReadonlyIndexer } from "../store/indexer.ts";
import { ofEntries, parsesObjects } from "../entry/path.ts";
import { Reduction } from "../entry/reduction.ts";
import { nextTurn } from "../async/next_turn.ts";
import { DerivedController } from "../async/derived_controller.ts";
import { inTurn } from "../async/in_turn.ts";
import { callObserver } from "../async/report_uncaught.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { checkDurations } from "../async/time/duration.ts";
import { sleep } from "../async/time/sleep.ts";
import { checkSnapshotScope, type SnapshotScope } from "./snapshot/snapshot_header.ts";
import { readSnapshot, type RestoredEntry, type SnapshotContents } from "./snapshot/read_snapshot.ts";
import { SnapshotError } from "./snapshot/snapshot_error.ts";
import type { SnapshotOptions } from "./snapshot/snapshot_options.ts";
import { snapshotStream } from "./snapshot/snapshot_stream.ts";
import type { InformerEvent } from "./events/event.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./events/handler.ts";
import { HandlerRemovedError } from "./events/listener.ts";
import { EntryTransform } from "./sync/entry_transform.ts";
import { EntryLister, type Lister } from "./cache/lister.ts";
import { MemoryMeter, type MemoryReport } from "./cache/memory_report.ts";
import { ObjectIndexer } from "./cache/object_indexer.ts";
import type { InformerView } from "./informer_view.ts";
import { type SharedIndexInformerOptions, withCacheDefaults } from "./options.ts";
import { unknownFields, UnknownFieldsError } from "./cache/unknown_fields.ts";
import { namespaceIndex } from "./cache/namespace_index.ts";
import { CacheDifferenceError } from "./sync/cache_difference_error.ts";
import { addResults, type CheckResult, NOTHING_CHECKED } from "./sync/check_result.ts";
import { type NamespaceSource, NamespaceSync } from "./sync/namespace_sync.ts";
import { Processor } from "./events/processor.ts";
import { Quarantine } from "./cache/quarantine.ts";
import { type InformerStatus, totalOf } from "./status.ts";
import { StateKeeper } from "./sync/state.ts";
import { ConsoleReporter } from "../errors/console_reporter.ts";
import { withErrorJson } from "../errors/informer_error.ts";
import { Latest } from "../async/latest.ts";
import { joined, type WaitError, waitError } from "./wait_error.ts";
import { StoreWriter } from "./sync/store_writer.ts";
import { CacheView, type ViewOptions } from "./view/cache_view.ts";

/** The shortest time between two consistency checks, in milliseconds. */
const MIN_CHECK_MS = 60_000;

/** The largest share by which the time between two consistency checks is longer than asked for. */
const CHECK_JITTER = 0.2;

/** The number of bytes of restored objects that are copied in one turn: about a millisecond. */
const DETACHED_BYTES = 1_024 * 1_024;

/**
 * Lists and watches a collection, keeps its objects in a cache, and delivers its changes to any number of handlers.
 *
 * - The cache never shows a state that the server did not have: a relist replaces it in one step.
 * - Each handler receives a gap-free sequence of events for every object: added, updated with rising versions, deleted, and
 *   after that only added. States between two lists may be missing; the last one never is.
 * - Reads are synchronous: those without an `await` between them see one state. The objects are the cache's own.
 * - The informer resumes or relists after every failure until it is stopped; {@linkcode status} names the failure meanwhile.
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
  /** The cache, indexed by namespace and by `indexers`. Lists leave out objects that cannot be read. */
  readonly indexer: ReadonlyIndexer<T, Name | "namespace">;
  /** The same cache, as entries that are not parsed. */
  readonly entries: ReadonlyIndexer<Entry<T>, Name | "namespace">;
  /** Reads the cache by namespace, name and label selector. */
  readonly lister: Lister<T>;

  /** The parts of the collection that its sources select, where they say so: those of a client do. */
  readonly selections: readonly Selection[];
  /** `true` if the objects are Secrets with their data. */
  readonly hasSecrets: boolean;

  readonly #name: string;
  readonly #resource: string;
  /** The scope of the snapshots of this informer. */
  readonly #scope: Omit<SnapshotScope, "cluster">;
  /** The reduction of the objects; `undefined` if they are complete, or rows of complete ones. */
  readonly #reduction: Reduction | undefined;
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
  /** Set by the first `run()`; settles when the informer has stopped. */
  #running: Promise<void> | undefined;
  /** Set by the first `run()`; resolves when all lists and watches have ended, with the failure of one, if any. */
  #following: Promise<{ readonly error: unknown } | undefined> | undefined;
  /** `true` once no list or watch runs any more, or the informer was disposed before it ran. */
  #isStopped = false;
  /** `true` once `#running` has settled. */
  #hasEnded = false;
  /** The paths of fields that nothing has checked; some only for a kind found by discovery. */
  readonly #unchecked: readonly string[];
  /** Only rises. */
  #errors = 0;
  /** Consistency checks of informers with the same object run one at a time. */
  readonly #server: object;
  /** Only rises. */
  #differences = 0;
  /** The result of the last consistency check. */
  #lastCheck: InformerStatus["lastCheck"];
  /** Receives the errors of an informer without `onError`. */
  readonly #reporter = new ConsoleReporter();

  /**
   * Makes an informer, which sends no request before `run()`.
   *
   * Several sources, each of its own namespace, make one informer, which lists and watches each namespace separately: when the
   * server refuses one, the others continue. There is no order between namespaces; the cache has synced when all of them have.
   *
   * @throws {RangeError} when an option is out of range.
   * @throws {TypeError} when there is no source, or a namespace is repeated or empty; when `unchanged` is given and the sources
   * are not reduced to named fields, or `keep` and they are not of Secrets.
   */
  constructor(
    source: ListerWatcher<T> | readonly NamespaceSource<T>[],
    options: SharedIndexInformerOptions<T, Name> = {},
  ) {
    const { indexers, transform, freeze, parse, resyncMs, graceMs, managedFields, keep, unchanged } = withCacheDefaults(
      options,
    );
    checkDurations("create an informer", { resyncMs, graceMs });
    checkDurations("create an informer", { "check.everyMs": options.check?.everyMs }, { min: MIN_CHECK_MS });
    const report = (error: unknown): void => this.#report(error);
    const sources = sourcesOf(source);
    const resource = resourceOf(sources[0].source);
    this.#resource = resource === undefined ? "objects" : resourceName(resource);
    if (unchanged !== undefined && resource?.fields === undefined) {
      throw new TypeError(
        `Cannot create an informer of "${this.#resource}": the option "unchanged" is for informers of named fields; ` +
          `give fields, or leave it out`,
      );
    }
    if (keep !== undefined && (resource === undefined || !isSecret(resource))) {
      throw new TypeError(
        `Cannot create an informer of "${this.#resource}": the option "keep" is for informers of Secrets; leave it out`,
      );
    }
    this.#name = `the informer of "${this.#resource}"`;
    this.selections = sources.map(({ source }) => (source as { readonly selection?: Selection }).selection ?? {});
    this.#server = sources[0].source.identities?.server ?? sources[0].source;
    const secretData = keep === "data" ? "keep" : "drop";
    this.hasSecrets = resource !== undefined && isSecret(resource) && secretData === "keep";
    this.#reduction = resource && Reduction.of(resource, { secretData, managedFields });
    this.#scope = {
      resource: `${this.#resource}/${resource?.version ?? ""}`,
      representation: resource?.representation ?? "object",
      fields: resource?.fields ?? "all",
      secretData,
      selections: this.selections.map(({ namespace = "", labelSelector = "", fieldSelector = "" }) => {
        return { namespace, labelSelector, fieldSelector };
      }),
      managedFields,
      transformed: transform !== undefined,
    };
    this.#options = options;
    this.#quarantine = new Quarantine<T>(report, (entry) => this.#store.getByKey(entry.key) === entry);
    this.#intake = new EntryTransform<T>({ transform, freeze, report }, parse === "eager");
    this.#store = new Indexer<Entry<T>, "namespace">({
      keyOf,
      indexers: { namespace: namespaceIndex(() => this.#store.indexValues("namespace")) },
      byKey: ["namespace"],
    });
    if (indexers !== undefined) this.#addIndexers(indexers);
    this.entries = this.#store as ReadonlyIndexer<Entry<T>, Name | "namespace">;
    this.indexer = new ObjectIndexer(this.entries, this.#quarantine);
    this.#unchecked = resource !== undefined && "verbs" in resource ? resource.fields ?? [] : [];
    const fields = resource?.fields && FieldTree.of(resource.fields);
    this.lister = new EntryLister<T>(this.#store, this.#quarantine, fields);
    this.#processor = new Processor<T>({
      name: this.#name,
      entries: (key) => key === undefined ? this.#store.list() : this.#entriesOf(key),
      size: () => this.#store.size,
      resourceVersion: () => this.lastSyncResourceVersion,
      quarantine: this.#quarantine,
      report,
      waitForSync: (handler, signal, call) =>
        this.#wait(`handler "${handler}" of "${this.#resource}" to sync`, signal, call),
      resyncMs,
      graceMs,
    });
    this.#changes = new Latest(() => this.status());
    this.#writer = new StoreWriter<T>({
      store: this.#store,
      intake: this.#intake,
      quarantine: this.#quarantine,
      processor: this.#processor,
      skipsUnchanged: resource?.fields !== undefined && unchanged !== "deliver",
    });
    this.#parts = sources.map(({ namespace, source }) =>
      new NamespaceSync<T>({
        source,
        namespace,
        store: this.#store,
        writer: this.#writer,
        intake: this.#intake,
        managedFields,
        secretData,
        reflector: options.reflector,
        onPhase: (phase, changed) => this.#entered(phase, changed),
        onSynced: () => this.#partSynced(),
        onError: report,
      })
    );
  }

  /** `true` once the cache has been equal to the server; of several namespaces, in each of them. */
  get hasSynced(): boolean {
    return this.#parts.every((part) => part.hasSynced);
  }

  /**
   * The version up to which the cache has everything; `""` before the first list. Of several namespaces it is the oldest, or `""`
   * where their versions cannot be ordered.
   */
  get lastSyncResourceVersion(): string {
    return oldestVersion(this.#parts.map(({ gate }) => gate.version));
  }

  /**
   * Adds indexes, fills them at once, and returns this informer, typed with their names.
   *
   * @throws {Error} when an index of one of these names exists, or the informer has stopped; then it adds none of them.
   */
  withIndexers<More extends string>(indexers: Indexers<T, More>): SharedIndexInformer<T, Name | More> {
    if (this.#isStopped) throw new Error(`Cannot add an index to ${this.#name}: it has stopped already`);
    this.#addIndexers(indexers);
    return this as unknown as SharedIndexInformer<T, Name | More>;
  }

  /** Returns the present status, in a few microseconds, whatever the size of the cache. */
  status(): InformerStatus {
    const { state, since, cause, notLiveSince, retryAt } = this.#state;
    return withErrorJson({
      state,
      since,
      ...(cause === undefined ? {} : { cause }),
      ...(notLiveSince === undefined ? {} : { notLiveSince }),
      ...(notLiveSince === undefined || !this.hasSynced ? {} : { staleMs: Date.now() - notLiveSince.getTime() }),
      ...(retryAt === undefined ? {} : { retryAt }),
      resourceVersion: this.lastSyncResourceVersion,
      ...(this.#parts.length === 1 ? {} : { namespaces: this.#parts.map(({ status }) => status) }),
      objects: this.#store.size,
      ...totalOf(this.#parts.map(({ counters }) => counters)),
      errors: this.#errors,
      quarantined: this.#quarantine.size,
      outdated: this.#writer.outdated,
      differences: this.#differences,
      ...(this.#lastCheck === undefined ? {} : { lastCheck: this.#lastCheck }),
      handlers: this.#processor.status,
    });
  }

  /**
   * Returns the sizes of the cached objects. It takes 0.1 to 0.3 s for a million of them, and parses none.
   */
  memory(): MemoryReport {
    const meter = new MemoryMeter();
    for (const entry of this.#store) meter.add(entry);
    return meter.report;
  }

  /** Yields the present status, then the newest one after changes of state, cause, lists or watches. */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<InformerStatus> {
    return this.#changes.read(options);
  }

  /**
   * Calls `handler` for the cached objects, as added events with `initial`, then for changes; never before this method has
   * returned.
   *
   * @throws {Error} when the informer has stopped.
   * @throws {RangeError} when an option is out of range.
   */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#processor.add(handler, options);
  }

  /**
   * Returns the cached objects as events, then changes. The iterator begins at its first `next()`, and ends when the informer
   * stops, or at `break`.
   *
   * `next()` rejects with the signal's reason, with an error when the backlog exceeds its `{ max }`, and when the informer has
   * stopped before the first one.
   */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#processor.stream(options);
  }

  /**
   * Returns the cached objects for which `where` holds, in the order of `sortBy`, for readers that show a part of them: `offset` and
   * `limit` are the part that they read if they name none. The view follows the cache until it is disposed, the signal aborts, or
   * the informer stops.
   *
   * A change of an object costs O(log n); see {@linkcode CacheView}.
   *
   * @throws {SyntaxError} when a sort key is no path of a field.
   * @throws {RangeError} when the offset or limit is no count.
   * @throws {Error} when the informer has stopped.
   *
   * @example
   * ```ts
   * import { Client, SharedIndexInformer } from "@kube/informer";
   * import { Pod } from "@kube/informer/kinds/core/v1";
   * import { FakeApiServer, pod } from "@kube/informer/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const server = new FakeApiServer();
   * for (const name of ["cart-0", "cart-1", "web-0"]) server.create(Pod, pod({ name, namespace: "shop" }));
   * using client = new Client({ server: "http://fake", transport: server });
   * await using pods = new SharedIndexInformer(client.resource(Pod));
   * pods.run();
   * using view = pods.view({ sortBy: "-metadata.name", limit: 2 });
   * for await (const { total, rows } of view.changes()) { // all rows of the window first, then its changes
   *   assertEquals([total, rows?.map(({ key }) => key)], [3, ["shop/web-0", "shop/cart-1"]]);
   *   break;
   * }
   * ```
   */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    return new CacheView((handler, registered) => this.addEventHandler(handler, registered), options);
  }

  /**
   * Resolves with the first object, cached or to come, for which the predicate holds. It reads, and so parses, every object, or
   * only the one of `key`, which is looked up; a predicate of {@linkcode path} parses none but the last.
   *
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   * @throws an error of the predicate.
   */
  until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    const { key } = options;
    const what = `${key === undefined ? "an object" : `"${key}"`} of "${this.#resource}"`;
    return this.#wait(what, options.signal, () => this.#until(predicate, options));
  }

  async #until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey }): Promise<T> {
    const { key, signal } = options;
    const holds = ofEntries(predicate);
    for await (const event of this.#processor.stream({ signal, name: "until" }, key)) {
      if (event.type === "synced" || event.type === "deleted") continue;
      try {
        if (holds(event)) return event.object;
      } catch (error) {
        if (error !== event.error) throw error; // the quarantine reports an object that cannot be read
      }
    }
    throw this.#stopError();
  }

  /**
   * Resolves when there is no object of that key: at once, if there is none when the cache has synced, otherwise when it is
   * deleted, even if another object of that name follows.
   *
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   */
  untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    const { signal } = options;
    return this.#wait(`the deletion of "${key}" of "${this.#resource}"`, signal, () => this.#untilDeleted(key, signal));
  }

  async #untilDeleted(key: ObjectKey, signal: AbortSignal | undefined): Promise<void> {
    let there = false;
    for await (const event of this.#processor.stream({ signal, name: "untilDeleted" }, key)) {
      if (event.type === "deleted" || (event.type === "synced" && !there)) return;
      there = true;
    }
    throw this.#stopError();
  }

  /**
   * Resolves once the cache is at `resourceVersion` or later, so that a program can read its own write. The cache learns of a
   * write outside its selection only by the next change or bookmark, so pass a signal.
   *
   * For an informer of several namespaces, `namespace` names that of the write; without it, every
   * namespace must have reached the version.
   *
   * @throws {RangeError} when a version is not a decimal number, or the informer has no such namespace.
   * @throws {Error} when a relist goes back to an older state.
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   */
  async atLeast(resourceVersion: string, options: Abortable & { readonly namespace?: string } = {}): Promise<void> {
    const parts = this.#partsOf(options.namespace);
    const { signal } = options;
    await this.#wait(
      `version ${resourceVersion} of "${this.#resource}"`,
      signal,
      () => all(parts, signal, (part, signal) => part.gate.wait(resourceVersion, { signal })),
    );
  }

  /**
   * Lists and watches until the signal aborts or the informer is disposed; resolves when the running calls of handlers have
   * returned. An informer runs once.
   *
   * @throws {Error} when it runs or has run already; when a handler's call has not returned within `graceMs`.
   */
  run(options: Abortable = {}): Promise<void> {
    if (this.#running !== undefined || this.#isStopped) {
      const state = this.#isStopped ? "has stopped" : "is running";
      return Promise.reject(new Error(`Cannot run ${this.#name}: it ${state} already`));
    }
    return this.#running = this.#run(options);
  }

  /**
   * Ends the list or watch until {@linkcode resume}: the informer sends no requests, and keeps cache, indexes and handlers.
   * Before `run()` it delays the first list. Waits continue until the informer is resumed or stopped.
   */
  pause(): void {
    for (const part of this.#parts) part.pause();
    this.#stateChanged();
  }

  /**
   * Ends a pause. The cache is `stale` until the watch is open, which resumes at the version of the cache, without a list. If the
   * server has that version no longer, the collection is listed, and handlers receive the difference.
   */
  resume(): void {
    for (const part of this.#parts) part.resume();
    this.#stateChanged();
  }

  /**
   * Returns the cache as bytes: its objects as they are now, and their version, for {@linkcode restore}. Objects that were never
   * read are copied and not parsed. What a `transform` returned is written as JSON.
   *
   * The bytes are made as they are read, 256 KiB at a time, or one object if that is larger; until then the objects stay in memory.
   *
   * @throws {Error} when the cache has not synced.
   * @throws {TypeError} when the objects are Secrets with their data, unless `secrets` is set.
   */
  snapshot(options: SnapshotOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { cluster = "", secrets = false } = options;
    if (!this.hasSynced) throw new Error(`Cannot write a snapshot of ${this.#name}: it has not synced`);
    if (this.hasSecrets && !secrets) {
      throw new TypeError(
        `Cannot write a snapshot of ${this.#name}: it has the data of Secrets; set "secrets" to write it`,
      );
    }
    const { notLiveSince } = this.#state;
    return snapshotStream(
      {
        scope: { ...this.#scope, cluster },
        versions: this.#parts.map(({ gate }) => gate.version),
        at: notLiveSince?.getTime() ?? Date.now(),
      },
      this.#parts.map(({ entries }) => {
        return { entries, originalKey: (entry: Entry<T>) => this.#intake.originalKey(entry) };
      }),
    );
  }

  /**
   * Fills the cache from a snapshot, before {@linkcode run}: it can be read at once, and is `stale`, with the age of the snapshot.
   * Handlers receive its objects as initial ones. The watch resumes at the version of the snapshot, without a list; if the server
   * has that version no longer, the collection is listed, and handlers receive the difference.
   *
   * The objects are not transformed again: give snapshots of another `transform` another place. A damaged snapshot is found by
   * checksums; a forged one is not.
   *
   * @throws {SnapshotError} when the snapshot is damaged, or of another resource, selection, cluster or form of objects; then
   * nothing has changed.
   * @throws {Error} when the informer has run or has objects already; what the reading of `snapshot` throws.
   */
  async restore(
    snapshot: AsyncIterable<Uint8Array>,
    options: Pick<SnapshotOptions, "cluster"> = {},
  ): Promise<void> {
    this.#checkRestore();
    const { parts, header } = await this.#read(snapshot, { ...this.#scope, cluster: options.cluster ?? "" });
    this.#checkRestore();
    this.#state.restored(header.at);
    void this.#detach(parts.flat());
    for (const [index, part] of this.#parts.entries()) {
      const entries = parts[index].map(({ entry, originalKey }) => this.#intake.restored(entry, originalKey));
      part.restore(entries, header.versions[index], header.at);
    }
    this.#changes.changed();
  }

  /**
   * Lets {@linkcode run} begin with a list although the cache was restored, whose objects may not be those of the server. Handlers
   * receive the difference.
   */
  listFirst(): void {
    for (const part of this.#parts) part.listFirst();
  }

  /** Gives the restored entries texts of their own, in later turns. */
  async #detach(restored: readonly RestoredEntry<T>[]): Promise<void> {
    let size = 0;
    for (const { text } of restored) {
      size += text.detach();
      if (size < DETACHED_BYTES) continue;
      size = 0;
      await nextTurn();
      if (this.#isStopped) return;
    }
  }

  async #read(snapshot: AsyncIterable<Uint8Array>, scope: SnapshotScope): Promise<SnapshotContents<T>> {
    try {
      return await readSnapshot<T>(snapshot, this.#reduction, (header) => checkSnapshotScope(header, scope));
    } catch (cause) {
      if (!(cause instanceof SnapshotError)) throw cause;
      throw new SnapshotError(cause.reason, `Cannot restore ${this.#name} from this snapshot: ${cause.message}`);
    }
  }

  #checkRestore(): void {
    if (this.#running === undefined && !this.#isStopped && !this.hasSynced) return;
    const state = this.#isStopped ? "has stopped" : this.#running === undefined ? "has objects" : "is running";
    throw new Error(`Cannot restore ${this.#name}: it ${state} already`);
  }

  /**
   * Resolves once {@linkcode hasSynced}; with `namespace`, once that one of several has synced.
   *
   * @throws {WaitError} unless `patient`, as soon as the server refuses the first list (400, 401, 403, 404), there are no
   * credentials, or the runtime does not permit the connection; the error is its `cause`, and the informer retries in any case.
   * Of several namespaces it throws the first refusal, and {@linkcode status} has the cause of each.
   * @throws {WaitError} when the signal aborts, or the informer stops first.
   * @throws {RangeError} when the informer has no such namespace.
   */
  async waitForCacheSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string } = {},
  ): Promise<void> {
    const { patient, namespace } = options;
    const parts = this.#partsOf(namespace);
    const waits = (signal?: AbortSignal): Promise<void>[] =>
      parts.map((part) => {
        const where = part.namespace === undefined ? "" : ` in namespace "${part.namespace}"`;
        const what = `"${this.#resource}"${where} to sync`;
        return this.#wait(what, signal, () => part.waitForSync({ patient, signal }), part.state);
      });
    await joined(waits, options.signal);
  }

  /**
   * Compares the cache with the server, and repairs what differs. A difference means that the server, or something between,
   * has lost an event; or that the server's history went back, as that of a restored etcd does. It is reported to `onError` as
   * a {@linkcode CacheDifferenceError}, and counted by {@linkcode status}.
   *
   * - The server is asked for metadata alone, in pages, at the version of the cache or a newer one. Objects are compared by uid
   *   and resourceVersion; equal ones lead to no event.
   * - Up to 100 objects that differ are read again, one by one, and handlers receive events of them. A deletion that was missed
   *   has `finalStateUnknown`. A state that the watch has sent meanwhile is never replaced by an older one.
   * - The collection is listed if more differ, if the history went back, or if the watch is silent: it does not reach the
   *   version of objects that differ within 90 s.
   * - What this cannot show: an object of which cache and server have different states of one uid and version.
   *
   * One check runs at a time per client; others wait for it. `check: { everyMs }` of the options checks regularly while the
   * informer is live.
   *
   * @throws {Error} when the informer is paused, has stopped, or has not synced yet.
   * @throws the error of a request that fails, or the reason of the signal.
   */
  async check(options: Abortable = {}): Promise<CheckResult> {
    const { signal } = options;
    signal?.throwIfAborted();
    using job = new DerivedController(signal, this.#job.signal);
    return await inTurn(this.#server, () => this.#check(job.signal), { signal: job.signal });
  }

  /**
   * Stops the informer and waits for running calls of handlers; from inside a handler it does not wait for that call. After an
   * `await` the informer cannot see where it is called from: abort the signal of `run()` there. It rejects as `run()` does,
   * unless that has rejected before.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return; // a failure was that of run()
    const caller = this.#processor.caller;
    this.#job.abort(new DOMException(`${this.#name} was disposed`, "AbortError"));
    if (caller === undefined) return await (this.#running ?? this.#stop());
    // `run()` waits for the running call, which may wait for this disposal.
    await this.#following;
    await this.#processor.stop(caller);
  }

  async #run(options: Abortable): Promise<void> {
    const { signal } = options;
    const stop = (): void => this.#job.abort(signal!.reason);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    this.#processor.begin();
    const checking = this.#checkRegularly();
    const failure = await (this.#following = this.#follow());
    await checking;
    signal?.removeEventListener("abort", stop);
    await this.#stop(failure?.error).finally(() => this.#hasEnded = true);
    if (failure !== undefined) throw failure.error;
  }

  async #follow(): Promise<{ readonly error: unknown } | undefined> {
    let failure: { readonly error: unknown } | undefined;
    await Promise.all(this.#parts.map(async (part) => {
      try {
        await part.run(this.#job.signal);
      } catch (error) {
        failure ??= { error };
        this.#job.abort(error); // ends the others too
      }
    }));
    return failure;
  }

  async #checkRegularly(): Promise<void> {
    const { everyMs = Infinity } = this.#options.check ?? {};
    if (everyMs === Infinity) return;
    const { signal } = this.#job;
    while (!signal.aborted) {
      try {
        await sleep(everyMs * (1 + CHECK_JITTER * Math.random()), { signal });
        // Otherwise a list or a resumed watch repairs the cache, or nothing can be read.
        if (this.#state.state === "live") await this.check();
      } catch (error) {
        if (!signal.aborted && this.#state.state !== "paused") this.#report(error);
      }
    }
  }

  async #check(signal: AbortSignal): Promise<CheckResult> {
    let result = NOTHING_CHECKED;
    for (const part of this.#parts) {
      const { state } = this.#state;
      const isIdle = state === "paused" || state === "stopped";
      if (isIdle || !this.hasSynced) {
        throw new Error(`Cannot check ${this.#name}: it ${isIdle ? `is ${state}` : "has not synced yet"}`);
      }
      result = addResults(result, await part.check(signal));
    }
    this.#differences += result.differences;
    this.#lastCheck = { ...result, at: new Date() };
    this.#changes.changed();
    const { differences, keys, repair, reason } = result;
    if (repair === "objects" || repair === "list") {
      const text = repair === "objects"
        ? "repaired by further reads"
        : `the collection is listed again, because ${reason}`;
      this.#report(new CacheDifferenceError(this.#resource, differences, keys, text));
    }
    return result;
  }

  async #stop(cause?: unknown): Promise<void> {
    this.#isStopped = true;
    this.#state.stopped(cause);
    const error = this.#stopError();
    for (const part of this.#parts) part.end(error, cause);
    this.#changes.changed();
    this.#changes.end();
    await this.#processor.stop();
  }

  #stopError(): WaitError {
    return waitError({ what: this.#name, resource: this.#resource, waitedMs: 0 }, this.#state, { ended: "stopped" });
  }

  /** Awaits `call`; a refusal of `state`, the removal of a handler, and the end by `signal` become a {@linkcode WaitError}. */
  async #wait<R>(
    what: string,
    signal: AbortSignal | undefined,
    call: () => Promise<R>,
    state: StateKeeper = this.#state,
  ): Promise<R> {
    const beganMs = monotonicMs();
    try {
      return await call();
    } catch (error) {
      const wait = { what, resource: this.#resource, waitedMs: monotonicMs() - beganMs };
      if (signal?.aborted && error === signal.reason) throw waitError(wait, state, { ended: "aborted", reason: error });
      if (error !== undefined && error === state.refusal) throw waitError(wait, state, { ended: "refused" });
      if (error instanceof HandlerRemovedError) throw waitError(wait, state, { ended: "removed" });
      throw error;
    }
  }

  #addIndexers(indexers: Indexers<T, string>): void {
    const wrapped = Object.entries(indexers).map(([name, valuesOf]) => {
      return [name, this.#intake.indexFunction(name, valuesOf as IndexFunction<T>)];
    });
    if (wrapped.length === 0) return;
    this.#store.withIndexers(Object.fromEntries(wrapped));
    if (Object.values(indexers).some(parsesObjects)) this.#intake.reads = true;
    // Filling the indexes has parsed entries that had not been read before.
    for (const entry of this.#store) if (entry.error !== undefined) this.#quarantine.take(entry, entry.error);
  }

  #entriesOf(key: ObjectKey): readonly Entry<T>[] {
    const entry = this.#store.getByKey(key);
    return entry === undefined ? [] : [entry];
  }

  #stateChanged(): void {
    if (this.#isStopped) return;
    this.#state.follow(this.#parts.map(({ state }) => state));
    this.#changes.changed();
  }

  #entered(phase: ReflectorPhase, changed: boolean): void {
    this.#state.follow(this.#parts.map(({ state }) => state));
    if (phase.name === "waiting" && phase.error !== undefined) this.#report(phase.error);
    const counted = phase.name === "listing" || (phase.name === "watching" && !phase.open);
    if (counted || changed) this.#changes.changed();
    this.#options.reflector?.onPhase?.(phase);
  }

  /** Called when a namespace has synced: with the last one, the informer has. */
  #partSynced(): void {
    if (this.hasSynced) {
      this.#processor.distribute({
        type: "synced",
        objects: this.#store.size,
        resourceVersion: this.lastSyncResourceVersion,
      });
      if (this.#unchecked.length > 0) void this.#checkFields();
    }
  }

  /** Reports the paths of a kind found by discovery that lead nowhere: the compiler has not checked them. */
  async #checkFields(): Promise<void> {
    const unknown = await unknownFields(this.#store, this.#unchecked);
    if (unknown.length > 0 && !this.#isStopped) this.#report(new UnknownFieldsError(this.#resource, unknown));
  }

  /** Returns the parts that a wait concerns. An only part is returned whatever its namespace. */
  #partsOf(namespace: string | undefined): readonly NamespaceSync<T>[] {
    if (namespace === undefined || this.#parts.length === 1) return this.#parts;
    const part = this.#parts.find((part) => part.namespace === namespace);
    if (part !== undefined) return [part];
    const names = this.#parts.map(({ namespace }) => `"${namespace}"`).join(", ");
    throw new RangeError(`Cannot wait for namespace "${namespace}": ${this.#name} follows ${names}`);
  }

  #report(error: unknown): void {
    this.#errors++;
    const { onError = (error) => this.#reporter.report(this.#name.replace(/^the /, ""), error) } = this.#options;
    callObserver(() => onError(error));
  }
}

function keyOf<T>(entry: Entry<T>): ObjectKey {
  return entry.key;
}

/** Waits for all parts; when one wait fails, the others end. */
async function all<T extends KubernetesObject>(
  parts: readonly NamespaceSync<T>[],
  signal: AbortSignal | undefined,
  wait: (part: NamespaceSync<T>, signal?: AbortSignal) => Promise<void>,
): Promise<void> {
  if (parts.length === 1) return await wait(parts[0], signal);
  using job = new DerivedController(signal);
  await Promise.all(parts.map((part) => wait(part, job.signal)));
}

/** @throws {TypeError} when there is no source, or a namespace comes twice or has no name. */
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

function resourceOf(source: object): Resource | undefined {
  return (source as { readonly resource?: Resource }).resource;
}
