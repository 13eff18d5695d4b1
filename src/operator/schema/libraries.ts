/**
 * What libraries of schemas check or change in code, and JSON Schema cannot say.
 *
 * {@linkcode markedSchema} lets a library write its schema, and marks each part that loses something.
 * {@linkcode marksOf} reads the marks of a part. What they mean is decided in `lower_schema.ts`. No library is loaded.
 *
 * @module
 */
import type { Json, JsonObject, MutableJson } from "../../engine/api/json.ts";
import { listOr, objectOr, textOf } from "../../engine/api/members.ts";

/** What a part of a schema loses. */
export interface SchemaMark {
  /** What the library calls it: `"trim"`. */
  readonly keyword: string;
  /** A sentence about what follows. */
  readonly reason: string;
  /** `true` if no kind can have it. */
  readonly isRefused: boolean;
}

/** Writes JSON schemas, for example of zod. */
type Writer = (options: { readonly target: string; readonly libraryOptions?: object }) => JsonObject;

/** The keywords of marks, which have reasons by keyword. */
const [LOST, REFUSED] = ["x-lost", "x-refused"];
const TARGET = "draft-2020-12";

const checked = (by: string): string => `${by} checks this in code, so the server accepts values that ${by} refuses`;
const changed = (by: string): string =>
  `${by} changes values in code, but the server checks and stores them as users write them`;
const transformed = (by: string): string =>
  `${by} transforms values, but the server stores them as users write them. Remove the transformation`;
const unwritten = (by: string, message: string): string =>
  `${by} cannot write it: ${message}. Use a type of plain JSON`;

function mark(schema: MutableJson, kind: string, keyword: string, reason: string): MutableJson {
  schema[kind] = { ...objectOr(schema[kind]), [keyword]: reason };
  return schema;
}

/** Returns the marks of a part of a schema, and what TypeBox hides in it. */
export function marksOf(schema: JsonObject): readonly SchemaMark[] {
  const marks = [LOST, REFUSED].flatMap((kind) =>
    Object.entries(objectOr(schema[kind])).map(([keyword, reason]) => ({
      keyword,
      reason: textOf(reason),
      isRefused: kind === REFUSED,
    }))
  );
  if ("~refine" in schema) marks.push({ keyword: "Refine", reason: checked("TypeBox"), isRefused: false });
  if ("~codec" in schema) marks.push({ keyword: "Codec", reason: transformed("TypeBox"), isRefused: true });
  return marks;
}

/** Returns the JSON schema that a library writes, with marks; undefined for a library that is not known. */
export function markedSchema(schema: object, vendor: string, write: Writer): JsonObject | undefined {
  if (vendor === "zod") return writeZod(write);
  if (vendor === "valibot") return write({ target: TARGET, libraryOptions: VALIBOT });
  return vendor === "arktype" ? writeArkType(schema) : undefined;
}

/** The pattern of a regular expression, with its flags as RE2 writes them. Others are marked in `schema`. */
function patternOf({ source, flags }: RegExp, schema: MutableJson, by: string): string {
  if (/[vy]/.test(flags)) mark(schema, LOST, "flags", checked(by));
  const kept = flags.replace(/[^ims]/g, "");
  return kept === "" ? source : `(?${kept})${source}`;
}

/** A schema or a check of zod. */
interface ZodPart {
  readonly _zod: { readonly def: ZodDef };
}

interface ZodDef {
  readonly type?: string;
  readonly check?: string;
  readonly checks?: readonly ZodPart[];
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly coerce?: boolean;
  readonly in?: ZodPart;
  readonly out?: ZodPart & { readonly "~standard"?: { readonly jsonSchema?: { readonly input: Writer } } };
  readonly transform?: unknown;
  readonly hostname?: unknown;
  readonly protocol?: unknown;
  readonly normalize?: boolean;
}

/** Checks that zod writes as keywords. */
const ZOD_CHECKS = "less_than greater_than multiple_of number_format min_length max_length length_equals string_format";

/** Writes a schema of zod. If zod refuses parts of it, a second try marks them: an old zod does not call the function. */
function writeZod(write: Writer): JsonObject {
  try {
    return write({ target: TARGET, libraryOptions: ZOD });
  } catch (error) {
    const unrepresentable = ({ message }: { readonly message: string }) =>
      mark({}, REFUSED, "type", unwritten("zod", message));
    const schema = write({ target: TARGET, libraryOptions: { ...ZOD, unrepresentable } });
    if (JSON.stringify(schema).includes(`"${REFUSED}"`)) return schema;
    throw error;
  }
}

const ZOD = {
  override({ zodSchema, jsonSchema }: { readonly zodSchema: ZodPart; readonly jsonSchema: MutableJson }): void {
    const { def } = zodSchema._zod;
    const lose = (keyword: string, reason: (by: string) => string) => mark(jsonSchema, LOST, keyword, reason("zod"));
    for (const { _zod } of [zodSchema, ...(def.checks ?? [])]) markZodCheck(_zod.def, jsonSchema, lose);
    if (def.coerce) lose("coerce", changed);
    if (def.type === "catch") lose("catch", changed);
    if ("file promise success".split(" ").includes(def.type ?? "")) {
      mark(jsonSchema, REFUSED, "type", unwritten("zod", `${def.type} is no type of JSON`));
    }
    if (def.type !== "pipe") return;
    if (def.in?._zod.def.type === "transform") lose("preprocess", changed);
    else if (def.transform !== undefined || def.out?._zod.def.type === "transform") {
      mark(jsonSchema, REFUSED, "transform", transformed("zod"));
    } else {
      const { $schema: _, ...out } = writeZod(def.out!["~standard"]!.jsonSchema!.input);
      jsonSchema.allOf = [...listOr(jsonSchema.allOf), out];
    }
  },
};

