// Schemas of zod, valibot and arktype, which implement Standard JSON Schema, become structural schemas. What is lost or
// refused of each of their types is in libraries_zod_test.ts and its neighbours.
import { assert, assertEquals, assertThrows } from "@std/assert";
import { toStandardJsonSchema } from "npm:@valibot/to-json-schema@1.8.0";
import { type } from "npm:arktype@2.2.10";
import * as v from "npm:valibot@1.5.0";
import { z } from "npm:zod@4.6.7";
import { defineKind, type StandardJsonSchema } from "@kube/informer/schema";
import type { JsonObject } from "../../../src/engine/api/json.ts";
import { lowerSchema, SchemaError, standardJsonSchema } from "../../../src/operator/schema/lower_schema.ts";
import { structuralCauses } from "../../../src/operator/schema/structural.ts";

const OPEN = "x-kubernetes-preserve-unknown-fields";
const EITHER = "x-kubernetes-int-or-string";
const text = { type: "string" };
const NAMES = { group: "example.com", version: "v1", kind: "Website", plural: "websites" } as const;

/** Lowers the schema of a library, and checks that kube-apiserver would take it. */
function lowered(schema: unknown): unknown {
  const json = standardJsonSchema(schema, "spec");
  assert(json !== undefined);
  const spec = lowerSchema(json, "spec", { isLibrary: true });
  assertEquals(structuralCauses({ type: "object", properties: { spec } }, "schema"), []);
  return spec;
}

/** The part that all three can say, with the ports that differ in how they are written. */
const SHARED = {
  image: { type: "string", minLength: 1 },
  replicas: { type: "integer", minimum: 0 },
  ratio: { type: "number", minimum: 0, exclusiveMinimum: true },
  mode: { type: "string", enum: ["a", "b"] },
  kind: { type: "string", enum: ["x"] },
  note: { type: "string", nullable: true },
  port: { [EITHER]: true },
  tags: { type: "array", items: text },
  labels: { type: "object", additionalProperties: text },
  owner: { type: "object", properties: { name: text }, required: ["name"] },
  link: { type: "string", format: "uri" },
  any: { [OPEN]: true },
};
const REQUIRED = Object.keys(SHARED).filter((name) => name !== "replicas" && name !== "ratio").sort();

function assertShared(schema: unknown, more: object = {}): void {
  const { properties, required, ...rest } = lowered(schema) as { properties: object; required: string[] };
  assertEquals(properties, { ...SHARED, ...more });
  assertEquals(required.toSorted(), REQUIRED);
  assertEquals(rest, { type: "object" });
}

Deno.test("a schema of zod defines a kind", () => {
  const owner = z.object({ name: z.string() });
  const shared = z.strictObject({
    image: z.string().min(1),
    replicas: z.int().min(0).default(1),
    ratio: z.number().positive().optional(),
    mode: z.enum(["a", "b"]),
    kind: z.literal("x"),
    note: z.string().nullable(),
    port: z.union([z.int(), z.string()]),
    tags: z.array(z.string()),
    labels: z.record(z.string(), z.string()),
    owner,
    link: z.url(),
    any: z.unknown(),
  });
  assertShared(shared, { replicas: { ...SHARED.replicas, default: 1 } });
  const shape = {
    wide: z.int(),
    email: z.email(),
    at: z.iso.datetime(),
    host: z.hostname(),
    id: z.uuidv4(),
    loose: z.looseObject({ a: z.string() }),
    constants: z.union([z.literal("p"), z.literal("q")]),
    patterns: z.string().regex(/a/).regex(/b/),
    owner: owner.meta({ id: "Owner" }).nullable(),
    described: z.string().describe("D").meta({ title: "T" }),
    zones: z.array(z.string()).meta({ uniqueItems: true }),
    ports: z.array(owner).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }),
  };
  const found = (lowered(z.object(shape)) as { properties: Record<string, Record<string, unknown>> }).properties;
  const { email, at, id, ...others } = found;
  for (const it of [email, at, id]) assertEquals(Object.keys(it).sort(), ["format", "pattern", "type"]);
  assertEquals(others, {
    wide: { type: "integer" },
    host: { type: "string", format: "hostname" },
    loose: { type: "object", properties: { a: text }, required: ["a"], [OPEN]: true },
    constants: { type: "string", enum: ["p", "q"] },
    patterns: { type: "string", allOf: [{ pattern: "a" }, { pattern: "b" }] },
    owner: { ...SHARED.owner, nullable: true },
    described: { type: "string", description: "D", title: "T" },
    zones: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    ports: {
      type: "array",
      items: SHARED.owner,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
  });
});

