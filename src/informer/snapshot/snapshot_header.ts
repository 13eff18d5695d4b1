import { SnapshotError } from "./snapshot_error.ts";

/** The first line of a snapshot. A change of the format changes the number. */
export const SNAPSHOT_FORMAT = "kube-informer-snapshot 1\n";

/** The properties that a snapshot and the informer that restores it have in common, by names for messages. */
export interface SnapshotScope {
  /** The resource and its version: `"deployments.apps/v1"`. */
  readonly resource: string;
  /** The form of the objects: `"object"`, `"metadata"` or `"table"`. */
  readonly representation: string;
  /** The fields to which the objects are reduced, or `"all"`. */
  readonly fields: readonly string[] | "all";
  /** `"drop"` if Secrets lack their data, and the names of further annotations that hold it. */
  readonly secretData: string;
  /** The parts of the collection. */
  readonly selections: readonly Readonly<Record<string, unknown>>[];
  /** `"drop"` or `"keep"`. */
  readonly managedFields: string;
  /** `true` if a transform has changed the objects. */
  readonly transformed: boolean;
  /** The name of the cluster; `""` if it has none. */
  readonly cluster: string;
}

/** The head of a snapshot. */
export interface SnapshotHeader {
  /** The collection, and the form of its objects. */
  readonly scope: SnapshotScope;
  /** The version of each part of the collection, in the order of its selections. */
  readonly versions: readonly string[];
  /** The time at which the cache was last known to be up to date, in milliseconds since 1970. */
  readonly at: number;
}

/** @throws {SnapshotError} that names the first difference between the scope of a snapshot and the one that is needed. */
export function checkSnapshotScope({ scope }: SnapshotHeader, needed: SnapshotScope): void {
  for (const name of Object.keys(needed) as (keyof SnapshotScope)[]) {
    const [found, expected] = [JSON.stringify(scope[name]), JSON.stringify(needed[name])];
    // mutant: restored-of-another
    if (found !== expected) {
      throw new SnapshotError("other", `it is of another ${name}: found ${found}, expected ${expected}`);
    }
  }
}
