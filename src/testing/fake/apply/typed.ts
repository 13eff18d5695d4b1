/**
 * Compares, merges and removes values by their schema.
 *
 * {@linkcode TypedComparison}, {@linkcode mergeTyped} and {@linkcode removeTyped} are the entry points. It knows no
 * managers; `managed_fields.ts` does.
 *
 * @module
 */
import { ZERO } from "../schema/schema.ts";
import {
  type Field,
  type ListOf,
  oncePer,
  type Schema,
  type Struct,
} from "../../../operator/schema/values/object_schema.ts";
import { goSyntax, goText, goType } from "../wire/go_text.ts";
import {
  equalJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  setMember,
} from "../../../engine/api/json.ts";
import { FieldSet, keyElement, type PathElement, printPath, valueElement } from "./field_set.ts";

type Value = Json | undefined;

const ANY: Schema = { type: "any" };
/** The schema of an object, with named fields or any keys. */
type ObjectSchema = Extract<Schema, { readonly type: "struct" | "map" }>;

const ANY_MAP: ObjectSchema = { type: "map", values: ANY, atomic: false };
const ANY_LIST: ListOf = { type: "list", items: ANY, list: "atomic", keys: [], mergeKey: undefined };

/** Returns the schema that decides how a value is walked; that of any value depends on the value. */
function schemaFor(schema: Schema, value: Value): Schema {
  if (schema.type !== "any") return schema;
  if (schema.atomic !== true && isObject(value)) return ANY_MAP;
  return isList(value) ? ANY_LIST : schema;
}

/** Returns the schema of a member; unknown members are deduced from their values. */
function memberSchema(schema: ObjectSchema, name: string): Schema {
  return schema.type === "map" ? schema.values : schema.fields.get(name)?.schema ?? ANY;
}

/** The values of absent fields whose zero value Go writes: by struct, since most have none. */
const zerosOfStruct = oncePer(({ fields }: Struct): ReadonlyMap<string, Json> => {
  const found = new Map<string, Json>();
  for (const field of fields.values()) {
    const zero = zeroOf(field);
    if (zero !== undefined) found.set(field.name, zero);
  }
  return found;
});
const NO_ZEROS: ReadonlyMap<string, Json> = new Map();

function zerosOf(schema: ObjectSchema): ReadonlyMap<string, Json> {
  return schema.type === "map" || schema.name === "" ? NO_ZEROS : zerosOfStruct(schema);
}

function zeroOf({ schema, pointer, omitEmpty }: Field): Value {
  if (omitEmpty) return undefined;
  if (pointer) return null;
  return schema.type === "struct" ? {} : ZERO[schema.type] ?? null;
}

/** Returns the object of a value; undefined for null, and for values of other types. */
function objectOf(value: Value): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function listOf(value: Value): readonly Json[] | undefined {
  return isList(value) ? value : undefined;
}

/** Returns the path element of a list's element, or why it has none. */
function elementOf(list: ListOf, item: Json, typed: boolean): PathElement | Error {
  if (list.list === "set") {
    if (isObject(item)) return new Error("associative list without keys has an element that's a map type");
    if (isList(item)) return new Error("not supported: associative list with lists as elements");
    if (item === null) return new Error("associative list without keys has an element that's an explicit null");
    return valueElement(item);
  }
  if (item === null) return new Error("associative list with keys may not have a null element");
  if (!isObject(item)) return new Error("associative list with keys may not have non-map elements");
  const fields = list.items.type === "struct" ? list.items.fields : undefined;
  const zeros = typed && list.items.type === "struct" ? zerosOf(list.items) : NO_ZEROS;
  const members: [name: string, value: Json][] = [];
  for (const key of list.keys) {
    const value = item[key] ?? zeros.get(key) ?? fields?.get(key)?.default;
    if (value !== undefined) members.push([key, value]);
  }
  if (members.length > 0) return keyElement(members);
  const keys = `[${list.keys.map((key) => JSON.stringify(key)).join(" ")}]`;
  return new Error(
    `associative list with keys has an element that omits all key fields ${keys} ` +
      "(and doesn't have default values for any key fields)",
  );
}

/** Groups the elements of a list by path element, in order; those without one are left out. */
function elementsOf(schema: ListOf, list: readonly Json[], typed: boolean): Map<PathElement, Json[]> {
  const elements = new Map<PathElement, Json[]>();
  for (const item of list) {
    const element = elementOf(schema, item, typed);
    if (element instanceof Error) continue;
    const same = elements.get(element);
    if (same === undefined) elements.set(element, [item]);
    else same.push(item);
  }
  return elements;
}

