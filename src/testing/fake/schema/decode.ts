/**
 * Reads the bodies of requests as kube-apiserver's types of a kind do: types are checked, fields that the kind does not
 * have are dropped and named, and defaults are filled in.
 *
 * @module
 */
import { parseQuantity } from "../../../engine/api/quantity.ts";
import { refusal } from "../../../engine/protocol/refusal.ts";
import { jsonType } from "../wire/go_text.ts";
import {
  cloneJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJson,
  setMember,
} from "../../../engine/api/json.ts";
import { textOf } from "../../../engine/api/members.ts";
import { COMPUTED } from "./computed.ts";
import { ZERO } from "./schema.ts";
import { prune } from "../../../operator/schema/values/prune.ts";
import { type Field, oncePer, type Schema, type Struct } from "../../../operator/schema/values/object_schema.ts";
import { strictFaults } from "./strict.ts";

/** The treatment of fields that a kind does not have: the query parameter `fieldValidation`. */
export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** An object, as the server's type of its kind has it. */
interface Decoded {
  /** The object. */
  readonly object: MutableJson;
  /** The faults that a strict decoding refuses, at most 100: `unknown field "spec.foo"`. */
  readonly faults: readonly string[];
}

/** Why a value is not of its type, in Go's words. */
class Mismatch extends Error {
  /** `"Mismatch"`. */
  override readonly name = "Mismatch";
}

/** A kind, as errors name it. */
interface NamedKind {
  readonly kind: string;
  readonly version: string;
}

/**
 * Reads an object of a built-in kind, which was parsed from `text`.
 *
 * @throws {StatusError} 400 for a value of another type.
 */
