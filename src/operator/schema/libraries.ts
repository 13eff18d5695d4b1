/**
 * What libraries of schemas check or change in code, and JSON Schema cannot say.
 *
 * {@linkcode markedSchema} lets zod, valibot or arktype write a schema, and marks each part that loses something. Two
 * keywords hold the reasons of a part, which `lower_schema.ts` reads. No library is loaded here.
 *
 * @module
 */
import type { Json, JsonObject, MutableJson } from "../../engine/api/json.ts";
import { listOr, memberAt, objectOr, textOf } from "../../engine/api/members.ts";

/** The keyword for what a part of a schema loses. */
export const LOST = "x-lost";
/** The keyword for what no kind can have. */
export const REFUSED_PART = "x-refused";

/** The reason for a check in code. */
export const CHECKED = "your library checks this in code, so the server accepts values that the library refuses";
/** The reason for a transformation. */
export const TRANSFORMED =
  "the schema transforms values, but the server stores them as they are. Remove the transformation";
const CHANGED = "your library changes values in code, but the server checks and stores them as users write them";

/** Objects that a library hands over. Nothing is promised of them, so they are read like JSON. */
type Parts = Readonly<Record<string, MutableJson>>;
type Writer = (options: { readonly target: string; readonly libraryOptions: object }) => JsonObject;
type ZodSchema = { readonly "~standard": { readonly jsonSchema: { readonly input: Writer } } };
type ArkType = { toJsonSchema(options: object): JsonObject; readonly references?: readonly { instance?: unknown }[] };

const TARGET = "draft-2020-12";

/** Returns the JSON schema that a library writes, with marks; undefined for a library that is not known. */
export function markedSchema(schema: object, vendor: string, write: Writer): JsonObject | undefined {
  if (vendor === "zod") return write({ target: TARGET, libraryOptions: ZOD });
  if (vendor === "valibot") return write({ target: TARGET, libraryOptions: VALIBOT });
  return vendor === "arktype" && "toJsonSchema" in schema ? writeArkType(schema as ArkType) : undefined;
}

function mark(schema: MutableJson, kind: string, keyword: string, reason: string): MutableJson {
  schema[kind] = { ...objectOr(schema[kind]), [keyword]: reason };
  return schema;
}

function refuse(schema: MutableJson, keyword: string, why = `${keyword} has no form in JSON Schema`): MutableJson {
  return mark(schema, REFUSED_PART, keyword, `your library cannot write it: ${why.replace(/\.$/, "")}. Use plain JSON`);
}

/** The pattern of a regular expression, with its flags as RE2 writes them. Others are marked in `schema`. */
function patternOf({ source, flags }: RegExp, schema: MutableJson): string {
  if (/[vy]/.test(flags)) mark(schema, LOST, "flags", CHECKED);
  const kept = flags.replace(/[^ims]/g, "");
  return kept === "" ? source : `(?${kept})${source}`;
}

/** Types that zod cannot write, or writes as something else. */
const ZOD_TYPES = "bigint symbol undefined void date nan custom function transform map set file promise success";

/** Checks that zod writes as keywords. */
const ZOD_CHECKS = "less_than greater_than multiple_of number_format min_length max_length length_equals string_format";

const ZOD = {
  unrepresentable: ({ message }: { readonly message: string }) => refuse({}, "type", message),
  override({ zodSchema, jsonSchema: json }: Parts): void {
    const { type, coerce, transform, checks, ...def } = zodDef(zodSchema);
    for (const check of [zodSchema, ...listOr(checks)]) markZodCheck(zodDef(check), json);
    if (coerce === true) mark(json, LOST, "coerce", CHANGED);
    if (type === "catch") mark(json, LOST, "catch", CHANGED);
    if (ZOD_TYPES.split(" ").includes(textOf(type))) refuse(json, "type", `${type} has no form in JSON Schema`);
    if (type !== "pipe") return;
    if (zodDef(def.in).type === "transform") mark(json, LOST, "preprocess", CHANGED);
    else if (transform !== undefined || zodDef(def.out).type === "transform") {
      mark(json, REFUSED_PART, "pipe", TRANSFORMED);
    } else {
      const { jsonSchema } = (def.out as unknown as ZodSchema)["~standard"];
      json.allOf = [...listOr(json.allOf), jsonSchema.input({ target: TARGET, libraryOptions: ZOD })];
    }
  },
};

