/**
 * Values and their types in the words of Go, as kube-apiserver writes them into bodies and errors.
 *
 * {@linkcode goJson} is the entry point for bodies; the others are for errors.
 *
 * @module
 */
import { isList, isObject, type Json } from "../../../engine/api/json.ts";

/** Serializes a value like Go's encoder, which escapes `<`, `>`, `&`, U+2028 and U+2029. */
export function goJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!UNSAFE.test(text)) return text;
  return text.replace(UNSAFE_ALL, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Formats a value as Go prints what it has decoded from JSON: `map[a:1 b:[x]]`. */
export function goText(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(goText).join(" ")}]`;
  if (!isObject(value)) return value === null || value === undefined ? "<nil>" : String(value);
  return `map[${Object.keys(value).sort().map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
}

const UNSAFE = /[<>&\u2028\u2029]/;
const UNSAFE_ALL = /[<>&\u2028\u2029]/g;

/** The type of a JSON value, as Go's decoder names it. */
export function jsonType(value: Json): string {
  if (isList(value)) return "array";
  return typeof value === "boolean" ? "bool" : value === null ? "null" : typeof value;
}

/** The type of a value that Go has decoded from JSON, as `%T` prints it. */
export function goType(value: Json | undefined): string {
  if (isObject(value)) return "map[string]interface {}";
  if (isList(value)) return "[]interface {}";
  if (value === null || value === undefined) return "%!s(<nil>)";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** A value as `%#v` prints it. */
export function goSyntax(value: Json | undefined): string {
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return value === null || value === undefined ? "interface {}(nil)" : JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
  return `map[string]interface {}{${members.join(", ")}}`;
}
