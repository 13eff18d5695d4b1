/**
 * Definitions of custom kinds, right and wrong: a few good schemas, and a table of changes to them.
 *
 * {@linkcode schemaCases} and {@linkcode definitionCases} are the entry points. They do not say what is wrong: a server
 * does.
 *
 * @module
 */
import { cloneJson, type Json, type JsonObject, type MutableJson } from "../../../src/engine/api/json.ts";
import { LOWERED } from "./lowered.ts";

/** A definition, with a name that says what was changed. */
export interface DefinitionCase {
  readonly name: string;
  readonly crd: JsonObject;
}

const text = { type: "string" };
const whole = { type: "integer" };
const either = { "x-kubernetes-int-or-string": true };
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const struct = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const list = (items: Json, more: JsonObject = {}): JsonObject => ({ type: "array", items, ...more });
const ports = list(struct({ name: text, port: whole, protocol: { ...text, default: "TCP" } }, { required: ["name"] }), {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name", "protocol"],
});

/** Good schemas, by name. */
const GOOD: Readonly<Record<string, JsonObject>> = {
  empty: { type: "object" },
  open: anything,
  described: struct({ apiVersion: text, kind: text, metadata: { type: "object" }, spec: struct({ a: text }) }, {
    description: "A website.",
    title: "Website",
    required: ["spec"],
  }),
  named: struct({ metadata: struct({ name: { ...text, maxLength: 8 }, generateName: text }), spec: anything }),
  fields: struct({
    spec: struct({
      image: { ...text, minLength: 1, maxLength: 200, pattern: "^[a-z]+$", default: "nginx" },
      replicas: { ...whole, minimum: 0, exclusiveMinimum: true, maximum: 9, format: "int32", default: 1 },
      ratio: { type: "number", multipleOf: 0.5, nullable: true, default: 1.5 },
      on: { type: "boolean", default: false },
      mode: { ...text, enum: ["a", "b"], default: "a" },
      at: { ...text, format: "date-time" },
      size: { ...text, format: "quantity" },
      labels: { type: "object", additionalProperties: text, default: { a: "b" }, "x-kubernetes-map-type": "granular" },
      port: { ...either, default: "http" },
      both: { ...either, anyOf: [{ type: "integer" }, { type: "string" }] },
      more: { ...either, allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^a" }] },
      tags: list({ ...text, maxLength: 3 }, { "x-kubernetes-list-type": "set", default: ["a", "b"], maxItems: 4 }),
      ports,
      owner: struct({ a: text, b: { ...text, default: "x" } }, {
        default: { a: "y" },
        "x-kubernetes-map-type": "atomic",
      }),
    }, { required: ["image", "absent"], minProperties: 1 }),
    status: anything,
  }),
  embedded: struct({
    spec: struct({
      pod: { ...anything, "x-kubernetes-embedded-resource": true },
      job: struct({ apiVersion: text, kind: text, metadata: { type: "object" }, spec: text }, {
        "x-kubernetes-embedded-resource": true,
      }),
      lists: list(list(list(whole)), { minItems: 1 }),
    }),
  }),
  alternatives: struct({
    spec: struct({ a: text, b: whole, c: struct({ d: text }) }, {
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      anyOf: [{ properties: { a: { minLength: 3 } } }, { properties: { c: { properties: { d: { enum: ["x"] } } } } }],
      not: { required: ["c"], properties: { b: { maximum: 3 } } },
      allOf: [{ properties: { a: { maxLength: 9 } } }, { not: { properties: { a: { pattern: "^q" } } } }],
    }),
  }),
};

/** Places in the good schemas, where a schema is changed. */
const PLACES: readonly (readonly [name: string, ...path: readonly string[]])[] = [
  ["described"],
  ["described", "properties", "metadata"],
  ["described", "properties", "kind"],
  ["named", "properties", "metadata", "properties", "name"],
  ["fields", "properties", "spec"],
  ["fields", "properties", "spec", "properties", "image"],
  ["fields", "properties", "spec", "properties", "replicas"],
  ["fields", "properties", "spec", "properties", "labels"],
  ["fields", "properties", "spec", "properties", "labels", "additionalProperties"],
  ["fields", "properties", "spec", "properties", "port"],
  ["fields", "properties", "spec", "properties", "both"],
  ["fields", "properties", "spec", "properties", "tags"],
  ["fields", "properties", "spec", "properties", "tags", "items"],
  ["fields", "properties", "spec", "properties", "ports"],
  ["fields", "properties", "spec", "properties", "ports", "items"],
  ["fields", "properties", "spec", "properties", "ports", "items", "properties", "name"],
  ["fields", "properties", "spec", "properties", "owner"],
  ["embedded", "properties", "spec", "properties", "job"],
  ["embedded", "properties", "spec", "properties", "pod"],
  ["embedded", "properties", "spec", "properties", "job", "properties", "metadata"],
  ["alternatives", "properties", "spec"],
  ["alternatives", "properties", "spec", "anyOf", "0"],
  ["alternatives", "properties", "spec", "allOf", "0", "properties", "a"],
  ["alternatives", "properties", "spec", "not"],
];

/** Members that a schema is given; undefined removes one. */
const CHANGES: readonly JsonObject[] = [
  { type: undefined },
  { type: "text" },
  { type: "null" },
  { type: "array" },
  { type: "object" },
  { type: "string" },
  { nullable: true },
  { minLength: -1, maxItems: -1 },
  { minimum: 5, maximum: 3, exclusiveMaximum: true, multipleOf: 0 },
  { required: ["a", "a"] },
  { enum: [] },
  { default: { apiVersion: "v1", kind: "A" } },
  { title: "A" },
  { description: "A" },
  { default: {} },
  { default: "toolongtext" },
  { default: 5 },
  { default: null },
  { default: { a: "b", unknown: 1 } },
  { default: [1, 1] },
  { id: "a" },
  { $schema: "http://json-schema.org/draft-07/schema#" },
  { $ref: "#/definitions/a" },
  { definitions: { a: text } },
  { dependencies: { a: ["b"] } },
  { patternProperties: { "^a": text } },
  { additionalItems: false },
  { uniqueItems: true },
  { items: undefined },
  { items: {} },
  { items: [text] },
  { items: text },
  { properties: {} },
  { properties: undefined },
  { properties: { metadata: { type: "object", properties: { labels: anything } } } },
  { properties: { kind: whole, a: {} } },
  { additionalProperties: true },
  { additionalProperties: false },
  { additionalProperties: {} },
  { additionalProperties: { ...text, default: "a" } },
  { required: ["nobody"] },
  { pattern: "(" },
  { pattern: "^(?=a)" },
  { pattern: "a{1001}" },
  { enum: [1, "a", null] },
  { format: "unheard-of" },
  { anyOf: [{ type: "integer" }, { type: "string" }] },
  { anyOf: [{ type: "string" }, { type: "integer" }] },
  { anyOf: [{ properties: { nobody: { minLength: 1 } } }] },
  { oneOf: [{ nullable: true, default: 1 }, { "x-kubernetes-list-type": "set" }] },
  { allOf: [{ additionalProperties: {} }, { pattern: "[" }] },
  { not: { description: "A", items: { minimum: 1 } } },
  { "x-kubernetes-int-or-string": true },
  { "x-kubernetes-preserve-unknown-fields": true },
  { "x-kubernetes-preserve-unknown-fields": false },
  { "x-kubernetes-embedded-resource": true },
  { "x-kubernetes-map-type": "atomic" },
  { "x-kubernetes-map-type": "set" },
  { "x-kubernetes-list-type": undefined },
  { "x-kubernetes-list-type": "atomic" },
  { "x-kubernetes-list-type": "set" },
  { "x-kubernetes-list-type": "map" },
  { "x-kubernetes-list-type": "granular" },
  { "x-kubernetes-list-map-keys": [] },
  { "x-kubernetes-list-map-keys": ["name", "name"] },
  { "x-kubernetes-list-map-keys": ["nobody"] },
];

/** Returns a copy in which the value at a path has other members. */
function changed(value: JsonObject, path: readonly string[], members: JsonObject): JsonObject {
  const copy = cloneJson(value);
  let here = copy as MutableJson;
  for (const name of path) here = here[name] as MutableJson;
  Object.assign(here, cloneJson(members));
  for (const name in members) if (members[name] === undefined) delete here[name];
  return copy;
}

let names = 0;

function definition(schema: JsonObject, status = false): JsonObject {
  const plural = `wrongs${++names}`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.wrong.example.com` },
    spec: {
      group: "wrong.example.com",
      scope: "Namespaced",
      names: { plural, kind: `Wrong${names}` },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        ...(status ? { subresources: { status: {} } } : {}),
      }],
    },
  };
}

/** Returns the good definitions. Alternatives may not stand at a root whose status is checked separately. */
export function goodCases(): DefinitionCase[] {
  const lowered = LOWERED.map(([name, , schema]) => [name, struct({ spec: struct({ a: schema }) })] as const);
  return [...Object.entries(GOOD), ...lowered].map(([name, schema]) => ({ name, crd: definition(schema, true) }));
}

/** Returns the good schemas with each change at each place. Every fourth one has a subresource for the status. */
export function schemaCases(): DefinitionCase[] {
  return PLACES.flatMap(([name, ...path]) => CHANGES.map((members) => ({ name, path, members }))).map(
    ({ name, path, members }, number) => ({
      name: `${name} ${path.filter((it) => it !== "properties").join(".")} ${JSON.stringify(members)}`,
      crd: definition(changed(GOOD[name], path, members), number % 4 === 0),
    }),
  );
}

const NAMES_AT = ["spec", "names"];
const VERSION = ["spec", "versions", "0"];
const scale = (specReplicasPath: Json, statusReplicasPath: Json, more: JsonObject = {}): JsonObject => ({
  subresources: { status: {}, scale: { specReplicasPath, statusReplicasPath, ...more } },
});
const column = (members: JsonObject): JsonObject => ({
  additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".spec.a", ...members }],
});
const selectable = (...paths: readonly string[]): JsonObject => ({
  selectableFields: paths.map((jsonPath) => ({ jsonPath })),
});
const webhook = (clientConfig: Json, ...conversionReviewVersions: readonly string[]): JsonObject => ({
  conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions } },
});
const service = { name: "a", namespace: "b" };
const version = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: anything },
  ...more,
});

/** Changes to a definition as a whole, by their path. */
const DEFINITION_CHANGES: readonly (readonly [path: readonly string[], members: JsonObject])[] = [
  [["metadata"], { name: "other.wrong.example.com" }],
  [["spec"], { group: undefined }],
  [["spec"], { group: "Wrong.example.com" }],
  [["spec"], { group: "dotless" }],
  [["spec"], { group: "apps.k8s.io" }],
  [["spec"], { scope: undefined }],
  [["spec"], { scope: "Global" }],
  [["spec"], { versions: [] }],
  [["spec"], { preserveUnknownFields: true }],
  [["spec"], { conversion: { strategy: "None" } }],
  [["spec"], { conversion: { strategy: "Magic" } }],
  [["spec"], { conversion: { strategy: "Webhook" } }],
  [["spec"], {
    conversion: { strategy: "None", webhook: { clientConfig: { service }, conversionReviewVersions: ["v1"] } },
  }],
  [["spec"], webhook({ service }, "v1")],
  [["spec"], webhook({ service }, "v1", "v1", "V2")],
  [["spec"], webhook({ service }, "v7")],
  [["spec"], webhook({ service }, ...[])],
  [["spec"], webhook({}, "v1")],
  [["spec"], webhook({ service, url: "https://a" }, "v1")],
  [["spec"], webhook({ url: "http://a/b" }, "v1")],
  [["spec"], webhook({ url: "https://a/b?c#d" }, "v1")],
  [["spec"], webhook({ url: "https:///b" }, "v1")],
  [["spec"], webhook({ service: { name: "", namespace: "b", port: 70000 } }, "v1")],
  [["spec"], webhook({ service: { name: "a", namespace: "", path: "c" } }, "v1")],
  [NAMES_AT, { plural: undefined }],
  [NAMES_AT, { plural: "Upper" }],
  [NAMES_AT, { singular: "two words" }],
  [NAMES_AT, { kind: undefined }],
  [NAMES_AT, { kind: "two words" }],
  [NAMES_AT, { kind: "Same", listKind: "Same" }],
  [NAMES_AT, { listKind: "A_B" }],
  [NAMES_AT, { shortNames: ["ok", "Not"] }],
  [NAMES_AT, { shortNames: [""], categories: ["All"] }],
  [NAMES_AT, { categories: ["all"] }],
  [VERSION, { name: "1" }],
  [VERSION, { name: "V1" }],
  [VERSION, { storage: false }],
  [VERSION, { schema: undefined }],
  [VERSION, { schema: {} }],
  [VERSION, { deprecationWarning: "gone" }],
  [VERSION, { deprecated: true, deprecationWarning: "" }],
  [VERSION, { deprecated: true, deprecationWarning: "a\nb" }],
  [VERSION, { deprecated: true, deprecationWarning: "a".repeat(257) }],
  [VERSION, { deprecated: true, deprecationWarning: "gone" }],
  [VERSION, column({})],
  [VERSION, column({ name: "" })],
  [VERSION, column({ type: "" })],
  [VERSION, column({ type: "text" })],
  [VERSION, column({ format: "int3" })],
  [VERSION, column({ jsonPath: "" })],
  [VERSION, column({ jsonPath: "spec.a" })],
  [VERSION, column({ jsonPath: ".spec[0]", format: "int32" })],
  [VERSION, selectable(".spec.image", ".spec.on", ".spec.replicas")],
  [VERSION, selectable("")],
  [VERSION, selectable("spec.image")],
  [VERSION, selectable(".spec.nobody")],
  [VERSION, selectable(".spec.image", ".spec.image")],
  [VERSION, selectable(".spec.tags")],
  [VERSION, selectable(".spec.tags[0]")],
  [VERSION, selectable(".spec.labels.a", ".spec.owner.a")],
  [VERSION, selectable(".spec")],
  [VERSION, selectable(".metadata.name")],
  [VERSION, scale(".spec.replicas", ".status.replicas", { labelSelectorPath: ".status.selector" })],
  [VERSION, scale("", "")],
  [VERSION, scale("spec.replicas", ".spec.replicas")],
  [VERSION, scale(".status.replicas", ".status.replicas", { labelSelectorPath: ".metadata.name" })],
  [VERSION, scale(".spec.replicas", ".status.replicas", { labelSelectorPath: "status" })],
  [["spec", "versions"], { 1: version("v2") }],
  [["spec", "versions"], { 1: version("v1") }],
  [["spec", "versions"], { 1: version("v2", { storage: true }) }],
  [["spec", "versions"], { 1: version("v2", { schema: undefined }) }],
  [["spec", "versions"], { 1: version("v2", { schema: { openAPIV3Schema: { type: "string" } } }) }],
  [["spec", "versions"], { 1: version("v2", column({ type: "" })) }],
  [["spec", "versions"], { 1: version("v2", scale("", "")) }],
  [["spec", "versions"], { 1: version("v2", selectable(".spec.a")) }],
  [["spec", "versions"], { 1: version("3", { deprecationWarning: "gone" }) }],
];

/** Returns definitions with each change as a whole. */
export function definitionCases(): DefinitionCase[] {
  return DEFINITION_CHANGES.map(([path, members]) => ({
    name: `${path.join(".")} ${JSON.stringify(members)}`,
    crd: changed(definition(GOOD.fields), path, members),
  }));
}
