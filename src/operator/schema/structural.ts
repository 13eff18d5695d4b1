/**
 * Finds what kube-apiserver refuses in the schema of a custom kind, with its texts: what is not structural, keywords
 * that are not supported, wrong extensions and defaults that do not fit.
 *
 * {@linkcode structuralCauses} is the entry point. It takes members of the right types, and it does not read rules in
 * CEL. The rest of a definition is checked by `definition.ts`, and objects are checked by `validate.ts`.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../engine/protocol/refusal.ts";
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../engine/api/json.ts";
import { memberAt, objectOr, textOf, textsOf } from "../../engine/api/members.ts";
import {
  EMBEDDED,
  INT_OR_STRING,
  isGiven,
  isSet,
  KEYWORDS,
  LIST_TYPE,
  MAP_KEYS,
  MAP_TYPE,
  OPEN,
} from "./values/keywords.ts";
import { schemaOfOpenApi } from "./values/object_schema.ts";
import { prune } from "./values/prune.ts";
import { re2 } from "./values/re2.ts";
import { valueCauses } from "./values/validate.ts";

const META: readonly string[] = ["metadata", "kind", "apiVersion"];
const TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

/** The only alternatives that may have types. */
const INTEGER_OR_STRING: Json = [{ type: "integer" }, { type: "string" }];

const POINTERS: readonly string[] = ["additionalProperties", "default", "items", "not"];

/** True if Go takes a member of a schema as set; false and empty objects count for some. */
export function isMember(schema: JsonObject, name: string): boolean {
  return POINTERS.includes(name) ? isGiven(schema[name]) : isSet(schema[name]);
}

/** Collects the causes of one object, by the paths of its members. */
export class FieldFaults {
  readonly #object: JsonObject;
  readonly #at: string;
  readonly #causes: Causes;

