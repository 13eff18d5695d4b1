import { positionFailureOf, positionScriptOf, shrunkPosition } from "../../support/histories/positions.ts";

/** Each group is a test of its own, so that a failure names its seeds. */
const GROUPS = 8;
const SEEDS_PER_GROUP = 50;

for (let group = 0; group < GROUPS; group++) {
  const from = 1 + group * SEEDS_PER_GROUP;
  const to = from + SEEDS_PER_GROUP - 1;
  const name =
    `positions ${from} to ${to}: a reader that is killed and started again misses no last state, and gets none ` +
    "that is older";
  Deno.test(name, { timeout: 600_000 }, async () => {
    for (let seed = from; seed <= to; seed++) {
      if (await positionFailureOf(positionScriptOf(seed)) === undefined) continue;
      throw new Error(`seed ${seed}: ${await shrunkPosition(positionScriptOf(seed))}`);
    }
  });
}
