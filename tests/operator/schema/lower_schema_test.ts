// The lowering of JSON Schema to structural schemas: each row of the table, and what is refused with which remedy.
import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../src/engine/api/json.ts";
import { lowerSchema, SchemaError, standardJsonSchema } from "../../../src/operator/schema/lower_schema.ts";
import type { SchemaChange } from "../../../src/operator/schema/json_schema.ts";
import { structuralCauses } from "../../../src/operator/schema/structural.ts";
import { LOWERED } from "../../support/schema/lowered.ts";

const text = { type: "string" };
const whole = { type: "integer" };

Deno.test("lowerSchema lowers JSON Schema to what a definition may have", () => {
  for (const [name, given, lowered] of LOWERED) {
    assertEquals([name, lowerSchema(given, "spec.a")], [name, lowered]);
    const root = { type: "object", properties: { spec: { type: "object", properties: { a: lowered } } } };
    assertEquals([name, structuralCauses(root, "schema")], [name, []]);
    assertEquals([name, lowerSchema(lowered, "spec.a")], [name, lowered], "lowering twice changes nothing");
  }
});

Deno.test("lowerSchema tells what it leaves out or changes, and leaves out of a library what it refuses in yours", () => {
  const fields = {
    jwt: { ...text, format: "jwt" },
    name: { ...text, format: "k8s-short-name" },
    span: { ...text, format: "duration" },
    mail: { ...text, format: "email", pattern: "^(?=a)" },
    count: { ...whole, minimum: -Number.MAX_SAFE_INTEGER, maximum: 1e300 },
    closed: { type: "object", properties: {}, additionalProperties: false },
  };
  const changes: SchemaChange[] = [];
  const lowered = lowerSchema({ type: "object", properties: fields }, "spec", { isLibrary: true, changes });
  assertEquals(lowered.properties, {
    jwt: text,
    name: fields.name,
    span: text,
    mail: { ...text, format: "email" },
    count: whole,
    closed: { type: "object", properties: {} },
  });
  assertEquals(changes.map(({ path, keyword, reason }) => `${path} ${keyword}: ${reason}`), [
    'spec.jwt format: Left out: "jwt". Kube-apiserver does not check it',
    'spec.name format: Kept: "k8s-short-name". Only kube-apiserver 1.35 and later check it',
    'spec.span format: Left out: "duration". Kubernetes\' durations are others: "1h30m"',
    'spec.mail pattern: Left out: "^(?=a)". Kubernetes has RE2, without (?=…) and \\1',
    "spec.count maximum: Left out: 1e+300. The server reads bounds as integers of 64 bits",
    "spec.closed additionalProperties: Left out: false. The server drops unknown fields, and takes the rest",
  ]);
  const why = 'spec: the pattern "^(?=a)" is not one of RE2';
  assertThrows(() => lowerSchema(fields.mail, "spec"), SchemaError, why);
  const own = { ...text, pattern: "^(?=a)" };
  assertThrows(() => lowerSchema(own, "spec", { isLibrary: true }), SchemaError, why);
  assertEquals(lowerSchema(fields.span, "spec"), fields.span);
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
  [{ type: "number", multipleOf: 0.1 }, "spec: `multipleOf` cannot be 0.1: kube-apiserver divides whole numbers"],
  [{ ...whole, maximum: -1e300 }, "`maximum` -1e+300 leaves no number that kube-apiserver can hold"],
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
    'spec.b: `$ref` "#/$defs/a" is the schema itself',
  ],
  [
    { type: "object", properties: { a: { type: "array", items: { $ref: "#" } } } },
    'spec.a[]: `$ref` "#" is the schema itself',
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
  [{ enum: ["a", null] }, "spec: kube-apiserver never takes null for a field with an `enum`. Make the field optional"],
  [{ anyOf: [{ enum: ["a"] }, { type: "null" }] }, "kube-apiserver never takes null"],
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
