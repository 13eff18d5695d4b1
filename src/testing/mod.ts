/**
 * Tests code that watches a cluster, without a cluster: a fake API server, fake time, object builders and random
 * histories.
 *
 * {@linkcode FakeApiServer} answers like kube-apiserver, and injects faults when your test asks for them. It is a
 * `Transport`, so a client needs no sockets, and a handler for `Deno.serve`, so any client can reach it over a port.
 * {@linkcode FakeTime} lets timeouts pass in milliseconds. {@linkcode pod} and the other builders make objects.
 *
 * Read the guide: [Test with the fake server](../../docs/testing/fake-server.md).
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
 * In a controller's test, you set and read objects on the server, give the controller a client for that server, and
 * inject faults by the server's methods. In this example, the server restarts with a compacted history, and an informer
 * misses a deletion. It delivers the deletion after a relist:
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
 * `kubectl` works with the same server on a port. Run `informer fake --port 8001`, or
 * `Deno.serve({ hostname: "127.0.0.1", port: 8001 }, server.fetch)`, and then
 * `kubectl --server http://127.0.0.1:8001 get pods`. Without a host name, `Deno.serve` listens on all interfaces.
 *
 * @module
 */
export { FakeApiServer } from "./fake/fake_api_server.ts";
export { FaultVerbs } from "./fake/fault_verbs.ts";
export type { LateStatusOptions, RecordedLine, RecordingHeader, ReplayEnd, ReplayOptions } from "./fake/recording.ts";
export type { FakeApiServerOptions } from "./fake/backend.ts";
export type { PrinterColumn, ResourceDefinition } from "./fake/storage/definition.ts";
export type { Authorize, RecordedRequest, RequestAttributes, Tokens } from "./fake/wire/exchange.ts";
export type { RequestFailure, RequestFilter, RequestHook } from "./fake/wire/faults.ts";
export type { AdmissionHook, AdmissionRequest } from "./fake/writes/admission.ts";
export type { WebhookHandler } from "./fake/server/webhook_call.ts";
export {
  type BuildOptions,
  type Built,
  type BuiltConfigMap,
  type BuiltDeployment,
  type BuiltLease,
  type BuiltNamespace,
  type BuiltNode,
  type BuiltPod,
  configMap,
  type ConfigMapBuildOptions,
  deployment,
  type DeploymentBuildOptions,
  type Fixture,
  lease,
  type LeaseBuildOptions,
  namespace,
  type NamespaceBuildOptions,
  type NamespacedBuildOptions,
  node,
  type NodeBuildOptions,
  pod,
  type PodBuildOptions,
} from "./fake/objects.ts";
export { FakeTime } from "./fake/fake_time.ts";
export { plan, type PlanOptions } from "./plan/plan.ts";
export { type PlannedFact, type PlannedField, type PlannedWrite, type PlanReport, planText } from "./plan/report.ts";
export { type LeakGuard, type LeakSource, noLeaks } from "./no_leaks.ts";
export {
  churn,
  type ChurnOptions,
  type ChurnStep,
  type FaultStep,
  history,
  type HistoryOptions,
  type HistoryStep,
  perform,
  type ProtocolMoment,
  type WriteStep,
} from "./fake/history.ts";
