/**
 * Makes one file of the package for npm: the package as `deno pack` makes it, the stand-ins that it imports, and the
 * program `informer` for `npx`.
 *
 * {@linkcode packForNpm} is the entry point. What JSR offers to npm has no program, and gets the packages that it
 * imports from JSR: this file is for where the package is not published, or JSR cannot be reached.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { quit, readFlags } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");

/** The stand-ins that the package imports. */
const STANDINS = ["async", "http", "command"];

/** The program of the package, in the file. */
const PROGRAM = "src/cli/informer.cjs";

/** The versions of Node that know `import.meta.main`. */
export const NODE_VERSIONS = ">=24.2";

const [MAJOR, MINOR] = NODE_VERSIONS.match(/\d+/g)!;

/** Looks at the version before it loads the package, because older versions cannot read `using`. */
const PROGRAM_TEXT = `#!/usr/bin/env node
var version = process.versions.node.split(".").map(Number);
if (version[0] < ${MAJOR} || (version[0] == ${MAJOR} && version[1] < ${MINOR})) {
  console.error("error: informer needs Node ${MAJOR}.${MINOR} or newer, and this is Node " + version.join("."));
  process.exit(1);
}
import("./main.js").then(function (cli) {
  return cli.main(process.argv.slice(2));
}).then(process.exit);
`;

/** The package whose part that programs share must be one: theirs. Only `./otel` needs it. */
const PEER = "@opentelemetry/api";

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args], cwd, stdin: "null" }).output();
  if (success) return;
  throw new Error(`Cannot pack the package: ${command} ${args[0]} failed:\n${new TextDecoder().decode(stderr)}`);
}

/** Packs the workspace member in `from`, and unpacks it to `to`, which must not exist. */
async function unpacked(from: string, to: string): Promise<void> {
  const tarball = `${to}.tgz`;
  await Deno.mkdir(to, { recursive: true });
  await run(Deno.execPath(), ["pack", "--quiet", "--allow-dirty", "--output", tarball], from);
  await run("tar", ["-xzf", tarball, "--strip-components=1"], to);
  await Deno.remove(tarball);
}

/** Writes the file for npm to `file`, which is replaced. It needs `tar`. */
export async function packForNpm(file: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "informer-npm-" });
  try {
    const root = join(folder, "package");
    await unpacked(ROOT, root);
    await Deno.remove(join(root, "standins"), { recursive: true }); // imports do not lead here
    const bundled: Record<string, string> = {};
    for (const name of STANDINS) {
      const from = join(ROOT, "standins", name);
      const { name: imported, version } = JSON.parse(await Deno.readTextFile(join(from, "deno.json")));
      await unpacked(from, join(root, "node_modules", imported));
      bundled[imported] = version;
    }
    const described = JSON.parse(await Deno.readTextFile(join(root, "package.json")));
    const { [PEER]: peer, ...dependencies } = described.dependencies;
    Object.assign(described, {
      sideEffects: false,
      engines: { node: NODE_VERSIONS },
      bin: { informer: PROGRAM },
      dependencies: { ...dependencies, ...bundled },
      bundleDependencies: Object.keys(bundled),
      peerDependencies: { [PEER]: peer },
      peerDependenciesMeta: { [PEER]: { optional: true } },
    });
    await Deno.writeTextFile(join(root, "package.json"), JSON.stringify(described, undefined, 2));
    await Deno.writeTextFile(join(root, PROGRAM), PROGRAM_TEXT);
    await run("tar", ["-czf", resolve(file), "package"], folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const { rest: [file = "informer.tgz", ...more] } = readFlags({
    task: "npm",
    summary: "Makes one file of the package for npm install and npx, with the program informer.",
    flags: {},
    rest: ["FILE", "the file to write; informer.tgz in the folder of this repository if absent"],
    examples: ["../website-controller/informer.tgz"],
  });
  if (more.length > 0) quit(`Cannot write ${more.length + 1} files: name one`, 2);
  try {
    await packForNpm(file);
    console.log(file);
  } catch (error) {
    quit(error, 1);
  }
}
