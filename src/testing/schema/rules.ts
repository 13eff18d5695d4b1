import type { Causes } from "../http/refusal.ts";
import type { Struct } from "./schema.ts";
import type { JsonObject } from "../wire/json.ts";

/** Finds what is wrong with an object of one type, at a path, beyond what its schema says. */
export type Rule = (object: JsonObject, at: string, causes: Causes) => void;

/** Rules by the name of the type: `"core/v1.Container"`. */
export const RULES: Readonly<Record<string, Rule>> = {};

/** Finds what an update changes that cannot be changed. */
export function validateUpdate(_schema: Struct, _old: JsonObject, _object: JsonObject): Causes {
  return [];
}
