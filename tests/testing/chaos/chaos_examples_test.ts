import { chaos } from "@kube/informer/testing/chaos";
import { assertEquals } from "@std/assert";
import { EXAMPLES } from "../../support/chaos/examples.ts";

/** `deno task chaos --seeds 2000` tries more. */
const SEEDS = 12;

for (const [name, options] of Object.entries(EXAMPLES)) {
  Deno.test(
    `the controller "${name}" converges in ${SEEDS} seeds of changes and faults`,
    { timeout: 600_000 },
    async () => {
      assertEquals((await chaos({ ...options, seeds: SEEDS })).seeds, SEEDS);
    },
  );
}
