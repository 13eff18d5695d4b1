import { assert, assertEquals, assertThrows } from "@std/assert";
import { DocumentError, identifierOf, type TypeModel } from "../../../src/cli/codegen/read_schema.ts";
import { ref, typeOf } from "../../support/codegen/documents.ts";

Deno.test("identifierOf numbers names that become one, also where a name with a number exists", () => {
  const used = new Set(["Job", "Job3"]);
  const named = ["Job", "Job", "Job3", "Spec", "default"].map((text) => {
    const name = identifierOf(text, used);
    used.add(name);
    return name;
  });
  assertEquals(named, ["Job2", "Job4", "Job32", "Spec", "default_"]);
  assertEquals(identifierOf("Job", new Set(["Job"])), "Job2");
});

Deno.test("identifierOf looks for each of 15,000 names that become one a few times only", () => {
  const names = new Set<string>();
  let looks = 0;
  const used = { has: (name: string): boolean => (looks++, names.has(name)) };
  for (let at = 0; at < 15_000; at++) names.add(identifierOf("x.y", used));
  assertEquals(names.size, 15_000);
  assert(looks < 60_000, `${looks}`);
});

const AT = "apis/acme.dev/v1#/components/schemas/dev.acme.v1.Tab/properties/field";

/** Asserts that a field is refused with this path and message. */
function refused(field: unknown, path: string, message: string, more?: Record<string, unknown>): void {
  const error = assertThrows(() => typeOf(field, more), DocumentError, message);
  assertEquals(error.path, path);
  assert(error.message.startsWith(`Cannot generate types of "${path}": `), error.message);
}

Deno.test("readObject reads what custom resources have", () => {
  assertEquals(typeOf({ "x-kubernetes-int-or-string": true }), { type: "shared", name: "IntOrString" });
  assertEquals(typeOf({ type: "string", nullable: true }), { type: "nullable", of: { type: "string" } });
  assertEquals(typeOf({ type: "string", nullable: true, enum: ["a", null] }), {
    type: "nullable",
    of: { type: "enum", values: ["a"] },
  });
  assertEquals(
    typeOf({ type: "object", properties: { a: { type: "string" } }, "x-kubernetes-preserve-unknown-fields": true }),
    { type: "object", fields: [{ name: "a", type: { type: "string" }, required: false, doc: [] }], open: true },
  );
  const embedded = typeOf({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    properties: { kind: { type: "string", enum: ["Job"] }, metadata: { type: "object" }, spec: { type: "string" } },
  }) as TypeModel & { readonly type: "object" };
  assertEquals(
    embedded.fields.map(({ name, type, required }) => [name, type.type, required]),
    [["apiVersion", "string", true], ["kind", "enum", true], ["metadata", "shared", false], ["spec", "string", false]],
  );
});

Deno.test("readObject ignores unknown formats, and takes empty schemas for any value", () => {
  assertEquals(typeOf({ type: "string", format: "colour" }), { type: "string" });
  assertEquals(typeOf({ type: "integer", format: "int1024" }), { type: "number" });
  assertEquals(typeOf({}), { type: "unknown" });
  assertEquals(typeOf({ type: "array" }), { type: "list", items: { type: "unknown" } });
  assertEquals(typeOf({ type: "object", additionalProperties: true }), { type: "map", values: { type: "unknown" } });
  assertEquals(typeOf({ type: "object", properties: {} }), { type: "map", values: { type: "unknown" } });
});

Deno.test("readObject keeps fields that are named like members of all objects", () => {
  const field = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"boolean"}}}',
  );
  const type = typeOf(field) as TypeModel & { readonly type: "object" };
  assertEquals(type.fields.map(({ name, type }) => [name, type.type]), [["__proto__", "string"], [
    "constructor",
    "boolean",
  ]]);
});

Deno.test("readObject refuses what it cannot read, with the path", () => {
  refused("text", AT, 'it must be an object, but it is "text"');
  refused({ type: "colour" }, `${AT}/type`, '"colour" is not a type of JSON schemas');
  refused({ type: ["string", "null"] }, `${AT}/type`, "is not a type of JSON schemas");
  refused({ type: "string", enum: ["a", 1] }, `${AT}/enum/1`, "it must be a text, but it is 1");
  refused({ type: "string", description: 7 }, `${AT}/description`, "it must be a text, but it is 7");
  refused({ type: "object", properties: [] }, `${AT}/properties`, "it must be an object, but it is []");
  refused({ type: "object", additionalProperties: "a" }, `${AT}/additionalProperties`, "must be a schema or a boolean");
  refused({ type: "object", properties: { "a/b~c": 1 } }, `${AT}/properties/a~1b~0c`, "it is 1");
  refused({ allOf: [{ type: "string" }, { type: "object" }] }, `${AT}/allOf`, "it joins 2 schemas");
  refused(ref("dev.acme.v1.Missing"), `${AT}/allOf/0`, "which the document does not have");
  refused({ $ref: "https://acme.dev/a.json" }, AT, "which the document does not have");
  refused({ $ref: 7 }, `${AT}/$ref`, "it must be a text, but it is 7");
  refused({ type: "object", required: "a", properties: { a: {} } }, `${AT}/required`, "it must be a list of texts");
  const items = { type: "object", properties: { a: { type: "string" } } };
  refused(
    { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b"] },
    `${AT}/x-kubernetes-list-map-keys`,
    'it names the key "b", which the items do not have',
  );
  refused(
    {
      type: "array",
      items: { ...items, nullable: true },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
    },
    `${AT}/items`,
    "must be objects that are not nullable",
  );
  refused(
    { type: "array", items, "x-kubernetes-list-type": "map" },
    `${AT}/x-kubernetes-list-map-keys`,
    "must name its keys",
  );
});

Deno.test("readObject refuses circular references without an object in between, and deep nesting", () => {
  const a = { type: "array", items: ref("dev.acme.v1.B") };
  const b = { type: "object", additionalProperties: ref("dev.acme.v1.A") };
  const B = "apis/acme.dev/v1#/components/schemas/dev.acme.v1.A";
  refused(ref("dev.acme.v1.A"), B, "it refers to itself", { "dev.acme.v1.A": a, "dev.acme.v1.B": b });
  refused(ref("dev.acme.v1.A"), B, "it refers to itself", { "dev.acme.v1.A": ref("dev.acme.v1.A") });
  let deep: unknown = { type: "string" };
  for (let i = 0; i < 10_000; i++) deep = { type: "array", items: deep };
  assertThrows(() => typeOf(deep), DocumentError, "nested more than 100 levels deep");
  const tree = { type: "object", properties: { children: { type: "array", items: ref("dev.acme.v1.Tree") } } };
  assertEquals(typeOf(ref("dev.acme.v1.Tree"), { "dev.acme.v1.Tree": tree }), { type: "ref", name: "Tree" });
});
