import { UnreachableError } from "./errors.ts";

/** The time that a watch may stay open beyond the requested time, in milliseconds. */
export const WATCH_GRACE_MS = 10_000;

/** Returns the time to request for a watch: a random one between `shortestMs` and 1.8 times that, in seconds. */
export function watchTimeoutSeconds(shortestMs = 120_000): number {
  return Math.max(1, Math.ceil((shortestMs * (1 + 0.8 * Math.random())) / 1_000));
}

/** Ends a watch whose connection may be dead, although nothing has failed: its reader resumes at once. */
export class WatchRenewal extends UnreachableError {}

/** Returns the error of a watch that is open {@linkcode WATCH_GRACE_MS} beyond the requested time; `action` follows "Cannot". */
export function watchTimeoutError(action: string, timeoutSeconds: number): UnreachableError {
  return new UnreachableError(
    `Cannot ${action}: the server has not ended the watch ${
      WATCH_GRACE_MS / 1_000
    } s after the ${timeoutSeconds} s that ` +
      `were requested, so the connection may be dead`,
  );
}
