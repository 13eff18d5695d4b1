/**
 * Checks the types of all entry points, and runs the tests, with the npm packages at one end of the ranges in
 * `deno.json`: users get the newest ones, and may have locked the oldest.
 *
 * It writes `deno.ranges.json` (git-ignored), which is `deno.json` with those versions. Packages of JSR are stand-ins
 * here: `tools/jsr.ts` is for the real ones.
 *
 * @module
 */
import { choice, quit, readFlags } from "./flags.ts";
import { argsOfTestTask } from "./jsr.ts";

const ROOT = new URL("../", import.meta.url);
const CONFIG = "deno.ranges.json";

/** The imports of a configuration with the oldest version of each range of npm. */
export function oldestOf(imports: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(imports).map(([name, from]) => [name, from.startsWith("npm:") ? from.replace("@^", "@") : from]),
  );
}

async function deno(...args: string[]): Promise<boolean> {
  return (await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdin: "null" }).spawn().status).success;
}

if (import.meta.main) {
  const { end, rest } = readFlags({
    task: "test:ranges",
    summary: "Checks the entry points, and runs the tests, with the oldest or the newest npm packages in range.",
    flags: { end: choice(["oldest", "newest"], "the versions", "oldest") },
    rest: ["PATH…", "tests; all of deno task test if absent"],
    examples: ["--end newest", "tests/operator/schema tests/cli"],
  });
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const imports = end === "oldest" ? oldestOf(config.imports) : config.imports;
  await Deno.writeTextFile(new URL(CONFIG, ROOT), `${JSON.stringify({ ...config, imports }, null, 2)}\n`);
  // Without a lock, a range stands for its newest version.
  const [flags, entries] = [["-c", CONFIG, "--no-lock"], Object.values<string>(config.exports)];
  const isGood = await deno("check", "--quiet", ...flags, ...entries) &&
    await deno("test", ...flags, ...argsOfTestTask(config), ...rest);
  if (!isGood) quit(`Cannot pass with the ${end} packages`, 1);
}
