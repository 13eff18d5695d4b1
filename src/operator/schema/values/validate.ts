/**
 * Validates objects of custom kinds by their structural schemas.
 *
 * {@linkcode validateCustom} is the entry point. It does not evaluate rules in CEL.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { jsonKey } from "./json_key.ts";
import { listOr, objectOr, textOf, textsOf } from "../../../engine/api/members.ts";
import type { ListOf, MapOf, Schema, Struct } from "./object_schema.ts";
import { checkedFormat } from "./formats.ts";
import { FORMS } from "./forms.ts";
import { checkValue, isInt64, isNearlyWhole } from "./keywords.ts";

/** The paths of a scale, as a CRD has them. */
export interface ScalePaths {
  /** Path to the desired replicas: `".spec.replicas"`. */
  readonly specReplicasPath: string;
  /** Path to the current replicas: `".status.replicas"`. */
  readonly statusReplicasPath: string;
  /** Path to the pods' selector, a text. @default {none} */
  readonly labelSelectorPath?: string;
}

/**
 * Finds what is wrong with an object of a custom kind, by its structural schema and the paths of its scale. In an
 * update from `previous`, parts that have not changed are not checked: the server calls this ratcheting.
 */
export function validateCustom(schema: Struct, object: JsonObject, scale?: ScalePaths, previous?: JsonObject): Causes {
  const causes: Causes = [];
  checkCustom(schema, object, previous, "", causes);
  for (const path of [scale?.specReplicasPath, scale?.statusReplicasPath]) {
    if (path !== undefined) checkReplicas(object, path, causes);
  }
  return causes;
}

/** Finds what is wrong with a value by its structural schema: a default, for instance. Paths begin within the value. */
export function valueCauses(schema: Schema, value: Json): Causes {
  const causes: Causes = [];
  checkCustom(schema, value, undefined, "", causes);
  return causes;
}

/** Rules in CEL, which the folder `rules` compiles. */
interface ObjectRules {
  check(object: JsonObject, previous?: JsonObject): Causes;
}

/** Reasons after which kube-apiserver does not evaluate rules. */
const BLOCKING = ["NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"].map((name) => `FieldValue${name}`);
const NOT_CHECKED =
  "some validation rules were not checked because the object was invalid; correct the existing errors " +
  "to complete validation";

/**
 * Finds what is wrong with an object of a custom kind, by its schema and its rules in CEL. Rules are not evaluated
 * where the schema does not hold.
 */
export function customCauses(
  schema: Struct,
  rules: ObjectRules | undefined,
  object: JsonObject,
  previous?: JsonObject,
  scale?: ScalePaths,
): Causes {
  const causes = validateCustom(schema, object, scale, previous);
  if (rules === undefined) return causes;
  if (causes.some(({ reason }) => BLOCKING.includes(reason))) {
    causes.push(fieldCause.invalid("<nil>", "null", NOT_CHECKED));
    return causes;
  }
  return [...causes, ...rules.check(object, previous)];
}

/** Checks the replicas of a scale. The server's causes begin with the point of the path. */
function checkReplicas(object: JsonObject, path: string, causes: Causes): void {
  let value: Json | undefined = object;
  for (const name of path.replace(/^\./, "").split(".")) {
    if (!isObject(value)) break;
    value = value[name];
    if (value === undefined) return;
  }
  const refuse = (found: string, why: string): void => void causes.push(fieldCause.invalid(path, found, why));
  if (typeof value !== "number" || !Number.isInteger(value)) {
    refuse("0", `${path} accessor error: ${textOf(value)} is of the type ${typeof value}, expected int64`);
  } else if (value < 0) refuse(String(value), "should be a non-negative integer");
  else if (value > 2 ** 31 - 1) refuse(String(value), `should be less than or equal to ${2 ** 31 - 1}`);
}

/** Joins the path of an object and the name of a member. */
export function join(at: string, name: string): string {
  return at === "" ? name : `${at}.${name}`;
}

/** Returns what identifies an element of a list: itself in a set, its keys in a map. */
function identityOf({ list, keys, items }: ListOf): (item: Json) => Json {
  const fields = items.type === "struct" ? items.fields : undefined;
  return (item) =>
    list === "set" || !isObject(item) ? item : Object.fromEntries(
      keys.map((name) => [name, item[name] ?? fields?.get(name)?.default]).filter(([, found]) => found !== undefined),
    );
}

/** Reports elements of a set that are equal, and of a map whose keys are. */
export function duplicates(schema: ListOf, value: readonly Json[], at: string, causes: Causes): void {
  if (schema.list === "atomic" || value.length < 2) return;
  const identity = identityOf(schema);
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const found = identity(item);
    const before = seen.size;
    if (seen.add(jsonKey(found)).size === before) causes.push(fieldCause.duplicate(`${at}[${index}]`, found));
  });
}

