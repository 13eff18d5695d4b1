import { humanDuration } from "../../async/time.ts";
import { at, isObject, type JsonObject, objectOr, textOf } from "../wire/json.ts";

/** The value of a table cell. */
export type Cell = string | number | boolean | null;

/** Returns an object's cell; `now` is the server's clock, in milliseconds since 1970. */
export type ReadCell = (object: JsonObject, now: number) => Cell;

/** A fact that is not known. */
export const UNKNOWN = "<unknown>";
/** There is none. */
export const NONE = "<none>";
/** There is no such setting. */
export const UNSET = "<unset>";

/** The time since then, as Kubernetes prints it. */
export function age(time: unknown, now: number): string {
  const from = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(from) ? UNKNOWN : humanDuration(now - from);
}

/** The text at a path; empty where there is none. */
export function text(object: JsonObject, ...path: readonly string[]): string {
  const value = at(object, ...path);
  return typeof value === "string" ? value : "";
}

/** The number at a path; 0 where there is none. */
export function number(object: JsonObject, ...path: readonly string[]): number {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
}

/** The objects of the list at a path. */
export function objects(object: JsonObject, ...path: readonly string[]): readonly JsonObject[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts of the list at a path. */
export function strings(object: JsonObject, ...path: readonly string[]): readonly string[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** The text at a path, as JSON has it; the fallback where there is none. */
export function field(path: string, fallback: Cell = ""): ReadCell {
  const keys = path.split(".");
  return (object) => {
    const value = at(object, ...keys);
    return value === undefined || value === null || value === "" ? fallback : value as Cell;
  };
}

/** Like {@linkcode field}, as text. */
export function asText(path: string, fallback = ""): ReadCell {
  const cell = field(path, fallback);
  return (object, now) => textOf(cell(object, now));
}

/** The number of elements at a path. */
export function count(path: string): ReadCell {
  const keys = path.split(".");
  return (object) => Object.keys(objectOr(at(object, ...keys)) ?? {}).length || strings(object, ...keys).length;
}

/** The number of members of some fields. */
export function size(object: JsonObject, ...fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + Object.keys(objectOr(object[field])).length, 0);
}

/** The time since that at a path. */
export function since(path: string, fallback: string): ReadCell {
  const keys = path.split(".");
  return (object, now) => {
    const time = at(object, ...keys);
    return time === undefined || time === null ? fallback : age(time, now);
  };
}

/** The names of a list, at most `max`; then how many more. */
export function some(names: readonly string[], fallback: string, max = 3, all = names.length): string {
  if (names.length > max) return `${names.slice(0, max).join(",")} + ${all - max} more...`;
  return names.join(",") || fallback;
}

/** Labels, sorted. */
export function labels(value: unknown): string {
  const pairs = Object.entries(objectOr(value)).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || NONE;
}

/** A label selector, as Kubernetes prints it. */
export function selector(value: unknown): string {
  const { matchLabels, matchExpressions } = objectOr(value);
  const equal = Object.entries(objectOr(matchLabels)).map(([key, value]) => [key, `${key}=${value}`]);
  const expressions = (Array.isArray(matchExpressions) ? matchExpressions : []).map(objectOr).map((expression) => {
    const { operator } = expression;
    const key = textOf(expression.key);
    const values = strings(expression, "values").toSorted().join(",");
    const texts: Record<string, string> = { Exists: key, DoesNotExist: `!${key}`, NotIn: `${key} notin (${values})` };
    return [key, texts[textOf(operator)] ?? `${key} in (${values})`];
  });
  const sorted = [...equal, ...expressions].sort(([a], [b]) => a < b ? -1 : Number(a > b));
  return sorted.map(([, text]) => text).join(",");
}

/** The condition of a type in the status. */
export function condition(object: JsonObject, type: string): JsonObject | undefined {
  return objects(object, "status", "conditions").find((it) => it.type === type);
}

/** Returns true if a condition is true. */
export function isTrue(object: JsonObject, type: string): boolean {
  return condition(object, type)?.status === "True";
}

/** Returns true if an object is being deleted. */
export function isDeleted(object: JsonObject): boolean {
  return at(object, "metadata", "deletionTimestamp") !== undefined;
}

/** Names or images of the containers in a template. */
export function containers(member: "name" | "image"): ReadCell {
  return (object) => {
    const template = at(object, "spec", "jobTemplate", "spec", "template") ?? at(object, "spec", "template") ??
      object.template;
    return objects(objectOr(template), "spec", "containers").map((it) => textOf(it[member])).join(",");
  };
}
