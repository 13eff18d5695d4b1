import { SCENARIOS } from "../../support/histories/scenarios.ts";
import { printed, scriptOf } from "../../support/histories/script.ts";
import { failureOf, play, shrunk } from "../../support/histories/play.ts";

/** Each group is a test of its own, so that a failure names its seeds. */
const GROUPS = 20;
const SEEDS_PER_GROUP = 50;

for (const { name, script } of SCENARIOS) {
  Deno.test(`history: ${name}`, async () => {
    await play(script);
  });
}

for (let group = 0; group < GROUPS; group++) {
  const from = 1 + group * SEEDS_PER_GROUP;
  const to = from + SEEDS_PER_GROUP - 1;
  const options = { timeout: 600_000 };
  Deno.test(
    `histories ${from} to ${to}: caches equal the server, no event is missing, nothing is left [F13]`,
    options,
    async () => {
      for (let seed = from; seed <= to; seed++) {
        if (await failureOf(scriptOf(seed)) === undefined) continue;
        const { script, failure } = await shrunk(scriptOf(seed));
        const again = `play it again: deno task histories --from ${seed} --seeds 1`;
        throw new Error(`seed ${seed}: ${failure.message}\n${printed(script)}\n${again}`, { cause: failure });
      }
    },
  );
}
