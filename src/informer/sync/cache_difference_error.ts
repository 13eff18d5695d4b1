import type { ObjectKey } from "../../api/key.ts";
import { InformerError } from "../../errors/informer_error.ts";

/** Reported by a consistency check that has found a cache which is not equal to the server. */
export class CacheDifferenceError extends InformerError {
  /** `"CacheDifferenceError"`. */
  override readonly name = "CacheDifferenceError";
  /** The number of objects that were missing, gone or at another version. */
  readonly differences: number;
  /** The keys of the first ten. */
  readonly keys: readonly ObjectKey[];

  /** Names the resource, the objects, and the repair. */
  constructor(resource: string, differences: number, keys: readonly ObjectKey[], repair: string) {
    const names = keys.map((key) => `"${key}"`).join(", ");
    const more = differences > keys.length ? ` and ${differences - keys.length} more` : "";
    super(
      `The cache of "${resource}" differs from the server in ${differences} ${
        differences === 1 ? "object" : "objects"
      }${names === "" ? "" : ` (${names}${more})`}: ${repair}`,
    );
    this.differences = differences;
    this.keys = keys;
  }
}
