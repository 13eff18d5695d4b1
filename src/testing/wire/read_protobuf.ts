import { type Json, type JsonObject, type MutableJson, setMember } from "./json.ts";
import { protobufFields } from "./protobuf_fields.ts";
import { PROTOBUF_KINDS, PROTOBUF_MESSAGES } from "./protobuf_messages.ts";

/** Media type of Kubernetes' protobuf: an envelope with the kind, around the message of that kind. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** A value on the wire. */
type Wire = number | bigint | Uint8Array;

/** The bytes before each envelope: `k8s` and a zero. */
export const PROTOBUF_MAGIC: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0]);
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes the object in a body of Kubernetes' protobuf: the kinds of {@linkcode PROTOBUF_KINDS}.
 *
 * @throws {UnknownMessage} for another kind, or a field that is not in the tables.
 * @throws {Error} if the bytes are not protobuf.
 */
export function readProtobuf(bytes: Uint8Array): JsonObject {
  if (!PROTOBUF_MAGIC.every((byte, at) => bytes[at] === byte)) {
    throw new Error("Cannot read the body: it does not begin with the magic number of Kubernetes' protobuf");
  }
  const envelope = new Map(fieldsIn(bytes.subarray(PROTOBUF_MAGIC.length)));
  const type = new Map(fieldsIn(bytesOf(envelope.get(1) ?? new Uint8Array())));
  const apiVersion = text(type.get(1) ?? new Uint8Array());
  const kind = text(type.get(2) ?? new Uint8Array());
  const message = PROTOBUF_KINDS[`${apiVersion} ${kind}`] ?? (kind === "DeleteOptions" ? kind : undefined);
  if (message === undefined) throw new UnknownMessage(`the kind ${kind} of ${apiVersion}`);
  return { apiVersion, kind, ...readMessage(message, bytesOf(envelope.get(2) ?? new Uint8Array())) };
}

/** A kind or a field that is not in the tables, which the message names. */
export class UnknownMessage extends Error {
  /** `"UnknownMessage"`. */
  override readonly name = "UnknownMessage";
}

function readMessage(message: string, bytes: Uint8Array): MutableJson {
  const object: MutableJson = {};
  const fields = protobufFields(message);
  for (const [number, wire] of fieldsIn(bytes)) {
    const field = fields.get(number);
    if (field === undefined) {
      if (wire instanceof Uint8Array && wire.length === 0) continue;
      throw new UnknownMessage(`field ${number} of ${message}`);
    }
    const { name } = field;
    if (field.map) {
      const entry = new Map(fieldsIn(bytesOf(wire)));
      const value = entry.get(2) ??
        (field.type in PROTOBUF_MESSAGES ? new Uint8Array() : ZERO[field.type] ?? new Uint8Array());
      const map = (object[name] ??= {}) as MutableJson;
      setMember(map, text(entry.get(1) ?? new Uint8Array()), readValue(field.type, value));
    } else if (field.list) {
      const list = (object[name] ??= []) as Json[];
      list.push(readValue(field.type, wire) ?? null);
    } else {
      const value = readValue(field.type, wire);
      if (field.inline) Object.assign(object, value);
      else if (value !== undefined && (field.keepsZero || !isZero(value))) setMember(object, name, value);
    }
  }
  return object;
}

const ZERO: Readonly<Record<string, Wire>> = { int: 0n, bool: 0n };

function isZero(value: Json): boolean {
  return value === "" || value === 0 || value === false;
}

function readValue(type: string, wire: Wire): Json | undefined {
  switch (type) {
    case "string":
      return text(wire);
    case "int":
      return Number(BigInt.asIntN(64, BigInt(wire as bigint)));
    case "bool":
      return wire !== 0n;
    case "double":
      return wire as number;
    case "bytes":
      return btoa(String.fromCharCode(...bytesOf(wire)));
    case "quantity":
      return text(new Map(fieldsIn(bytesOf(wire))).get(1) ?? new Uint8Array());
    case "raw":
      return readRaw(bytesOf(wire));
    case "time":
    case "microtime":
      return readTime(bytesOf(wire), type === "microtime");
    case "intorstring": {
      const fields = new Map(fieldsIn(bytesOf(wire)));
      return fields.get(1) === 1n ? text(fields.get(3) ?? new Uint8Array()) : readValue("int", fields.get(2) ?? 0n);
    }
    default:
      return readMessage(type, bytesOf(wire));
  }
}

function readRaw(bytes: Uint8Array): Json {
  const raw = bytesOf(new Map(fieldsIn(bytes)).get(1) ?? new Uint8Array());
  return raw.length === 0 ? {} : JSON.parse(decoder.decode(raw));
}

/** Go's zero time means no time and is omitted. */
function readTime(bytes: Uint8Array, micro: boolean): Json | undefined {
  const fields = new Map(fieldsIn(bytes));
  const seconds = Number(BigInt.asIntN(64, (fields.get(1) ?? 0n) as bigint));
  if (seconds <= 0) return undefined;
  const time = new Date(seconds * 1_000).toISOString().replace(/\.\d+Z$/, "");
  if (!micro) return `${time}Z`;
  const micros = Math.floor(Number(fields.get(2) ?? 0n) / 1_000);
  return `${time}.${String(micros).padStart(6, "0")}Z`;
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
