/**
 * Lowers JSON Schema to a structural schema, the part of OpenAPI v3 that definitions of kinds have.
 *
 * {@linkcode lowerSchema} is the entry point, and {@linkcode standardJsonSchema} reads the schemas of libraries. Only
 * keywords are decided on here: what the server refuses of the result is found by `structural.ts`.
 *
 * @module
 */
import { messageOf, nearest, quoted } from "../../engine/errors/errors.ts";
import { equalJson, isList, isObject, type Json, type JsonObject, type MutableJson } from "../../engine/api/json.ts";
import { listOr, memberAt, objectOr, textOf, textsOf } from "../../engine/api/members.ts";
import { re2 } from "./values/re2.ts";
import { FORMATS } from "./values/formats.ts";
import { INT_OR_STRING, KEYWORDS, LIST_TYPE, OPEN } from "./values/keywords.ts";
import type { SchemaChange } from "./json_schema.ts";
import { CHECKED, LOST, markedSchema, REFUSED_PART, TRANSFORMED } from "./libraries.ts";
import { join } from "./values/validate.ts";

const TEXTS = "title description";
const ALTERNATIVES = ["allOf", "anyOf", "oneOf"];

/** A part of a schema that cannot be lowered. */
export interface SchemaFault {
  /** The path of the field: `"spec.tags[]"`; `""` for the schema as a whole. */
  readonly path: string;
  /** A sentence that says what was found, and a sentence that says what to do. */
  readonly message: string;
}

/** A schema that no kind can have. The message has all faults, with their paths. */
export class SchemaError extends TypeError {
  /** `"SchemaError"`. */
  override readonly name = "SchemaError";
  /** Everything that is wrong, in the order of the schema. */
  readonly faults: readonly SchemaFault[];

  /** Creates an error from at least one fault. */
  constructor(faults: readonly SchemaFault[], options?: ErrorOptions) {
    const texts = faults.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
    super(`Cannot define a kind: ${texts.join("\n  ")}`, options);
    this.faults = faults;
  }
}

const ONE_TYPE = `Use one type, [type, "null"], ["integer", "string"], or { "${OPEN}": true } for any value`;

/** The bounds of numbers, and their signs. */
const BOUNDS = [["minimum", "exclusiveMinimum", 1], ["maximum", "exclusiveMaximum", -1]] as const;

function has(words: string, name: string): boolean {
  return words.split(" ").includes(name);
}

/** Who wrote a schema, and what {@linkcode lowerSchema} tells of it. */
interface LoweringOptions {
  /** `true` if a library wrote it: what the server cannot check is left out, instead of refused. @default {false} */
  readonly isLibrary?: boolean;
  /** Gets what is left out or changed. @default {nobody} */
  readonly changes?: SchemaChange[];
}

/**
 * Returns the structural schema for a JSON schema of draft 7 or 2020-12, which you write or a library returns.
 *
 * @param at The path of the schema in the object, which errors begin with: `"spec"`.
 * @param options `changes` is filled with what is dropped or changed.
 * @throws {SchemaError} with all faults: what Kubernetes cannot express, a misspelt keyword, and names in `required`
 *   that are not in `properties`.
 */
export function lowerSchema(schema: JsonObject, at: string, options: LoweringOptions = {}): JsonObject {
  const faults: SchemaFault[] = [];
  const lowered = new Lowering(schema, faults, options).lower(schema, at, ["#"]);
  if (faults.length > 0) throw new SchemaError(faults);
  return lowered;
}

/** A schema with the references that led to it. */
interface Found {
  readonly schema: MutableJson;
  readonly refs: readonly string[];
}

class Lowering {
  readonly #root: JsonObject;
  readonly #faults: SchemaFault[];
  readonly #changes: SchemaChange[];
  readonly #isLibrary: boolean;
  /** The schemas in `$defs`, by their names and by their `$id`. */
  readonly #definitions = new Map<Json | undefined, JsonObject>();

