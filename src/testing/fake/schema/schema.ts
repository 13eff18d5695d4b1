/**
 * Schemas of kinds: the types of fields, how they are merged, and what is filled in.
 *
 * Built-in kinds have generated schemas, and custom kinds those of their definitions; both are read as
 * {@linkcode Schema}. One walker for each question uses them: patches, apply and managedFields, defaults, validation,
 * protobuf and `kubectl explain`.
 *
 * @module
 */
import { isList, isObject, type Json, type JsonObject } from "../wire/json.ts";
import { objectOr, textOf } from "../wire/members.ts";
import { SCHEMA_TEXTS } from "./texts.ts";

/** The types of values without members. */
const SCALAR_TYPES = [
  "string",
  "int32",
  "int64",
  "number",
  "boolean",
  "bytes",
  "time",
  "microTime",
  "quantity",
  "intOrString",
  // Any JSON: RawExtension, FieldsV1, JSONSchemaProps' default, a custom kind's unknown fields.
  "any",
] as const;

/** The type of a value that has no members. */
export type ScalarType = typeof SCALAR_TYPES[number];

/** The zero values of types that Go has no pointers for. */
export const ZERO: Readonly<Record<string, Json>> = {
  boolean: false,
  int32: 0,
  int64: 0,
  intOrString: 0,
  microTime: null,
  number: 0,
  quantity: "0",
  string: "",
  time: null,
};

/** The type of a value. */
export type Schema = ScalarSchema | Struct | MapOf | ListOf;

/** A value without members, or one that is not looked into. */
export interface ScalarSchema {
  readonly type: ScalarType;
  /** True for a value of type `"any"` that an apply owns as one field: RawExtension. */
  readonly atomic?: boolean;
  /** For `"any"`: the fields of which JSON shows one, where protobuf has a message of them (JSONSchemaPropsOrBool). */
  readonly union?: Struct;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** An object with named fields. */
export interface Struct {
  readonly type: "struct";
  /** Group's Go package, version and type: `"core/v1.PodSpec"`; `""` in custom kinds. */
  readonly name: string;
  /** The fields by name, in the order of Go's JSON; those of embedded structs are among them. */
  readonly fields: ReadonlyMap<string, Field>;
  /** True if an apply owns it as one field. */
  readonly atomic: boolean;
  /** True if a strategic merge knows `$retainKeys` for it, and clears other members of a union. */
  readonly retainKeys: boolean;
  /** True if unknown fields are kept: `x-kubernetes-preserve-unknown-fields`. */
  readonly open: boolean;
  /** True if it is an object with apiVersion, kind and metadata: `x-kubernetes-embedded-resource`. */
  readonly embedded: boolean;
  /** The messages of protobuf that are embedded, by number, for the codec. */
  readonly inlined: ReadonlyMap<number, Struct>;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** An object with any keys. */
export interface MapOf {
  readonly type: "map";
  /** The type of the values. */
  readonly values: Schema;
  /** True if an apply owns it as one field. */
  readonly atomic: boolean;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** A list. */
export interface ListOf {
  readonly type: "list";
  /** The type of the elements. */
  readonly items: Schema;
  /** The way an apply merges it. */
  readonly list: "atomic" | "set" | "map";
  /** The keys of a list of type map: `["containerPort", "protocol"]`. */
  readonly keys: readonly string[];
  /** The way a strategic merge changes it: by elements of this key, as a set (`""`), or as one value (undefined). */
  readonly mergeKey: string | undefined;
  /** The rules of a custom kind's schema. */
  readonly rules?: JsonObject;
}

/** A field of a struct. */
export interface Field {
  /** Its name in JSON. */
  readonly name: string;
  /** Its type. Read at its first use, since types may contain themselves. */
  readonly schema: Schema;
  /** Its number in protobuf; 0 for custom kinds, and for fields of {@linkcode Struct.inlined}. */
  readonly number: number;
  /** True if Go has a pointer for it, so that a zero value is kept. Always true for custom kinds. */
  readonly pointer: boolean;
  /** True if Go leaves it out of JSON where it is absent or, being no pointer, zero; structs are never zero to it. */
  readonly omitEmpty: boolean;
  /** True if the schema requires it. */
  readonly required: boolean;
  /** True if null is a value: custom kinds. */
  readonly nullable: boolean;
  /**
   * The value that the server fills in where it is absent or, being no pointer, zero; undefined for nothing. A struct
   * that is no pointer is always there in Go: the defaults of its fields apply where it is absent, too.
   */
  readonly default: Json | undefined;
  /** The values that are allowed; empty for any. */
  readonly allowed: readonly string[];
}

/** Returns a function that computes a value for each key once. */
export function oncePer<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>();
  return (key) => {
    let value = values.get(key);
    if (value === undefined) values.set(key, value = compute(key));
    return value;
  };
}

/**
 * Returns the schema of a built-in kind, also of one that is no resource: Scale, Eviction, Binding, TokenRequest,
 * reviews; and of DeleteOptions and Status in any built-in group. Undefined for other kinds.
 */
export function schemaOf(group: string, version: string, kind: string): Struct | undefined {
  const text = schemaText(`${group === "" ? "core" : group.split(".")[0]}/${version}`);
  if (text === undefined || text.apiVersion !== (group === "" ? version : `${group}/${version}`)) return undefined;
  return text.kind(kind) ?? schemaText("meta/v1")!.kind(kind);
}

/**
 * Returns a built-in type: `"core/v1.PodSpec"`, `"meta/v1.ListMeta"`.
 *
 * @throws {Error} if there is none of this name.
 */
export function structNamed(name: string): Struct {
  const dot = name.lastIndexOf(".");
  const found = schemaText(name.slice(0, dot))?.struct(name.slice(dot + 1));
  if (found === undefined) throw new Error(`Cannot read the schema of "${name}": no built-in type has this name`);
  return found;
}

const texts = new Map<string, SchemaText>();

function schemaText(id: string): SchemaText | undefined {
  let text = texts.get(id);
  if (text === undefined && Object.hasOwn(SCHEMA_TEXTS, id)) {
    text = new SchemaText(id, SCHEMA_TEXTS[id]);
    texts.set(id, text);
  }
  return text;
}

const SCALARS: ReadonlyMap<string, ScalarSchema> = new Map(SCALAR_TYPES.map((type) => [type, { type }]));

/** The types of a group's version; each is read at its first use. */
class SchemaText {
  readonly apiVersion: string;
  readonly #id: string;
  readonly #unread = new Map<string, string>();
  readonly #structs = new Map<string, Struct>();
  readonly #kinds = new Set<string>();
  readonly #unions = new Set<string>();

