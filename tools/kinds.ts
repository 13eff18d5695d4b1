/**
 * Writes `src/engine/kinds`, one file for each version of a group, from the kinds of a real kube-apiserver; and for the
 * fake server the schemas of these kinds, and how they are served.
 *
 * The same server gives the same files. Entry points for them are in `exports` of `deno.json`, which it writes too, as
 * it does the versions that introduced kinds (`introduced.json`).
 *
 * @module
 */
import { basename, dirname, join } from "node:path";
import type { Client } from "../mod.ts";
import type { ImportedName } from "../src/cli/codegen/emit_module.ts";
import { isBuiltInGroup } from "../src/engine/api/resource.ts";
import { connect } from "../src/host/connect/connect.ts";
import { BuiltInTypes } from "./built_in_types.ts";
import { quit, readFlags, text, toggle } from "./flags.ts";
import { INTRODUCED, type Introduced, introducedIn, OLDEST_MINOR, recordIntroduced } from "./introduced.ts";
import { emitModules, type ModuleModel, type OpenApiDocument, readOpenApi } from "./open_api.ts";
import { codeDefaults } from "./schema_defaults.ts";
import { schemaModule } from "./schemas.ts";
import { servedModule } from "./served.ts";

const ROOT = join(import.meta.dirname!, "..");
const KINDS = join(ROOT, "src/engine/kinds");
const SCHEMAS = "src/testing/fake/schema/texts.ts";
const SERVED = "src/testing/fake/schema/served.ts";
const CONFIG = join(ROOT, "deno.json");

/** The files of `src/engine/api` that generated ones import from. */
const API_FILES: Readonly<Record<ImportedName, string>> = {
  ClusterScopedObject: "object",
  EphemeralObject: "object",
  IntOrString: "object",
  ListMap: "object",
  ManagedFieldsEntry: "object",
  MicroTime: "object",
  NamespacedObject: "object",
  ObjectMeta: "object",
  OpenEnum: "object",
  OwnerReference: "object",
  Quantity: "quantity",
  Resource: "resource",
  Time: "object",
  defineResource: "resource",
};

/** The kinds of a server, as files. */
export interface GeneratedKinds {
  /** The texts, formatted, by paths below `src/engine/kinds`. */
  readonly files: ReadonlyMap<string, string>;
  /** The texts of the files for the fake server, by paths. */
  readonly testing: ReadonlyMap<string, string>;
  /** The fields that the server fills in by more than a default. */
  readonly differing: readonly string[];
  /** The number of kinds that the server has, and of those that the files have. */
  readonly counts: { readonly served: number; readonly generated: number };
}

/**
 * Asks a server for its built-in kinds, and returns the files that describe them. With `record`, the versions that
 * introduced them are read from Go modules of the server's version, and recorded.
 */
export async function generateKinds(
  client: Client,
  { record = false }: { readonly record?: boolean } = {},
): Promise<GeneratedKinds> {
  const { gitVersion } = await json(client, "/version") as { gitVersion: string };
  const introduced = record ? await recordIntroduced(gitVersion) : INTRODUCED;
  const resources = (await client.discover({
    onError: (error) => {
      throw error;
    },
  })).filter(({ group }) => isBuiltInGroup(group));
  const index = await json(client, "/openapi/v3") as { paths: Record<string, { serverRelativeURL: string }> };
  const wanted = new Set(
    resources.map(({ group, version }) => group === "" ? `api/${version}` : `apis/${group}/${version}`),
  );
  const documents: OpenApiDocument[] = [];
  for (const [name, { serverRelativeURL }] of Object.entries(index.paths)) {
    if (wanted.has(name)) documents.push({ name, content: await json(client, serverRelativeURL) });
  }
  const types = await BuiltInTypes.read(gitVersion, documents);
  const { defaults, differing } = await codeDefaults(client, types, resources);
  const modules = readOpenApi(documents, resources).map((module) => withVersions(module, introduced));
  const texts = emitModules(
    modules,
    (module, shared) => header(module, shared, gitVersion),
    (name) => `../../api/${API_FILES[name]}.ts`,
  );
  return {
    files: await formatted(new Map([...texts].map(([path, text]) => [path, withExample(path, text)]))),
    testing: new Map([
      [SCHEMAS, schemaModule(gitVersion, documents, types, defaults)],
      [SERVED, await servedModule(gitVersion, client)],
    ]),
    differing,
    counts: { served: resources.length, generated: modules.flatMap(({ kinds }) => kinds).length },
  };
}

