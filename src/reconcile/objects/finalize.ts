import { isNotFound } from "../../api/errors.ts";
import type { MergePatch } from "../../api/merge_patch.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Abortable } from "../../api/options.ts";
import { refuseReduced, type Whole } from "../../api/reduced.ts";
import type { ResourceClient } from "../../client/resource_client.ts";
import { retryOnConflict } from "./retry_on_conflict.ts";

/** Options for {@linkcode finalize}. */
export interface FinalizeOptions<T> extends Abortable {
  /** The name of the finalizer with the domain of the controller: `"example.com/backups"`. */
  readonly finalizer: string;
  /**
   * Removes what the controller made outside of the object's own dependents. It may run several times for one object, also
   * when it has succeeded before, so that it must succeed when there is nothing to remove.
   */
  readonly cleanup: (object: T, options: Abortable) => void | Promise<void>;
}

/**
 * Guards an object by a finalizer: returns the object when it may be reconciled, and `undefined` when it is being deleted, or
 * is gone.
 *
 * - An object that is not being deleted gets the finalizer before the promise resolves. Call it before anything is made that
 *   `cleanup` must remove.
 * - An object that is being deleted and has the finalizer is cleaned up; then the finalizer is removed. If the cleanup
 *   throws, the finalizer stays and the promise rejects with that error, so that the reconciler tries again.
 * - Whenever the process stops, the cleanup has run to its end, at least once, before the finalizer is gone. It may run again.
 * - At most one write, a merge patch of `metadata.finalizers` with the version of `object`; none when the finalizer is there.
 *   After a conflict the object is read again, and the decision is made anew. Another object of the same name is not touched.
 *
 * @throws {TypeError} when the name of the finalizer has no domain: the server refuses it for many kinds.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { finalize } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(ConfigMap, { metadata: { name: "tab" } });
 * using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
 * const maps = client.resource(ConfigMap);
 * const backups = new Set<string>();
 *
 * async function reconcile(name: string): Promise<void> {
 *   const map = await finalize(maps, await maps.get(name), {
 *     finalizer: "example.com/backups",
 *     cleanup: () => void backups.delete(name),
 *   });
 *   if (map !== undefined) backups.add(name);
 * }
 *
 * await reconcile("tab");
 * await maps.delete("tab"); // waits for the finalizer
 * await reconcile("tab");
 * assertEquals(backups.size, 0);
 * assertEquals(server.list(ConfigMap).length, 0);
 * ```
 */
export async function finalize<T extends KubernetesObject>(
  client: ResourceClient<T>,
  object: T & Whole,
  options: FinalizeOptions<T>,
): Promise<T | undefined> {
  const { finalizer, cleanup, signal } = options;
  if (!/^[^/]+\/[^/]+$/.test(finalizer)) {
    throw new TypeError(`Cannot use "${finalizer}" as finalizer: write it with a domain, "example.com/${finalizer}"`);
  }
  refuseReduced("finalize an object", object);
  const { namespace } = object.metadata;
  const own = namespace ? client.namespace(namespace) : client;
  if (!isDeleted(object)) {
    if (hasFinalizer(object, finalizer)) return object; // survives: guarded-already
    const guarded = await patchFinalizers(own, object, options, (current, finalizers) => {
      // The server refuses new finalizers on objects that are being deleted.
      return isDeleted(current) || finalizers.includes(finalizer) ? undefined : [...finalizers, finalizer];
    });
    // It may have been deleted meanwhile.
    if (guarded === undefined || isDeleted(guarded)) return guarded && await finalize(client, guarded, options);
    if (hasFinalizer(guarded, finalizer)) return guarded;
    throw new Error(
      `Cannot guard ${guarded.kind} "${guarded.metadata.name}": the server stored it without the finalizer ` +
        `"${finalizer}"; look for an admission webhook that removes it`,
    );
  }
  if (!hasFinalizer(object, finalizer)) return undefined;
  await cleanup(object, { signal });
  await patchFinalizers(own, object, options, (_current, finalizers) => {
    return finalizers.includes(finalizer) ? finalizers.filter((name) => name !== finalizer) : undefined;
  });
}

/**
 * Replaces the finalizers of `object` by the result of `change`, or keeps them where that is `undefined`. Returns the object
 * as the server has it, or `undefined` when it is gone.
 */
async function patchFinalizers<T extends KubernetesObject>(
  client: ResourceClient<T>,
  object: T,
  { signal }: Abortable,
  change: (current: T, finalizers: readonly string[]) => readonly string[] | undefined,
): Promise<T | undefined> {
  const { name, uid } = object.metadata;
  try {
    return await retryOnConflict(async (retries) => {
      const current = retries === 0 ? object : await client.get(name, { signal });
      if (current.metadata.uid !== uid) return undefined;
      const finalizers = change(current, current.metadata.finalizers ?? []);
      if (finalizers === undefined) return current;
      const { resourceVersion } = current.metadata;
      const body = { metadata: { resourceVersion, finalizers } } as unknown as MergePatch<T>;
      return await client.patch(name, { type: "merge", body }, { signal });
    }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function hasFinalizer({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}
