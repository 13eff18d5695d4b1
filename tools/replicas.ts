/**
 * Kills relays of a real kube-apiserver under their clients. `--help` prints its flags.
 *
 * @module
 */
import { connect } from "@kube/informer/connect";
import { Namespace } from "@kube/informer/kinds/core/v1";
import { BreakableControlPlane } from "../tests/support/cluster/control_plane.ts";
import { shareOf } from "../tests/support/replicas/checked_copy.ts";
import { killReplicas } from "../tests/support/replicas/killed_replicas.ts";
import { count, quit, readFlags, text } from "./flags.ts";

/** The share of reconnections that continue without a snapshot. */
const GOAL = 0.9;

const flags = readFlags({
  task: "replicas",
  summary: "Kills three relays of a real kube-apiserver, one after the other, behind a proxy that changes between\n" +
    "them, and compares the copies of their clients with the server.",
  flags: {
    clients: count("number of clients", 200),
    seconds: count("time from one relay that is killed to the next", 20),
    rate: count("writes a second", 10),
    rounds: count("number of times that each relay is killed", 1),
    kubeconfig: text("FILE", "a server; without it, the programs in KUBEBUILDER_ASSETS are started"),
  },
  examples: ["--seconds 5 --rounds 3"],
  exits:
    `Exits with 1 when an object's version went back or came twice, a copy differs from the server in the end, or\n` +
    `less than ${
      GOAL * 100
    } % of the reconnections continued without a snapshot; with 2 when the command line is wrong.`,
});
Deno.exit(await main() ? 0 : 1);

async function main(): Promise<boolean> {
  await using plane = flags.kubeconfig === undefined ? await startedPlane() : undefined;
  const kubeconfig = flags.kubeconfig ?? plane!.kubeconfig;
  using client = await connect({ kubeconfig });
  const namespace = `replicas-${crypto.randomUUID().slice(0, 6)}`;
  await client.resource(Namespace).create({ metadata: { name: namespace } });
  const { clients, seconds, rate, rounds } = flags;
  const options = { kubeconfig, client, namespace, clients, seconds, rounds, writeMs: 1_000 / rate };
  const { reconnections, writes, problems } = await killReplicas(options);
  const share = shareOf(reconnections);
  const { resumed, snapshots, behind, failed } = reconnections;
  for (const problem of problems.slice(0, 20)) console.log(problem);
  console.log(
    `${writes} writes, ${clients} clients; reconnections: ${resumed} without a snapshot (${
      (100 * share).toFixed(1)
    } %), ` +
      `${snapshots} with one, ${behind} ended as behind, ${failed} failed; ${problems.length} problems`,
  );
  return problems.length === 0 && share >= GOAL;
}

async function startedPlane(): Promise<BreakableControlPlane> {
  const assets = Deno.env.get("KUBEBUILDER_ASSETS");
  if (assets === undefined) quit('set KUBEBUILDER_ASSETS to a folder with "etcd" and "kube-apiserver"', 2);
  return await BreakableControlPlane.start(assets);
}
