import { AssertionError } from "./assertion_error.ts";
import { ending } from "./ending.ts";

/** Asserts that `expected` matches `actual`. A regular expression with flag `g` keeps its `lastIndex`. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) return;
  throw new AssertionError(`Expected actual: "${actual}" to match: "${expected}"${ending(msg)}`);
}

/** Asserts that `actual` contains `expected`. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(`Expected actual: "${actual}" to contain: "${expected}"${ending(msg)}`);
}

/** Asserts that `actual` is an instance of `expectedType`. */
export function assertInstanceOf<
  // deno-lint-ignore no-explicit-any -- any constructor will do, whatever it takes and makes
  T extends abstract new (...args: any[]) => any,
>(actual: unknown, expectedType: T, msg: string = ""): asserts actual is InstanceType<T> {
  if (actual instanceof expectedType) return;
  const wanted = `Expected object to be an instance of "${expectedType.name}"`;
  const found = typeOf(actual);
  if (found === expectedType.name) throw new AssertionError(`${wanted}${ending(msg)}`);
  if (found === "function") throw new AssertionError(`${wanted} but was not an instanced object${ending(msg)}`);
  throw new AssertionError(`${wanted} but was "${found}"${ending(msg)}`);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === "object" ? value.constructor?.name ?? "Object" : typeof value;
}
