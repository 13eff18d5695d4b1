/**
 * Runs the controllers of `examples` against changes and faults. `--help` prints its flags.
 *
 * @module
 */
import { chaos, ChaosError } from "@kube/informer/testing/chaos";
import { EXAMPLES } from "../tests/support/chaos/examples.ts";
import { choice, count, readFlags } from "./flags.ts";

const { only, ...plan } = readFlags({
  task: "chaos",
  summary:
    "Runs the controllers of examples against changes and faults by seed, and prints the steps of a failing seed.",
  flags: {
    seeds: count("number of seeds for each controller", 50),
    from: count("the first seed", 1),
    only: choice(Object.keys(EXAMPLES), "the only controller to run"),
  },
  examples: ["--seeds 2000", "--only crontab --seeds 1 --from 17"],
  exits: "Exits with 1 when a seed fails, with 2 when the command line is wrong.",
});

let failed = false;
for (const [name, options] of Object.entries(EXAMPLES)) {
  if ((only ?? name) !== name) continue;
  console.error(`${name}: ${plan.seeds} seeds from ${plan.from} …`);
  const startedAt = performance.now();
  try {
    const { seeds, steps, writes } = await chaos({ ...options, seeds: plan.seeds, from: plan.from });
    const perSecond = (seeds / ((performance.now() - startedAt) / 1_000)).toFixed(1);
    console.log(`${name}: ${seeds} seeds passed, ${steps} steps, ${writes} writes, ${perSecond} seeds a second`);
  } catch (error) {
    if (!(error instanceof ChaosError)) throw error;
    failed = true;
    console.error(
      `${name}: ${error.message}\nor: deno task chaos --only ${name} --from ${error.failures[0].seed} --seeds 1\n`,
    );
  }
}
Deno.exit(failed ? 1 : 0);