/** Marks what a check of zod loses, and writes the flags of its pattern. */
function markZodCheck(def: ZodDef, schema: MutableJson, lose: (keyword: string, reason: typeof checked) => void): void {
  const { check, format, pattern } = def;
  if (check === undefined) return;
  if (check === "overwrite") lose(check, changed);
  else if (!ZOD_CHECKS.split(" ").includes(check)) lose(check, checked);
  const isInCode = pattern === undefined
    ? format !== "url" || def.hostname || def.protocol || def.normalize
    : format === "credit_card" || format === "iban";
  if (check === "string_format" && isInCode) lose(format ?? check, checked);
  if (pattern === undefined) return;
  for (const part of [schema, ...listOr(schema.allOf)] as MutableJson[]) {
    if (part.pattern === pattern.source) part.pattern = patternOf(pattern, schema, "zod");
  }
}

/** A schema or an action of valibot. */
interface ValibotPart {
  readonly kind: string;
  readonly type: string;
  readonly requirement?: unknown;
  readonly fallback?: unknown;
}

interface ValibotOverride {
  readonly valibotSchema: ValibotPart;
  readonly valibotAction: ValibotPart;
  readonly jsonSchema: MutableJson;
  readonly errors?: readonly string[];
}

/** Without a mode, valibot writes all schemas of a pipe into one. */
const VALIBOT = {
  typeMode: undefined,
  errorMode: "ignore",
  overrideSchema({ valibotSchema, jsonSchema, errors }: ValibotOverride): MutableJson {
    if (valibotSchema.fallback !== undefined) mark(jsonSchema, LOST, "fallback", changed("valibot"));
    return errors === undefined
      ? jsonSchema
      : mark(jsonSchema, REFUSED, valibotSchema.type, unwritten("valibot", errors.join(" ")));
  },
  overrideAction({ valibotAction: { kind, type, requirement }, jsonSchema, errors }: ValibotOverride): MutableJson {
    // These formats of JSON Schema are others than those that valibot checks.
    const isOther = type === "iso_time" || type === "iso_date_time";
    if (isOther) delete jsonSchema.format;
    if (requirement instanceof RegExp) {
      const pattern = patternOf(requirement, jsonSchema, "valibot");
      if (jsonSchema.pattern === requirement.source) jsonSchema.pattern = pattern;
      else if (isOther || errors !== undefined) jsonSchema.allOf = [...listOr(jsonSchema.allOf), { pattern }];
      return jsonSchema;
    }
    if (errors === undefined || "brand flavor readonly finite".split(" ").includes(type)) return jsonSchema;
    if (kind !== "transformation") return mark(jsonSchema, LOST, type, checked("valibot"));
    const isSameType = /^(trim|normalize|to_.*_case|to_m)/.test(type);
    return isSameType
      ? mark(jsonSchema, LOST, type, changed("valibot"))
      : mark(jsonSchema, REFUSED, type, transformed("valibot"));
  },
};

/** A type of arktype. */
interface ArkType {
  readonly toJsonSchema?: (options: object) => JsonObject;
  readonly references?: readonly { readonly kind: string; readonly instance?: unknown }[];
}

interface ArkContext {
  readonly code: string;
  readonly base: MutableJson;
  readonly domain?: string;
  readonly proto?: { readonly name: string };
  readonly pattern?: string;
  readonly predicate?: { readonly name: string };
}

const ARKTYPE = {
  default({ code, base, domain, proto }: ArkContext): MutableJson {
    return mark(base, REFUSED, code, unwritten("arktype", `${domain ?? proto?.name ?? code} is no type of JSON`));
  },
  defaultValue({ base }: ArkContext): void {
    mark(base, REFUSED, "default", unwritten("arktype", "the default is no JSON"));
  },
  morph: ({ base }: ArkContext): MutableJson => mark(base, REFUSED, "morph", transformed("arktype")),
  // Of URLs, arktype writes the format.
  predicate({ base, predicate }: ArkContext): MutableJson {
    return predicate?.name === "isParsableUrl" ? base : mark(base, LOST, "predicate", checked("arktype"));
  },
  patternIntersection({ base, pattern }: ArkContext): MutableJson {
    base.allOf = [...listOr(base.allOf), { pattern }];
    return base;
  },
};

/** Writes a type of arktype. Its standard method leaves out defaults, and patterns never have their flags. */
function writeArkType(type: ArkType): JsonObject | undefined {
  const schema = type.toJsonSchema?.({ target: TARGET, fallback: ARKTYPE });
  const patterns = new Map<unknown, RegExp>();
  for (const { instance } of type.references ?? []) {
    if (instance instanceof RegExp) patterns.set(instance.source, instance);
  }
  return schema && JSON.parse(JSON.stringify(schema), function (this: MutableJson, key: string, value: Json): Json {
    const pattern = key === "pattern" ? patterns.get(value) : undefined;
    return pattern === undefined ? value : patternOf(pattern, this, "arktype");
  });
}