/** Returns the paths whose texts differ from those in the tree, missing and superfluous ones included. */
export function differences({ files, testing }: Pick<GeneratedKinds, "files" | "testing">): string[] {
  const there = new Map<string, string>();
  for (const { name: group, isDirectory } of Deno.readDirSync(KINDS)) {
    if (!isDirectory) continue;
    for (const { name } of Deno.readDirSync(join(KINDS, group))) {
      there.set(`${group}/${name}`, Deno.readTextFileSync(join(KINDS, group, name)));
    }
  }
  const different = [...new Set([...files.keys(), ...there.keys()])].filter((path) =>
    files.get(path) !== there.get(path)
  );
  return [
    ...different.sort().map((path) => `src/engine/kinds/${path}`),
    ...[...testing].filter(([path, text]) => Deno.readTextFileSync(join(ROOT, path)) !== text).map(([path]) => path),
  ];
}

async function json(client: Client, path: string): Promise<unknown> {
  return await (await client.fetch(path, { headers: { accept: "application/json" } })).json();
}

function header({ group, version, kinds }: ModuleModel, shared: boolean, gitVersion: string): string[] {
  const place = group === "" ? "the core group" : group === "meta" ? "all groups" : `group ${group}`;
  const what = kinds.length > 0
    ? `Kinds of ${place}, version ${version}: a type and a \`Resource\` value of one name each.`
    : shared
    ? `Types of ${place}, version ${version}, that kinds of other groups have too.`
    : `Types that kinds of ${place} share.`;
  return [
    what,
    `Generated by \`deno task kinds\` from Kubernetes ${gitVersion}; do not edit. The descriptions are those of Kubernetes, ` +
    "Copyright The Kubernetes Authors, under the Apache License 2.0: see src/engine/kinds/LICENSE.",
  ];
}

/** The kinds that examples show, before the first one of a module. */
const WELL_KNOWN: ReadonlySet<string> = new Set(["Pod", "Deployment", "Job", "NetworkPolicy", "StorageClass", "Role"]);

/** Objects of kinds that can only be created, for their examples. */
const CREATED: ReadonlyMap<string, string> = new Map([
  ["SelfSubjectReview", "{}"],
  ["SelfSubjectAccessReview", '{ spec: { resourceAttributes: { verb: "list", resource: "pods" } } }'],
]);

/** Returns the text of a module whose doc comment has an example. Modules of shared types have none. */
function withExample(path: string, text: string): string {
  if (path.endsWith("_shared.ts")) return text;
  const names = [...text.matchAll(/^export const (\w+): Resource</gm)].map(([, name]) => name);
  const kind = names.find((name) => WELL_KNOWN.has(name) || CREATED.has(name)) ?? names[0];
  const specifier = `@kube/informer/kinds/${path.slice(0, -".ts".length)}`;
  const example = kind === undefined
    ? [
      `import type { LabelSelector } from "${specifier}";`,
      "",
      'export const web: LabelSelector = { matchLabels: { app: "web" } };',
    ]
    : CREATED.has(kind)
    ? [
      'import { Client } from "@kube/informer";',
      `import { ${kind} } from "${specifier}";`,
      'import { FakeApiServer } from "@kube/informer/testing";',
      "",
      'using client = new Client({ server: "http://fake", transport: new FakeApiServer() });',
      `const review = ${CREATED.get(kind)};`,
      `const { status } = await client.resource(${kind}).create(review);`,
      "console.log(status);",
    ]
    : [
      'import { Client, SharedInformerFactory } from "@kube/informer";',
      `import { ${kind} } from "${specifier}";`,
      'import { FakeApiServer } from "@kube/informer/testing";',
      "",
      'using client = new Client({ server: "http://fake", transport: new FakeApiServer() });',
      "await using informers = new SharedInformerFactory(client);",
      `const cached = informers.forResource(${kind}); // or client.resource(${kind}) for single requests`,
      "informers.start();",
      "await informers.waitForCacheSync();",
      `console.log(cached.lister.list().length, "${kind} objects");`,
    ];
  const lines = ["```ts", ...example, "```"].map((line) => line === "" ? " *" : ` * ${line}`);
  return text.replace("\n *\n * @module", `\n *\n${lines.join("\n")}\n *\n * @module`);
}