  /** `at` is the path of `object`. */
  constructor(object: JsonObject, at: string, causes: Causes) {
    [this.#object, this.#at, this.#causes] = [object, at, causes];
  }

  /** If `holds`, the member must not be there. */
  forbid(holds: boolean, name: string, why: string): void {
    if (holds) this.#causes.push(fieldCause.forbidden(`${this.#at}.${name}`, why));
  }

  /** If `holds`, the member must be there. */
  require(holds: boolean, name: string, why = ""): void {
    if (holds) this.#causes.push(fieldCause.required(`${this.#at}.${name}`, why));
  }

  /** If `holds`, the member's value is wrong. */
  refuse(holds: boolean, name: string, why: string): void {
    if (!holds) return;
    const value = memberAt(this.#object, ...name.split(/[.[]/).map((part) => part.replace("]", ""))) ?? "";
    this.#causes.push(fieldCause.invalid(`${this.#at}.${name}`, JSON.stringify(value), why));
  }

  /** If `holds`, the member must have one value: it is required if it is not set. */
  need(holds: boolean, name: string, wanted: string, why: string): void {
    const value = this.#object[name];
    this.require(holds && !isSet(value), name, why);
    this.refuse(holds && isSet(value) && value !== wanted, name, why);
  }

  /** A member that is there must have one of some values. */
  oneOf(name: string, known: readonly string[], value = this.#object[name]): void {
    if (!isGiven(value) || known.includes(value as string)) return;
    this.#causes.push(fieldCause.unsupported(`${this.#at}.${name}`, value, known));
  }
}

/** A schema, and the place at which it stands. */
interface SchemaLocation {
  readonly schema: JsonObject;
  readonly at: string;
  /** True for the schema of all objects of a kind. */
  readonly isRoot?: boolean;
  /** True within the metadata, the kind or the apiVersion of an object. */
  readonly isMeta?: boolean;
  /** Why there may be no default; undefined if there may be one. */
  readonly noDefault?: string;
}

/**
 * Returns why kube-apiserver refuses the `openAPIV3Schema` of a version; empty if it takes it.
 *
 * @param at The path of the schema in the definition. If all versions have the same schema, it is
 *   `"spec.validation.openAPIV3Schema"`.
 */
export function structuralCauses(schema: JsonObject, at: string): Causes {
  const causes: Causes = [];
  const unsupported = unsupportedIn(schema);
  const faults = new FieldFaults(schema, at, causes);
  faults.forbid(schema.nullable === true, "nullable", "nullable cannot be true at the root");
  if (unsupported === undefined) {
    const structural: Causes = [];
    invariants({ schema, at, isRoot: true }, "at the root", structural);
    completeness(schema, schema, at, at, structural);
    if (structural.length === 0) defaults({ schema: { ...schema, [EMBEDDED]: true }, at }, structural);
    causes.push(...structural);
  }
  openApi({ schema, at, isRoot: true }, causes);
  if (causes.length === 0 && unsupported !== undefined) causes.push(fieldCause.invalid(at, '""', unsupported));
  return causes;
}

type Part = SchemaLocation & { readonly keyword: string; readonly name: string };

const BY_NAME: readonly string[] = ["properties", "definitions", "dependencies"];
const ALTERNATIVES: readonly string[] = ["allOf", "oneOf", "anyOf", "not"];
const PARTS: readonly string[] = [...BY_NAME, ...ALTERNATIVES, "items", "additionalProperties"];

/** The schemas within a schema, with the keyword and the name or number under which they stand. */
function* within(schema: JsonObject, at: string, keywords = PARTS): Generator<Part> {
  for (const keyword of keywords) {
    const value = schema[keyword];
    if (isObject(value) && !BY_NAME.includes(keyword)) {
      yield { schema: value, at: `${at}.${keyword}`, keyword, name: "" };
      continue;
    }
    for (const [name, part] of Object.entries(value ?? {})) {
      if (isObject(part)) yield { schema: part, at: `${at}.${keyword}[${name}]`, keyword, name };
    }
  }
}

/** Keywords that no schema may have. */
const UNSUPPORTED = [...KEYWORDS].flatMap(([name, { unsupported }]) => unsupported ? [{ name, is: unsupported }] : []);

/** Says which part of a schema has no structural form; undefined if all have one. */
function unsupportedIn(schema: JsonObject): string | undefined {
  const name = isSet(schema.$schema) ? "schema" : UNSUPPORTED.find(({ name, is }) => is(schema[name]))?.name;
  if (name !== undefined) return `OpenAPIV3Schema '${name}' is not supported`;
  if (isList(schema.items) && isSet(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema[OPEN] === false) return `internal error: '${OPEN}' must be true or undefined`;
  for (const part of within(schema, "")) {
    const found = unsupportedIn(part.schema);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks what each structural schema must be. `where` says in words where it stands. */
function invariants({ schema, at, isRoot = false }: SchemaLocation, where: string, causes: Causes): void {
  const faults = new FieldFaults(schema, at, causes);
  const { type } = schema;
  const [isEmbedded, isOpen, isEither] = [EMBEDDED, OPEN, INT_OR_STRING].map((name) => schema[name] === true);
  const isMap = isGiven(schema.additionalProperties);
  faults.require(type === "array" && !isObject(schema.items), "items", "must be specified");
  faults.forbid(isRoot && isMap, "additionalProperties", "must not be used at the root");
  faults.refuse(isEither && isOpen, OPEN, `must be false if ${INT_OR_STRING} is true`);
  faults.refuse(isEither && isEmbedded, EMBEDDED, `must be false if ${INT_OR_STRING} is true`);
  faults.need(isEmbedded, "type", "object", `must be object if ${EMBEDDED} is true`);
  faults.require(!isEmbedded && !isSet(type) && !isEither && !isOpen, "type", `must not be empty ${where}`);
  faults.forbid(isEmbedded && isMap, "additionalProperties", `must not be used if ${EMBEDDED} is set`);
  faults.refuse(isRoot && isSet(type) && type !== "object", "type", "must be object at the root");
  const properties = objectOr(schema.properties);
  for (const name of isRoot || isEmbedded ? META.filter((name) => isObject(properties[name])) : []) {
    const wanted = name === "metadata" ? "object" : "string";
    faults.refuse(memberAt(properties, name, "type") !== wanted, `properties[${name}].type`, `must be ${wanted}`);
  }
  const named = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  faults.forbid(isRoot && saysMore(objectOr(properties.metadata)), "properties[metadata]", named);
  const isEmpty = isEmbedded && !isOpen && !isSet(properties);
  faults.require(isEmpty, "properties", `must not be empty if ${EMBEDDED} is true without ${OPEN}`);
  valueRules(schema, at, 2, causes);
  for (const part of within(schema, at, ["properties", "additionalProperties", "items"])) {
    invariants(part, `for specified ${part.keyword === "items" ? "array items" : "object fields"}`, causes);
  }
}

/** True if a schema of metadata says more than its type and its names. */
function saysMore({ type: _type, default: _default, properties, ...others }: JsonObject): boolean {
  return Object.keys(objectOr(properties)).some((name) => name !== "name" && name !== "generateName") ||
    Object.keys(others).some((name) => isMember(others, name));
}

/**
 * Checks the rules of values. `skips` tells where alternatives may be an integer or a string: 2 for here and for the
 * first schema of `allOf`, 1 for here, 0 for nowhere.
 */
function valueRules(schema: JsonObject, at: string, skips: number, causes: Causes): void {
  for (const { schema: part, at: place, keyword, name } of within(schema, at, ALTERNATIVES)) {
    if (keyword === "anyOf" && skips > 0 && equalJson(schema.anyOf, INTEGER_OR_STRING)) continue;
    nested(part, place, skips === 2 && keyword === "allOf" && name === "0" ? 1 : 0, causes);
  }
  if (!isSet(schema.pattern)) return;
  try {
    re2(textOf(schema.pattern));
  } catch (error) {
    const why = `must be a valid regular expression, but isn't: ${(error as SyntaxError).message}`;
    new FieldFaults(schema, at, causes).refuse(true, "pattern", why);
  }
}

/** Checks a schema below `allOf`, `anyOf`, `oneOf` or `not`. */
function nested(schema: JsonObject, at: string, skips: number, causes: Causes): void {
  valueRules(schema, at, skips, causes);
  const faults = new FieldFaults(schema, at, causes);
  for (const part of within(schema, at, ["properties", "items"])) nested(part.schema, part.at, 0, causes);
  for (const [name, { nested: wanted }] of KEYWORDS) {
    if (wanted === undefined) continue;
    const isThere = schema[name] === false ? name === "default" : isMember(schema, name);
    faults.forbid(isThere, name, `must be ${wanted} to be structural`);
  }
  const isMeta = isGiven(memberAt(schema, "properties", "metadata"));
  faults.forbid(isMeta, "properties[metadata]", "must not be specified in a nested context");
}

/** Checks that alternatives at the root name only what the schema has outside of them. */
function completeness(values: JsonObject, schema: JsonObject, at: string, valuesAt: string, causes: Causes): void {
  for (const part of within(values, valuesAt, ALTERNATIVES)) completeness(part.schema, schema, at, part.at, causes);
  if (values === schema) return;
  for (const part of within(values, valuesAt, ["properties", "items"])) {
    const { keyword, name } = part;
    const own = keyword === "items" ? schema.items : objectOr(schema.properties)[name];
    const place = `${keyword}${name === "" ? "" : `[${name}]`}`;
    if (isObject(own)) completeness(part.schema, own, `${at}.${place}`, part.at, causes);
    else new FieldFaults(schema, at, causes).require(true, place, `because it is defined in ${part.at}`);
  }
}

/** Checks that defaults have no unknown fields, and that they are valid. */
function defaults({ schema, at, isMeta = false }: SchemaLocation, causes: Causes): void {
  const isEmbedded = schema[EMBEDDED] === true;
  // The server does not look at it in defaults.
  const { default: value, [INT_OR_STRING]: _, ...rules } = schema;
  if (value !== undefined && value !== null) {
    const faults = new FieldFaults(schema, at, causes);
    const shape = schemaOfOpenApi(rules, { type: "any" });
    const unknown: string[] = [];
    prune(shape, value, "", unknown);
    const isStray = isObject(value) && isSet(value) && schema[OPEN] !== true && !["struct", "map"].includes(shape.type);
    faults.refuse((unknown.length > 0 || isStray) && !isMeta, "default", "must not have unknown fields");
    const missing = isEmbedded && isObject(value) ? ["apiVersion", "kind"].filter((name) => !isGiven(value[name])) : [];
    for (const name of missing) faults.require(true, `default.${name}`);
    for (const { field, ...cause } of missing.length > 0 ? [] : valueCauses(shape, value)) {
      // Elements of sets and maps may be equal in defaults.
      if (cause.reason === "FieldValueDuplicate") continue;
      faults.refuse(isMeta, "default", "must result in valid metadata");
      const place = field === "" || field === "<nil>" ? "" : `.${field}`;
      if (!isMeta) causes.push({ ...cause, field: `${at}.default${place}` });
    }
  }
  for (const part of within(schema, at, ["properties", "items"])) {
    defaults({ ...part, isMeta: isEmbedded ? META.includes(part.name) : isMeta }, causes);
  }
}

/** Checks a schema and all schemas within it by the rules that hold for each, structural or not. */
function openApi({ schema, at, isRoot = false, isMeta = false, noDefault }: SchemaLocation, causes: Causes): void {
  const faults = new FieldFaults(schema, at, causes);
  const { type, items } = schema;
  if (isSet(type)) faults.oneOf("type", TYPES);
  faults.forbid(noDefault !== undefined && isGiven(schema.default), "default", `must not be set ${noDefault}`);
  for (const { name, is } of UNSUPPORTED) faults.forbid(is(schema[name]), name, `${name} is not supported`);
  faults.forbid(type === "null", "type", "type cannot be set to null, use nullable as an alternative");
  faults.forbid(isList(items) && isSet(items), "items", "items must be a schema object and not an array");
  faults.forbid(isMeta && schema[EMBEDDED] === true, EMBEDDED, "must not be used inside of resource meta");
  const slow = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
  faults.forbid(schema.uniqueItems === true, "uniqueItems", slow);
  const isMap = isGiven(schema.additionalProperties) && schema.additionalProperties !== true;
  const both = "additionalProperties and properties are mutual exclusive";
  faults.forbid(isMap && isSet(schema.properties), "additionalProperties", both);
  faults.refuse(schema[OPEN] === false, OPEN, "must be true or undefined");
  faults.need(isGiven(schema[MAP_TYPE]), "type", "object", `must be object if ${MAP_TYPE} is specified`);
  faults.need(isGiven(schema[LIST_TYPE]), "type", "array", `must be array if ${LIST_TYPE} is specified`);
  faults.oneOf(MAP_TYPE, ["atomic", "granular"]);
  faults.oneOf(LIST_TYPE, ["atomic", "set", "map"]);
  faults.need(isSet(schema[MAP_KEYS]), LIST_TYPE, "map", `must be map if ${MAP_KEYS} is non-empty`);
  listRules(schema, faults);
  for (const part of within(schema, at)) {
    const isInner = part.keyword === "properties" && (isRoot || schema[EMBEDDED] === true) && META.includes(part.name);
    const inMap = isMeta && part.keyword === "additionalProperties";
    const why = inMap ? "inside additionalProperties applying to object metadata" : noDefault;
    const place = { isMeta: isMeta || isInner, noDefault: isInner && isRoot ? `in top-level ${part.name}` : why };
    openApi({ ...part, ...place }, causes);
  }
}

/** Checks the elements of sets, which must be atomic, and of maps, whose keys must be there and be scalars. */
function listRules(schema: JsonObject, faults: FieldFaults): void {
  const list = schema[LIST_TYPE];
  const items = objectOr(schema.items);
  const [isUnique, isMap] = [list === "set", list === "map"];
  const isWhole = items[MAP_TYPE] === "atomic";
  const isPlain = !isGiven(items[LIST_TYPE]) || items[LIST_TYPE] === "atomic";
  const atomic = `must be atomic as item of a list with ${LIST_TYPE}=set`;
  const isTyped = isUnique && schema.type === "array";
  faults.refuse(isTyped && items.type === "object" && !isWhole, `items.${MAP_TYPE}`, atomic);
  faults.refuse(isTyped && items.type === "array" && !isPlain, `items.${LIST_TYPE}`, atomic);
  const never = `cannot be nullable when ${LIST_TYPE} is ${list}`;
  faults.forbid((isUnique || isMap) && items.nullable === true, "items.nullable", never);
  if (!isMap) return;
  const keys = textsOf(schema[MAP_KEYS]);
  faults.require(keys.length === 0, MAP_KEYS, `must not be empty if ${LIST_TYPE} is map`);
  faults.require(!isGiven(schema.items), "items", `must have a schema if ${LIST_TYPE} is map`);
  faults.refuse(isList(schema.items), "items", `must only have a single schema if ${LIST_TYPE} is map`);
  const isObjects = items.type === "object";
  const scalar = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
  const object = `must be object if parent array's ${LIST_TYPE} is map`;
  faults.refuse(isObject(schema.items) && !isObjects, "items.type", object);
  for (const [index, key] of keys.entries()) {
    const found = memberAt(items, "properties", key);
    const own = objectOr(found);
    const place = `items.properties[${key}]`;
    const why = `this property is in ${MAP_KEYS}, so it`;
    faults.refuse(isObjects && !isObject(found), MAP_KEYS, "entries must all be names of item properties");
    faults.refuse(isObjects && keys.indexOf(key) < index, MAP_KEYS, "must not contain duplicate entries");
    faults.refuse(isObjects && (own.type === "array" || own.type === "object"), `${place}.type`, scalar);
    const isThere = !isObject(found) || textsOf(items.required).includes(key) || isGiven(own.default);
    faults.require(!isThere, `${place}.default`, `${why} must have a default or be a required property`);
    faults.forbid(own.nullable === true, `${place}.nullable`, `${why} cannot be nullable`);
  }
}
