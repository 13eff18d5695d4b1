/**
 * One process of a group that reconciles config maps by namespace: KUBECONFIG PROCESSES. It prints a line when it holds
 * its share, and ends with its standard input. A reconcile writes the round of an object's label to its annotations.
 */
import { pooledMap } from "@std/async";
import { onlyMetadata, SharedIndexInformer } from "../../mod.ts";
import { connect } from "../../src/host/connect/mod.ts";
import { Manager, Reconciler, ShardGroup } from "../../src/operator/controllers/reconcile/mod.ts";
import { ConfigMap, Namespace } from "../../src/engine/kinds/core/v1.ts";
import { BreakableControlPlane } from "../../tests/support/cluster/control_plane.ts";
import { Child } from "../peers/child.ts";
import { caseCommand, type Limit, type Measurement, ratio } from "./measurement.ts";

const NAMESPACES = 64;
const MAPS = 2_560;
/** Writes of the parent at a time. */
const WRITERS = 8;

/** CPU of all processes of a group, for each key, beside that of one process; needs a kube-apiserver 1.36 or newer. */
export const PROCESSES: Measurement = {
  ids: ["processes-2", "processes-4", "processes-unfiltered"],
  onlyNamed: true,
  measure: async () => {
    const assets = Deno.env.get("KUBEBUILDER_ASSETS");
    if (assets === undefined) throw new Error("Cannot measure processes of a group: KUBEBUILDER_ASSETS is not set");
    const [one, two, four] = await cpuOf(assets, ["--feature-gates=ShardedListAndWatch=true"], [1, 2, 4]);
    const [bare, unfiltered] = await cpuOf(assets, [], [1, 4]);
    const what = "CPU of a reconciled key above that of idle processes";
    const limits: Limit[] = [
      ratio("processes-2", `${what}: two processes / one`, two / one, 1.15),
      ratio("processes-4", `${what}: four processes / one`, four / one, 1.15),
      { id: "processes-unfiltered", what: `${what}: four / one, the server does not filter`, value: unfiltered / bare },
    ];
    return limits;
  },
};

/** Returns the CPU seconds for each key above those of idle processes, for groups of so many processes. */
async function cpuOf(assets: string, flags: readonly string[], sizes: readonly number[]): Promise<number[]> {
  await using plane = await BreakableControlPlane.start(assets, { flags });
  using client = await connect({ kubeconfig: plane.kubeconfig });
  const maps = client.resource(ConfigMap);
  const keys = Array.from({ length: MAPS }, (_, i) => ({ namespace: `ns-${i % NAMESPACES}`, name: `map-${i}` }));
  for (let i = 0; i < NAMESPACES; i++) await client.resource(Namespace).create({ metadata: { name: `ns-${i}` } });
  const each = async (write: (key: typeof keys[number]) => Promise<unknown>): Promise<void> => {
    for await (const _ of pooledMap(WRITERS, keys, write)); // to the end
  };
  await each((metadata) => maps.create({ metadata: { ...metadata, labels: { bench: "yes", round: "0" } }, data: {} }));
  await using seen = new SharedIndexInformer(
    client.resource(onlyMetadata(ConfigMap), { labelSelector: "bench=yes" }),
  );
  void seen.run();
  await seen.waitForCacheSync();

  let round = 0;
  const figures: number[] = [];
  for (const size of sizes) {
    const children = Array.from({ length: size }, () => {
      return new Child(caseCommand(import.meta.url, { args: [plane.kubeconfig, size], v8Flags: [] }));
    });
    await Promise.all(children.map((child) => child.line(120_000)));
    const cpu = async (): Promise<number> =>
      (await Promise.all(children.map((child) => child.stat()))).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    const play = async (): Promise<number> => {
      const label = String(++round);
      const began = performance.now();
      await each(({ namespace, name }) =>
        client.resource(ConfigMap, { namespace }).patch(name, {
          type: "merge",
          body: { metadata: { labels: { round: label } } },
        })
      );
      await Promise.all(
        keys.map(({ namespace, name }) =>
          seen.until(({ metadata }) => metadata.annotations?.round === label, { key: `${namespace}/${name}` })
        ),
      );
      return performance.now() - began;
    };
    await play(); // warms up
    const before = await cpu();
    const ms = await play();
    const after = await cpu();
    await new Promise((resolve) => setTimeout(resolve, ms));
    const idle = await cpu() - after;
    figures.push((after - before - idle) / MAPS);
    await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
  }
  return figures;
}

async function main(): Promise<void> {
  const [kubeconfig, processes] = Deno.args;
  using client = await connect({ kubeconfig });
  const shards = new ShardGroup(client, { name: `of-${processes}`, namespace: "default", by: "namespace" });
  const maps = new Reconciler(client, ConfigMap, async ({ object, client }) => {
    const round = object?.metadata.labels?.round;
    if (object === undefined || round === object.metadata.annotations?.round) return;
    const { namespace, name } = object.metadata;
    await client.resource(ConfigMap, { namespace }).patch(name, {
      type: "merge",
      body: { metadata: { annotations: { round } } },
    });
  }, { shards, concurrency: 8, informer: { labelSelector: "bench=yes" } });
  await using manager = new Manager({ reconcilers: [maps], shards });
  using _ = shards.onChange(() => {
    if (shards.status().ranges.length === 64 / Number(processes)) console.log("holds its share");
  });
  const stop = new AbortController();
  const running = manager.run({ signal: stop.signal });
  for await (const _ of Deno.stdin.readable); // until the process that started this one ends
  stop.abort();
  await running;
}

if (import.meta.main) await main();
