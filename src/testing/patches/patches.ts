/**
 * Patches: JSON patches, merge patches and strategic merge patches.
 *
 * `applyPatch` applies them by their type. Configurations of a server-side apply are not patches in this sense: the
 * folder `apply` has them.
 *
 * @module
 */

import { badRequest, refusal } from "../../protocol/refusal.ts";
import { isObject, type Json, type JsonObject, type MutableJson, objectOr, setMember } from "../wire/json.ts";
import { unsupportedMediaType } from "../http/answer.ts";
import type { Schema } from "../schema/schema.ts";
import { jsonPatch, unprocessable } from "./json_patch.ts";
import { strategicMerge } from "./strategic_merge.ts";

/** Applies a JSON merge patch (RFC 7386); the arguments stay unchanged. Objects in lists lose members that are null. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (Array.isArray(patch)) {
    return (patch as readonly Json[]).map((item) => item === null ? null : mergePatch({}, item));
  }
  if (!isObject(patch)) return patch;
  const merged: MutableJson = { ...objectOr(target) };
  for (const key in patch) {
    const value = patch[key];
    if (value === null || value === undefined) delete merged[key];
    else setMember(merged, key, mergePatch(merged[key], value));
  }
  return merged;
}

/** Types of patches, by their `Content-Type`. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/**
 * Returns the type of patch of a `Content-Type` header.
 *
 * @throws {StatusError} 415 if there is none, or for a strategic merge of a custom resource.
 */
export function patchType(contentType: string | null, custom: boolean): PatchType {
  const type = MEDIA_TYPES[(contentType ?? "").split(";")[0].trim().toLowerCase()];
  if (type !== undefined && !(custom && type === "strategic")) return type;
  if (type === undefined) throw refusal(415, "415: Unsupported Media Type", { details: {} });
  const accepted = Object.keys(MEDIA_TYPES).filter((name) => !(custom && MEDIA_TYPES[name] === "strategic"));
  throw unsupportedMediaType(accepted);
}

/**
 * Applies a patch to an object of a kind and returns the result; the arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 or 500 if it cannot be applied.
 */
export function applyPatch(
  object: JsonObject,
  patch: Json,
  type: Exclude<PatchType, "apply">,
  schema: Schema,
): JsonObject {
  if (type === "json") {
    const patched = jsonPatch(object, patch);
    if (!isObject(patched)) throw unprocessable();
    return patched;
  }
  if (patch === null && type === "merge") throw badRequest("Invalid JSON Patch");
  if (!isObject(patch)) {
    const found = Array.isArray(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch;
    const why = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    throw badRequest(type === "merge" ? `error decoding patch: ${why}` : why);
  }
  return type === "merge" ? objectOr(mergePatch(object, patch)) : strategicMerge(object, patch, schema);
}
