/**
 * The members of objects that the fake server changes.
 *
 * {@linkcode memberObject} and {@linkcode sortMembers} are the entry points. `engine/api/members.ts` reads members, and
 * changes nothing.
 *
 * @module
 */
import { isObject, type MutableJson, setMember } from "../../../engine/api/json.ts";
import { listOr, objectOr } from "../../../engine/api/members.ts";

/** Returns the object in a member, to be changed; an empty one is put there if there is none. */
export function memberObject(object: MutableJson, name: string): MutableJson {
  const value = object[name];
  return isObject(value) ? value : object[name] = {};
}

/** Returns the objects of a list, to be changed. */
export function memberObjects(value: unknown): MutableJson[] {
  return listOr(value).map(objectOr);
}

/** Returns a copy whose members are sorted, at any depth. */
export function sortMembers<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sortMembers) as T;
  if (!isObject(value)) return value;
  const copy: MutableJson = {};
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) setMember(copy, key, sortMembers(value[key]));
  }
  return copy as T;
}
