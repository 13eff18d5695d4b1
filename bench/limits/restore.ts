/**
 * S1 to S3: the time from nothing to the first read of a cache, in a process of its own. URL MODE FILE. Modes: `list`
 * (an informer with its defaults, until it has synced; then it writes its snapshot to FILE), `restore` (from FILE).
 */
import { Client, SharedIndexInformer } from "../../mod.ts";
import { FileSnapshots } from "../../src/host/connect/mod.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { median } from "../statistics.ts";
import { Server } from "./_server.ts";
import { expectObjects, measureCase, type Measurement, ms, type Numbers, ratio } from "./measurement.ts";

const PODS = 10_000;

/** S1 to S3: a restore of 10,000 pods from a file against a list of them, and the time to write the file. */
export const RESTORE: Measurement = {
  ids: ["S1", "S1m", "S2", "S3"],
  name: "restore",
  measure: async ({ repetitions }) => {
    await using server = await Server.start({ pods: PODS });
    const file = await Deno.makeTempFile({ prefix: "informer-snapshot-" });
    const runs: Record<string, Numbers[]> = { list: [], restore: [] };
    try {
      for (let repetition = 0; repetition < repetitions; repetition++) {
        for (const mode of Object.keys(runs)) {
          await server.reset();
          runs[mode].push(await measureCase(import.meta.url, { args: [server.url, mode, file], v8Flags: [] }));
        }
      }
    } finally {
      await Deno.remove(file);
    }
    expectObjects(PODS, ...runs.list, ...runs.restore);
    const of = (mode: string, name: string): number => median(runs[mode].map((run) => run[name]));
    return [
      ratio(
        "S1",
        "restore of 10,000 pods / a list: time to the first read",
        of("restore", "ms") / of("list", "ms"),
        0.2,
      ),
      { id: "S1m", what: "the same, restore alone", value: of("restore", "ms"), unit: "ms" },
      ms("S2", "10,000 pods written to a file", of("list", "writeMs"), 2_000),
      { id: "S3", what: "size of that file", value: of("list", "fileMb"), unit: "MB" },
    ];
  },
};

async function main(): Promise<void> {
  const [url, mode, file] = Deno.args;
  const store = new FileSnapshots(() => file);
  using client = new Client({ server: url });
  await using pods = new SharedIndexInformer(client.resource(Pod));
  const began = performance.now();
  if (mode === "restore") await pods.restore((await store.get("pods"))!);
  else {
    void pods.run();
    await pods.waitForCacheSync();
  }
  const [key] = pods.entries.keys();
  if (pods.indexer.getByKey(key) === undefined) throw new Error(`Cannot read "${key}"`);
  const took = performance.now() - began;
  let [writeMs, fileMb] = [0, 0];
  if (mode === "list") {
    const writing = performance.now();
    await store.set("pods", { bytes: pods.snapshot(), version: pods.lastSyncResourceVersion, replacesNewer: false });
    writeMs = performance.now() - writing;
    fileMb = (await Deno.stat(file)).size / 1e6;
  }
  console.log(JSON.stringify({ ms: took, writeMs, fileMb, objects: pods.indexer.size }));
}

if (import.meta.main) await main();
