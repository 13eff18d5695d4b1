/**
 * Returns true when a signal has aborted and `error` says so: it is the signal's reason, or an error with that `reason`, as a
 * `WaitError` is.
 */
export function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  if (!signal.aborted) return false;
  const { reason } = signal;
  return error === reason || (error instanceof Error && "reason" in error && error.reason === reason);
}
