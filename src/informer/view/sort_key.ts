import { parseFieldPath } from "../../api/field_path.ts";

/** A value that objects are sorted by. `undefined`, `null` and `NaN` come last, in descending order too. */
export type SortValue = string | number | bigint | boolean | Date | null | undefined;

/** A sort key with its direction. */
export interface SortOrder<T> {
  /** Returns the value that an object is sorted by. */
  by(object: T): SortValue;
  /** `true` for descending order. @default {false} */
  readonly descending?: boolean;
}

/**
 * A key that objects are sorted by: a function, one with a direction, or the path of a field, as `fields` of a cache has it. A number
 * in a path selects an element of an array: `cells.1`. A minus before the path makes the order descending:
 * `-metadata.creationTimestamp`.
 *
 * Numbers come before dates, dates before booleans, and these before strings, which are compared by UTF-16 code units.
 */
export type SortKey<T> = string | ((object: T) => SortValue) | SortOrder<T>;

/** Reads a sort key. @throws {SyntaxError} when a text is no path of a field. */
export function parseSortKey<T>(key: SortKey<T>): SortOrder<T> {
  if (typeof key === "object") return key;
  if (typeof key === "function") return { by: key };
  const descending = key.startsWith("-");
  const path = parseFieldPath(descending ? key.slice(1) : key);
  return { by: (object) => valueAt(object, path), descending };
}

/** Compares two values of one sort key: negative if `a` comes first. */
export function compareSortValues(a: SortValue, b: SortValue, descending = false): number {
  const direction = descending ? -1 : 1;
  if (a === b) return 0; // survives: equal-values
  const [kind, other] = [kindOf(a), kindOf(b)];
  if (kind !== other) return kind === MISSING || other === MISSING ? kind - other : (kind - other) * direction;
  if (kind === MISSING) return 0; // functions over `any` may return objects, which have no order
  return a! < b! ? -direction : a! > b! ? direction : 0;
}

const MISSING = 4;

function kindOf(value: SortValue): number {
  switch (typeof value) {
    case "number":
      return Number.isNaN(value) ? MISSING : 0;
    case "bigint":
      return 0;
    case "boolean":
      return 2;
    case "string":
      return 3;
    default:
      return value instanceof Date && !Number.isNaN(value.getTime()) ? 1 : MISSING;
  }
}

function valueAt(object: unknown, path: readonly string[]): SortValue {
  let value = object;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return typeof value === "object" || typeof value === "function" ? undefined : value as SortValue;
}
