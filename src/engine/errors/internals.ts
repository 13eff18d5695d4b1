/**
 * The key for members that only this package uses, so that editors offer only documented members. No entry point
 * exports it. It is in this folder because all other folders may import from here.
 *
 * @module
 */

/** The key for a public object's member that only this package uses. */
export const internals: unique symbol = Symbol("internals");
