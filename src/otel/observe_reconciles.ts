import { resourceName } from "../api/resource.ts";
import { monotonicMs } from "../async/time/monotonic_ms.ts";
import type { ObserveReconcile } from "../reconcile/reconcile_observer.ts";
import { errorType, RootSpan } from "./root_span.ts";
import { globalProviders } from "./global_providers.ts";

/** The boundaries of buckets of durations, in seconds: those that the semantic conventions advise for requests, and longer ones. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300];

/**
 * Returns an observer of reconciles, for the option `observe` of reconcilers.
 *
 * - **Spans**: `reconcile <name of the reconciler>` for each call, the root of a trace of its own, and the active span of the call
 *   and of what it awaits. What led to the reconcile, such as a watch or another reconcile, is not its parent. The span of a call
 *   whose time is over ends then.
 * - **Metric**: the histogram `reconciler.reconcile.duration`, in seconds.
 * - **Attributes** of both: `reconciler.name`, `reconciler.outcome` (those of `ReconcilerStatus.outcomes`), and `error.type` of
 *   failures: the status code of a refusal, else the name of the error.
 * - **Attributes** of spans alone: `reconciler.resource`, `reconciler.key`, `k8s.namespace.name`, `reconciler.retries`, and
 *   `reconciler.causes`, the types of the causes.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { observeReconciles } from "@kube/informer/otel";
 * import { Reconciler } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using _maps = new Reconciler(client, ConfigMap, (key) => console.log(key), { observe: observeReconciles() });
 * ```
 */
export function observeReconciles(): ObserveReconcile {
  const { tracer, meter } = globalProviders();
  const durations = meter.createHistogram("reconciler.reconcile.duration", {
    description: "The time of a call of a reconcile.",
    unit: "s",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  return ({ reconciler, resource, key, retries, causes }) => {
    const slash = key.indexOf("/");
    const span = new RootSpan(tracer, `reconcile ${reconciler}`, {
      "reconciler.name": reconciler,
      "reconciler.resource": resourceName(resource),
      "reconciler.key": key,
      "k8s.namespace.name": slash < 0 ? undefined : key.slice(0, slash),
      "reconciler.retries": retries,
      "reconciler.causes": [...new Set(causes.map(({ type }) => type))],
    });
    const beganMs = monotonicMs();
    return {
      call: (reconcile) => span.run(reconcile),
      ended: ({ outcome, error }) => {
        const attributes = { "reconciler.outcome": outcome, ...errorType(error) };
        span.end(attributes, error);
        durations.record((monotonicMs() - beganMs) / 1_000, { "reconciler.name": reconciler, ...attributes });
      },
    };
  };
}
