/**
 * Spans and metrics by OpenTelemetry: of the lists and watches of informers, of reconciles, and of their status.
 *
 * All go to the global providers of `@opentelemetry/api`, which have to be there when a function of this module is
 * called. In Deno, `OTEL_DENO=true` sets them up, and makes spans of `fetch`; elsewhere an SDK does, with a context
 * manager. Without a provider nothing is recorded.
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
