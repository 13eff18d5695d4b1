import { InformerError } from "../../errors/informer_error.ts";

/**
 * A snapshot cannot be restored.
 *
 * `reason` is `"damaged"` if it is cut off or its bytes were changed, `"format"` if it is no snapshot, or one of a format that
 * this version does not read, and `"other"` if it is of another collection, cluster or form of objects.
 */
export class SnapshotError extends InformerError {
  /** `"SnapshotError"`. */
  override readonly name = "SnapshotError";
  /** The kind of the failure. */
  readonly reason: "damaged" | "format" | "other";

  /** Creates an error. */
  constructor(reason: SnapshotError["reason"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
  }
}
