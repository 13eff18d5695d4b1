/**
 * JSON values of the fake server: types, comparison, and copies.
 *
 * {@linkcode Json} and {@linkcode equalJson} are entry points. It knows no kinds and no schemas; `go_text.ts` writes
 * values as Go does.
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

/** Returns `value` if it is an object, else an empty object. */
export function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns `value` if it is a list, else an empty list. */
export function listOr(value: unknown): readonly Json[] {
  return isList(value) ? value : [];
}

/** Returns the objects of a list, at their places. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return listOr(value).map(objectOr);
}

/** Returns the elements of a list, which are texts where the list is one of texts. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the object in a member, to be changed; an empty one is put there if there is none. */
export function memberObject(object: MutableJson, name: string): MutableJson {
  const value = object[name];
  return isObject(value) ? value : object[name] = {};
}

/** Returns a string, number or boolean as text; `""` for anything else, as the server takes a missing field. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
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
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
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

/** Returns the value at a path of keys; undefined if there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

/** Returns a copy whose members are sorted, at any depth. */
export function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T;
  if (!isObject(value)) return value;
  const copy: MutableJson = {};
  for (const key of Object.keys(value).sort()) if (value[key] !== undefined) setMember(copy, key, sorted(value[key]));
  return copy as T;
}
