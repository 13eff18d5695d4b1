import { goText, isObject, type Json, type JsonObject } from "../wire/json.ts";
import type { ListOf, Schema, Struct } from "../schema/schema.ts";
import { printPath } from "./field_set.ts";
import { elementOf } from "./typed.ts";

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
    if (!Array.isArray(value)) return refuse(`expected list, got &{${goText(value)}}`);
    checkElements(value as readonly Json[], schema, path, open, errors);
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

/** The type of a value that Go has decoded from JSON, as `%T` prints it. */
function goType(value: Json | undefined): string {
  if (isObject(value)) return "map[string]interface {}";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** A value as `%#v` prints it. */
function goSyntax(value: Json | undefined): string {
  if (Array.isArray(value)) return `[]interface {}{${(value as readonly Json[]).map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return value === null || value === undefined ? "interface {}(nil)" : JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
  return `map[string]interface {}{${members.join(", ")}}`;
}
