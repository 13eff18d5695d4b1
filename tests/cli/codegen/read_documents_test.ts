import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { emitModule } from "../../../src/cli/codegen/emit_module.ts";
import { kindsOfCrds, readOpenApi } from "../../../src/cli/codegen/read_documents.ts";
import { type ModuleContent, moduleId, SchemaError, type TypeModel } from "../../../src/cli/codegen/read_schema.ts";
import { crontabDefinition, type Members } from "../../support/crontab.ts";
import { documentOf, DOCUMENTS, kindSchema, ref, resource, RESOURCES, SHARED } from "./_documents.ts";
import { mutated, mutation } from "./_mutations.ts";
import { assertTypesOnly } from "./_types_only.ts";

function read(...definitions: readonly unknown[]): ModuleContent {
  return kindsOfCrds(definitions.map((value, i) => ({ value, path: `crd.yaml, document ${i + 1}#` })));
}

function emit(...definitions: readonly unknown[]): string {
  return emitModule(read(...definitions), {
    header: ["Custom kinds."],
    importedFrom: () => "@kube/informer",
    moduleFrom: (module) => module,
  });
}

/** The definition with one change. */
function changed(change: (spec: Members) => void): Members {
  const definition = crontabDefinition();
  change(definition.spec);
  return definition;
}

/** The definition of a kind with these versions, the first one stored. */
function definition(group: string, kind: string, ...versions: readonly string[]): Members {
  return {
    spec: {
      group,
      names: { kind, plural: `${kind.toLowerCase()}s` },
      scope: "Cluster",
      versions: versions.map((name, i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
      })),
    },
  };
}

function fieldsOf({ types }: ModuleContent, name: string): Map<string, TypeModel> {
  return new Map(types.find((type) => type.name === name)!.type.fields.map((field) => [field.name, field.type]));
}

Deno.test("kindsOfCrds reads each served version, the preferred one under the kind's name", () => {
  const { kinds, types } = read(crontabDefinition());
  assertEquals(kinds.map(({ name, kind, resource }) => [name, kind, resource]), [
    ["CronTab", "CronTab", {
      group: "stable.example.com",
      version: "v1",
      plural: "crontabs",
      scope: "Namespaced",
      shortNames: ["ct"],
      categories: [],
    }],
    ["CronTabV1beta1", "CronTab", {
      group: "stable.example.com",
      version: "v1beta1",
      plural: "crontabs",
      scope: "Namespaced",
      shortNames: ["ct"],
      categories: [],
    }],
  ]);
  assertEquals(
    types.map(({ name }) => name),
    ["CronTabSpec", "CronTabSpecJob", "CronTabSpecSettings", "CronTabSpecSteps", "CronTabStatus", "CronTabV1beta1Spec"],
  );
  const [{ type: { fields } }] = kinds;
  assertEquals(fields.map(({ name, type, required }) => [name, type, required]), [
    ["spec", { type: "ref", name: "CronTabSpec" }, true],
    ["status", { type: "ref", name: "CronTabStatus" }, false],
  ]);
});

Deno.test("kindsOfCrds reads what structural schemas have", () => {
  const fields = fieldsOf(read(crontabDefinition()), "CronTabSpec");
  assertEquals(fields.get("concurrency"), { type: "enum", values: ["Allow", "Forbid"] });
  assertEquals(fields.get("deadline"), { type: "shared", name: "Time" });
  assertEquals(fields.get("extra"), { type: "unknown" });
  assertEquals(fields.get("labels"), { type: "map", values: { type: "string" } });
  assertEquals(fields.get("note"), { type: "nullable", of: { type: "string" } });
  assertEquals(fields.get("port"), { type: "shared", name: "IntOrString" });
  assertEquals(
    fields.get("steps"),
    { type: "listMap", items: { type: "ref", name: "CronTabSpecSteps" }, keys: ["name", "protocol"] },
  );
  assertEquals(fields.get("times"), { type: "list", items: { type: "number" } });
});

Deno.test("kindsOfCrds requires no field that the server fills in", () => {
  const spec = read(crontabDefinition()).types.find(({ name }) => name === "CronTabSpec")!;
  assertEquals(spec.type.fields.filter(({ required }) => required).map(({ name }) => name), ["cronSpec"]);
});