/** Returns a function that finds the previous element of a list of type map; other lists have no such elements. */
function previousItems(schema: ListOf, previous: Json | undefined): (item: Json) => Json | undefined {
  if (schema.list !== "map" || !isList(previous)) return () => undefined;
  const identity = identityOf(schema);
  const known = new Map(previous.toReversed().map((item) => [jsonKey(identity(item)), item]));
  return (item) => known.get(jsonKey(identity(item)));
}

/** Checks a value of a schema, and adds what is wrong with it. */
type Checks = (schema: Schema, value: Json | undefined, previous: Json | undefined, at: string, causes: Causes) => void;

const checkCustom: Checks = (schema, value, previous, at, causes) => {
  if (previous !== undefined && equalJson(value, previous)) return;
  const rules: JsonObject = schema.rules ?? {};
  const kind = kindOf(value);
  const isNull = kind === "null" && rules.nullable === true;
  const wrong = isNull ? undefined : typeFault(schema, rules, value, kind);
  if (wrong !== undefined) {
    const why = `${at} in body must be of type ${wrong.wanted}: ${JSON.stringify(wrong.found)}`;
    const cause = fieldCause.invalid(at || "<nil>", JSON.stringify(wrong.found), why);
    causes.push({ ...cause, reason: "FieldValueTypeInvalid" });
  }
  if (kind === "string" || kind === "number" || kind === "array" || kind === "object") {
    checkValue(value as Json, kind, rules, at, causes);
  }
  // The server never takes null for one of the values.
  if (isList(rules.enum) && rules.enum.length > 0 && !rules.enum.some((it) => it !== null && equalJson(it, value))) {
    const supported = rules.enum.map((item: Json) => typeof item === "string" ? item : JSON.stringify(item));
    causes.push(fieldCause.unsupported(at, value as Json, supported));
  }
  if (isNull) return;
  checkCombined(rules, value, at, causes);
  if (wrong === undefined) customMembers(schema, value, previous, at, causes);
};

const customMembers: Checks = (schema, value, previous, at, causes) => {
  const before = objectOr(previous);
  if (schema.type === "list" && isList(value)) {
    const known = previousItems(schema, previous);
    value.forEach((item, index) => checkCustom(schema.items, item, known(item), `${at}[${index}]`, causes));
    duplicates(schema, value, at, causes);
  } else if (schema.type === "map" && isObject(value)) {
    for (const key in value) checkCustom(schema.values, value[key], before[key], join(at, key), causes);
    checkAbsent(schema, value, at, causes);
  } else if (schema.type === "struct" && isObject(value)) {
    for (const field of schema.fields.values()) {
      const member = value[field.name];
      if (field.required && member === undefined) causes.push(fieldCause.required(join(at, field.name)));
      // The metadata of an embedded object are typed.
      if (member !== undefined && field.schema.rules !== undefined) {
        checkCustom(field.schema, member, before[field.name], join(at, field.name), causes);
      }
    }
    checkAbsent(schema, value, at, causes);
    if (schema.embedded && at !== "") checkEmbedded(value, at, causes);
  }
};

/** Checks what an object within another one is. Its metadata are not looked at. */
function checkEmbedded(object: JsonObject, at: string, causes: Causes): void {
  for (const name of ["apiVersion", "kind"]) {
    const [value, place] = [object[name], join(at, name)];
    const refuse = (why: string): void => void causes.push(fieldCause.invalid(place, JSON.stringify(value), why));
    if (value === undefined) causes.push(fieldCause.required(place));
    else if (typeof value !== "string") refuse("must be a string");
    else if (value === "") refuse("must not be empty");
    else if (name === "apiVersion" && value.split("/").length > 2) refuse(`unexpected GroupVersion string: ${value}`);
    else if (name === "kind" && FORMS.letterLabel(value.toLowerCase()).length > 0) {
      const why = FORMS.letterLabel(value.toLowerCase()).join(",");
      refuse(`may have mixed case, but should otherwise match: ${why}`);
    }
  }
}

/** Reports required members of which the schema says nothing. */
function checkAbsent(schema: Struct | MapOf, value: JsonObject, at: string, causes: Causes): void {
  for (const name of textsOf(schema.rules?.required)) {
    const isField = schema.type === "struct" && schema.fields.has(name);
    if (!isField && value[name] === undefined) causes.push(fieldCause.required(join(at, name)));
  }
}

/** The types of a value, as JSON names them. */
type JsonType = "null" | "array" | "number" | "string" | "boolean" | "object";

function kindOf(value: Json | undefined): JsonType {
  if (value === null || value === undefined) return "null";
  return isList(value) ? "array" : typeof value as JsonType;
}

/** The names that Go has for the formats of values. */
const GO_FORMAT: Readonly<Record<string, string>> = { integer: "int64", number: "float64" };

