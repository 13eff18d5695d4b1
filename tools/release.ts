/**
 * Publishes the package on JSR, from a workflow that a tag starts. The tag must be the version of `deno.json`.
 *
 * It runs no tests: the jobs that the workflow's `publish` job needs do.
 *
 * @module
 */
import { join } from "node:path";
import { quit, readFlags, text, toggle } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");

/** Returns what is wrong with a tag for a version; `undefined` if it names the version. */
export function tagProblem(tag: string | undefined, version: string): string | undefined {
  if (tag === `v${version}`) return undefined;
  return `Cannot publish version ${version}: the tag is ${
    tag === undefined ? "missing" : `"${tag}"`
  }. Tag the commit "v${version}", or change the version in deno.json.`;
}

async function run(...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn().status;
  if (!success) Deno.exit(1);
}

if (import.meta.main) {
  const { tag, "dry-run": dryRun } = readFlags({
    task: "release",
    summary: "Publishes the package on JSR.",
    flags: {
      tag: text("TAG", "the tag of the commit; GITHUB_REF_NAME if absent"),
      "dry-run": toggle("publishes nothing"),
    },
    examples: ["--tag v0.1.0 --dry-run"],
    exits: "Exits with 1 when the tag is not the version or publishing fails, with 2 when the command line is wrong.",
  });
  const { version } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const problem = tagProblem(tag ?? Deno.env.get("GITHUB_REF_NAME"), version);
  if (problem !== undefined) quit(problem, 1);
  await run("run", "-A", "tools/jsr.ts", "--write-only");
  await run("publish", "-c", "deno.jsr.json", ...(dryRun ? ["--dry-run", "--allow-dirty"] : []));
}