/** The differences of two objects. */
export class TypedComparison {
  /** Fields that only the second one has. */
  added: FieldSet = new FieldSet();
  /** Fields of both with other values. */
  modified: FieldSet = new FieldSet();
  /** Fields that only the first one has. */
  removed: FieldSet = new FieldSet();
  readonly #path: PathElement[] = [];
  /** The sets of {@linkcode added} along the path, as far as there are any. */
  #along: FieldSet[] = [];

  /** Compares two objects of a kind. Absent fields of built-in kinds have the value that Go gives them. */
  constructor(before: JsonObject, after: JsonObject, schema: Struct) {
    this.#compare(before, after, schema);
  }

  /** Leaves fields out, and what is below them. */
  exclude(fields: FieldSet): void {
    this.added = this.added.without(fields);
    this.modified = this.modified.without(fields);
    this.removed = this.removed.without(fields);
  }

  #compare(before: Value, after: Value, schema: Schema): void {
    let [old, next] = [schemaFor(schema, before), schemaFor(schema, after)];
    // A null in an untyped place has every form: it is compared as the other side is (structured-merge-diff).
    if (before === null) old = next;
    else if (after === null) next = old;
    let leaf: boolean;
    if (after === undefined) leaf = this.#descend(before, after, old);
    else {
      if (before !== undefined && old !== next) this.#descend(before, after, old);
      leaf = this.#descend(before, after, next);
    }
    if (leaf) return;
    if (before === undefined) this.#add();
    else if (after === undefined) this.removed.insert(this.#path);
  }

  /** Returns true for a value that is compared as a whole. */
  #descend(before: Value, after: Value, schema: Schema): boolean {
    if (schema.type === "list") {
      const [old, next] = [listOf(before), listOf(after)];
      if (schema.list === "atomic" || (!old?.length && !next?.length)) return this.#leaf(before, after);
      this.#elements(old ?? [], next ?? [], schema);
      return false;
    }
    if (schema.type !== "struct" && schema.type !== "map") return this.#leaf(before, after);
    const [old, next] = [objectOf(before), objectOf(after)];
    const zeros = zerosOf(schema);
    if (schema.atomic || (isEmpty(old, zeros) && isEmpty(next, zeros))) return this.#leaf(before, after);
    this.#members(old, next, schema);
    return false;
  }

  #members(before: JsonObject | undefined, after: JsonObject | undefined, schema: ObjectSchema): void {
    const zeros = zerosOf(schema);
    const visit = (name: string): void => {
      let [old, next] = [before?.[name], after?.[name]];
      if (before !== undefined && old === undefined) old = zeros.get(name);
      if (after !== undefined && next === undefined) next = zeros.get(name);
      if (old === next || (old === undefined && next === undefined)) return;
      this.#path.push(`f:${name}`);
      this.#compare(old, next, memberSchema(schema, name));
      this.#leave();
    };
    for (const name in before) visit(name);
    for (const name in after) if (before?.[name] === undefined) visit(name);
    if (before !== undefined && after !== undefined) return;
    for (const name of zeros.keys()) if ((before ?? after)?.[name] === undefined) visit(name);
  }

  #elements(before: readonly Json[], after: readonly Json[], schema: ListOf): void {
    const [old, next] = [elementsOf(schema, before, true), elementsOf(schema, after, true)];
    for (const element of new Set([...old.keys(), ...next.keys()])) {
      const [mine, its] = [old.get(element) ?? [], next.get(element) ?? []];
      this.#path.push(element);
      if (mine.length < 2 && its.length < 2) this.#compare(mine[0], its[0], schema.items);
      else if (mine.length > 1 && its.length > 1) {
        if (!equalJson(mine, its)) this.modified.insert(this.#path);
      } else if (mine.length > 1) {
        if (its.length > 0) this.#compare(undefined, its[0], schema.items);
        this.removed.insert(this.#path);
      } else {
        if (mine.length > 0) this.#compare(mine[0], undefined, schema.items);
        this.#add();
      }
      this.#leave();
    }
  }

  #leave(): void {
    this.#path.pop();
    if (this.#along.length > this.#path.length) this.#along.length = this.#path.length;
  }

  /** Adds the field at the path. Neighbours share the way to it. */
  #add(): void {
    const path = this.#path;
    if (path.length === 0) return;
    let here = this.#along.at(-1) ?? this.added;
    for (let at = this.#along.length; at < path.length; at++) {
      let next = here.below.get(path[at]);
      if (next === undefined) here.put(path[at], next = new FieldSet());
      this.#along.push(here = next);
    }
    here.own = true;
  }

  #leaf(before: Value, after: Value): true {
    if (before === undefined) this.#add();
    else if (after === undefined) this.removed.insert(this.#path);
    else if (!equalJson(before, after)) this.modified.insert(this.#path);
    return true;
  }
}

