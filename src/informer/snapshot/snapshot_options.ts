import type { SnapshotStore } from "../../api/snapshot_store.ts";

/** Options of a snapshot of a cache. */
export interface SnapshotOptions {
  /**
   * The name of the cluster. A snapshot of another one is not restored. Give another name to a cluster that was made anew: its
   * versions begin anew too. @default {not compared}
   */
  readonly cluster?: string;
  /** Writes Secrets that have their data (`keep: "data"`); without it they are refused. @default {false} */
  readonly secrets?: boolean;
}

/** The snapshots that a factory keeps of its caches. */
export interface FactorySnapshots extends SnapshotOptions {
  /** The place of the snapshots. */
  readonly store: SnapshotStore;
  /**
   * The time between two snapshots of a cache that changes, in milliseconds; `Infinity` writes only when the informer stops.
   * @default {60_000}
   */
  readonly everyMs?: number;
}
