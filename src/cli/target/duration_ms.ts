import { UsageError } from "../errors/exit_code.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Timers hold 31 bits; one that is set to more fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Milliseconds of a duration such as `30s`, `1m30s`, `250ms` or `0`; at most 596 hours.
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

/** How long ago `time` was, as kubectl says it: `"42s"`, `"5m"`, `"3h"`, `"12d"`. */
export function ageOf(time: string | undefined, now: number = Date.now()): string {
  const ms = time === undefined ? NaN : now - Date.parse(time);
  if (Number.isNaN(ms)) return "<unknown>";
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
