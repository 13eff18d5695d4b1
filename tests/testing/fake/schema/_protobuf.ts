// Writes Kubernetes' protobuf: messages by numbers, and objects by their schemas.
import type { Schema, Struct } from "../../../../src/operator/schema/values/object_schema.ts";
import { isObject, type Json, type JsonObject } from "../../../../src/engine/api/json.ts";

/** A field of a message; a bigint is a double, which is written in eight bytes. */
export type Part = readonly [field: number, value: string | number | Uint8Array | Float64Array];

/** A message: numbers are written as varints, all else with its length. */
export function message(...parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  const varint = (value: number): void => {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
  };
  for (const [field, value] of parts) {
    varint(field * 8 + (typeof value === "number" ? 0 : value instanceof Float64Array ? 1 : 2));
    if (typeof value === "number") varint(value);
    else if (value instanceof Float64Array) bytes.push(...new Uint8Array(value.buffer));
    else {
      const raw = typeof value === "string" ? new TextEncoder().encode(value) : value;
      varint(raw.length);
      for (const byte of raw) bytes.push(byte);
    }
  }
  return new Uint8Array(bytes);
}

/** A body: the type, and the message of the object. */
export function body(apiVersion: string, kind: string, object: Uint8Array): Uint8Array<ArrayBuffer> {
  const envelope = message([1, message([1, apiVersion], [2, kind])], [2, object]);
  return new Uint8Array([0x6b, 0x38, 0x73, 0, ...envelope]);
}

/** The message of an object; a field that is no pointer is written though it is zero, as by Go. */
export function encode(struct: Struct, object: JsonObject): Uint8Array<ArrayBuffer> {
  const parts: Part[] = [];
  for (const [number, embedded] of struct.inlined) parts.push([number, encode(embedded, object)]);
  for (const { name, number, schema, pointer } of struct.fields.values()) {
    const value = object[name] ??
      (pointer || schema.type === "list" || schema.type === "map" ? null : ZERO[schema.type]);
    if (number === 0 || value === undefined || value === null) continue;
    if (schema.type === "list") {
      for (const item of value as Json[]) parts.push([number, encoded(schema.items, item)]);
    } else if (schema.type === "map") {
      for (const [key, item] of Object.entries(value)) {
        parts.push([number, message([1, key], [2, encoded(schema.values, item as Json)])]);
      }
    } else parts.push([number, encoded(schema, value)]);
  }
  return message(...parts);
}

const ZERO: Readonly<Record<string, Json>> = { string: "", int32: 0, int64: 0, boolean: false };

function encoded(schema: Schema, value: Json): Part[1] {
  switch (schema.type) {
    case "struct":
      return encode(schema, value as JsonObject);
    case "list":
      return message(...(value as Json[]).map((item) => [1, encoded(schema.items, item)] as const));
    case "int32":
    case "int64":
    case "boolean":
      return Number(value);
    case "number":
      return new Float64Array([value as number]);
    case "bytes":
      return Uint8Array.from(atob(value as string), (character) => character.charCodeAt(0));
    case "quantity":
      return message([1, value as string]);
    case "time":
    case "microTime":
      return timestamp(value as string);
    case "intOrString":
      return typeof value === "number"
        ? message([1, 0], [2, value], [3, ""])
        : message([1, 1], [2, 0], [3, value as string]);
    case "any":
      return schema.union === undefined ? message([1, JSON.stringify(value)]) : encodedUnion(schema.union, value);
    default:
      return value as string;
  }
}

function encodedUnion(union: Struct, value: Json): Uint8Array {
  const type = Array.isArray(value) ? "list" : isObject(value) ? "struct" : "boolean";
  const { name } = [...union.fields.values()].find(({ schema }) => schema.type === type)!;
  return encode(union, { [name]: value });
}

function timestamp(text: string): Uint8Array {
  const seconds = Math.floor(Date.parse(text) / 1_000);
  const micros = Number(/\.(\d{6})Z$/.exec(text)?.[1] ?? 0);
  return message([1, seconds], [2, micros * 1_000]);
}
