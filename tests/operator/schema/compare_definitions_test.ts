import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { compareDefinitions } from "../../../src/operator/schema/compare_definitions.ts";
import { isObject, type Json, type JsonObject } from "../../../src/engine/api/json.ts";
import { schemaOfOpenApi, type Struct } from "../../../src/operator/schema/values/object_schema.ts";
import { prune } from "../../../src/operator/schema/values/prune.ts";
import { validateCustom } from "../../../src/operator/schema/values/validate.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import {
  mutated,
  narrowings,
  objectSchema,
  placesOf,
  randomSchema,
  randomValue,
} from "../../support/schema/random_schemas.ts";

/** A version with a schema of `spec`, and what is given besides. */
function version(spec: JsonObject, more: JsonObject = {}): JsonObject {
  const openAPIV3Schema = { type: "object", properties: { spec } };
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...more };
}

function definition(versions: readonly JsonObject[], more: JsonObject = {}, names: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "websites.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "websites", kind: "Website", ...names },
      versions,
      ...more,
    },
  };
}

/** The changes as texts: `"field removed v1 spec.a: stored objects"`. */
function changes(before: JsonObject, after: JsonObject | undefined): string[] {
  return compareDefinitions(before, after).map(({ change, version, path, breaks }) =>
    `${change} ${version === undefined ? "" : `${version} `}${path}: ${breaks}`
  );
}

const ofSpec = (spec: JsonObject): JsonObject => definition([version(spec)]);
const text: JsonObject = { type: "string" };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const list = (more: JsonObject): JsonObject => ({ type: "array", items: text, ...more });
const keyed = (...keys: string[]): JsonObject => ({
  type: "array",
  items: object({ a: text, b: text }, { required: ["a", "b"] }),
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});

Deno.test("compareDefinitions reports each narrowing of a schema, and not its reverse", () => {
  const random = new Random(1);
  for (const { change, at, wide, narrow } of narrowings(random)) {
    const breaks = change.startsWith("rule") || change === "combination changed"
      ? "possibly stored objects"
      : "stored objects";
    assertEquals(changes(ofSpec(wide), ofSpec(narrow)), [`${change} v1 spec${at}: ${breaks}`]);
    assertEquals(changes(ofSpec(narrow), ofSpec(wide)), [], `the reverse of ${change}`);
  }
});

Deno.test("compareDefinitions reports changes of schemas that break in both directions", () => {
  const withDefault = object({ a: { ...text, default: "x" } });
  const required = { required: ["a"] };
  const rows: [JsonObject, JsonObject, string[], string[]][] = [
    [text, { type: "integer" }, ["type changed v1 spec: stored objects"], ["type changed v1 spec: stored objects"]],
    [
      { ...text, pattern: "^a" },
      { ...text, pattern: "^b" },
      ["pattern changed v1 spec: possibly stored objects"],
      ["pattern changed v1 spec: possibly stored objects"],
    ],
    [
      { ...text, format: "uuid" },
      { ...text, format: "ipv4" },
      ["format changed v1 spec: stored objects"],
      ["format changed v1 spec: stored objects"],
    ],
    [
      { ...text, default: "x" },
      { ...text, default: "y" },
      ["default changed v1 spec: clients"],
      ["default changed v1 spec: clients"],
    ],
    [withDefault, object({ a: text }), ["default removed v1 spec.a: clients"], []],
    [
      { ...withDefault, ...required },
      object({ a: text }, required),
      ["default removed v1 spec.a: clients", "required added v1 spec.a: stored objects"],
      [],
    ],
    [
      list({ "x-kubernetes-list-type": "set" }),
      list({}),
      ["list type changed v1 spec: clients"],
      ["list type changed v1 spec: stored objects"],
    ],
    [
      keyed("a"),
      keyed("a", "b"),
      ["list keys changed v1 spec: stored objects"],
      ["list keys changed v1 spec: stored objects"],
    ],
    [keyed("a", "b"), keyed("b", "a"), [], []],
    [object({ constructor: text }), object({}), ["field removed v1 spec.constructor: stored objects"], []],
    [
      object({}),
      object({ a: text }, required),
      ["required added v1 spec.a: stored objects"],
      ["field removed v1 spec.a: stored objects"],
    ],
    [
      object({}),
      object({}, { "x-kubernetes-map-type": "atomic" }),
      ["map type changed v1 spec: clients"],
      ["map type changed v1 spec: clients"],
    ],
    [
      text,
      { ...text, enum: ["a"], default: "a", nullable: true },
      ["enum added v1 spec: stored objects"],
      ["nullable removed v1 spec: stored objects", "default removed v1 spec: clients"],
    ],
  ];
  for (const [before, after, forth, back] of rows) {
    assertEquals(changes(ofSpec(before), ofSpec(after)), forth, JSON.stringify([before, after]));
    assertEquals(changes(ofSpec(after), ofSpec(before)), back, JSON.stringify([after, before]));
  }
});

