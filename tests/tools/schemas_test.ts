import { assertEquals } from "@std/assert";
import type { SchemaNode, TypeField } from "../../tools/built_in_types.ts";
import { readStructs } from "../../tools/go_types.ts";
import { DefaultsCollector } from "../../tools/schema_defaults.ts";

Deno.test("structs of Go are read with names, numbers, pointers, embedded types and patch tags", () => {
  const found = readStructs(
    "k8s.io/api/shop/v1",
    `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Shop is open: \`json:"no"\`.
type Shop struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`
	Source            \`json:",inline" protobuf:"bytes,2,opt,name=source"\`

	Doors []Door   \`json:"doors,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,3,rep,name=doors"\`
	Till  *int64   \`json:"till,omitzero" protobuf:"varint,4,opt,name=till"\`
	Stock map[string]string \`json:"stock" protobuf:"bytes,5,rep,name=stock"\`
	hidden string
	Other string \`json:"-"\`
}

type Empty struct{}
`,
  );
  const field = {
    embeds: undefined,
    pointer: false,
    omitEmpty: false,
    omitZero: false,
    patchStrategy: [],
    patchMergeKey: "",
  };
  assertEquals([...found.keys()], ["Shop", "Empty"]);
  assertEquals(found.get("Empty"), []);
  assertEquals(found.get("Shop"), [
    { ...field, name: "", number: 0, embeds: "k8s.io/apimachinery/pkg/apis/meta/v1.TypeMeta" },
    { ...field, name: "metadata", number: 1, omitEmpty: true },
    { ...field, name: "", number: 2, embeds: "k8s.io/api/shop/v1.Source" },
    {
      ...field,
      name: "doors",
      number: 3,
      omitEmpty: true,
      patchStrategy: ["merge", "retainKeys"],
      patchMergeKey: "name",
    },
    { ...field, name: "till", number: 4, pointer: true, omitZero: true },
    { ...field, name: "stock", number: 5 },
  ]);
});

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
  assertEquals(
    Object.fromEntries(defaults),
    { "shop/v1.Door width": 90, "shop/v1.Door color": "", "shop/v1.Shop back": plain },
  );
  assertEquals(differing, ["shop/v1.Door lock: nothing or true", 'shop/v1.Shop name: "a" or "b"']);
});
