import { AssertionError } from "./assertion_error.ts";
import { ending } from "./ending.ts";

/** What `if` takes for false. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

/** Asserts that `expr` is truthy; `msg` is the whole message when it is not. */
export function assert(expr: unknown, msg: string = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Asserts that `expr` is falsy; `msg` is the whole message when it is not. */
export function assertFalse(expr: unknown, msg: string = ""): asserts expr is Falsy {
  if (expr) throw new AssertionError(msg);
}

/** Asserts that `actual` is neither null nor undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) {
    throw new AssertionError(`Expected actual: "${actual}" to not be null or undefined${ending(msg)}`);
  }
}

/** Fails. */
export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${ending(msg)}`);
}

/** Fails, because the program came to a place it can never come to. */
export function unreachable(msg?: string): never {
  throw new AssertionError(`Unreachable${ending(msg)}`);
}