Deno.test("compareDefinitions reports nothing that only makes a schema wider", () => {
  const rows: [JsonObject, JsonObject][] = [
    [object({}), object({ part: object({ a: text }, { required: ["a"], minProperties: 1 }) })],
    [object({}), object({ a: { ...text, default: "x" } }, { required: ["a"] })],
    [{ type: "integer" }, { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }],
    [{ type: "integer", format: "int32" }, { type: "integer", format: "int64" }],
    [text, { ...text, format: "int-or-string", description: "other", title: "T" }],
    [list({}), list({ minItems: 0, "x-kubernetes-list-type": "atomic" })],
    [object({ a: text }), { type: "object", additionalProperties: text }],
    [object({ a: text }), { "x-kubernetes-preserve-unknown-fields": true }],
    [
      { ...text, "x-kubernetes-validations": [{ rule: "self != ''", message: "a" }] },
      { ...text, "x-kubernetes-validations": [{ rule: "self != ''", message: "b", reason: "FieldValueInvalid" }] },
    ],
  ];
  for (const [before, after] of rows) assertEquals(changes(ofSpec(before), ofSpec(after)), [], JSON.stringify(after));
  const twoVersions = [version(text), version(object({}), { name: "v2", storage: false })];
  assertEquals(changes(ofSpec(text), definition(twoVersions)), []);
});

Deno.test("compareDefinitions names places in lists and maps, and leaves out what every object has", () => {
  const deep = (leaf: JsonObject): JsonObject =>
    object({ m: { type: "object", additionalProperties: { type: "array", items: object({ leaf }) } } });
  const [change] = compareDefinitions(ofSpec(deep(text)), ofSpec(deep({ ...text, maxLength: 3 })));
  assertEquals([change.path, change.version], ["spec.m.*[].leaf", "v1"]);
  assertStringIncludes(
    change.message,
    "websites.example.com v1 spec.m.*[].leaf: bound narrowed (maxLength none to 3). ",
  );
  const ofRoot = (properties: JsonObject): JsonObject =>
    definition([version({}, { schema: { openAPIV3Schema: object(properties) } })]);
  assertEquals(changes(ofRoot({ kind: text, metadata: { type: "object" }, extra: text }), ofRoot({})), [
    "field removed v1 extra: stored objects",
  ]);
});

