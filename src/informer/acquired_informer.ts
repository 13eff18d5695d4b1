import type { Entry } from "../api/entry.ts";
import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { DerivedController } from "../async/derived_controller.ts";
import type { PolledIterator } from "../async/polled_iterator.ts";
import type { ReadonlyIndexer } from "../store/indexer.ts";
import type { MemoryReport } from "./cache/memory_report.ts";
import type { Lister } from "./cache/lister.ts";
import type { Listener } from "./events/listener.ts";
import type { InformerEvent } from "./events/event.ts";
import type { HandlerOptions, HandlerRegistration, ResourceEventHandler } from "./events/handler.ts";
import type { InformerView } from "./informer_view.ts";
import type { SharedIndexInformer } from "./shared_index_informer.ts";
import type { InformerStatus } from "./status.ts";
import type { CheckResult } from "./sync/check_result.ts";
import { CacheView, type ViewOptions } from "./view/cache_view.ts";

/** The informer of a holder, until that is disposed. */
interface Held<T extends KubernetesObject, Name extends string> {
  readonly informer: SharedIndexInformer<T, Name>;
  readonly release: () => void;
}

/**
 * One holder of a shared informer, made by `SharedInformerFactory.acquire()`; its members are those of the informer.
 *
 * Disposing it gives the informer back, and ends what was begun here: handlers are removed (a running call continues, with its
 * signal aborted), iterators and views end, waits reject. Then its members throw; a second disposal does nothing.
 */
export class AcquiredInformer<T extends KubernetesObject, Name extends string = never>
  implements InformerView<T>, Disposable {
  readonly #name: string;
  /** Aborts when the holder is disposed. */
  readonly #job = new AbortController();
  /** `undefined` from the disposal on, so that a holder which is kept does not keep the cache. */
  #held: Held<T, Name> | undefined;

  /** Holds `informer`, called `name` in errors, until the disposal calls `release`. */
  constructor(informer: SharedIndexInformer<T, Name>, name: string, release: () => void) {
    this.#held = { informer, release };
    this.#name = name;
  }

  /** The cache, indexed by namespace and by `indexers`. Lists leave out objects that cannot be read. */
  get indexer(): ReadonlyIndexer<T, Name | "namespace"> {
    return this.#informer.indexer;
  }

  /** The same cache, as entries that are not parsed. */
  get entries(): ReadonlyIndexer<Entry<T>, Name | "namespace"> {
    return this.#informer.entries;
  }

  /** Reads the cache by namespace, name and label selector. */
  get lister(): Lister<T> {
    return this.#informer.lister;
  }

  /** `true` once the cache has been equal to the server; also while it is stale. */
  get hasSynced(): boolean {
    return this.#informer.hasSynced;
  }

  /** See `SharedIndexInformer.lastSyncResourceVersion`. */
  get lastSyncResourceVersion(): string {
    return this.#informer.lastSyncResourceVersion;
  }

  /** Returns the present status. After a pause the state is `stale`, with `staleMs`, until the watch is open. */
  status(): InformerStatus {
    return this.#informer.status();
  }

  /** See `SharedIndexInformer.memory()`. */
  memory(): MemoryReport {
    return this.#informer.memory();
  }

  /** See `SharedIndexInformer.statusChanges()`. */
  statusChanges(options: Abortable = {}): AsyncIterableIterator<InformerStatus> {
    return this.#bound(this.#informer.statusChanges(options));
  }

  /** See `SharedIndexInformer.addEventHandler()`. The disposal removes the handler. */
  addEventHandler(handler: ResourceEventHandler<T>, options: HandlerOptions<T> = {}): HandlerRegistration {
    return this.#bound(this.#informer.addEventHandler(handler, options));
  }

  /** See `SharedIndexInformer.events()`. The disposal ends the iterator. */
  events(options: HandlerOptions<T> = {}): AsyncIterableIterator<InformerEvent<T>> {
    return this.#bound(this.#informer.events(options));
  }

  /** See `SharedIndexInformer.view()`. The disposal ends the view. */
  view(options: ViewOptions<T> = {}): CacheView<T> {
    return new CacheView((handler, registered) => this.addEventHandler(handler, registered), options);
  }

  /** See `SharedIndexInformer.until()`. */
  until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey } = {}): Promise<T> {
    return this.#wait(options, (informer, bound) => informer.until(predicate, bound));
  }

  /** See `SharedIndexInformer.untilDeleted()`. */
  untilDeleted(key: ObjectKey, options: Abortable = {}): Promise<void> {
    return this.#wait(options, (informer, bound) => informer.untilDeleted(key, bound));
  }

  /** See `SharedIndexInformer.atLeast()`. */
  atLeast(resourceVersion: string, options: Abortable & { readonly namespace?: string } = {}): Promise<void> {
    return this.#wait(options, (informer, bound) => informer.atLeast(resourceVersion, bound));
  }

  /** See `SharedIndexInformer.waitForCacheSync()`. It resolves at once for a cache that was kept through a pause. */
  waitForCacheSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string } = {},
  ): Promise<void> {
    return this.#wait(options, (informer, bound) => informer.waitForCacheSync(bound));
  }

  /** See `SharedIndexInformer.check()`. */
  check(options: Abortable = {}): Promise<CheckResult> {
    return this.#wait(options, (informer, bound) => informer.check(bound));
  }

  /** Gives the informer back. */
  [Symbol.dispose](): void {
    if (this.#held === undefined) return;
    const { release } = this.#held;
    this.#held = undefined;
    this.#job.abort(this.#disposed());
    release();
  }

  get #informer(): SharedIndexInformer<T, Name> {
    if (this.#held === undefined) throw this.#disposed();
    return this.#held.informer;
  }

  #disposed(): Error {
    return new DOMException(`Cannot use the informer of "${this.#name}": this holder was disposed`, "AbortError");
  }

  /** Returns what the informer has returned, a {@linkcode PolledIterator} or a {@linkcode Listener}, which ends with the holder too. */
  #bound<R>(begun: R): R {
    (begun as R & Pick<Listener<T> | PolledIterator<unknown>, "endWith">).endWith(this.#job.signal);
    return begun;
  }

  async #wait<O extends Abortable, R>(
    options: O,
    wait: (informer: SharedIndexInformer<T, Name>, bound: O) => Promise<R>,
  ): Promise<R> {
    const informer = this.#informer;
    using job = new DerivedController(options.signal, this.#job.signal);
    return await wait(informer, { ...options, signal: job.signal });
  }
}