function zodDef(schema: unknown): JsonObject {
  return objectOr(memberAt(schema, "_zod", "def"));
}

/** Marks what a check of zod loses, and writes the flags of its pattern. */
function markZodCheck({ check, format, pattern, ...def }: JsonObject, json: MutableJson): void {
  if (typeof check !== "string") return;
  const isWritten = ZOD_CHECKS.split(" ").includes(check) && format !== "credit_card" && format !== "iban" &&
    (format !== "url" || (def.hostname ?? def.protocol ?? def.normalize) === undefined);
  if (def.local === true) delete json.format; // a date-time of JSON Schema has a zone
  if (check === "overwrite") mark(json, LOST, check, CHANGED);
  else if (!isWritten || (check === "string_format" && pattern === undefined && format !== "url")) {
    mark(json, LOST, check === "custom" ? "refine" : textOf(format ?? check), CHECKED);
  }
  for (const part of [json, ...listOr(json.allOf)] as MutableJson[]) {
    if (pattern instanceof RegExp && part.pattern === pattern.source) part.pattern = patternOf(pattern, json);
  }
}

/** Without a mode, valibot writes all schemas of a pipe into one. */
const VALIBOT = {
  typeMode: undefined,
  errorMode: "ignore",
  overrideSchema({ valibotSchema: { type, entries, fallback }, jsonSchema: json, errors }: Parts): MutableJson {
    if (fallback !== undefined) mark(json, LOST, "fallback", CHANGED);
    for (const [name, field] of Object.entries(objectOr(json.properties))) {
      if (memberAt(entries, name, "fallback") !== undefined) mark(field as MutableJson, LOST, "fallback", CHANGED);
    }
    if (type === "loose_object") json.additionalProperties = {};
    return errors === undefined ? json : refuse(json, textOf(type), Object.values(errors).join(" "));
  },
  overrideAction({ valibotAction: { kind, type, requirement }, jsonSchema: json, errors }: Parts): MutableJson {
    const name = textOf(type);
    // JSON Schema defines these formats otherwise than valibot.
    const isOther = name === "iso_time" || name === "iso_date_time";
    if (isOther) delete json.format;
    if (requirement instanceof RegExp) {
      if (json.pattern === requirement.source) json.pattern = patternOf(requirement, json);
      else if (isOther || errors) json.allOf = [...listOr(json.allOf), { pattern: patternOf(requirement, json) }];
      return json;
    }
    // For lists, valibot writes the element as a pattern.
    const isOfList = name === "includes" && json.type === "array";
    if (isOfList) delete json.pattern;
    if ((!errors && !isOfList) || /^(brand|flavor|readonly|finite)$/.test(name)) return json;
    if (kind !== "transformation" || name === "guard") return mark(json, LOST, name, CHECKED);
    if (/^(trim|normalize|to_.*_case|to_m)/.test(name)) return mark(json, LOST, name, CHANGED);
    return mark(json, REFUSED_PART, name, TRANSFORMED);
  },
};

/** Returns the rest of a part of which arktype cannot write `code`. */
function fallback({ code, base, domain, proto, predicate, pattern }: Parts): MutableJson | undefined {
  const name = textOf(code);
  if (name === "patternIntersection") base.allOf = [...listOr(base.allOf), { pattern }];
  else if (name === "morph") mark(base, REFUSED_PART, name, TRANSFORMED);
  else if (name !== "predicate") refuse(base, textOf(domain ?? proto?.name ?? name));
  // URLs have a format.
  else if (predicate?.name !== "isParsableUrl") mark(base, LOST, name, CHECKED);
  return name === "defaultValue" ? undefined : base;
}

/** Writes a type of arktype. Its standard method leaves out defaults, and patterns never have their flags. */
function writeArkType(type: ArkType): JsonObject {
  const patterns = (type.references ?? []).flatMap(({ instance }) => instance instanceof RegExp ? [instance] : []);
  const text = JSON.stringify(type.toJsonSchema({ target: TARGET, fallback }));
  return JSON.parse(text, function (this: MutableJson, key: string, value: Json): Json {
    const pattern = key === "pattern" ? patterns.find(({ source }) => source === value) : undefined;
    return pattern === undefined ? value : patternOf(pattern, this);
  });
}
