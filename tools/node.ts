/**
 * Installs the package by npm in an empty folder, as `deno pack` makes it, and runs it on Node 24.
 *
 * - Every entry point that Node is promised is imported, and each kind is listed from a fake API server.
 * - Every example of the documentation that does not say `Deno` is run. Each entry point must be in one of them.
 * - The tests of the rooms in {@linkcode ROOMS}, and those of the programs in `examples`, are run by
 *   `tests/support/node`, which has the parts of `Deno` that they use.
 *   With `KUBEBUILDER_ASSETS`, those of {@linkcode CLUSTER_TESTS} are run, too.
 *
 * It needs the registry of npm, from which Node comes too, if the one on the path is older than 24. Packages of JSR
 * are installed as stand-ins.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { failsOnBun } from "../tests/support/node/fails_on_bun.ts";
import { findNode, NODE } from "../tests/support/node/find_node.ts";
import { quit, readFlags, toggle } from "./flags.ts";
import { download, TESTED } from "./versions.ts";

/** The folders of tests that run on Node. */
export const ROOMS =
  "engine/api engine/async engine/client engine/entry engine/errors engine/informer engine/queue engine/reflector engine/store engine/workqueue host/connect operator/controllers relay testing/control_plane"
    .split(" ");

/** The tests against a real kube-apiserver that run on Node. */
export const CLUSTER_TESTS =
  "caches control_plane dead_connections election identity outages snapshots checkpoint webhooks"
    .split(" ")
    .map((name) => `cluster/${name}_test.ts`);

/** The share of tests that must run. */
const LEAST_SHARE = 0.95;

/** The libraries of schemas that tests import. */
const LIBRARIES = ["zod@4.6.7", "valibot@1.5.0", "@valibot/to-json-schema@1.8.0"];

/** The packages of npm that tests import. */
const TEST_PACKAGES = ["fast-check@^4.10.2", "@opentelemetry/api@^1.9.1", "js-yaml@^5.5.0", ...LIBRARIES];

/** The longest time of one test file, in milliseconds. */
const FILE_LIMIT_MS = 300_000;

/** The stand-ins that the package, or an example, imports. */
const STANDINS = ["assert", "async", "http", "command"];

/** The longest time of all examples together, in milliseconds. */
const LIMIT_MS = 180_000;

const ROOT = join(import.meta.dirname!, "..");

/** Runs a command, and returns what it prints; its failure is an error with that. */
async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { NO_COLOR: "1" };
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, env, stdin: "null" })
    .output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  if (!success) {
    throw new Error(`Cannot run ${command} ${args.join(" ").slice(0, 100)}: it failed:\n${text.slice(-8_000)}`);
  }
  return text;
}

/** A runtime to run on. */
interface Runtime {
  readonly name: "Node" | "Bun";
  /** The path of its program. */
  readonly path: string;
}

/** Returns Bun, of npm, installed in `folder`. */
async function findBun(folder: string): Promise<Runtime> {
  await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", "bun@1"], folder);
  return { name: "Bun", path: join(folder, "node_modules", ".bin", "bun") };
}

/** Returns the examples of a text: blocks of TypeScript that are not marked as ones that are not run. */
export function examplesOf(text: string): string[] {
  return [...text.matchAll(/^( *\* )?```ts\n([^]*?)^(?: *\* ?)?```$/gm)].map(([, prefix, block]) =>
    prefix === undefined ? block : block.replace(/^ *\* ?/gm, "")
  );
}

/** Returns the entry points that a program imports, as `package.json` names them. */
export function entriesIn(program: string): string[] {
  return [...program.matchAll(/from "@kube\/informer([^"]*)"/g)].map(([, path]) => `.${path}`);
}

async function* filesIn(folder: string, ending: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* filesIn(path, ending);
    else if (name.endsWith(ending)) yield path;
  }
}

/** Imports the examples one after the other. An error, and one that nobody catches, ends it. */
const RUNNER = `
const files = JSON.parse(process.argv[2]);
const log = console.log;
for (const name of ["log", "info", "warn", "error"]) console[name] = () => {};
let current = "";
process.on("uncaughtException", (error) => { log(current, error); process.exit(1); });
for (current of files) await import(current);
log(files.length + " imported");
process.exit(0);
`;

