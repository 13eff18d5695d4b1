import { isExpired, isThrottled, isTooLargeResourceVersion, StatusError, UnreachableError } from "../api/errors.ts";
import type { Failure, Outcome } from "./phase.ts";

/** Decides, once, what an error means to a reflector. */
export function classify(error: unknown): Failure {
  // mutant: status-410-ignored
  if (isExpired(error) || isTooLargeResourceVersion(error)) return "expired";
  if (isThrottled(error)) return "throttled";
  if (error instanceof UnreachableError) return "unreachable";
  return "refused";
}

/** The outcome of a phase that `error` ended. */
export function failed(error: unknown, resourceVersion: string): Outcome {
  const seconds = error instanceof StatusError ? error.status.retryAfterSeconds : undefined;
  return {
    type: "failed",
    failure: classify(error),
    error,
    resourceVersion,
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1_000 }),
  };
}
