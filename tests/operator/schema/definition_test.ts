// Definitions that kube-apiserver refuses, with its paths and texts. tests/cluster/structural_test.ts compares many.
import { assertEquals } from "@std/assert";
import { definitionCauses } from "../../../src/operator/schema/definition.ts";
import type { Json, JsonObject } from "../../../src/engine/api/json.ts";
import { structuralCauses } from "../../../src/operator/schema/structural.ts";
import { goodCases } from "../../support/schema/definitions.ts";

const text = { type: "string" };
const struct = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const map = (items: Json, ...keys: readonly string[]): JsonObject => ({
  type: "array",
  items,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

/** The member `a` of a schema, and the causes: path below it, the first letters of the reason, and the text. */
const REFUSED: readonly (readonly [a: JsonObject, ...causes: readonly string[]])[] = [
  [{}, ".type: Required value: must not be empty for specified object fields"],
  [
    { type: "text" },
    '.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
  ],
  [{ type: "array" }, ".items: Required value: must be specified"],
  [
    { ...struct({ b: text }), additionalProperties: text },
    ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
  ],
  [{ ...text, $ref: "#/a" }, ".$ref: Forbidden: $ref is not supported"],
  [{ ...text, anyOf: [{ type: "string" }] }, ".anyOf[0].type: Forbidden: must be empty to be structural"],
  [
    { ...text, pattern: "(?=a)" },
    '.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  ],
  [{ ...text, maxLength: 2, default: "abc" }, ".default: Too long: may not be more than 2 bytes"],
  [{ ...struct({ b: text }), default: { c: 1 } }, '.default: Invalid value: {"c":1}: must not have unknown fields'],
  [
    { ...struct({ b: { type: "array", items: text } }), default: { b: [1] } },
    '.default.b[0]: Invalid value: "integer": b[0] in body must be of type string: "integer"',
  ],
  [
    map(struct({ b: text }), "b"),
    ".items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
  ],
  [
    map(struct({ b: text }), "c"),
    '.x-kubernetes-list-map-keys: Invalid value: ["c"]: entries must all be names of item properties',
  ],
  [
    { type: "array", items: struct({}), "x-kubernetes-list-type": "set" },
    '.items.x-kubernetes-map-type: Invalid value: "": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
];

Deno.test("structuralCauses has the paths and texts of kube-apiserver", () => {
  for (const [a, ...causes] of REFUSED) {
    const found = structuralCauses(struct({ a }), "schema").map(({ field, message }) => `${field}: ${message}`);
    assertEquals(found, causes.map((cause) => `schema.properties[a]${cause}`));
  }
  const schema = { type: "object", $schema: "http://json-schema.org/draft-07/schema#" };
  assertEquals(structuralCauses(schema, "schema"), [{
    field: "schema",
    reason: "FieldValueInvalid",
    message: "Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported",
  }]);
});

const version = (name: string, more: object = {}): JsonObject => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: struct({ spec: struct({ a: text }) }) },
  ...more,
});
const crd = (spec: JsonObject = {}, names: JsonObject = {}): JsonObject => ({
  metadata: { name: "websites.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "websites", kind: "Website", ...names },
    versions: [version("v1")],
    ...spec,
  },
});

Deno.test("definitionCauses finds what is wrong beside the schema, with kube-apiserver's paths", () => {
  for (const { name, crd } of goodCases()) assertEquals([name, definitionCauses(crd)], [name, []]);
  const rows: readonly (readonly [crd: JsonObject, ...fields: readonly string[]])[] = [
    [crd()],
    [crd({ group: "example" }), "spec.group", "metadata.name"],
    [crd({ scope: "Global" }), "spec.scope"],
    [crd({}, { plural: "sites" }), "metadata.name"],
    [crd({}, { kind: "two words" }), "spec.names.singular", "spec.names.listKind", "spec.names.kind"],
    [crd({ versions: [] }), "spec.versions", "status.storedVersions"],
    [crd({ versions: [version("v1", { schema: {} })] }), "spec.versions[0].schema.openAPIV3Schema"],
    [
      crd({ versions: [version("v1"), version("v2", { storage: false, schema: { openAPIV3Schema: {} } })] }),
      "spec.versions[1].schema.openAPIV3Schema.type",
    ],
    [
      crd({ versions: [version("v1", { additionalPrinterColumns: [{ name: "A", type: "text", jsonPath: "a" }] })] }),
      "spec.additionalPrinterColumns[0].type",
      "spec.additionalPrinterColumns[0].JSONPath",
    ],
    [
      crd({ versions: [version("v1", { subresources: { scale: { specReplicasPath: ".a.b" } } })] }),
      "spec.subresources.scale.statusReplicasPath",
      "spec.subresources.scale.specReplicasPath",
    ],
    [
      crd({ versions: [version("v1", { selectableFields: [{ jsonPath: ".spec.b" }, { jsonPath: ".spec.a" }] })] }),
      "spec.selectableFields[0].jsonPath",
    ],
    [
      crd({ conversion: { strategy: "Webhook" } }),
      "spec.conversion.webhookClientConfig",
      "spec.conversion.conversionReviewVersions",
    ],
  ];
  for (const [given, ...fields] of rows) assertEquals(definitionCauses(given).map(({ field }) => field), fields);
});
