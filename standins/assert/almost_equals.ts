import { AssertionError } from "./assertion_error.ts";
import { ending } from "./ending.ts";

/**
 * Asserts that two numbers are no further apart than `tolerance`.
 *
 * @param tolerance by default a ten-millionth of `expected`.
 */
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ?? (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  const delta = Math.abs(expected - actual);
  if (delta <= allowed) return;
  throw new AssertionError(
    `Expected actual: "${digits(actual)}" to be close to "${digits(expected)}": ` +
      `delta "${digits(delta)}" is greater than "${digits(allowed)}"${ending(msg)}`,
  );
}

function digits(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toExponential();
}
