import { assertEquals } from "@std/assert";
import type { SchemaNode, TypeField } from "../../tools/built_in_types.ts";
import { type GoField, readStructs } from "../../tools/go_types.ts";
import { schemaModule } from "../../tools/schemas.ts";
import { DefaultsCollector } from "../../tools/schema_defaults.ts";

Deno.test("structs of Go are read with names, numbers, pointers, embedded types and patch tags", () => {
  const found = readStructs(
    "k8s.io/api/shop/v1",
    `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:forbidden
// Shop is open: \`json:"no"\`.
type Shop struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`
	Source            \`json:",inline" protobuf:"bytes,2,opt,name=source"\`

	Doors []Door   \`json:"doors,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name" protobuf:"bytes,3,rep,name=doors"\`
	// +k8s:required
	// +k8s:beta(since: "1.37")=+k8s:minimum=0 # never below
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
    tags: [],
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
    {
      ...field,
      name: "till",
      number: 4,
      pointer: true,
      omitZero: true,
      tags: ["required", 'beta(since: "1.37")=+k8s:minimum=0'],
    },
    { ...field, name: "stock", number: 5 },
  ]);
});

const API = "io.k8s.api.shop.v1";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

function field(owner: string, name: string, pointer: boolean, node: SchemaNode): TypeField {
  const go = {
    embeds: undefined,
    number: 1,
    omitEmpty: true,
    omitZero: false,
    patchStrategy: [],
    patchMergeKey: "",
    tags: [],
  };
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

Deno.test("what tags say of values and updates is written; what they say of features that are off is not", () => {
  const go = readStructs(
    "k8s.io/api/shop/v1",
    `package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Shop struct {
	metav1.TypeMeta \`json:",inline"\`
	metav1.ObjectMeta \`json:"metadata"\`
	// +k8s:beta(since: "1.37")=+k8s:immutable
	// +k8s:beta(since: "1.37")=+k8s:format="k8s-short-name"
	Owner string \`json:"owner"\`
	// +k8s:alpha(since: "1.37")=+k8s:immutable
	// +k8s:alpha(since: "1.37")=+k8s:maxBytes=9
	Street string \`json:"street"\`
	// +k8s:beta(since: "1.37")=+k8s:subfield(name)=+k8s:format=k8s-long-name
	Spec ShopSpec \`json:"spec"\`
	// +k8s:ifDisabled(Attic)=+k8s:forbidden
	Attic ShopSpec \`json:"attic"\`
}

type ObjectMeta struct {
	// +k8s:alpha(since: "1.37")=+k8s:immutable
	UID string \`json:"uid"\`
}

type ShopSpec struct {
	// +k8s:immutable
	// +k8s:format=k8s-uuid
	Plan string \`json:"plan"\`
	// +k8s:listType=atomic
	// +k8s:beta(since: "1.37")=+k8s:unique=map
	// +k8s:beta(since: "1.37")=+k8s:listMapKey=name
	// +k8s:beta(since: "1.37")=+k8s:maxItems=8 # no more
	Doors []string \`json:"doors,omitempty"\`
	// +k8s:beta(since: "1.37")=+k8s:ifEnabled(HPAScaleToZero)=+k8s:minimum=0
	// +k8s:beta(since: "1.37")=+k8s:ifDisabled(HPAScaleToZero)=+k8s:minimum=1
	// +k8s:ifEnabled("Attic")=+k8s:maxBytes=5
	Floors int \`json:"floors"\`
	// +k8s:eachVal=+k8s:maxBytes=3
	Names []string \`json:"names,omitempty"\`
}
`,
  );
  const text = { type: "string" };
  const list = { type: "array", items: text };
  const spec = { $ref: `#/components/schemas/${API}.ShopSpec` };
  const schemas = new Map<string, SchemaNode>([
    [`${API}.Shop`, {
      "x-kubernetes-group-version-kind": [{ group: "shop", version: "v1", kind: "Shop" }],
      properties: {
        metadata: { $ref: `#/components/schemas/${META}.ObjectMeta` },
        owner: text,
        street: text,
        spec,
        attic: spec,
      },
    }],
    [`${API}.ShopSpec`, { properties: { plan: text, doors: list, floors: { type: "integer" }, names: list } }],
    ...["ObjectMeta", "ListMeta", "DeleteOptions", "Status"].map((name) =>
      [`${META}.${name}`, { properties: { uid: text } }] as const
    ),
  ]);
  const goFields = (name: string): readonly GoField[] => go.get(name.slice(name.lastIndexOf(".") + 1)) ?? [];
  const fields = (owner: string): TypeField[] =>
    goFields(owner).filter((it) => it.embeds === undefined).map((it) => ({
      owner,
      go: it,
      node: schemas.get(owner)!.properties![it.name],
    }));
  const module = schemaModule(
    "v1.37.2",
    [{ name: "apis/shop/v1", content: {} }],
    { schemas, goFields, fields },
    new Map(),
  );
  assertEquals(/"shop\/v1": `(.*?)`/s.exec(module)![1].split("\n\n"), [
    "shop/v1",
    "Shop kind fixed=owner!,street,spec.plan!\nmetadata- 0 meta/v1.ObjectMeta\nowner- 0 string ~format=dnsLabel\nstreet- 0 string\nspec- 0 ShopSpec\n" +
    "attic- 0 ShopSpec",
    "ShopSpec\nplan- 0 string\ndoors 0 []string ~unique=name,maxItems=8\nfloors- 0 int32 ~minimum=0\nnames 0 []string",
  ]);
});
