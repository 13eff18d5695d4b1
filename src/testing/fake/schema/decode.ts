/**
 * Reads the bodies of requests as kube-apiserver's types of a kind do: types are checked, fields that the kind does not
 * have are dropped and named, and defaults are filled in.
 *
 * @module
 */
import { parseQuantity } from "../../../api/quantity.ts";
import { badRequest } from "../../../client/protocol/refusal.ts";
import { cloneJson, isObject, type Json, type JsonObject, type MutableJson, setMember, textOf } from "../wire/json.ts";
import { COMPUTED } from "./computed.ts";
import { type Field, type ScalarSchema, type Schema, schemaOf, type Struct, structNamed } from "./schema.ts";
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
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${error.message}`);
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
        for (const item of Array.isArray(value) ? value as readonly Json[] : this.#refuse(value, schema)) {
          list.push(item === null ? zeroOf(schema.items) : this.#value(schema.items, item));
        }
        return list;
      }
      case "any":
        return value;
      case "int32":
      case "int64":
        return this.#integer(schema, value);
      case "number":
        return typeof value === "number" ? value : this.#refuse(value, schema);
      case "boolean":
        return typeof value === "boolean" ? value : this.#refuse(value, schema);
      case "intOrString":
        return typeof value === "string" ? value : this.#integer(INT32, value);
      case "string":
        return typeof value === "string" ? value : this.#refuse(value, schema);
      default:
        return readSpecial[schema.type](value);
    }
  }

  #integer(schema: Schema, value: Json): number {
    if (typeof value !== "number") this.#refuse(value, schema);
    const fits = schema.type === "int64"
      ? Number.isInteger(value)
      : value === Math.trunc(Number(value)) && Math.abs(Number(value) + 0.5) < 2 ** 31;
    return fits ? value as number : this.#refuse(value, schema, ` ${value}`);
  }

  #refuse(value: Json, schema: Schema, what = ""): never {
    const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    const place = this.#names.length === 0
      ? "Go value"
      : `Go struct field ${goName(this.#owner)}.${this.#names.join(".")}`;
    throw new Mismatch(`json: cannot unmarshal ${found}${what} into ${place} of type ${goType(schema)}`);
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

const MEMBERS = new WeakMap<Struct, Members>();

function membersOf(schema: Struct): Members {
  let members = MEMBERS.get(schema);
  if (members === undefined) {
    const all = [...schema.fields.values()].map(memberOf);
    const isAlways = ({ absent, isFilled }: Member): boolean => absent !== undefined || isFilled;
    const others = new Map(all.map((member) => [member.field.name, isAlways(member) ? undefined : member]));
    MEMBERS.set(schema, members = { always: all.filter(isAlways), others });
  }
  return members;
}

function memberOf(field: Field, at: number): Member {
  const { schema, pointer, omitEmpty } = field;
  const isNil = pointer || isReference(schema);
  return {
    field,
    at,
    absent: omitEmpty ? undefined : isNil ? null : ZERO[schema.type],
    isFilled: field.default !== undefined || (!isNil && schema.type === "struct"),
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
      throw new Mismatch(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
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

/** The zero values of types that Go has no pointers for. */
const ZERO: Readonly<Record<string, Json>> = {
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

/** The members of a map in the order in which Go writes them. */
function sorted(map: JsonObject): [key: string, member: Json | undefined][] {
  const members = Object.entries(map);
  const isSorted = members.every(([key], at) => at === 0 || members[at - 1][0] < key);
  return isSorted ? members : members.sort(([a], [b]) => a < b ? -1 : 1);
}

/** True if the absence of a value is Go's nil. */
function isReference({ type }: Schema): boolean {
  return type === "map" || type === "list" || type === "bytes" || type === "any";
}

function zeroOf(schema: Schema): Json {
  if (schema.type === "bytes") return "";
  return schema.type === "struct" ? new Decoder().struct(schema, {}) : isReference(schema) ? null : ZERO[schema.type];
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

function goName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
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
  const meta = schema.fields.get("metadata")!.schema as Struct;
  const typed = decodeTyped({ ...schema, fields: new Map([["metadata", metadataField(meta)]]) }, { metadata }, kind);
  const pruned = prune(schema, object, "", unknown) as MutableJson;
  const faults = [...typed.faults, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
  return { object: { ...pruned, metadata: typed.object.metadata }, faults };
}

function metadataField(schema: Struct): Field {
  return {
    name: "metadata",
    schema,
    number: 0,
    pointer: false,
    omitEmpty: false,
    required: false,
    nullable: false,
    default: undefined,
    allowed: [],
  };
}

const EMBEDDED: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

function prune(schema: Schema, value: Json, path: string, unknown: string[]): Json {
  if (schema.type === "list") {
    if (!Array.isArray(value)) return value;
    return (value as readonly Json[]).map((item, at) => prune(schema.items, item, `${path}[${at}]`, unknown));
  }
  if (!isObject(value) || (schema.type !== "struct" && schema.type !== "map")) return value;
  const object: MutableJson = {};
  for (const key in value) {
    const member = value[key];
    const place = path === "" ? key : `${path}.${key}`;
    if (schema.type === "map") setMember(object, key, prune(schema.values, member ?? null, place, unknown));
    else if (schema.embedded && EMBEDDED.has(key)) setMember(object, key, member);
    else {
      const field = schema.fields.get(key);
      if (field === undefined) {
        if (schema.open) setMember(object, key, member);
        else unknown.push(place);
      } else if (member !== undefined && (member !== null || field.nullable)) {
        setMember(object, key, prune(field.schema, member, place, unknown));
      }
    }
  }
  if (schema.type !== "struct") return object;
  for (const [name, field] of schema.fields) {
    if (field.default === undefined || object[name] !== undefined) continue;
    setMember(object, name, prune(field.schema, cloneJson(field.default), path, unknown));
  }
  return object;
}

/** A value on the wire. */
type Wire = number | bigint | Uint8Array;

/** The bytes before each envelope: `k8s` and a zero. */
const PROTOBUF_MAGIC: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0]);
const NOTHING: Uint8Array = new Uint8Array();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes the object in a body of Kubernetes' protobuf, as Go prints it in JSON: built-in kinds, and DeleteOptions of
 * any group. Fields that the schema does not have are dropped, as by Go; of another kind only the type is returned.
 *
 * @throws {Error} if the bytes are not protobuf.
 */
export function readProtobuf(bytes: Uint8Array): JsonObject {
  if (!PROTOBUF_MAGIC.every((byte, at) => bytes[at] === byte)) {
    throw new Error("Cannot read the body: it does not begin with the magic number of Kubernetes' protobuf");
  }
  const envelope = new Map(fieldsIn(bytes.subarray(PROTOBUF_MAGIC.length)));
  const type = new Map(fieldsIn(bytesOf(envelope.get(1) ?? NOTHING)));
  const apiVersion = text(type.get(1) ?? NOTHING);
  const kind = text(type.get(2) ?? NOTHING);
  const [version, group = ""] = apiVersion.split("/").reverse();
  const schema = kind === "DeleteOptions" ? structNamed("meta/v1.DeleteOptions") : schemaOf(group, version, kind);
  if (schema === undefined) return { kind, apiVersion };
  return { kind, apiVersion, ...readStruct(schema, bytesOf(envelope.get(2) ?? NOTHING)) };
}

/** The fields of structs by number; those of embedded structs are not among them. */
const numbered = new WeakMap<Struct, ReadonlyMap<number, Field>>();

function readStruct(struct: Struct, bytes: Uint8Array): MutableJson {
  const values = new Map<string, Json>();
  readFields(struct, bytes, values);
  return printed(struct, values);
}

/** Reads the fields of a message, and of those that it embeds, by name. */
function readFields(struct: Struct, bytes: Uint8Array, values: Map<string, Json>): void {
  let fields = numbered.get(struct);
  if (fields === undefined) {
    fields = new Map([...struct.fields.values()].filter(({ number }) => number > 0).map((it) => [it.number, it]));
    numbered.set(struct, fields);
  }
  for (const [number, wire] of fieldsIn(bytes)) {
    const embedded = struct.inlined.get(number);
    if (embedded !== undefined) readFields(embedded, bytesOf(wire), values);
    const field = fields.get(number);
    if (field === undefined) continue;
    const { name, schema } = field;
    if (schema.type === "map") {
      const entry = new Map(fieldsIn(bytesOf(wire)));
      const map = (values.get(name) ?? {}) as MutableJson;
      const value = entry.get(2);
      setMember(
        map,
        text(entry.get(1) ?? NOTHING),
        value === undefined ? absent(schema.values) : readValue(schema.values, value),
      );
      values.set(name, map);
    } else if (schema.type === "list") {
      const list = (values.get(name) ?? []) as Json[];
      list.push(readValue(schema.items, wire));
      values.set(name, list);
    } else values.set(name, readValue(schema, wire));
  }
}

/** Returns the object that Go prints in JSON: some zero values are left out, and others written. */
function printed(struct: Struct, values: ReadonlyMap<string, Json>): MutableJson {
  const object: MutableJson = {};
  for (const { name, schema, pointer, omitEmpty } of struct.fields.values()) {
    const value = values.get(name) ?? (pointer && !values.has(name) ? undefined : unsetValue(schema));
    if (value === undefined ? omitEmpty : omitEmpty && !pointer && isZeroScalar(value)) continue;
    object[name] = value ?? null;
  }
  return object;
}

function isZeroScalar(value: Json): boolean {
  return value === "" || value === 0 || value === false || value === null;
}

/** Returns the zero value of Go, as JSON has it. */
function unsetValue(schema: Schema): Json {
  return schema.type === "struct" ? printed(schema, new Map()) : ZERO[schema.type] ?? null;
}

/** Returns the value of a map's entry that has none. */
function absent(schema: Schema): Json {
  return schema.type === "bytes" ? "" : unsetValue(schema);
}

function readValue(schema: Schema, wire: Wire): Json {
  switch (schema.type) {
    case "struct":
      return readStruct(schema, bytesOf(wire));
    case "list": {
      // In a map: a message around the list.
      const items = [...fieldsIn(bytesOf(wire))].map(([, item]) => readValue(schema.items, item));
      return items.length === 0 ? null : items;
    }
    case "map":
      throw new Error("Cannot read the body: its protobuf has a map in a place where no built-in type has one");
    default:
      return readScalar(schema, wire);
  }
}

function readScalar(schema: ScalarSchema, wire: Wire): Json {
  switch (schema.type) {
    case "string":
      return text(wire);
    case "int32":
    case "int64":
      return integer(wire);
    case "boolean":
      return wire !== 0n;
    case "number":
      return wire as number;
    case "bytes":
      return btoa(Array.from(bytesOf(wire), (byte) => String.fromCharCode(byte)).join(""));
    case "quantity":
      return text(new Map(fieldsIn(bytesOf(wire))).get(1) ?? NOTHING) || "0";
    case "time":
    case "microTime":
      return readTime(bytesOf(wire), schema.type === "microTime");
    case "intOrString": {
      const fields = new Map(fieldsIn(bytesOf(wire)));
      return fields.get(1) === 1n ? text(fields.get(3) ?? NOTHING) : integer(fields.get(2) ?? 0n);
    }
    case "any":
      return schema.union === undefined ? readRaw(bytesOf(wire)) : readUnion(schema.union, bytesOf(wire));
  }
}

function integer(wire: Wire): number {
  if (typeof wire === "bigint") return Number(BigInt.asIntN(64, wire));
  throw new Error("Cannot read the body: its protobuf has bytes in place of a number");
}

/** Any JSON is a message with its text. */
function readRaw(bytes: Uint8Array): Json {
  const raw = bytesOf(new Map(fieldsIn(bytes)).get(1) ?? NOTHING);
  return raw.length === 0 ? null : JSON.parse(decoder.decode(raw));
}

/** JSON shows the list of a union, else the object, else the boolean. */
function readUnion(union: Struct, bytes: Uint8Array): Json {
  const values = new Map<string, Json>();
  readFields(union, bytes, values);
  for (const type of ["list", "struct", "boolean"]) {
    const field = [...union.fields.values()].find(({ schema }) => schema.type === type);
    const value = field && (values.get(field.name) ?? (type === "boolean" ? false : undefined));
    if (value !== undefined) return value;
  }
  return null;
}

/** Go's zero time means no time. */
function readTime(bytes: Uint8Array, micro: boolean): Json {
  const fields = new Map(fieldsIn(bytes));
  const [seconds, nanos] = [integer(fields.get(1) ?? 0n), integer(fields.get(2) ?? 0n)];
  if (seconds === 0 && nanos === 0) return null;
  const time = new Date(seconds * 1_000).toISOString().replace(/\.\d+Z$/, "");
  return micro ? `${time}.${String(Math.floor(nanos / 1_000)).padStart(6, "0")}Z` : `${time}Z`;
}

function text(wire: Wire): string {
  return decoder.decode(bytesOf(wire));
}

function bytesOf(wire: Wire): Uint8Array {
  if (wire instanceof Uint8Array) return wire;
  throw new Error("Cannot read the body: its protobuf has a number in place of bytes");
}

/** Yields the fields of a message in wire order. */
function* fieldsIn(bytes: Uint8Array): Generator<[number, Wire]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      if (at >= bytes.length || shift > 63n) throw new Error("Cannot read the body: its protobuf ends inside a number");
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (size: number): number => {
    if (at + size > bytes.length) throw new Error("Cannot read the body: its protobuf ends inside a field");
    at += size;
    return at - size;
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield [field, varint()];
        break;
      case 1:
        yield [field, view.getFloat64(take(8), true)];
        break;
      case 2: {
        const size = Number(varint());
        const start = take(size);
        yield [field, bytes.subarray(start, start + size)];
        break;
      }
      case 5:
        yield [field, view.getFloat32(take(4), true)];
        break;
      default:
        throw new Error(`Cannot read the body: its protobuf has a field of the unknown wire type ${tag & 7}`);
    }
  }
}
