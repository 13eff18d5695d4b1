import type { ObjectKey } from "../api/key.ts";
import type { Cause } from "../workqueue/cause.ts";
import type { WorkQueueStatus } from "../workqueue/status.ts";

/** The outcome of a reconcile. A reconcile that its reconciler has stopped is `"stopped"`: it neither succeeded nor failed. */
export type ReconcileOutcome = "succeeded" | "requeued" | "retried" | "failed" | "terminal" | "timedOut" | "stopped";

/** A reconcile that has ended. */
export interface ReconcileRecord {
  /** The key. */
  readonly key: ObjectKey;
  /** The causes of the reconcile. */
  readonly causes: readonly Cause[];
  /** The outcome. */
  readonly outcome: ReconcileOutcome;
  /** The time at which it ended. */
  readonly at: Date;
  /** The error, of an outcome that has one. */
  readonly error?: unknown;
}

/** The state of a `Reconciler` at one time. Counters start at 0 and never decrease. */
export interface ReconcilerStatus {
  /** The name of the reconciler. */
  readonly name: string;
  /** The state: `"syncing"` lasts until all informers have synced, `"stopping"` until the last reconcile has returned. */
  readonly state: "created" | "syncing" | "running" | "stopping" | "stopped";
  /** The number of reconciles that have ended, by outcome. */
  readonly outcomes: Readonly<Record<ReconcileOutcome, number>>;
  /** The number of reconciles that had a cause of a type, by that type; a reconcile with two types counts for both. */
  readonly causes: Readonly<Record<string, number>>;
  /** The last reconciles that have ended, the newest last; at most 16. */
  readonly recent: readonly ReconcileRecord[];
  /** The number of keys that wait until caches have seen the writes of their last reconcile. */
  readonly waitingForCaches: number;
  /** The number of reconciles that began although a cache had not seen such a write within `staleMs`. */
  readonly stale: number;
  /** The keys whose last call has passed its time limit and has not returned; they are not reconciled until it does. */
  readonly abandoned: readonly ObjectKey[];
  /** The number of events whose predicate or map function has thrown, and of broken objects that one of them read. */
  readonly eventErrors: number;
  /** The queue of keys; `running` has the keys that are reconciled, and their causes. */
  readonly queue: WorkQueueStatus;
}
