import type { MergePatch } from "../../api/merge_patch.ts";
import type { KubernetesObject } from "../../api/object.ts";
import { refuseReduced, type Whole } from "../../api/reduced.ts";
import type { ResourceClient, WriteOptions } from "../../client/resource_client.ts";
import { mergeDiff } from "./merge_diff.ts";

/** The status of objects of type `T`. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? NonNullable<S> : never;

/**
 * Writes `status` as the status of `object`, and returns the object as the server has it afterwards. If the object has that
 * status already, nothing is sent and `object` itself is returned, so that a controller that computes the same status again
 * causes no event.
 *
 * - The difference is sent as a merge patch to the subresource `status`. Fields that `status` lacks are removed: where other
 *   writers set some, begin with `...object.status`.
 * - The patch names the version of `object`: if the object has changed since, the promise rejects with a conflict
 *   (`isConflict`), and the caller reconciles the new state. A status is never computed from one state and written to another.
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
 * const written = await writeStatus(pods, await pods.get("web-0"), { phase: "Failed" });
 * assertStrictEquals(await writeStatus(pods, written, { phase: "Failed" }), written); // no request
 * ```
 */
export async function writeStatus<T extends KubernetesObject>(
  client: ResourceClient<T>,
  object: T & Whole,
  status: StatusOf<T>,
  options: Omit<WriteOptions, "subresource"> = {},
): Promise<T> {
  refuseReduced("write the status of an object", object);
  const { name, namespace, resourceVersion } = object.metadata;
  const change = mergeDiff((object as { readonly status?: unknown }).status ?? {}, status);
  if (change === undefined) return object;
  const body = { metadata: { resourceVersion }, status: change } as MergePatch<T>;
  const own = namespace ? client.namespace(namespace) : client;
  return await own.patch(name, { type: "merge", body }, { ...options, subresource: "status" });
}
