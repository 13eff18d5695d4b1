import type { ObjectKey } from "../api/key.ts";
import type { KubernetesObject } from "../api/object.ts";
import { compareResourceVersions, isOlder, isResourceVersion } from "../api/resource_version.ts";
import { type Resource, resourceName } from "../api/resource.ts";
import { LabelSelector } from "../api/selector.ts";
import { DerivedController } from "../async/derived_controller.ts";
import type { ObjectWrite } from "../client/object_write.ts";
import type { SharedIndexInformer } from "../informer/shared_index_informer.ts";

/** An informer whose cache must have seen the writes of its kind. */
export type Cache = SharedIndexInformer<KubernetesObject, string>;

/** The last writes of one object by one key. */
interface Pending {
  /** The key that was reconciled. */
  readonly writer: ObjectKey;
  readonly resource: Resource;
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly uid: string;
  /** The version of the last write that was no deletion; `""` when there was none. */
  readonly resourceVersion: string;
  /** True when the last write was a deletion. */
  readonly isDeleted: boolean;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * The writes of reconciles that the caches have perhaps not seen, by the key that was reconciled.
 *
 * A cache has seen a write when it is at the version of the write; it has seen a deletion when the key is gone or has another
 * uid. Writes of kinds without a cache, and of objects that no cache selects, are not remembered.
 *
 * A write is superseded when its caches have seen it, and the object is then another one than was written. There may have been
 * no event of that: when a watch expires between the write and its undoing, the list after it shows no difference.
 */
export class PendingWrites implements Disposable {
  readonly #caches = new Map<string, Cache[]>();
  /** Has a key if and only if one of its writes was perhaps not seen when it was last looked at. */
  readonly #writes = new Map<ObjectKey, Map<string, Pending>>();
  /** The writes that are followed, by resource, in the order in which they were made; a set is followed while it has one. */
  readonly #followed = new Map<string, Set<Pending>>();
  readonly #onSuperseded: (key: ObjectKey, write: { readonly resource: string; readonly object: ObjectKey }) => void;
  readonly #job = new DerivedController();

  /** @param onSuperseded Called with the key that was reconciled when a write of it was superseded, and with the write. */
  constructor(
    onSuperseded: (key: ObjectKey, write: { readonly resource: string; readonly object: ObjectKey }) => void,
  ) {
    this.#onSuperseded = onSuperseded;
  }

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
    const pending = { writer: key, resource, key: write.key, namespace, uid, resourceVersion, isDeleted, labels };
    writes.set(id, pending);
    this.#writes.set(key, writes);
    const name = resourceName(resource);
    const followed = this.#followed.get(name) ?? new Set<Pending>();
    this.#followed.set(name, followed.add(pending));
    if (followed.size === 1) void this.#follow(followed);
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

  /** Waits for the caches, one write after the other, until none is left. */
  async #follow(writes: Set<Pending>): Promise<void> {
    const { signal } = this.#job;
    for (const write of writes) {
      const caches = this.#cachesOf(write);
      if (!caches.every((cache) => isSeen(cache, write))) {
        await Promise.allSettled(caches.map((cache) => seen(cache, write, signal)));
        if (signal.aborted) return;
      }
      writes.delete(write);
      const { writer, resource, key } = write;
      const own = this.#writes.get(writer);
      const id = `${resourceName(resource)} ${key}`;
      // A later reconcile has seen it, or has written again.
      if (own?.get(id) !== write) continue;
      if (caches.every((cache) => isShown(cache, write) || !concerns(cache, write))) {
        own.delete(id);
        if (own.size === 0) this.#writes.delete(writer);
      } else this.#onSuperseded(writer, { resource: resourceName(resource), object: key });
    }
  }

  /** Follows no write any longer. */
  [Symbol.dispose](): void {
    this.#job[Symbol.dispose]();
  }
}

/** Returns true when a cache has the object, or will have it. */
function concerns(
  cache: Cache,
  { key, namespace, resourceVersion, labels }: Pick<ObjectWrite, "key" | "namespace" | "resourceVersion" | "labels">,
): boolean {
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

/** Returns true when a cache has the object exactly as it was written. */
function isShown(cache: Cache, { key, resourceVersion, isDeleted }: Pending): boolean {
  return cache.entries.getByKey(key)?.resourceVersion === (isDeleted ? undefined : resourceVersion);
}

/** Resolves when a cache has seen a write. */
async function seen(cache: Cache, write: Pending, signal: AbortSignal): Promise<void> {
  const { key, namespace, resourceVersion, isDeleted } = write;
  if (isSeen(cache, write)) return; // survives: seen-already
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