export function decodeTyped(schema: Struct, object: JsonObject, { kind, version }: NamedKind, text?: string): Decoded {
  const decoder = new Decoder();
  try {
    const decoded = decoder.struct(schema, object);
    const isStrict = !decoder.drops && (text === undefined || text === JSON.stringify(object));
    const faults = isStrict ? [] : strictFaults(text ?? JSON.stringify(object), schema);
    return { object: decoded, faults: faults.map(({ text }) => text) };
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    throw refusal(
      400,
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${error.message}`,
    );
  }
}

/** Returns a type's zero value: what the server makes of an absent object. */
export function emptyOf(schema: Struct): MutableJson {
  return new Decoder().struct(schema, {});
}

/** Reads values as Go does, member by member, and keeps where it is for errors. */
class Decoder {
  /** True if there are fields that the type does not have. */
  drops = false;
  /** The names of the fields, for mismatches. */
  readonly #names: string[] = [];
  #owner = "";

  struct(schema: Struct, value: JsonObject): MutableJson {
    const object: MutableJson = {};
    for (const { field, absent, isFilled } of this.#membersIn(schema, value)) {
      const given = value[field.name] ?? undefined;
      const member = given === undefined && !isFilled ? absent : this.#member(schema, field, given);
      if (member !== undefined) object[field.name] = member;
    }
    COMPUTED[schema.name]?.(object, value);
    return object;
  }

  /**
   * Returns the fields that a value has, or that are filled in, in the order of the type. Most fields are absent: it
   * does not look for them.
   */
  #membersIn(schema: Struct, value: JsonObject): readonly Member[] {
    const { always, others } = membersOf(schema);
    const found = always.slice();
    for (const key in value) {
      const member = others.get(key);
      if (member !== undefined) found.push(member);
      else if (!others.has(key) && value[key] !== undefined) this.drops = true;
    }
    return found.sort((a, b) => a.at - b.at);
  }

  #member(owner: Struct, field: Field, given: Json | undefined): Json | undefined {
    const { schema } = field;
    const value = given ?? (field.default === undefined ? undefined : cloneJson(field.default));
    this.#names.push(field.name);
    const outer = this.#owner;
    this.#owner = owner.name;
    const read = this.#value(schema, value ?? {});
    this.#owner = outer;
    this.#names.pop();
    if (!field.omitEmpty && isEmptyReference(schema, read)) return null;
    if (!field.omitEmpty || field.pointer || !isZero(schema, read)) return read;
    // A field whose zero value is left out has its default all the same.
    return field.default === undefined || given === undefined ? undefined : cloneJson(field.default);
  }

  #value(schema: Schema, value: Json): Json {
    switch (schema.type) {
      case "struct":
        return this.struct(schema, isObject(value) ? value : this.#refuse(value, schema));
      case "map": {
        const map: MutableJson = {};
        for (const [key, member] of sorted(isObject(value) ? value : this.#refuse(value, schema))) {
          setMember(
            map,
            key,
            member === null || member === undefined ? zeroOf(schema.values) : this.#value(schema.values, member),
          );
        }
        return map;
      }
      case "list": {
        const list: Json[] = [];
        for (const item of isList(value) ? value : this.#refuse(value, schema)) {
          list.push(item === null ? zeroOf(schema.items) : this.#value(schema.items, item));
        }
        return list;
      }
      case "any":
        return value;
      case "int32":
      case "int64":
        return this.#integer(schema, value);
      case "intOrString":
        return typeof value === "string" ? value : this.#integer(INT32, value);
      case "number":
      case "boolean":
      case "string": {
        const found = typeof value;
        return found === schema.type ? value : this.#refuse(value, schema);
      }
      default:
        return readSpecial[schema.type](value);
    }
  }

  #integer(schema: Schema, value: Json): number {
    if (typeof value !== "number") return this.#refuse(value, schema);
    const fits = schema.type === "int64"
      ? Number.isInteger(value)
      : value === Math.trunc(value) && Math.abs(value + 0.5) < 2 ** 31;
    return fits ? value : this.#refuse(value, schema, ` ${value}`);
  }

  #refuse(value: Json, schema: Schema, what = ""): never {
    const place = this.#names.length === 0
      ? "Go value"
      : `Go struct field ${this.#owner.slice(this.#owner.lastIndexOf(".") + 1)}.${this.#names.join(".")}`;
    throw new Mismatch(`json: cannot unmarshal ${jsonType(value)}${what} into ${place} of type ${goType(schema)}`);
  }
}

/** A field, and what its absence means. */
interface Member {
  readonly field: Field;
  /** Its place among the fields. */
  readonly at: number;
  /** The value where the field is absent and is not filled in. */
  readonly absent: Json | undefined;
  /** True if the field has a default, or is a struct that is always there. */
  readonly isFilled: boolean;
}

/** The fields of a type. */
interface Members {
  /** Those that have a value even where they are absent. */
  readonly always: readonly Member[];
  /** The others, by name; undefined for those of `always`. */
  readonly others: ReadonlyMap<string, Member | undefined>;
}

const membersOf = oncePer((schema: Struct): Members => {
  const all = [...schema.fields.values()].map(memberOf);
  const isAlways = ({ absent, isFilled }: Member): boolean => absent !== undefined || isFilled;
  const others = new Map(all.map((member) => [member.field.name, isAlways(member) ? undefined : member]));
  return { always: all.filter(isAlways), others };
});

function memberOf(field: Field, at: number): Member {
  const { schema, pointer, omitEmpty } = field;
  const isStruct = schema.type === "struct";
  return {
    field,
    at,
    absent: omitEmpty ? undefined : pointer ? null : isStruct ? undefined : ZERO[schema.type] ?? null,
    isFilled: field.default !== undefined || (!pointer && isStruct),
  };
}

const INT32: Schema = { type: "int32" };

/** Readers of types that have a form of their own in Go. */
const readSpecial: Readonly<Record<string, (value: Json) => Json>> = {
  bytes: (value) => {
    const text = typeof value === "string" ? value.replace(/[\r\n]/g, "") : "%";
    const end = text.search(/[^A-Za-z0-9+/=]|=[^=]/);
    if (end >= 0 || text.length % 4 !== 0) {
      throw new Mismatch(`illegal base64 data at input byte ${end >= 0 ? end : text.length - text.length % 4}`);
    }
    return text;
  },
  time: (value) => `${instantOf(value, "").toISOString().slice(0, 19)}Z`,
  microTime: (value) => {
    const micros = /\.\d{6}(?!\d)/.exec(textOf(value))?.[0];
    return `${instantOf(micros === undefined ? "" : value, ".000000", value).toISOString().slice(0, 19)}${micros}Z`;
  },
  quantity: (value) => {
    try {
      return String(parseQuantity(value as string | number));
    } catch {
      throw new Mismatch("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    }
  },
};

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** @throws {Mismatch} for a text that is no time, in Go's words. */
function instantOf(value: Json, fraction: string, given = value): Date {
  const text = textOf(value);
  const time = new Date(text.replace(/\.\d+/, ""));
  if (TIME.test(text) && !Number.isNaN(time.getTime())) return time;
  const quoted = JSON.stringify(textOf(given));
  throw new Mismatch(
    `parsing time ${quoted} as "2006-01-02T15:04:05${fraction}Z07:00": cannot parse ${quoted} as "2006"`,
  );
}

/** The members of a map in the order in which Go writes them. */
function sorted(map: JsonObject): [key: string, member: Json | undefined][] {
  const members = Object.entries(map);
  const isSorted = members.every(([key], at) => at === 0 || members[at - 1][0] < key);
  return isSorted ? members : members.sort(([a], [b]) => a < b ? -1 : 1);
}

function zeroOf(schema: Schema): Json {
  if (schema.type === "bytes") return "";
  return schema.type === "struct" ? emptyOf(schema) : ZERO[schema.type] ?? null;
}

/** True for an empty list or map, of which the server's storage keeps nothing. */
function isEmptyReference({ type }: Schema, value: Json): boolean {
  return (type === "list" || type === "map") && Object.keys(value as object).length === 0;
}

/** True for a value that Go leaves out: the zero value, an empty list or map. */
function isZero(schema: Schema, value: Json): boolean {
  if (typeof value !== "object" || value === null) return value === null || value === ZERO[schema.type];
  if (schema.type === "struct" || schema.type === "any") return false;
  for (const _ in value) return false;
  return true;
}

/** `"v1.Container"` of `"core/v1.Container"`. */
function goType(schema: Schema): string {
  switch (schema.type) {
    case "struct":
      return schema.name.slice(schema.name.indexOf("/") + 1);
    case "list":
      return `[]${goType(schema.items)}`;
    case "map":
      return `map[string]${goType(schema.values)}`;
    default:
      return { boolean: "bool", number: "float64" }[schema.type as string] ?? schema.type;
  }
}

/**
 * Reads an object of a custom kind: drops fields and nulls that its schema does not have, and fills in its defaults.
 * Values of other types are left as they are, for the validation; `metadata` is read as that of a built-in kind.
 *
 * @throws {StatusError} 400 for metadata of other types.
 */
export function decodeCustom(schema: Struct, object: JsonObject, kind: NamedKind): Decoded {
  const unknown: string[] = [];
  const { metadata = {} } = object;
  // Unlike the other fields of custom kinds, metadata is a struct that is always there.
  const field: Field = { ...schema.fields.get("metadata")!, pointer: false, omitEmpty: false };
  const typed = decodeTyped({ ...schema, fields: new Map([["metadata", field]]) }, { metadata }, kind);
  const pruned = prune(schema, object, "", unknown) as MutableJson;
  const faults = [...typed.faults, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
  return { object: { ...pruned, metadata: typed.object.metadata }, faults };
}
