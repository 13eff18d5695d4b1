import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { ApiResource } from "../../../src/api/resource.ts";
import { emitModules } from "../../../src/cli/codegen/emit_module.ts";
import { type OpenApiDocument, readOpenApi } from "../../../src/cli/codegen/read_documents.ts";
import { SchemaError } from "../../../src/cli/codegen/read_schema.ts";
import { documentOf, DOCUMENTS, kindSchema, ref, resource, RESOURCES, SHARED } from "./_documents.ts";
import { anything, mutated, mutation } from "./_mutations.ts";
import { assertTypesOnly } from "./_types_only.ts";

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
  assertThrows(() => emit(DOCUMENTS, [RESOURCES[0], odd]), SchemaError, '[{"toString":0}]');
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
          assert(error instanceof SchemaError, String((error as Error).stack));
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
