import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { compareResourceVersions, isOlder, isResourceVersion } from "../api/resource_version.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { LabelSelector } from "../api/selector.ts";
import type { ObjectWrite } from "../client/object_write.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";

/** An informer whose cache must have seen the writes of its kind. */
export type Cache = SharedIndexInformer<KubernetesObject, string>;

/** The last writes of one object by one key. */
interface Pending {
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  /** The version of the last write that was no deletion; `""` when there was none. */
  readonly resourceVersion: string;
  /** True when the last write was a deletion. */
  readonly isDeleted: boolean;
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** The number of keys from which on keys whose writes were seen are removed. */
const SWEEP_AT = 1024;

/**
 * The writes of reconciles that the caches have perhaps not seen, by the key that was reconciled.
 *
 * A cache has seen a write when it is at the version of the write; it has seen a deletion when the key is gone or has another
 * uid. Writes of kinds without a cache, and of objects that no cache selects, are not remembered.
 */
export class PendingWrites {
  readonly #caches = new Map<string, Cache[]>();
  /** Has a key if and only if one of its writes was perhaps not seen when it was last looked at. */
  readonly #writes = new Map<ObjectKey, Map<string, Pending>>();
  #sweepAt = SWEEP_AT;

  /** The number of keys with writes. */
  get size(): number {
    return this.#writes.size;
  }

  /** Makes `cache` one of those that must have seen the writes of `resource`. */
  addCache(resource: Resource, cache: Cache): void {
    const name = resourceName(resource);
    const caches = this.#caches.get(name) ?? [];
    if (!caches.includes(cache)) this.#caches.set(name, [...caches, cache]);
  }

  /** Remembers a write of the reconcile of `key`. */
  record(key: ObjectKey, write: ObjectWrite): void {
    const { resource, namespace, labels } = write;
    const caches = this.#caches.get(resourceName(resource));
    if (caches === undefined || !caches.some((cache) => concerns(cache, write))) return;
    const writes = this.#writes.get(key) ?? new Map<string, Pending>();
    const id = `${resourceName(resource)} ${write.key}`;
    const before = writes.get(id);
    const isDeleted = write.resourceVersion === "";
    // The deletion of an object whose creation the cache has not seen is seen only after the creation.
    const resourceVersion = isDeleted ? before?.resourceVersion ?? "" : write.resourceVersion;
    // An answer without a uid is about the object that the cache has.
    const uid = write.uid || before?.uid || caches[0].entries.getByKey(write.key)?.uid || "";
    writes.set(id, { resource, key: write.key, namespace, uid, resourceVersion, isDeleted, labels });
    this.#writes.set(key, writes);
    if (this.#writes.size >= this.#sweepAt) this.#sweep();
  }

  /** Returns true when the caches have seen all writes of `key`, which are then forgotten. */
  hasSeen(key: ObjectKey): boolean {
    const writes = this.#writes.get(key);
    if (writes === undefined) return true;
    for (const [id, write] of writes) {
      if (this.#cachesOf(write).every((cache) => isSeen(cache, write))) writes.delete(id);
    }
    if (writes.size > 0) return false;
    this.#writes.delete(key);
    return true;
  }

  /** Resolves when the caches may have seen all writes of `key`, or the signal aborts; never rejects. */
  async wait(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const waits = [...this.#writes.get(key)?.values() ?? []].flatMap((write) =>
      this.#cachesOf(write).map((cache) => seen(cache, write, signal))
    );
    await Promise.allSettled(waits);
  }

  /** Forgets the writes of `key`, and returns a description of those that were not seen. */
  drop(key: ObjectKey): string {
    const writes = [...this.#writes.get(key)?.values() ?? []];
    this.#writes.delete(key);
    return writes.map(({ resource, key, isDeleted, resourceVersion }) => {
      return `${resourceName(resource)} "${key}" ${isDeleted ? "deleted" : `at version ${resourceVersion}`}`;
    }).join(", ");
  }

  #cachesOf({ resource }: Pending): readonly Cache[] {
    return this.#caches.get(resourceName(resource)) ?? [];
  }

  #sweep(): void {
    for (const key of [...this.#writes.keys()]) this.hasSeen(key);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#writes.size);
  }
}

/** Returns true when a cache has the object, or will have it. */
function concerns(cache: Cache, { key, namespace, resourceVersion, labels }: ObjectWrite): boolean {
  if (cache.entries.getByKey(key) !== undefined) return true;
  // A creation that is not seen yet may come before the deletion: `record` finds it by its write.
  if (resourceVersion === "") return true;
  return cache.selections.some(({ namespace: only, labelSelector }) =>
    (!only || only === namespace) && (!labelSelector || LabelSelector.parse(labelSelector).matches(labels))
  );
}

function isSeen(cache: Cache, { key, uid, resourceVersion, isDeleted }: Pending): boolean {
  const entry = cache.entries.getByKey(key);
  const isSame = entry !== undefined && (uid === "" || entry.uid === uid);
  if (isDeleted && isSame) return false;
  if (resourceVersion === "") return true;
  if (isSame && (entry.resourceVersion === resourceVersion || isOlder(resourceVersion, entry.resourceVersion))) {
    return true;
  }
  const version = cache.lastSyncResourceVersion;
  return isResourceVersion(version) && isResourceVersion(resourceVersion) &&
    compareResourceVersions(version, resourceVersion) >= 0;
}

/** Resolves when a cache has seen a write. */
async function seen(cache: Cache, write: Pending, signal: AbortSignal): Promise<void> {
  const { key, namespace, resourceVersion, isDeleted } = write;
  if (isSeen(cache, write)) return;
  if (resourceVersion !== "") {
    if (isResourceVersion(resourceVersion)) {
      const several = cache.selections.length > 1;
      await cache.atLeast(resourceVersion, several ? { signal, namespace } : { signal });
    } else {
      await cache.until(({ metadata }) => metadata.resourceVersion === resourceVersion, { key, signal });
    }
  }
  if (isDeleted && !isSeen(cache, write)) await cache.untilDeleted(key, { signal });
}
