/**
 * Runs `tests/cluster` against kube-apiservers of several versions, one after the other, and prints a table.
 *
 * Tests that need what a version lacks are named as `NOT RUN`, and kinds in which it differs from the fake server as
 * `DIFFERENT`: `tests/cluster/_versions.ts` has both.
 *
 * @module
 */
import { basename, dirname, join } from "node:path";
import { programPath, storedPrograms, versionOf } from "../src/testing/control_plane/server_programs.ts";
import { list, quit, readFlags, toggle } from "./flags.ts";
import { table } from "./table.ts";

/** The versions that are tested. Pages that name another one fail `tests/docs/facts_test.ts`. */
export const TESTED: readonly string[] = ["1.32", "1.33", "1.34", "1.36", "1.37"];

const ROOT = join(import.meta.dirname!, "..");

/** The counts of a run; `undefined` where it has not come to an end. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly ignored: number;
}

/** Reads the counts from the last line of a run: `ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)`. */
export function countsOf(output: string): Counts | undefined {
  const line = output.match(/^(?:ok|FAILED) \| .*$/gm)?.at(-1);
  if (line === undefined) return undefined;
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: count("passed"), failed: count("failed"), ignored: count("ignored") };
}

/** The version of kine that is built. */
const KINE = "0.17.5";

/** The folders with the newest server of each minor version, in `patterns` and where setup-envtest keeps them. */
export async function installed(patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const folders = (await storedPrograms()).map(({ folder }) => folder);
  for (const pattern of patterns) folders.push(...await expand(pattern));
  const found = new Map<string, { readonly folder: string; readonly patch: number }>();
  for (const folder of folders) {
    const [major, minor, patch] = (await versionOf(folder)).split(".");
    const known = found.get(`${major}.${minor}`);
    if (known === undefined || known.patch < Number(patch)) {
      found.set(`${major}.${minor}`, { folder, patch: Number(patch) });
    }
  }
  return new Map([...found].map(([version, { folder }]) => [version, folder]));
}

/** The folders with servers that a path names, whose last part may be `*`. */
async function expand(pattern: string): Promise<string[]> {
  const path = pattern.replace(/^~(?=\/)/, Deno.env.get("HOME") ?? "~");
  try {
    const folders = basename(path) === "*"
      ? (await Array.fromAsync(Deno.readDir(dirname(path)))).map(({ name }) => join(dirname(path), name))
      : [path];
    const there = await Promise.all(folders.map((folder) => exists(programPath(folder, "kube-apiserver"))));
    return folders.filter((_, i) => there[i]);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return [];
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, (error) => {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  });
}

/** Runs the tests, prints what they print as it comes, and returns it. */
async function run(
  assets: string,
  files: readonly string[],
  env: Readonly<Record<string, string>>,
  more: readonly string[],
): Promise<string> {
  const flags = ["--no-check", "--lock=tests/deno.lock", "--quiet", "--reporter=dot", ...more];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", ...flags, "--preload=tests/support/times/time_limit.ts", ...files],
    cwd: ROOT,
    env: { ...env, KUBEBUILDER_ASSETS: assets, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const pass = async (stream: ReadableStream<Uint8Array>, to: typeof Deno.stdout): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      await to.write(chunk);
    }
  };
  await Promise.all([pass(child.stdout, Deno.stdout), pass(child.stderr, Deno.stderr), child.status]);
  return text;
}

/** Has setup-envtest download the servers of a minor version; it needs Go. Returns their folder. */
export async function download(version: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("go", {
    args: ["run", "sigs.k8s.io/controller-runtime/tools/setup-envtest@latest", "use", "-p", "path", `${version}.x`],
  }).output();
  const decoder = new TextDecoder();
  if (success) return decoder.decode(stdout).trim();
  return quit(`Cannot download Kubernetes ${version}: setup-envtest has failed:\n${decoder.decode(stderr)}`, 1);
}

/**
 * Has Go build a program into a folder: the main package at a path, in a new module that the shell commands `setup`
 * complete. `flags` are those of the linker.
 */
