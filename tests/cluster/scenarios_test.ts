// The scenarios that tests/simulation/scenarios/fake_test.ts plays on the fake API server, on a real one: what holds
// there holds here.
import { CRASHES, SCENARIOS } from "../support/scenarios/suite.ts";
import { clusterTests, report } from "./_cluster.ts";
import { ClusterScenarioServer, CrashableClusterServer } from "./_cluster_scenario_server.ts";
import { needsOf } from "./_versions.ts";

const cluster = clusterTests();

for (const { name, needsStreams, run } of SCENARIOS) {
  cluster.anywhere(
    `${name}: the suite`,
    async (setting) => report(await run(new ClusterScenarioServer(setting))),
    ...needsOf(needsStreams ? "on" : "off"),
  );
}

for (const { name, needsStreams, run } of CRASHES) {
  cluster.withPlane(
    `${name}: the suite`,
    async (setting) => report(await run(new CrashableClusterServer(setting))),
    ...needsOf(needsStreams ? "on" : "off"),
  );
}
