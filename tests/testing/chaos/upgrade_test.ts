import { ChaosError, upgrade } from "@kube/informer/testing/chaos";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { websiteUpgrade } from "../../../examples/website_v2/releases.ts";
import { tryUpgrade, upgradePlanOf } from "../../../src/testing/chaos/upgrade.ts";
import { siteUpgrade, UPGRADE_BUGS, type UpgradeBug } from "../../support/chaos/upgrades.ts";
import { groupsOf, KINDS } from "../../support/histories/kinds.ts";

/** The number of seeds in which each bug must be found. */
const SEEDS = 200;

for (const { from, to, play } of groupsOf(KINDS.upgrades)) {
  Deno.test(`an honest upgrade passes: seeds ${from} to ${to}`, { timeout: 600_000 }, play);
}

for (const [bug, [found, part]] of Object.entries(UPGRADE_BUGS)) {
  Deno.test(`upgrade finds a release that ${bug} within ${SEEDS} seeds`, { timeout: 600_000 }, async () => {
    const options = siteUpgrade(bug as UpgradeBug);
    const fails = async (seed: number): Promise<boolean> =>
      (await tryUpgrade(options, upgradePlanOf(seed, options))).failure?.includes(part) ?? false;
    let seed: number = found;
    if (!await fails(found)) { for (seed = 1; seed <= SEEDS && !await fails(seed);) seed++; }
    assert(seed <= SEEDS, `${SEEDS} seeds do not find it`);
  });
}

Deno.test("upgrade rejects with the phases and the shortest steps of a failing seed, and its call", async () => {
  const options = siteUpgrade("forgets a field on the way to the old version");
  const { failures: [{ seed, message, lines }], message: whole } = await assertRejects(
    () => upgrade({ ...options, firstSeed: 3 }),
    ChaosError,
  );
  assertMatch(
    message,
    /^(a field is lost: spec\.note|Cannot convert Site .*: spec\.note is lost).* \(in the phase in which /,
  );
  assertStringIncludes(whole, `to run it again: upgrade({ …, firstSeed: ${seed}, seeds: 1 })`);
  const steps = lines.filter((line) => /^ *\d+\. /.test(line));
  assert(steps.length <= 4, lines.join("\n"));
});

Deno.test("the plan of an upgrade has five phases, and users pause in every second rollback", () => {
  const options = siteUpgrade();
  const plans = Array.from({ length: 40 }, (_, seed) => upgradePlanOf(seed, options).steps);
  let quiet = 0;
  for (const steps of plans) {
    const phases = steps.filter((step) => step.do === "phase").map(({ name }) => name);
    assertEquals(phases, ["both", "to", "rollback", "again"]);
    const after = steps.slice(steps.findLastIndex((step) => step.do === "phase" && step.name === "rollback"));
    if (!after.some((step) => ["change", "deleteAll", "conflict"].includes(step.do))) quiet++;
    assert(!steps.some((step) => step.do === "race" || step.do === "unobserved"));
  }
  assert(quiet > 10 && quiet < 35, `${quiet} of 40`);
});

Deno.test("the second release of the example takes over from the first one", { timeout: 600_000 }, async () => {
  assertEquals((await upgrade({ ...websiteUpgrade, firstSeed: 101, seeds: 8 })).seeds, 8);
});