export async function compile(folder: string, name: string, path: string, setup: string, flags = ""): Promise<string> {
  const work = await Deno.makeTempDir({ prefix: "informer-go-" });
  try {
    await Deno.mkdir(folder, { recursive: true });
    const args = [
      "-mod=mod",
      "-buildvcs=false",
      "-trimpath",
      `-ldflags=-s -w ${flags}`,
      "-o",
      join(folder, name),
      path,
    ];
    const script = `set -e; go mod init build; ${setup}\ngo build "$@"`;
    const { success, stderr } = await new Deno.Command("bash", {
      args: ["-c", script, "bash", ...args],
      cwd: work,
      stdin: "null",
    }).output();
    if (!success) quit(`Cannot build ${name}: Go has failed:\n${new TextDecoder().decode(stderr).slice(-2_000)}`, 1);
    return join(folder, name);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Returns the path of kine: what `KINE` names, else one that is built here; it needs Go and a C compiler. */
async function kine(): Promise<string> {
  const given = Deno.env.get("KINE");
  if (given) return given;
  const folder = join(Deno.env.get("HOME") ?? "", ".cache/informer-kine", KINE);
  if (await exists(join(folder, "kine"))) return join(folder, "kine");
  return await compile(folder, "kine", "github.com/k3s-io/kine", `go get github.com/k3s-io/kine@v${KINE}`);
}

if (import.meta.main) {
  const { version, assets, only, install, kine: onKine, parallel, rest } = readFlags({
    task: "test:versions",
    summary: "Runs tests/cluster against kube-apiservers of several versions, and prints a table of results.",
    flags: {
      version: list("LIST", `versions, of which oldest and newest are two; ${TESTED.join(",")} if absent`),
      assets: list(
        "LIST",
        "folders of servers, beside those of setup-envtest; the last part of a path may be *;\n" +
          "~/.cache/informer-cluster/* if absent",
      ),
      install: toggle("has setup-envtest download servers that are not there; needs Go"),
      kine: toggle(`keeps the data in sqlite, by kine ${KINE} in place of etcd; builds it with Go and a C compiler`),
      parallel: toggle("runs as many files at a time as there are cores, or as DENO_JOBS says"),
      only: toggle("leaves out versions whose servers are not there, which is a failure otherwise"),
    },
    rest: ["FILE", "files or folders of tests; tests/cluster if absent"],
    examples: ["--version 1.32,1.37", "--version newest --install", "--only tests/cluster/reduced_test.ts"],
    exits: "Exits with 1 when a test fails or a version is missing, with 2 when the command line is wrong.",
  });
  const folders = await installed(assets ?? ["~/.cache/informer-cluster/*"]).catch((error) => quit(error, 1));
  const env: Record<string, string> = onKine ? { KINE: await kine() } : {};
  const rows = [["Kubernetes", "passed", "failed", "not run", "seconds"]];
  let bad = false;
  for (const name of version ?? TESTED) {
    const wanted = name === "oldest" ? TESTED[0] : name === "newest" ? TESTED.at(-1)! : name;
    const folder = folders.get(wanted) ?? (install ? await download(wanted) : undefined);
    if (folder === undefined) {
      console.log(`Kubernetes ${wanted} is not here; to download it: setup-envtest use ${wanted}.x`);
      rows.push([wanted, "missing"]);
      bad ||= !only;
      continue;
    }
    const startedAt = performance.now();
    const output = await run(folder, rest.length > 0 ? rest : ["tests/cluster"], env, parallel ? ["--parallel"] : []);
    const counts = countsOf(output);
    bad ||= counts === undefined || counts.failed > 0 || counts.passed === 0;
    const numbers = counts === undefined ? ["ended early"] : [counts.passed, counts.failed, counts.ignored].map(String);
    rows.push([wanted, ...numbers, ((performance.now() - startedAt) / 1_000).toFixed(0)]);
  }
  console.log(table(rows));
  if (bad) Deno.exit(1);
}
