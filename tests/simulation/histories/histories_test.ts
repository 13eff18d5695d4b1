import { SCENARIOS } from "../../support/histories/scenarios.ts";
import { printed, scriptOf } from "../../support/histories/script.ts";
import { failureOf, play, shrunk } from "../../support/histories/play.ts";

/** Each group is a test of its own, so that a failure names its seeds. */
const GROUPS = 20;
const SEEDS_PER_GROUP = 100;

for (const { name, script } of SCENARIOS) {
  Deno.test(`history: ${name}`, async () => {
    await play(script);
  });
}

for (let group = 0; group < GROUPS; group++) {
  const from = 1 + group * SEEDS_PER_GROUP;
  Deno.test(
    `histories ${from} to ${
      from + SEEDS_PER_GROUP - 1
    }: caches equal the server, events have no gaps, nothing is left [F13]`,
    { timeout: 600_000 },
    async () => {
      for (let seed = from; seed < from + SEEDS_PER_GROUP; seed++) {
        if (await failureOf(scriptOf(seed)) === undefined) continue;
        const { script, failure } = await shrunk(scriptOf(seed));
        throw new Error(
          `seed ${seed}: ${failure.message}\n${
            printed(script)
          }\nplay it again: deno task histories --from ${seed} --seeds 1`,
          { cause: failure },
        );
      }
    },
  );
}
