// The scenarios that tests/simulation/scenarios/fake_test.ts plays on the fake API server, on a real one: what holds
// there holds here.
import { CRASHES, SCENARIOS } from "../support/scenarios/suite.ts";
import { clusterTests, report } from "./_cluster.ts";
import { ClusterScenarioServer, CrashableClusterServer } from "./_cluster_scenario_server.ts";

const cluster = clusterTests();

/** They count the lists that informers ask for, which are more where a streaming list is refused first. */
const NEEDS = "streaming lists by default";

for (const { name, run } of SCENARIOS) {
  cluster.anywhere(
    `${name}: the suite`,
    async (setting) => report(await run(new ClusterScenarioServer(setting))),
    NEEDS,
  );
}

for (const { name, run } of CRASHES) {
  cluster.withPlane(
    `${name}: the suite`,
    async (setting) => report(await run(new CrashableClusterServer(setting))),
    NEEDS,
  );
}