Deno.test("compareDefinitions reports changes of the definition", () => {
  const base = [version(text)];
  const hook = { conversion: { strategy: "Webhook" } };
  const columns = { additionalPrinterColumns: [{ name: "Size", type: "string", jsonPath: ".spec" }] };
  const fields = { selectableFields: [{ jsonPath: ".spec" }] };
  const scale = (path: string): JsonObject => ({ subresources: { scale: { specReplicasPath: path } } });
  const names = (more: JsonObject): JsonObject => definition(base, {}, more);
  const FIXED = "stored objects";
  const rows: [JsonObject, JsonObject, string[], string[]][] = [
    [
      definition(base),
      definition(base, { group: "b.dev" }),
      [`group changed spec.group: ${FIXED}`],
      [`group changed spec.group: ${FIXED}`],
    ],
    [
      definition(base),
      definition(base, { scope: "Cluster" }),
      [`scope changed spec.scope: ${FIXED}`],
      [`scope changed spec.scope: ${FIXED}`],
    ],
    [
      names({}),
      names({ plural: "sites" }),
      [`plural changed spec.names.plural: ${FIXED}`],
      [`plural changed spec.names.plural: ${FIXED}`],
    ],
    [
      names({ singular: "website", listKind: "WebsiteList" }),
      names({ kind: "Site", singular: "website", listKind: "WebsiteList" }),
      [`kind changed spec.names.kind: ${FIXED}`],
      [`kind changed spec.names.kind: ${FIXED}`],
    ],
    [
      names({}),
      names({ singular: "site" }),
      ["name removed spec.names.singular: clients"],
      ["name removed spec.names.singular: clients"],
    ],
    [names({}), names({ singular: "website", listKind: "WebsiteList" }), [], []],
    [names({ shortNames: ["ws"] }), names({}), ["name removed spec.names.shortNames: clients"], []],
    [names({ categories: ["all"] }), names({}), ["name removed spec.names.categories: clients"], []],
    [
      definition([...base, { ...version(text), name: "v2" }]),
      definition([...base, { ...version(text), name: "v2" }], hook),
      ["conversion changed spec.conversion.strategy: clients"],
      ["conversion changed spec.conversion.strategy: stored objects"],
    ],
    [definition(base), definition(base, hook), [], []],
    // Nothing was converted before.
    [
      definition(base),
      definition([...base, { ...version(text), name: "v2" }], hook),
      [],
      ["stored version removed spec.versions[v2]: stored objects"],
    ],
    [definition(base), definition(base, { conversion: { strategy: "None" } }), [], []],
    [
      definition(base, { preserveUnknownFields: true }),
      definition(base),
      ["unknown fields removed spec.preserveUnknownFields: stored objects"],
      [],
    ],
    [
      definition(base),
      definition([version(text, { served: false })]),
      ["version not served v1 served: clients"],
      [],
    ],
    [
      definition([version(text, columns)]),
      definition(base),
      ["column removed v1 additionalPrinterColumns: clients"],
      [],
    ],
    [
      definition([version(text, fields)]),
      definition(base),
      ["selectable field removed v1 selectableFields: clients"],
      [],
    ],
    [
      definition([version(text, scale(".a"))]),
      definition(base),
      ["subresource removed v1 subresources.scale: clients"],
      [],
    ],
    [
      definition([version(text, scale(".a"))]),
      definition([version(text, scale(".b"))]),
      ["scale changed v1 subresources.scale: clients"],
      ["scale changed v1 subresources.scale: clients"],
    ],
    [
      definition(base),
      definition([version(text, { subresources: { status: {} } })]),
      ["status added v1 subresources.status: clients"],
      ["subresource removed v1 subresources.status: clients"],
    ],
  ];
  for (const [before, after, forth, back] of rows) {
    assertEquals(changes(before, after), forth);
    assertEquals(changes(after, before), back, `the reverse of ${forth}`);
  }
  assertEquals(changes(definition(base), undefined), ["definition removed spec: stored objects"]);
});

Deno.test("compareDefinitions reports dropped versions by what may be stored in them", () => {
  const beta = version(text, { name: "v1beta1", storage: false });
  const after = definition([version(text)]);
  const before = definition([version(text), beta]);
  assertEquals(changes(before, after), ["version removed spec.versions[v1beta1]: clients"]);
  const stored = { ...before, status: { storedVersions: ["v1beta1", "v1"] } };
  assertEquals(changes(stored, after), ["stored version removed spec.versions[v1beta1]: stored objects"]);
  const unserved = definition([version(text), { ...beta, served: false }]);
  assertEquals(changes(unserved, after), []);
  assertEquals(changes({ ...unserved, status: { storedVersions: ["v1beta1"] } }, after).length, 1);
  const old = definition([version(text, { name: "v1beta1" })]);
  assertEquals(changes(old, after), ["stored version removed spec.versions[v1beta1]: stored objects"]);
});

Deno.test("compareDefinitions refuses what is no definition in v1", () => {
  const old = { kind: "CustomResourceDefinition", metadata: { name: "a.b" }, spec: { version: "v1beta1" } };
  assertThrows(
    () => compareDefinitions(ofSpec(text), old),
    TypeError,
    'Cannot compare definitions: "a.b" has no list spec.versions. Pass definitions in apiextensions.k8s.io/v1',
  );
});

Deno.test("compareDefinitions finds each narrowing anywhere in random schemas, and no widening", () => {
  const found = new Map<string, number>();
  for (let seed = 1; seed <= 400; seed++) {
    const random = new Random(seed);
    const schema = objectSchema(random, 3);
    const places = placesOf(schema).slice(1);
    if (places.length === 0) continue;
    const { path, replaced } = random.pick(places);
    const { change, at, wide, narrow } = random.pick(narrowings(random));
    const [before, after] = [ofSpec(replaced(wide)), ofSpec(replaced(narrow))];
    const names = (left: JsonObject, right: JsonObject): string[] =>
      compareDefinitions(left, right).map(({ change, path }) => `${change} ${path}`);
    assertEquals(
      names(before, after),
      [`${change} spec${path.startsWith("[") ? "" : "."}${path}${at}`],
      `seed ${seed}`,
    );
    assertEquals(names(after, before), [], `seed ${seed}`);
    found.set(change, (found.get(change) ?? 0) + 1);
  }
  assertEquals(found.size, new Set(narrowings(new Random(1)).map(({ change }) => change)).size, "each kind of change");
});