Deno.test("kindsOfCrds describes rules, columns and deprecation", () => {
  const { kinds: [tab, old], types } = read(crontabDefinition());
  assertEquals(tab.doc, [
    "CronTab runs a job at set times.",
    "Columns of `kubectl get`: Schedule (`.spec.cronSpec`), Age (`.metadata.creationTimestamp`).",
  ]);
  assertEquals(old.doc, ["The kind CronTab of stable.example.com/v1beta1.", "Deprecated: use stable.example.com/v1"]);
  const rule = "Rule: `self.replicas <= self.maxReplicas`: replicas must be at most maxReplicas";
  assertEquals(tab.type.fields[0].doc, ["The desired state.", rule]);
  const docOf = (type: string, field: string): readonly string[] =>
    types.find(({ name }) => name === type)!.type.fields.find(({ name }) => name === field)!.doc;
  assertEquals(docOf("CronTabSpecSteps", "name"), ['Rule: `self != "none"`']);
  assertEquals(docOf("CronTabSpec", "times"), ["Rule: `self < 24`"]);
});

Deno.test("kindsOfCrds names versions by Kubernetes' order, and kinds of several groups by their group", () => {
  const namesOf = (...definitions: Members[]): string[] => read(...definitions).kinds.map(({ name }) => name);
  assertEquals(
    namesOf(definition("a.dev", "Tab", "v1beta2", "v2alpha1", "v10", "v2", "stable")),
    ["Tab", "TabStable", "TabV1beta2", "TabV2", "TabV2alpha1"],
  );
  assertEquals(read(definition("a.dev", "Tab", "v2", "v10")).kinds[0].resource.version, "v10");
  assertEquals(read(definition("a.dev", "Tab", "v1beta1", "v1alpha2")).kinds[0].resource.version, "v1beta1");
  assertEquals(
    namesOf(definition("my-acme.dev", "Tab", "v1"), definition("other.dev", "Tab", "v1", "v1beta1")),
    ["MyAcmeTab", "OtherTab", "OtherTabV1beta1"],
  );
  const twins = [definition("acme.dev", "Tab", "v1"), definition("acme.com", "Tab", "v1")];
  assertEquals(namesOf(...twins), ["AcmeTab", "AcmeTab2"]);
});

Deno.test("kindsOfCrds reads objects whose names would be equal as types of their own", () => {
  const tab = definition("a.dev", "Tab", "v1");
  const object = (field: string): unknown => ({ type: "object", properties: { [field]: { type: "string" } } });
  tab.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties = { "a-b": object("one"), aB: object("two") };
  const module = read(tab, definition("a.dev", "TabSpec", "v1"));
  assertEquals(module.kinds.map(({ name }) => name), ["Tab", "TabSpec"]);
  assertEquals(
    module.types.map(({ name, type }) => [name, type.fields.map((field) => field.name)]),
    [["TabSpec2", ["a-b", "aB"]], ["TabSpec2AB", ["one"]], ["TabSpec2AB2", ["two"]]],
  );
});

Deno.test("kindsOfCrds gives the same module for definitions in any order", () => {
  const definitions = [
    crontabDefinition(),
    definition("a.dev", "CronTab", "v1", "v2"),
    definition("a.dev", "Tab", "v1"),
  ];
  assertEquals(emit(...[...definitions].reverse()), emit(...definitions));
});