function isEmpty(object: JsonObject | undefined, zeros: ReadonlyMap<string, Json>): boolean {
  if (object === undefined) return true;
  for (const name in object) if (object[name] !== undefined) return false;
  return zeros.size === 0;
}

/** Returns the fields of a value: its leaves, and the elements and members of lists and maps that contain them. */
export function ownedBy(object: JsonObject, schema: Struct): FieldSet {
  const set = new FieldSet();
  collect(object, schema, set);
  return set;
}

/** Fills in the set that stands where the value stands. */
function collect(value: Json, declared: Schema, set: FieldSet): void {
  const schema = schemaFor(declared, value);
  if (schema.type === "list") {
    if (schema.list === "atomic") set.own = true;
    else if (isList(value)) {
      for (const [element, items] of elementsOf(schema, value, false)) {
        const inner = new FieldSet();
        if (items.length === 1) collect(items[0], schema.items, inner);
        inner.own = true;
        set.put(element, inner);
      }
    }
  } else if (schema.type === "struct" || schema.type === "map") {
    if (schema.atomic) set.own = true;
    else if (isObject(value)) {
      for (const name in value) {
        const member = value[name];
        if (member === undefined) continue;
        const inner = new FieldSet();
        collect(member, memberSchema(schema, name), inner);
        const named = schema.type === "struct" && schema.fields.has(name);
        inner.own ||= !named || member === null || (isObject(member) && Object.keys(member).length === 0);
        if (!inner.empty) set.put(`f:${name}`, inner);
      }
    }
  } else set.own = true;
}

/** Merges a partial object into another one: its leaves win, and lists keep its order where it has elements. */
export function mergeTyped(live: Value, config: Value, declared: Schema): Value {
  // A null in an untyped place leaves what is there, as an empty map would.
  const schema = schemaFor(declared, config ?? live);
  if (schema.type === "list") {
    const [old, next] = [listOf(live), listOf(config)];
    if (schema.list === "atomic" || (!old?.length && !next?.length)) return config === undefined ? live : config;
    return mergeLists(old ?? [], next ?? [], schema);
  }
  if (schema.type !== "struct" && schema.type !== "map") return config === undefined ? live : config;
  const [old, next] = [objectOf(live), objectOf(config)];
  if (schema.atomic || (isEmpty(old, NO_ZEROS) && isEmpty(next, NO_ZEROS))) return config === undefined ? live : config;
  if (next === undefined) return live;
  const merged: MutableJson = {};
  for (const name in old) {
    const value = mergeTyped(old[name], next[name], memberSchema(schema, name));
    if (value !== undefined) setMember(merged, name, value);
  }
  for (const name in next) {
    if (old?.[name] === undefined) {
      setMember(merged, name, mergeTyped(undefined, next[name], memberSchema(schema, name)));
    }
  }
  return merged;
}

/** Merges the elements of two lists. Shared ones stand as in `config`, the others of `live` where they stood. */
function mergeLists(live: readonly Json[], config: readonly Json[], schema: ListOf): Value {
  const [old, next] = [elementsOf(schema, live, true), elementsOf(schema, config, false)];
  const mine = live.map((item) => elementOf(schema, item, true) as PathElement);
  const its = [...next.keys()];
  const shared = its.filter((element) => old.has(element));
  const merged: Json[] = [];
  const done = new Set<PathElement>();
  let nextShared = 0;
  const take = (element: PathElement): void => {
    const items = old.get(element) ?? [];
    // Elements that are there twice are replaced.
    merged.push(mergeTyped(items.length === 1 ? items[0] : undefined, next.get(element)![0], schema.items) as Json);
    done.add(element);
    if (shared[nextShared] === element) nextShared++;
  };
  for (let left = 0, right = 0; left < mine.length || right < its.length;) {
    const element = mine[left];
    if (left < mine.length && right < its.length) {
      if (element === its[right]) {
        take(element);
        left++;
        right++;
        continue;
      }
      if (next.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        left++;
        continue;
      }
    }
    if (left < mine.length) {
      if (!next.has(element)) {
        merged.push(live[left++]);
        continue;
      }
      if (done.has(element)) left++;
    }
    if (right < its.length) take(its[right++]);
  }
  return merged.length > 0 ? merged : undefined;
}

