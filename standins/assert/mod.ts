/**
 * A local stand-in for `@std/assert`: the assertions this repository uses, with the behaviour and the messages of
 * release 1.0.19. See the README of the folder above.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([1, 2], [1, 2]);
 * ```
 *
 * @module
 */

export * from "./assertion_error.ts";
export * from "./equal.ts";
export * from "./truth.ts";
export * from "./equality.ts";
export * from "./almost_equals.ts";
export * from "./contents.ts";
export * from "./failure.ts";
