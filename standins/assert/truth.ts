import { AssertionError } from "./assertion_error.ts";

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
