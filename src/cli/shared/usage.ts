/**
 * Exit codes, and the error about a command line that is wrong. Every command needs them, so they are small to load.
 * The texts about other errors are in `explain_error.ts`.
 *
 * @module
 */
import { nearest } from "../../engine/errors/errors.ts";

/** Exit codes of the process. */
export const EXIT_CODE = {
  /** Success. */
  done: 0,
  /** Failure. */
  failed: 1,
  /** Invalid command line. */
  usage: 2,
  /** No connection, or access denied. */
  connection: 3,
} as const;

/** The command line is invalid: exit code 2. The message includes the remedy. */
export class UsageError extends Error {
  /** `"UsageError"`. */
  override readonly name = "UsageError";
}

/** Returns `; did you mean "--namespace"?` if one of the candidates is similar to the name, else an empty text. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = nearest(name, candidates);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