  constructor(root: JsonObject, faults: SchemaFault[], { isLibrary = false, changes = [] }: LoweringOptions) {
    [this.#root, this.#faults, this.#isLibrary, this.#changes] = [root, faults, isLibrary, changes];
  }

  /** Lowers a schema at a path. `refs` are the references that led there. */
  lower(given: unknown, at: string, refs: readonly string[]): JsonObject {
    const { schema, refs: inner } = this.#find(given, at, refs);
    infer(schema);
    this.#members(schema, at, inner);
    for (const keyword of ALTERNATIVES) this.#union(schema, keyword, at, inner);
    this.#values(schema, at);
    if (schema.not !== undefined) schema.not = this.#nested(schema.not, schema, at, inner);
    if (equalJson(schema.not, {})) {
      this.#fault(at, "no value is allowed. Remove the field");
      delete schema.not;
    }
    this.#map(schema, at, inner);
    this.#unique(schema, at);
    this.#required(schema, schema, at);
    const isNever = schema.nullable === true && schema.enum !== undefined;
    if (isNever) this.#fault(at, "kube-apiserver never takes null for a field with an `enum`. Make the field optional");
    if (schema.type !== undefined || schema[INT_OR_STRING] === true || schema[OPEN] === true) return schema;
    const rule = Object.keys(schema).find((name) => !has(`${TEXTS} nullable default example`, name));
    if (rule !== undefined) this.#fault(at, `there is \`${rule}\` without a type. Add \`type\``);
    return { ...schema, [OPEN]: true };
  }

  #fault(path: string, message: string): void {
    addNew(this.#faults, { path, message });
  }

  /** Tells that a keyword is left out or changed. */
  #change(path: string, keyword: string, reason: string): void {
    addNew(this.#changes, { path, keyword, reason });
  }

  /** Lowers the schemas of fields and elements. */
  #members(schema: MutableJson, at: string, refs: readonly string[]): void {
    const { properties, items } = schema;
    if (isObject(items)) schema.items = this.lower(items, `${at}[]`, refs);
    if (!isObject(properties)) return;
    const lowered = Object.entries(properties).map(([name, it]) =>
      [name, this.lower(it, join(at, name), refs)] as const
    );
    schema.properties = Object.fromEntries(lowered);
  }

  /** Follows references, and leaves out what is dropped or refused. */
  #find(given: unknown, at: string, refs: readonly string[]): Found {
    if (given === true) return { schema: {}, refs };
    if (!isObject(given)) {
      this.#fault(at, `a schema must be an object, but it is ${JSON.stringify(given)}. Write a schema`);
    }
    for (const [name, it] of Object.entries(objectOr(objectOr(given).$defs))) {
      for (const key of [name, objectOr(it).$id]) this.#definitions.set(key, objectOr(it));
    }
    const { $ref, ...schema } = this.#known(objectOr(given), at);
    if (isList(schema.type)) this.#types(schema, schema.type, at);
    if (typeof $ref !== "string") return { schema, refs };
    const path = $ref.split("/").slice(1).map((it) => decodeURIComponent(it).replace(/~1/g, "/").replace(/~0/g, "~"));
    const target = $ref.startsWith("#") ? memberAt(this.#root, ...path) : this.#definitions.get($ref);
    const isInside = refs.includes($ref);
    if (target !== undefined && !isInside) {
      const found = this.#find(target, at, [...refs, $ref]);
      return { schema: { ...found.schema, ...schema }, refs: found.refs };
    }
    const recursive = `is the schema itself. Use { type: "object", "${OPEN}": true } at some depth`;
    const why = isInside ? recursive : "is not in the schema. Put it into $defs";
    this.#fault(at, `\`$ref\` ${JSON.stringify($ref)} ${why}`);
    return { schema: { [OPEN]: true }, refs };
  }

