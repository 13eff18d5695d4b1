// What the types of defined kinds cost the compiler, in instantiations, compared with generated types.
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import ts from "npm:typescript@^6.0.3";
import { emitModule } from "../../../src/cli/codegen/emit_module.ts";
import { kindsOfCrds } from "../../../src/cli/codegen/read_documents.ts";
import { defineKind } from "../../../src/operator/schema/mod.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The schema of a spec with 60 fields, as they are common. */
function specOf(kind: number): Record<string, unknown> {
  const forms = [
    { type: "string" },
    { type: "string" },
    { type: "string" },
    { type: "string" },
    { type: "integer", minimum: 0 },
    { type: "integer", minimum: 0 },
    { type: "boolean" },
    { type: "string", enum: ["A", "B", "C"] },
    {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, value: { type: "integer" } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    { type: "object", additionalProperties: { type: "string" } },
  ];
  const properties = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${kind}x${at}`, forms[at % 10]]));
  return { type: "object", required: Object.keys(properties).filter((_, at) => at % 6 === 0), properties };
}

const KINDS = Array.from({ length: 10 }, (_, kind) => ({
  kind,
  spec: specOf(kind),
  status: {
    type: "object",
    properties: { ready: { type: "boolean" }, observedGeneration: { type: "integer" } },
  } as const,
}));

/** What a program does with a kind: it writes, patches, follows and reads. */
function use(kind: number): string {
  const required = {
    [`f${kind}x0`]: "a",
    [`f${kind}x6`]: true,
    [`f${kind}x12`]: "a",
    [`f${kind}x18`]: [{ name: "a" }],
  };
  const more = { [`f${kind}x24`]: 1, [`f${kind}x30`]: "a", [`f${kind}x36`]: true, [`f${kind}x42`]: "a" };
  const last = { [`f${kind}x48`]: [{ name: "a" }], [`f${kind}x54`]: 1 };
  return `
export const draft${kind}: ObjectDraft<K${kind}> = { metadata: { name: "a" }, spec: ${
    JSON.stringify({ ...required, ...more, ...last })
  } };
export const apply${kind}: Apply<K${kind}> = { metadata: { name: "a" }, spec: { f${kind}x1: "a" } };
export const patch${kind}: MergePatch<K${kind}> = { spec: { f${kind}x4: 3 } };
export async function run${kind}(client: Client, informers: SharedInformerFactory): Promise<void> {
  await client.resource(K${kind}, { namespace: "a" }).create(draft${kind});
  await client.resource(K${kind}).patch("a", { type: "merge", body: patch${kind} });
  informers.forResource(K${kind}).addEventHandler({
    onAdd: ({ object: { spec, status } }) => [spec.f${kind}x0, spec.f${kind}x8?.[0].name, status?.ready],
  });
}
`;
}

const IMPORTS =
  `import { type Apply, Client, type MergePatch, type ObjectDraft, SharedInformerFactory } from "@kube/informer";
import { defineKind, type KindOf } from "@kube/informer/schema";
export type Both = [typeof defineKind, KindOf<never>];
`;
const USES = KINDS.map(({ kind }) => use(kind)).join("");

const DEFINED = IMPORTS +
  KINDS.map(({ kind, spec, status }) =>
    `export const K${kind} = defineKind({ group: "example.com", version: "v1", kind: "K${kind}", plural: "k${kind}s", spec: ${
      JSON.stringify(spec)
    }, status: ${JSON.stringify(status)} });\nexport type K${kind} = KindOf<typeof K${kind}>;\n`
  ).join("") + USES;

/** The same kinds as `informer kinds` writes them. */
const GENERATED = IMPORTS + emitModule(
  kindsOfCrds(
    KINDS.map(({ kind, spec, status }) => {
      const names = { group: "example.com", version: "v1", kind: `K${kind}`, plural: `k${kind}s` };
      return { value: defineKind({ ...names, spec, status }).crd, path: "" };
    }),
  ),
  { header: [], importedFrom: () => "@kube/informer", moduleFrom: (module) => module },
) + USES;

/**
 * Returns the numbers of instantiations with which the compiler checks a program, which has no errors: its own file,
 * and then all files with it, as `tsc` and a linked checkout do.
 */
function instantiations(name: string, text: string): { readonly own: number; readonly all: number } {
  const file = `${ROOT}tests/operator/schema/${name}.ts`;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
    skipLibCheck: true,
    types: [],
    paths: {
      "@kube/informer": [`${ROOT}mod.ts`],
      "@kube/informer/schema": [`${ROOT}src/operator/schema/mod.ts`],
      "@std/async": [`${ROOT}standins/async/mod.ts`],
    },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, version) =>
    path === file ? ts.createSourceFile(path, text, version) : getSourceFile.call(host, path, version);
  const program = ts.createProgram([file], options, host);
  const source = program.getSourceFile(file)!;
  const faults = program.getSemanticDiagnostics(source);
  assertEquals(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ").slice(0, 300)), []);
  const own = program.getInstantiationCount();
  program.getSemanticDiagnostics();
  return { own, all: program.getInstantiationCount() };
}

Deno.test("Ten defined kinds with 60 fields cost at most 1.3 of generated types, and 2.1 in the program's own file", () => {
  const [generated, defined] = [instantiations("generated", GENERATED), instantiations("defined", DEFINED)];
  assert(generated.own > 10_000, `${generated.own}`);
  assert(defined.all <= 1.3 * generated.all, `${defined.all} instead of ${generated.all}`);
  assert(defined.own <= 2.1 * generated.own, `${defined.own} instead of ${generated.own}`);
});
