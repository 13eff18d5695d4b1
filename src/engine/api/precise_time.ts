/**
 * Times in logs, which have nanoseconds and any zone.
 *
 * {@linkcode preciseTime} is the entry point. Times in objects have whole seconds or microseconds, and need no such
 * form.
 *
 * @module
 */

/**
 * Returns a time in RFC 3339 as UTC with nine digits after the seconds, so that the order of such texts is the order of
 * their times. Returns `undefined` if `text` is no such time.
 */
export function preciseTime(text: string): string | undefined {
  const [, seconds, fraction = "", zone] = PRECISE.exec(text) ?? [];
  const digits = fraction.slice(1).padEnd(9, "0");
  const ms = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(ms) || digits.length > 9) return undefined;
  return zone === "Z" && fraction.length === 10 ? text : `${new Date(ms).toISOString().slice(0, 19)}.${digits}Z`;
}

const PRECISE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+|)(Z|[+-]\d\d:\d\d)$/;
