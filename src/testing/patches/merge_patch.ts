import { cloneJson, isObject, type Json, type MutableJson, objectOr, setMember } from "../wire/json.ts";

/** Applies a JSON merge patch (RFC 7386); the arguments stay unchanged. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return cloneJson(patch);
  const merged: MutableJson = { ...objectOr(target) };
  for (const key in patch) {
    const value = patch[key];
    if (value === null || value === undefined) delete merged[key];
    else setMember(merged, key, mergePatch(merged[key], value));
  }
  return merged;
}
