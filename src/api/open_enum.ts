/**
 * A text that is one of `T` today; a newer server may send others.
 *
 * Only reading is open: {@linkcode Draft}, `Mutable` and `Apply` have `T` alone in its place.
 */
// deno-lint-ignore ban-types -- `string` alone would absorb the literals.
export type OpenEnum<T extends string> = T | (string & {});
