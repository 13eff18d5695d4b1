/**
 * A cache of one of eight shards of the server's pods, three fields of each, in a process of its own: URL MODE. Modes:
 * `empty` (the same modules, nothing is followed), `all` (an informer of all pods), `shard` (one of the first shard),
 * `none` (one of a range without pods). With a third argument, `counted`, the bytes of the list are counted, for which
 * its body becomes a plain stream: that costs CPU and memory, so nothing else is taken from such a run.
 */
import process from "node:process";
import { Client, type HashRange, onlyFields, SharedIndexInformer } from "../../mod.ts";
import { hashRange } from "../../src/engine/api/shard.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { Child } from "../peers/child.ts";
import { caseCommand, collect, measureCase, type Measurement, mediansOf, type Numbers, ratio } from "./measurement.ts";

const PODS = 100_000;
const SERVER = new URL("./_pods_server.ts", import.meta.url).href;

/** One of 8 shards of 100,000 pods, on servers that do not filter and that do. */
export const SHARDED_CACHE: Measurement = {
  ids: ["sharded-heap", "sharded-rss", "sharded-rss-flags", "sharded-bytes", "sharded-cpu"],
  onlyNamed: true,
  measure: async ({ repetitions }) => {
    const collectable = ["--expose-gc"];
    // V8 commits up to 48 MB for young objects while a list is read, and keeps them: these are the flags of
    // examples/in_cluster, which bound that.
    const lean = [...collectable, "--max-semi-space-size=4", "--optimize-for-size"];
    const measure = async (
      gate: "filters" | "ignores",
      ...modes: readonly (readonly [mode: string, v8Flags: readonly string[]])[]
    ): Promise<Numbers[]> => {
      await using server = new Child(caseCommand(SERVER, { args: [PODS, gate], v8Flags: [] }));
      const url = await server.line(30_000);
      const runs: Numbers[][] = modes.map(() => []);
      for (let repetition = 0; repetition < repetitions; repetition++) {
        for (const [i, [mode, v8Flags]] of modes.entries()) {
          runs[i].push(await measureCase(import.meta.url, { args: [url, ...mode.split(" ")], v8Flags }));
        }
      }
      return runs.map(mediansOf);
    };
    const [empty, all, shard, emptyLean, allLean, shardLean, allCounted] = await measure(
      "ignores",
      ["empty", collectable],
      ["all", collectable],
      ["shard", collectable],
      ["empty", lean],
      ["all", lean],
      ["shard", lean],
      ["all counted", collectable],
    );
    const [filtered, none, filteredCounted] = await measure(
      "filters",
      ["shard", collectable],
      ["none", collectable],
      ["shard counted", collectable],
    );
    const rss = (part: Numbers, of: Numbers, nothing: Numbers): number =>
      (part.rssBytes - nothing.rssBytes) / (of.rssBytes - nothing.rssBytes);
    for (const { objects } of [shard, filtered]) {
      if (Math.abs(objects / all.objects - 1 / 8) < 0.01) continue;
      throw new Error(`Cannot measure: ${objects} of ${all.objects} objects are cached, expected an eighth`);
    }
    const what = "1/8 of 100,000 pods, three fields";
    return [
      ratio("sharded-heap", `${what}: heap / all pods`, shard.heapBytes / all.heapBytes, 0.2),
      {
        id: "sharded-rss",
        what: `${what}: RSS after a collection, above that of an empty process / all pods`,
        value: rss(shard, all, empty),
      },
      ratio(
        "sharded-rss-flags",
        "the same, all with the flags of examples/in_cluster",
        rss(shardLean, allLean, emptyLean),
        0.35,
      ),
      ratio(
        "sharded-bytes",
        `${what}, the server filters: bytes of the list / all pods`,
        filteredCounted.bytes / allCounted.bytes,
        0.13,
      ),
      ratio(
        "sharded-cpu",
        `${what}, the server filters: CPU above that of an informer of nothing / all pods`,
        (filtered.cpuMs - none.cpuMs) / (all.cpuMs - none.cpuMs),
        0.2,
      ),
    ];
  },
};

const RANGES: Readonly<Record<string, HashRange>> = { shard: hashRange(0, 8), none: { start: 0n, end: 1n } };

async function main(): Promise<void> {
  const [url, mode, countBytes] = Deno.args;
  let bytes = 0;
  const transport = {
    fetch: async (request: Request): Promise<Response> => {
      const response = await fetch(request);
      if (countBytes === undefined || request.url.includes("watch=true")) return response;
      const counted = response.body!.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller): void {
            bytes += chunk.length;
            controller.enqueue(chunk);
          },
        }),
      );
      return new Response(counted, response);
    },
  };
  collect();
  const before = Deno.memoryUsage().heapUsed;
  let objects = 0;
  if (mode !== "empty") {
    const resource = onlyFields(Pod, ["spec.nodeName", "status.phase", "status.podIP"]);
    const range = RANGES[mode];
    const informer = new SharedIndexInformer(new Client({ server: url, transport }).resource(resource), {
      ...range === undefined ? {} : { shard: { name: mode, by: "uid", ranges: () => [range] } },
    });
    void informer.run();
    await informer.waitForCacheSync();
    objects = informer.indexer.size;
  }
  const { user, system } = process.cpuUsage();
  collect();
  const { heapUsed, rss: rssBytes } = Deno.memoryUsage();
  const cpuMs = (user + system) / 1_000;
  console.log(JSON.stringify({ objects, bytes, cpuMs, heapBytes: heapUsed - before, rssBytes }));
  Deno.exit(0); // an informer runs until it is stopped
}

if (import.meta.main) await main();
