/**
 * A local stand-in for `@std/async`: what this repository uses of it, with the behaviour of release 1.5.0. See the
 * README of the folder above.
 *
 * ```ts
 * import { delay } from "@std/async/delay";
 *
 * await delay(1);
 * ```
 *
 * @module
 */

export * from "./abortable.ts";
export * from "./deadline.ts";
export * from "./delay.ts";
export * from "./pool.ts";
