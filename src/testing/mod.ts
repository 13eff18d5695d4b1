/**
 * A fake API server and fake time for tests, with builders of objects and random histories.
 *
 * {@linkcode FakeApiServer} is a `Transport`, so that a client needs no sockets, and a handler for `Deno.serve`, so
 * that any client can reach it over a port. It answers like kube-apiserver, and injects faults on request.
 *
 * @example
 * ```ts
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new FakeApiServer();
 * const response = await server.fetch(new Request("http://fake/api/v1/pods"));
 * assertEquals((await response.json()).kind, "PodList");
 * ```
 *
 * A test of a controller sets and reads objects on the server itself, gives the controller a client of that server, and
 * injects faults by the server's methods. Here an informer misses a deletion while the server restarts with a compacted
 * history, and delivers it after a relist:
 *
 * @example
 * ```ts
 * import { Client, SharedIndexInformer } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using server = new FakeApiServer();
 * for (const name of ["a", "b"]) server.create(ConfigMap, { metadata: { name } });
 * using client = new Client({ server: "http://fake", transport: server });
 * await using informer = new SharedIndexInformer(client.resource(ConfigMap), {
 *   reflector: { backoff: { initialMs: 1, jitter: 0 } },
 * });
 * const seen: string[] = [];
 * const gone = Promise.withResolvers<void>();
 * informer.addEventHandler({
 *   onAdd: ({ key }) => void seen.push(`+${key}`),
 *   onDelete: ({ key }) => {
 *     seen.push(`-${key}`);
 *     gone.resolve();
 *   },
 * });
 * const running = informer.run();
 * await informer.waitForCacheSync();
 *
 * server.beforeNext(() => { // no watch is open, so no event is sent
 *   server.delete(ConfigMap, "default/a");
 *   server.compact();
 * }, 1, (request) => request.verb === "watch");
 * server.restart();
 *
 * await gone.promise;
 * assertEquals(seen, ["+default/a", "+default/b", "-default/a"]);
 * await informer[Symbol.asyncDispose]();
 * await running;
 * ```
 *
 * `kubectl` works with the same server on a port: `informer fake --port 8001`, or
 * `Deno.serve({ hostname: "127.0.0.1", port: 8001 }, server.fetch)`, and then
 * `kubectl --server http://127.0.0.1:8001 get pods`. Without a host name, `Deno.serve` listens on all interfaces.
 *
 * @module
 */
export { FakeApiServer } from "./fake_api_server.ts";
export { FaultVerbs } from "./fault_verbs.ts";
export type { ReplayEnd, ReplayOptions } from "./recording.ts";
export type { FakeApiServerOptions } from "./backend.ts";
export type { PrinterColumn, ResourceDefinition } from "./storage/definition.ts";
export type { RecordedRequest } from "./http/request.ts";
export type { RequestFilter } from "./faults/faults.ts";
export type { RequestFailure, RequestHook } from "./faults/faults.ts";
export type { AdmissionHook, AdmissionRequest } from "./writes/admission.ts";
export type { Authorize, RequestAttributes, Tokens } from "./http/access_control.ts";
export type { Built } from "./objects.ts";
export type { Fixture } from "./objects.ts";
export type { BuildOptions, NamespacedBuildOptions } from "./objects.ts";
export { type BuiltPod, pod, type PodBuildOptions } from "./objects.ts";
export { type BuiltNode, node, type NodeBuildOptions } from "./objects.ts";
export { type BuiltNamespace, namespace, type NamespaceBuildOptions } from "./objects.ts";
export { type BuiltConfigMap, configMap, type ConfigMapBuildOptions } from "./objects.ts";
export { type BuiltDeployment, deployment, type DeploymentBuildOptions } from "./objects.ts";
export { type BuiltLease, lease, type LeaseBuildOptions } from "./objects.ts";
export { type BigPod, pods } from "./big_pod.ts";
export { FakeTime } from "./fake_time.ts";
export { churn, type ChurnOptions, type ChurnStep } from "./churn.ts";
export { history, type HistoryOptions } from "./history.ts";
export type { FaultStep, HistoryStep } from "./history.ts";
export type { ProtocolMoment } from "./history.ts";
export type { WriteStep } from "./history.ts";
export { perform } from "./history.ts";
