/**
 * Operations on workloads and nodes, as `kubectl` has them: scale, restart, evict, cordon and drain.
 *
 * Each is one function. It sends the requests of the `kubectl` command with the same name, and waits where that command
 * waits.
 *
 * Read the guide: [Workloads](../../docs/guides/workloads.md).
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
export { cordon, drain, type DrainOptions, type DrainProgress, uncordon } from "./drain.ts";
export { evict, type EvictOptions } from "./evict.ts";
export { type ChangeOptions, restart, scale, type ScaleOptions } from "./rollouts.ts";
