/**
 * Converts errors to exit codes and lines for people.
 *
 * `explainError` is the entry point. This folder prints nothing and does not end the process.
 *
 * @module
 */

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
