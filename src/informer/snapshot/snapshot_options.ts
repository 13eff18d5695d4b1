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
