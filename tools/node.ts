/**
 * Installs the package by npm in an empty folder, as `deno pack` makes it, and runs it on Node 24.
 *
 * - Every entry point that Node is promised is imported, and each kind is listed from a fake API server.
 * - Every example of the documentation that does not say `Deno` is run. Each entry point must be in one of them.
 *
 * It needs the registry of npm, from which Node comes too, if the one on the path is older than 24. Packages of JSR
 * are installed as stand-ins. It does not run the tests of this repository on Node.
 *
 * @module
 */
import { join } from "node:path";
import { quit, readFlags, toggle } from "./flags.ts";

/** Entry points that work on Deno only. */
const DENO_ONLY = ["./connect", "./cli", "./testing/control-plane"];

/** The oldest major version of Node that is promised. */
const NODE = 24;

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

/** Returns the path of a Node that is new enough: that on the path, or the one of npm, installed in `folder`. */
export async function findNode(folder: string): Promise<string> {
  const version = await run("node", ["-p", "process.versions.node"], folder).catch(() => "0");
  if (Number.parseInt(version) >= NODE) return "node";
  const name = `node-${Deno.build.os === "darwin" ? "darwin" : "linux"}-${
    Deno.build.arch === "aarch64" ? "arm64" : "x64"
  }`;
  await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", `${name}@${NODE}`], folder);
  return join(folder, "node_modules", name, "bin", "node");
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

async function main(): Promise<void> {
  const { keep } = readFlags({
    task: "test:node",
    summary: `Installs the package by npm, and runs its entry points and examples on Node ${NODE}.`,
    flags: { keep: toggle("keeps the folder, and prints its path") },
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
    await run("npm", ["install", "--no-audit", "--no-fund", ...tarballs], folder);
    const node = await findNode(folder);
    console.log(`running on Node ${(await run(node, ["-p", "process.versions.node"], folder)).trim()}`);

    const installed = join(folder, "node_modules", "@kube", "informer", "package.json");
    const { exports } = JSON.parse(await Deno.readTextFile(installed)) as { exports: Record<string, unknown> };
    const promised = Object.keys(exports).filter((entry) => !DENO_ONLY.includes(entry));
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
        if (entries.length === 0 || /\bDeno\./.test(example) || entries.some((it) => DENO_ONLY.includes(it))) continue;
        for (const entry of entries) used.add(entry);
        await add(example);
      }
    }
    const missing = promised.filter((entry) => !used.has(entry));
    if (missing.length > 0) throw new Error(`Cannot try all entry points: no example imports ${missing.join(", ")}`);
    await Deno.writeTextFile(join(folder, "runner.mjs"), RUNNER);
    const limit = setTimeout(() => quit(`Cannot end the examples within ${LIMIT_MS / 1_000} s`, 1), LIMIT_MS);
    await run(node, ["runner.mjs", JSON.stringify(programs)], folder);
    clearTimeout(limit);
    console.log(`Node: ${promised.length} entry points imported, ${programs.length} programs run`);
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
