import { assertEquals } from "@std/assert";
import { readStructs } from "../../tools/go_types.ts";

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
