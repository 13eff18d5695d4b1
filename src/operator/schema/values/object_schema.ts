/**
 * Schemas of objects, in the form that is walked: the types of fields, how they are merged, and what is filled in.
 *
 * {@linkcode schemaOfKind} and {@linkcode schemaOfOpenApi} read the schema of a CRD. One walker for each question uses
 * the result: defaults and pruning, validation, and in the fake server patches, apply and `kubectl explain`. This file
 * does not check schemas.
 *
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { objectOr, objectsOf, textOf } from "../../../engine/api/members.ts";

/** The type of a value that has no members. */
type ScalarType =
  | "string"
  | "int32"
  | "int64"
  | "number"
  | "boolean"
  | "bytes"
  | "time"
  | "microTime"
  | "quantity"
  | "intOrString"
  // Any JSON: RawExtension, FieldsV1, JSONSchemaProps' default, a custom kind's unknown fields.
  | "any";

/** The type of a value. */
export type Schema = ScalarSchema | Struct | MapOf | ListOf;

/** A value without members, or a value that is not looked into. */
export interface ScalarSchema {
  readonly type: ScalarType;
  /** True for a value of type `"any"` that an apply owns as one field: RawExtension. */
  readonly atomic?: boolean;
  /** For `"any"`: the fields of which JSON shows one, where protobuf has a message of them (JSONSchemaPropsOrBool). */
  readonly union?: Struct;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** An object with named fields. */
export interface Struct {
  readonly type: "struct";
  /** Group's Go package, version and type: `"core/v1.PodSpec"`; `""` in custom kinds. */
  readonly name: string;
  /** The fields by name, in the order of Go's JSON, with the fields of embedded structs. */
  readonly fields: ReadonlyMap<string, Field>;
  /** True if an apply owns it as one field. */
  readonly atomic: boolean;
  /** True if a strategic merge knows `$retainKeys` for it, and clears other members of a union. */
  readonly retainKeys: boolean;
  /** True if unknown fields are kept: `x-kubernetes-preserve-unknown-fields`. */
  readonly open: boolean;
  /** True if it is an object with apiVersion, kind and metadata: `x-kubernetes-embedded-resource`. */
  readonly embedded: boolean;
  /** The messages of protobuf that are embedded, by number, for the codec. */
  readonly inlined: ReadonlyMap<number, Struct>;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** An object with any keys. */
export interface MapOf {
  readonly type: "map";
  /** The type of the values. */
  readonly values: Schema;
  /** True if an apply owns it as one field. */
  readonly atomic: boolean;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** A list. */
export interface ListOf {
  readonly type: "list";
  /** The type of the elements. */
  readonly items: Schema;
  /** The way an apply merges it. */
  readonly list: "atomic" | "set" | "map";
  /** The keys of a list of type map: `["containerPort", "protocol"]`. */
  readonly keys: readonly string[];
  /** The way a strategic merge changes it: by elements of this key, as a set (`""`), or as one value (undefined). */
  readonly mergeKey: string | undefined;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** A field of a struct. */
export interface Field {
  /** Its name in JSON. */
  readonly name: string;
  /** Its type. Read at its first use, since types may contain themselves. */
  readonly schema: Schema;
  /** Its number in protobuf; 0 for custom kinds, and for fields of {@linkcode Struct.inlined}. */
  readonly number: number;
  /** True if Go has a pointer for it, so that a zero value is kept. Always true for custom kinds. */
  readonly pointer: boolean;
  /** True if Go leaves it out of JSON where it is absent or, being no pointer, zero; structs are never zero to it. */
  readonly omitEmpty: boolean;
  /** True if the schema requires it. */
  readonly required: boolean;
  /** True if null is a value: custom kinds. */
  readonly nullable: boolean;
  /**
   * The value that the server fills in where it is absent or, being no pointer, zero; undefined for nothing. A struct
   * that is no pointer is always there in Go: the defaults of its fields apply where it is absent, too.
   */
  readonly default: Json | undefined;
  /** The values that are allowed; empty for any. */
  readonly allowed: readonly string[];
}

/** Returns a function that computes a value for each key once. */
export function oncePer<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) values.set(key, value = compute(key));
    return value;
  };
}

const OPEN_API_TYPES: Readonly<Record<string, ScalarType>> = {
  boolean: "boolean",
  integer: "int64",
  number: "number",
  string: "string",
};

/**
 * Reads the schema of a custom kind: `spec.versions[].schema.openAPIV3Schema` of its definition. Without one, all
 * fields are kept. Objects have the metadata of all kinds, which is `objectMeta`.
 */
export function schemaOfKind(rules: JsonObject | undefined, objectMeta: Schema): Struct {
  const open: JsonObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return structOf({ ...rules ?? open, "x-kubernetes-embedded-resource": true }, objectMeta);
}

/** Reads a structural OpenAPI schema. Objects with `x-kubernetes-embedded-resource` have the metadata `objectMeta`. */
export function schemaOfOpenApi(rules: JsonObject, objectMeta: Schema): Schema {
  const { type, additionalProperties } = rules;
  if (rules["x-kubernetes-int-or-string"] === true) return { type: "intOrString", rules };
  if (type === "array") return listOf(rules, objectMeta);
  if (additionalProperties !== undefined && additionalProperties !== false) {
    const values = schemaOfOpenApi(objectOr(additionalProperties), objectMeta);
    return { type: "map", values, atomic: isAtomic(rules), rules };
  }
  if (type === "object" || isObject(rules.properties)) return structOf(rules, objectMeta);
  return {
    type: type === "integer" && rules.format === "int32" ? "int32" : OPEN_API_TYPES[textOf(type)] ?? "any",
    rules,
  };
}

function listOf(rules: JsonObject, objectMeta: Schema): Schema {
  const list = rules["x-kubernetes-list-type"];
  return {
    type: "list",
    items: schemaOfOpenApi(objectOr(rules.items), objectMeta),
    list: list === "set" || list === "map" ? list : "atomic",
    keys: stringsOf(rules["x-kubernetes-list-map-keys"]),
    mergeKey: undefined,
    rules,
  };
}

function structOf(rules: JsonObject, objectMeta: Schema): Struct {
  const embedded = rules["x-kubernetes-embedded-resource"] === true;
  const required = new Set(stringsOf(rules.required));
  const fields = new Map<string, Field>();
  const add = (name: string, schema: Schema, own: JsonObject): void =>
    void fields.set(name, {
      name,
      schema,
      number: 0,
      pointer: true,
      omitEmpty: true,
      required: required.has(name),
      nullable: own.nullable === true,
      default: own.default,
      allowed: stringsOf(own.enum),
    });
  for (const [name, own] of Object.entries(objectOr(rules.properties))) {
    add(name, schemaOfOpenApi(objectOr(own), objectMeta), objectOr(own));
  }
  if (embedded) {
    for (const name of ["apiVersion", "kind"]) add(name, STRING, {});
    add("metadata", objectMeta, {});
  }
  return {
    type: "struct",
    name: "",
    fields,
    atomic: isAtomic(rules),
    retainKeys: false,
    open: rules["x-kubernetes-preserve-unknown-fields"] === true,
    embedded,
    inlined: new Map(),
    rules,
  };
}

const STRING: ScalarSchema = { type: "string" };

function isAtomic(rules: JsonObject): boolean {
  return rules["x-kubernetes-map-type"] === "atomic";
}

function stringsOf(value: Json | undefined): string[] {
  return isList(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Returns true if a structural schema, or a schema in it, has rules. */
export function hasRules(schema: JsonObject): boolean {
  if (objectsOf(schema["x-kubernetes-validations"]).length > 0) return true;
  const { properties, items, additionalProperties } = schema;
  return [...Object.values(objectOr(properties)), items, additionalProperties].some((part) => hasAny(part));
}

const hasAny = (part: Json | undefined): boolean => isObject(part) && hasRules(part);
