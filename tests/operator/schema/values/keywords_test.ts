// The table of keywords: each kept keyword refuses something, and numbers are read as Go reads them.
import { assert, assertEquals } from "@std/assert";
import type { Json, JsonObject } from "../../../../src/engine/api/json.ts";
import { KEYWORDS } from "../../../../src/operator/schema/values/keywords.ts";
import { schemaOfOpenApi } from "../../../../src/operator/schema/values/object_schema.ts";
import { valueCauses } from "../../../../src/operator/schema/values/validate.ts";

/** What is wrong with a value, as "reason: message". */
function faults(schema: JsonObject, value: Json): string[] {
  return valueCauses(schemaOfOpenApi(schema, { type: "any" }), value)
    .map(({ reason = "", message = "" }) => `${reason.replace("FieldValue", "")}: ${message}`);
}

const text = { type: "string" };
const open = { "x-kubernetes-preserve-unknown-fields": true };

/** A schema with a keyword and a value that it refuses; without the keyword the value passes. */
const REFUSING: Readonly<Record<string, readonly [schema: JsonObject, value: Json]>> = {
  type: [text, 1],
  format: [{ ...text, format: "ipv4" }, "x"],
  enum: [{ ...text, enum: ["a"] }, "b"],
  properties: [{ type: "object", properties: { a: text } }, { a: 1 }],
  items: [{ type: "array", items: text }, [1]],
  required: [{ type: "object", required: ["a"] }, {}],
  additionalProperties: [{ type: "object", additionalProperties: text }, { a: 1 }],
  allOf: [{ ...open, allOf: [{ minLength: 2 }] }, "a"],
  anyOf: [{ ...open, anyOf: [{ minLength: 2 }] }, "a"],
  oneOf: [{ ...open, oneOf: [{ minLength: 2 }] }, "a"],
  not: [{ ...open, not: { minLength: 1 } }, "a"],
  "x-kubernetes-int-or-string": [{ "x-kubernetes-int-or-string": true }, true],
  "x-kubernetes-list-type": [{ type: "array", items: text, "x-kubernetes-list-type": "set" }, ["a", "a"]],
  maxLength: [{ ...text, maxLength: 1 }, "ab"],
  minLength: [{ ...text, minLength: 1 }, ""],
  pattern: [{ ...text, pattern: "^a" }, "b"],
  multipleOf: [{ type: "integer", multipleOf: 2 }, 3],
  maximum: [{ type: "integer", maximum: 1 }, 2],
  minimum: [{ type: "integer", minimum: 1 }, 0],
  exclusiveMaximum: [{ type: "integer", maximum: 1, exclusiveMaximum: true }, 1],
  exclusiveMinimum: [{ type: "integer", minimum: 1, exclusiveMinimum: true }, 1],
  minItems: [{ type: "array", items: text, minItems: 1 }, []],
  maxItems: [{ type: "array", items: text, maxItems: 1 }, ["a", "b"]],
  minProperties: [{ type: "object", ...open, minProperties: 1 }, {}],
  maxProperties: [{ type: "object", ...open, maxProperties: 0 }, { a: 1 }],
};

/** Kept keywords that refuse nothing by themselves. */
const OTHERS = "nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource default " +
  "x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-validations";

Deno.test("each keyword that a definition keeps refuses a value that passes without it", () => {
  const kept = [...KEYWORDS].filter(([, { fate }]) => fate === "checked" || fate === "walked").map(([name]) => name);
  assertEquals(kept.toSorted(), [...Object.keys(REFUSING), ...OTHERS.split(" ")].sort());
  for (const [name, [schema, value]] of Object.entries(REFUSING)) {
    assert(faults(schema, value).length > 0, name);
    const { [name]: _, ...without } = schema;
    assertEquals([name, faults({ ...open, ...without }, value)], [name, []]);
  }
});

const invalid = (value: string, why: string): string => `Invalid: Invalid value: ${value}:  in body should be ${why}`;
const outside = (what: string, type: string): string =>
  `Invalid: Invalid value: "": ${what} value must be of type ${type} in `;
const wrongType = (wanted: string, found: string): string =>
  `TypeInvalid: Invalid value: "${found}":  in body must be of type ${wanted}: "${found}"`;

/** Numbers, with the messages of kube-apiserver 1.37. */
const NUMBERS: readonly (readonly [schema: JsonObject, value: number, messages: readonly string[]])[] = [
  [{ type: "integer" }, 2 ** 63, [wrongType("integer", "number"), outside("Checked", "integer (default format)")]],
  [{ type: "integer" }, 2 ** 53 + 2, []],
  [{ type: "integer" }, 1.5, [wrongType("integer", "number"), outside("Checked", "integer (default format)")]],
  [{ type: "integer" }, 2 ** 31 - 0.5, [outside("Checked", "integer (default format)")]], // nearly a whole number
  [{ type: "integer", format: "int32" }, 2 ** 31, [outside("Checked", "integer with format int32")]],
  [{ type: "integer", format: "int32" }, -(2 ** 31), []],
  [{ type: "integer", format: "int32" }, 1.5, [
    wrongType("int32", "float64"),
    outside("Checked", "integer with format int32"),
  ]],
  [{ type: "number", format: "float" }, 1e39, [outside("Checked", "number with format float")]],
  [{ type: "number", format: "double" }, 1e300, []],
  // A whole number is compared with the whole part of a bound.
  [{ type: "number", minimum: 0.5 }, 0, []],
  [{ type: "number", minimum: 0.5 }, 0.4, [invalid("0.4", "greater than or equal to 0.5")]],
  [{ type: "number", maximum: 1e300 }, 1, [invalid("1", "less than or equal to -9223372036854775808")]],
  [{ type: "number", maximum: 1e300 }, 1.5, []],
  [{ type: "integer", maximum: 1.5 }, 2, [
    outside("Maximum boundary", "integer (default format)"),
    invalid("2", "less than or equal to 1.5"),
  ]],
  [{ type: "number", maximum: 3, exclusiveMaximum: true }, 3, [invalid("3", "less than 3")]],
  [{ type: "number", minimum: 0.3, exclusiveMinimum: true }, 0.3, [invalid("0.3", "greater than 0.3")]],
  [{ type: "number", multipleOf: 0.1 }, 0.3, []],
  [{ type: "number", multipleOf: 0.1 }, 0.35, [invalid("0.35", "a multiple of 0.1")]],
  [{ type: "number", multipleOf: 0.1 }, 1, [
    "Invalid: Invalid value: 0: factor MultipleOf declared for  must be positive: 0",
  ]],
  [{ type: "number", maximum: 1.5 }, 12345678.5, [invalid("1.23456785e+07", "less than or equal to 1.5")]],
];

Deno.test("numbers are read as kube-apiserver reads them, with its messages", () => {
  for (const [schema, value, messages] of NUMBERS) {
    assertEquals([schema, value, faults(schema, value)], [schema, value, messages]);
  }
});

Deno.test("of a text the server says only the first fault, after its format", () => {
  const schema = { ...text, maxLength: 1, minLength: 9, pattern: "^z", format: "ipv4" };
  assertEquals(faults(schema, "ab"), [
    'TypeInvalid: Invalid value: "ab":  in body must be of type ipv4: "ab"',
    "TooLong: Too long: may not be more than 1 byte",
  ]);
  assertEquals(faults({ ...text, maxLength: 1 }, "𝒳"), []);
});
