// deno-lint-ignore-file no-explicit-any -- any error class will do, whatever its constructor takes
import { AssertionError } from "./assertion_error.ts";
import { ending } from "./ending.ts";

/** What the optional parameters of `assertThrows` and `assertRejects` ask for. */
interface Expectation<E extends Error> {
  readonly ErrorClass?: abstract new (...args: any[]) => E;
  readonly msgIncludes?: string;
  readonly msg?: string;
}

/** Asserts that `error` is an error, of the class and with the message if these are given. */
function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: abstract new (...args: any[]) => E,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) throw new AssertionError(`Expected "error" to be an Error object${ending(msg)}`);
  if (ErrorClass && !(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${ErrorClass.name}", but was "${error.constructor?.name}"${ending(msg)}`,
      { cause: error },
    );
  }
  if (!msgMatches) return;
  const text = withoutColors(error.message);
  if (typeof msgMatches === "string" ? text.includes(withoutColors(msgMatches)) : msgMatches.test(text)) return;
  const wanted = typeof msgMatches === "string" ? JSON.stringify(msgMatches) : String(msgMatches);
  throw new AssertionError(
    `Expected error message to include ${wanted}, but got ${JSON.stringify(error.message)}${ending(msg)}`,
    { cause: error },
  );
}

/** Asserts that `fn` throws, and returns what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Asserts that `fn` throws an error of the class, with `msgIncludes` in its message, and returns it. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): E;
/** Both forms. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  classOrMsg?: (abstract new (...args: any[]) => E) | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const expectation = expectationOf(classOrMsg, msgIncludes, msg);
  try {
    fn();
  } catch (error) {
    checkFailure(error, "thrown", expectation);
    return error;
  }
  throw new AssertionError(`Expected function to throw${ending(expectation.msg)}`);
}

/** Asserts that the promise `fn` returns is rejected, and resolves to the reason. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/** Asserts that the promise `fn` returns is rejected with an error of the class, and resolves to that error. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
/** Both forms. */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: (abstract new (...args: any[]) => E) | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const expectation = expectationOf(classOrMsg, msgIncludes, msg);
  const promise = startRejection(fn, expectation.msg);
  try {
    await promise;
  } catch (error) {
    checkFailure(error, "rejected", expectation);
    return error;
  }
  throw new AssertionError(`Expected function to reject${ending(expectation.msg)}`);
}

/** What `fn` returns, if that is a promise: throwing and returning anything else are not rejecting. */
function startRejection(fn: () => PromiseLike<unknown>, msg: string | undefined): PromiseLike<unknown> {
  const failed = `Function throws when expected to reject${ending(msg)}`;
  let result: PromiseLike<unknown> | null | undefined;
  try {
    result = fn();
  } catch (cause) {
    throw new AssertionError(failed, { cause });
  }
  if (typeof result === "object" && typeof result?.then === "function") return result;
  throw new AssertionError(failed);
}

function checkFailure<E extends Error>(
  error: unknown,
  how: "thrown" | "rejected",
  { ErrorClass, msgIncludes, msg }: Expectation<E>,
): void {
  if (ErrorClass === undefined) return;
  if (!(error instanceof Error)) throw new AssertionError(`A non-Error object was ${how}${ending(msg)}`);
  assertIsError(error, ErrorClass, msgIncludes, msg);
}

function expectationOf<E extends Error>(
  classOrMsg: (abstract new (...args: any[]) => E) | string | undefined,
  msgIncludes: string | undefined,
  msg: string | undefined,
): Expectation<E> {
  return typeof classOrMsg === "string" ? { msg: classOrMsg } : { ErrorClass: classOrMsg, msgIncludes, msg };
}

function withoutColors(text: string): string {
  // deno-lint-ignore no-control-regex -- escape sequences begin with a control character
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}
