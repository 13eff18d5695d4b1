import { assertEquals } from "@std/assert";
import { dirname } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { readReport } from "../../bench/peers/report_data.ts";
import { codeChanges, readSources, type SourceText } from "../../tools/code_size.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The folders that decide how fast a client is. */
const FOLDERS = ["src/engine/reflector", "src/engine/client", "src/engine/entry"];

/** Runs git. Returns its output, or `undefined` if it fails or there is no git. */
function git(...args: string[]): string | undefined {
  try {
    const { success, stdout } = new Deno.Command("git", { args, cwd: ROOT, stderr: "null" }).outputSync();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Returns why the code of a commit cannot be read; `undefined` if it can, or if the commit should be there. */
function obstacle(commit: string): string | undefined {
  const isShallow = git("rev-parse", "--is-shallow-repository")?.trim();
  if (isShallow === undefined) return "this folder is no clone, or there is no git";
  if (isShallow === "false" || git("cat-file", "-e", `${commit}^{commit}`) !== undefined) return undefined;
  return `the clone is shallow and has no commit ${commit}; git fetch --unshallow gets it`;
}

/** The TypeScript files of a commit in the folders. */
function sourcesAt(commit: string): SourceText[] {
  const names = git("ls-tree", "-r", "-z", "--name-only", commit, "--", ...FOLDERS);
  if (names === undefined) {
    throw new Error(`Cannot read commit ${commit} of bench/reports/peers.json: git has no such commit`);
  }
  const paths = names.split("\0").filter((path) => path.endsWith(".ts"));
  return paths.map((path) => ({ path, text: git("show", `${commit}:${path}`)! }));
}

const { commit, measuredOn } = readReport();
const reason = obstacle(commit);

Deno.test({
  name: "peers report: since its commit, no code of reflectors, clients and entries has changed" +
    (reason === undefined ? "" : `: NOT RUN: ${reason}`),
  ignore: reason !== undefined,
  fn: () => {
    const now = FOLDERS.flatMap((folder) => readSources(ROOT, `${ROOT}${folder}`));
    const changes = codeChanges(sourcesAt(commit), now);
    const remedy = `README's figures are of ${commit} (${measuredOn}); deno task bench:peers --report --reps 16`;
    assertEquals(changes, [], `${remedy} writes new ones`);
    assertEquals(new Set(now.map(({ path }) => dirname(path).split("/").slice(0, 3).join("/"))), new Set(FOLDERS));
  },
});
