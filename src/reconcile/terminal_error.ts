/**
 * A failure that a retry cannot mend, such as an invalid spec. A reconcile that throws it is counted and reported, and its key
 * is reconciled again only after the next event.
 */
export class TerminalError extends Error {
  /** `"TerminalError"`. */
  override readonly name = "TerminalError";
}
