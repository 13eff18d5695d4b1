import type { Random } from "../../../src/testing/fake/random.ts";
import { isObject, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import type { PatchType } from "./step.ts";

/** The body of a patch that makes a change; `known` is what the object is thought to have. */
export function patchOf(random: Random, type: Exclude<PatchType, "apply">, known: JsonObject, change: JsonObject): Json;
export function patchOf(random: Random, type: PatchType, known: JsonObject, change: JsonObject): Json;
export function patchOf(random: Random, type: PatchType, known: JsonObject, change: JsonObject): Json {
  if (type === "json") return jsonPatch(random, known, change);
  if (type === "strategic") return strategicPatch(random, known, change);
  return change;
}

/** The operations of RFC 6902 that make a change, and sometimes more of them. */
function jsonPatch(random: Random, known: JsonObject, change: JsonObject): Json {
  const operations = operationsOf(random, known, change, "");
  const label = "/metadata/labels/app";
  if (random.next() < 0.15) operations.unshift({ op: "test", path: "/metadata/finalizers", value: null });
  if (random.next() < 0.1 && "app" in labelsOf(known)) {
    operations.unshift({ op: "test", path: label, value: labelsOf(known).app! });
  }
  if (random.next() < 0.1 && "app" in labelsOf(known)) {
    operations.push({ op: random.pick(["copy", "move"]), from: label, path: "/metadata/labels/copied" });
  }
  if (random.next() < 0.08 && "tier" in labelsOf(known)) {
    operations.push({ op: "remove", path: "/metadata/labels/tier" });
  }
  return operations;
}

function operationsOf(random: Random, known: Json | undefined, change: JsonObject, path: string): MutableJson[] {
  return Object.entries(change).flatMap(([key, value]): MutableJson[] => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const old = isObject(known) ? known[key] : undefined;
    if (isObject(value) && isObject(old)) return operationsOf(random, old, value, at);
    if (value === null) return old === undefined ? [] : [{ op: "remove", path: at }];
    if (Array.isArray(old) && Array.isArray(value) && random.next() < 0.4) {
      return [{ op: "add", path: `${at}/${random.pick(["-", "0"])}`, value: value[0] }];
    }
    return [{ op: old !== undefined && random.next() < 0.5 ? "replace" : "add", path: at, value }];
  });
}

/** A strategic merge patch, sometimes with directives. */
function strategicPatch(random: Random, known: JsonObject, change: JsonObject): Json {
  const patch = withOrders(random, change) as MutableJson;
  if (random.next() < 0.7) return patch;
  const lists = namedLists(known);
  const metadata = isObject(patch.metadata) ? patch.metadata : {};
  switch (random.below(lists.length === 0 ? 3 : 7)) {
    case 0:
      return { ...patch, metadata: { ...metadata, labels: { $patch: "replace", only: "this" } } };
    case 1:
      return { ...patch, metadata: { ...metadata, "$deleteFromPrimitiveList/finalizers": ["example.com/hold"] } };
    case 2:
      return { ...patch, metadata: { ...metadata, annotations: null } };
    case 3:
    case 4: {
      const { path, key, names } = random.pick(lists);
      const gone = names[names.length - 1];
      return under(path, patch, { [listOf(path)]: [{ [key]: gone, $patch: "delete" }] });
    }
    case 5: {
      const { path, key, names } = random.pick(lists);
      const order = names.toReversed().map((name) => ({ [key]: name }));
      return under(path, patch, { [`$setElementOrder/${listOf(path)}`]: order });
    }
    default: {
      const { path, key, names } = random.pick(lists);
      return under(path, patch, { [listOf(path)]: [{ [key]: names[0] }, { $patch: "replace" }] });
    }
  }
}

/** A list of objects that have a key. */
interface NamedList {
  /** The members that lead to it; none is a list. */
  readonly path: readonly string[];
  readonly key: string;
  readonly names: readonly Json[];
}

/** The lists of objects with a name, or another key, that are not within other lists. */
function namedLists(value: Json | undefined, path: readonly string[] = []): NamedList[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (!Array.isArray(member)) return namedLists(member, [...path, name]);
    const key = ["name", "port", "type", "topologyKey", "key"].find((key) =>
      member.length > 0 && member.every((element) => isObject(element) && key in element)
    );
    if (key === undefined) return [];
    return [{ path: [...path, name], key, names: member.map((element) => (element as JsonObject)[key]!) }];
  });
}

function listOf(path: readonly string[]): string {
  return path[path.length - 1];
}

/** Puts members into the object that has the list of `path`. */
function under(path: readonly string[], patch: JsonObject, members: JsonObject): JsonObject {
  if (path.length === 1) return { ...patch, ...members };
  const [key, ...rest] = path;
  const inner = patch[key];
  return { ...patch, [key]: under(rest, isObject(inner) ? inner : {}, members) };
}

/** Adds `$setElementOrder` beside lists of objects with names, as kubectl does. */
function withOrders(random: Random, value: Json): Json {
  if (!isObject(value)) return value;
  const out: MutableJson = {};
  for (const [key, member] of Object.entries(value)) {
    out[key] = withOrders(random, member!);
    const isNamed = Array.isArray(member) && member.every((element) => isObject(element) && "name" in element);
    if (isNamed && ["containers", "env", "volumes"].includes(key) && random.next() < 0.4) {
      out[`$setElementOrder/${key}`] = (member as JsonObject[]).map(({ name }) => ({ name }));
    }
  }
  return out;
}

function labelsOf({ metadata }: JsonObject): JsonObject {
  const labels = isObject(metadata) ? metadata.labels : undefined;
  return isObject(labels) ? labels : {};
}
