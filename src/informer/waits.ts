import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import type { Abortable } from "../api/options.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import { ofEntries } from "../entry/path.ts";
import type { CachedCollection } from "./cache/cached_collection.ts";
import { HandlerRemovedError } from "./events/listener.ts";
import type { Processor } from "./events/processor.ts";
import type { CollectionSync } from "./sync/collection_sync.ts";
import type { StateKeeper } from "./sync/state.ts";
import { joined, type WaitError, waitError } from "./wait_error.ts";

/** The waits of an informer's callers. They reject as those methods of `SharedIndexInformer` do. */
export class Waits<T extends KubernetesObject> {
  readonly #collection: CachedCollection<T>;
  readonly #sync: CollectionSync<T>;
  readonly #processor: Processor<T>;

  /** Waits for what `sync` reaches and `processor` delivers. */
  constructor(collection: CachedCollection<T>, sync: CollectionSync<T>, processor: Processor<T>) {
    this.#collection = collection;
    this.#sync = sync;
    this.#processor = processor;
  }

  /** The error of a wait that the end of the informer ends. */
  get stopped(): WaitError {
    const { informer, name } = this.#collection;
    return waitError({ what: informer, resource: name, waitedMs: 0 }, this.#sync.state, { ended: "stopped" });
  }

  /** Resolves once the cache, or the part of a namespace, has synced. */
  async forSync(
    options: Abortable & { readonly patient?: boolean; readonly namespace?: string },
  ): Promise<void> {
    const { patient, namespace } = options;
    const parts = this.#sync.partsOf(namespace);
    const waits = (signal?: AbortSignal): Promise<void>[] =>
      parts.map((part) => {
        const where = part.namespace === undefined ? "" : ` in namespace "${part.namespace}"`;
        const what = `"${this.#collection.name}"${where} to sync`;
        return this.#wait(what, signal, () => part.waitForSync({ patient, signal }), part.state);
      });
    await joined(waits, options.signal);
  }

  /** Awaits `call`, the wait for the sync of a handler. */
  forHandler(handler: string, signal: AbortSignal | undefined, call: () => Promise<void>): Promise<void> {
    return this.#wait(`handler "${handler}" of "${this.#collection.name}" to sync`, signal, call);
  }

  /** Resolves once the cache, or the part of a namespace, has reached a version. */
  async atLeast(resourceVersion: string, options: Abortable & { readonly namespace?: string }): Promise<void> {
    const { signal, namespace } = options;
    const parts = this.#sync.partsOf(namespace);
    const waits = (signal?: AbortSignal): Promise<void>[] =>
      parts.map(({ gate }) => gate.wait(resourceVersion, { signal }));
    await this.#wait(`version ${resourceVersion} of "${this.#collection.name}"`, signal, () => joined(waits, signal));
  }

  /** Resolves with the first object for which the predicate holds. */
  until(predicate: (object: T) => boolean, options: Abortable & { readonly key?: ObjectKey }): Promise<T> {
    const { key, signal } = options;
    const what = `${key === undefined ? "an object" : `"${key}"`} of "${this.#collection.name}"`;
    return this.#wait(what, signal, async () => {
      const holds = ofEntries(predicate);
      for await (const event of this.#processor.stream({ signal, name: "until" }, key)) {
        if (event.type === "synced" || event.type === "deleted") continue;
        try {
          if (holds(event)) return event.object;
        } catch (error) {
          if (error !== event.error) throw error; // the quarantine reports an object that cannot be read
        }
      }
      signal?.throwIfAborted();
      throw this.stopped;
    });
  }

  /** Resolves when there is no object of that key. */
  untilDeleted(key: ObjectKey, { signal }: Abortable): Promise<void> {
    return this.#wait(`the deletion of "${key}" of "${this.#collection.name}"`, signal, async () => {
      let there = false;
      for await (const event of this.#processor.stream({ signal, name: "untilDeleted" }, key)) {
        if (event.type === "deleted" || (event.type === "synced" && !there)) return;
        there = true;
      }
      signal?.throwIfAborted();
      throw this.stopped;
    });
  }

  /** Awaits `call`; a refusal of `state`, the removal of a handler, and the end by `signal` become a {@linkcode WaitError}. */
  async #wait<R>(
    what: string,
    signal: AbortSignal | undefined,
    call: () => Promise<R>,
    state: StateKeeper = this.#sync.state,
  ): Promise<R> {
    const beganMs = monotonicMs();
    try {
      return await call();
    } catch (error) {
      const wait = { what, resource: this.#collection.name, waitedMs: monotonicMs() - beganMs };
      if (signal?.aborted && error === signal.reason) throw waitError(wait, state, { ended: "aborted", reason: error });
      if (error !== undefined && error === state.refusal) throw waitError(wait, state, { ended: "refused" });
      if (error instanceof HandlerRemovedError) throw waitError(wait, state, { ended: "removed" });
      throw error;
    }
  }
}
