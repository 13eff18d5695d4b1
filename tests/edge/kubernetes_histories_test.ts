import { playRelayed } from "../support/histories/kubernetes_relay.ts";

/** Each group is a test of its own, so that a failure names its seeds. */
const GROUPS = 4;
const SEEDS_PER_GROUP = 25;

for (let group = 0; group < GROUPS; group++) {
  const from = 1 + group * SEEDS_PER_GROUP;
  const to = from + SEEDS_PER_GROUP - 1;
  const name =
    `relayed histories ${from} to ${to}: informers behind a relay equal the server, and no version goes back`;
  Deno.test(name, { timeout: 600_000 }, async () => {
    for (let seed = from; seed <= to; seed++) {
      try {
        await playRelayed(seed);
      } catch (cause) {
        throw new Error(`seed ${seed}: ${(cause as Error).message}`, { cause });
      }
    }
  });
}
