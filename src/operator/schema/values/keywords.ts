/**
 * The keywords of schemas: which values they take, what becomes of them in a definition, and what they check.
 *
 * {@linkcode KEYWORDS} is the table. `lower_schema.ts`, `structural.ts`, `validate.ts` and `compare_definitions.ts` read
 * it. Formats have a table of their own in `formats.ts`. This file walks no schema.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import type { Json, JsonObject } from "../../../engine/api/json.ts";
import { textOf } from "../../../engine/api/members.ts";
import { checkedFormat } from "./formats.ts";
import { re2 } from "./re2.ts";

/** The extension that marks an object with a kind and metadata of its own. */
export const EMBEDDED = "x-kubernetes-embedded-resource";
/** The extension that marks an integer or a text. */
export const INT_OR_STRING = "x-kubernetes-int-or-string";
/** The extension that says how the elements of a list are merged. */
export const LIST_TYPE = "x-kubernetes-list-type";
/** The extension that names the fields that identify the elements of a list. */
export const MAP_KEYS = "x-kubernetes-list-map-keys";
/** The extension that says how the members of an object are merged. */
export const MAP_TYPE = "x-kubernetes-map-type";
/** The extension that keeps fields that the schema does not have. */
export const OPEN = "x-kubernetes-preserve-unknown-fields";

/** True if Go takes a member as set: zero values other than numbers are as if they were absent. */
export function isSet(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== "";
}

/** True if a member is there, even if it is false or empty. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The kinds of values that a check looks at, as Go has them. */
type ValueKind = "string" | "number" | "array" | "object";

/** Adds what is wrong with a value of one kind by one keyword, `limit`, of its schema. */
type Check = (value: never, limit: Json, rules: JsonObject, at: string, causes: Causes) => void;

/** A keyword. */
export type Keyword =
  & {
    /** The types of its values, separated by spaces. */
    readonly given: string;
    /** What the server says that it must be below `allOf`, `anyOf`, `oneOf` or `not`. */
    readonly nested?: "empty" | "undefined" | "false";
    /** True if the server refuses a schema with this value. */
    readonly unsupported?: (value: unknown) => boolean;
  }
  & (
    /** Kept, and checked here. `limit` is 1 for an upper bound, and -1 for a lower one. */
    | { readonly fate: "checked"; readonly of: ValueKind; readonly check: Check; readonly limit?: 1 | -1 }
    /** Kept. A walker reads it. */
    | { readonly fate: "walked"; readonly by: Walker }
    /** Kept. It says nothing about values. */
    | { readonly fate: "noted" }
    /** Replaced by others. */
    | { readonly fate: "lowered" }
    /** Left out. `loses` says what that changes for values; nothing if absent. */
    | { readonly fate: "dropped"; readonly loses?: string }
    | { readonly fate: "refused"; readonly remedy: string }
  );

/** What looks at a keyword instead of a check: a part of `validate.ts`, of `prune.ts`, of an apply, or CEL. */
type Walker = "types" | "members" | "alternatives" | "enum" | "embedded" | "apply" | "defaults" | "rules";

/** True for a number that Go reads as an int64: JSON has digits only, and they are in range. */
export function isInt64(value: Json | undefined): value is number {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63;
}

/** Returns a number as Go prints it: whole numbers that it reads as such in digits, others as floats. */
function goNumber(value: number, isWhole: boolean): string {
  if (isWhole) return Math.abs(value) < 2 ** 63 ? String(BigInt(value)) : "-9223372036854775808";
  const [digits, exponent] = value.toExponential().split("e");
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(value);
  return `${digits}e${exponent.replace(/^([+-])(\d)$/, "$10$2")}`;
}

/** Adds the cause of a number that the type and the format of a schema cannot hold. Returns true if it can. */
export function isInRange(value: number, rules: JsonObject, what: string, at: string, causes: Causes): boolean {
  const { type, format } = rules;
  if (type !== "integer" && type !== "number") return true;
  const known = checkedFormat(rules);
  const isWhole = type === "number" || isInt64(value);
  if (isWhole && (known === undefined || known.fits(value as never))) return true;
  const named = known === undefined ? "(default format)" : `with format ${textOf(format)}`;
  causes.push(fieldCause.invalid("<nil>", '""', `${what} value must be of type ${type} ${named} in ${at}`));
  return false;
}

function refuse(shown: string, why: string, at: string, causes: Causes): void {
  causes.push(fieldCause.invalid(at, shown, `${at} in body ${why}`));
}

/** A limit as the server reads it for a number. */
interface NumberLimit {
  readonly limit: number;
  /** True if both are read as whole numbers. A limit that these cannot hold becomes the least of them. */
  readonly isWhole: boolean;
}

