/** The text of a string, number or boolean to which a field path leads; `undefined` for an object. */
export type FieldValue = string | undefined;

/** Returns the values to which the keys of a field path lead, as text, without nulls. An array counts as its elements. */
export function fieldValues(value: unknown, keys: readonly string[]): readonly FieldValue[] {
  return flat(membersAt(value, keys)).filter((value) => value !== undefined && value !== null)
    .map((value) => typeof value === "object" ? undefined : String(value));
}

/**
 * Returns the values to which the keys of a field path lead, as they are. A path passes through arrays, so there may be
 * several; there is none where a key is missing.
 */
export function membersAt(value: unknown, keys: readonly string[]): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const key of keys) {
    const next: unknown[] = [];
    for (const member of flat(found)) {
      if (typeof member === "object" && member !== null && Object.hasOwn(member, key)) {
        next.push((member as Readonly<Record<string, unknown>>)[key]);
      }
    }
    found = next;
  }
  return found;
}

/** The values, with the elements of arrays in their place. Does not recurse: arrays may be nested deeper than the stack allows. */
function flat(values: readonly unknown[]): readonly unknown[] {
  while (values.some(Array.isArray)) values = values.flat();
  return values;
}
