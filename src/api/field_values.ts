/** The text of a string, number or boolean to which a field path leads; `undefined` for an object. */
export type FieldValue = string | undefined;

/**
 * Returns what the keys of a field path lead to in a value, without nulls. A path passes through arrays, so there may be
 * several values.
 */
export function fieldValues(value: unknown, keys: readonly string[]): readonly FieldValue[] {
  let found = flat([value]);
  for (const key of keys) {
    const next: unknown[] = [];
    for (const member of found) {
      if (typeof member === "object" && member !== null && Object.hasOwn(member, key)) {
        next.push((member as Readonly<Record<string, unknown>>)[key]);
      }
    }
    found = flat(next);
  }
  return found.filter((value) => value !== undefined && value !== null)
    .map((value) => typeof value === "object" ? undefined : String(value));
}

/** The values, with the elements of arrays in their place. Does not recurse: arrays may be nested deeper than the stack allows. */
function flat(values: readonly unknown[]): readonly unknown[] {
  while (values.some(Array.isArray)) values = values.flat();
  return values;
}
