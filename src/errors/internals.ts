/**
 * The key of the members that only this package uses, so that editors offer documented members only. No entry point
 * exports it. It is in this folder because all others may import from here.
 *
 * @module
 */

/** The key of the member of a public object that only this package uses. */
export const internals: unique symbol = Symbol("internals");
