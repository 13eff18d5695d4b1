import type { ChaosOptions } from "@kube/informer/testing/chaos";
import { assert } from "@std/assert";
import { tryPlan } from "../../../src/testing/chaos/chaos.ts";
import { planOf } from "../../../src/testing/chaos/plan.ts";
import { APP } from "../../support/chaos/app.ts";
import { appController, type Bug, BUGS } from "../../support/chaos/app_controller.ts";
import { elected, ELECTION_BUGS } from "../../support/chaos/elected.ts";
import { crontab } from "../../support/chaos/examples.ts";
import { SHARD_BUGS, shared } from "../../support/chaos/shared.ts";
import { OWN_WRITE_BUGS, sites } from "../../support/chaos/sites.ts";

/** The number of seeds in which each bug must be found. */
const SEEDS = 500;

/** Tests that a bug is found, by a failure that begins with `failure`. The seed that has found it is tried first. */
function findable<World>(
  bug: string,
  found: number,
  options: ChaosOptions<World>,
  { failure = "", plant }: { readonly failure?: string; readonly plant?: () => Disposable } = {},
): void {
  const fails = async (seed: number): Promise<boolean> => {
    using _planted = plant?.();
    const plan = planOf(seed, { elects: options.elects, changes: Object.keys(options.changes) });
    return (await tryPlan(options, plan)).failure?.startsWith(failure) ?? false;
  };
  Deno.test(`chaos finds a controller that ${bug} within ${SEEDS} seeds`, { timeout: 600_000 }, async () => {
    let seed = found;
    if (!await fails(found)) { for (seed = 1; seed <= SEEDS && !await fails(seed);) seed++; }
    assert(seed <= SEEDS, `${SEEDS} seeds do not find it`);
  });
}

for (const [bug, found] of Object.entries(BUGS) as [Bug, number][]) {
  findable(bug, found, { ...APP, controller: appController(bug) });
}
for (const [bug, found] of Object.entries(ELECTION_BUGS) as [keyof typeof ELECTION_BUGS, number][]) {
  findable(bug, found, elected(crontab, bug), { failure: "the invariant" });
}
for (const [bug, [found, plant]] of Object.entries(OWN_WRITE_BUGS)) findable(bug, found, sites, { plant });
for (const [bug, { found, plant }] of Object.entries(SHARD_BUGS)) {
  findable(bug, found, shared, { plant, failure: "the invariant" });
}
