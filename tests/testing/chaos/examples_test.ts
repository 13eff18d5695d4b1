import { assertEquals } from "@std/assert";
import { perturb } from "@kube/informer/testing/chaos";
import { EXAMPLES } from "../../support/perturb/examples.ts";

/** `deno task perturb --seeds 2000` tries more. */
const SEEDS = 12;

for (const [name, options] of Object.entries(EXAMPLES)) {
  Deno.test(
    `the controller "${name}" converges in ${SEEDS} seeds of changes and faults`,
    { timeout: 600_000 },
    async () => {
      assertEquals((await perturb({ ...options, seeds: SEEDS })).seeds, SEEDS);
    },
  );
}
