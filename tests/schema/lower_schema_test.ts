// The lowering of JSON Schema to structural schemas: each row of the table, and what is refused with which remedy.
import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../src/schema/json.ts";
import { lowerSchema, SchemaError, standardJsonSchema } from "../../src/schema/lower_schema.ts";
import { structuralCauses } from "../../src/schema/structural.ts";

const OPEN = "x-kubernetes-preserve-unknown-fields";
const EITHER = "x-kubernetes-int-or-string";
const text = { type: "string" };
const whole = { type: "integer" };

/** What is written, and what it becomes. */
const LOWERED: readonly (readonly [name: string, given: JsonObject, lowered: JsonObject])[] = [
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
  ["enum with null", { enum: ["a", null] }, { ...text, enum: ["a", null], nullable: true }],
  ["a type or null", { type: ["string", "null"], minLength: 1 }, { ...text, minLength: 1, nullable: true }],
  ["an enum or null", { anyOf: [{ enum: ["a"] }, { type: "null" }] }, { ...text, enum: ["a", null], nullable: true }],
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
  ["a format beside a pattern", { ...text, format: "duration", pattern: "^P" }, { ...text, pattern: "^P" }],
  ["a pattern that RE2 lacks", { ...text, format: "email", pattern: "^(?=a)" }, { ...text, format: "email" }],
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

Deno.test("lowerSchema lowers JSON Schema to what a definition may have", () => {
  for (const [name, given, lowered] of LOWERED) {
    assertEquals([name, lowerSchema(given, "spec.a")], [name, lowered]);
    const root = { type: "object", properties: { spec: { type: "object", properties: { a: lowered } } } };
    assertEquals([name, structuralCauses(root, "schema")], [name, []]);
    assertEquals([name, lowerSchema(lowered, "spec.a")], [name, lowered], "lowering twice changes nothing");
  }
});

/** What is written, and what an error says of it. */
const REFUSED: readonly (readonly [given: JsonObject, message: string])[] = [
  [{ ...text, minLenght: 1 }, "spec: there is no keyword `minLenght`. Did you mean `minLength`?"],
  [{ ...text, xyzzy: 1 }, "spec: there is no keyword `xyzzy`. Remove it"],
  [{ ...text, "x-kubernetes-lst-type": "set" }, "Did you mean `x-kubernetes-list-type`?"],
  [{ type: "object", properties: { image: text }, required: ["imgae"] }, 'Did you mean "image"?'],
  [{ type: "object", properties: { a: { type: "object", required: ["b"] } } }, "spec.a: `required` has"],
  [{ type: "object", properties: { image: text }, requierd: ["image"] }, "Did you mean `required`?"],
  [
    { type: "object", properties: { a: text }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    '`required` has "b"',
  ],
  [{ ...text, minLength: "1" }, '`minLength` cannot be "1". Write a value of type number'],
  [{ ...text, required: true }, "`required` cannot be true. Write a value of type list"],
  [
    { type: "object", patternProperties: { "^a": text } },
    "`patternProperties` has no structural form. Use additionalProp",
  ],
  [
    { type: "object", propertyNames: { pattern: "^a" }, additionalProperties: text },
    "`propertyNames` has no structural",
  ],
  [{ type: "array", prefixItems: [text], items: false }, "Kubernetes has no tuples"],
  [{ type: "array", items: [text] }, "`items` cannot be"],
  [
    { type: "array", items: { type: "object", properties: {} }, uniqueItems: true },
    'Use x-kubernetes-list-type: "map"',
  ],
  [{ type: ["number", "string"] }, '`type` is ["number","string"], but a field has one type. Use one type'],
  [
    { anyOf: [{ type: "object", properties: { a: text } }, { type: "object", properties: { b: text } }] },
    "alternatives of object",
  ],
  [{ oneOf: [text, { type: "boolean" }] }, "`oneOf` has alternatives of string, boolean, but a field has one type"],
  [
    { type: "object", properties: { a: text }, oneOf: [{ properties: { b: { minLength: 1 } } }, { required: ["a"] }] },
    "spec.b: only an alternative",
  ],
  [
    { type: "object", properties: { a: text }, oneOf: [{ properties: { a: whole } }, { required: ["a"] }] },
    "spec.a: an alternative has `type`",
  ],
  [{ ...text, anyOf: [{ default: "a" }, { nullable: true }] }, "an alternative has `default`"],
  [
    { $defs: { a: { type: "object", properties: { b: { $ref: "#/$defs/a" } } } }, $ref: "#/$defs/a" },
    "spec.b: the schema contains",
  ],
  [
    { type: "object", properties: { a: { type: "array", items: { $ref: "#" } } } },
    "spec.a[]: the schema contains itself",
  ],
  [{ $ref: "#/$defs/a" }, 'spec: `$ref` "#/$defs/a" is not in the schema'],
  [
    { type: "object", properties: { a: text }, additionalProperties: text },
    "`additionalProperties` stands beside `properties`",
  ],
  [{ ...text, pattern: "^(?=a)b" }, "Kubernetes has RE2"],
  [{ ...text, pattern: "^(?=P)", format: "duration" }, "Kubernetes has RE2"],
  [{ minLength: 1 }, "spec: there is `minLength` without a type. Add `type`"],
  [{ type: "object", properties: { a: { not: {} } } }, "spec.a: no value is allowed. Remove the field"],
  [
    { type: "object", properties: { a: text }, allOf: [{ properties: { b: text } }] },
    "spec.b: only an alternative has this",
  ],
  [{ if: { ...text }, then: {}, ...text }, "`if` has no structural form"],
];

Deno.test("lowerSchema refuses what no definition may have, with the path and a remedy", () => {
  for (const [given, message] of REFUSED) {
    assertThrows(() => lowerSchema(given, "spec"), SchemaError, message, JSON.stringify(given));
  }
  const given = {
    type: "object",
    properties: { a: { type: "string", minLenght: 1 }, b: { type: "array", prefixItems: [] } },
  };
  const { faults, message } = assertThrows(() => lowerSchema(given, "spec"), SchemaError);
  assertEquals(faults.map(({ path }) => path), ["spec.a", "spec.b"]);
  assertEquals(message.split("\n").length, 2);
});

Deno.test("standardJsonSchema returns undefined for a value that is no schema of a library", () => {
  for (const value of [undefined, null, 1, "a", {}, { type: "object" }, () => {}]) {
    assertEquals(standardJsonSchema(value), undefined);
  }
});
