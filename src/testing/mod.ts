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
 * @module
 */
export { FakeApiServer } from "./fake_api_server.ts";
export { FaultVerbs } from "./fault_verbs.ts";
export type { FakeApiServerOptions } from "./options.ts";
export type { PrinterColumn, ResourceDefinition } from "./definition.ts";
export type { RecordedRequest } from "./recorded_request.ts";
export type { Failure, RequestFilter, RequestHook } from "./faults.ts";
export type { Authorize, RequestAttributes, Tokens } from "./access.ts";
export {
  type BuildOptions,
  type BuiltConfigMap,
  type BuiltDeployment,
  type BuiltLease,
  type BuiltNamespace,
  type BuiltNode,
  type BuiltPod,
  configMap,
  deployment,
  lease,
  namespace,
  type NamespacedBuildOptions,
  node,
  pod,
  type PodBuildOptions,
} from "./builders.ts";
export { type BigPod, bigPod, pods } from "./big_pod.ts";
export { churn, type ChurnOptions, type ChurnStep } from "./churn.ts";
export { history, type HistoryOptions } from "./history.ts";
export type { HistoryStep } from "./history_step.ts";
export { perform } from "./perform.ts";
