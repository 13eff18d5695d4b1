import type { Entry } from "../api/entry.ts";
import { type FieldValue, fieldValues } from "../api/field_values.ts";

/** An entry that can read single fields without parsing its object. */
interface UnreadFields {
  valuesAt(keys: readonly string[]): readonly FieldValue[];
}

/**
 * Returns what the keys of a field path lead to in the object of an entry; see {@linkcode fieldValues}. The object is not
 * parsed for it, if the entry can do without.
 *
 * @throws {DecodeError} when the object cannot be read.
 */
export function valuesAt(entry: Entry<unknown>, keys: readonly string[]): readonly FieldValue[] {
  return (entry as Partial<UnreadFields>).valuesAt?.(keys) ?? fieldValues(entry.object, keys);
}
