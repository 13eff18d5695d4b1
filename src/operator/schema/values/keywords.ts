/**
 * The keywords of schemas: which values they take, what becomes of them in a definition, and what they check.
 *
 * {@linkcode KEYWORDS} is the table. What lowers, checks and compares schemas reads it. Formats have a table of their
 * own in `formats.ts`. This file walks no schema.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import type { StatusCause } from "../../../engine/api/status.ts";
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

/** What the server says of a keyword. */
interface Server {
  /** The types of its values, separated by spaces. */
  readonly given: string;
  /** What it must be below `allOf`, `anyOf`, `oneOf` or `not`. */
  readonly nested?: "empty" | "undefined" | "false";
  /** True if a schema with this value is refused. */
  readonly unsupported?: (value: unknown) => boolean;
}

/** A keyword. */
export type Keyword =
  & Server
  & (
    /** Kept, and checked here. `limit` is 1 for an upper bound, and -1 for a lower one. */
    | { readonly fate: "checked"; readonly of: ValueKind; readonly check: Check; readonly limit?: 1 | -1 }
    /** Kept. A walker reads it. */
    | { readonly fate: "walked"; readonly by: Walker }
    /** Kept. It says nothing about values. */
    | { readonly fate: "noted" }
    /** Replaced by others. */
    | { readonly fate: "lowered" }
    /** Left out: it checks nothing. */
    | { readonly fate: "dropped" }
    | { readonly fate: "refused"; readonly remedy: string }
  );

/** What looks at a keyword instead of a check: a part of `validate.ts`, of `prune.ts`, of an apply, or CEL. */
type Walker = "types" | "members" | "alternatives" | "enum" | "embedded" | "apply" | "defaults" | "rules";

/** True for a number that Go reads as an int64: JSON has digits only, and they are in range. */
export function isInt64(value: Json | undefined): value is number {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63;
}

/** Returns a finite number as Go prints a float: `1.5`, `1e+06`. */
export function goFloat(value: number): string {
  const [digits, exponent] = value.toExponential().split("e");
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(value);
  return `${digits}e${exponent.replace(/^([+-])(\d)$/, "$10$2")}`;
}

