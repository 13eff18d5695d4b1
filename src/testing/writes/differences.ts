import type { Definition } from "../storage/definition.ts";
import { equalJson, isObject, type JsonObject, type MutableJson, objectOr } from "../wire/json.ts";
import { managedFieldsOf } from "../apply/managed_fields.ts";

/** Returns an object without versions and managedFields, for comparison. */
export function objectContent(object: JsonObject): JsonObject {
  const { managedFields: _, resourceVersion: __, ...metadata } = objectOr(object.metadata) as MutableJson;
  for (const field of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if ((Array.isArray(value) || isObject(value)) && Object.keys(value).length === 0) delete metadata[field];
  }
  const { kind: ___, apiVersion: ____, ...rest } = object as MutableJson;
  return { ...rest, metadata };
}

/** Returns true if the managedFields differ in more than their times. */
export function fieldOwnersDiffer(before: JsonObject, after: JsonObject): boolean {
  const owners = (object: JsonObject): JsonObject[] => managedFieldsOf(object).map(({ time: _, ...entry }) => entry);
  return !equalJson(owners(before), owners(after));
}

/** Returns true if an update raises the generation: if more differs than metadata and status. */
export function desiredStateDiffers({ generation }: Definition, before: JsonObject, after: JsonObject): boolean {
  if (generation === false) return false;
  if (generation !== true) {
    const [a, b] = [before, after].map(({ metadata }) => objectOr(objectOr(metadata)[generation]));
    if (!equalJson(a, b)) return true;
  }
  const { metadata: _, status: __, kind: ___, apiVersion: ____, ...old } = before as MutableJson;
  const { metadata: _m, status: _s, kind: _k, apiVersion: _a, ...next } = after as MutableJson;
  return !equalJson(old, next);
}
