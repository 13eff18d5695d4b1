import { equalJson, isObject, type JsonObject, type MutableJson, objectOr } from "../wire/json.ts";
import { managersOf } from "./managed_fields.ts";

/** An object without what changes by itself, for comparing. */
export function unmanaged(object: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata } = objectOr(object.metadata) as MutableJson;
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if ((Array.isArray(value) || isObject(value)) && Object.keys(value).length === 0) delete metadata[field];
  }
  const { kind: ___, apiVersion: ____, ...rest } = object as MutableJson;
  return { ...rest, metadata };
}

/** Whether who owns what is different, apart from when they wrote. */
export function newOwners(before: JsonObject, after: JsonObject): boolean {
  const owners = (object: JsonObject): JsonObject[] => managersOf(object).map(({ time: _, ...entry }) => entry);
  return !equalJson(owners(before), owners(after));
}

/** Whether anything but metadata and status is different. */
export function desiredChanged(before: JsonObject, after: JsonObject): boolean {
  const { metadata: _, status: __, kind: ___, apiVersion: ____, ...old } = before as MutableJson;
  const { metadata: _m, status: _s, kind: _k, apiVersion: _a, ...next } = after as MutableJson;
  return !equalJson(old, next);
}
