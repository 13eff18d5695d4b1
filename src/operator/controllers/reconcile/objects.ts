/**
 * Functions that write objects in a reconcile: finalizers, merge patches, status, managed fields, retries.
 *
 * {@linkcode createOrUpdate}, {@linkcode finalize}, {@linkcode writeStatus} and {@linkcode upgradeManagedFields} are
 * the entry points. None reads a cache or keeps state.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { isObject } from "../../../engine/api/json.ts";
import {
  type Complete,
  type KubernetesObject,
  type ManagedFieldsEntry,
  refuseReduced,
} from "../../../engine/api/object.ts";
import { resourceName } from "../../../engine/api/resource.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../../engine/api/status.ts";
import {
  copyOf,
  type DraftMeta,
  type MergePatch,
  type Mutable,
  type ObjectDraft,
} from "../../../engine/api/written.ts";
import { backoffMs, type BackoffOptions, sleep } from "../../../engine/async/time.ts";
import { isEntryOf } from "../../../engine/client/owned_fields.ts";
import type { ResourceClient, WriteOptions } from "../../../engine/client/resource_client.ts";
import { checkCounts } from "../../../engine/errors/checks.ts";
import { InformerError } from "../../../engine/errors/informer_error.ts";
import { checkBackoff, checkNames, namesOf } from "../../../engine/errors/option_names.ts";

/** Returns the present time like `metav1.MicroTime`: the server accepts only six digits after the seconds. */
export function microTimestampNow(): string {
  return new Date().toISOString().replace("Z", "000Z");
}

/**
 * Returns the JSON merge patch (RFC 7386) that turns `before` into `after`, or `undefined` if they are equal.
 *
 * - The order of members has no meaning. A member that is `undefined` or `null` is absent, because a merge patch cannot
 *   express `null`.
 * - Lists are compared item by item, and replaced as a whole.
 */
export function mergeDiff(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) {
    const isEqual = before.length === after.length &&
      before.every((item, index) => mergeDiff(item, after[index]) === undefined);
    return isEqual ? undefined : after;
  }
  if (!isObject(before) || !isObject(after)) {
    return Object.is(before ?? null, after ?? null) ? undefined : after ?? null;
  }
  let patch: Record<string, unknown> | undefined;
  for (const name of Object.keys({ ...before, ...after })) {
    const change = mergeDiff(before[name], after[name]);
    if (change !== undefined) (patch ??= {})[name] = change;
  }
  return patch;
}

/** Options for {@linkcode retryOnConflict}. */
export interface RetryOnConflictOptions extends Abortable, BackoffOptions {
  /** The most calls. @default {5} */
  readonly attempts?: number;
  /** Returns true for an error after which the function is called again. @default {isConflict} */
  readonly when?: (error: unknown) => boolean;
}

/**
 * Calls `write` until it does not fail with a conflict, and returns its result. A conflict (409) means that the object
 * has changed since you read it.
 *
 * - In each call, `write` must read the object again, change it, and write it. Without a new read, each call fails like
 *   the first. Its argument is the number of earlier calls.
 * - There are at most 5 calls, 10 to 11 ms apart (client-go `RetryOnConflict` with `DefaultRetry`). After the last one
 *   the promise rejects with the conflict. Other errors reject immediately.
 *
 * @throws {RangeError} if `attempts` is not a whole number of at least 1, or a delay is not valid.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { retryOnConflict } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * const server = new FakeApiServer();
 * server.create(ConfigMap, { metadata: { name: "settings" }, data: { visits: "0" } });
 * using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
 * const maps = client.resource(ConfigMap);
 * await retryOnConflict(async () => {
 *   const { metadata: { resourceVersion }, data } = await maps.get("settings");
 *   const body = { metadata: { resourceVersion }, data: { visits: String(Number(data?.visits) + 1) } };
 *   return await maps.patch("settings", { type: "merge", body });
 * });
 * ```
 */
export async function retryOnConflict<R>(
  write: (retries: number) => Promise<R>,
  options: RetryOnConflictOptions = {},
): Promise<R> {
  checkNames("retry on conflict", options, "attempts when signal initialMs maxMs factor jitter");
  const { attempts = 5, when = isConflict, signal, initialMs = 10, factor = 1, jitter = 0.1, maxMs } = options;
  const waits = { initialMs, factor, jitter, maxMs };
  checkBackoff(waits);
  checkCounts("retry on conflict", { attempts }, { min: 1 });
  for (let retries = 0;; retries++) {
    signal?.throwIfAborted();
    try {
      return await write(retries);
    } catch (error) {
      if (retries + 1 >= attempts || !when(error)) throw error;
    }
    await sleep(backoffMs(retries, waits), { signal });
  }
}

