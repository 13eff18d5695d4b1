/**
 * Twenty clusters of 5,000 pods in one process, beside one cluster of 100,000: MODE URL. Modes: `clusters` (twenty
 * addresses of one server, joined), `one` (an informer of one address). A handler receives every pod.
 */
import { Client, SharedInformerFactory } from "../../mod.ts";
import { ClusterSet } from "../../src/operator/controllers/clusters/cluster_set.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { Child, statOf } from "../peers/child.ts";
import { caseCommand, expectObjects, measureCase, type Measurement, mediansOf, ratio } from "./measurement.ts";

const PODS = 100_000;
const CLUSTERS = 20;
const SERVER = new URL("./_pods_server.ts", import.meta.url).href;

/** Joined informers of complete pods. */
export const JOINED: Measurement = {
  ids: ["clusters-rss", "clusters-sync", "clusters-cpu"],
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const serve = (pods: number): Child => new Child(caseCommand(SERVER, { args: [pods], v8Flags: [] }));
    await using small = serve(PODS / CLUSTERS);
    await using large = serve(PODS);
    const urls = { clusters: await small.line(30_000), one: await large.line(30_000) };
    const measure = (mode: keyof typeof urls): ReturnType<typeof measureCase> =>
      measureCase(import.meta.url, { args: [mode, urls[mode]], v8Flags: [] });
    const runs: Record<keyof typeof urls, Awaited<ReturnType<typeof measureCase>>[]> = { clusters: [], one: [] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      runs.one.push(await measure("one"));
      runs.clusters.push(await measure("clusters"));
    }
    const [clusters, one] = [mediansOf(runs.clusters), mediansOf(runs.one)];
    expectObjects(PODS, clusters, one);
    const what = "20 clusters of 5k pods in one process / one of 100k";
    return [
      ratio("clusters-rss", `${what}: peak RSS`, clusters.peakRssMb / one.peakRssMb, 1.15),
      ratio("clusters-sync", `${what}: time to sync`, clusters.syncMs / one.syncMs, 1.2),
      ratio("clusters-cpu", `${what}: CPU until then`, clusters.cpuSeconds / one.cpuSeconds, 1.2),
    ];
  },
};

async function main(): Promise<void> {
  const [mode, url] = Deno.args;
  let objects = 0;
  const { promise: delivered, resolve } = Promise.withResolvers<void>();
  const handler = {
    onAdd: (): void => {
      if (++objects === PODS) resolve();
    },
  };
  const began = performance.now();
  if (mode === "one") {
    const informers = new SharedInformerFactory(new Client({ server: url }));
    informers.forResource(Pod).addEventHandler(handler);
    informers.start();
  } else {
    const clusters = new ClusterSet();
    for (let i = 0; i < CLUSTERS; i++) clusters.add(`c${i}`, new Client({ server: `${url}/c${i}` }));
    clusters.forResource(Pod).addEventHandler(handler);
    clusters.start();
  }
  await delivered;
  const syncMs = performance.now() - began;
  console.log(JSON.stringify({ objects, syncMs, ...await statOf("self") }));
  Deno.exit(0); // informers run until they are stopped
}

if (import.meta.main) await main();
