import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { ApiResource } from "../../src/engine/api/resource.ts";
import { DocumentError, type TypeModel } from "../../src/cli/codegen/read_schema.ts";
import { emitModules, moduleId, type OpenApiDocument, readOpenApi } from "../../tools/open_api.ts";
import {
  documentOf,
  DOCUMENTS,
  kindSchema,
  ref,
  resource,
  RESOURCES,
  SHARED,
  typeOf,
} from "../support/codegen/documents.ts";
import { anything, mutated, mutation } from "../support/codegen/mutations.ts";
import { assertTypesOnly } from "../support/codegen/types_only.ts";

function emit(documents: readonly OpenApiDocument[], resources: readonly ApiResource[]): Map<string, string> {
  return emitModules(
    readOpenApi(documents, resources),
    ({ group, version }, shared) => [`${shared ? "Types" : "Kinds"} of "${group}", version ${version}.`],
    () => "@kube/informer",
  );
}

Deno.test("emitModules writes an interface and a resource for each kind, and an interface for each type", () => {
  const files = emit(DOCUMENTS, RESOURCES);
  assertEquals([...files.keys()], ["apps/v1.ts", "core/v1.ts", "core/v1_shared.ts", "meta/v1.ts"]);
  for (const text of files.values()) assertTypesOnly(text);
  assertEquals(
    files.get("core/v1.ts"),
    `/**
 * Kinds of "", version v1.
 *
 * @module
 */
import type { PodSpec, PodStatus } from "./v1_shared.ts";
import { type NamespacedObject, type Resource, defineResource } from "@kube/informer";
export type * from "./v1_shared.ts";

/** Pod is a kind. */
export interface Pod extends NamespacedObject {
  /** Group and version. */
  readonly apiVersion?: "v1";
  /** The kind. */
  readonly kind?: "Pod";
  /** The desired state. */
  readonly spec: PodSpec;
  /** The field \`status\`. */
  readonly status?: PodStatus;
}
/** The resource of \`Pod\`: \`"pods"\`, \`"po"\`. */
export const Pod: Resource<Pod> = defineResource<Pod>({
  version: "v1",
  plural: "pods",
  kind: "Pod",
  shortNames: ["po"],
  categories: ["all"],
});
`,
  );
  const shared = files.get("core/v1_shared.ts")!;
  assertStringIncludes(shared, 'readonly containers: ListMap<Container, "name">;');
  assertStringIncludes(shared, 'readonly restartPolicy?: OpenEnum<"Always" | "Never">;');
  assertStringIncludes(shared, "readonly overhead?: { readonly [name: string]: Quantity };");
  assertStringIncludes(shared, 'readonly "strange-name"?: boolean;');
  assertStringIncludes(shared, "readonly metadata?: Partial<ObjectMeta>;");
});

Deno.test("emitModules imports types of other groups, under another name where the module has that name", () => {
  const apps = emit(DOCUMENTS, RESOURCES).get("apps/v1.ts")!;
  assertStringIncludes(
    apps,
    'import type { Container as CoreContainer, PodSpec, PodStatus, PodTemplateSpec } from "../core/v1_shared.ts";',
  );
  assertStringIncludes(apps, 'import type { LabelSelector } from "../meta/v1.ts";');
  assertStringIncludes(apps, "readonly of?: CoreContainer;");
  assertStringIncludes(apps, "readonly children?: readonly Container[];");
  assertStringIncludes(apps, "export interface Set extends EphemeralObject {");
  assertStringIncludes(apps, 'scope: "Cluster",');
});

Deno.test("emitModules gives the same text for documents in any order", () => {
  const reversed = (value: unknown): unknown =>
    typeof value !== "object" || value === null
      ? value
      : Array.isArray(value)
      ? value.map(reversed)
      : Object.fromEntries(Object.entries(value).reverse().map(([key, value]) => [key, reversed(value)]));
  const other = emit(
    [...DOCUMENTS].reverse().map(({ name, content }) => ({ name, content: reversed(content) })),
    [...RESOURCES].reverse(),
  );
  assertEquals(other, emit(DOCUMENTS, RESOURCES));
});

