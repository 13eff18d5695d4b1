/**
 * JSON values: types, comparison, and copies, also without members that are `undefined`.
 *
 * {@linkcode Json} and {@linkcode equalJson} are entry points. It knows no kinds and no schemas; members of unknown
 * types are read by `members.ts`, and `go_text.ts` writes values as Go does.
 *
 * @module
 */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  /** A member of the object. */
  readonly [key: string]: Json | undefined;
}

/** A JSON object that may be changed. */
export type MutableJson = { [key: string]: Json | undefined };

/** Returns true if `value` is an object, and neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if `value` is a list. */
export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Compares two values of any depth; the order of keys and undefined members are ignored. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  const left = [a, b];
  while (left.length > 0) {
    if (!comparePart(left.pop(), left.pop(), left)) return false;
  }
  return true;
}

/** Returns false if two values differ. Adds the pairs of their members that are to be compared. */
function comparePart(a: unknown, b: unknown, left: unknown[]): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) left.push(a[at], b[at]);
    return true;
  }
  const [one, other] = [a as JsonObject, b as JsonObject];
  for (const key in one) if (one[key] !== other[key]) left.push(one[key], other[key]);
  for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  return true;
}

/** The deepest nesting of a schema, in objects and lists: 1,000 fields within each other. */
export const MAX_SCHEMA_DEPTH = 2_000;

/** Returns true if objects and arrays are nested more than `depth` deep. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1));
}

/** Returns a deep copy of a value of any depth. */
export function cloneJson<T>(value: T): T {
  const left: unknown[] = [];
  const clone = emptyCopy(value, left);
  while (left.length > 0) {
    const copy = left.pop() as MutableJson | Json[];
    const source = left.pop() as JsonObject & readonly Json[];
    if (Array.isArray(copy)) { for (let at = 0; at < source.length; at++) copy.push(emptyCopy(source[at], left)); }
    else for (const key in source) setMember(copy, key, emptyCopy(source[key], left));
  }
  return clone;
}

/** Returns a copy without the members of an object or a list, which it adds to `left`. */
function emptyCopy<T>(value: T, left: unknown[]): T {
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value) ? [] : {};
  left.push(value, copy);
  return copy as T;
}

/** Sets a member, also one called `__proto__`, which an assignment would not set. */
export function setMember(object: MutableJson, key: string, value: Json | undefined): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

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