/** Returns a value without the members and elements of a set; null if nothing is left, which custom kinds store. */
export function removeTyped(value: Json, fields: FieldSet, declared: Schema): Json {
  const schema = schemaFor(declared, value);
  if (schema.type === "list") {
    const list = listOf(value);
    if (!list?.length || schema.list === "atomic") return null;
    const kept: Json[] = [];
    for (const item of list) {
      const element = elementOf(schema, item, true);
      const inner = element instanceof Error ? undefined : fields.below.get(element);
      if (inner?.own) continue;
      kept.push(inner === undefined ? item : removeTyped(item, inner, schema.items));
    }
    return kept.length > 0 ? kept : null;
  }
  if (schema.type !== "struct" && schema.type !== "map") return value;
  const object = objectOf(value);
  if (object === undefined || schema.atomic) return null;
  const kept: MutableJson = {};
  let some = false;
  for (const name in object) {
    const inner = fields.below.get(`f:${name}`);
    const member = object[name];
    if (inner?.own || member === undefined) continue;
    setMember(kept, name, inner === undefined ? member : removeTyped(member, inner, memberSchema(schema, name)));
    some = true;
  }
  return some ? kept : null;
}

/** Returns a set that contains the fields of structs above its fields as well. */
export function withNamedFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  const named = new FieldSet();
  named.own = set.own;
  for (const [element, inner] of set.below) {
    const below = withNamedFields(inner, schemaBelow(schema, element));
    below.own ||= schema?.type === "struct" && schema.fields.has(element.slice(2));
    named.put(element, below);
  }
  return named;
}

function schemaBelow(schema: Schema | undefined, element: PathElement): Schema | undefined {
  if (element.startsWith("f:")) {
    return schema?.type === "struct" || schema?.type === "map" ? memberSchema(schema, element.slice(2)) : undefined;
  }
  return element.startsWith("k:") && schema?.type === "list" ? schema.items : undefined;
}

/** Returns a set in which what is below an atomic field is replaced by that field, as after a change of a schema. */
export function withAtomicFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  if (set.below.size === 0 || schema === undefined) return set;
  const reconciled = new FieldSet();
  if (schema.type === "list" ? schema.list === "atomic" : "atomic" in schema && schema.atomic) {
    reconciled.own = true;
    return reconciled;
  }
  reconciled.own = set.own;
  for (const [element, inner] of set.below) {
    reconciled.put(element, withAtomicFields(inner, schemaBelow(schema, element)));
  }
  return reconciled;
}

/** Returns why an applied configuration does not have the types of its schema, as kube-apiserver says it. */
export function typeErrors(config: JsonObject, schema: Struct): string[] {
  const errors: string[] = [];
  check(config, schema, "", false, errors);
  return errors;
}

/** Unknown fields are allowed below a struct that keeps them. */
function check(value: Json, schema: Schema, path: string, open: boolean, errors: string[]): void {
  const refuse = (why: string): void => void errors.push(path === "" ? why : `${path}: ${why}`);
  if (schema.type === "any" || value === null) return;
  if (schema.type === "list") {
    if (!isList(value)) return refuse(`expected list, got &{${goText(value)}}`);
    checkElements(value, schema, path, open, errors);
  } else if (schema.type === "struct" || schema.type === "map") {
    if (!isObject(value)) return refuse(`expected map, got &{${goText(value)}}`);
    const keeps = open || (schema.type === "struct" && (schema.open || schema.fields.size === 0));
    for (const name in value) {
      const member = schema.type === "map" ? schema.values : schema.fields.get(name)?.schema;
      const below = `${path}.${name}`;
      if (member !== undefined) check(value[name] ?? null, member, below, keeps, errors);
      else if (!keeps) errors.push(`${below}: field not declared in schema`);
    }
  } else {
    const why = scalarError(value, EXPECTED[schema.type] ?? "any");
    if (why !== undefined) refuse(why);
  }
}

function checkElements(list: readonly Json[], schema: ListOf, path: string, open: boolean, errors: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const element = schema.list === "atomic" ? `i:${index}` : elementOf(schema, item, false);
    if (element instanceof Error) {
      errors.push(`${path}: element ${index}: ${element.message}`);
      return;
    }
    const below = printPath([element]);
    if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${below}`);
    seen.add(element);
    check(item, schema.items, `${path}${below}`, open, errors);
  }
}

type Expected = "string" | "numeric" | "boolean" | "any";

const EXPECTED: Readonly<Partial<Record<Schema["type"], Expected>>> = {
  string: "string",
  bytes: "string",
  int32: "numeric",
  int64: "numeric",
  number: "numeric",
  boolean: "boolean",
};

function scalarError(value: Json, expected: Expected): string | undefined {
  const found = typeof value;
  if (expected === "string" && found !== "string") {
    return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
  }
  if (expected === "numeric" && found !== "number") return `expected numeric (int or float), got ${goType(value)}`;
  if (expected === "boolean" && found !== "boolean") return `expected boolean, got &{${goText(value)}}`;
  return found === "object" ? `expected any scalar, got &{${goText(value)}}` : undefined;
}
