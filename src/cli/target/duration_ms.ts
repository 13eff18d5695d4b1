import { UsageError } from "../errors/usage_error.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Timers have 31 bits; a longer timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Returns the milliseconds of a duration such as `30s`, `1m30s`, `250ms` or `0`; at most 596 hours.
 *
 * @throws {UsageError} that names the flag.
 */
export function durationMs(text: string, flag: string): number {
  if (text === "0") return 0;
  let total = 0;
  for (let rest = text; rest !== "" || text === "";) {
    const match = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/.exec(rest);
    if (match === null) {
      throw new UsageError(`--${flag} must be a duration such as "30s", "1m30s" or "250ms", found "${text}"`);
    }
    total += Number(match[1]) * UNITS[match[2]];
    rest = rest.slice(match[0].length);
  }
  if (total > LONGEST_MS) throw new UsageError(`--${flag} must be at most "596h", found "${text}"`);
  return total;
}
