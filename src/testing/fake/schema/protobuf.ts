/**
 * Reads bodies in Kubernetes' protobuf as the JSON that Go makes of them.
 *
 * {@linkcode readProtobuf} is the entry point. Types are checked and defaults filled in afterwards, by `decode.ts`.
 *
 * @module
 */
import { type Json, type JsonObject, type MutableJson, setMember } from "../../../engine/api/json.ts";
import { base64Of } from "../../../engine/api/object.ts";
import { schemaOf, structNamed, ZERO } from "./schema.ts";
import { oncePer, type ScalarSchema, type Schema, type Struct } from "../../../operator/schema/values/object_schema.ts";

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
const numbered = oncePer(({ fields }: Struct) =>
  new Map([...fields.values()].filter(({ number }) => number > 0).map((field) => [field.number, field]))
);

function readStruct(struct: Struct, bytes: Uint8Array): MutableJson {
  const values = new Map<string, Json>();
  readFields(struct, bytes, values);
  return printed(struct, values);
}

/** Reads the fields of a message, and of those that it embeds, by name. */
function readFields(struct: Struct, bytes: Uint8Array, values: Map<string, Json>): void {
  const fields = numbered(struct);
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
      // An entry without a value has the zero value.
      const empty = (): Json => schema.values.type === "bytes" ? "" : unsetValue(schema.values);
      setMember(map, text(entry.get(1) ?? NOTHING), value === undefined ? empty() : readValue(schema.values, value));
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
    const isZero = value === "" || value === 0 || value === false || value === null;
    if (omitEmpty && (value === undefined || (!pointer && isZero))) continue;
    object[name] = value ?? null;
  }
  return object;
}

/** Returns the zero value of Go, as JSON has it. */
function unsetValue(schema: Schema): Json {
  return schema.type === "struct" ? printed(schema, new Map()) : ZERO[schema.type] ?? null;
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
      return base64Of(bytesOf(wire));
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