  constructor(id: string, text: string) {
    this.#id = id;
    const [apiVersion, ...blocks] = text.split("\n\n");
    this.apiVersion = apiVersion;
    for (const block of blocks) {
      const [name, ...marks] = block.split("\n", 1)[0].split(" ");
      this.#unread.set(name, block);
      if (marks.includes("kind")) this.#kinds.add(name);
      if (marks.includes("union")) this.#unions.add(name);
    }
  }

  kind(name: string): Struct | undefined {
    return this.#kinds.has(name) ? this.struct(name) : undefined;
  }

  struct(name: string): Struct | undefined {
    const known = this.#structs.get(name);
    const block = this.#unread.get(name);
    if (known !== undefined || block === undefined) return known;
    const struct = this.#readStruct(name, block);
    this.#structs.set(name, struct);
    return struct;
  }

  /** Reads a type as a field has it: `[set]string`, `*meta/v1.LabelSelector`. */
  schema(type: string, mergeKey: string | undefined): Schema {
    const [all, bracket, mark] = /^([[{])(.*?)[\]}]/.exec(type) ?? [""];
    const rest = type.slice(all.length);
    if (bracket === "{") {
      return { type: "map", values: this.schema(rest, undefined), atomic: mark !== "" } satisfies MapOf;
    }
    if (bracket === "[") {
      return {
        type: "list",
        items: this.schema(rest, undefined),
        list: mark === "" ? "atomic" : mark === "set" ? mark : "map",
        keys: mark === "" || mark === "set" ? [] : mark.split(","),
        mergeKey,
      } satisfies ListOf;
    }
    const scalar = SCALARS.get(type);
    if (scalar !== undefined) return scalar;
    if (this.#unions.has(type)) return { type: "any", union: this.struct(type) };
    return type.includes(".") ? structNamed(type) : structNamed(`${this.#id}.${type}`);
  }

  #readStruct(name: string, block: string): Struct {
    const [first, ...lines] = block.split("\n");
    const marks = first.split(" ");
    const fields = new Map<string, Field>();
    const inlined = new Map<number, Struct>();
    if (marks.includes("kind")) {
      for (const name of ["kind", "apiVersion"]) fields.set(name, readField(this, `${name} 0 string`));
    }
    for (const line of lines) {
      const field = readField(this, line);
      if (field.name !== "+") fields.set(field.name, field);
      else {
        const { schema, number } = field;
        if (schema.type !== "struct") continue;
        inlined.set(number, schema);
        for (const [name, inner] of schema.fields) fields.set(name, embedded(inner));
      }
    }
    return {
      type: "struct",
      name: `${this.#id}.${name}`,
      fields,
      atomic: marks.includes("atomic"),
      retainKeys: marks.includes("retainKeys"),
      open: false,
      embedded: false,
      inlined,
    };
  }
}

const LINE = /^(\S+?)(!?)(-?) (\d+) (\*?)(\S+)(?: (atomic|granular))?(?: merge=(\S*))?(?: enum=(\S*))?(?: =(.*))?$/;

/** Reads a field, of which the type is read at its first use. */
function readField(text: SchemaText, line: string): Field {
  const [, name, required, kept, number, pointer, type, mark, mergeKey, values, value] = LINE.exec(line)!;
  let schema: Schema | undefined;
  const read = (): Schema => {
    const found = text.schema(type, mergeKey);
    return mark === undefined || found.type === "list" ? found : { ...found, atomic: mark === "atomic" };
  };
  return {
    name,
    number: Number(number),
    pointer: pointer !== "",
    omitEmpty: kept === "",
    required: required !== "",
    nullable: false,
    default: value === undefined ? undefined : JSON.parse(value),
    allowed: values?.split("|") ?? [],
    get schema(): Schema {
      return schema ??= read();
    },
  };
}

/** Returns the same field in a struct that embeds its own. */
function embedded(field: Field): Field {
  return Object.create(field, { number: { value: 0 } });
}

const OPEN_API_TYPES: Readonly<Record<string, ScalarType>> = {
  boolean: "boolean",
  integer: "int64",
  number: "number",
  string: "string",
};

/**
 * Reads the schema of a custom kind: `spec.versions[].schema.openAPIV3Schema` of its definition. Without one, all
 * fields are kept. Objects have the metadata of all kinds, which is `objectMeta`.
 */
export function schemaOfKind(rules: JsonObject | undefined, objectMeta: Schema): Struct {
  const open: JsonObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return structOf({ ...rules ?? open, "x-kubernetes-embedded-resource": true }, objectMeta);
}

/** Reads a structural OpenAPI schema. Objects with `x-kubernetes-embedded-resource` have the metadata `objectMeta`. */
export function schemaOfOpenApi(rules: JsonObject, objectMeta: Schema): Schema {
  const { type, additionalProperties } = rules;
  if (rules["x-kubernetes-int-or-string"] === true) return { type: "intOrString", rules };
  if (type === "array") return listOf(rules, objectMeta);
  if (additionalProperties !== undefined && additionalProperties !== false) {
    const values = schemaOfOpenApi(objectOr(additionalProperties), objectMeta);
    return { type: "map", values, atomic: isAtomic(rules), rules };
  }
  if (type === "object" || isObject(rules.properties)) return structOf(rules, objectMeta);
  return {
    type: type === "integer" && rules.format === "int32" ? "int32" : OPEN_API_TYPES[textOf(type)] ?? "any",
    rules,
  };
}

function listOf(rules: JsonObject, objectMeta: Schema): Schema {
  const list = rules["x-kubernetes-list-type"];
  return {
    type: "list",
    items: schemaOfOpenApi(objectOr(rules.items), objectMeta),
    list: list === "set" || list === "map" ? list : "atomic",
    keys: stringsOf(rules["x-kubernetes-list-map-keys"]),
    mergeKey: undefined,
    rules,
  };
}

function structOf(rules: JsonObject, objectMeta: Schema): Struct {
  const embedded = rules["x-kubernetes-embedded-resource"] === true;
  const required = stringsOf(rules.required);
  const fields = new Map<string, Field>();
  const add = (name: string, schema: Schema, own: JsonObject): void =>
    void fields.set(name, {
      name,
      schema,
      number: 0,
      pointer: true,
      omitEmpty: true,
      required: required.includes(name),
      nullable: own.nullable === true,
      default: own.default,
      allowed: stringsOf(own.enum),
    });
  for (const [name, own] of Object.entries(objectOr(rules.properties))) {
    add(name, schemaOfOpenApi(objectOr(own), objectMeta), objectOr(own));
  }
  if (embedded) {
    for (const name of ["apiVersion", "kind"]) add(name, STRING, {});
    add("metadata", objectMeta, {});
  }
  return {
    type: "struct",
    name: "",
    fields,
    atomic: isAtomic(rules),
    retainKeys: false,
    open: rules["x-kubernetes-preserve-unknown-fields"] === true,
    embedded,
    inlined: new Map(),
    rules,
  };
}

const STRING: ScalarSchema = { type: "string" };

function isAtomic(rules: JsonObject): boolean {
  return rules["x-kubernetes-map-type"] === "atomic";
}

function stringsOf(value: Json | undefined): string[] {
  return isList(value) ? value.filter((item) => typeof item === "string") : [];
}
