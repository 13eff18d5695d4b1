/**
 * Changes to a workload that its controller rolls out: the number of replicas, and new pods.
 *
 * {@linkcode scale} and {@linkcode restart} are the entry points. Neither waits for the rollout: `untilReady` does.
 *
 * @module
 */
import type { KubernetesObject } from "../../engine/api/object.ts";
import { resourceName } from "../../engine/api/resource.ts";
import type { Scale } from "../../engine/api/subresources.ts";
import type { MergePatch } from "../../engine/api/written.ts";
import type { ResourceClient, WriteOptions } from "../../engine/client/resource_client.ts";
import { checkCounts } from "../../engine/errors/checks.ts";
import { InformerError } from "../../engine/errors/informer_error.ts";
import { checkNames } from "../../engine/errors/option_names.ts";

/** Options for writes to the object itself. */
export type ChangeOptions = Omit<WriteOptions, "subresource">;

/** Options for {@linkcode scale}. */
export interface ScaleOptions extends ChangeOptions {
  /** Scales only if the object has this version. Otherwise the call rejects with 409 (`isConflict`). */
  readonly resourceVersion?: string;
}

/**
 * Sets the number of replicas, as `kubectl scale` does, and returns the server's `Scale`. It works for every kind with
 * the subresource `scale`, custom kinds too. It does not wait until the pods exist.
 *
 * The client needs the verb `patch` for the subresource, e.g. `deployments/scale`. If a HorizontalPodAutoscaler has the
 * workload as its target, it soon sets its own number.
 *
 * @throws {RangeError} if `replicas` is not a whole number of at least 0.
 * @throws {StatusError} if the object does not exist, or its kind has no scale (`isNotFound`).
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Deployment } from "@kube/informer/kinds/apps/v1";
 * import { scale } from "@kube/informer/workloads";
 * import { deployment, FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 1 }));
 * using client = new Client({ server: server.url, transport: server });
 * const { spec } = await scale(client.resource(Deployment, { namespace: "shop" }), "web", 3);
 * assertEquals(spec.replicas, 3);
 * ```
 */
export async function scale<T extends KubernetesObject>(
  client: ResourceClient<T>,
  name: string,
  replicas: number,
  options: ScaleOptions = {},
): Promise<Scale> {
  checkCounts(`scale "${name}"`, { replicas });
  const { resourceVersion, ...write } = options;
  const body = { metadata: { resourceVersion }, spec: { replicas } };
  return await client.patch(name, { type: "merge", body }, { ...write, subresource: "scale" });
}

/** The members of a workload that {@linkcode restart} reads. */
interface Workload {
  readonly spec?: { readonly paused?: boolean; readonly template?: unknown };
}

/** Kinds with a pod template whose present pods stay as they are when it changes. */
const KEEP_PODS = ["replicasets.apps", "replicationcontrollers", "jobs.batch"];

/**
 * Replaces all pods of a workload step by step, as `kubectl rollout restart` does. Use it if pods must read their
 * configuration again. Returns the changed object. To wait for the new pods, use `untilReady`.
 *
 * It sets the annotation `kubectl.kubernetes.io/restartedAt` in the pod template. The client needs the verbs `get` and
 * `patch` for the kind.
 *
 * @throws {TypeError} if the kind has no pod template, or its controller does not replace pods, like a Job's.
 * @throws {InformerError} if the Deployment is paused, because the restart would wait until it is resumed.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Deployment } from "@kube/informer/kinds/apps/v1";
 * import { restart } from "@kube/informer/workloads";
 * import { deployment, FakeApiServer } from "@kube/informer/testing";
 *
 * using server = new FakeApiServer();
 * server.create(Deployment, deployment({ name: "web", namespace: "shop" }));
 * using client = new Client({ server: server.url, transport: server });
 * const { spec } = await restart(client.resource(Deployment, { namespace: "shop" }), "web");
 * console.log(spec.template.metadata?.annotations);
 * ```
 */
export async function restart<T extends KubernetesObject>(
  client: ResourceClient<T>,
  name: string,
  options: ChangeOptions = {},
): Promise<T> {
  checkNames("restart pods", options, "dryRun fieldManager fieldValidation signal timeoutMs query");
  const cannot = `Cannot restart the pods of ${client.resource.kind} "${name}"`;
  const { spec } = await client.get(name, { signal: options.signal }) as KubernetesObject & Workload;
  if (spec?.template === undefined || KEEP_PODS.includes(resourceName(client.resource))) {
    const advice = "Delete the pods, or use a Deployment, StatefulSet or DaemonSet";
    throw new TypeError(`${cannot}: no controller replaces them when spec.template changes. ${advice}`);
  }
  if (spec.paused) throw new InformerError(`${cannot}: its rollout is paused. Remove spec.paused first`);
  // With milliseconds, unlike kubectl: a second restart in the same second would change nothing.
  const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
  const body = { spec: { template: { metadata: { annotations } } } } as unknown as MergePatch<T>;
  return await client.patch(name, { type: "merge", body }, options);
}
