import type { ObjectKey } from "../../api/key.ts";

/** The number of keys in a {@linkcode CheckResult}. */
const MOST_KEYS = 10;

/** The result of a consistency check: a comparison of a cache with the server. */
export interface CheckResult {
  /** The number of objects that the server listed. */
  readonly objects: number;
  /** The number of objects that were missing in the cache, gone from the server, or cached at an older version. */
  readonly differences: number;
  /** The keys of the first ten of them. */
  readonly keys: readonly ObjectKey[];
  /**
   * - `"none"`: the cache was equal to the server.
   * - `"objects"`: the objects that differed were read again.
   * - `"list"`: the collection is listed again, for `reason`; handlers receive the differences when it has been.
   * - `"listed"`: the collection was listed during the check, which ended it.
   */
  readonly repair: "none" | "objects" | "list" | "listed";
  /** The reason for a list. */
  readonly reason?: string;
}

/** The same, of an empty collection. */
export const NOTHING_CHECKED: CheckResult = { objects: 0, differences: 0, keys: [], repair: "none" };

const REPAIRS = ["none", "listed", "objects", "list"] as const;

/** Returns the result of two parts of a collection. */
export function addResults(a: CheckResult, b: CheckResult): CheckResult {
  const reason = a.reason ?? b.reason;
  return {
    objects: a.objects + b.objects,
    differences: a.differences + b.differences,
    keys: [...a.keys, ...b.keys].slice(0, MOST_KEYS),
    repair: REPAIRS[Math.max(REPAIRS.indexOf(a.repair), REPAIRS.indexOf(b.repair))],
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Returns the result of a check that found `all` to differ. */
export function resultOf(
  objects: number,
  all: readonly ObjectKey[],
  repair: CheckResult["repair"],
  reason?: string,
): CheckResult {
  return {
    objects,
    differences: all.length,
    keys: all.slice(0, MOST_KEYS),
    repair,
    ...(reason === undefined ? {} : { reason }),
  };
}
