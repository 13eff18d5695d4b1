// The scenarios of the suite on the fake API server; tests/cluster/outages_test.ts plays them on a real one.
import { assert } from "@std/assert";
import { CRASHES, SCENARIOS } from "../../support/scenarios/suite.ts";
import { FakeScenarioServer } from "./_fake_scenario_server.ts";

for (const way of ["in memory", "over HTTP"] as const) {
  for (const { name, run } of [...SCENARIOS, ...CRASHES]) {
    Deno.test(`${name}: fake, ${way}`, async () => {
      await using server = new FakeScenarioServer(way);
      const measured = await run(server);
      assert(measured !== "", "a scenario says what was measured");
    });
  }
}