/** Lists each kind of a module from a fake API server. */
function kindsProgram(entries: readonly string[]): string {
  return `
import { Client } from "@kube/informer";
import { FakeApiServer } from "@kube/informer/testing";
let listed = 0;
for (const entry of ${JSON.stringify(entries)}) {
  const module = await import("@kube/informer" + entry.slice(1));
  for (const kind of Object.values(module)) {
    if (typeof kind !== "object" || typeof kind?.plural !== "string") continue;
    const server = new FakeApiServer();
    using client = new Client({ server: server.url, transport: server });
    if (entry !== "./kinds/meta/v1") await client.resource(kind).list().catch((error) => { if (error.status?.code !== 405 && error.status?.code !== 404) throw error; });
    listed++;
  }
}
if (listed < 50) throw new Error("only " + listed + " kinds");
`;
}

/** The result of a test file: `tests/support/node/deno.ts` prints it. */
interface FileResult {
  readonly passed: number;
  readonly failures: readonly { readonly name: string; readonly file: string; readonly error: string }[];
  readonly leftOut: readonly string[];
}

/** Runs the tests of the rooms, over the package that npm has installed in `folder`. */
async function runTests({ name: runtime, path }: Runtime, folder: string): Promise<void> {
  for (const name of ["tests", "examples", "docs", "tools", "bench"]) {
    await run("cp", ["-r", join(ROOT, name), "."], folder);
  }
  for await (const path of filesIn(join(folder, "tests"), ".ts")) {
    const text = await Deno.readTextFile(path);
    const named = text.replaceAll(/"npm:((?:@[^"@/]+\/)?[^"@/]+)@[^"/]+"/g, '"$1"');
    if (named !== text) await Deno.writeTextFile(path, named);
  }
  await Deno.copyFile(join(ROOT, "deno.json"), join(folder, "deno.json"));
  const files: string[] = [join(folder, "tests", "examples_test.ts")];
  for (const room of ROOMS) {
    for await (const path of filesIn(join(folder, "tests", room), "_test.ts")) files.push(path);
  }
  if (Deno.env.get("KUBEBUILDER_ASSETS")) files.push(...CLUSTER_TESTS.map((name) => join(folder, "tests", name)));
  const results: FileResult[] = [];
  const next = files.sort().values();
  const work = async (): Promise<void> => {
    for (const file of next) results.push(await runFile(path, folder, file));
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, work));
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const leftOut = results.flatMap((result) => result.leftOut).sort();
  const failures = results.flatMap((result) => result.failures).filter(({ name, file }) => {
    const reason = runtime === "Bun" ? failsOnBun(file.slice(file.indexOf("/tests/") + 7), name) : undefined;
    if (reason !== undefined) leftOut.push(`${file.slice(file.indexOf("/tests/") + 7)}: ${name}: fails: ${reason}`);
    return reason === undefined;
  });
  for (const line of leftOut) console.log(`left out: ${line}`);
  for (const { name, file, error } of failures) console.log(`FAILED ${file}: ${name}\n${error}`);
  const share = passed / (passed + leftOut.length);
  console.log(`${runtime}: ${passed} tests passed, ${failures.length} failed, ${leftOut.length} left out`);
  if (failures.length > 0) throw new Error(`Cannot pass all tests on ${runtime}: ${failures.length} failed`);
  if (share < LEAST_SHARE) throw new Error(`Cannot run enough tests on ${runtime}: ${(share * 100).toFixed(1)} %`);
}

