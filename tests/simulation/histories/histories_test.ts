import { assert } from "@std/assert";
import { groupsOf, KINDS } from "../../support/histories/kinds.ts";
import { play } from "../../support/histories/play.ts";
import { scriptOf } from "../../support/histories/script.ts";
import { SCENARIOS } from "../../support/histories/scenarios.ts";

for (const { name, script } of SCENARIOS) {
  Deno.test(`history: ${name}`, async () => {
    await play(script);
  });
}

for (const { from, to, play } of groupsOf(KINDS.informers)) {
  Deno.test(
    `histories ${from} to ${to}: caches equal the server, no event is missing, nothing is left [F13]`,
    { timeout: 600_000 },
    play,
  );
}

Deno.test("histories hold objects compactly, where the seed says so", async () => {
  for (const seed of [2, 17, 24, 25, 36]) assert((await play(scriptOf(seed))).compact > 10, `seed ${seed}`);
});

for (const { from, to, play } of groupsOf(KINDS.positions)) {
  const name =
    `positions ${from} to ${to}: a reader that is killed and started again misses no last state, and gets none ` +
    "that is older";
  Deno.test(name, { timeout: 600_000 }, play);
}
