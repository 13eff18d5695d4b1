import { isAlreadyExists, isConflict, isNotFound } from "../../api/errors.ts";
import type { Draft, DraftMeta } from "../../api/draft.ts";
import type { MergePatch } from "../../api/merge_patch.ts";
import { copyOf, type Mutable } from "../../api/mutable.ts";
import type { KubernetesObject } from "../../api/object.ts";
import type { Whole } from "../../api/reduced.ts";
import type { ResourceClient, WriteOptions } from "../../client/resource_client.ts";
import { mergeDiff } from "./merge_diff.ts";
import { retryOnConflict } from "./retry_on_conflict.ts";

/** Options for {@linkcode createOrUpdate}. */
export interface CreateOrUpdateOptions<T> extends Omit<WriteOptions, "subresource"> {
  /** The object as the caller knows it, from a cache; it saves a read. @default {read from the server} */
  readonly current?: T & Whole;
}

/** The result of {@linkcode createOrUpdate}. */
export interface CreatedOrUpdated<T> {
  /** The object as the server has it. */
  readonly object: T;
  /** The write that was made. */
  readonly operation: "created" | "updated" | "unchanged";
}

/**
 * Creates `draft`, or if an object of its name exists, updates that by `change`.
 *
 * - `change` receives a copy of the existing object, and edits it or returns another one. The difference is sent as a merge
 *   patch that names the version which was read; without a difference nothing is sent.
 * - If the object changes, appears or disappears meanwhile, it is read and changed again, up to 5 times in all.
 * - A `change` that removes fields which the server fills in (defaults) makes a write at each call. Set such fields one by
 *   one, or use `ResourceClient.apply`.
 * - Changes of `status` are not written: see {@linkcode writeStatus}.
 *
 * @throws {TypeError} when the draft has no name, or `change` alters name or namespace; when `current` is `reduced`: a difference
 * from it could remove fields that it lacks.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { createOrUpdate } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer(), namespace: "shop" });
 * const data = { colour: "red" };
 * for (const expected of ["created", "unchanged"]) {
 *   const { operation } = await createOrUpdate(
 *     client.resource(ConfigMap),
 *     { metadata: { name: "settings" }, data },
 *     (map) => ({ ...map, data: { ...map.data, ...data } }),
 *   );
 *   assertEquals(operation, expected);
 * }
 * ```
 */
export async function createOrUpdate<T extends KubernetesObject>(
  client: ResourceClient<T>,
  draft: Draft<T>,
  change: (object: Mutable<T>) => Mutable<T> | T | void,
  options: CreateOrUpdateOptions<T> = {},
): Promise<CreatedOrUpdated<T>> {
  const { current, ...write } = options;
  const { name, namespace } = draft.metadata as DraftMeta;
  if (!name) throw new TypeError(`Cannot create or update a ${client.resource.kind}: the draft has no metadata.name`);
  const own = namespace ? client.namespace(namespace) : client;
  const read = async (): Promise<T | undefined> => {
    try {
      return await own.get(name, { signal: write.signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  let exists = false;
  return await retryOnConflict(async (retries) => {
    const before: T | undefined = (retries === 0 ? current : undefined) ?? await read();
    exists = before !== undefined;
    if (before === undefined) return { object: await own.create(draft, write), operation: "created" };
    const copy = copyOf(before);
    const after = (change(copy) ?? copy) as T;
    checkSameObject(before, after);
    const difference = mergeDiff(withoutStatus(before), withoutStatus(after)) as
      | { readonly metadata?: object }
      | undefined;
    if (difference === undefined) return { object: before, operation: "unchanged" };
    const { resourceVersion } = before.metadata;
    const body = { ...difference, metadata: { ...difference.metadata, resourceVersion } } as unknown as MergePatch<T>;
    return { object: await own.patch(name, { type: "merge", body }, write), operation: "updated" };
  }, {
    signal: write.signal,
    // A 404 for a creation is about its namespace.
    when: (error) => isConflict(error) || isAlreadyExists(error) || (exists && isNotFound(error)),
  });
}

function withoutStatus(object: KubernetesObject): object {
  const { status: _status, ...rest } = object as KubernetesObject & { readonly status?: unknown };
  return rest;
}

function checkSameObject({ kind, metadata: before }: KubernetesObject, { metadata: after }: KubernetesObject): void {
  if (before.name === after.name && before.namespace === after.namespace) return;
  throw new TypeError(
    `Cannot update ${kind} "${before.name}": the change must keep name and namespace, found "${after.name}" in ` +
      `namespace "${after.namespace ?? ""}"`,
  );
}
