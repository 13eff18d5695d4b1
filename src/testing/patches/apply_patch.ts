/**
 * Patches: JSON patch, JSON merge patch, and a strategic merge without schemas.
 *
 * {@linkcode applyPatch} applies any of them, and `patchType` finds the type from a media type. Server-side apply uses
 * {@linkcode mergeApplied}; its field ownership is in `writes`.
 *
 * @module
 */
import { badRequest } from "../http/refusal.ts";
import {
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
} from "../wire/json.ts";
import { jsonPatch } from "./json_patch.ts";
import { listKey, SET_LISTS } from "./list_key.ts";
import { mergePatch } from "./merge_patch.ts";
import type { PatchType } from "./patch_type.ts";

/**
 * Applies a patch and returns the result; the arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 if a JSON patch cannot be applied.
 */
export function applyPatch(object: JsonObject, patch: unknown, type: Exclude<PatchType, "apply">): JsonObject {
  if (type === "json") return jsonPatch(object, patch);
  if (!isObject(patch)) throw badRequest("the patch must be a JSON object");
  return type === "merge" ? objectOr(mergePatch(object, patch)) : objectOr(strategicMerge("", object, patch));
}

/** Merges an applied configuration into an object. For custom resources, lists are replaced. */
export function mergeApplied(object: JsonObject, config: JsonObject, custom: boolean): JsonObject {
  return objectOr(custom ? mergePatch(object, config) : strategicMerge("", object, config));
}

/** Strategic merge patch: well-known lists are merged by element, other lists replaced. */
function strategicMerge(name: string, target: Json | undefined, patch: Json): Json {
  if (Array.isArray(patch)) return mergeLists(name, Array.isArray(target) ? target as readonly Json[] : [], patch);
  if (!isObject(patch)) return patch;
  if (patch.$patch === "replace") return withoutDirectives(patch);
  if (patch.$patch === "delete") return {};
  const merged: MutableJson = { ...objectOr(target) };
  for (const key in patch) {
    const value = patch[key];
    if (key.startsWith("$setElementOrder/") || key === "$retainKeys" || value === undefined) continue;
    if (key.startsWith("$deleteFromPrimitiveList/")) {
      const list = key.slice("$deleteFromPrimitiveList/".length);
      const gone = Array.isArray(value) ? value as readonly Json[] : [];
      if (Array.isArray(merged[list])) merged[list] = (merged[list] as Json[]).filter((item) => !gone.includes(item));
    } else if (value === null) delete merged[key];
    else setMember(merged, key, strategicMerge(key, merged[key], value));
  }
  return merged;
}

function mergeLists(name: string, target: readonly Json[], patch: readonly Json[]): Json[] {
  if (patch.some((element) => isObject(element) && element.$patch === "replace")) {
    return patch.filter((element) => !isObject(element) || element.$patch !== "replace").map(withoutDirectives);
  }
  if (SET_LISTS.has(name)) return [...target, ...patch.filter((value) => !target.includes(value))];
  const key = listKey(name, target, patch);
  if (key === undefined) return patch.map(withoutDirectives);
  const merged = [...target] as JsonObject[];
  for (const element of patch as readonly JsonObject[]) {
    const place = merged.findIndex((other) => equalJson(other[key], element[key]));
    if (element.$patch === "delete") {
      if (place >= 0) merged.splice(place, 1);
    } else if (place >= 0) merged[place] = objectOr(strategicMerge("", merged[place], element));
    else merged.push(objectOr(strategicMerge("", {}, element)));
  }
  return merged;
}

function withoutDirectives(value: Json): Json {
  if (!isObject(value)) return value;
  const { $patch: _, ...rest } = value as MutableJson;
  return rest;
}
