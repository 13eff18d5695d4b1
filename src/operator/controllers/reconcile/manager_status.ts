/**
 * A manager's phases, status and metrics.
 *
 * {@linkcode ManagerStatus} and {@linkcode managerMetrics} are the entry points. Nothing is counted here: the manager's
 * parts count.
 *
 * @module
 */
import {
  counter,
  gauge,
  histogram,
  informerMetrics,
  labelsOf,
  type MetricFamily,
  type MetricSample,
  secondsSample,
} from "../../../engine/informer/metrics.ts";
import type { InformerOfFactory } from "../../../engine/informer/shared_informer_factory.ts";
import type { EventRecorderStatus } from "./event_recorder.ts";
import type { LeaderElectorStatus } from "./leader_elector.ts";
import type { ReconcilerStatus } from "./options.ts";
import type { ShardGroupStatus } from "./shard_group.ts";

/**
 * A manager's phase. Phases follow in this order. Only a manager with an elector is ever `"standby"`, and any phase may
 * be followed by `"stopping"`.
 *
 * - `"created"`: it does not run yet.
 * - `"syncing"`: the informers run, and have not all synced.
 * - `"standby"`: the caches are complete, and another process leads.
 * - `"running"`: the reconcilers run.
 * - `"stopping"`: running reconciles end, events are written, the lease is released, and informers stop, in this order.
 *   Informers that a reconciler created for itself stop with the reconciler.
 * - `"stopped"`: everything has ended.
 */
export type ManagerPhase = "created" | "syncing" | "standby" | "running" | "stopping" | "stopped";

/** A snapshot of a manager and its parts. */
export interface ManagerStatus {
  /** The phase. */
  readonly phase: ManagerPhase;
  /** The informers in all factories. */
  readonly informers: readonly InformerOfFactory[];
  /** The reconcilers. */
  readonly reconcilers: readonly ReconcilerStatus[];
  /** The elector, if there is one. */
  readonly elector?: LeaderElectorStatus;
  /** The group that divides the keys, if there is one. */
  readonly shards?: ShardGroupStatus;
  /** The event recorders. */
  readonly recorders: readonly EventRecorderStatus[];
}

/** Returns a manager's metric families, made from its parts' status. */
export function managerMetrics(status: ManagerStatus): MetricFamily[] {
  const { phase, informers, reconcilers, elector, shards, recorders } = status;
  return [
    gauge("manager_phase", "The phase of the manager: 1 for the present one.", [{ labels: { phase }, value: 1 }]),
    ...informerMetrics(informers),
    ...reconcilerMetrics(reconcilers),
    ...elector === undefined ? [] : electorMetrics(elector),
    ...shards === undefined ? [] : shardMetrics(shards),
    ...recorders.length === 0 ? [] : recorderMetrics(recorders),
  ];
}

function reconcilerMetrics(reconcilers: readonly ReconcilerStatus[]): MetricFamily[] {
  const labels = labelsOf(reconcilers, ({ name }) => ({ reconciler: name }));
  const each = (member: "waitingForCaches" | "ownCalls" | "stale" | "eventErrors"): MetricSample[] =>
    reconcilers.map(({ [member]: value }, index) => ({ labels: labels[index], value }));
  const byName = (member: "outcomes" | "triggers", label: string): MetricSample[] =>
    reconcilers.flatMap((it, index) =>
      Object.entries(it[member]).map(([name, value]) => ({ labels: { ...labels[index], [label]: name }, value }))
    );
  return [
    gauge(
      "reconciler_state",
      "The state of a reconciler: 1 for the present one.",
      reconcilers.map(({ state }, index) => ({ labels: { ...labels[index], state }, value: 1 })),
    ),
    counter("reconciler_reconciles", "Reconciles that have ended, by outcome.", byName("outcomes", "outcome")),
    histogram(
      "reconciler_reconcile_seconds",
      "The time from the call of a reconcile to its return, or to the end of its time limit.",
      reconcilers.map(({ reconcileMs }, index) => secondsSample(labels[index], reconcileMs)),
    ),
    counter("reconciler_triggers", "Reconciles that had a cause of a type.", byName("triggers", "type")),
    gauge(
      "reconciler_waiting_for_caches",
      "Keys that wait until caches have seen their last writes.",
      each("waitingForCaches"),
    ),
    counter("reconciler_own_calls", "Reconciles that only own writes have caused.", each("ownCalls")),
    counter("reconciler_stale_reconciles", "Reconciles on a stale cache.", each("stale")),
    gauge(
      "reconciler_abandoned_keys",
      "Keys whose call has passed its time limit and not returned.",
      reconcilers.map(({ abandoned }, index) => ({ labels: labels[index], value: abandoned.length })),
    ),
    counter("reconciler_event_errors", "Events whose predicate or map function has thrown.", each("eventErrors")),
    ...queueMetrics(reconcilers, labels),
  ];
}

