// The scenarios that tests/simulation/scenarios/fake_test.ts plays on the fake API server, on a real one: what holds there holds here.
import { CRASHES, SCENARIOS } from "../simulation/scenarios/_suite.ts";
import { clusterTests, tell } from "./_cluster.ts";
import { ClusterWorld, PlaneWorld } from "./_scenario_world.ts";

const cluster = clusterTests();

for (const { name, run } of SCENARIOS) {
  cluster.anywhere(`${name}: the suite`, async (setting) => tell(await run(new ClusterWorld(setting))));
}

for (const { name, run } of CRASHES) {
  cluster.withPlane(`${name}: the suite`, async (setting) => tell(await run(new PlaneWorld(setting))));
}
