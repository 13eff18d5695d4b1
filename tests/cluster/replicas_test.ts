// Three relays of a real server behind a proxy, killed one after the other under clients of event streams.
import { assert, assertEquals } from "@std/assert";
import { shareOf } from "../support/replicas/checked_copy.ts";
import { killReplicas } from "../support/replicas/killed_replicas.ts";
import { clusterTests, report } from "./_cluster.ts";

const cluster = clusterTests();

cluster.anywhere("clients of relays that are killed continue at others, and equal the server", async (setting) => {
  const { kubeconfig, client, namespace } = setting;
  const run = { kubeconfig, client, namespace, clients: 30, seconds: 4, writeMs: 50 };
  const { reconnections, writes, problems } = await killReplicas(run);
  report(`${writes} writes, ${JSON.stringify(reconnections)}`);
  assertEquals(problems, []);
  assert(reconnections.resumed >= 20, "no clients were cut");
  assert(shareOf(reconnections) >= 0.9, `${shareOf(reconnections)} of the reconnections were resumed`);
});
