/**
 * JSON values: types, comparison, and copies.
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

/** Compares two values; the order of keys and undefined members are ignored. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) if (!equalJson(a[at], b[at])) return false;
    return true;
  }
  const left = a as JsonObject;
  const right = b as JsonObject;
  for (const key in left) if (!equalJson(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  return true;
}

/** Returns true if objects and arrays are nested more than `depth` deep. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1));
}

/** Returns a deep copy. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isObject(value)) return value;
  const copy: MutableJson = {};
  for (const key in value) setMember(copy, key, cloneJson(value[key]));
  return copy as T;
}

/** Sets a member, also one called `__proto__`, which an assignment would not set. */
export function setMember(object: MutableJson, key: string, value: Json | undefined): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/** Returns a copy whose members are sortMembers, at any depth. */
export function sortMembers<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sortMembers) as T;
  if (!isObject(value)) return value;
  const copy: MutableJson = {};
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) setMember(copy, key, sortMembers(value[key]));
  }
  return copy as T;
}
