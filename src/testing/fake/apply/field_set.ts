/**
 * Sets of fields, in the format FieldsV1 of managedFields.
 *
 * {@linkcode FieldSet} is the entry point. It knows no schemas and no objects: `typed.ts` walks values, and
 * `managed_fields.ts` computes what a write owns.
 *
 * @module
 */

import { goJson } from "../wire/go_text.ts";
import { isObject, type Json, type JsonObject, type MutableJson, setMember } from "../../../engine/api/json.ts";

/** A step of a path: `f:name` is a member, `k:{"name":"x"}` and `v:"x"` are elements of lists. */
export type PathElement = string;

const NONE: ReadonlyMap<PathElement, FieldSet> = new Map();

/** A set of fields. Sets are built by {@linkcode FieldSet.insert}, and unchanged afterwards. */
export class FieldSet {
  /** True if the field where this set stands is in it. */
  own = false;
  /** The fields below. */
  below: ReadonlyMap<PathElement, FieldSet> = NONE;

  /** Creates a set of paths. */
  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /**
   * Reads FieldsV1; unknown types of path elements are left out.
   *
   * @throws {SyntaxError} if a path element is malformed.
   */
  static from(fields: JsonObject): FieldSet {
    const set = new FieldSet();
    for (const key in fields) {
      if (key === "." || !/^[fkvi]:/.test(key)) continue;
      const value = fields[key];
      const inner = FieldSet.from(isObject(value) ? value : {});
      inner.own = inner.below.size === 0 || (isObject(value) && value["."] !== undefined);
      set.put(canonical(key), inner);
    }
    return set;
  }

  /** True if nothing is in it. */
  get empty(): boolean {
    return !this.own && this.below.size === 0;
  }

  /** Puts a set below an element, in place of the one that is there. The map is made for the first one. */
  put(element: PathElement, inner: FieldSet): void {
    if (this.below === NONE) this.below = new Map();
    (this.below as Map<PathElement, FieldSet>).set(element, inner);
  }

  /** Adds a field; those above it are not added. */
  insert(path: readonly PathElement[]): void {
    // deno-lint-ignore no-this-alias
    let here: FieldSet = this;
    for (const element of path) {
      let next = here.below.get(element);
      if (next === undefined) here.put(element, next = new FieldSet());
      here = next;
    }
    here.own ||= path.length > 0;
  }

  /** Returns true if a field is in it. */
  has(path: readonly PathElement[]): boolean {
    // deno-lint-ignore no-this-alias
    let here: FieldSet | undefined = this;
    for (const element of path) here = here?.below.get(element);
    return here?.own === true;
  }

  /** Returns the fields of both sets. */
  union(other: FieldSet): FieldSet {
    if (other.empty) return this;
    return this.empty ? other : this.#joined(other, (mine, its) => mine || its, "both");
  }

  /** Returns the fields that are in both sets. */
  intersection(other: FieldSet): FieldSet {
    return this.#joined(other, (mine, its) => mine && its, "neither");
  }

  /** Returns the fields that are not in the other set; what is below a field of that one stays. */
  difference(other: FieldSet): FieldSet {
    return other.empty ? this : this.#joined(other, (mine, its) => mine && !its, "mine");
  }

  /** Returns the fields that are neither in the other set nor below a field of it. */
  without(other: FieldSet): FieldSet {
    return other.empty ? this : this.#joined(other, (mine, its) => mine && !its, "mine outside");
  }

  /** Joins two sets by a rule for the fields of both; `keeps` says whose other fields stay. */
  #joined(
    other: FieldSet,
    own: (mine: boolean, its: boolean) => boolean,
    keeps: "both" | "neither" | "mine" | "mine outside",
  ): FieldSet {
    const set = new FieldSet();
    set.own = own(this.own, other.own);
    for (const [element, inner] of this.below) {
      const its = other.below.get(element);
      if (its === undefined) { if (keeps !== "neither") set.put(element, inner); }
      else if (keeps !== "mine outside" || !its.own) {
        const both = its.empty && keeps !== "neither" ? inner : inner.#joined(its, own, keeps);
        if (!both.empty) set.put(element, both);
      }
    }
    if (keeps === "both") {
      for (const [element, inner] of other.below) if (!this.below.has(element)) set.put(element, inner);
    }
    return set;
  }

  /** Yields the paths of the fields, in the order of Kubernetes: those above before those below. */
  *paths(path: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    const elements = [...this.below.keys()].sort(compareElements);
    for (const element of elements) if (this.below.get(element)!.own) yield [...path, element];
    for (const element of elements) yield* this.below.get(element)!.paths([...path, element]);
  }

  /** Returns the set as FieldsV1. */
  toJSON(): JsonObject {
    const fields: MutableJson = {};
    for (const element of [...this.below.keys()].sort(compareElements)) {
      const inner = this.below.get(element)!;
      setMember(fields, element, inner.own && inner.below.size > 0 ? { ".": {}, ...inner.toJSON() } : inner.toJSON());
    }
    return fields;
  }
}

/** The path element of a list's element with these key members. */
export function keyElement(members: [name: string, value: Json | undefined][]): PathElement {
  if (members.length > 1) members.sort(([a], [b]) => a < b ? -1 : 1);
  return `k:{${members.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(",")}}`;
}

/** The path element of a scalar in a set. */
export function valueElement(value: Json): PathElement {
  return `v:${goJson(value)}`;
}

function canonical(element: PathElement): PathElement {
  if (element.startsWith("k:")) return keyElement(Object.entries(JSON.parse(element.slice(2)) as JsonObject));
  return element.startsWith("v:") ? valueElement(JSON.parse(element.slice(2)) as Json) : element;
}

/** Formats a path: `.spec.containers[name="web"].image`. */
export function printPath(path: readonly PathElement[]): string {
  return path.map((element) => {
    const rest = element.slice(2);
    if (element.startsWith("f:")) return `.${rest}`;
    if (element.startsWith("v:")) return `[=${rest}]`;
    if (element.startsWith("i:")) return `[${rest}]`;
    const pairs = Object.entries(JSON.parse(rest) as JsonObject);
    return `[${pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
  }).join("");
}

/** An element with one key that is a text without escapes, which is read faster so than by a parser. */
const PLAIN = /^k:\{"([^"\\]*)":"([^"\\]*)"\}$/;

/** Members stand before elements by key, and these before elements by value; numbers are compared as numbers. */
export function compareElements(a: PathElement, b: PathElement): number {
  const [left, right] = ["fkvi".indexOf(a[0]), "fkvi".indexOf(b[0])];
  if (left !== right) return left - right;
  if (left === 0) return a < b ? -1 : a > b ? 1 : 0;
  const flat = (element: PathElement): Json[] => {
    const plain = PLAIN.exec(element);
    if (plain !== null) return plain.slice(1);
    const value = JSON.parse(element.slice(2)) as Json;
    return isObject(value) ? Object.entries(value).flat() as Json[] : [value];
  };
  const [mine, its] = [flat(a), flat(b)];
  for (let at = 0; at < mine.length && at < its.length; at++) {
    const order = compareScalars(mine[at], its[at]);
    if (order !== 0) return order;
  }
  return mine.length - its.length;
}

function compareScalars(a: Json, b: Json): number {
  if (typeof a === typeof b) return a! < b! ? -1 : a! > b! ? 1 : 0;
  const rank = (value: Json): number => ["number", "string", "boolean"].indexOf(typeof value);
  return rank(a) - rank(b);
}
