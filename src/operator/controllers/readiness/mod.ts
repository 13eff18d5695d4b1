/**
 * Decides whether an object is ready, and waits until it is. It works for built-in workloads and for any kind with
 * conditions.
 *
 * The rules come from SIG CLI's kstatus (`sigs.k8s.io/cli-utils`). Reasons have the names that you see in the cluster:
 * `ImagePullBackOff`, `CrashLoopBackOff`, `ProgressDeadlineExceeded`.
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { Deployment } from "@kube/informer/kinds/apps/v1";
 * import { readiness, untilReady } from "@kube/informer/readiness";
 * import { deployment, FakeApiServer } from "@kube/informer/testing";
 *
 * const server = new FakeApiServer();
 * server.create(Deployment, deployment({ name: "web", namespace: "shop", replicas: 0 }));
 * using client = new Client({ server: "http://fake", transport: server });
 * await using deployments = new SharedIndexInformer(client.resource(Deployment));
 * deployments.run();
 * await deployments.waitForCacheSync();
 * const { state, reason, message } = readiness(deployments.lister.get("shop/web"));
 * console.log(state, reason, message); // "progressing", "DeploymentNotAvailable", …
 * const { metadata } = server.get(Deployment, "shop/web")!;
 * const conditions = [{ type: "Available", status: "True" }, {
 *   type: "Progressing",
 *   status: "True",
 *   reason: "NewReplicaSetAvailable",
 * }];
 * server.patch(Deployment, "shop/web", { status: { observedGeneration: metadata.generation, conditions } });
 * await untilReady(deployments, "shop/web", { signal: AbortSignal.timeout(60_000), failFast: true });
 * ```
 *
 * @module
 */
export {
  NotReadyError,
  type Readiness,
  readiness,
  type ReadinessOptions,
  type ReadinessRules,
  type ReadinessState,
  untilReady,
  type UntilReadyOptions,
} from "./readiness.ts";
