import { assert, assertEquals, assertThrows } from "@std/assert";
import { moduleId, type TypeModel } from "../../src/codegen/model.ts";
import { readOpenApi } from "../../src/codegen/read_open_api.ts";
import { SchemaError } from "../../src/codegen/model.ts";
import { documentOf, DOCUMENTS, kindSchema, ref, resource, RESOURCES, SHARED } from "./_documents.ts";

/** The type of `spec.field` of the kind Tab, whose spec has this one field. */
function typeOf(field: unknown, more: Record<string, unknown> = {}): TypeModel {
  const schemas = {
    ...SHARED,
    "dev.acme.v1.Tab": kindSchema("acme.dev", "v1", "Tab", { field }),
    ...more,
  };
  const [module] = readOpenApi([documentOf("apis/acme.dev/v1", schemas)], [resource("acme.dev", "v1", "Tab")]);
  return module.kinds[0].type.fields[0].type;
}

const AT = "apis/acme.dev/v1#/components/schemas/dev.acme.v1.Tab/properties/field";

/** Asserts that a field is refused with this path and message. */
function refused(field: unknown, path: string, message: string, more?: Record<string, unknown>): void {
  const error = assertThrows(() => typeOf(field, more), SchemaError, message);
  assertEquals(error.path, path);
  assert(error.message.startsWith(`Cannot generate types of "${path}": `), error.message);
}

Deno.test("readOpenApi reads kinds, the types that they need, and those that groups share", () => {
  const modules = readOpenApi(DOCUMENTS, RESOURCES);
  assertEquals(
    modules.map((module) => [moduleId(module), module.kinds.map((it) => it.name), module.types.map((it) => it.name)]),
    [
      ["apps/v1", ["Set"], ["Container", "SetSpec"]],
      ["core/v1", ["Pod"], ["Container", "PodSpec", "PodStatus", "PodTemplateSpec"]],
      ["meta/v1", [], ["LabelSelector"]],
    ],
  );
  const [apps, core] = modules;
  const { fields: _fields, ...pod } = { ...core.kinds[0], fields: 0, type: undefined };
  assertEquals(pod, {
    name: "Pod",
    kind: "Pod",
    doc: ["Pod is a kind."],
    type: undefined,
    resource: { group: "", version: "v1", plural: "pods", scope: "Namespaced", shortNames: ["po"] },
    stored: true,
  });
  assertEquals(apps.kinds[0].stored, false);
  assertEquals(core.kinds[0].type.fields, [
    { name: "spec", type: { type: "ref", name: "PodSpec" }, required: true, doc: ["The desired state."] },
    { name: "status", type: { type: "ref", name: "PodStatus" }, required: false, doc: [] },
  ]);
  assertEquals(core.types[1], {
    name: "PodSpec",
    doc: ["PodSpec describes a pod (e.g. Its containers)."],
    type: {
      type: "object",
      open: false,
      fields: [
        {
          name: "containers",
          type: { type: "listMap", items: { type: "ref", name: "Container" }, keys: ["name"] },
          required: true,
          doc: [],
        },
        {
          name: "overhead",
          type: { type: "map", values: { type: "shared", name: "Quantity" } },
          required: false,
          doc: [],
        },
        {
          name: "restartPolicy",
          type: { type: "enum", values: ["Always", "Never"] },
          required: false,
          doc: ["It restarts."],
        },
      ],
    },
  });
});

Deno.test("readOpenApi refers to the types of other groups, and puts kinds inside others in their place", () => {
  const [apps] = readOpenApi(DOCUMENTS, RESOURCES);
  const types = new Map(apps.types.find(({ name }) => name === "SetSpec")!.type.fields.map((it) => [it.name, it.type]));
  assertEquals(types.get("selector"), { type: "ref", name: "LabelSelector", module: "meta/v1" });
  assertEquals(types.get("template"), { type: "ref", name: "PodTemplateSpec", module: "core/v1" });
  assertEquals(types.get("raw"), { type: "map", values: { type: "unknown" } });
  assertEquals(types.get("any"), { type: "unknown" });
  const pods = types.get("pods") as TypeModel & { readonly type: "list" };
  const pod = pods.items as TypeModel & { readonly type: "object" };
  assertEquals(pod.fields.map(({ name }) => name), ["apiVersion", "kind", "metadata", "spec", "status"]);
  assertEquals(pod.fields[2].type, { type: "shared", name: "EmbeddedMeta" });
  assertEquals(pod.fields[3].type, { type: "ref", name: "PodSpec", module: "core/v1" });
});

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
  assertEquals(embedded.fields.map(({ name, type, required }) => [name, type.type, required]), [
    ["apiVersion", "string", true],
    ["kind", "enum", true],
    ["metadata", "shared", false],
    ["spec", "string", false],
  ]);
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
  refused("text", AT, 'it must be an object, found "text"');
  refused({ type: "colour" }, `${AT}/type`, 'there is no such type in JSON schemas: "colour"');
  refused({ type: ["string", "null"] }, `${AT}/type`, "there is no such type");
  refused({ type: "string", enum: ["a", 1] }, `${AT}/enum/1`, "it must be a text, found 1");
  refused({ type: "string", description: 7 }, `${AT}/description`, "it must be a text, found 7");
  refused({ type: "object", properties: [] }, `${AT}/properties`, "it must be an object, found []");
  refused({ type: "object", additionalProperties: "a" }, `${AT}/additionalProperties`, "must be a schema or a boolean");
  refused({ type: "object", properties: { "a/b~c": 1 } }, `${AT}/properties/a~1b~0c`, "found 1");
  refused({ allOf: [{ type: "string" }, { type: "object" }] }, `${AT}/allOf`, "it joins 2 schemas");
  refused(ref("dev.acme.v1.Missing"), `${AT}/allOf/0`, "which the document does not have");
  refused({ $ref: "https://acme.dev/a.json" }, AT, "which the document does not have");
  refused({ $ref: 7 }, `${AT}/$ref`, "it must be a text, found 7");
  refused({ type: "object", required: "a", properties: { a: {} } }, `${AT}/required`, "it must be a list of texts");
  const items = { type: "object", properties: { a: { type: "string" } } };
  refused(
    { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b"] },
    `${AT}/x-kubernetes-list-map-keys`,
    'it names the key "b", which is no field of the items',
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
  assertThrows(() => typeOf(deep), SchemaError, "nested more than 100 levels deep");
  const tree = { type: "object", properties: { children: { type: "array", items: ref("dev.acme.v1.Tree") } } };
  assertEquals(typeOf(ref("dev.acme.v1.Tree"), { "dev.acme.v1.Tree": tree }), { type: "ref", name: "Tree" });
});

