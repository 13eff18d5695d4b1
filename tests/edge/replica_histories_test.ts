import { assert } from "@std/assert";
import { playReplicas } from "../support/histories/replicas.ts";

/** Each group is a test of its own, so that a failure names its seeds. */
const GROUPS = 4;
const SEEDS_PER_GROUP = 25;

for (let group = 0; group < GROUPS; group++) {
  const from = 1 + group * SEEDS_PER_GROUP;
  const to = from + SEEDS_PER_GROUP - 1;
  const name =
    `histories ${from} to ${to} of replicas: copies equal the server, and no version goes back or comes twice`;
  Deno.test(name, { timeout: 600_000 }, async () => {
    let resumed = 0;
    for (let seed = from; seed <= to; seed++) {
      try {
        resumed += (await playReplicas(seed)).resumed;
      } catch (cause) {
        throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause });
      }
    }
    assert(resumed > 50, `${resumed} connections were resumed`);
  });
}
