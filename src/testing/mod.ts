/**
 * What tests need: an API server in this process.
 *
 * {@linkcode FakeApiServer} is a `Transport`, so a client speaks to it without sockets, and a handler for `Deno.serve`, so
 * anything speaks to it over a port. It answers as kube-apiserver does, also when things go wrong, which they do on
 * command.
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
 * A test of a controller needs three things: the truth, which it sets and reads on the server itself; the controller, which
 * is given a client of that server; and what goes wrong, by a verb of the server. Here an informer misses deletions while
 * the server restarts and forgets, and hears of them all the same:
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
 * const told: string[] = [];
 * const gone = Promise.withResolvers<void>();
 * informer.addEventHandler({
 *   onAdd: ({ key }) => void told.push(`+${key}`),
 *   onDelete: ({ key }) => {
 *     told.push(`-${key}`);
 *     gone.resolve();
 *   },
 * });
 * const running = informer.run();
 * await informer.waitForCacheSync();
 *
 * server.beforeNext(() => { // the connection is gone, and nobody hears of this
 *   server.delete(ConfigMap, "default/a");
 *   server.compact();
 * }, 1, (request) => request.verb === "watch");
 * server.restart();
 *
 * await gone.promise;
 * assertEquals(told, ["+default/a", "+default/b", "-default/a"]);
 * await informer[Symbol.asyncDispose]();
 * await running;
 * ```
 *
 * The same server on a port is one that `kubectl` works with: `informer fake --port 8001`, or
 * `Deno.serve({ hostname: "127.0.0.1", port: 8001 }, server.fetch)`, and then
 * `kubectl --server http://127.0.0.1:8001 get pods`. Without a host name, `Deno.serve` listens to the network.
 *
 * @module
 */
export { FakeApiServer } from "./fake_api_server.ts";
export { FaultVerbs } from "./fault_verbs.ts";
export type { FakeApiServerOptions } from "./fake_api_server_options.ts";
export type { PrinterColumn, ResourceDefinition } from "./storage/definition.ts";
export type { RecordedRequest } from "./http/recorded_request.ts";
export type { RequestFilter } from "./faults/armed_list.ts";
export type { RequestFailure, RequestHook } from "./faults/faults.ts";
export type { AdmissionHook, AdmissionRequest } from "./writes/admission.ts";
export type { Authorize, RequestAttributes, Tokens } from "./http/access_control.ts";
export type { BuildOptions, NamespacedBuildOptions } from "./objects/build_options.ts";
export { type BuiltPod, pod, type PodBuildOptions } from "./objects/pod.ts";
export { type BuiltNode, node } from "./objects/node.ts";
export { type BuiltNamespace, namespace } from "./objects/namespace.ts";
export { type BuiltConfigMap, configMap } from "./objects/config_map.ts";
export { type BuiltDeployment, deployment } from "./objects/deployment.ts";
export { type BuiltLease, lease } from "./objects/lease.ts";
export { type BigPod, bigPod, pods } from "./objects/big_pod.ts";
export { churn, type ChurnOptions, type ChurnStep } from "./churn.ts";
export { history, type HistoryOptions } from "./history/history.ts";
export type { HistoryStep } from "./history/history_step.ts";
export type { ProtocolMoment } from "./history/protocol_moment.ts";
export type { WriteStep } from "./history/write_step.ts";
export { perform } from "./perform.ts";
