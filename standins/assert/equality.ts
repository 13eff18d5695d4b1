import { AssertionError } from "./assertion_error.ts";
import { difference } from "./difference.ts";
import { ending } from "./ending.ts";
import { equal } from "./equal.ts";
import { inspect } from "./inspect.ts";

/** Asserts that two values are equal in structure and content, as {@linkcode equal} sees it. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(`Values are not equal${ending(msg)}\n${difference(actual, expected)}`);
}

/** Asserts that two values differ in structure or content, as {@linkcode equal} sees it. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(`Expected actual: ${inspect(actual)} not to be: ${inspect(expected)}${ending(msg)}`);
}

/** Asserts that two values are the same one, as `Object.is` sees it: `0` is not `-0`. */
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const text = inspect(actual);
  throw new AssertionError(
    text === inspect(expected)
      ? `Values have the same structure but are not reference-equal${ending(msg)}\n\n    ${
        text.replaceAll("\n", "\n    ")
      }\n`
      : `Values are not strictly equal${ending(msg)}\n${difference(actual, expected)}`,
  );
}

/** Asserts that two values are not the same one, as `Object.is` sees it. */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!Object.is(actual, expected)) return;
  throw new AssertionError(`Expected "actual" to not be strictly equal to: ${inspect(actual)}${ending(msg)}\n`);
}
