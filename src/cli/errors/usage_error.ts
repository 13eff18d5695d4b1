/** The command line is invalid: exit code 2. The message includes the remedy. */
export class UsageError extends Error {
  /** `"UsageError"`. */
  override readonly name = "UsageError";
}
