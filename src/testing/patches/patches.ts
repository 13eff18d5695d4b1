import { badRequest, refusal } from "../http/refusal.ts";
import {
  cloneJson,
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
  textOf,
} from "../wire/json.ts";
import { unsupportedMediaType } from "../http/answer.ts";

/**
 * Applies a JSON patch (RFC 6902); the arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 if an operation cannot be applied.
 */
function jsonPatch(object: JsonObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isObject)) throw badRequest("a JSON patch must be a list of operations");
  let document: Json = cloneJson(object);
  for (const operation of patch) document = operate(document, operation);
  return objectOr(document);
}

function operate(document: Json, { op, path, from, value }: JsonObject): Json {
  if (typeof path !== "string") throw unprocessable(`operation "${textOf(op)}" has no path`);
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
      if (!equalJson(tested(document, target), value ?? null)) {
        throw unprocessable(`testing value ${path} failed: test failed`);
      }
      return document;
    case "copy":
    case "move": {
      const source = pointer(textOf(from));
      const moved = cloneJson(read(document, source, op));
      return insert(op === "move" ? remove(document, source) : document, target, moved);
    }
    default:
      throw unprocessable(`unexpected operation "${textOf(op)}"`);
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

/** Returns the value that a test compares. An absent member of an object that exists is null, as on the server. */
function tested(document: Json, path: readonly string[]): Json {
  const parent = path.length === 0 ? undefined : read(document, path.slice(0, -1), "test");
  return isObject(parent) && !Object.hasOwn(parent, path[path.length - 1]) ? null : read(document, path, "test");
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

/**
 * Patch merge keys of the built-in kinds, by the list's name. If a name stands for different lists, the first key that
 * all elements have applies.
 */
const LIST_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["addresses", ["type"]],
  ["conditions", ["type"]],
  ["containers", ["name"]],
  ["env", ["name"]],
  ["ephemeralContainers", ["name"]],
  ["hostAliases", ["ip"]],
  ["hostIPs", ["ip"]],
  ["imagePullSecrets", ["name"]],
  ["initContainers", ["name"]],
  ["ownerReferences", ["uid"]],
  ["podIPs", ["ip"]],
  ["ports", ["containerPort", "port"]],
  ["resourceClaims", ["name"]],
  ["schedulingGates", ["name"]],
  ["secrets", ["name"]],
  ["taints", ["key"]],
  ["topologySpreadConstraints", ["topologyKey"]],
  ["volumeDevices", ["devicePath"]],
  ["volumeMounts", ["mountPath"]],
  ["volumes", ["name"]],
]);

/** Lists of plain values that are merged as sets. */
const SET_LISTS: ReadonlySet<string> = new Set(["finalizers"]);

/** Returns the merge key of the list called `name`; undefined if the list is replaced. */
export function listKey(name: string, ...lists: readonly (readonly unknown[])[]): string | undefined {
  return LIST_KEYS.get(name)?.find((key) =>
    lists.every((list) =>
      list.every((element) => isObject(element) && (element[key] !== undefined || "$patch" in element))
    )
  );
}

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

/** Types of patches, by their `Content-Type`. */
type PatchType = "json" | "merge" | "strategic" | "apply";

const MEDIA_TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
  "application/apply-patch+json": "apply",
};

/**
 * Returns the type of patch of a `Content-Type` header.
 *
 * @throws {StatusError} 415 if there is none, or for a strategic merge of a custom resource.
 */
export function patchType(contentType: string | null, custom: boolean): PatchType {
  const type = MEDIA_TYPES[(contentType ?? "").split(";")[0].trim().toLowerCase()];
  if (type !== undefined && !(custom && type === "strategic")) return type;
  const accepted = Object.keys(MEDIA_TYPES).filter((name) => !(custom && MEDIA_TYPES[name] === "strategic"));
  throw unsupportedMediaType(accepted);
}

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
