/**
 * Leaves out members that are `undefined`.
 *
 * {@linkcode defined} is the entry point. It does not copy the values of members.
 *
 * @module
 */

/** `O` with optional members in place of members that may be `undefined`. */
type Defined<O> =
  & { [M in keyof O as undefined extends O[M] ? never : M]: O[M] }
  & { [M in keyof O as undefined extends O[M] ? M : never]?: Exclude<O[M], undefined> };

/** Returns only the members that are not `undefined`, so that the others are not printed and do not hide defaults. */
export function defined<O extends object>(members: O): Defined<O> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as Defined<O>;
}
