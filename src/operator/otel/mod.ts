/**
 * Sends OpenTelemetry spans and metrics about lists, watches, reconciles and requests.
 *
 * Import this module if you run an OpenTelemetry collector. Its functions use the global providers in
 * `@opentelemetry/api`, so register a provider before you call them. Without a provider, nothing is recorded and no
 * error appears. On Deno, `OTEL_DENO=true` registers one, and also creates spans for `fetch`. On other runtimes, use an
 * SDK with a context manager. `/metrics` for Prometheus needs none of this.
 *
 * Read the guide: [Traces and metrics](../../../docs/operations/traces-and-metrics.md).
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { observeReconciles, observeRequests, observeStatus } from "@kube/informer/otel";
 * import { Manager, Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * const informers = new SharedInformerFactory(client, { reflector: { observe: observeRequests() } });
 * const maps = new Reconciler(client, ConfigMap, ({ key }) => console.log(key), { informers, observe: observeReconciles() });
 * await using manager = new Manager({ reconcilers: [maps] });
 * using _observed = observeStatus(manager);
 * ```
 *
 * @module
 */
export { observeReconciles, observeRequests, observeStatus, observeTransport } from "./otel.ts";
