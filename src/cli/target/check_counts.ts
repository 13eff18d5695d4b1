import { UsageError } from "../errors/usage_error.ts";

/** Rejects numbers below 0, and values that are not finite numbers. @throws {UsageError} that names the flag. */
export function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [flag, value] of Object.entries(counts)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new UsageError(`--${flag} must be a number that is at least 0, found ${value}`);
    }
  }
}
