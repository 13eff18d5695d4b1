/**
 * Plays random histories. `--help` prints its flags.
 *
 * @module
 */
import { type HistoryKind, KINDS } from "../tests/support/histories/kinds.ts";
import { choice, count, readFlags } from "./flags.ts";

const { seeds, from, of } = readFlags({
  task: "histories",
  summary:
    "Plays random histories: of informers, of readers that resume at a position, of derived collections whose functions\n" +
    "fail, of clusters that come and go, of copies behind several relays, of informers behind a relay, of users with rights of their own, of scopes that change, of logs, of electors of a\n" +
    "leader, of processes of a shard group, or of upgrades of an operator. Prints the seeds that break a promise; those of\n" +
    "informers, positions and upgrades are cut down to the steps that matter.",
  flags: {
    seeds: count("number of histories", 2_000),
    from: count("the first seed", 1),
    of: choice(Object.keys(KINDS) as (keyof typeof KINDS)[], "the kind of history", "informers"),
  },
  examples: ["--seeds 20000", "--seeds 1 --from 17", "--of groups --seeds 20000"],
  exits: "Exits with 1 when a seed fails, with 2 when the command line is wrong.",
});

const kind: HistoryKind = KINDS[of];
console.warn = () => {}; // errors that informers report are meant: histories are full of faults
const startedAt = performance.now();
const failed: number[] = [];
for (let seed = from; seed < from + seeds; seed++) {
  try {
    await kind.play(seed);
  } catch (error) {
    failed.push(seed);
    console.log(`seed ${seed} fails: ${error instanceof Error ? error.message : error}`);
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
