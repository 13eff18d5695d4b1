import type { Durations } from "../workqueue/status.ts";
import { informerMetrics } from "../metrics/informer_metrics.ts";
import {
  counter,
  gauge,
  labelsOf,
  type MetricFamily,
  type MetricSample,
  secondsGauge,
  summary,
} from "../metrics/metric_family.ts";
import type { ManagerStatus } from "./manager_status.ts";

/** Returns the metric families of a manager, from the status of its parts. */
export function managerMetrics(status: ManagerStatus): MetricFamily[] {
  const { phase, informers, reconcilers, elector, recorders } = status;
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
    ...informerMetrics(informers),
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
    secondsGauge(
      "workqueue_longest_running_seconds",
      "The time for which the oldest key in process has been processed.",
      ofReconcilers(({ queue }) => queue.longestRunningMs / 1_000),
    ),
  ];
  if (elector !== undefined) {
    const { state, transitions, sinceRenewalMs, errors } = elector;
    families.push(
      gauge("leader_state", "The state of the elector: 1 for the present one.", [{ labels: { state }, value: 1 }]),
      gauge("leader_transitions", "Changes of the holder of the lease, as the lease counts them.", some(transitions)),
      counter("leader_errors", "Failed attempts to acquire, renew or release the lease.", [{ value: errors }]),
      secondsGauge(
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

function some(value: number | undefined): MetricSample[] {
  return value === undefined ? [] : [{ value }];
}
