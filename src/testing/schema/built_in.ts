import type { Json } from "../wire/json.ts";
import type { Field, ListOf, MapOf, ScalarSchema, ScalarType, Schema, Struct } from "./schema.ts";
import { SCHEMA_TEXTS } from "./texts.ts";

/**
 * Returns the schema of a built-in kind, also of one that is no resource: Scale, Eviction, Binding, TokenRequest,
 * reviews; and of DeleteOptions and Status in any built-in group. Undefined for other kinds.
 */
export function schemaOf(group: string, version: string, kind: string): Struct | undefined {
  const text = textOf(`${group === "" ? "core" : group.split(".")[0]}/${version}`);
  if (text === undefined || text.apiVersion !== (group === "" ? version : `${group}/${version}`)) return undefined;
  return text.kind(kind) ?? textOf("meta/v1")!.kind(kind);
}

/**
 * Returns a built-in type: `"core/v1.PodSpec"`, `"meta/v1.ListMeta"`.
 *
 * @throws {Error} if there is none of this name.
 */
export function structNamed(name: string): Struct {
  const dot = name.lastIndexOf(".");
  const found = textOf(name.slice(0, dot))?.struct(name.slice(dot + 1));
  if (found === undefined) throw new Error(`Cannot read the schema of "${name}": no built-in type has this name`);
  return found;
}

const texts = new Map<string, SchemaText>();

function textOf(id: string): SchemaText | undefined {
  let text = texts.get(id);
  if (text === undefined && Object.hasOwn(SCHEMA_TEXTS, id)) {
    text = new SchemaText(id, SCHEMA_TEXTS[id]);
    texts.set(id, text);
  }
  return text;
}

const SCALARS: Readonly<Partial<Record<string, ScalarSchema>>> = Object.fromEntries(
  ([
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
    "any",
  ] as const).map((type: ScalarType) => [type, { type }]),
);

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
    const scalar = SCALARS[type];
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
      for (const name of ["kind", "apiVersion"]) fields.set(name, new TextField(this, `${name} 0 string`));
    }
    for (const line of lines) {
      const field = new TextField(this, line);
      if (field.name !== "+") fields.set(field.name, field);
      else {
        const embedded = field.schema as Struct;
        inlined.set(field.number, embedded);
        for (const [name, inner] of embedded.fields) fields.set(name, (inner as TextField).embedded());
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

/** A field, of which the type is read at its first use. */
class TextField implements Field {
  readonly name: string;
  readonly number: number;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly required: boolean;
  readonly nullable = false;
  readonly default: Json | undefined;
  readonly allowed: readonly string[];
  readonly #text: SchemaText;
  readonly #line: string;
  readonly #type: string;
  readonly #mark: string | undefined;
  readonly #mergeKey: string | undefined;
  #schema: Schema | undefined;

  constructor(text: SchemaText, line: string, number?: number) {
    const [, name, required, kept, written, pointer, type, mark, mergeKey, values, value] = LINE.exec(line)!;
    this.name = name;
    this.number = number ?? Number(written);
    this.pointer = pointer !== "";
    this.omitEmpty = kept === "";
    this.required = required !== "";
    this.default = value === undefined ? undefined : JSON.parse(value);
    this.allowed = values?.split("|") ?? [];
    this.#text = text;
    this.#line = line;
    this.#type = type;
    this.#mark = mark;
    this.#mergeKey = mergeKey;
  }

  get schema(): Schema {
    return this.#schema ??= this.#readSchema();
  }

  /** The same field in a struct that embeds its own. */
  embedded(): Field {
    return new TextField(this.#text, this.#line, 0);
  }

  #readSchema(): Schema {
    const schema = this.#text.schema(this.#type, this.#mergeKey);
    return this.#mark === undefined ? schema : { ...schema as Struct, atomic: this.#mark === "atomic" };
  }
}
