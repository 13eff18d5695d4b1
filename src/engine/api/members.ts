/**
 * Members of values whose types are not known: each is read as what it should be, or as empty.
 *
 * {@linkcode objectOr}, {@linkcode objectsOf} and {@linkcode textOf} are the entry points. Wrong types are reported by
 * `schema/decode.ts`.
 *
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "./json.ts";

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

/** Returns a string, number or boolean as text; `""` for anything else, as the server takes a missing field. */
export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Returns the value at a path of keys; undefined if there is none. */
export function memberAt(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