function limitFor(
  value: number,
  given: Json,
  rules: JsonObject,
  what: string,
  at: string,
  causes: Causes,
): NumberLimit {
  const limit = Number(given);
  if (!isInRange(limit, rules, what, at, causes) || !isInt64(value)) return { limit, isWhole: false };
  return { limit: Math.abs(limit) < 2 ** 63 ? Math.trunc(limit) : -(2 ** 63), isWhole: true };
}

/** The check of a bound. An upper one has sign 1. */
function bound(name: "maximum" | "minimum", sign: 1 | -1): Keyword {
  const exclusive = `exclusive${name[0].toUpperCase()}${name.slice(1)}`;
  const [than, what] = sign > 0 ? ["less than", "Maximum boundary"] : ["greater than", "Minimum boundary"];
  const check = (value: number, given: Json, rules: JsonObject, at: string, causes: Causes): void => {
    const { limit, isWhole } = limitFor(value, given, rules, what, at, causes);
    const isExclusive = rules[exclusive] === true;
    if (sign * value < sign * limit || (!isExclusive && value === limit)) return;
    const why = `should be ${than} ${isExclusive ? "" : "or equal to "}${goNumber(limit, isWhole)}`;
    refuse(goNumber(value, isWhole), why, at, causes);
  };
  return { given: "number", fate: "checked", of: "number", limit: sign, check };
}

/** Returns true for a number that Go's library takes for a whole one: it may be off by a billionth. */
export function isNearlyWhole(value: number): boolean {
  const rounded = Math.round(value);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && (value === rounded || Math.abs(value / rounded - 1) < 1e-9);
}

function multipleOf(value: number, given: Json, rules: JsonObject, at: string, causes: Causes): void {
  const { limit, isWhole } = limitFor(value, given, rules, "MultipleOf", at, causes);
  const shown = goNumber(limit, isWhole);
  if (limit <= 0) {
    causes.push(fieldCause.invalid(at, shown, `factor MultipleOf declared for ${at} must be positive: ${shown}`));
  } else if (!(isWhole ? value % limit === 0 : isNearlyWhole(limit < 1 ? 1 / limit * value : value / limit))) {
    refuse(goNumber(value, isWhole), `should be a multiple of ${shown}`, at, causes);
  }
}

/** The check of a size, whose bound is an upper one if `sign` is 1. */
function size<T>(of: ValueKind, sign: 1 | -1, measure: (value: T) => number, refuse: Refuse): Keyword {
  const check = (value: T, limit: Json, _rules: JsonObject, at: string, causes: Causes): void => {
    const found = measure(value);
    if (sign * found > sign * Number(limit)) refuse(value as Json, Number(limit), at, causes, found);
  };
  return { given: "number", fate: "checked", of, limit: sign, check };
}

type Refuse = (value: Json, limit: number, at: string, causes: Causes, found: number) => void;

const tooFew = (what: string): Refuse => (_value, limit, at, causes, found) =>
  void causes.push(fieldCause.invalid(at, String(found), `${at} in body should have at least ${limit} ${what}`));
const tooMany: Refuse = (_value, limit, at, causes, found) => {
  const message = `Too many: ${found}: must have at most ${limit} item${limit === 1 ? "" : "s"}`;
  causes.push({ reason: "FieldValueTooMany", message, field: at });
};
const tooShort: Refuse = (value, limit, at, causes) =>
  refuse(JSON.stringify(value), `should be at least ${limit} chars long`, at, causes);

