/**
 * Validates objects of built-in kinds by their schemas and rules.
 *
 * {@linkcode validateTyped} is the entry point. Custom kinds are validated by `schema/validate.ts`.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import {
  type Field,
  type ListOf,
  oncePer,
  type Schema,
  type Struct,
} from "../../../operator/schema/values/object_schema.ts";
import { duplicates } from "../../../operator/schema/values/validate.ts";
import { checkTags, memberPath } from "./checks.ts";
import { ELSEWHERE, OWN_WORDS, RULES } from "./rules.ts";

/**
 * Finds what is wrong with an object of a built-in kind: required fields, enums, elements of one key, and the rules of
 * its types, and what the `+k8s:` tags of Kubernetes' Go types say.
 */
export function validateTyped(schema: Struct, object: JsonObject): Causes {
  const [causes, tagged]: [Causes, Causes] = [[], []];
  typed(schema, object, "", causes, tagged);
  return [...causes, ...tagged]; // As the server says it: what tags say comes last.
}

/** A field in which something can be wrong, with what decides on it. */
interface Part {
  readonly field: Field;
  /** The elements of the list that must differ. */
  readonly unique: ListOf | undefined;
  /** False if rules alone say what the field needs. */
  readonly isChecked: boolean;
  /** True if a rule or the server's storage reports what is required and allowed. */
  readonly isElsewhere: boolean;
}

const partsOf = oncePer((schema: Struct): readonly Part[] =>
  [...schema.fields.values()].map((field) => partOf(schema, field)).filter(({ field, unique }) =>
    field.required || field.allowed.length > 0 || unique !== undefined || canBeWrong(field.schema)
  )
);

function partOf({ name }: Struct, field: Field): Part {
  const { schema } = field;
  const isElsewhere = ELSEWHERE.has(`${name}.${field.name}`);
  // Rules of the core group say what must be unique.
  const isCore = schema.type === "list" && schema.items.type === "struct" && schema.items.name.startsWith("core/");
  const isUnique = schema.type === "list" && schema.list !== "atomic" && !isCore && !isElsewhere;
  const map = schema.type === "list" && schema.rules?.unique !== undefined
    ? { ...schema, list: "map" as const, keys: [String(schema.rules.unique)] }
    : undefined;
  return { field, unique: isUnique ? schema : map, isChecked: !OWN_WORDS.has(name), isElsewhere };
}

/** True for objects, for lists and maps of them, and for values of which tags say something. */
function canBeWrong(schema: Schema): boolean {
  if (schema.type === "list" && schema.rules === undefined) return canBeWrong(schema.items);
  return schema.type === "map" ? canBeWrong(schema.values) : schema.type === "struct" || schema.rules !== undefined;
}

function typed(schema: Schema, value: Json | undefined, at: string, causes: Causes, tagged: Causes): void {
  switch (schema.type) {
    case "struct":
      if (!isObject(value)) return;
      for (const part of partsOf(schema)) {
        const { name, required } = part.field;
        const member = value[name];
        // Most fields are absent.
        if (member !== undefined || required) typedField(part, member, memberPath(at, name), causes, tagged);
      }
      RULES[schema.name]?.(value, at, causes);
      return;
    case "map":
      for (const [key, member] of Object.entries(isObject(value) ? value : {})) {
        typed(schema.values, member, `${at}[${key}]`, causes, tagged);
      }
      return;
    case "list":
      if (!isList(value)) return;
      value.forEach((item, index) => typed(schema.items, item, `${at}[${index}]`, causes, tagged));
  }
}

function typedField(part: Part, value: Json | undefined, at: string, causes: Causes, tagged: Causes): void {
  const { field: { schema, allowed, pointer, required }, unique, isElsewhere } = part;
  const isStatus = at.startsWith("status"); // The server takes most of what it says.
  if (part.isChecked && !isStatus) {
    if (allowed.length > 0 && typeof value === "string" && !allowed.includes(value) && (value !== "" || pointer)) {
      if (!isElsewhere) causes.push(fieldCause.unsupported(at, value, allowed));
      return;
    }
    // A number that must not be 0 is absent in Go where it is.
    const isZero = value === 0 && !pointer && schema.rules?.minimum !== undefined;
    if (required && (isZero || (value ?? "") === "" || (isList(value) && value.length === 0))) {
      if (!isElsewhere) (isZero ? tagged : causes).push(fieldCause.required(at));
      return;
    }
  }
  if (value !== undefined && schema.rules !== undefined && !checkTags(schema.rules, value, at, tagged)) return;
  if (unique !== undefined && !isStatus && isList(value)) duplicates(unique, value, at, causes);
  typed(schema, value, at, causes, tagged);
}