  /** Lowers a list of types. */
  #types(schema: MutableJson, types: readonly Json[], at: string): void {
    const rest = types.filter((type) => type !== "null");
    if (rest.length < types.length) schema.nullable = true;
    delete schema.type;
    if (rest.length === 1) schema.type = rest[0];
    else if (isEither(rest)) schema[INT_OR_STRING] = true;
    else {
      schema[OPEN] = true;
      this.#fault(at, `\`type\` is ${JSON.stringify(types)}, but a field has one type. ${ONE_TYPE}`);
    }
  }

  /** Returns a copy with the keywords that are lowered, and reports others. */
  #known(schema: JsonObject, at: string): MutableJson {
    const kept: MutableJson = {};
    this.#marks(schema, at);
    for (const [name, value] of Object.entries(withAnyNames(schema))) {
      if (value === undefined || /^(x-(?!kubernetes-)|~)/.test(name) || saysNothing(name, value)) continue;
      const keyword = KEYWORDS.get(name);
      if (keyword === undefined) {
        const near = nearest(name, [...KEYWORDS.keys()]);
        const advice = near === undefined ? "Remove it" : `Did you mean \`${near}\`?`;
        this.#fault(at, `there is no keyword \`${name}\`. ${advice}`);
      } else if (keyword.fate === "refused") {
        this.#fault(at, `\`${name}\` has no structural form. ${keyword.remedy}`);
      } else if (keyword.fate === "dropped") continue;
      else if (has(keyword.given, "any") || has(keyword.given, isList(value) ? "list" : typeof value)) {
        kept[name] = value;
      } else {
        const types = keyword.given.split(" ").sort().join(" or ");
        this.#fault(at, `\`${name}\` cannot be ${JSON.stringify(value)}. Write a value of type ${types}`);
      }
    }
    return kept;
  }

  /** Reports what a library has lost, and the hidden members of TypeBox. */
  #marks(schema: JsonObject, at: string): void {
    const lost = "~refine" in schema ? { Refine: CHECKED } : objectOr(schema[LOST]);
    const refused = "~codec" in schema ? [TRANSFORMED] : Object.values(objectOr(schema[REFUSED_PART]));
    for (const [keyword, reason] of Object.entries(lost)) {
      this.#change(at, keyword, textOf(reason));
    }
    for (const message of refused) this.#fault(at, textOf(message));
  }

  /** Lowers alternatives: to null, to an integer or a string, to one enum, to one type with rules. */
  #union(schema: MutableJson, keyword: string, at: string, refs: readonly string[]): void {
    const given = schema[keyword];
    if (!isList(given)) return;
    delete schema[keyword];
    const found = given.map((part) => this.#find(part, at, refs));
    const inner = [...new Set(found.flatMap(({ refs }) => refs))];
    for (const { schema: part } of found) infer(part);
    const parts = found.map(({ schema }) => schema).filter(({ type }) => type !== "null");
    if (parts.length < found.length || parts.some(({ nullable }) => nullable === true)) schema.nullable = true;
    for (const part of parts) delete part.nullable;
    const types = [...new Set([schema, ...parts].map(({ type }) => type).filter((type) => type !== undefined))];
    const valuesOf = (part: JsonObject): readonly Json[] => part.const === undefined ? listOr(part.enum) : [part.const];
    const isEnum = parts.map((part) => valuesOf(part).length > 0);
    const clashes = Object.keys(parts[0] ?? {}).filter((name) => schema[name] !== undefined && !has(TEXTS, name));
    if (parts.length === 1 && clashes.every((name) => equalJson(schema[name], parts[0][name]))) {
      this.#members(parts[0], at, inner);
      Object.assign(schema, { ...parts[0], ...schema });
      for (const keyword of ALTERNATIVES) this.#union(schema, keyword, at, inner);
    } else if (keyword !== "allOf" && isEither(types) && !isEnum.includes(true)) {
      for (const part of parts) Object.assign(schema, { ...part, ...schema });
      schema[INT_OR_STRING] = true;
      delete schema.type;
    } else if (types.length > 1 || (types[0] === "object" && schema.properties === undefined)) {
      const fields = "Declare the fields of all in `properties`, and write `required` or a rule for each alternative";
      const remedy = types.includes("object") ? fields : ONE_TYPE;
      this.#fault(at, `\`${keyword}\` has alternatives of ${types.join(", ")}, but a field has one type. ${remedy}`);
    } else {
      schema.type = types[0];
      if (keyword !== "allOf" && !isEnum.includes(false)) schema.enum = parts.flatMap(valuesOf);
      else schema[keyword] = parts.map((part) => this.#nested(part, schema, at, inner));
    }
  }

  /** Lowers a schema below `allOf`, `anyOf`, `oneOf` or `not`, which may only have rules for what `outer` declares. */
  #nested(given: unknown, outer: JsonObject, at: string, refs: readonly string[]): JsonObject {
    const { schema, refs: inner } = this.#find(given, at, refs);
    this.#values(schema, at);
    const { type = outer.type, title: _title, description: _text, additionalProperties, ...rules } = schema;
    const outside = Object.keys(rules).filter((name) => KEYWORDS.get(name)?.nested !== undefined);
    if (type !== outer.type) outside.push("type");
    if (additionalProperties !== undefined && additionalProperties !== false) outside.push("additionalProperties");
    for (const name of outside) this.#fault(at, `an alternative has \`${name}\`. Move it out of the alternatives`);
    this.#required(rules, outer, at);
    const properties: MutableJson = {};
    for (const [name, part] of Object.entries(objectOr(rules.properties))) {
      const own = memberAt(outer, "properties", name);
      if (own === undefined) {
        this.#fault(join(at, name), "only an alternative has this field. Declare it in `properties`");
      }
      properties[name] = this.#nested(part, objectOr(own), join(at, name), inner);
    }
    if (isObject(rules.properties)) rules.properties = properties;
    if (isObject(rules.items)) rules.items = this.#nested(rules.items, objectOr(outer.items), `${at}[]`, inner);
    if (rules.not !== undefined) rules.not = this.#nested(rules.not, outer, at, inner);
    for (const keyword of ALTERNATIVES) {
      const parts = rules[keyword];
      if (isList(parts)) rules[keyword] = parts.map((part) => this.#nested(part, outer, at, inner));
    }
    return rules;
  }

  /** Lowers the rules of one value. */
  #values(schema: MutableJson, at: string): void {
    if (schema.const !== undefined) schema.enum = [schema.const];
    if (schema.default === null) delete schema.default;
    if (schema.contentEncoding === "base64" && schema.pattern === undefined) schema.format = "byte";
    delete schema.const;
    delete schema.contentEncoding;
    if (isList(schema.enum) && schema.enum.includes(null)) schema.nullable = true;
    for (const [name, exclusive, sign] of BOUNDS) {
      const [bound, limit] = [schema[name], schema[exclusive]];
      if (typeof limit === "number") {
        const isNarrower = typeof bound !== "number" || sign * limit >= sign * bound;
        if (isNarrower) Object.assign(schema, { [name]: limit, [exclusive]: true });
        else delete schema[exclusive];
      }
      this.#bound(schema, name, -sign, at);
    }
    const { multipleOf } = schema;
    if (typeof multipleOf === "number" && (multipleOf <= 0 || !Number.isInteger(multipleOf))) {
      const why = "kube-apiserver divides whole numbers by whole numbers. Count smaller units, such as cents";
      this.#fault(at, `\`multipleOf\` cannot be ${multipleOf}: ${why}`);
    }
    // A pattern with a format is the library's own.
    this.#pattern(schema, this.#isLibrary && schema.format !== undefined, at);
    this.#format(schema, at);
  }

  /** Leaves out a bound that the server cannot hold, and the bounds of safe integers. */
  #bound(schema: MutableJson, name: string, sign: number, at: string): void {
    const bound = schema[name];
    if (typeof bound !== "number" || Math.abs(bound) < Number.MAX_SAFE_INTEGER) return;
    const isSafe = bound === sign * Number.MAX_SAFE_INTEGER;
    if (!isSafe && Math.abs(bound) < 2 ** 63) return;
    if (sign * bound < 0) {
      return this.#fault(at, `\`${name}\` ${bound} leaves no number that kube-apiserver can hold. Change it`);
    }
    delete schema[name];
    delete schema[`exclusive${name[0].toUpperCase()}${name.slice(1)}`];
    const why = "The server reads bounds as integers of 64 bits";
    if (!isSafe) this.#change(at, name, `Left out: ${bound}. ${why}`);
  }

  /** Keeps a format that servers check. */
  #format(schema: MutableJson, at: string): void {
    const { format, type } = schema;
    if (format === undefined) return;
    const known = FORMATS.get(textOf(format).replaceAll("-", ""));
    // A duration of JSON Schema is P1D, and Kubernetes' is 24h.
    const isOther = format === "duration" && this.#isLibrary;
    const quotedName = JSON.stringify(format);
    if (known === undefined || isOther || (type !== undefined && type !== known.type)) {
      delete schema.format;
      if (this.#isLibrary && schema.pattern !== undefined) return; // the library's pattern says as much
      const why = isOther ? `Kubernetes' durations are others: "1h30m"` : "Kube-apiserver does not check it";
      this.#change(at, "format", `Left out: ${quotedName}. ${why}`);
    } else if (known.since > 0) {
      this.#change(at, "format", `Kept: ${quotedName}. Only kube-apiserver 1.${known.since} and later check it`);
    }
  }

  /** Keeps a pattern that RE2 has. Another one is left out if it is a library's own. */
  #pattern(schema: MutableJson, isOwn: boolean, at: string): void {
    const { pattern } = schema;
    if (typeof pattern !== "string") return;
    try {
      re2(pattern);
    } catch {
      const why = "Kubernetes has RE2, without (?=…) and \\1";
      const text = JSON.stringify(quoted(pattern));
      if (isOwn) {
        delete schema.pattern;
        return this.#change(at, "pattern", `Left out: ${text}. ${why}`);
      }
      this.#fault(at, `the pattern ${text} is not one of RE2: ${why}. Write another pattern, or a rule`);
    }
  }

  /** Lowers `additionalProperties`. */
  #map(schema: MutableJson, at: string, refs: readonly string[]): void {
    const { additionalProperties: values, properties } = schema;
    if (values === undefined) return;
    delete schema.additionalProperties;
    if (values === false) {
      return this.#change(
        at,
        "additionalProperties",
        "Left out: false. The server drops unknown fields, and takes the rest",
      );
    }
    const isAny = equalJson(values, {}) || values === true;
    const hasFields = isObject(properties) && Object.keys(properties).length > 0;
    if (isAny && (hasFields || values === true)) schema[OPEN] = true;
    else if (hasFields) {
      const remedy = "Put the other fields into a field of their own";
      this.#fault(at, `\`additionalProperties\` stands beside \`properties\`. ${remedy}`);
    } else schema.additionalProperties = this.lower(values, `${at}[*]`, refs);
  }

  /** Lowers `uniqueItems`. */
  #unique(schema: MutableJson, at: string): void {
    const isUnique = schema.uniqueItems === true && schema[LIST_TYPE] === undefined;
    delete schema.uniqueItems;
    if (!isUnique) return;
    const items = objectOr(schema.items);
    if (["string", "integer", "number", "boolean"].includes(textOf(items.type)) || items[INT_OR_STRING] === true) {
      schema[LIST_TYPE] = "set";
    } else this.#fault(at, `\`uniqueItems\` is for scalars. Use ${LIST_TYPE}: "map" with x-kubernetes-list-map-keys`);
  }

  /** Reports names in `required` that are not declared. */
  #required({ required }: JsonObject, declared: JsonObject, at: string): void {
    const { properties, additionalProperties, [OPEN]: open } = declared;
    if (open === true || (additionalProperties ?? false) !== false) return;
    const names = Object.keys(objectOr(properties));
    for (const name of textsOf(required).filter((name) => !names.includes(name))) {
      const near = nearest(name, names);
      const advice = near === undefined ? "Add it to `properties`" : `Did you mean ${JSON.stringify(near)}?`;
      this.#fault(at, `\`required\` has ${JSON.stringify(name)}, which is not in \`properties\`. ${advice}`);
    }
  }
}

