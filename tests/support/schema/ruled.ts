/**
 * Plays the objects of {@linkcode RULED_KINDS}: what is sent, and the causes that are computed for it.
 *
 * {@linkcode casesOf} and {@linkcode checkerOf} are the entry points. Nothing is sent here.
 *
 * @module
 */
import { cloneJson, isObject, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { schemaOfKind } from "../../../src/operator/schema/values/object_schema.ts";
import { prune } from "../../../src/operator/schema/values/prune.ts";
import { loadRules } from "../../../src/operator/schema/rules/load.ts";
import { validateCustom } from "../../../src/operator/schema/values/validate.ts";
import type { RuledKind } from "./public_rules.ts";

/** Causes of a refusal. */
export type Causes = readonly { readonly field?: string; readonly reason?: string; readonly message?: string }[];

/** An object that is created, or updated. */
export interface Case {
  /** The kind and the change, which is its key among the recorded answers. */
  readonly what: string;
  /** Its `spec`. */
  readonly spec: JsonObject;
  /** Its `spec` before the update; undefined for an object that is created. */
  readonly before?: JsonObject;
}

/** Merges a change into an object: null removes a member. */
export function merged(value: JsonObject, change: JsonObject): MutableJson {
  const result: MutableJson = { ...cloneJson(value) };
  for (const [key, member] of Object.entries(change)) {
    const old = result[key];
    if (member === null && key !== "maybe") delete result[key];
    else result[key] = isObject(member) && isObject(old) ? merged(old, member) : member;
  }
  return result;
}

/** Returns the objects of a kind. */
export function casesOf({ kind, valid, changes, updates }: RuledKind): Case[] {
  return [
    ...[{}, ...changes].map((change) => ({ what: `${kind} ${JSON.stringify(change)}`, spec: merged(valid, change) })),
    ...updates.map(([first, second]) => {
      const before = merged(valid, first);
      return { what: `${kind} ${JSON.stringify([first, second])}`, before, spec: merged(before, second) };
    }),
  ];
}

/** Returns the function that computes causes, in the order of kube-apiserver: rules after the schema. */
export async function checkerOf(
  schema: JsonObject,
): Promise<(object: JsonObject, previous?: JsonObject) => Causes> {
  const rules = (await loadRules()).compile(schema);
  const types = schemaOfKind(schema, { type: "any" });
  const complete = (object: JsonObject): JsonObject => prune(types, object, "", []) as JsonObject;
  return (object, previous) => {
    const completed = complete(object);
    const found = validateCustom(types, completed);
    const blocking = /NotSupported|Required|TooLong|TooMany|TypeInvalid/;
    return found.some(({ reason }) => blocking.test(reason))
      ? [...found, { reason: "FieldValueInvalid", field: "<nil>", message: "" }]
      : [...found, ...rules.check(completed, previous && complete(previous))];
  };
}

/** Returns field and reason of each cause, once. */
export function fieldsOf(causes: Causes): string[] {
  return [...new Set(causes.map(({ field, reason }) => `${field}: ${reasonBefore38(reason)}`))].sort();
}

/** Returns a reason as servers before 1.38 say it, and the fake: they call a text or list below a bound invalid. */
export function reasonBefore38<T extends string | undefined>(reason: T): T | "FieldValueInvalid" {
  return reason === "FieldValueTooShort" || reason === "FieldValueTooFew" ? "FieldValueInvalid" : reason;
}
