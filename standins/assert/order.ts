import { AssertionError } from "./assertion_error.ts";
import { ending } from "./ending.ts";
import { inspect } from "./inspect.ts";

/** Asserts that `actual > expected`; `msg` is the whole message when it is not. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) throw disorder(actual, ">", expected, msg);
}

/** Asserts that `actual >= expected`; `msg` is the whole message when it is not. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual >= expected)) throw disorder(actual, ">=", expected, msg);
}

/** Asserts that `actual < expected`; `msg` is the whole message when it is not. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) throw disorder(actual, "<", expected, msg);
}

/** Asserts that `actual <= expected`; `msg` is the whole message when it is not. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual <= expected)) throw disorder(actual, "<=", expected, msg);
}

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

function disorder(actual: unknown, operator: string, expected: unknown, msg: string | undefined): AssertionError {
  return new AssertionError(msg ?? `Expect ${inspect(actual)} ${operator} ${inspect(expected)}`);
}

function digits(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toExponential();
}
