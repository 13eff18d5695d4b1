import { badRequest, refusal } from "../../protocol/refusal.ts";
import type { ListOf, Schema } from "../schema/schema.ts";
import { goText, isObject, type Json, type JsonObject, type MutableJson, setMember } from "../wire/json.ts";
import { unprocessable } from "./json_patch.ts";

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
export function strategicMerge(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
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
  const bad = badRequest("invalid patch format of retainKeys");
  if (!Array.isArray(keys)) throw bad;
  for (const key in patch) {
    const directive = key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);
    if (patch[key] !== null && !directive && !keys.includes(key)) throw bad;
  }
  for (const key in merged) if (!keys.includes(key)) delete merged[key];
}

function mergeMember(key: string, merged: MutableJson, value: Json, schema: Schema, deletes: boolean): void {
  const old = merged[key];
  if (value === null) delete merged[key];
  else if (schema.type === "struct" && REPLACED.has(`${schema.name}.${key}`)) merged[key] = value;
  else if (isObject(old) && isObject(value)) {
    // Values of maps have no members to merge: they are looked up only if they have.
    setMember(merged, key, strategicMerge(old, value, fieldSchema(schema, key)));
  } else if (Array.isArray(old) && Array.isArray(value)) {
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
    if (deletes) return original.filter((item) => !patch.includes(item));
    return inOrder([...new Set([...original, ...patch])], patch, original, mergeKey);
  }
  if (mergeKey === "") throw failure("cannot merge lists without merge key for struct");
  const [kept, changes] = applyElementDirectives(original as JsonObject[], patch as JsonObject[], mergeKey);
  const merged: JsonObject[] = [...kept];
  for (const change of changes) {
    const key = keyOf(change, mergeKey);
    const at = merged.findIndex((item) => item[mergeKey] === key);
    if (at < 0) merged.push(change);
    else merged[at] = strategicMerge(merged[at], change, list.items);
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
  let kept = original;
  let replaces = false;
  for (const item of patch) {
    const directive = item[DIRECTIVE];
    if (directive === undefined) changes.push(item);
    else if (directive === "delete") {
      const key = keyOf(item, mergeKey);
      kept = kept.filter((other) => other[mergeKey] !== key);
    } else if (directive === "replace") replaces = true;
    else if (directive === "merge") throw failure("merging lists cannot yet be specified in the patch");
    else throw failure(`unknown patch type: ${goText(directive)} in map: ${goText(item)}`);
  }
  return replaces ? [changes, []] : [kept, changes];
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
  while (given.length > 0 || others.length > 0) {
    const [mine, its] = [place(was, others[0]), place(was, given[0])];
    const first = given.length === 0 || (others.length > 0 && mine >= 0 && its >= 0 && mine < its);
    result.push((first ? others : given).shift()!);
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
  const types = new Set(lists.flat().map(goKind));
  if (types.size === 0) throw failure("no elements in any of the given slices");
  if (types.has("[]interface {}")) throw unprocessable();
  if (types.size > 1) throw failure(`list element types are not identical: ${goText(lists as readonly Json[])}`);
  return types.has("map[string]interface {}");
}

function goKind(value: Json): string {
  if (Array.isArray(value)) return "[]interface {}";
  return isObject(value) ? "map[string]interface {}" : value === null ? "%!s(<nil>)" : typeof value;
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
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map(withoutDirectives).filter((item) => item !== undefined);
  }
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
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: MutableJson = {};
  for (const key in value) if (value[key] !== null) setMember(kept, key, withoutNulls(value[key]!));
  return kept;
}

function listOrFail(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  throw failure(`expected a []interface {}, but received a ${goKind(value)}`);
}

function objectOrFail(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw failure(`expected a map[string]interface {}, but received a ${goKind(value)}`);
}

/** 500, without a reason. */
function failure(message: string): Error {
  return refusal(500, message, { reason: "" });
}