Deno.test("readOpenApi reads a chain of types that is longer than the stack is deep", () => {
  const chain = Array.from({ length: 20_000 }, (_, i) => [`dev.acme.v1.T${i}`, {
    type: "object",
    properties: { next: i === 19_999 ? {} : ref(`dev.acme.v1.T${i + 1}`) },
  }]);
  assertEquals(typeOf(ref("dev.acme.v1.T0"), Object.fromEntries(chain)), { type: "ref", name: "T0" });
});

Deno.test("readOpenApi refuses kinds within kinds that would grow without bound", () => {
  const kinds = Array.from({ length: 30 }, (_, i) => {
    const inner = i === 29 ? {} : ref(`dev.acme.v1.K${i + 1}`);
    return [`dev.acme.v1.K${i}`, kindSchema("acme.dev", "v1", `K${i}`, { a: inner, b: inner })];
  });
  assertThrows(() => typeOf(ref("dev.acme.v1.K0"), Object.fromEntries(kinds)), SchemaError, "more than 100000 schemas");
});

Deno.test("readOpenApi refuses documents and resources that do not fit each other", () => {
  const tab = resource("acme.dev", "v1", "Tab");
  const document = documentOf("apis/acme.dev/v1", {
    ...SHARED,
    "dev.acme.v1.Tab": kindSchema("acme.dev", "v1", "Tab", {}),
  });
  const cases: [() => unknown, string, string][] = [
    [() => readOpenApi([], [tab]), "apis/acme.dev/v1", "the server has no document of it"],
    [
      () => readOpenApi([{ ...document, content: undefined }], [tab]),
      "apis/acme.dev/v1",
      "must be an object, found nothing",
    ],
    [() => readOpenApi([{ ...document, content: {} }], [tab]), "apis/acme.dev/v1#/components", "must be an object"],
    [
      () => readOpenApi([document], [tab, resource("acme.dev", "v1", "Other")]),
      "apis/acme.dev/v1#/components/schemas",
      'it has no schema of the kind "Other"',
    ],
    [
      () => readOpenApi([document], [tab, { ...tab, plural: "tablets" }]),
      "apis/acme.dev/v1#Tab",
      'the resources "tabs" and "tablets" have this kind',
    ],
    [
      () =>
        readOpenApi([document, { ...document, name: "apis/acme.com/v1" }], [tab, resource("acme.com", "v1", "Tab")]),
      "apis/acme.com/v1#/components/schemas",
      "it has no schema of the kind",
    ],
    [
      () => {
        const twin = documentOf("apis/acme.com/v1", { "com.acme.v1.Tab": kindSchema("acme.com", "v1", "Tab", {}) });
        return readOpenApi([document, twin], [tab, resource("acme.com", "v1", "Tab")]);
      },
      "acme/v1",
      'the groups "acme.com" and "acme.dev" begin with the same label',
    ],
    [() => readOpenApi([document], [{ ...tab, version: "../v1" }]), "acme.dev/../v1", "a version a label"],
    [() => readOpenApi([document], [{ ...tab, group: "../a" }]), "../a/v1", "a group must be a DNS name"],
    [() => readOpenApi([document], [{ ...tab, plural: "a/b" }]), "apis/acme.dev/v1#Tab", 'Cannot use "a/b" as plural'],
  ];
  for (const [run, path, message] of cases) {
    const error = assertThrows(run, SchemaError, message);
    assertEquals(error.path, path);
  }
});
