/**
 * Plays random histories against informers, electors and groups. `--help` prints its flags.
 *
 * @module
 */
import { printed, scriptOf } from "../tests/support/histories/script.ts";
import { failureOf, shrunk } from "../tests/support/histories/play.ts";
import { ElectionHistory } from "../tests/support/leases/elections.ts";
import { GroupHistory } from "../tests/support/leases/groups.ts";
import type { LeaseHistory, Participant } from "../tests/support/leases/history.ts";
import { choice, count, readFlags } from "./flags.ts";

const { seeds, from, of } = readFlags({
  task: "histories",
  summary:
    "Plays random histories against informers, and prints the seeds that break a promise, each cut down to the\n" +
    "steps that matter; or against electors of a leader, or processes of a shard group.",
  flags: {
    seeds: count("number of histories", 2_000),
    from: count("the first seed", 1),
    of: choice(["informers", "electors", "groups"] as const, "what they are played against", "informers"),
  },
  examples: ["--seeds 20000", "--seeds 1 --from 17", "--of groups --seeds 20000"],
  exits: "Exits with 1 when a seed fails, with 2 when the command line is wrong.",
});

/** Play the history of a seed; return what went wrong, and its steps. */
const PLAYS = {
  async informers(seed: number): Promise<string | undefined> {
    if (await failureOf(scriptOf(seed)) === undefined) return undefined;
    const { script, failure } = await shrunk(scriptOf(seed));
    return `${failure.message}\n${printed(script)}`;
  },
  electors: (seed: number) => problemOf(new ElectionHistory(seed)),
  groups: (seed: number) => problemOf(new GroupHistory(seed)),
};

async function problemOf(history: LeaseHistory<Participant>): Promise<string | undefined> {
  const [problem] = await history.play();
  return problem && `${problem}\n${history.log.join("\n")}`;
}

console.warn = () => {}; // errors that informers report are meant: histories are full of faults
const startedAt = performance.now();
const failed: number[] = [];
for (let seed = from; seed < from + seeds; seed++) {
  const failure = await PLAYS[of](seed);
  if (failure !== undefined) {
    failed.push(seed);
    console.log(`seed ${seed} fails: ${failure}`);
    console.log(`play it again: deno task histories --of ${of} --from ${seed} --seeds 1\n`);
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
