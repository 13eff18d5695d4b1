/**
 * Helpers for workloads and nodes: operations as `kubectl` has them, the names that a pod template refers to, and the
 * state of all workloads with the reasons of their pods.
 *
 * Read the guides: [Workloads and nodes](../../../docs/guides/workloads.md) and
 * [Workload helpers](../../../docs/guides/workload-helpers.md).
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { Deployment } from "@kube/informer/kinds/apps/v1";
 * import { restart, scale } from "@kube/informer/workloads";
 * import { deployment, FakeApiServer } from "@kube/informer/testing";
 *
 * using server = new FakeApiServer();
 * server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 1 }));
 * using client = new Client({ server: server.url, transport: server });
 * const deployments = client.resource(Deployment, { namespace: "shop" });
 * const { spec } = await scale(deployments, "web", 3);
 * console.log(spec.replicas); // 3
 * await restart(deployments, "web");
 * ```
 *
 * @module
 */
export type { DeleteOptions, WriteOptions } from "../../engine/client/resource_client.ts";
export { cordon, drain, type DrainOptions, type DrainProgress, uncordon } from "./drain.ts";
export { evict, type EvictOptions } from "./evict.ts";
export { type ChangeOptions, restart, scale, type ScaleOptions } from "./rollouts.ts";
export { type TemplateReferences, templateReferences, type TemplateReferencesOptions } from "./template_references.ts";
export {
  type WorkloadKind,
  type WorkloadStatus,
  workloadStatus,
  type WorkloadStatusOptions,
} from "./workload_status.ts";
