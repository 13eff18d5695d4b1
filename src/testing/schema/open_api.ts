import { isObject, type Json, type JsonObject, objectOr, textOf } from "../wire/json.ts";
import type { Field, ScalarSchema, ScalarType, Schema, Struct } from "./schema.ts";

const SCALARS: Readonly<Record<string, ScalarType>> = {
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
  return { type: type === "integer" && rules.format === "int32" ? "int32" : SCALARS[textOf(type)] ?? "any", rules };
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
  const required = stringsOf(rules.required);
  const fields = new Map<string, Field>();
  const add = (name: string, schema: Schema, own: JsonObject): void =>
    void fields.set(name, {
      name,
      schema,
      number: 0,
      pointer: true,
      omitEmpty: true,
      required: required.includes(name),
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
  return Array.isArray(value) ? (value as readonly Json[]).filter((item) => typeof item === "string") : [];
}
