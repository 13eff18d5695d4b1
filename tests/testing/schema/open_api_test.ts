import { assertEquals } from "@std/assert";
import { schemaOfKind, schemaOfOpenApi } from "../../../src/testing/schema/open_api.ts";
import type { ListOf, Schema, Struct } from "../../../src/testing/schema/schema.ts";
import type { JsonObject } from "../../../src/testing/wire/json.ts";

const META: Schema = { type: "any" };
const string: JsonObject = { type: "string" };

function read(rules: JsonObject): Schema {
  return schemaOfOpenApi(rules, META);
}

Deno.test("schemaOfOpenApi reads scalars", () => {
  const types = ([
    [string, "string"],
    [{ type: "integer" }, "int64"],
    [{ type: "integer", format: "int32" }, "int32"],
    [{ type: "number" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ "x-kubernetes-int-or-string": true }, "intOrString"],
    [{ "x-kubernetes-preserve-unknown-fields": true }, "any"],
  ] as const).map(([rules, type]) => [read(rules), { type, rules }]);
  for (const [found, wanted] of types) assertEquals(found, wanted as Schema);
});

Deno.test("schemaOfOpenApi reads lists by their type, and as atomic without one", () => {
  const items = { type: "object", properties: { port: { type: "integer" } } };
  const list = (extensions: JsonObject): ListOf => read({ type: "array", items, ...extensions }) as ListOf;
  const keys = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"] };
  assertEquals([list(keys).list, list(keys).keys], ["map", ["port", "protocol"]]);
  assertEquals(list({ "x-kubernetes-list-type": "set" }).list, "set");
  assertEquals([list({}).list, list({}).mergeKey], ["atomic", undefined]);
  assertEquals((list({}).items as Struct).fields.get("port")?.schema.type, "int64");
});

Deno.test("schemaOfOpenApi reads structs and maps, with what fields require", () => {
  const level = { type: "string", enum: ["low", "high"], default: "low" };
  const struct = read({
    type: "object",
    required: ["size"],
    properties: {
      size: { type: "integer", nullable: true },
      level,
      labels: { type: "object", additionalProperties: string, "x-kubernetes-map-type": "atomic" },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  }) as Struct;
  const { size, level: levelField, labels, free } = Object.fromEntries(struct.fields);
  assertEquals([size.required, size.nullable, levelField.required, levelField.nullable], [true, true, false, false]);
  assertEquals([levelField.default, levelField.allowed], ["low", ["low", "high"]]);
  assertEquals([labels.schema.type, (labels.schema as Struct).atomic, struct.atomic], ["map", true, false]);
  assertEquals([(free.schema as Struct).open, struct.open], [true, false]);
});

Deno.test("schemaOfKind adds the metadata of all kinds, and keeps everything without a schema", () => {
  const struct = schemaOfKind({ type: "object", properties: { spec: { type: "object" } } }, META);
  assertEquals([...struct.fields.keys()], ["spec", "apiVersion", "kind", "metadata"]);
  assertEquals(struct.fields.get("metadata")?.schema, META);
  const free = schemaOfKind(undefined, META);
  assertEquals([...free.fields.keys(), free.open], ["apiVersion", "kind", "metadata", true]);
});