/** Returns a number as Go prints it: as an int64 or as a float. */
function goNumber(value: number, isWhole: boolean): string {
  if (!isWhole) return goFloat(value);
  return Math.abs(value) < 2 ** 63 ? String(BigInt(value)) : "-9223372036854775808";
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

/** The cause of a value, as Go shows it. */
function inBody(at: string, shown: string, why: string): Required<StatusCause> {
  return fieldCause.invalid(at, shown, `${at} in body ${why}`);
}

/** Reads a limit as the server does: if both are whole numbers, a limit that is too large becomes the least one. */
function limitFor(
  value: number,
  given: Json,
  rules: JsonObject,
  what: string,
  at: string,
  causes: Causes,
): { readonly limit: number; readonly isWhole: boolean } {
  const limit = Number(given);
  const isWhole = isInRange(limit, rules, what, at, causes) && isInt64(value);
  return { limit: !isWhole ? limit : Math.abs(limit) < 2 ** 63 ? Math.trunc(limit) : -(2 ** 63), isWhole };
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
    causes.push(inBody(at, goNumber(value, isWhole), why));
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
  const isMultiple = isWhole ? value % limit === 0 : isNearlyWhole(limit < 1 ? 1 / limit * value : value / limit);
  if (limit <= 0) {
    causes.push(fieldCause.invalid(at, shown, `factor MultipleOf declared for ${at} must be positive: ${shown}`));
  } else if (!isMultiple) causes.push(inBody(at, goNumber(value, isWhole), `should be a multiple of ${shown}`));
}

type SizeCause = (at: string, limit: number, found: number, value: Json) => Required<StatusCause>;

/** The check of a size, whose bound is an upper one if `sign` is 1. */
function size(of: ValueKind, sign: 1 | -1, causeOf: SizeCause): Keyword {
  const check = (value: string | object, limit: Json, _rules: JsonObject, at: string, causes: Causes): void => {
    const found = typeof value === "string" ? charactersIn(value) : Object.keys(value).length;
    if (sign * found > sign * Number(limit)) causes.push(causeOf(at, Number(limit), found, value as Json));
  };
  return { given: "number", fate: "checked", of, limit: sign, check };
}

const tooFew = (what: string): SizeCause => (at, limit, found) =>
  inBody(at, String(found), `should have at least ${limit} ${what}`);
const tooMany: SizeCause = (field, limit, found) => {
  const message = `Too many: ${found}: must have at most ${limit} item${limit === 1 ? "" : "s"}`;
  return { reason: "FieldValueTooMany", message, field };
};
const tooShort: SizeCause = (at, limit, _, value) =>
  inBody(at, JSON.stringify(value), `should be at least ${limit} chars long`);

/** The characters of a text, as Go counts them. */
function charactersIn(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

function pattern(value: string, source: Json, _rules: JsonObject, at: string, causes: Causes): void {
  const why = `should match '${textOf(source)}'`;
  if (!re2(textOf(source)).test(value)) causes.push(inBody(at, JSON.stringify(value), why));
}

const walked = (given: string, by: Walker, more: Partial<Server> = {}): Keyword => ({
  given,
  fate: "walked",
  by,
  ...more,
});
const left = (fate: "noted" | "lowered" | "dropped", given = "any", more: Partial<Server> = {}): Keyword => ({
  given,
  fate,
  ...more,
});
const refused = (remedy: string, more: Partial<Server> = {}): Keyword => ({
  given: "any",
  fate: "refused",
  remedy,
  ...more,
});
const [empty, absent, off]: readonly Partial<Server>[] = [{ nested: "empty" }, { nested: "undefined" }, {
  nested: "false",
}];
const [never, neverGiven]: readonly Partial<Server>[] = [{ unsupported: isSet }, { unsupported: isGiven }];

const RULE = "Write a rule in x-kubernetes-validations";

/** The keywords. Checks of one kind of values are in the server's order. */
const TABLE: Readonly<Record<string, Keyword>> = {
  "title description": left("noted", "string", empty),
  "externalDocs": left("noted", "object"),
  "example": left("noted"),
  "type": walked("string list", "types", empty),
  "format": walked("string", "types"),
  "nullable": walked("boolean", "types", off),
  [INT_OR_STRING]: walked("boolean", "types", off),
  "enum": walked("list", "enum"),
  "properties": walked("object", "members"),
  "items": walked("object", "members"),
  "required": walked("list", "members"),
  "additionalProperties": walked("boolean object", "members", absent),
  [OPEN]: walked("boolean", "members", off),
  "allOf anyOf oneOf": walked("list", "alternatives"),
  "not": walked("boolean object", "alternatives"),
  [EMBEDDED]: walked("boolean", "embedded", off),
  "default": walked("any", "defaults", absent),
  [MAP_KEYS]: walked("list", "apply", empty),
  [LIST_TYPE]: walked("string", "apply", absent),
  [MAP_TYPE]: walked("string", "apply", absent),
  "x-kubernetes-validations": walked("list", "rules", empty),
  "maxLength": size("string", 1, fieldCause.tooLong),
  "minLength": size("string", -1, tooShort),
  "pattern": { given: "string", fate: "checked", of: "string", check: pattern },
  "multipleOf": { given: "number", fate: "checked", of: "number", check: multipleOf },
  "maximum": bound("maximum", 1),
  "minimum": bound("minimum", -1),
  "exclusiveMaximum exclusiveMinimum": walked("number boolean", "types"),
  "minItems": size("array", -1, tooFew("items")),
  "maxItems": size("array", 1, tooMany),
  "minProperties": size("object", -1, tooFew("properties")),
  "maxProperties": size("object", 1, tooMany),
  "const": left("lowered"),
  "contentEncoding": left("lowered", "string"),
  "uniqueItems": left("lowered", "boolean"),
  "$ref": left("lowered", "string", neverGiven),
  "id": left("dropped", "any", never),
  "definitions": left("dropped", "any", never),
  "$schema $id $anchor $comment $defs examples deprecated readOnly writeOnly contentMediaType contentSchema": left(
    "dropped",
  ),
  "patternProperties": refused(`Use additionalProperties. ${RULE}: self.all(name, name.matches("…"))`, never),
  "propertyNames": refused(`Use additionalProperties. ${RULE}: self.all(name, name.matches("…"))`),
  "additionalItems": refused("Kubernetes has no tuples. Use an object with named fields", neverGiven),
  "prefixItems unevaluatedItems": refused("Kubernetes has no tuples. Use an object with named fields"),
  "dependencies": refused(`${RULE}: !has(self.a) || has(self.b)`, neverGiven),
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

/** Adds what is wrong with a value by the checks of its kind. For texts, the server reports only the first fault. */
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
