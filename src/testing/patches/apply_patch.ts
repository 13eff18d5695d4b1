import {
  cloneJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
} from "../wire/json.ts";
import { listKey, SET_LISTS } from "./list_key.ts";
import { unsupportedMediaType } from "../http/representation.ts";
import { badRequest, refusal } from "../http/refusal.ts";

/** The kinds of patches, by what the `Content-Type` header calls them. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
  "application/apply-patch+json": "apply",
};

/**
 * The kind of patch that a `Content-Type` header names.
 *
 * @throws {StatusError} 415 when there is none, or a custom resource is asked to merge strategically.
 */
export function patchType(contentType: string | null, custom: boolean): PatchType {
  const type = MEDIA_TYPES[(contentType ?? "").split(";")[0].trim().toLowerCase()];
  if (type !== undefined && !(custom && type === "strategic")) return type;
  const accepted = Object.keys(MEDIA_TYPES).filter((name) => !(custom && MEDIA_TYPES[name] === "strategic"));
  throw unsupportedMediaType(accepted);
}

/**
 * An object with a patch applied; neither is changed.
 *
 * @throws {StatusError} 400 when the patch is not what its type asks for, 422 when a JSON patch cannot be carried out.
 */
export function applyPatch(object: JsonObject, patch: unknown, type: Exclude<PatchType, "apply">): JsonObject {
  if (type === "json") return jsonPatch(object, patch);
  if (!isObject(patch)) throw badRequest("the patch must be a JSON object");
  return type === "merge" ? objectOr(mergePatch(object, patch)) : objectOr(strategicMerge("", object, patch));
}

/** An object with what is applied merged into it: the lists of custom resources are replaced as a whole. */
export function mergeApplied(object: JsonObject, config: JsonObject, custom: boolean): JsonObject {
  return objectOr(custom ? mergePatch(object, config) : strategicMerge("", object, config));
}

/** RFC 7386. */
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

/** Merges objects; lists of well-known names element by element, other lists as a whole. */
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

/** RFC 6902. */
function jsonPatch(object: JsonObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isObject)) throw badRequest("a JSON patch must be a list of operations");
  let document: Json = cloneJson(object);
  for (const operation of patch) document = operate(document, operation);
  return objectOr(document);
}

function operate(document: Json, { op, path, from, value }: JsonObject): Json {
  if (typeof path !== "string") throw unprocessable(`operation "${op}" has no path`);
  const target = pointer(path);
  switch (op) {
    case "add":
      return insert(document, target, cloneJson(value ?? null));
    case "remove":
      return remove(document, target);
    case "replace":
      read(document, target, op);
      return target.length === 0
        ? cloneJson(value ?? null)
        : insert(remove(document, target), target, cloneJson(value ?? null));
    case "test":
      if (!equalJson(read(document, target, op), value ?? null)) {
        throw unprocessable(`testing value ${path} failed: test failed`);
      }
      return document;
    case "copy":
    case "move": {
      const source = pointer(String(from));
      const moved = cloneJson(read(document, source, op));
      return insert(op === "move" ? remove(document, source) : document, target, moved);
    }
    default:
      throw unprocessable(`unexpected operation "${op}"`);
  }
}

function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw unprocessable(`path "${path}" does not begin with a slash`);
  return path.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(document: Json, path: readonly string[], op: string): Json {
  let here: Json | undefined = document;
  for (const part of path) {
    here = Array.isArray(here)
      ? (here as readonly Json[])[Number(part)]
      : isObject(here) && Object.hasOwn(here, part)
      ? here[part]
      : undefined;
    if (here === undefined) {
      throw unprocessable(`${op} operation does not apply: doc is missing path: /${path.join("/")}`);
    }
  }
  return here as Json;
}

function insert(document: Json, path: readonly string[], value: Json): Json {
  if (path.length === 0) return value;
  const parent = read(document, path.slice(0, -1), "add");
  const last = path[path.length - 1];
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : Number(last);
    if (!Number.isInteger(index) || index < 0 || index > parent.length) {
      throw unprocessable(`add operation does not apply: doc is missing path: /${path.join("/")}`);
    }
    parent.splice(index, 0, value);
  } else if (isObject(parent)) setMember(parent as MutableJson, last, value);
  else throw unprocessable(`add operation does not apply: doc is missing path: /${path.join("/")}`);
  return document;
}

function remove(document: Json, path: readonly string[]): Json {
  read(document, path, "remove");
  const parent = read(document, path.slice(0, -1), "remove");
  const last = path[path.length - 1];
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as MutableJson)[last];
  return document;
}

function unprocessable(message: string): Error {
  return refusal(422, "the server rejected our request due to an error in our request", {
    reason: "Invalid",
    details: { causes: [{ reason: "UnexpectedServerResponse", message }] },
  });
}
