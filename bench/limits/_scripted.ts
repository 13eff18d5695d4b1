import {
  type CacheEntry,
  entryOf,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  type WatchChange,
} from "../../mod.ts";

/** A small object, enough to be filed. */
export function small(index: number, version: number): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Small",
    metadata: {
      namespace: `namespace-${index % 100}`,
      name: `object-${index}`,
      uid: `uid-${index}`,
      resourceVersion: String(version),
    } as KubernetesObject["metadata"],
  };
}

/**
 * A list, and a watch that delivers batches of changes when it is asked to: nothing between a test and the informer.
 */
export class Scripted implements ListerWatcher<KubernetesObject> {
  readonly #listed: readonly KubernetesObject[];
  readonly #ready = Promise.withResolvers<Iterable<readonly KubernetesObject[]>>();
  readonly #watching = Promise.withResolvers<void>();

  /** Lists these objects. */
  constructor(listed: readonly KubernetesObject[]) {
    this.#listed = listed;
  }

  /** Resolves once the informer watches. */
  get watching(): Promise<void> {
    return this.#watching.promise;
  }

  /** Delivers these batches of changes, each in a turn of its own, and then nothing more. */
  deliver(batches: Iterable<readonly KubernetesObject[]>): void {
    this.#ready.resolve(batches);
  }

  /** As the interface says. */
  async *listEntries(): AsyncGenerator<ListPart<KubernetesObject>, void, undefined> {
    await Promise.resolve(); // as a body would
    yield {
      entries: this.#listed.map((object): CacheEntry<KubernetesObject> => entryOf(object)),
      resourceVersion: "1",
    };
  }

  /** As the interface says. */
  async *watchChanges(
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly WatchChange<KubernetesObject>[], void, undefined> {
    yield [];
    this.#watching.resolve();
    for (const batch of await this.#ready.promise) {
      yield batch.map((object): WatchChange<KubernetesObject> => ({ type: "MODIFIED", entry: entryOf(object) }));
    }
    await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
  }
}
