/** The command line itself is wrong: exit code 2. The message says all there is to say. */
export class UsageError extends Error {
  /** `"UsageError"`. */
  override readonly name = "UsageError";
}
