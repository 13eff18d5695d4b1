import type { Attributes, BatchObservableResult, Meter, Observable } from "@opentelemetry/api";
import type { SharedInformerFactory } from "../informer/shared_informer_factory.ts";
import type { Manager } from "../reconcile/manager.ts";
import { managerMetrics } from "../reconcile/manager_metrics.ts";
import type { MetricFamily } from "../metrics/metric_family.ts";
import { globalProviders } from "./global_providers.ts";

/** The instruments of one family: that of its values, or sum, and that of its number of observations. */
interface Instruments {
  readonly values: Observable;
  readonly counts?: Observable;
}

/**
 * Observes the status of a manager, or of the informers of a factory, whenever metrics are collected. Dispose the result to end
 * that.
 *
 * The metrics are those of `/metrics` of a manager, with a dot after the first word, and the unit in the instrument instead of the
 * name: `informer.objects`, `informer.stale` (s), `workqueue.waiting_keys`, `reconciler.reconciles`. A summary such as
 * `workqueue_wait_seconds` becomes the counters `workqueue.wait.time` (s) and `workqueue.wait.count`. Attributes are the labels,
 * below the first word of the metric (`informer.state`), but for `informer.resource` and `reconciler.name`.
 *
 * @example
 * ```ts
 * import { Client, SharedInformerFactory } from "@kube/informer";
 * import { observeStatus } from "@kube/informer/otel";
 * import { FakeApiServer } from "@kube/informer/testing";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer() });
 * await using informers = new SharedInformerFactory(client);
 * using _observed = observeStatus(informers);
 * ```
 */
export function observeStatus(
  source: Pick<Manager, "status"> | Pick<SharedInformerFactory, "status">,
): Disposable {
  const { meter } = globalProviders();
  const instruments = new Map(familiesOf(source).map((family) => [family.name, instrumentsOf(meter, family)]));
  const observables = [...instruments.values()].flatMap(({ values, counts = [] }) => [values].concat(counts));
  const observe = (result: BatchObservableResult): void => {
    for (const { name, samples } of familiesOf(source)) {
      const { values, counts } = instruments.get(name)!;
      for (const { labels = {}, value, count = 0 } of samples) {
        const attributes = attributesOf(name, labels);
        result.observe(values, value, attributes);
        if (counts !== undefined) result.observe(counts, count, attributes);
      }
    }
  };
  meter.addBatchObservableCallback(observe, observables);
  return { [Symbol.dispose]: () => meter.removeBatchObservableCallback(observe, observables) };
}

function familiesOf(source: Pick<Manager, "status"> | Pick<SharedInformerFactory, "status">): MetricFamily[] {
  const status = source.status();
  if (!Array.isArray(status)) return managerMetrics(status);
  const families = managerMetrics({ phase: "running", informers: status, reconcilers: [], recorders: [] });
  return families.filter(({ name }) => name.startsWith("informer_"));
}

function instrumentsOf(meter: Meter, { name, type, unit, help }: MetricFamily): Instruments {
  const dotted = name.replace(/_seconds$/, "").replace("_", ".");
  const options = { description: help, ...(unit === "seconds" ? { unit: "s" } : {}) };
  if (type === "gauge") return { values: meter.createObservableGauge(dotted, options) };
  if (type === "counter") return { values: meter.createObservableCounter(dotted, options) };
  return {
    values: meter.createObservableCounter(`${dotted}.time`, options),
    counts: meter.createObservableCounter(`${dotted}.count`, { description: help }),
  };
}

function attributesOf(family: string, labels: Readonly<Record<string, string>>): Attributes {
  const [first] = family.split("_");
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => {
      if (label === "resource") return ["informer.resource", value];
      return [label === "reconciler" ? "reconciler.name" : `${first}.${label}`, value];
    }),
  );
}
