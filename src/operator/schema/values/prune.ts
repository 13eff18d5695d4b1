/**
 * Prunes objects of custom kinds, and fills in their defaults.
 *
 * {@linkcode prune} is the entry point. It leaves values of other types as they are: the validation reports them.
 *
 * @module
 */
import { cloneJson, isList, isObject, type Json, type MutableJson, setMember } from "../../../engine/api/json.ts";
import { OPEN } from "./keywords.ts";
import type { Field, MapOf, Schema } from "./object_schema.ts";

const EMBEDDED: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Returns a value without the fields and nulls that its schema does not have, and with its defaults. Adds the paths of
 * dropped fields to `unknown`. If `fills` is false, nulls stay, and defaults are not filled in.
 */
export function prune(schema: Schema, value: Json, path: string, unknown: string[], fills = true): Json {
  if (schema.type === "list" && isList(value)) {
    return value.map((item, at) => prune(schema.items, item, `${path}[${at}]`, unknown, fills));
  }
  if (!isObject(value)) return value;
  const object: MutableJson = {};
  if (schema.type !== "struct" && schema.type !== "map") {
    if (schema.rules === undefined || schema.rules[OPEN] === true) return value;
    unknown.push(...Object.keys(value).map((key) => path === "" ? key : `${path}.${key}`));
    return object;
  }
  for (const key in value) {
    const member = value[key];
    const place = path === "" ? key : `${path}.${key}`;
    const field = schema.type === "map" ? valuesOf(schema) : schema.fields.get(key);
    if (schema.type === "struct" && schema.embedded && EMBEDDED.has(key)) {
      // The metadata of the whole object are not pruned here.
      setMember(
        object,
        key,
        path === "" || !field ? member : prune(field.schema, member ?? null, place, unknown, fills),
      );
    } else if (field === undefined) {
      if (schema.type === "struct" && schema.open) setMember(object, key, member);
      else unknown.push(place);
    } else if (member !== undefined && (member !== null || field.nullable || !fills)) {
      setMember(object, key, prune(field.schema, member, place, unknown, fills));
    } else if (schema.type === "map" && field.default !== undefined) setMember(object, key, field.default);
  }
  if (schema.type !== "struct" || !fills) return object;
  for (const [name, field] of schema.fields) {
    if (field.default === undefined || object[name] !== undefined) continue;
    setMember(object, name, prune(field.schema, cloneJson(field.default), path, unknown));
  }
  return object;
}

/** The values of a map, as a field. */
function valuesOf({ values }: MapOf): Pick<Field, "schema" | "nullable" | "default"> {
  const { nullable, default: filled } = values.rules ?? {};
  return { schema: values, nullable: nullable === true, default: filled };
}
