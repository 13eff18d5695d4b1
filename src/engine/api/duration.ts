/**
 * Durations as Kubernetes writes them: Go's `1h30m`.
 *
 * {@linkcode parseDuration} and {@linkcode formatDuration} are the entry points. Ages in tables, such as `5d3h`, are
 * another format: see `humanDuration` in `async/time.ts`.
 *
 * @module
 */
import { ValueError } from "../errors/checks.ts";
import { quoted } from "../errors/errors.ts";

/** The units in nanoseconds. The sign for micro has two code points. */
const UNITS = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3_600e9 } as const;

/** The longest duration that Go has: 2 ** 63 nanoseconds, about 292 years. */
const MOST_NS = 2 ** 63;

/**
 * Returns the milliseconds in a duration such as `"1h30m"`, the format of `metav1.Duration` in Kubernetes and of Go's
 * `time.ParseDuration`. Use it for fields, annotations and environment variables that have a duration.
 *
 * - The units are `h`, `m`, `s`, `ms`, `us` (or `µs`) and `ns`. Numbers may have decimals: `"1.5h"`.
 * - `"0"` needs no unit.
 * - A sign is refused, because a negative timeout or period has no meaning.
 *
 * @throws {SyntaxError} if the text is not a duration, or has a sign.
 * @throws {RangeError} if it is longer than Go's longest duration, about 292 years.
 *
 * @example
 * ```ts
 * import { parseDuration } from "@kube/informer";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(parseDuration("1h30m"), 5_400_000);
 * assertEquals(parseDuration("1.5ms"), 1.5);
 * assertThrows(() => parseDuration("90"), SyntaxError, "90s");
 * ```
 */
export function parseDuration(text: string): number {
  if (text === "0") return 0;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
  let ns = 0;
  let end = 0;
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    ns += Math.round(Number(found[1]) * UNITS[found[2] as keyof typeof UNITS]);
    end = part.lastIndex;
  }
  if (end === 0 || end < text.length) {
    const near = /^\d+$/.test(text) ? `"${quoted(text)}s"` : '"1h30m"';
    throw new SyntaxError(
      `Cannot read the duration "${quoted(text)}": it must be numbers with units, such as ${near} or "250ms". ` +
        "The units are h, m, s, ms, us and ns",
    );
  }
  if (ns < MOST_NS) return ns / 1e6;
  throw new ValueError(`Cannot read the duration "${quoted(text)}": it must be shorter than "2562047h48m"`);
}

/**
 * Returns a duration as Go prints it: `"1h30m0s"`, `"1.5s"`, `"250ms"`. Kubernetes writes the same text into objects,
 * so an apply of this text causes no change. {@linkcode parseDuration} reads it back. Nanoseconds are the smallest
 * part.
 *
 * @throws {RangeError} if `ms` is negative, is not a number, or is longer than Go's longest duration.
 *
 * @example
 * ```ts
 * import { formatDuration } from "@kube/informer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(formatDuration(5_400_000), "1h30m0s");
 * assertEquals(formatDuration(1_500), "1.5s");
 * ```
 */
export function formatDuration(ms: number): string {
  const ns = Math.round(ms * 1e6);
  if (!(ns >= 0 && ns < MOST_NS)) {
    throw new ValueError(`Cannot write a duration: it must be at least 0 ms and less than 292 years, but it is ${ms}`);
  }
  if (ns === 0) return "0s";
  if (ns < UNITS.s) {
    const unit = ns < UNITS.us ? "ns" : ns < UNITS.ms ? "µs" : "ms";
    return `${ns / UNITS[unit]}${unit}`;
  }
  const seconds = ((ns % UNITS.m) / UNITS.s).toFixed(9).replace(/\.?0+$/, "");
  if (ns < UNITS.m) return `${seconds}s`;
  const minutes = Math.floor(ns / UNITS.m);
  return ns < UNITS.h ? `${minutes}m${seconds}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`;
}
