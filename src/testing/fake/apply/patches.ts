/**
 * Patches: JSON patches, merge patches and strategic merge patches.
 *
 * `applyPatch` applies them by their type. Configurations of a server-side apply are not patches in this sense:
 * `managed_fields.ts` has them.
 *
 * @module
 */
import { refusal } from "../../../engine/protocol/refusal.ts";
import type { ListOf, Schema } from "../../../operator/schema/values/object_schema.ts";
import { repeatedFields } from "../schema/strict.ts";
import { unsupportedMediaType } from "../wire/exchange.ts";
import { goText, goType, jsonType } from "../wire/go_text.ts";
import {
  cloneJson,
  equalJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  setMember,
} from "../../../engine/api/json.ts";
import { objectOr } from "../../../engine/api/members.ts";

/**
 * Applies a JSON patch (RFC 6902) as kube-apiserver does: indices may count from the end, a replacement need not have
 * something to replace in an object, and null is as good as absent. The arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 if an operation cannot be applied.
 */
function jsonPatch(object: JsonObject, patch: Json): Json {
  const refuse = (value: Json, type: string): Error =>
    refusal(400, `error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`);
  if (!isList(patch)) throw refuse(patch, "[]handlers.jsonPatchOp");
  const odd = patch.find((operation) => !isObject(operation) && operation !== null);
  if (odd !== undefined) throw refuse(odd, "handlers.jsonPatchOp");
  if (patch.length > 10_000) {
    const why = `The allowed maximum operations in a JSON patch is 10000, got ${patch.length}`;
    throw refusal(413, why, { reason: "RequestEntityTooLarge" });
  }
  let document: Json = cloneJson(object);
  for (const operation of patch) document = operate(document, objectOr(operation));
  return document;
}

function operate(document: Json, { op, path, from, value = null }: JsonObject): Json {
  if (typeof path !== "string") throw unprocessable();
  if (path === "" && op === "replace") {
    if (typeof value !== "object" || value === null) throw unprocessable();
    return cloneJson(value);
  }
  if (path === "" && op === "test") {
    if (!equalJson(document, value)) throw unprocessable();
    return document;
  }
  switch (op) {
    case "add":
      locate(document, path).add(cloneJson(value));
      break;
    case "remove":
      locate(document, path).remove();
      break;
    case "replace":
      locate(document, path).set(cloneJson(value));
      break;
    case "test":
      if (!equalJson(locate(document, path).get(), value)) throw unprocessable();
      break;
    case "copy":
    case "move": {
      if (typeof from !== "string") throw unprocessable();
      const source = locate(document, from);
      const moved = cloneJson(source.get());
      if (op === "move") source.remove();
      locate(document, path).add(moved);
      break;
    }
    default:
      throw unprocessable();
  }
  return document;
}

/** A place in an object or a list. */
class PatchTarget {
  readonly #parent: Json[] | MutableJson;
  readonly #key: string;

  constructor(parent: Json[] | MutableJson, key: string) {
    this.#parent = parent;
    this.#key = key;
  }