Deno.test("after random changes without a report, every valid object stays valid and keeps its fields", () => {
  let [broken, unreported, quiet] = [0, 0, 0];
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = new Random(seed);
    const before: JsonObject = { type: "object", properties: { a: randomSchema(random), b: randomSchema(random, 2) } };
    const after = mutated(random, before);
    if (after.type !== "object") continue; // objects are
    const isReported = compareDefinitions(ofSpec(before), ofSpec(after)).some(({ breaks }) =>
      breaks === "stored objects"
    );
    if (!isReported) quiet++;
    for (let round = 0; round < 12; round++) {
      const value = randomValue(random, before);
      if (!fits(before, value) || fits(after, value)) continue;
      if (isReported) broken++;
      else {
        unreported++;
        console.error(`seed ${seed}:`, JSON.stringify({ before, after, value }));
      }
      break;
    }
  }
  assertEquals(unreported, 0);
  assert(broken > 300 && quiet > 300, `${broken} objects were broken, ${quiet} changes were not reported`);
});

/** Returns true if a server accepts the value as it is, and drops nothing from it. */
function fits(schema: JsonObject, value: Json): boolean {
  const walked = schemaOfOpenApi({ type: "object", properties: { value: schema } }, { type: "any" }) as Struct;
  const unknown: string[] = [];
  const kept = prune(walked, { value }, "", unknown) as JsonObject;
  return unknown.length === 0 && validateCustom(walked, kept).length === 0 && isKept(value, kept.value);
}

/** Returns true if all parts of a value are in another one. */
function isKept(value: Json | undefined, kept: Json | undefined): boolean {
  if (isObject(value)) return isObject(kept) && Object.keys(value).every((name) => isKept(value[name], kept[name]));
  if (Array.isArray(value)) return Array.isArray(kept) && value.every((item, index) => isKept(item, kept[index]));
  return value === kept;
}

Deno.test("a definition that is nested too deep is refused by name", () => {
  const nested = (levels: number): JsonObject => {
    let schema: JsonObject = { type: "string" };
    for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } };
    return schema;
  };
  const [before, deep] = [999, 5_000].map((levels) => definition([version(nested(levels))]));
  assertEquals(compareDefinitions(before, before), []);
  for (const [old, now] of [[before, deep], [deep, before]]) {
    assertThrows(
      () => compareDefinitions(old, now),
      TypeError,
      'Cannot compare definitions: "websites.example.com" is nested more than 2020 deep. Flatten its schemas',
    );
  }
});

/** The changes in which a version loses fields. */
function losses(before: JsonObject, after: JsonObject): string[] {
  return compareDefinitions(before, after).filter(({ change }) => change === "conversion missing").map((it) => {
    assertEquals([it.breaks, it.path], ["stored objects", "schema"]);
    return `${it.version}: ${/\((.*)\)/.exec(it.message)?.[1]}`;
  });
}

Deno.test("compareDefinitions reports versions that lose fields because no webhook converts them", () => {
  const old = version(object({ image: text, size: text }), { name: "v1alpha1", storage: false });
  const now = version(object({ size: text }));
  const [before, hook] = [definition([{ ...old, storage: true }]), { conversion: { strategy: "Webhook" } }];
  const after = definition([old, now]);
  assertEquals(losses(before, after), ["v1: v1alpha1 has spec.image"]);
  assertEquals(losses(before, definition([old, now], { conversion: { strategy: "None" } })).length, 1);
  assertEquals(losses(before, definition([old, now], hook)), []);
  assertEquals(losses(after, after), []);
  // Objects that are stored in the older version, although it is not served.
  const unserved = definition([{ ...old, served: false }, now]);
  assertEquals(losses(before, unserved), ["v1: v1alpha1 has spec.image"]);
  assertEquals(losses({ ...after, status: { storedVersions: ["v1"] } }, unserved), []);
  const newest = version(object({ size: text, port: text }));
  assertEquals(losses(unserved, definition([{ ...old, served: false }, newest])), []);
  const open = version(object({}, { "x-kubernetes-preserve-unknown-fields": true }));
  assertEquals(losses(before, definition([old, open])), ["v1alpha1: v1 has spec.*"]);
  const newer = version(object({ size: text, port: text, list: { type: "array", items: object({ name: text }) } }));
  assertEquals(losses(after, definition([old, newer])), ["v1alpha1: v1 has spec.port, spec.list"]);
  const many = object(Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, text])));
  const wide = { ...version(many), name: "v1alpha1", storage: false };
  assertEquals(losses(before, definition([wide, version(object({}))])), [
    "v1: v1alpha1 has spec.a, spec.b, spec.c, …",
  ]);
});