/** The characters of a text, as Go counts them. */
function charactersIn(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

function pattern(value: string, source: Json, _rules: JsonObject, at: string, causes: Causes): void {
  if (!re2(textOf(source)).test(value)) refuse(JSON.stringify(value), `should match '${textOf(source)}'`, at, causes);
}

const memberCount = (value: object): number => Object.keys(value).length;
const itemCount = (value: readonly unknown[]): number => value.length;

const noted = (given: string, nested?: "empty"): Keyword => ({ given, fate: "noted", nested });
const lowered = (given: string, unsupported?: (value: unknown) => boolean): Keyword => ({
  given,
  fate: "lowered",
  unsupported,
});
const dropped = (loses?: string, unsupported?: (value: unknown) => boolean): Keyword => ({
  given: "any",
  fate: "dropped",
  loses,
  unsupported,
});
const refused = (remedy: string, unsupported?: (value: unknown) => boolean): Keyword => ({
  given: "any",
  fate: "refused",
  remedy,
  unsupported,
});
const walked = (given: string, by: Walker, nested?: Keyword["nested"]): Keyword => ({
  given,
  fate: "walked",
  by,
  nested,
});

const RULE = "Write a rule in x-kubernetes-validations";

/** The keywords. Checks of one kind of values are in the server's order. */
const TABLE: Readonly<Record<string, Keyword>> = {
  "title description": noted("string", "empty"),
  "externalDocs": noted("object"),
  "example": noted("any"),
  "type": walked("string list", "types", "empty"),
  "format": walked("string", "types"),
  "nullable": walked("boolean", "types", "false"),
  [INT_OR_STRING]: walked("boolean", "types", "false"),
  "enum": walked("list", "enum"),
  "properties": walked("object", "members"),
  "items": walked("object", "members"),
  "required": walked("list", "members"),
  "additionalProperties": walked("boolean object", "members", "undefined"),
  [OPEN]: walked("boolean", "members", "false"),
  "allOf anyOf oneOf": walked("list", "alternatives"),
  "not": walked("boolean object", "alternatives"),
  [EMBEDDED]: walked("boolean", "embedded", "false"),
  "default": walked("any", "defaults", "undefined"),
  [MAP_KEYS]: walked("list", "apply", "empty"),
  [LIST_TYPE]: walked("string", "apply", "undefined"),
  [MAP_TYPE]: walked("string", "apply", "undefined"),
  "x-kubernetes-validations": walked("list", "rules", "empty"),
  "maxLength": size(
    "string",
    1,
    charactersIn,
    (_value, limit, at, causes) => causes.push(fieldCause.tooLong(at, limit)),
  ),
  "minLength": size("string", -1, charactersIn, tooShort),
  "pattern": { given: "string", fate: "checked", of: "string", check: pattern },
  "multipleOf": { given: "number", fate: "checked", of: "number", check: multipleOf },
  "maximum": bound("maximum", 1),
  "minimum": bound("minimum", -1),
  "exclusiveMaximum exclusiveMinimum": walked("number boolean", "types"),
  "minItems": size("array", -1, itemCount, tooFew("items")),
  "maxItems": size("array", 1, itemCount, tooMany),
  "minProperties": size("object", -1, memberCount, tooFew("properties")),
  "maxProperties": size("object", 1, memberCount, tooMany),
  "const": lowered("any"),
  "contentEncoding": lowered("string"),
  "uniqueItems": lowered("boolean"),
  "$ref": lowered("string", isGiven),
  "id": dropped(undefined, isSet),
  "definitions": dropped(undefined, isSet),
  "$schema $id $anchor $comment $defs examples deprecated": dropped(),
  "readOnly writeOnly": dropped("Kubernetes has one schema for reads and writes"),
  "contentMediaType contentSchema": dropped("the server does not look into texts"),
  "patternProperties": refused(`Use additionalProperties. ${RULE}: self.all(name, name.matches("…"))`, isSet),
  "propertyNames": refused(`Use additionalProperties. ${RULE}: self.all(name, name.matches("…"))`),
  "additionalItems": refused("Kubernetes has no tuples. Use an object with named fields", isGiven),
  "prefixItems unevaluatedItems": refused("Kubernetes has no tuples. Use an object with named fields"),
  "dependencies": refused(`${RULE}: !has(self.a) || has(self.b)`, isGiven),
  "dependentRequired dependentSchemas if then else": refused(`${RULE}: !has(self.a) || has(self.b)`),
  "contains minContains maxContains": refused(`${RULE}: self.exists(item, …)`),
  "unevaluatedProperties": refused("Remove it: Kubernetes drops unknown fields"),
  "discriminator": refused("Remove it, and declare the fields of all alternatives in `properties`"),
  "$dynamicRef $recursiveRef": refused("Use $ref"),
};

/** The keywords by their names. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  Object.entries(TABLE).flatMap(([names, row]) => names.split(" ").map((name) => [name, row] as const)),
);

/** Returns the names of the keywords for which a test holds. */
export function keywordsThat(holds: (keyword: Keyword) => boolean): readonly string[] {
  return [...KEYWORDS].filter(([, keyword]) => holds(keyword)).map(([name]) => name);
}

type Checked = Extract<Keyword, { readonly fate: "checked" }>;

const CHECKS = Object.groupBy(
  [...KEYWORDS].flatMap(([name, row]) => row.fate === "checked" ? [{ name, ...row as Checked }] : []),
  ({ of }) => of,
) as Record<ValueKind, readonly ({ readonly name: string } & Checked)[]>;

/** Adds what is wrong with a value by the checks of its kind. Of a text, the server says only the first fault. */
export function checkValue(value: Json, kind: ValueKind, rules: JsonObject, at: string, causes: Causes): void {
  const before = causes.length;
  if (kind === "number") isInRange(value as number, rules, "Checked", at, causes);
  for (const { name, check } of CHECKS[kind]) {
    const limit = rules[name];
    if (limit === undefined || limit === "") continue;
    check(value as never, limit, rules, at, causes);
    if (kind === "string" && causes.length > before) return;
  }
}