Deno.test("a schema of zod that has no structural form is refused", () => {
  const tree = z.object({
    get kids() {
      return z.array(tree);
    },
  });
  const refused: readonly (readonly [schema: z.ZodType, message: string])[] = [
    [
      z.string().transform((it) => it.length),
      "spec: the schema transforms values",
    ],
    [z.object({ on: z.stringbool() }), "spec.on: the schema transforms values"],
    [z.object({ at: z.date() }), "spec.at: your library cannot write it: date has no form in JSON Schema"],
    [z.object({ pair: z.tuple([z.string(), z.int()]) }), "spec.pair: `prefixItems` has no structural form"],
    [z.object({ age: z.string().regex(/^(?!a)/) }), "spec.age: the pattern"],
    [
      z.object({ sizes: z.record(z.enum(["s", "m"]), z.string()) }),
      "spec.sizes: `propertyNames` has no structural form",
    ],
    [z.object({ a: z.string() }).catchall(z.int()), "spec: `additionalProperties` stands beside `properties`"],
    [
      z.object({
        source: z.discriminatedUnion("type", [
          z.object({ type: z.literal("git"), url: z.string() }),
          z.object({ type: z.literal("oci") }),
        ]),
      }),
      "spec.source: `oneOf` has alternatives of object",
    ],
    [z.object({ mode: z.enum(["a"]).nullable() }), "spec.mode: kube-apiserver never takes null"],
    [tree, 'spec.kids[]: `$ref` "#" is the schema itself'],
    [z.object({ any: z.json() }), "spec.any: `anyOf` has alternatives of string, number, boolean, array, object"],
    [z.object({ gone: z.never().optional() }), "spec.gone: no value is allowed"],
  ];
  for (const [schema, message] of refused) {
    assertThrows(() => lowered(schema), SchemaError, message);
  }
});

Deno.test("a schema of valibot defines a kind", () => {
  const shared = v.object({
    image: v.pipe(v.string(), v.minLength(1)),
    replicas: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
    ratio: v.optional(v.pipe(v.number(), v.gtValue(0))),
    mode: v.picklist(["a", "b"]),
    kind: v.literal("x"),
    note: v.nullable(v.string()),
    port: v.union([v.pipe(v.number(), v.integer()), v.string()]),
    tags: v.array(v.string()),
    labels: v.record(v.string(), v.string()),
    owner: v.object({ name: v.string() }),
    link: v.pipe(v.string(), v.url()),
    any: v.unknown(),
  });
  assertShared(toStandardJsonSchema(shared), { replicas: { ...SHARED.replicas, default: 1 } });
  assertEquals(lowered(toStandardJsonSchema(v.pipe(v.string(), v.base64()))), { type: "string", format: "byte" });
  // The formats of JSON Schema that valibot writes for these ask for a zone, which the actions refuse.
  for (const action of [v.isoDateTime(), v.isoTime()]) {
    const json = standardJsonSchema(toStandardJsonSchema(v.pipe(v.string(), action)));
    assertEquals([json?.format, json?.allOf], [undefined, [{ pattern: action.requirement.source }]]);
  }
  const length = v.pipe(v.string(), v.transform((it) => it.length));
  assertThrows(() => lowered(toStandardJsonSchema(length)), SchemaError, "spec: the schema transforms values");
  assertThrows(() => lowered(shared), SchemaError, "toStandardJsonSchema(schema)");
});

Deno.test("a schema of arktype defines a kind", () => {
  const shared = type({
    image: "string > 0",
    replicas: "number.integer >= 0 = 1",
    "ratio?": "number > 0",
    mode: "'a' | 'b'",
    kind: "'x'",
    note: "string | null",
    port: "string | number.integer",
    tags: "string[]",
    labels: { "[string]": "string" },
    owner: { name: "string" },
    link: "string.url",
    any: "unknown",
  });
  assertShared(shared, { replicas: { ...SHARED.replicas, default: 1 } });
  assertThrows(
    () => lowered(type({ size: "string.numeric.parse" })),
    SchemaError,
    "spec.size: the schema transforms values",
  );
  const node = type.module({ node: { kids: "node[]" } }).node;
  assertThrows(() => lowered(node), SchemaError, "is the schema itself");
});

/** A schema of a library that nobody knows. */
function ofOthers(input: JsonObject, output: JsonObject | Error): StandardJsonSchema {
  const jsonSchema = {
    input: () => input,
    output: (): JsonObject => {
      if (output instanceof Error) throw output;
      return output;
    },
  };
  return { "~standard": { version: 1, vendor: "others", jsonSchema } } as StandardJsonSchema;
}

