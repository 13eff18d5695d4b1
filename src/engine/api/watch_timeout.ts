/**
 * How long a watch may stay open, and the errors for a watch that stays open longer.
 *
 * {@linkcode watchTimeoutSeconds} and {@linkcode watchTimeoutError} are the entry points. This file keeps no time:
 * callers that read watches do.
 *
 * @module
 */
import { UnreachableError } from "./status.ts";

/** How long a watch may stay open after the requested time, in milliseconds. */
export const WATCH_GRACE_MS = 10_000;

/** Returns a random time to request for a watch, in seconds: from `shortestMs` to 1.8 times as long. */
export function watchTimeoutSeconds(shortestMs = 120_000): number {
  return Math.max(1, Math.ceil((shortestMs * (1 + 0.8 * Math.random())) / 1_000));
}

/** Ends a watch whose connection may be dead, although nothing has failed. Its reader resumes at once. */
export class WatchRenewal extends UnreachableError {}

/**
 * Creates the error for a watch that is still open {@linkcode WATCH_GRACE_MS} after the requested time. `action`
 * follows "Cannot".
 */
export function watchTimeoutError(action: string, timeoutSeconds: number): UnreachableError {
  return new UnreachableError(
    `Cannot ${action}: the server has not ended the watch ${WATCH_GRACE_MS / 1_000} s after the ${timeoutSeconds} s ` +
      `that were requested, so the connection may be dead`,
  );
}
