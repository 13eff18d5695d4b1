import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { emitModule } from "../../../src/cli/codegen/emit_module.ts";
import { kindsOfCrds } from "../../../src/cli/codegen/read_documents.ts";
import { DocumentError, type ModuleContent, type TypeModel } from "../../../src/cli/codegen/read_schema.ts";
import { mutated, mutation } from "../../support/codegen/mutations.ts";
import { assertTypesOnly } from "../../support/codegen/types_only.ts";
import { crontabDefinition, type Members } from "../../support/sources/crontab.ts";

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
    ["text", "", 'it must be an object, but it is "text"'],
    [{ kind: "CustomResourceDefinition" }, "/spec", "it must be an object, but it is missing"],
    [{ ...crontabDefinition(), apiVersion: "apiextensions.k8s.io/v1beta1" }, "/apiVersion", "but it is"],
    [changed((spec) => delete spec.names), "/spec/names", "it must be an object, but it is missing"],
    [changed((spec) => delete spec.names.kind), "/spec/names/kind", "it must be a text, but it is missing"],
    [changed((spec) => spec.group = ""), "/spec/group", 'it must be a text, but it is ""'],
    [changed((spec) => spec.group = "../a"), "/spec/versions/0", "a group must be a DNS name"],
    [changed((spec) => spec.names.plural = "a/b"), "/spec/names", 'Cannot use "a/b" as plural'],
    [
      changed((spec) => spec.scope = "Global"),
      "/spec/scope",
      'it must be "Namespaced" or "Cluster", but it is "Global"',
    ],
    [changed((spec) => delete spec.versions), "/spec/versions", "exactly one version must be stored, but 0 of 0 are"],
    [
      changed((spec) => spec.versions[1].storage = true),
      "/spec/versions",
      "exactly one version must be stored, but 2 of 3 are",
    ],
    [changed((spec) => spec.versions[1].name = "v1"), "/spec/versions/1", 'another version is named "v1"'],
    [changed((spec) => delete spec.versions[0].storage), "/spec/versions/0/storage", "it is missing"],
    [changed((spec) => delete spec.versions[0].served), "/spec/versions/0/served", "it must be true or false"],
    [
      changed((spec) => delete spec.versions[0].schema),
      "/spec/versions/0/schema",
      "it must be an object, but it is missing",
    ],
    [changed((spec) => spec.versions[0].schema = {}), schema, "it must be an object, but it is missing"],
    [changed((spec) => spec.versions[0].schema.openAPIV3Schema = {}), `${schema}/type`, 'it must be "object"'],
    [
      changed((spec) => spec.versions[0].additionalPrinterColumns[1] = { name: "A" }),
      "/spec/versions/0/additionalPrinterColumns/1/jsonPath",
      "it must be a text, but it is missing",
    ],
    [
      changed((spec) => spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.port = { $ref: "#/a" }),
      `${schema}/properties/spec/properties/port`,
      "but a CustomResourceDefinition cannot refer to other schemas",
    ],
    [
      changed((spec) => spec.versions[0].schema.openAPIV3Schema.properties.spec["x-kubernetes-validations"] = [{}]),
      `${schema}/properties/spec/x-kubernetes-validations/0/rule`,
      "it must be a text, but it is missing",
    ],
  ];
  for (const [value, path, message] of cases) {
    const error = assertThrows(() => read(value), DocumentError, message);
    assertEquals(error.path, `crd.yaml, document 1#${path}`);
  }
  const twin = assertThrows(() => read(crontabDefinition(), crontabDefinition()), DocumentError);
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
        assert(error instanceof DocumentError, String((error as Error).stack));
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