/** Options for {@linkcode createOrUpdate}. */
export interface CreateOrUpdateOptions<T> extends Omit<WriteOptions, "subresource"> {
  /**
   * The object as you know it, for example from a cache. It saves a read. By default, the object is read from the
   * server.
   */
  readonly current?: T & Complete;
}

/** The result of {@linkcode createOrUpdate}. */
export interface CreatedOrUpdated<T> {
  /** The object as the server has it. */
  readonly object: T;
  /** The write that was made. `"unchanged"` means that nothing was sent. */
  readonly operation: "created" | "updated" | "unchanged";
}

/**
 * Creates `draft`. If an object with its name exists, `change` updates that object instead.
 *
 * - `change` receives a copy of the existing object. Edit the copy, or return another object. The difference is sent as
 *   a merge patch that names the version which was read. If nothing differs, nothing is sent.
 * - If the object changes, appears or disappears meanwhile, it is read and changed again, up to 5 times in all.
 * - Do not remove fields that the server fills in (defaults): your function would write at each call. Set fields one by
 *   one, or use `ResourceClient.apply`.
 * - Changes to `status` are not written, see {@linkcode writeStatus}.
 * - An object that is being deleted and has an owner of the draft is left unchanged, unless `change` alters its
 *   finalizers. Once it is gone, its deletion reconciles the owner.
 *
 * @throws {TypeError} if the draft has no name, `change` alters the name or namespace, or `current` is `reduced`. The
 * difference from a reduced object could remove fields that it lacks.
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
  draft: ObjectDraft<T>,
  change: (object: Mutable<T>) => Mutable<T> | T | void,
  options: CreateOrUpdateOptions<T> = {},
): Promise<CreatedOrUpdated<T>> {
  checkNames("create or update", options, "current dryRun fieldManager fieldValidation signal timeoutMs query");
  const { current, ...write } = options;
  const { name, namespace } = draft.metadata as DraftMeta;
  if (!name) throw new TypeError(`Cannot create or update a ${client.resource.kind}: the draft has no metadata.name`);
  const own = namespace ? client.namespace(namespace) : client;
  let exists = false;
  return await retryOnConflict(async (retries) => {
    const before: T | undefined = (retries === 0 ? current : undefined) ??
      await own.getOrUndefined(name, { signal: write.signal });
    exists = before !== undefined;
    if (before === undefined) return { object: await own.create(draft, write), operation: "created" };
    const copy = copyOf(before);
    const after = change(copy) ?? copy;
    checkSameObject(before, after);
    const difference = mergeDiff(withoutStatus(before), withoutStatus(after)) as
      | { readonly metadata?: { readonly finalizers?: unknown } }
      | undefined;
    const isEnding = isDeleted(before) &&
      before.metadata.ownerReferences?.some(({ uid }) =>
        (draft.metadata as DraftMeta).ownerReferences?.some((owner) => owner.uid === uid)
      );
    if (difference === undefined || (isEnding && difference.metadata?.finalizers === undefined)) {
      return { object: before, operation: "unchanged" };
    }
    const { resourceVersion } = before.metadata;
    const body = { ...difference, metadata: { ...difference.metadata, resourceVersion } } as MergePatch<T>;
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
    `Cannot update ${kind} "${before.name}": the change must keep name and namespace, but it returned "${after.name}" ` +
      `in namespace "${after.namespace ?? ""}"`,
  );
}

/** Options for {@linkcode finalize}. */
export interface FinalizeOptions<T> extends Abortable {
  /** The finalizer's name with your controller's domain, such as `"example.com/backups"`. */
  readonly finalizer: string;
  /**
   * Removes everything that your controller made except the object's own dependents. It may run several times for one
   * object, even after it has succeeded. So it must succeed if there is nothing to remove.
   */
  readonly cleanup: (object: T, options: Abortable) => void | Promise<void>;
}

