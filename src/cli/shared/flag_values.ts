/**
 * Values of flags: durations, sizes and counts.
 *
 * {@linkcode durationMs} is the entry point. Each function refuses a value by an error that names its flag.
 *
 * @module
 */
import { parseDuration } from "../../engine/api/duration.ts";
import { UsageError } from "./usage.ts";

/** Rejects numbers below 0, and values that are not finite numbers. @throws {UsageError} that names the flag. */
export function checkNumbers(counts: Readonly<Record<string, number>>): void {
  for (const [flag, value] of Object.entries(counts)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new UsageError(`--${flag} must be a number that is at least 0, but it is ${value}`);
    }
  }
}

/** Timers have 31 bits; a longer timer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Returns the milliseconds of a duration such as `30s`, `1m30s`, `250ms` or `0`; at most 596 hours.
 *
 * @throws {UsageError} that names the flag.
 */
export function durationMs(text: string, flag: string): number {
  try {
    const ms = parseDuration(text);
    if (ms <= LONGEST_MS) return ms;
  } catch (error) {
    if (!(error instanceof RangeError)) {
      throw new UsageError(`--${flag} must be a duration such as "30s", "1m30s" or "250ms", but it is "${text}"`);
    }
  }
  throw new UsageError(`--${flag} must be at most "596h", but it is "${text}"`);
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
