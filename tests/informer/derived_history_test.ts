import { assert } from "@std/assert";
import { playDerivations } from "./_derived_model.ts";

Deno.test("derived collections equal their functions over arrays, after any changes, by their events too", async () => {
  let events = 0;
  for (let seed = 1; seed <= 300; seed++) events += await playDerivations(seed);
  assert(events > 10_000, `only ${events} events`);
});