function isEither(types: readonly Json[]): boolean {
  return equalJson(types.toSorted(), ["integer", "string"]);
}

/** Adds an entry to a list that has no equal one. */
function addNew<T>(list: T[], entry: T): void {
  if (!list.some((it) => equalJson(it, entry))) list.push(entry);
}

/** Writes a pattern that every name matches as `additionalProperties`. */
function withAnyNames(schema: JsonObject): JsonObject {
  const { patternProperties, ...rest } = schema;
  const [[pattern, values] = [], ...others] = Object.entries(objectOr(patternProperties));
  const isAny = pattern !== undefined && others.length === 0 && /^(\^?\.\*\$?)?$/.test(pattern);
  return isAny ? { ...rest, additionalProperties: values } : schema;
}

/** True for keywords that are refused only if they say something. */
function saysNothing(name: string, value: Json): boolean {
  if (name === "propertyNames") return equalJson(value, {}) || equalJson(value, { type: "string" });
  return (name === "unevaluatedProperties" || name === "items") && value === false;
}

/** Adds the type that other keywords tell. */
function infer(schema: MutableJson): void {
  const values = schema.const === undefined ? listOr(schema.enum) : [schema.const];
  const types = new Set(values.map((it) => it === null ? "null" : Number.isInteger(it) ? "integer" : typeof it));
  if (types.size > 1) types.delete("null");
  if (types.size === 1) schema.type ??= [...types][0];
  if (isObject(schema.properties)) schema.type ??= "object";
  if (isObject(schema.items)) schema.type ??= "array";
}

