/**
 * Plays random histories against informers. `--help` prints its flags.
 *
 * @module
 */
import { printed, scriptOf } from "../tests/support/histories/script.ts";
import { failureOf, shrunk } from "../tests/support/histories/play.ts";
import { count, readFlags } from "./flags.ts";

const { seeds, from } = readFlags({
  task: "histories",
  summary:
    "Plays random histories against informers, and prints the seeds that break a promise, each cut down to the\n" +
    "steps that matter.",
  flags: { seeds: count("number of histories", 2_000), from: count("the first seed", 1) },
  examples: ["--seeds 20000", "--seeds 1 --from 17"],
  exits: "Exits with 1 when a seed fails, with 2 when the command line is wrong.",
});
console.warn = () => {}; // errors that informers report are meant: histories are full of faults
const startedAt = performance.now();
const failed: number[] = [];
for (let seed = from; seed < from + seeds; seed++) {
  if (await failureOf(scriptOf(seed)) !== undefined) {
    failed.push(seed);
    const { script, failure } = await shrunk(scriptOf(seed));
    console.log(`seed ${seed} fails: ${failure.message}\n${printed(script)}`);
    console.log(`play it again: deno task histories --from ${seed} --seeds 1\n`);
  }
  const done = seed - from + 1;
  if (done % 500 === 0 || done === seeds) {
    const perSecond = Math.round(done / ((performance.now() - startedAt) / 1_000));
    const print = done === seeds ? console.log : console.error;
    print(`${done} of ${seeds} histories, ${failed.length} failed, ${perSecond} a second`);
  }
}
if (failed.length > 0) console.log(`failed: ${failed.join(" ")}`);
Deno.exit(failed.length === 0 ? 0 : 1);