/**
 * Protects an object with a finalizer, so that your cleanup runs before the object is gone. Returns the object if you
 * may reconcile it, and `undefined` if it is being deleted or is gone.
 *
 * - **A live object** gets the finalizer before the promise resolves. Call this before you make anything that `cleanup`
 *   must remove.
 * - **An object that is being deleted** is cleaned up if it has the finalizer, and then the finalizer is removed. If
 *   the cleanup throws, the finalizer stays and the promise rejects with that error, so the reconciler tries again.
 * - **A crash** at any time is safe: the cleanup has succeeded at least once before the finalizer is gone. It may run
 *   again.
 * - **Cost.** At most one write, a merge patch to `metadata.finalizers` with the object's version, and none if the
 *   finalizer is there. After a conflict the object is read again, and the decision is made again. Another object with
 *   the same name is not touched.
 *
 * @throws {TypeError} if the finalizer's name has no domain. The server refuses such names for many kinds.
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
  object: T & Complete,
  options: FinalizeOptions<T>,
): Promise<T | undefined> {
  checkNames("finalize an object", options, "finalizer cleanup signal");
  const { finalizer, cleanup, signal } = options;
  if (!/^[^/]+\/[^/]+$/.test(finalizer)) {
    throw new TypeError(
      `Cannot use "${finalizer}" as finalizer: it has no domain. Write it as "example.com/${finalizer}"`,
    );
  }
  refuseReduced("finalize an object", object);
  const { namespace } = object.metadata;
  const own = namespace ? client.namespace(namespace) : client;
  if (!isDeleted(object)) {
    if (hasFinalizer(object, finalizer)) return object;
    const guarded = await patchFinalizers(own, object, options, (current, finalizers) => {
      // The server refuses new finalizers on objects that are being deleted.
      return isDeleted(current) || finalizers.includes(finalizer) ? undefined : [...finalizers, finalizer];
    });
    // It may have been deleted meanwhile.
    if (guarded === undefined || isDeleted(guarded)) return guarded && await finalize(client, guarded, options);
    if (hasFinalizer(guarded, finalizer)) return guarded;
    throw new Error(
      `Cannot guard ${guarded.kind} "${guarded.metadata.name}": the server stored it without the finalizer ` +
        `"${finalizer}". Look for an admission webhook that removes it`,
    );
  }
  if (!hasFinalizer(object, finalizer)) return undefined;
  await cleanup(object, { signal });
  await patchFinalizers(own, object, options, (_current, finalizers) => {
    return finalizers.includes(finalizer) ? finalizers.filter((name) => name !== finalizer) : undefined;
  });
}

/**
 * Replaces the finalizers of `object` by the result of `change`, or keeps them if that is `undefined`. Returns the
 * object as the server has it, or `undefined` if it is gone.
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
      const body = { metadata: { resourceVersion, finalizers } } as MergePatch<T>;
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

const STATUS_OPTIONS = namesOf<Omit<WriteOptions, "subresource">>()(
  "dryRun fieldManager fieldValidation signal timeoutMs query",
);

/** The status type for objects of type `T`. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? NonNullable<S> : never;

/**
 * Writes the status of `object`, and returns the object as the server has it afterwards. If the status is the same
 * already, nothing is sent and you get `object` itself. So a controller that computes the same status again triggers no
 * event.
 *
 * - The difference is sent as a merge patch to the subresource `status`. Fields that `status` lacks are removed. If
 *   other writers set some fields, begin with `...object.status`.
 * - The patch names the version of `object`, so you never write a status that you computed from another state. If the
 *   object has changed since, the promise rejects with a conflict (`isConflict`). Do not catch it: the `Reconciler`
 *   calls your function again, without a report.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Pod } from "@kube/informer/kinds/core/v1";
 * import { writeStatus } from "@kube/informer/reconcile";
 * import { FakeApiServer, pod } from "@kube/informer/testing";
 * import { assertStrictEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * server.create(Pod, pod({ name: "web-0" }));
 * using client = new Client({ server: "http://fake", transport: server, namespace: "default" });
 * const pods = client.resource(Pod);
 * const web = await pods.get("web-0");
 * const written = await writeStatus(pods, web, { ...web.status, phase: "Failed" });
 * assertStrictEquals(await writeStatus(pods, written, { ...written.status, phase: "Failed" }), written); // no request
 * ```
 */
export async function writeStatus<T extends KubernetesObject>(
  client: ResourceClient<T>,
  object: T & Complete,
  status: StatusOf<T>,
  options: Omit<WriteOptions, "subresource"> = {},
): Promise<T> {
  checkNames("write a status", options, STATUS_OPTIONS);
  refuseReduced("write the status of an object", object);
  const { name, namespace, resourceVersion } = object.metadata;
  const change = mergeDiff((object as { readonly status?: unknown }).status ?? {}, status);
  if (change === undefined) return object;
  const body = { metadata: { resourceVersion }, status: change } as MergePatch<T>;
  const own = namespace ? client.namespace(namespace) : client;
  try {
    return await own.patch(name, { type: "merge", body }, { ...options, subresource: "status" });
  } catch (cause) {
    // The answer is the same whether the object or the subresource is missing.
    const there = isNotFound(cause)
      ? await own.getOrUndefined(name, { signal: options.signal }).catch(() => {}) // the write's own error is thrown
      : undefined;
    if (there === undefined || there.metadata.uid !== object.metadata.uid) throw cause;
    const problem = "its kind has no subresource status. Add it to the CRD, or write the field with patch()";
    throw new InformerError(`Cannot write the status of "${resourceName(own.resource)}/${name}": ${problem}`, {
      cause,
    });
  }
}

