/**
 * Shows that the histories catch defects: applies the mutants of `tools/mutants_list.ts` to a copy of the repository.
 * `--help` prints its flags.
 *
 * @module
 */
import { join } from "node:path";
import { KINDS } from "../tests/support/histories/kinds.ts";
import { FAILED } from "./first_failure.ts";
import { count, readFlags, text } from "./flags.ts";
import { type Mutant, MUTANTS } from "./mutants_list.ts";
import { edited } from "./places.ts";

const { only = "", seeds } = readFlags({
  task: "mutants",
  summary:
    "Applies the mutants of tools/mutants_list.ts to a copy of the repository, one at a time, plays histories\n" +
    "until one of them fails, and prints which one did. Unit tests are left out.",
  flags: {
    only: text("WORD", "mutants whose id contains the word; default all"),
    seeds: count("number of histories for each", KINDS.informers.seeds),
  },
  examples: ["--only bookmark", "--seeds 5000"],
  exits: "Exits with 1 when a mutant SURVIVED, CRASHED (out of memory, for example), HANGS or is INVALID (its\n" +
    "line is gone), with 2 when the command line is wrong.",
});
const root = join(import.meta.dirname!, "..");
const PARTS = ["deno.json", "deno.lock", "mod.ts", "src", "standins", "tests", "tools"];
/** The time limit of the histories of one mutant, in milliseconds. */
const DEADLINE_MS = 180_000;

type Verdict = "caught" | "SURVIVED" | "CRASHED" | "HANGS" | "INVALID";

/** Plays the histories in `folder`, and says how that ended. */
async function play(folder: string, seeds: number): Promise<readonly [Verdict, string]> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--max-old-space-size=1024", "tools/first_failure.ts", `${seeds}`],
    cwd: folder,
    stdout: "piped",
    stderr: "piped",
    signal: deadline,
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).trim();
  if (code === 0) return ["SURVIVED", ""];
  if (code === FAILED) return ["caught", text(stdout)];
  if (deadline.aborted) return ["HANGS", `no end within ${DEADLINE_MS / 1_000} s`];
  const last = text(stderr).split("\n").findLast((line) => /error|fatal/i.test(line));
  return ["CRASHED", `exit code ${code}: ${last ?? text(stderr).split("\n")[0]}`];
}

/** Plays the histories against each mutant, in a copy of the repository, and returns how many were caught. */
async function run(mutants: readonly Mutant[], seeds: number): Promise<number> {
  const copy = await Deno.makeTempDir({ prefix: "mutants-" });
  let caught = 0;
  try {
    for (const part of PARTS) await new Deno.Command("cp", { args: ["-r", join(root, part), copy] }).output();
    for (const mutant of mutants) {
      const path = join(copy, mutant.file);
      const source = await Deno.readTextFile(path);
      const result = edited(source, mutant);
      let ending: readonly [Verdict, string];
      if (typeof result === "string") ending = ["INVALID", result];
      else {
        await Deno.writeTextFile(path, result.text);
        ending = await play(copy, seeds);
        await Deno.writeTextFile(path, source);
      }
      const [verdict, why] = ending;
      if (verdict === "caught") caught++;
      console.log(`${verdict.padEnd(9)} ${mutant.id} (${mutant.breaks})${why === "" ? "" : `: ${why}`}`);
    }
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
  return caught;
}

const chosen = MUTANTS.filter(({ id }) => id.includes(only));
const caught = await run(chosen, seeds);
console.log(`${caught} of ${chosen.length} mutants caught`);
Deno.exit(caught === chosen.length && chosen.length > 0 ? 0 : 1);