async function runFile(node: string, folder: string, file: string): Promise<FileResult> {
  const args = ["tests/support/node/main.ts", pathToFileURL(file).href];
  const options = {
    args,
    cwd: folder,
    env: { NO_COLOR: "1", NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
    stdin: "null",
    stderr: "piped",
    stdout: "piped",
  } as const;
  const child = new Deno.Command(node, options).spawn();
  const limit = setTimeout(() => child.kill("SIGKILL"), FILE_LIMIT_MS);
  const { stdout, stderr } = await child.output();
  clearTimeout(limit);
  const text = new TextDecoder().decode(stdout);
  const result = /^RESULT (.*)$/m.exec(text)?.[1];
  if (result !== undefined) return JSON.parse(result) as FileResult;
  const error = `it ended without a result:\n${text.slice(-2_000)}${new TextDecoder().decode(stderr).slice(-2_000)}`;
  return { passed: 0, failures: [{ name: "(file)", file, error }], leftOut: [] };
}

async function main(): Promise<void> {
  const { keep, bun, install } = readFlags({
    task: "test:node",
    summary: `Installs the package by npm, and runs its entry points, examples and tests on Node ${NODE}.`,
    flags: {
      bun: toggle("runs them on Bun instead, of which tests/support/node/fails_on_bun.ts names what fails"),
      install: toggle("has setup-envtest download a kube-apiserver where KUBEBUILDER_ASSETS is not set; needs Go"),
      keep: toggle("keeps the folder, and prints its path"),
    },
    exits: "Exits with 1 when something fails, with 2 when the command line is wrong.",
  });
  const folder = await Deno.makeTempDir({ prefix: "informer-node-" });
  try {
    console.log("packing");
    const pack = (name: string, from: string): Promise<string> =>
      run(Deno.execPath(), ["pack", "--allow-dirty", "--output", join(folder, `${name}.tgz`)], from);
    await pack("informer", ROOT);
    for (const name of STANDINS) await pack(name, join(ROOT, "standins", name));
    console.log("installing");
    await Deno.writeTextFile(join(folder, "package.json"), `{ "private": true, "type": "module" }\n`);
    const tarballs = ["informer", ...STANDINS].map((name) => `./${name}.tgz`);
    await run("npm", ["install", "--no-audit", "--no-fund", ...tarballs, ...TEST_PACKAGES], folder);
    const runtime: Runtime = bun ? await findBun(folder) : { name: "Node", path: await findNode(folder) };
    console.log(`running on ${runtime.name} ${(await run(runtime.path, ["--version"], folder)).trim()}`);
    if (install && !Deno.env.get("KUBEBUILDER_ASSETS")) {
      Deno.env.set("KUBEBUILDER_ASSETS", await download(TESTED.at(-1)!));
    }

    const installed = join(folder, "node_modules", "@kube", "informer", "package.json");
    const { exports } = JSON.parse(await Deno.readTextFile(installed)) as { exports: Record<string, unknown> };
    const promised = Object.keys(exports);
    const kinds = promised.filter((entry) => entry.startsWith("./kinds/"));
    const used = new Set(kinds);
    const programs: string[] = [];
    const add = async (program: string): Promise<void> => {
      const file = `./program_${programs.length}.ts`;
      await Deno.writeTextFile(join(folder, file), program);
      programs.push(file);
    };
    await add(kindsProgram(kinds));
    const pages = [join(ROOT, "mod.ts"), join(ROOT, "README.md")];
    for await (const path of filesIn(join(ROOT, "src"), ".ts")) pages.push(path);
    for await (const path of filesIn(join(ROOT, "docs"), ".md")) pages.push(path);
    for (const path of pages.sort()) {
      for (const example of examplesOf(await Deno.readTextFile(path))) {
        const entries = entriesIn(example);
        if (entries.length === 0 || /\bDeno\./.test(example)) continue;
        for (const entry of entries) used.add(entry);
        await add(example);
      }
    }
    // These have examples that need a cluster.
    await add(promised.map((entry) => `await import("@kube/informer${entry.slice(1)}");\n`).join(""));
    await Deno.writeTextFile(join(folder, "runner.mjs"), RUNNER);
    const limit = setTimeout(() => quit(`Cannot end the examples within ${LIMIT_MS / 1_000} s`, 1), LIMIT_MS);
    await run(runtime.path, ["runner.mjs", JSON.stringify(programs)], folder);
    clearTimeout(limit);
    console.log(`${runtime.name}: ${promised.length} entry points imported, ${programs.length} programs run`);
    await runTests(runtime, folder);
  } finally {
    if (keep) console.log(folder);
    else await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    quit(error, 1);
  }
}