/** Options for {@linkcode upgradeManagedFields}. */
export interface UpgradeManagedFieldsOptions extends Abortable {
  /**
   * The managers whose updates `fieldManager` takes over. Name only your own program's managers. A client without the
   * option `fieldManager` writes as `"kube-informer"`, or as its own `userAgent` up to the `/`. `kubectl apply` without
   * `--server-side` writes as `"kubectl-client-side-apply"`.
   */
  readonly from: string | readonly string[];
  /** The field manager of your applies. */
  readonly fieldManager: string;
}

/**
 * Moves the ownership of fields from updates to server-side apply, and returns the object as the server has it
 * (client-go `csaupgrade.UpgradeManagedFields`). Call it once per object when your program changes from `update`,
 * `patch` or {@linkcode createOrUpdate} to `apply`. Without it, no apply removes a field that an update wrote.
 *
 * - The Update entries by `from` become a part of the Apply entry by `fieldManager`. Other entries stay, also those for
 *   subresources. No value changes: your next apply removes what it lacks, and the server fills in defaults again.
 * - It reads the object from the server, because a cache may lack entries. If nothing changes, nothing is written.
 * - After a conflict it reads the object again, up to 5 times in all.
 * - It cannot be undone: afterwards nobody knows which fields were updated.
 *
 * @throws {TypeError} if `from` or `fieldManager` is empty.
 * @throws {StatusError} if the object does not exist (`isNotFound`).
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { upgradeManagedFields } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer(), namespace: "default" });
 * const maps = client.resource(ConfigMap);
 * const settings = await maps.create({ metadata: { name: "settings" }, data: { colour: "red", legacy: "1" } });
 *
 * await upgradeManagedFields(maps, settings, { from: "kube-informer", fieldManager: "shop" });
 * const draft = { metadata: { name: "settings" }, data: { colour: "red" } };
 * assertEquals((await maps.apply(draft, { fieldManager: "shop" })).data, { colour: "red" }); // legacy is gone
 * ```
 */
export async function upgradeManagedFields<T extends KubernetesObject>(
  client: ResourceClient<T>,
  object: KubernetesObject,
  options: UpgradeManagedFieldsOptions,
): Promise<T> {
  checkNames("upgrade managed fields", options, "from fieldManager signal");
  const { fieldManager, signal } = options;
  const { name, namespace } = object.metadata;
  const managers = [options.from].flat();
  if (managers.length === 0 || [...managers, fieldManager].some((manager) => !manager)) {
    throw new TypeError(
      `Cannot upgrade the managed fields of "${name}": from and fieldManager must name managers. Its managedFields list them`,
    );
  }
  const own = namespace ? client.namespace(namespace) : client;
  return await retryOnConflict(async () => {
    const current = await own.get(name, { signal });
    const { resourceVersion, managedFields = [] } = current.metadata;
    const value = managers.reduce((entries, from) => upgraded(entries, from, fieldManager), managedFields);
    if (value === managedFields) return current;
    // A version that is replaced by an old one is a conflict, as in client-go; "test" would be 422.
    const version = { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
    const body = [{ op: "replace", path: "/metadata/managedFields", value }, version];
    return await own.patch(name, { type: "json", body }, { signal });
  }, { signal });
}

/** Returns managedFields in which `fieldManager` has applied what `from` has updated, or the same array. */
function upgraded(
  entries: readonly ManagedFieldsEntry[],
  from: string,
  fieldManager: string,
): readonly ManagedFieldsEntry[] {
  const updates = entries.filter((entry) => isEntryOf(entry, from, "Update"));
  if (updates.length === 0) return entries;
  const target = entries.find((entry) => isEntryOf(entry, fieldManager, "Apply")) ?? updates[0];
  // Fields in other versions cannot be joined: client-go drops these entries, too.
  const { fieldsV1 } = updates.find(({ apiVersion }) => apiVersion === target.apiVersion) ?? {};
  const applied = { ...target, manager: fieldManager, operation: "Apply", fieldsV1: union(target.fieldsV1, fieldsV1) };
  return entries.filter((entry) => entry === target || !updates.includes(entry))
    .map((entry) => entry === target ? applied : entry);
}

type Fields = NonNullable<ManagedFieldsEntry["fieldsV1"]>;

/** Returns the fields of both sets. A field without others below it is owned itself, as "." says of one with others. */
function union(a: Fields = {}, b: Fields = {}, isRoot = true): Fields {
  const both: Record<string, unknown> = { ...a };
  for (const [key, below] of Object.entries(b)) {
    both[key] = Object.hasOwn(a, key) ? union(a[key] as Fields, below as Fields, false) : below;
  }
  const isOwned = [a, b].some((fields) => Object.keys(fields).length === 0);
  return isRoot || !isOwned || Object.keys(both).length === 0 ? both : { ".": {}, ...both };
}
