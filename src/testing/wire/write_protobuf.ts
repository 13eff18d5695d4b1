import { joinBytes } from "./byte_body.ts";
import { isObject, type JsonObject } from "./json.ts";
import { type ProtobufField, protobufFields } from "./protobuf_fields.ts";
import { PROTOBUF_MESSAGES } from "./protobuf_messages.ts";
import { PROTOBUF_MAGIC } from "./read_protobuf.ts";

const VARINT = 0;
const BYTES = 2;
const NOTHING = new Uint8Array();
const encoder = new TextEncoder();

/** Encodes an object in the envelope of Kubernetes' protobuf, by the message of its kind. */
export function writeProtobuf(object: JsonObject): Uint8Array {
  const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string };
  return joinBytes(...protobufEnvelope(apiVersion, kind, protobufMessage(kind, object)));
}

/** Returns the pieces of an envelope around an encoded message. */
export function protobufEnvelope(apiVersion: string, kind: string, message: Uint8Array): Uint8Array[] {
  const type = joinBytes(bytesField(1, encoder.encode(apiVersion)), bytesField(2, encoder.encode(kind)));
  return [
    PROTOBUF_MAGIC,
    bytesField(1, type),
    header(2, message.length),
    message,
    bytesField(3, NOTHING),
    bytesField(4, NOTHING),
  ];
}

/** Encodes an event of a watch: four bytes with its length, and a WatchEvent around an envelope. */
export function writeProtobufEvent(type: string, envelope: Uint8Array): Uint8Array {
  const event = joinBytes(bytesField(1, encoder.encode(type)), bytesField(2, bytesField(1, envelope)));
  const frame = new Uint8Array(4 + event.length);
  new DataView(frame.buffer).setUint32(0, event.length);
  frame.set(event, 4);
  return frame;
}

/** Encodes an object by a message in {@linkcode PROTOBUF_MESSAGES}, as Go does: what is no pointer is written when empty. */
export function protobufMessage(message: string, object: JsonObject): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const [number, field] of protobufFields(message)) {
    const value = object[field.name];
    if (field.map) {
      for (const [key, each] of Object.entries(isObject(value) ? value : {})) {
        pieces.push(bytesField(number, joinBytes(fieldOf(1, "string", key), fieldOf(2, field.type, each))));
      }
    } else if (field.list) {
      for (const each of Array.isArray(value) ? value : []) pieces.push(fieldOf(number, field.type, each));
    } else if (value !== undefined || !field.keepsZero) pieces.push(fieldOf(number, field.type, value));
  }
  return joinBytes(...pieces);
}

function fieldOf(number: number, type: ProtobufField["type"], value: unknown): Uint8Array {
  switch (type) {
    case "string":
      return bytesField(number, encoder.encode(value as string ?? ""));
    case "int":
      return joinBytes(varint(number * 8 + VARINT), varint(BigInt(value as number ?? 0)));
    case "bool":
      return joinBytes(varint(number * 8 + VARINT), varint(value ? 1 : 0));
    case "time": {
      const seconds = Date.parse(value as string ?? "") / 1_000;
      return bytesField(
        number,
        Number.isNaN(seconds) ? NOTHING : joinBytes(fieldOf(1, "int", seconds), fieldOf(2, "int", 0)),
      );
    }
    case "raw":
      return bytesField(number, bytesField(1, encoder.encode(JSON.stringify(value))));
    default:
      if (type in PROTOBUF_MESSAGES) return bytesField(number, protobufMessage(type, isObject(value) ? value : {}));
      throw new TypeError(`Cannot encode a field of type "${type}" in protobuf: only the types of metadata are known`);
  }
}

/** A field of bytes. */
function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return joinBytes(header(number, bytes.length), bytes);
}

function header(number: number, length: number): Uint8Array {
  return joinBytes(varint(number * 8 + BYTES), varint(length));
}

function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return new Uint8Array(bytes);
}
