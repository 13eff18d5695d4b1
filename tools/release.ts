/**
 * Publishes the package on JSR, from a workflow that a tag starts. The tag must be the version of `deno.json`, which
 * must name the addresses of the repository and of the site. The job has the environment `release`: give it required
 * reviewers in the settings of the repository, so that a person approves each release.
 *
 * README is published with absolute links to its pictures. It has them while `deno publish` runs, and then it is as
 * before. It runs no tests: the jobs that the workflow's `publish` job needs do.
 *
 * @module
 */
import { join } from "node:path";
import { addressProblem, readAddresses, withAbsolutePictures } from "./addresses.ts";
import { quit, readFlags, text, toggle } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");

/** Returns what is wrong with a tag for a version; `undefined` if it names the version. */
export function tagProblem(tag: string | undefined, version: string): string | undefined {
  if (tag === `v${version}`) return undefined;
  return `Cannot publish version ${version}: the tag is ${
    tag === undefined ? "missing" : `"${tag}"`
  }. Tag the commit "v${version}", or change the version in deno.json.`;
}

async function run(...args: string[]): Promise<boolean> {
  return (await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn().status).success;
}

/** The files that differ from the commit, a line each. `deno publish` cannot look itself: README differs meanwhile. */
async function changes(): Promise<string> {
  const { stdout } = await new Deno.Command("git", { args: ["status", "--porcelain"], cwd: ROOT }).output();
  return new TextDecoder().decode(stdout).trim();
}

/** Runs `publish` while a file has another text. */
export async function withText(path: string, text: string, publish: () => Promise<boolean>): Promise<boolean> {
  const before = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text);
  try {
    return await publish();
  } finally {
    await Deno.writeTextFile(path, before);
  }
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
    exits:
      "Exits with 1 when the tag is not the version, deno.json names no addresses, or publishing fails; with 2 when " +
      "the command line is wrong.",
  });
  const config = await Deno.readTextFile(join(ROOT, "deno.json"));
  const { version } = JSON.parse(config);
  const addresses = readAddresses(config);
  const problem = tagProblem(tag ?? Deno.env.get("GITHUB_REF_NAME"), version) ?? addressProblem(addresses);
  if (problem !== undefined) quit(problem, 1);
  const changed = dryRun ? "" : await changes();
  if (changed !== "") quit(`Cannot publish: files differ from the commit. Commit them first.\n${changed}`, 1);
  if (!await run("run", "--allow-read", "--allow-write=deno.jsr.json", "tools/jsr.ts", "--write-only")) Deno.exit(1);
  const path = join(ROOT, "README.md");
  const readme = withAbsolutePictures(await Deno.readTextFile(path), addresses, `v${version}`);
  const args = ["publish", "-c", "deno.jsr.json", "--allow-dirty", ...(dryRun ? ["--dry-run"] : [])];
  if (!await withText(path, readme, () => run(...args))) Deno.exit(1);
}