/**
 * Returns the JSON schema of a library's schema that implements Standard JSON Schema, such as zod 4 and arktype, or
 * valibot with `toStandardJsonSchema()`; undefined for another value. Parts that lose something are marked for
 * {@linkcode lowerSchema}.
 *
 * @param at The path of the schema in the object, which errors begin with: `"spec"`.
 * @throws {SchemaError} if the library cannot write the schema, or another library's schema transforms values.
 * @see https://standardschema.dev/json-schema
 */
export function standardJsonSchema(value: unknown, at = ""): JsonObject | undefined {
  const isSchema = (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
  if (!isSchema) return undefined;
  const { vendor, jsonSchema } = value["~standard"] as StandardSchema;
  const fail = (message: string, cause?: unknown): SchemaError => new SchemaError([{ path: at, message }], { cause });
  const wrap = "Wrap the schema: toStandardJsonSchema(schema)";
  if (jsonSchema === undefined) throw fail(`${vendor} does not write it by Standard JSON Schema. ${wrap}`);
  try {
    const marked = markedSchema(value, vendor, jsonSchema.input);
    if (marked !== undefined) return marked;
    const [input, output] = [jsonSchema.input, jsonSchema.output].map((write) => write({ target: "draft-2020-12" }));
    if (equalJson(comparable(input), comparable(output))) return input;
  } catch (cause) {
    throw fail(`${vendor} cannot write the schema: ${messageOf(cause)}. Use a schema of plain JSON`, cause);
  }
  throw fail(TRANSFORMED);
}

/** The property `~standard` of a library's schema. */
interface StandardSchema {
  readonly vendor: string;
  readonly jsonSchema?: Readonly<Record<"input" | "output", (options: { readonly target: string }) => JsonObject>>;
}

/** A schema without what may differ between input and output: defaults, and unknown fields. */
function comparable(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema, (name, value) => {
    const isFree = (name === "required" && isList(value)) || (name === "default" && !isObject(value));
    return isFree || (name === "additionalProperties" && value === false) ? undefined : value;
  }));
}