/** Says of each kind which version of Kubernetes introduced it. */
function withVersions(module: ModuleModel, introduced: Introduced): ModuleModel {
  const kinds = module.kinds.map((model) => {
    const minor = introducedIn({ ...model.resource, kind: model.kind }, introduced);
    return { ...model, doc: [...model.doc, `Since Kubernetes 1.${minor}${minor > OLDEST_MINOR ? "" : " or before"}.`] };
  });
  return { ...module, kinds };
}

/** Formats texts as `deno fmt` does. */
async function formatted(texts: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir();
  try {
    const paths = [...texts.keys()].map((path) => join(folder, path));
    for (const [path, text] of texts) {
      await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    }
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["fmt", "--quiet", "--config", CONFIG, ...paths],
      cwd: folder,
    }).output();
    if (!success) throw new Error(`Cannot format the generated files: ${new TextDecoder().decode(stderr)}`);
    return new Map(
      await Promise.all(
        [...texts.keys()].sort().map(async (path) => [path, await Deno.readTextFile(join(folder, path))] as const),
      ),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes the files, and the entry points for them. */
async function write({ files, testing }: Pick<GeneratedKinds, "files" | "testing">): Promise<void> {
  for (const [path, text] of testing) await Deno.writeTextFile(join(ROOT, path), text);
  for await (const { name, isDirectory } of Deno.readDir(KINDS)) {
    if (isDirectory) await Deno.remove(join(KINDS, name), { recursive: true });
  }
  for (const [path, text] of files) {
    await Deno.mkdir(join(KINDS, dirname(path)), { recursive: true });
    await Deno.writeTextFile(join(KINDS, path), text);
  }
  const config = await Deno.readTextFile(CONFIG);
  const entries = Object.entries((JSON.parse(config) as { exports: Record<string, string> }).exports);
  const [root, ...others] = entries.filter(([entry]) => !entry.startsWith("./kinds/"));
  const kinds = [...files.keys()].filter((path) => !basename(path).endsWith("_shared.ts"))
    .map((path) => [`./kinds/${path.slice(0, -".ts".length)}`, `./src/engine/kinds/${path}`]);
  const lines = [root, ...kinds, ...others].map(([entry, path]) =>
    `    ${JSON.stringify(entry)}: ${JSON.stringify(path)}`
  );
  // As text: the rest of the file stays as it is laid out.
  await Deno.writeTextFile(CONFIG, config.replace(/"exports": \{[^}]*\}/, `"exports": {\n${lines.join(",\n")}\n  }`));
}

/** Asks the server that the arguments name, or one that is started for it. */
async function generate(
  named: { readonly kubeconfig?: string; readonly server?: string },
  options: { readonly record: boolean },
): Promise<GeneratedKinds> {
  if (named.kubeconfig !== undefined || named.server !== undefined) {
    using client = await connect(named);
    return await generateKinds(client, options);
  }
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets === undefined) {
    throw new Error(
      `Cannot generate kinds: set KUBEBUILDER_ASSETS to a folder with "etcd" and "kube-apiserver", or --server URL`,
    );
  }
  const { BreakableControlPlane } = await import("../tests/support/cluster/control_plane.ts");
  await using plane = await BreakableControlPlane.start(assets, {});
  using client = await connect({ kubeconfig: plane.kubeconfig });
  return await generateKinds(client, options);
}

if (import.meta.main) {
  const { check, ...server } = readFlags({
    task: "kinds",
    summary:
      "Writes src/engine/kinds, and the schemas of the fake server, from the kinds of a real kube-apiserver: one of its own,\n" +
      "from the programs in the folder KUBEBUILDER_ASSETS, or a running one. Go must be installed: it gets the sources\n" +
      "of the types, of the same version.",
    flags: {
      check: toggle("writes nothing; prints the files that differ"),
      server: text("URL", "address of a server that needs no credentials"),
      kubeconfig: text("FILE", "path of a kubeconfig"),
    },
    examples: ["--check", "--kubeconfig ~/.kube/config"],
    exits: "Exits with 1 when it fails or, with --check, files differ; with 2 when the command line is wrong.",
  });
  const generated = await generate(server, { record: !check }).catch((error) => quit(error, 1));
  const { files, counts } = generated;
  console.log(`kinds: ${counts.generated} of ${counts.served} that the server has, in ${files.size} files`);
  const different = differences(generated);
  if (!check) await write(generated);
  for (const field of generated.differing) console.log(`left to rules: ${field}`);
  for (const path of different) console.log(`${check ? "differs" : "written"}: ${path}`);
  if (check && different.length > 0) Deno.exit(1);
}
