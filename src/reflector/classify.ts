import { isExpired, isThrottled, isTooLargeResourceVersion, StatusError, UnreachableError } from "../api/errors.ts";
import { retryAfterMs } from "../api/status.ts";
import type { FailedOutcome, Failure } from "./phase.ts";

/** Returns the meaning of an error for a reflector. It is decided here alone. */
export function classify(error: unknown): Failure {
  // mutant: status-410-ignored
  if (isExpired(error) || isTooLargeResourceVersion(error)) return "expired";
  if (isThrottled(error)) return "throttled";
  if (error instanceof UnreachableError) return "unreachable";
  return "refused";
}

/** Returns the outcome of a phase that ended with `error`. */
export function failed(error: unknown, resourceVersion: string): FailedOutcome {
  const askedMs = error instanceof StatusError ? retryAfterMs(error.status) : undefined;
  return {
    type: "failed",
    failure: classify(error),
    error,
    resourceVersion,
    ...(askedMs === undefined ? {} : { retryAfterMs: askedMs }),
  };
}
