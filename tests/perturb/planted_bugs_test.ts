import { assert } from "@std/assert";
import { planOf } from "../../src/perturb/plan.ts";
import { tryPlan } from "../../src/perturb/trial.ts";
import { APP } from "../support/perturb/app.ts";
import { appController, type Bug, BUGS } from "../support/perturb/app_controller.ts";

/** The number of seeds in which each bug must be found. */
const SEEDS = 500;

/** Seeds that have found the bugs: they are tried first, so that the tests are quick. */
const FOUND: Partial<Record<Bug, number>> = {
  "removes the finalizer before the cleanup": 12,
  "creates the bucket before the finalizer": 8,
  "records the bucket before it is created": 21,
  "creates the volume with the config map alone": 21,
  "replaces its config map in two writes": 211,
  "counts its pods in a stale cache": 4,
  "deletes the volume by its name": 177,
  "leaves what late writes have made": 215,
  "writes the status without a version": 44,
  "replaces its config map without a version": 1,
  "allocates ports from the cache": 5,
  "cleans up when it sees the deletion": 1,
  "pauses on the change alone": 40,
  "ignores errors": 6,
  "skips a generation that it has begun": 27,
  "never tries again after a name exists": 5,
  "appends to a list without a check": 23,
  "does not wait for its writes": 1,
  "never removes a label": 135,
  "takes no replicas for one": 1,
  "stays failed after an invalid image": 206,
  "does not watch its pods": 27,
  "waits by comparing two clocks": 33,
  "writes the time into the status": 1,
  "leaves a timer behind": 1,
};

for (const bug of BUGS) {
  Deno.test(`perturb finds a controller that ${bug} within ${SEEDS} seeds`, { timeout: 600_000 }, async () => {
    assert(await fails(bug, FOUND[bug] ?? 1) || await search(bug), `${SEEDS} seeds do not find it`);
  });
}

async function search(bug: Bug): Promise<boolean> {
  for (let seed = 1; seed <= SEEDS; seed++) if (await fails(bug, seed)) return true;
  return false;
}

async function fails(bug: Bug, seed: number): Promise<boolean> {
  const plan = planOf(seed, { steps: 60, changes: Object.keys(APP.changes) });
  return (await tryPlan({ ...APP, controller: appController(bug) }, plan)).failure !== undefined;
}
