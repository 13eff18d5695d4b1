/**
 * Checks the types of all entry points, and runs the tests, against the real packages from JSR in place of the
 * stand-ins.
 *
 * Writes `deno.jsr.json` (git-ignored): `deno.json` without the workspace, and with the stand-ins excluded, so that
 * their contract tests meet the real packages. Other commands work with it as well:
 * `deno check -c deno.jsr.json --no-lock`, `deno publish -c deno.jsr.json`.
 *
 * @module
 */
import { quit, readFlags, toggle } from "./flags.ts";

const PROGRAM = {
  task: "test:jsr",
  summary: "Checks the entry points, and runs the tests, against the real packages from JSR instead of the stand-ins.",
  flags: { "write-only": toggle("writes deno.jsr.json, and runs nothing") },
  rest: ["ARGUMENT…", "arguments of deno test, flags too, instead of those of deno task test"],
  examples: ["--filter Lister tests/engine/store"],
  exits:
    "Exits with 1 when JSR cannot be reached or types do not fit, else as deno test does; with 2 when the command line is wrong.",
} as const;

/** As much of a configuration as this program changes. */
interface Config extends Record<string, unknown> {
  readonly tasks?: { readonly test?: { readonly command: string } };
  readonly exports?: Readonly<Record<string, string>>;
  readonly workspace?: readonly string[];
  readonly exclude?: readonly string[];
}

const ROOT = new URL("../", import.meta.url);
const STANDINS = "standins";
const CONFIG = "deno.jsr.json";

/** Returns the arguments of `deno task test`, without its lock: the real packages are in none. */
export function argsOfTestTask({ tasks }: Config): string[] {
  const [deno, test, ...args] = tasks?.test?.command.split(" ") ?? [];
  if (deno !== "deno" || test !== "test") throw new Error(`Cannot run the tests: the task "test" is no "deno test …"`);
  return args.filter((arg) => !arg.startsWith("--lock="));
}

/** The arguments of the check of types: all entry points, and the contracts of the stand-ins. */
export function argsOfCheck({ exports = {} }: Config): string[] {
  return ["check", "--quiet", "-c", CONFIG, "--no-lock", ...Object.values(exports), `${STANDINS}/contract`];
}

/** The time in which JSR must answer, in milliseconds. */
const PATIENCE_MS = 10_000;

/** The configuration for the real packages: no workspace, and nothing of the folders in `members`. */
export function withoutWorkspace(config: Config, members: readonly string[]): Config {
  const { workspace: _, exclude = [], ...rest } = config;
  return { ...rest, exclude: [...exclude, ...members] };
}

/** The folders of the stand-ins; the contract tests are not one of them. */
async function findMembers(): Promise<string[]> {
  const members: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(`${STANDINS}/`, ROOT))) {
    if (isDirectory && await isMember(name)) members.push(`${STANDINS}/${name}`);
  }
  return members.sort();
}

async function isMember(name: string): Promise<boolean> {
  try {
    return (await Deno.stat(new URL(`${STANDINS}/${name}/deno.json`, ROOT))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new Error(`Cannot look for "${STANDINS}/${name}/deno.json"`, { cause: error });
  }
}

/** Why JSR cannot be used; undefined when it can. */
async function obstacle(registry: string): Promise<string | undefined> {
  try {
    const response = await fetch(new URL("/@std/assert/meta.json", registry), {
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `it answered ${response.status}`;
  } catch (error) {
    return error instanceof Error ? reasonOf(error) : String(error);
  }
}

/** The message of the innermost cause of an error, without line ends. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message.replaceAll(/\s+/g, " ");
}

async function main(args: readonly string[]): Promise<number> {
  const isOwn = args[0] === "--help" || args[0] === "--write-only";
  const { "write-only": writeOnly } = readFlags(PROGRAM, isOwn ? args : []);
  const config: Config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const text = JSON.stringify(withoutWorkspace(config, await findMembers()), null, 2);
  await Deno.writeTextFile(new URL(CONFIG, ROOT), `${text}\n`);
  if (writeOnly) return 0;

  const registry = Deno.env.get("JSR_URL") ?? "https://jsr.io";
  const reason = await obstacle(registry);
  if (reason !== undefined) {
    const hint = "run this on a machine that has a route to it";
    quit(`Cannot test against the real packages: ${registry} cannot be reached (${reason}); ${hint}`, 1);
  }
  const test = ["test", "-c", CONFIG, "--no-lock", ...(args.length > 0 ? ["-A", ...args] : argsOfTestTask(config))];
  return await deno(argsOfCheck(config)) || await deno(test);
}

async function deno(args: string[]): Promise<number> {
  return (await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdin: "inherit" }).spawn().status).code;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
