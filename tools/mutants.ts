/**
 * Shows that the histories bite: applies one-line changes to a copy of the repository, one at a time, and plays histories
 * until one of them notices. Unit tests are left out.
 *
 * ```sh
 * deno task mutants                 # all of them
 * deno task mutants --only bookmark # those whose name contains the word
 * ```
 *
 * Prints by which seed each is caught, and exits with 1 when one survives or its line is no longer there.
 *
 * @module
 */
import { join } from "node:path";
import { MUTANTS } from "./mutants_list.ts";

const root = join(import.meta.dirname!, "..");
const only = Deno.args[Deno.args.indexOf("--only") + 1];
const seeds = Deno.args.includes("--seeds") ? Deno.args[Deno.args.indexOf("--seeds") + 1] : "1000";
const chosen = Deno.args.includes("--only") ? MUTANTS.filter(({ name }) => name.includes(only)) : MUTANTS;

/** Runs the histories in `folder` and tells which seed fails first, if any. */
async function caughtBy(folder: string): Promise<string | undefined> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "tools/first_failure.ts", seeds],
    cwd: folder,
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await command.output();
  const said = new TextDecoder().decode(stdout).trim();
  if (code === 0) return undefined;
  return said || new TextDecoder().decode(stderr).trim().split("\n")[0] || `exit code ${code}`;
}

const copy = await Deno.makeTempDir({ prefix: "mutants-" });
let bad = 0;
try {
  for (const part of ["deno.json", "deno.lock", "mod.ts", "src", "standins", "tests", "tools"]) {
    await new Deno.Command("cp", { args: ["-r", join(root, part), copy] }).output();
  }
  for (const { name, file, find, replace } of chosen) {
    const path = join(copy, file);
    const text = await Deno.readTextFile(path);
    if (text.split(find).length !== 2) {
      console.log(`GONE      ${name}: ${file} has the line ${text.split(find).length - 1} times`);
      bad++;
      continue;
    }
    await Deno.writeTextFile(path, text.replace(find, () => replace));
    const caught = await caughtBy(copy);
    await Deno.writeTextFile(path, text);
    if (caught === undefined) bad++;
    console.log(
      `${caught === undefined ? "SURVIVED " : "caught   "} ${name}${caught === undefined ? "" : `: ${caught}`}`,
    );
  }
} finally {
  await Deno.remove(copy, { recursive: true });
}
console.log(`${chosen.length - bad} of ${chosen.length} mutants caught`);
Deno.exit(bad === 0 ? 0 : 1);
