import { resourceName } from "../api/resource.ts";
import type { Durations } from "../workqueue/status.ts";
import type { MetricFamily, MetricSample } from "./metrics/open_metrics.ts";
import type { ManagerStatus } from "./manager_status.ts";

type Labels = Readonly<Record<string, string>>;

/** Returns the metric families of a manager, from the status of its parts. */
export function managerMetrics(status: ManagerStatus): MetricFamily[] {
  const { phase, informers, reconcilers, elector, recorders } = status;
  const informerLabels = labelsOf(informers, ({ resource }) => ({ resource: resourceName(resource) }));
  const ofInformers = (value: (it: ManagerStatus["informers"][number]["status"]) => number): MetricSample[] =>
    informers.map(({ status }, index) => ({ labels: informerLabels[index], value: value(status) }));
  const reconcilerLabels = labelsOf(reconcilers, ({ name }) => ({ reconciler: name }));
  const ofReconcilers = (value: (it: ManagerStatus["reconcilers"][number]) => number): MetricSample[] =>
    reconcilers.map((it, index) => ({ labels: reconcilerLabels[index], value: value(it) }));
  const byName = (member: "outcomes" | "causes", label: string): MetricSample[] =>
    reconcilers.flatMap((it, index) =>
      Object.entries(it[member]).map(([name, value]) => ({
        labels: { ...reconcilerLabels[index], [label]: name },
        value,
      }))
    );
  const durations = (of: (it: ManagerStatus["reconcilers"][number]) => Durations): MetricSample[] =>
    reconcilers.map((it, index) => {
      const { sumMs, count } = of(it);
      return { labels: reconcilerLabels[index], value: sumMs / 1_000, count };
    });
  const families: MetricFamily[] = [
    gauge("manager_phase", "The phase of the manager: 1 for the present one.", [{ labels: { phase }, value: 1 }]),
    gauge(
      "informer_state",
      "The state of an informer: 1 for the present one.",
      informers.map(({ status: { state } }, index) => ({ labels: { ...informerLabels[index], state }, value: 1 })),
    ),
    gauge("informer_objects", "Cached objects.", ofInformers(({ objects }) => objects)),
    seconds(
      "informer_stale_seconds",
      "The time for which the cache has not followed the server; 0 while it does.",
      ofInformers(({ staleMs = 0 }) => staleMs / 1_000),
    ),
    counter("informer_events", "Changes received.", ofInformers(({ events }) => events)),
    counter("informer_lists", "Lists begun, without streaming lists.", ofInformers(({ lists }) => lists)),
    counter("informer_watches", "Watches begun, with streaming lists.", ofInformers(({ watches }) => watches)),
    counter("informer_errors", "Failed requests, handlers and objects.", ofInformers(({ errors }) => errors)),
    gauge(
      "informer_pending_events",
      "Events that handlers and streams have not received yet.",
      ofInformers(({ handlers }) => handlers.reduce((sum, { pending }) => sum + pending, 0)),
    ),
    gauge(
      "reconciler_state",
      "The state of a reconciler: 1 for the present one.",
      reconcilers.map(({ state }, index) => ({ labels: { ...reconcilerLabels[index], state }, value: 1 })),
    ),
    counter("reconciler_reconciles", "Reconciles that have ended, by outcome.", byName("outcomes", "outcome")),
    counter("reconciler_causes", "Reconciles that had a cause of a type.", byName("causes", "type")),
    gauge(
      "reconciler_waiting_for_caches",
      "Keys that wait until caches have seen their last writes.",
      ofReconcilers(({ waitingForCaches }) => waitingForCaches),
    ),
    counter("reconciler_stale_reconciles", "Reconciles on a stale cache.", ofReconcilers(({ stale }) => stale)),
    gauge(
      "reconciler_abandoned_keys",
      "Keys whose call has passed its time limit and not returned.",
      ofReconcilers(({ abandoned }) => abandoned.length),
    ),
    counter(
      "reconciler_event_errors",
      "Events whose predicate or map function has thrown.",
      ofReconcilers(({ eventErrors }) => eventErrors),
    ),
    gauge("workqueue_waiting_keys", "Keys that wait for a worker.", ofReconcilers(({ queue }) => queue.waiting)),
    gauge("workqueue_delayed_keys", "Keys whose delay has not ended.", ofReconcilers(({ queue }) => queue.delayed)),
    gauge("workqueue_processing_keys", "Keys that workers process.", ofReconcilers(({ queue }) => queue.processing)),
    counter("workqueue_adds", "Keys added that did not wait already.", ofReconcilers(({ queue }) => queue.adds)),
    counter("workqueue_retries", "Keys added with a delay.", ofReconcilers(({ queue }) => queue.retries)),
    counter("workqueue_dropped", "Keys added after the end.", ofReconcilers(({ queue }) => queue.dropped)),
    summary(
      "workqueue_wait_seconds",
      "The time from the addition of a key to its worker.",
      durations(({ queue }) => queue.queueLatencyMs),
    ),
    summary(
      "workqueue_work_seconds",
      "The time that workers processed a key.",
      durations(({ queue }) => queue.workDurationMs),
    ),
    seconds(
      "workqueue_longest_running_seconds",
      "The time for which the oldest key in process has been processed.",
      ofReconcilers(({ queue }) => queue.longestRunningMs / 1_000),
    ),
  ];
  if (elector !== undefined) {
    const { state, transitions, sinceRenewalMs } = elector;
    families.push(
      gauge("leader_state", "The state of the elector: 1 for the present one.", [{ labels: { state }, value: 1 }]),
      gauge("leader_transitions", "Changes of the holder of the lease, as the lease counts them.", some(transitions)),
      seconds(
        "leader_since_renewal_seconds",
        "The time since the last successful renewal was sent, while this process leads.",
        some(sinceRenewalMs === undefined ? undefined : sinceRenewalMs / 1_000),
      ),
    );
  }
  if (recorders.length > 0) {
    const sum = (member: "queued" | "created" | "updated" | "dropped"): MetricSample[] => [
      { value: recorders.reduce((total, it) => total + it[member], 0) },
    ];
    families.push(
      gauge("recorder_queued_events", "Events that wait to be written.", sum("queued")),
      counter("recorder_created_events", "Events created.", sum("created")),
      counter("recorder_updated_events", "Counts of series written.", sum("updated")),
      counter("recorder_dropped_events", "Events dropped.", sum("dropped")),
    );
  }
  return families;
}

function counter(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "counter", help, samples };
}

function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", help, samples };
}

function seconds(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "gauge", unit: "seconds", help, samples };
}

function summary(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, type: "summary", unit: "seconds", help, samples };
}

function some(value: number | undefined): MetricSample[] {
  return value === undefined ? [] : [{ value }];
}

/** Returns the labels of each item; items that would have the same labels are numbered from the second one on. */
function labelsOf<I>(items: readonly I[], labels: (item: I) => Labels): Labels[] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const own = labels(item);
    const key = JSON.stringify(own);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count === 1 ? own : { ...own, instance_number: String(count) };
  });
}
