/**
 * Values of flags: durations, sizes and counts.
 *
 * {@linkcode durationMs} is the entry point. Each function refuses a value by an error that names its flag.
 *
 * @module
 */
import { UsageError } from "./usage.ts";

/** Rejects numbers below 0, and values that are not finite numbers. @throws {UsageError} that names the flag. */
export function checkNumbers(counts: Readonly<Record<string, number>>): void {
  for (const [flag, value] of Object.entries(counts)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new UsageError(`--${flag} must be a number that is at least 0, but it is ${value}`);
    }
  }
}

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
  const parts = [...text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g)];
  if (text === "" || parts.map(([part]) => part).join("") !== text) {
    throw new UsageError(`--${flag} must be a duration such as "30s", "1m30s" or "250ms", but it is "${text}"`);
  }
  const total = parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit], 0);
  if (total > LONGEST_MS) throw new UsageError(`--${flag} must be at most "596h", but it is "${text}"`);
  return total;
}

/**
 * Returns the bytes of a size such as `512MB`, `1.5G` or `512MiB`.
 *
 * @throws {UsageError} that names the flag.
 */
export function sizeInBytes(text: string, flag: string): number {
  const [, number, unit = "", binary = ""] = /^(\d+(?:\.\d+)?)([KMG]?)(i?)B?$/i.exec(text) ?? [];
  const bytes = Math.floor(
    Number(number) * (binary === "" ? 1_000 : 1_024) ** " KMG".indexOf(unit.toUpperCase() || " "),
  );
  if (bytes > 0) return bytes;
  throw new UsageError(`--${flag} must be a size such as "512MB" or "1GiB", but it is "${text}"`);
}
