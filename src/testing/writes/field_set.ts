import {
  equalJson,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  objectOr,
  setMember,
} from "../wire/json.ts";

/**
 * A set of fields in the FieldsV1 format: `f:name` for a member, `k:{"name":"x"}` for a list element, and `.` for the
 * enclosing map or element itself. An entry without content is a field.
 */
export type FieldSet = JsonObject;

/** Returns the union of two sets. */
export function unionFields(a: FieldSet, b: FieldSet): FieldSet {
  const union: MutableJson = { ...a };
  for (const key in b) {
    const other = union[key];
    setMember(union, key, isObject(other) ? unionFields(other, below(b, key)) : b[key]);
  }
  return sortKeys(union);
}

/** Returns the fields in `a` that are not in `b`. */
export function withoutFields(a: FieldSet, b: FieldSet): FieldSet {
  const left: MutableJson = {};
  for (const key in a) {
    if (b[key] === undefined) setMember(left, key, a[key]);
    else if (!isField(below(a, key))) {
      const inner = withoutFields(below(a, key), below(b, key));
      if (!isField(inner)) setMember(left, key, inner);
    }
  }
  return left;
}

/** Yields the fields of a set, each as a path of keys. */
export function* fieldPaths(fields: FieldSet, path: readonly string[] = []): Generator<readonly string[]> {
  for (const key in fields) {
    const inner = below(fields, key);
    if (isField(inner)) yield [...path, key];
    else yield* fieldPaths(inner, [...path, key]);
  }
}

/** Returns true if a set has the field at a path, or a field below it. */
export function hasField(fields: FieldSet, path: readonly string[]): boolean {
  let here: Json | undefined = fields;
  for (const key of path) {
    if (!isObject(here) || here[key] === undefined) return false;
    here = here[key];
  }
  return true;
}

/** Formats a path: `.spec.containers[name="web"].image`. */
export function printPath(path: readonly string[]): string {
  return path.map((key) => {
    if (key.startsWith("f:")) return `.${key.slice(2)}`;
    if (!key.startsWith("k:")) return "";
    const pairs = Object.entries(elementKey(key)).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return `[${pairs.join(",")}]`;
  }).join("");
}

/** Returns the value of an object at a path; undefined if there is none. */
export function valueAt(object: Json | undefined, path: readonly string[]): Json | undefined {
  let here: Json | undefined = object;
  for (const key of path) {
    if (key === ".") return here;
    here = step(here, key);
    if (here === undefined) return undefined;
  }
  return here;
}

function step(value: Json | undefined, key: string): Json | undefined {
  if (key.startsWith("f:")) return isObject(value) ? value[key.slice(2)] : undefined;
  return Array.isArray(value) ? (value as readonly Json[])[placeOf(value, key)] : undefined;
}

/** Returns an object without the fields of a set; objects and lists that become empty are removed as well. */
export function removeFields(object: Json, fields: FieldSet): Json | undefined {
  if (Array.isArray(object)) {
    let list: Json[] = [...object as readonly Json[]];
    for (const key in fields) {
      const place = key.startsWith("k:") ? placeOf(list, key) : -1;
      if (place < 0) continue;
      const inner = below(fields, key);
      const gone = isField(inner) || inner["."] !== undefined;
      const left = gone ? undefined : removeFields(list[place], inner);
      list = left === undefined ? list.toSpliced(place, 1) : list.with(place, left);
    }
    return list.length === 0 ? undefined : list;
  }
  if (!isObject(object)) return object;
  const copy: MutableJson = { ...object };
  let removed = false;
  for (const key in fields) {
    const name = key.slice(2);
    if (!key.startsWith("f:") || copy[name] === undefined) continue;
    const inner = below(fields, key);
    const left = isField(inner) ? undefined : removeFields(copy[name], inner);
    removed ||= left === undefined;
    if (left === undefined) delete copy[name];
    else setMember(copy, name, left);
  }
  return removed && Object.keys(copy).length === 0 ? undefined : copy;
}

/** Returns the members that `k:{"name":"x"}` names; none for what an odd client has written there. */
function elementKey(key: string): JsonObject {
  try {
    return objectOr(JSON.parse(key.slice(2)));
  } catch {
    return {};
  }
}

function placeOf(list: readonly Json[], key: string): number {
  const wanted = elementKey(key);
  return list.findIndex((element) =>
    isObject(element) && Object.keys(wanted).every((name) => equalJson(element[name], wanted[name]))
  );
}

function below(fields: FieldSet, key: string): FieldSet {
  const value = fields[key];
  return isObject(value) ? value : {};
}

function isField(fields: FieldSet): boolean {
  for (const _ in fields) return false;
  return true;
}

/** Returns the same members, sorted by key. */
export function sortKeys(fields: FieldSet): FieldSet {
  const sorted: MutableJson = {};
  for (const key of Object.keys(fields).sort()) setMember(sorted, key, fields[key]);
  return sorted;
}