Deno.test("emitModules writes names and descriptions of any kind, and nothing escapes from them", () => {
  const evil = `*/ export const evil = 1; /* \n\u2028 \`\`\`ts\n@example {@link evil}`;
  const schemas = {
    ...SHARED,
    "dev.acme.v1.class": { type: "object", properties: { a: { type: "string", description: evil } } },
    "dev.acme.v1.Time": {
      type: "object",
      description: evil,
      properties: { "new\nline": { type: "string", enum: [evil] } },
    },
    "dev.acme.v1.9 lives": { type: "object", properties: { '"': { type: "string" } } },
    "dev.acme.v1.Tab": kindSchema("acme.dev", "v1", "Tab", {
      a: ref("dev.acme.v1.class"),
      b: ref("dev.acme.v1.Time"),
      c: ref("dev.acme.v1.9 lives"),
      d: { type: "array", nullable: true, items: { type: "string", nullable: true } },
      e: { type: "object", properties: { f: { type: "boolean" } }, "x-kubernetes-preserve-unknown-fields": true },
    }, { description: evil }),
  };
  const text = emit([documentOf("apis/acme.dev/v1", schemas)], [
    resource("acme.dev", "v1", "Tab", { shortNames: [evil], categories: [evil] }),
  ]).get("acme/v1.ts")!;
  assertTypesOnly(text);
  assertEquals(text.includes("export const evil"), true);
  assertEquals(/^\s*export const evil/m.test(text), false);
  assertEquals(text.match(/^ *\/?\*.*```|^ *\* @(?!module)|[\u2028\u2029]/gm), null);
  for (const line of ["export interface class_ {", "export interface Time_ {", "export interface _9_lives {"]) {
    assertStringIncludes(text, line);
  }
  assertStringIncludes(text, "readonly d?: readonly (string | null)[] | null;");
  assertStringIncludes(text, "readonly [name: string]: unknown;");
});

Deno.test("emitModules refuses a resource whose kind is no text", () => {
  const odd = { ...RESOURCES[1], kind: [{ toString: 0 }] } as unknown as ApiResource;
  assertThrows(() => emit(DOCUMENTS, [RESOURCES[0], odd]), DocumentError, '[{"toString":0}]');
});

Deno.test("emitModules of any document gives types alone, or an error of ours that names the path", () => {
  let generated = 0;
  let refused = 0;
  fc.assert(
    fc.property(
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      fc.record({
        kind: anything,
        plural: anything,
        shortNames: fc.array(fc.string({ unit: "binary" })),
        categories: fc.array(fc.string()),
      }),
      fc.nat(9),
      (mutations, discovered, dice) => {
        const contents = mutations.reduce<unknown>(mutated, DOCUMENTS.map(({ content }) => content)) as unknown[];
        const documents = DOCUMENTS.map(({ name }, i) => ({ name, content: contents?.[i] }));
        const resources = dice > 0 ? RESOURCES : [RESOURCES[0], { ...RESOURCES[1], ...discovered } as ApiResource];
        let files: Map<string, string>;
        try {
          files = emit(documents, resources);
        } catch (error) {
          assert(error instanceof DocumentError, String((error as Error).stack));
          assert(error.path !== "" && error.message.includes(error.path), error.message);
          refused++;
          return;
        }
        generated++;
        for (const text of files.values()) assertTypesOnly(text);
      },
    ),
    { numRuns: 200 },
  );
  assert(generated > 20 && refused > 20, `${generated} generated, ${refused} refused`);
});

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
  assertThrows(
    () => typeOf(ref("dev.acme.v1.K0"), Object.fromEntries(kinds)),
    DocumentError,
    "more than 100000 schemas",
  );
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
      "must be an object, but it is missing",
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
    const error = assertThrows(run, DocumentError, message);
    assertEquals(error.path, path);
  }
});