function queueMetrics(
  reconcilers: readonly ReconcilerStatus[],
  labels: readonly MetricSample["labels"][],
): MetricFamily[] {
  const each = (value: (queue: ReconcilerStatus["queue"]) => number): MetricSample[] =>
    reconcilers.map(({ queue }, index) => ({ labels: labels[index], value: value(queue) }));
  const times = (member: "queueLatencyMs" | "workDurationMs"): MetricSample[] =>
    reconcilers.map(({ queue }, index) => secondsSample(labels[index], queue[member]));
  return [
    gauge("workqueue_waiting_keys", "Keys that wait for a worker.", each(({ waiting }) => waiting)),
    gauge("workqueue_delayed_keys", "Keys whose delay has not ended.", each(({ delayed }) => delayed)),
    gauge("workqueue_processing_keys", "Keys that workers process.", each(({ processing }) => processing)),
    counter("workqueue_adds", "Keys added that did not wait already.", each(({ adds }) => adds)),
    counter("workqueue_retries", "Keys added with a delay.", each(({ retries }) => retries)),
    counter("workqueue_dropped", "Keys added after the end.", each(({ dropped }) => dropped)),
    histogram("workqueue_wait_seconds", "The time from the addition of a key to its worker.", times("queueLatencyMs")),
    histogram("workqueue_work_seconds", "The time that workers processed a key.", times("workDurationMs")),
    gauge(
      "workqueue_longest_running_seconds",
      "The time for which the oldest key in process has been processed.",
      each(({ longestRunningMs }) => longestRunningMs / 1_000),
    ),
  ];
}

function electorMetrics({ state, transitions, sinceRenewalMs, errors }: LeaderElectorStatus): MetricFamily[] {
  return [
    gauge("leader_state", "The state of the elector: 1 for the present one.", [{ labels: { state }, value: 1 }]),
    gauge("leader_transitions", "Changes of the holder of the lease, as the lease counts them.", some(transitions)),
    counter("leader_errors", "Failed attempts to acquire, renew or release the lease.", [{ value: errors }]),
    gauge(
      "leader_since_renewal_seconds",
      "The time since the last successful renewal was sent, while this process leads.",
      some(sinceRenewalMs === undefined ? undefined : sinceRenewalMs / 1_000),
    ),
  ];
}

function shardMetrics({ state, members, ranges, releasing, sinceRenewalMs }: ShardGroupStatus): MetricFamily[] {
  const held = ranges.map((range) => ({ labels: { range: String(range) }, value: 1 }));
  return [
    gauge("shards_state", "The state of this process in its group: 1 for the present one.", [
      { labels: { state }, value: 1 },
    ]),
    gauge("shards_members", "The processes of the group.", [{ value: members.length }]),
    gauge("shards_held", "The ranges that this process holds, of 64 of the group.", [{ value: ranges.length }]),
    gauge("shards_range", "1 for each range that this process holds.", held),
    gauge("shards_releasing", "The ranges whose calls end, to be given away.", [{ value: releasing }]),
    gauge(
      "shards_since_renewal_seconds",
      "The time since the last successful renewal was sent, while this process may hold ranges.",
      some(sinceRenewalMs === undefined ? undefined : sinceRenewalMs / 1_000),
    ),
  ];
}

function recorderMetrics(recorders: readonly EventRecorderStatus[]): MetricFamily[] {
  const sum = (member: "queued" | "created" | "updated" | "dropped"): MetricSample[] => [
    { value: recorders.reduce((total, it) => total + it[member], 0) },
  ];
  return [
    gauge("recorder_queued_events", "Events that wait to be written.", sum("queued")),
    counter("recorder_created_events", "Events created.", sum("created")),
    counter("recorder_updated_events", "Counts of series written.", sum("updated")),
    counter("recorder_dropped_events", "Events dropped.", sum("dropped")),
  ];
}

function some(value: number | undefined): MetricSample[] {
  return value === undefined ? [] : [{ value }];
}