Deno.test("kindsOfCrds refuses definitions that are malformed or not complete, with the path", () => {
  const schema = "/spec/versions/0/schema/openAPIV3Schema";
  const cases: [unknown, string, string][] = [
    ["text", "", 'it must be an object, found "text"'],
    [{ kind: "CustomResourceDefinition" }, "/spec", "it must be an object, found nothing"],
    [{ ...crontabDefinition(), apiVersion: "apiextensions.k8s.io/v1beta1" }, "/apiVersion", "found"],
    [changed((spec) => delete spec.names), "/spec/names", "it must be an object, found nothing"],
    [changed((spec) => delete spec.names.kind), "/spec/names/kind", "it must be a text, found nothing"],
    [changed((spec) => spec.group = ""), "/spec/group", 'it must be a text, found ""'],
    [changed((spec) => spec.group = "../a"), "/spec/versions/0", "a group must be a DNS name"],
    [changed((spec) => spec.names.plural = "a/b"), "/spec/names", 'Cannot use "a/b" as plural'],
    [changed((spec) => spec.scope = "Global"), "/spec/scope", 'it must be "Namespaced" or "Cluster", found "Global"'],
    [changed((spec) => delete spec.versions), "/spec/versions", "one version must be stored, found 0 of 0"],
    [changed((spec) => spec.versions[1].storage = true), "/spec/versions", "one version must be stored, found 2 of 3"],
    [changed((spec) => spec.versions[1].name = "v1"), "/spec/versions/1", 'another version is named "v1"'],
    [changed((spec) => delete spec.versions[0].storage), "/spec/versions/0/storage", "found nothing"],
    [changed((spec) => delete spec.versions[0].served), "/spec/versions/0/served", "it must be true or false"],
    [
      changed((spec) => delete spec.versions[0].schema),
      "/spec/versions/0/schema",
      "it must be an object, found nothing",
    ],
    [changed((spec) => spec.versions[0].schema = {}), schema, "it must be an object, found nothing"],
    [changed((spec) => spec.versions[0].schema.openAPIV3Schema = {}), `${schema}/type`, 'it must be "object"'],
    [
      changed((spec) => spec.versions[0].additionalPrinterColumns[1] = { name: "A" }),
      "/spec/versions/0/additionalPrinterColumns/1/jsonPath",
      "it must be a text, found nothing",
    ],
    [
      changed((spec) => spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.port = { $ref: "#/a" }),
      `${schema}/properties/spec/properties/port`,
      "a definition cannot refer to other schemas",
    ],
    [
      changed((spec) => spec.versions[0].schema.openAPIV3Schema.properties.spec["x-kubernetes-validations"] = [{}]),
      `${schema}/properties/spec/x-kubernetes-validations/0/rule`,
      "it must be a text, found nothing",
    ],
  ];
  for (const [value, path, message] of cases) {
    const error = assertThrows(() => read(value), SchemaError, message);
    assertEquals(error.path, `crd.yaml, document 1#${path}`);
  }
  const twin = assertThrows(() => read(crontabDefinition(), crontabDefinition()), SchemaError);
  assertEquals(twin.path, "crd.yaml, document 2#");
  assertStringIncludes(twin.message, '"crd.yaml, document 1#" defines the kind "CronTab" of this group too');
});

Deno.test("kindsOfCrds reads names and descriptions of any kind, and nothing escapes from them", () => {
  const evil = `*/ export const evil = 1; /* \n\u2028 \`\`\`ts\n@example {@link evil}`;
  const text = emit(changed((spec) => {
    spec.names = { kind: evil, plural: "evils", shortNames: [evil], categories: [evil] };
    spec.versions[0].additionalPrinterColumns = [{ name: evil, jsonPath: evil }];
    const { properties, "x-kubernetes-validations": rules } = spec.versions[0].schema.openAPIV3Schema.properties.spec;
    rules[0] = { rule: evil, message: evil };
    properties[evil] = { type: "object", description: evil, properties: { [evil]: { type: "string", enum: [evil] } } };
    properties["9-lives"] = { type: "object", properties: { "": { type: "boolean" } } };
  }));
  assertTypesOnly(text);
  assertEquals(/^\s*export const evil/m.test(text), false);
  assertEquals(text.match(/^ *\/?\*.*```|^ *\* @(?!module)|[\u2028\u2029]/gm), null);
  assertStringIncludes(text, 'readonly "9-lives"?: ');
});

Deno.test("a kind that is named like a type of the package gets another name", () => {
  const text = emit(definition("a.dev", "Resource", "v1"), definition("a.dev", "ListMap", "v1"));
  assertStringIncludes(text, "export interface Resource_ extends ClusterScopedObject");
  assertStringIncludes(text, 'readonly kind?: "Resource";');
  assertStringIncludes(text, "export interface ListMap_ ");
});

Deno.test("kindsOfCrds of any definition gives types alone, or an error of ours that names the path", () => {
  let generated = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
      const start = [crontabDefinition(), definition("a.dev", "Tab", "v1")];
      // A document has no holes in its lists.
      const definitions: unknown = JSON.parse(JSON.stringify(mutations.reduce<unknown>(mutated, start)));
      let text: string;
      try {
        text = emit(...Object.values(definitions ?? {}));
      } catch (error) {
        assert(error instanceof SchemaError, String((error as Error).stack));
        assert(error.path.startsWith("crd.yaml, document ") && error.message.includes(error.path), error.message);
        refused++;
        return;
      }
      generated++;
      assertTypesOnly(text);
    }),
    { numRuns: 150 },
  );
  assert(generated > 12 && refused > 12, `${generated} generated, ${refused} refused`);
});

/** The type of `spec.field` of the kind Tab, whose spec has this one field. */
function typeOf(field: unknown, more: Record<string, unknown> = {}): TypeModel {
  const schemas = { ...SHARED, "dev.acme.v1.Tab": kindSchema("acme.dev", "v1", "Tab", { field }), ...more };
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
    resource: {
      group: "",
      version: "v1",
      plural: "pods",
      scope: "Namespaced",
      shortNames: ["po"],
      categories: ["all"],
    },
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
