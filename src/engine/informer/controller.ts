/**
 * {@linkcode Controller}, for programs that process the changes of a collection without an informer. Informers follow
 * their collections by `sync/collection_sync.ts`.
 *
 * @module
 */
import type { Abortable } from "../api/call_options.ts";
import type { CacheEntry } from "../api/entry.ts";
import type { ListerWatcher } from "../api/lister_watcher.ts";
import type { KubernetesObject } from "../api/object.ts";
import { checkNames } from "../errors/option_names.ts";
import type { DeltaFIFO, Deltas } from "../queue/delta_fifo.ts";
import { Reflector, type ReflectorOptions } from "../reflector/reflector.ts";

/** Options for a {@linkcode Controller}. */
export interface ControllerOptions<T extends KubernetesObject> {
  /** The collection to list and watch. */
  readonly source: ListerWatcher<T>;
  /** The queue that orders the changes. The controller closes it when it ends. */
  readonly queue: DeltaFIFO<CacheEntry<T>>;
  /** Called synchronously with the changes of one key. If it throws, the reflector lists again. */
  readonly process: (deltas: Deltas<CacheEntry<T>>) => void;
  /** Called after each list, batch and bookmark, when everything up to `resourceVersion` has been processed. */
  readonly onProgress?: (resourceVersion: string) => void;
  /** Options for the reflector. */
  readonly reflector?: ReflectorOptions;
}

/**
 * Follows one collection with your own store: a {@linkcode Reflector} writes into a {@linkcode DeltaFIFO}, and
 * `process` receives the queued changes. Unless you need your own store, create an informer.
 *
 * The controller drains the queue after each change from the watch. So you get changes in the server's order, across
 * keys, in the turn in which their bytes arrived. After a list it drains the queue once the list is committed. Only
 * then does the version count as seen.
 *
 * @example
 * ```ts
 * import { Client, Controller, DeltaFIFO, type CacheEntry, Indexer } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "cart-0", namespace: "shop" }));
 * using client = new Client({ server: "http://fake", transport: server });
 * const keyOf = (entry: CacheEntry<Pod>) => entry.key;
 * const store = new Indexer<CacheEntry<Pod>>({ keyOf });
 * const stop = new AbortController();
 * const controller = new Controller({
 *   source: client.resource(Pod),
 *   queue: new DeltaFIFO<CacheEntry<Pod>>({ keyOf, knownObjects: store }),
 *   process: ({ key, deltas }) => {
 *     for (const { type, value } of deltas) {
 *       if (type === "Deleted") store.deleteByKey(key);
 *       else store.set(key, value);
 *     }
 *   },
 *   onProgress: () => stop.abort(),
 * });
 * await controller.run({ signal: stop.signal });
 * assertEquals([...store.keys()], ["shop/cart-0"]);
 * ```
 */
export class Controller<T extends KubernetesObject> {
  readonly #queue: DeltaFIFO<CacheEntry<T>>;
  readonly #reflector: Reflector<T>;
  #hasSynced = false;
  #version = "";

  /**
   * Creates a controller. It sends no request before `run()`.
   *
   * @throws {RangeError} if a reflector option is out of range.
   */
  constructor(options: ControllerOptions<T>) {
    checkNames("create a controller", options, "source queue process onProgress reflector");
    const { source, queue, process, onProgress, reflector } = options;
    const drain = (): void => {
      while (queue.pop(process));
    };
    const passing = (push: (entry: CacheEntry<T>) => void) => (entry: CacheEntry<T>): void => {
      push.call(queue, entry);
      drain();
    };
    this.#queue = queue;
    this.#reflector = new Reflector<T>(source, {
      add: passing(queue.add),
      update: passing(queue.update),
      delete: passing(queue.delete),
      replacing: () => queue.replacing(),
      resync: () => queue.resync(),
      flush: (resourceVersion) => {
        drain();
        this.#version = resourceVersion;
        onProgress?.(resourceVersion);
        this.#hasSynced = true;
      },
    }, reflector);
  }

  /** `true` once the first list has been processed. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** The version up to which everything has been processed, and `""` before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#version;
  }

  /** Lists and watches until the signal aborts, then closes the queue and resolves. */
  async run(options: Abortable = {}): Promise<void> {
    using _queue = this.#queue;
    await this.#reflector.run(options);
  }
}
