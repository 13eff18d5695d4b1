/**
 * JSON schemas, and the structural schemas that they become: a row for each row of the table in the docs.
 *
 * {@linkcode LOWERED} is the entry point.
 *
 * @module
 */
import type { JsonObject } from "../../../src/engine/api/json.ts";

const OPEN = "x-kubernetes-preserve-unknown-fields";
const EITHER = "x-kubernetes-int-or-string";
const text = { type: "string" };
const whole = { type: "integer" };

/** Rows: a name, a schema that you write, and the schema that it becomes. */
export const LOWERED: readonly (readonly [name: string, given: JsonObject, lowered: JsonObject])[] = [
  ["annotations", {
    ...text,
    $id: "a",
    $comment: "b",
    examples: ["c"],
    title: "T",
    description: "D",
    readOnly: true,
    "x-a": 1,
  }, {
    ...text,
    title: "T",
    description: "D",
  }],
  ["const", { const: "a" }, { ...text, enum: ["a"] }],
  ["enum without a type", { enum: [1, 2] }, { ...whole, enum: [1, 2] }],
  ["a type or null", { type: ["string", "null"], minLength: 1 }, { ...text, minLength: 1, nullable: true }],
  [
    "alternatives that may be null",
    { anyOf: [{ type: ["string", "null"], maxLength: 3 }, { ...text, pattern: "^a" }] },
    {
      ...text,
      nullable: true,
      anyOf: [{ maxLength: 3 }, { pattern: "^a" }],
    },
  ],
  ["integer or string", { type: ["integer", "string"] }, { [EITHER]: true }],
  ["alternatives of both", { oneOf: [{ ...whole, minimum: 1 }, { ...text, pattern: "^a" }] }, {
    [EITHER]: true,
    minimum: 1,
    pattern: "^a",
  }],
  ["as Kubernetes writes it", { [EITHER]: true, anyOf: [whole, text] }, { [EITHER]: true }],
  ["constants", { anyOf: [{ const: "a" }, { const: "b", title: "B" }] }, { ...text, enum: ["a", "b"] }],
  ["rules for one type", { anyOf: [{ ...text, maxLength: 3, title: "A" }, { ...text, pattern: "^a" }] }, {
    ...text,
    anyOf: [{ maxLength: 3 }, { pattern: "^a" }],
  }],
  ["several patterns", { ...text, allOf: [{ pattern: "a" }, { pattern: "b" }] }, {
    ...text,
    allOf: [{ pattern: "a" }, { pattern: "b" }],
  }],
  ["alternatives of declared fields", {
    type: "object",
    properties: { a: text, b: text },
    oneOf: [{ type: "object", properties: { a: { const: "x" } }, required: ["a"] }, { required: ["b"] }],
    not: { properties: { b: { ...text, maxLength: 1 } } },
  }, {
    type: "object",
    properties: { a: text, b: text },
    oneOf: [{ properties: { a: { enum: ["x"] } }, required: ["a"] }, { required: ["b"] }],
    not: { properties: { b: { maxLength: 1 } } },
  }],
  ["exclusive bounds", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 9, maximum: 8 }, {
    type: "number",
    minimum: 0,
    exclusiveMinimum: true,
    maximum: 8,
  }],
  ["exclusive bounds of OpenAPI", { ...whole, minimum: 0, exclusiveMinimum: true }, {
    ...whole,
    minimum: 0,
    exclusiveMinimum: true,
  }],
  ["bounds of safe integers", { ...whole, minimum: -9007199254740991, maximum: 9007199254740991 }, whole],
  ["no other fields", { type: "object", properties: { a: text }, additionalProperties: false }, {
    type: "object",
    properties: { a: text },
  }],
  ["any other fields", { type: "object", properties: { a: text }, additionalProperties: {} }, {
    type: "object",
    properties: { a: text },
    [OPEN]: true,
  }],
  ["a map", { type: "object", propertyNames: text, additionalProperties: { const: 1 } }, {
    type: "object",
    additionalProperties: { ...whole, enum: [1] },
  }],
  ["a map of anything", { type: "object", additionalProperties: true }, { type: "object", [OPEN]: true }],
  ["anything", { description: "D" }, { description: "D", [OPEN]: true }],
  ["a member that may be anything", { type: "object", properties: { a: true } }, {
    type: "object",
    properties: { a: { [OPEN]: true } },
  }],
  ["a reference", {
    $defs: { a: { ...text, minLength: 1 } },
    type: "object",
    properties: { b: { $ref: "#/$defs/a", description: "D" }, c: { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] } },
  }, {
    type: "object",
    properties: { b: { ...text, minLength: 1, description: "D" }, c: { ...text, minLength: 1, nullable: true } },
  }],
  ["an allOf of one reference", { definitions: { a: text }, allOf: [{ $ref: "#/definitions/a" }], title: "T" }, {
    ...text,
    title: "T",
  }],
  ["unique scalars", { type: "array", items: text, uniqueItems: true }, {
    type: "array",
    items: text,
    "x-kubernetes-list-type": "set",
  }],
  ["a checked format", { ...text, format: "date-time" }, { ...text, format: "date-time" }],
  ["an unknown format", { ...text, format: "jwt" }, text],
  ["a format beside a pattern", { ...text, format: "email", pattern: "^a" }, {
    ...text,
    format: "email",
    pattern: "^a",
  }],
  ["a format of another type", { ...whole, format: "email" }, whole],
  ["an exclusive bound that the server cannot hold", { type: "number", exclusiveMaximum: 2 ** 63 }, { type: "number" }],
  ["bounds that the server cannot hold", { type: "number", minimum: -1e300, maximum: 2 ** 63 }, { type: "number" }],
  ["base64", { ...text, contentEncoding: "base64" }, { ...text, format: "byte" }],
  ["defaults", { ...text, default: "a" }, { ...text, default: "a" }],
  ["a default of null", { type: ["string", "null"], default: null }, { ...text, nullable: true }],
  ["rules and extensions", { ...text, "x-kubernetes-validations": [{ rule: "true" }] }, {
    ...text,
    "x-kubernetes-validations": [{ rule: "true" }],
  }],
  ["a struct without a type", { properties: { a: text }, required: ["a"] }, {
    type: "object",
    properties: { a: text },
    required: ["a"],
  }],
];
