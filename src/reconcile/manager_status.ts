import type { InformerOfFactory } from "../informer/shared_informer_factory.ts";
import type { LeaderElectorStatus } from "./election/leader_elector.ts";
import type { EventRecorderStatus } from "./events/event_recorder.ts";
import type { ReconcilerStatus } from "./status.ts";

/**
 * The phase of a manager. Phases follow one another in this order; a manager without an elector is never `"standby"`, and any
 * phase may be followed by `"stopping"`.
 *
 * - `"created"`: it does not run yet.
 * - `"syncing"`: the informers run, and have not all synced.
 * - `"standby"`: the caches are complete, and another process leads.
 * - `"running"`: the reconcilers run.
 * - `"stopping"`: reconciles in flight end, events are written, the lease is released, informers stop; in this order.
 * - `"stopped"`: everything has ended.
 */
export type ManagerPhase = "created" | "syncing" | "standby" | "running" | "stopping" | "stopped";

/** The status of a manager and of its parts, at one moment. */
export interface ManagerStatus {
  /** The phase. */
  readonly phase: ManagerPhase;
  /** The informers of all factories. */
  readonly informers: readonly InformerOfFactory[];
  /** The reconcilers. */
  readonly reconcilers: readonly ReconcilerStatus[];
  /** The elector, where there is one. */
  readonly elector?: LeaderElectorStatus;
  /** The recorders of events. */
  readonly recorders: readonly EventRecorderStatus[];
}