  get(): Json {
    const parent = this.#parent;
    if (isList(parent)) return parent[this.#index(parent.length)];
    return Object.hasOwn(parent, this.#key) ? parent[this.#key] ?? null : null;
  }

  set(value: Json): void {
    const parent = this.#parent;
    if (isList(parent)) parent[this.#index(parent.length)] = value;
    else setMember(parent, this.#key, value);
  }

  add(value: Json): void {
    const parent = this.#parent;
    if (!isList(parent)) setMember(parent, this.#key, value);
    else if (this.#key === "-") parent.push(value);
    else parent.splice(this.#index(parent.length + 1), 0, value);
  }

  remove(): void {
    const parent = this.#parent;
    if (isList(parent)) parent.splice(this.#index(parent.length), 1);
    else if (Object.hasOwn(parent, this.#key)) delete parent[this.#key];
    else throw unprocessable();
  }

  #index(length: number): number {
    const index = /^[+-]?\d+$/.test(this.#key) ? Number(this.#key) : NaN;
    if (!(index >= -length && index < length)) throw unprocessable();
    return index < 0 ? index + length : index;
  }
}

/** Finds the place that a path names; what is before its first slash does not count. */
function locate(document: Json, path: string): PatchTarget {
  const [, ...parts] = path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = parts.pop();
  let here: Json = document;
  for (const part of parts) {
    here = typeof here === "object" && here !== null ? new PatchTarget(mutable(here), part).get() : null;
  }
  if (key === undefined || typeof here !== "object" || here === null) throw unprocessable();
  return new PatchTarget(mutable(here), key);
}

/** The document is a copy. */
function mutable(value: Json & object): Json[] | MutableJson {
  return value as Json[] | MutableJson;
}

/** 422: the patch does not apply. kube-apiserver does not say why. */
function unprocessable(): Error {
  const why = "the server rejected our request due to an error in our request";
  return refusal(422, why, { reason: "Invalid", details: {} });
}

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM_LIST = "$deleteFromPrimitiveList/";
const SET_ORDER = "$setElementOrder/";

/** The structs that a patch replaces. */
const REPLACED: ReadonlySet<string> = new Set(["policy/v1.PodDisruptionBudgetSpec.selector"]);

/**
 * Applies a strategic merge patch; the arguments stay unchanged.
 *
 * @throws {StatusError} 400, 422 or 500 for a patch that does not fit the schema, like kube-apiserver.
 */
function strategicMerge(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive !== undefined) return replacedBy(directive, patch);
  const merged: MutableJson = { ...original };
  const rest: MutableJson = { ...patch };
  retainKeys(merged, rest);
  for (const key in patch) {
    if (key.startsWith(SET_ORDER)) mergeInOrder(key.slice(SET_ORDER.length), merged, rest, schema);
  }
  for (const key in rest) {
    const deletes = key.startsWith(DELETE_FROM_LIST);
    mergeMember(deletes ? key.slice(DELETE_FROM_LIST.length) : key, merged, rest[key] ?? null, schema, deletes);
  }
  return merged;
}

function replacedBy(directive: Json, patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: _, ...rest } = patch as MutableJson;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw failure(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
}

/** Removes the members that `$retainKeys` does not list, which must list those of the patch. */
function retainKeys(merged: MutableJson, patch: MutableJson): void {
  const keys = patch[RETAIN_KEYS];
  if (keys === undefined) return;
  delete patch[RETAIN_KEYS];
  const bad = refusal(400, "invalid patch format of retainKeys");
  if (!isList(keys)) throw bad;
  const kept = new Set(keys);
  for (const key in patch) {
    const directive = key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);
    if (patch[key] !== null && !directive && !kept.has(key)) throw bad;
  }
  for (const key in merged) if (!kept.has(key)) delete merged[key];
}

function mergeMember(key: string, merged: MutableJson, value: Json, schema: Schema, deletes: boolean): void {
  const old = merged[key];
  if (value === null) delete merged[key];
  else if (schema.type === "struct" && REPLACED.has(`${schema.name}.${key}`)) merged[key] = value;
  else if (isObject(old) && isObject(value)) {
    // Values of maps have no members to merge: they are looked up only if they have.
    setMember(merged, key, strategicMerge(old, value, fieldSchema(schema, key)));
  } else if (isList(old) && isList(value)) {
    const list = listSchema(schema, key);
    const merging = deletes || list.mergeKey !== undefined;
    setMember(merged, key, merging ? mergeLists(old, value, list, deletes) : value);
  } else if (!deletes) {
    const kept = withoutDirectives(withoutNulls(value));
    if (kept === undefined) delete merged[key];
    else setMember(merged, key, kept);
  }
}

/** Merges a list in the order of its `$setElementOrder`, and takes it out of the patch. */
function mergeInOrder(key: string, merged: MutableJson, patch: MutableJson, schema: Schema): void {
  const order = listOrFail(patch[SET_ORDER + key] ?? null);
  delete patch[SET_ORDER + key];
  const [old, given] = [merged[key], patch[key]];
  const original = old === undefined || old === null ? [] : listOrFail(old);
  const changes = given === undefined ? [] : listOrFail(given);
  const list = listSchema(schema, key);
  checkOrder(changes, order, list.mergeKey ?? "");
  delete patch[key];
  const found = old !== undefined && old !== null;
  if (!found && given === undefined) return;
  const all = given === undefined
    ? original
    : !found
    ? withoutDirectives(changes) as readonly Json[]
    : list.mergeKey === undefined
    ? changes
    : mergeLists(original, changes, list, false);
  checkElementTypes([original, changes]);
  setMember(merged, key, inOrder(all, order, original, list.mergeKey ?? ""));
}

/** The elements of a patch must be in the order of `$setElementOrder`, and among its elements. */
function checkOrder(changes: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (order.length === 0 || changes.length === 0) return;
  const kept = mergeKey === "" ? changes : changes.filter((item) => objectOrFail(item)[DIRECTIVE] !== "delete");
  let at = 0;
  for (const element of order) {
    while (at < kept.length && isDirective(kept[at])) at++;
    if (at < kept.length && keyOf(kept[at], mergeKey) === keyOf(element, mergeKey)) at++;
  }
  while (at < kept.length && isDirective(kept[at])) at++;
  if (at === kept.length) return;
  throw failure(
    `The order in patch list:\n${goText(changes)}\n doesn't match $setElementOrder list:\n${goText(order)}\n`,
  );
}

function mergeLists(
  original: readonly Json[],
  patch: readonly Json[],
  list: ListOf,
  deletes: boolean,
): readonly Json[] {
  if (original.length === 0 && patch.length === 0) return original;
  const mergeKey = list.mergeKey ?? "";
  if (!checkElementTypes([original, patch])) {
    const deleted = new Set(patch);
    if (deletes) return original.filter((item) => !deleted.has(item));
    return inOrder([...new Set([...original, ...patch])], patch, original, mergeKey);
  }
  if (mergeKey === "") throw failure("cannot merge lists without merge key for struct");
  const [kept, changes] = applyElementDirectives(original as JsonObject[], patch as JsonObject[], mergeKey);
  const merged: JsonObject[] = [...kept];
  const places = new Map(kept.map((item, at) => [item[mergeKey], at] as const).reverse());
  for (const change of changes) {
    const key = keyOf(change, mergeKey);
    const at = places.get(key) ?? merged.length;
    merged[at] = at < merged.length ? strategicMerge(merged[at], change, list.items) : change;
    places.set(key, at);
  }
  return inOrder(merged, changes, kept, mergeKey);
}

/** Performs `$patch` in elements: what is left of the list, and the elements to merge into it. */
function applyElementDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): [readonly JsonObject[], readonly JsonObject[]] {
  const changes: JsonObject[] = [];
  const deleted = new Set<Json | undefined>();
  let replaces = false;
  for (const item of patch) {
    const directive = item[DIRECTIVE];
    if (directive === undefined) changes.push(item);
    else if (directive === "delete") {
      deleted.add(keyOf(item, mergeKey));
    } else if (directive === "replace") replaces = true;
    else if (directive === "merge") throw failure("merging lists cannot yet be specified in the patch");
    else throw failure(`unknown patch type: ${goText(directive)} in map: ${goText(item)}`);
  }
  return replaces ? [changes, []] : [original.filter((item) => !deleted.has(item[mergeKey])), changes];
}

/**
 * Returns elements in the order `order`, and those that it does not have where they stood in `original`, as far as
 * both are possible.
 */
function inOrder(
  items: readonly Json[],
  order: readonly Json[],
  original: readonly Json[],
  mergeKey: string,
): readonly Json[] {
  const placesIn = (list: readonly Json[]): Map<Json, number> =>
    new Map(list.map((item, at) => [keyOf(item, mergeKey), at] as const).reverse());
  const [wanted, was] = [placesIn(order), placesIn(original)];
  const place = (places: Map<Json, number>, item: Json | undefined): number =>
    item === undefined ? -1 : places.get(keyOf(item, mergeKey)) ?? -1;
  const sorted = (list: Json[], places: Map<Json, number>): Json[] =>
    list.sort((a, b) => place(places, a) - place(places, b));
  const given = sorted(items.filter((item) => place(wanted, item) >= 0), wanted);
  const others = sorted(items.filter((item) => place(wanted, item) < 0), was);
  const result: Json[] = [];
  let [other, one] = [0, 0];
  while (one < given.length || other < others.length) {
    const [mine, its] = [place(was, others[other]), place(was, given[one])];
    const first = one === given.length || (mine >= 0 && its >= 0 && mine < its);
    result.push(first ? others[other++] : given[one++]);
  }
  return result;
}

/** Returns the value that identifies an element: its merge key, or the scalar itself. */
function keyOf(item: Json, mergeKey: string): Json {
  if (mergeKey === "") return item;
  const value = objectOrFail(item)[mergeKey];
  if (value === undefined) throw failure(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
  return value;
}

function isDirective(item: Json): boolean {
  return isObject(item) && item[DIRECTIVE] !== undefined;
}

/** Returns true for lists of objects, false for those of scalars; lists must not have both. */
function checkElementTypes(lists: readonly (readonly Json[])[]): boolean {
  const types = new Set(lists.flat().map(goType));
  if (types.size === 0) throw failure("no elements in any of the given slices");
  if (types.has("[]interface {}")) throw unprocessable();
  if (types.size > 1) throw failure(`list element types are not identical: ${goText(lists)}`);
  return types.has("map[string]interface {}");
}

function fieldSchema(schema: Schema, key: string): Schema {
  if (schema.type !== "struct") {
    throw failure(`merging an object in json but data type is not struct, instead is: ${schema.type}`);
  }
  const field = schema.fields.get(key);
  if (field !== undefined) return field.schema;
  const name = schema.name.slice(schema.name.lastIndexOf(".") + 1);
  throw failure(`unable to find api field in struct ${name} for the json field ${JSON.stringify(key)}`);
}

function listSchema(schema: Schema, key: string): ListOf {
  const field = fieldSchema(schema, key);
  if (field.type === "list") return field;
  throw failure("expected slice or array type, but got: struct");
}

/** Leaves out objects with a directive, and what they are in. */
function withoutDirectives(value: Json): Json | undefined {
  if (isList(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (DIRECTIVE in value) return undefined;
  const kept: MutableJson = {};
  for (const key in value) {
    const member = withoutDirectives(value[key] ?? null);
    if (member !== undefined) setMember(kept, key, member);
  }
  return kept;
}

function withoutNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: MutableJson = {};
  for (const key in value) if (value[key] !== null) setMember(kept, key, withoutNulls(value[key]!));
  return kept;
}

function listOrFail(value: Json): readonly Json[] {
  if (isList(value)) return value;
  throw failure(`expected a []interface {}, but received a ${goType(value)}`);
}

function objectOrFail(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw failure(`expected a map[string]interface {}, but received a ${goType(value)}`);
}

/** 500, without a reason. */
function failure(message: string): Error {
  return refusal(500, message, { reason: "" });
}

/** Applies a JSON merge patch (RFC 7386); the arguments stay unchanged. Objects in lists lose members that are null. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (isList(patch)) return patch.map((item) => item === null ? null : mergePatch({}, item));
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
export type PatchType = MergeType | "apply";

/** A patch that is no configuration of a server-side apply. */
export type MergeType = "json" | "merge" | "strategic";

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

/** Returns what the server reports of members that an object in a patch has twice; an apply is YAML to the server. */
export function repeatedInPatch(text: string, patch: Json, type: PatchType): readonly string[] {
  return repeatedFields(text, patch).map(({ text, key, line }) => {
    if (type === "apply") return `line ${line}: key ${JSON.stringify(key)} already set in map`;
    return type === "json" ? `json patch ${text}` : text;
  });
}

/**
 * Applies a patch to an object of a kind and returns the result; the arguments stay unchanged.
 *
 * @throws {StatusError} 400 if the patch is malformed, 422 or 500 if it cannot be applied.
 */
export function applyPatch(object: JsonObject, patch: Json, type: MergeType, schema: Schema): JsonObject {
  if (type === "json") {
    const patched = jsonPatch(object, patch);
    if (!isObject(patched)) throw unprocessable();
    return patched;
  }
  if (patch === null && type === "merge") throw refusal(400, "Invalid JSON Patch");
  if (!isObject(patch)) {
    const why = `json: cannot unmarshal ${jsonType(patch)} into Go value of type map[string]interface {}`;
    throw refusal(400, type === "merge" ? `error decoding patch: ${why}` : why);
  }
  return type === "merge" ? objectOr(mergePatch(object, patch)) : strategicMerge(object, patch, schema);
}
