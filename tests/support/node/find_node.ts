import { join } from "node:path";

/** The oldest major version of Node that is promised. */
export const NODE = 24;

/** The oldest major version that runs a bundle. */
export const BUNDLED_NODE = 22;

/**
 * Returns the path of a Node whose major version is in bounds: that on the path, or the one of npm, the `oldest`, which
 * it installs in `folder`.
 */
export async function findNode(folder: string, oldest: number = NODE, newest: number = Infinity): Promise<string> {
  const version = await run("node", ["-p", "process.versions.node"], folder).catch(() => "0");
  const major = Number.parseInt(version);
  if (major >= oldest && major <= newest) return "node";
  const name = `node-${Deno.build.os === "darwin" ? "darwin" : "linux"}-${
    Deno.build.arch === "aarch64" ? "arm64" : "x64"
  }`;
  await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", `${name}@${oldest}`], folder);
  return join(folder, "node_modules", name, "bin", "node");
}

async function run(command: string, args: string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, cwd, stdin: "null" }).output();
  if (!success) throw new Error(`Cannot run ${command}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