/**
 * The type that a value should have and the type that it has; undefined if they agree. Unlike the server, which takes
 * any list for a text with a format, it refuses lists.
 */
function typeFault(
  schema: Schema,
  rules: JsonObject,
  value: Json | undefined,
  kind: JsonType,
): { readonly wanted: string; readonly found: string } | undefined {
  const found = kind === "number" && isInt64(value) ? "integer" : kind;
  const types = schema.type === "intOrString" ? ["integer", "string"] : [textOf(rules.type)].filter((it) => it !== "");
  const format = checkedFormat(rules);
  if (kind === "string" && format?.type === "string" && !format.fits(value as never)) {
    return { wanted: textOf(rules.format), found: value as string };
  }
  if (types.length === 0 && (format === undefined || ["array", "null", "string"].includes(kind))) {
    return undefined;
  }
  if (types.includes(found) || (types.includes("number") && found === "integer")) return undefined;
  if (found === "number" && types.includes("integer") && isNearlyWhole(value as number)) return undefined;
  const isNamed = format !== undefined && !["array", "null", "string"].includes(kind);
  return isNamed ? { wanted: textOf(rules.format), found: GO_FORMAT[found] ?? "" } : { wanted: types.join(","), found };
}

/**
 * `allOf`, `anyOf`, `oneOf` and `not`, whose schemas have only rules of values. The server says of the object as a
 * whole that they do not hold, and then why the nearest alternative does not.
 */
function checkCombined(rules: JsonObject, value: Json | undefined, at: string, causes: Causes): void {
  const faults = (rule: Json): Causes => {
    const found: Causes = [];
    if (isObject(rule)) checkPartial(rule, value, at, found);
    return found;
  };
  const parts = (name: string): readonly Json[] => listOr(rules[name]);
  const list = (name: string): readonly Causes[] => parts(name).map(faults);
  const valid = (found: readonly Causes[]): number => found.filter(({ length }) => length === 0).length;
  const nearest = (name: string, found: readonly Causes[]): Causes => {
    const counts = parts(name).map((rule) => matchCount(objectOr(rule), value));
    return found[counts.indexOf(Math.max(...counts))];
  };
  const report = (why: string, found: Causes = []): void => {
    causes.push(fieldCause.invalid("<nil>", '""', `${JSON.stringify(at)} must ${why}`), ...found);
  };
  const any = list("anyOf");
  if (any.length > 0 && valid(any) === 0) report("validate at least one schema (anyOf)", nearest("anyOf", any));
  const one = list("oneOf");
  if (one.length > 0 && valid(one) !== 1) {
    const none = valid(one) === 0;
    const why = none ? "Found none valid" : `Found ${valid(one)} valid alternatives`;
    report(`validate one and only one schema (oneOf). ${why}`, none ? nearest("oneOf", one) : []);
  }
  const every = list("allOf");
  if (valid(every) < every.length) {
    causes.push(...every.flat());
    report(`validate all the schemas (allOf)${valid(every) === 0 ? ". None validated" : ""}`);
  }
  if (rules.not !== undefined && faults(rules.not).length === 0) report("not validate the schema (not)");
}

/** What the server counts to find the nearest alternative: the checks that look at a value, and its members. */
function matchCount(rules: JsonObject, value: Json | undefined): number {
  const kind = kindOf(value);
  const format = checkedFormat(rules);
  const isTyped = rules.type !== undefined || format !== undefined;
  // The formats of texts are checked apart from types.
  const isText = kind === "string" && format?.type === "string";
  const isRight = isText || typeFault({ type: "any", rules }, rules, value, kind) === undefined;
  const own = (isTyped ? 1 : 0) + (isTyped && isRight ? 1 : 0);
  const [members, schemas] = isObject(value) ? [value, objectOr(rules.properties)] : [{}, {}];
  const inner = Object.keys(schemas).filter((name) => members[name] !== undefined);
  return inner.reduce((sum, name) => sum + 4 + matchCount(objectOr(schemas[name]), members[name]), own);
}

/** Checks a value by a schema below `allOf`, `anyOf`, `oneOf` or `not`. */
function checkPartial(rules: JsonObject, value: Json | undefined, at: string, causes: Causes): void {
  if (isObject(value)) {
    for (const name of textsOf(rules.required)) {
      if (value[name] === undefined) causes.push(fieldCause.required(join(at, name)));
    }
    for (const [name, rule] of Object.entries(objectOr(rules.properties))) {
      if (isObject(rule) && value[name] !== undefined) checkPartial(rule, value[name], join(at, name), causes);
    }
  }
  const { type, ...others } = rules;
  const schema: Schema = { type: "any", rules: { ...others, ...(type === undefined ? {} : { type }) } };
  if (value !== undefined) checkCustom(schema, value, undefined, at, causes);
}