Deno.test("a schema of another library may differ between input and output in defaults and unknown fields only", () => {
  const a = { ...text, default: "x" };
  const input = { type: "object", properties: { a } };
  const output = { type: "object", properties: { a: text }, required: ["a"], additionalProperties: false };
  assertEquals(lowered(ofOthers(input, output)), input);
  for (const it of [{ ...text, default: {} }, { ...text, minLength: 2 }, { type: "object" }]) {
    const other = ofOthers(input, { ...input, properties: { a: it } });
    assertThrows(() => standardJsonSchema(other, "spec"), SchemaError, "spec: the schema transforms values");
  }
  const broken = ofOthers(input, new Error("no way"));
  assertThrows(() => standardJsonSchema(broken, "spec"), SchemaError, "spec: others cannot write the schema: no way");
});

Deno.test("what a library checks or changes in code is in the changes of a kind, once for each field", () => {
  const name = z.string().refine(Boolean).refine(Boolean).trim();
  const spec = z.object({ name, tags: z.array(name) });
  const kind = defineKind({ ...NAMES, spec });
  const checked = "your library checks this in code, so the server accepts values that the library refuses";
  const changed = "your library changes values in code, but the server checks and stores them as users write them";
  assertEquals(
    kind.changes,
    ["spec.name", "spec.tags[]"].flatMap((path) => [
      { path, keyword: "refine", reason: checked },
      { path, keyword: "overwrite", reason: changed },
    ]),
  );
  assert(Object.isFrozen(kind.changes));
  const plain = { type: "object", properties: { name: { type: "string" } } } as const;
  assertEquals(
    defineKind({ ...NAMES, spec: plain }).changes,
    [],
  );
});

Deno.test("a reference of TypeBox names a definition by its id, and a pattern of any name is additionalProperties", () => {
  const N = { "~kind": "Object", type: "object", properties: { s: { $ref: "S" } } };
  const spec = { $defs: { N, short: { $id: "S", type: "string" } }, $ref: "N" };
  assertEquals(lowerSchema(spec, "spec"), { type: "object", properties: { s: text } });
  for (const pattern of ["^.*$", ".*", ""]) {
    const record = { type: "object", patternProperties: { [pattern]: text }, additionalProperties: false };
    assertEquals(lowerSchema(record, "spec"), { type: "object", additionalProperties: text });
  }
  const two = { type: "object", patternProperties: { "^.*$": text, "^a": text } };
  assertThrows(() => lowerSchema(two, "spec"), SchemaError, "`patternProperties` has no structural form");
});

Deno.test("what a library cannot write is refused by its name, at its path", () => {
  const broken: readonly (readonly [schema: unknown, messages: readonly string[]])[] = [
    [type({ at: "Date", url: type.instanceOf(URL) }), [
      "spec.at: date has no form in JSON Schema",
      "spec.url: URL has no form in JSON Schema",
    ]],
    [
      z.object({ at: z.date(), n: z.object({ big: z.literal(1n) }) }),
      ["spec.at: date has no form in JSON Schema", "spec.n.big: BigInt literals cannot be represented in JSON Schema"],
    ],
    [
      toStandardJsonSchema(v.object({ at: v.array(v.date()) })),
      ['spec.at[]: The "date" schema cannot be converted to JSON Schema'],
    ],
  ];
  for (const [schema, messages] of broken) {
    const { faults } = assertThrows(() => lowered(schema), SchemaError);
    const found = faults.map(({ path, message }) => `${path}: ${message}`);
    assertEquals(
      found,
      messages.map((it) => it.replace(": ", ": your library cannot write it: ") + ". Use plain JSON"),
    );
  }
  // The checksum of a bank account is named, whatever becomes of its pattern.
  assertEquals(Object.keys(standardJsonSchema(z.iban())?.["x-lost"] ?? {}), ["iban"]);
  const unwrapped = { ...NAMES, spec: v.string() as unknown as StandardJsonSchema };
  assertThrows(() => defineKind(unwrapped), SchemaError, "spec: valibot does not write it by Standard JSON Schema");
});

Deno.test("a field that takes no value is refused for one reason", () => {
  const { faults } = assertThrows(() => lowered(z.object({ gone: z.never().optional() })), SchemaError);
  assertEquals(faults, [{ path: "spec.gone", message: "no value is allowed. Remove the field" }]);
});
