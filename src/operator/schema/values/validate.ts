/**
 * Validates objects of custom kinds by their structural schemas.
 *
 * {@linkcode validateCustom} is the entry point. It does not evaluate rules in CEL.
 *
 * @module
 */
import type { StatusCause } from "../../../engine/api/status.ts";
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import { equalJson, isList, isObject, type Json, type JsonObject } from "../../../engine/api/json.ts";
import { jsonKey } from "./json_key.ts";
import { objectOr, textOf, textsOf } from "../../../engine/api/members.ts";
import type { ListOf, MapOf, Schema, Struct } from "./object_schema.ts";
import { re2 } from "./re2.ts";

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
  const isNull = value === null && rules.nullable === true;
  const wrong = isNull ? undefined : typeFault(schema, rules, value);
  if (wrong !== undefined) {
    const why = `${at} in body must be of type ${wrong.wanted}: "${wrong.found}"`;
    const cause = fieldCause.invalid(at || "<nil>", JSON.stringify(wrong.found), why);
    causes.push({ ...cause, reason: "FieldValueTypeInvalid" });
    if (wrong.wanted === "integer" && wrong.found === "number") {
      causes.push(fieldCause.invalid("<nil>", '""', `Checked value must be of type integer (default format) in ${at}`));
    }
  }
  // The server never takes null for one of the values.
  if (isList(rules.enum) && rules.enum.length > 0 && !rules.enum.some((it) => it !== null && equalJson(it, value))) {
    const supported = rules.enum.map((item: Json) => typeof item === "string" ? item : JSON.stringify(item));
    causes.push(fieldCause.unsupported(at, value as Json, supported));
  }
  if (isNull) return;
  if (wrong !== undefined) return checkCombined(rules, value, at, causes);
  for (const [name, check] of Object.entries(CHECKS)) {
    const limit = rules[name];
    if (limit === undefined) continue;
    const cause = check(value as Json, limit, at);
    if (cause !== undefined) causes.push(cause);
  }
  checkCombined(rules, value, at, causes);
  customMembers(schema, value, previous, at, causes);
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
  }
};

/** Reports required members of which the schema says nothing. */
function checkAbsent(schema: Struct | MapOf, value: JsonObject, at: string, causes: Causes): void {
  for (const name of textsOf(schema.rules?.required)) {
    const isField = schema.type === "struct" && schema.fields.has(name);
    if (!isField && value[name] === undefined) causes.push(fieldCause.required(join(at, name)));
  }
}

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** The type that a value should have and the type that it has; undefined if they agree. */
function typeFault(
  schema: Schema,
  { type, format }: JsonObject,
  value: Json | undefined,
): { readonly wanted: string; readonly found: string } | undefined {
  const found = value === null || value === undefined
    ? "null"
    : isList(value)
    ? "array"
    : typeof value === "number" && Number.isInteger(value)
    ? "integer"
    : typeof value;
  if (schema.type === "intOrString") {
    return found === "integer" || found === "string" ? undefined : { wanted: "integer,string", found };
  }
  const wanted = textOf(type);
  if (format === "date-time" && typeof value === "string" && !DATE_TIME.test(value)) {
    return { wanted: format, found: value };
  }
  const isRight = wanted === "" || wanted === found || (wanted === "number" && found === "integer");
  return isRight ? undefined : { wanted, found };
}

/** Finds what is wrong with a value by one rule of its schema. */
type Check = (value: Json, limit: Json, at: string) => Required<StatusCause> | undefined;

type Measure = (value: Json) => number | undefined;
type Holds = (value: number, limit: number) => boolean;
type Refuse = (at: string, limit: Json, found: number) => Required<StatusCause>;

/** Returns the check of a number, or of a size; `measure` returns undefined for values of other types. */
function bound(measure: Measure, holds: Holds, refuse: Refuse): Check {
  return (value, limit, at) => {
    const found = measure(value);
    return found === undefined || holds(found, Number(limit)) ? undefined : refuse(at, limit, found);
  };
}

function inBody(what: string, unit = ""): Refuse {
  return (at, limit, found) => fieldCause.invalid(at, String(found), `${at} in body should ${what} ${limit}${unit}`);
}

function tooMany(at: string, limit: Json, found: number): Required<StatusCause> {
  return { reason: "FieldValueTooMany", message: `Too many: ${found}: must have at most ${limit} items`, field: at };
}

const atLeast: Holds = (value, limit) => value >= limit;
const atMost: Holds = (value, limit) => value <= limit;
const numberIn: Measure = (value) => typeof value === "number" ? value : undefined;
const charactersOf: Measure = (value) => typeof value === "string" ? [...value].length : undefined;
const itemsOf: Measure = (value) => isList(value) ? value.length : undefined;
const membersOf: Measure = (value) => isObject(value) ? Object.keys(value).length : undefined;

/** Rules of one value, by their name in the schema. */
const CHECKS: Readonly<Record<string, Check>> = {
  minimum: bound(numberIn, atLeast, inBody("be greater than or equal to")),
  maximum: bound(numberIn, atMost, inBody("be less than or equal to")),
  multipleOf: bound(numberIn, (value, limit) => value % limit === 0, inBody("be a multiple of")),
  minLength: bound(charactersOf, atLeast, inBody("be at least", " chars long")),
  maxLength: bound(charactersOf, atMost, fieldCause.tooLong),
  pattern: (value, limit, at) =>
    typeof value !== "string" || re2(textOf(limit)).test(value)
      ? undefined
      : fieldCause.invalid(at, JSON.stringify(value), `${at} in body should match '${limit}'`),
  minItems: bound(itemsOf, atLeast, inBody("have at least", " items")),
  maxItems: bound(itemsOf, atMost, tooMany),
  minProperties: bound(membersOf, atLeast, inBody("have at least", " properties")),
  maxProperties: bound(membersOf, atMost, tooMany),
};

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
  const list = (name: string): readonly Causes[] =>
    isList(rules[name]) ? (rules[name] as readonly Json[]).map(faults) : [];
  const valid = (found: readonly Causes[]): number => found.filter(({ length }) => length === 0).length;
  const nearest = (found: readonly Causes[]): Causes => found.toSorted((a, b) => a.length - b.length)[0];
  const report = (why: string, found: Causes = []): void => {
    causes.push(fieldCause.invalid("<nil>", '""', `${JSON.stringify(at)} must ${why}`), ...found);
  };
  const any = list("anyOf");
  if (any.length > 0 && valid(any) === 0) report("validate at least one schema (anyOf)", nearest(any));
  const one = list("oneOf");
  if (one.length > 0 && valid(one) !== 1) {
    const none = valid(one) === 0;
    const why = none ? "Found none valid" : `Found ${valid(one)} valid alternatives`;
    report(`validate one and only one schema (oneOf). ${why}`, none ? nearest(one) : []);
  }
  const every = list("allOf");
  if (valid(every) < every.length) {
    causes.push(...every.flat());
    report(`validate all the schemas (allOf)${valid(every) === 0 ? ". None validated" : ""}`);
  }
  if (rules.not !== undefined && faults(rules.not).length === 0) report("not validate the schema (not)");
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
