import { assertEquals } from "@std/assert";
import type { SchemaNode, TypeField } from "../../tools/built_in_types.ts";
import { DefaultsCollector } from "../../tools/schema_defaults.ts";

const API = "io.k8s.api.shop.v1";

function field(owner: string, name: string, pointer: boolean, node: SchemaNode): TypeField {
  const go = { embeds: undefined, number: 1, omitEmpty: true, omitZero: false, patchStrategy: [], patchMergeKey: "" };
  return { owner: `${API}.${owner}`, go: { ...go, name, pointer }, node };
}

const door: SchemaNode = { $ref: `#/components/schemas/${API}.Door` };
const TYPES: Readonly<Record<string, TypeField[]>> = {
  [`${API}.Shop`]: [
    field("Shop", "front", false, door),
    field("Shop", "back", true, door),
    field("Shop", "doors", false, { type: "array", items: door }),
    field("Shop", "name", false, { type: "string" }),
    field("Shop", "clusterIP", false, { type: "string" }),
  ],
  [`${API}.Door`]: [
    field("Door", "width", false, { type: "integer" }),
    field("Door", "color", true, { type: "string" }),
    field("Door", "lock", false, { type: "boolean" }),
  ],
};

Deno.test("a default is what was filled in with one value wherever the type was without it", () => {
  const collector = new DefaultsCollector({ fields: (name) => TYPES[name] });
  const plain = { width: 90, color: "", lock: false };
  collector.read(`${API}.Shop`, { doors: [{ color: "red" }, { width: 80 }] }, {
    front: plain,
    back: plain,
    doors: [{ width: 90, color: "red", lock: true }, { width: 80, color: "" }],
    name: "a",
    clusterIP: "10.0.0.1",
  });
  collector.read(`${API}.Shop`, { front: { lock: true }, back: {}, doors: [{}] }, {
    front: { ...plain, lock: true },
    name: "b",
  });
  const { defaults, differing } = collector.result();
  assertEquals(Object.fromEntries(defaults), {
    "shop/v1.Door width": 90,
    "shop/v1.Door color": "",
    "shop/v1.Shop back": plain,
  });
  assertEquals(differing, ["shop/v1.Door lock: nothing or true", 'shop/v1.Shop name: "a" or "b"']);
});
