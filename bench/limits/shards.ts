/**
 * The cost of a watch's event that is of another shard, on a server that does not filter: an informer of three fields,
 * whose shard has all objects or none, is sent a change of each. The CPU of reading the same chunks, and doing nothing
 * with them, is that of the server, which is in this process. REPETITIONS.
 */
import process from "node:process";
import { Client, type HashRange, SharedIndexInformer } from "../../mod.ts";
import { onlyFields } from "../../src/engine/api/fields.ts";
import { chunksOf } from "../../src/engine/client/decode/body_reader.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { listBody, podItem, streamOf, typed, watchBody } from "../_data.ts";
import { median } from "../statistics.ts";
import { collect, measureCase, type Measurement, ratio } from "./measurement.ts";

const COUNT = 3_000;
const HALF = 1n << 63n;
const LAST = "9000000";

/** The event that is not of the shard, against the one that is. */
export const SHARDS: Measurement = {
  ids: ["shards"],
  measure: async ({ repetitions }) => {
    const { oursMs, othersMs, bareMs } = await measureCase(import.meta.url, { args: [5 * repetitions] });
    const what = "CPU of an event above its bytes, three fields of a pod: of another shard / of this one";
    return [ratio("shards", what, (othersMs - bareMs) / (oursMs - bareMs), 0.25)];
  },
};

/** The CPU time of this process so far, in milliseconds: a reader that gives way to others waits. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function main(): Promise<void> {
  const items = Array.from({ length: COUNT }, (_, index) => podItem(index));
  const list = listBody("Pod", "v1", items);
  const changed = items.map((item, index) => {
    const metadata = { ...item.metadata as object, resourceVersion: String(4_000_000 + index) };
    return typed("Pod", "v1", { ...item, metadata, status: { ...item.status as object, phase: `Phase${index % 7}` } });
  });
  const bookmark =
    `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${LAST}"}}}\n`;
  const body = new Uint8Array(await new Blob([watchBody(changed), bookmark]).arrayBuffer());

  /** Returns the CPU time of delivering the events to a handler that reads them. */
  async function follow(ranges: readonly HashRange[], expected: number): Promise<number> {
    const begin = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    let watches = 0;
    const transport = {
      fetch: async (request: Request): Promise<Response> => {
        const headers = { "content-type": "application/json" };
        if (!request.url.includes("watch=true")) return new Response(streamOf(list), { headers });
        if (watches++ > 0) await new Promise((_, reject) => request.signal.addEventListener("abort", reject));
        open.resolve();
        await begin.promise;
        return new Response(streamOf(body), { headers });
      },
    };
    using client = new Client({ server: "http://bench", transport });
    const resource = onlyFields(Pod, ["spec.nodeName", "status.phase", "metadata.labels"]);
    await using informer = new SharedIndexInformer(client.resource(resource), {
      reflector: { streamingList: "off" },
      shard: { name: "measured", by: "uid", ranges: () => ranges },
      onError: () => {},
    });
    let read = 0;
    const { promise: delivered, resolve } = Promise.withResolvers<void>();
    informer.addEventHandler({
      onUpdate: ({ object }) => {
        if (object.status?.phase !== undefined && ++read === expected) resolve();
      },
    });
    void informer.run();
    await open.promise;
    collect();
    const began = cpuMs();
    begin.resolve();
    await informer.waitForVersion(LAST);
    if (expected > 0) await delivered;
    const ms = cpuMs() - began;
    if (read !== expected) throw new Error(`Cannot measure: found ${read} events, expected ${expected}`);
    return ms;
  }

  async function readBytes(): Promise<number> {
    const began = cpuMs();
    let length = 0;
    for await (const chunk of chunksOf(new Response(streamOf(body)).body!)) length += chunk.length;
    if (length !== body.length) throw new Error(`Cannot measure: found ${length} bytes, expected ${body.length}`);
    return cpuMs() - began;
  }

  const bareMs: number[] = [];
  const oursMs: number[] = [];
  const othersMs: number[] = [];
  for (let repetition = -1; repetition < Number(Deno.args[0]); repetition++) {
    // Two ranges, as one with all hashes is no shard.
    const ours = await follow([{ start: 0n, end: HALF }, { start: HALF + 1n, end: 2n * HALF }], COUNT);
    const others = await follow([{ start: 0n, end: 1n }], 0);
    const bare = await readBytes();
    if (repetition < 0) continue; // the first one warms up
    bareMs.push(bare);
    oursMs.push(ours);
    othersMs.push(others);
  }
  console.log(JSON.stringify({ oursMs: median(oursMs), othersMs: median(othersMs), bareMs: median(bareMs) }));
}

if (import.meta.main) await main();
