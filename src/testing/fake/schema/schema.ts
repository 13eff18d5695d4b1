/**
 * Schemas of built-in kinds, which are generated.
 *
 * {@linkcode schemaOf} is the entry point. Schemas of custom kinds are read by `schema/values/object_schema.ts`.
 *
 * @module
 */
import type { Json, JsonObject } from "../../../engine/api/json.ts";
import type { Field, ScalarSchema, Schema, Struct } from "../../../operator/schema/values/object_schema.ts";
import { SCHEMA_TEXTS } from "./texts.ts";

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

/** The types of values without members, as OpenAPI has them. */
export const SCALARS: Readonly<Record<ScalarSchema["type"], JsonObject>> = {
  string: { type: "string" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  number: { type: "number", format: "double" },
  boolean: { type: "boolean" },
  bytes: { type: "string", format: "byte" },
  time: { type: "string", format: "date-time" },
  microTime: { type: "string", format: "date-time" },
  quantity: { oneOf: [{ type: "string" }, { type: "number" }] },
  intOrString: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
};

function isScalar(type: string): type is ScalarSchema["type"] {
  return Object.hasOwn(SCALARS, type);
}

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
      return { type: "map", values: this.schema(rest, undefined), atomic: mark !== "" };
    }
    if (bracket === "[") {
      return {
        type: "list",
        items: this.schema(rest, undefined),
        list: mark === "" ? "atomic" : mark === "set" ? mark : "map",
        keys: mark === "" || mark === "set" ? [] : mark.split(","),
        mergeKey,
      };
    }
    if (isScalar(type)) return { type };
    if (this.#unions.has(type)) return { type: "any", union: this.struct(type) };
    return type.includes(".") ? structNamed(type) : structNamed(`${this.#id}.${type}`);
  }

  #readStruct(name: string, block: string): Struct {
    const [first, ...lines] = block.split("\n");
    const marks = first.split(" ");
    const fixed = marks.find((mark) => mark.startsWith("fixed="))?.slice("fixed=".length).split(",");
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
      rules: fixed && { fixed },
    };
  }
}

const LINE =
  /^(\S+?)(!?)(-?) (\d+) (\*?)(\S+)(?: (atomic|granular))?(?: merge=(\S*))?(?: enum=(\S*))?(?: ~(\S+))?(?: =(.*))?$/;

/** Reads a field, of which the type is read at its first use. */
function readField(text: SchemaText, line: string): Field {
  const [, name, required, kept, number, pointer, type, mark, mergeKey, values, tags, value] = LINE.exec(line)!;
  let schema: Schema | undefined;
  const read = (): Schema => {
    const plain = text.schema(type, mergeKey);
    const rules = tags && Object.fromEntries(tags.split(",").map((tag) => tag.split("=")));
    const found = rules ? { ...plain, rules } : plain;
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
