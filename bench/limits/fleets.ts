/**
 * A cache of a fleet, with compact entries or without them, in a process of its own: URL FLEET compact|plain SETTLE-MS.
 * With a settle time it measures after that idle time, otherwise after the first list.
 */
import { Client, defineResource, type KubernetesObject, type Resource, SharedIndexInformer } from "../../mod.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import type { Fleet } from "../fleets.ts";
import { Child, statOf } from "../peers/child.ts";
import { collectAll } from "../peers/progress.ts";
import {
  caseCommand,
  collect,
  expectObjects,
  type Limit,
  measureCase,
  type Measurement,
  mediansOf,
  type Numbers,
} from "./measurement.ts";

const SERVER = new URL("./_fleet_server.ts", import.meta.url).href;

/** The greatest accepted ratios; no number for a figure to look at. */
interface Accepted {
  readonly sync?: number;
  /** Heap after the first list. */
  readonly heap?: number;
  /** Heap after the idle time. */
  readonly settledHeap?: number;
  /** Resident memory after that and a collection: V8 does not collect in an idle process. */
  readonly collectedRss?: number;
}

/** Pods of few templates, as all other benches have them. */
export const TEMPLATE: Measurement = fleet("template", "pods of one template", { settledHeap: 0.3, collectedRss: 0.4 });

/** Pods of many workloads, with names, images, variables and volumes of their own. */
export const WORKLOADS: Measurement = fleet("workloads", "pods of 60 shapes, 20 of a workload", {
  settledHeap: 0.45,
  collectedRss: 0.55,
});

/**
 * Objects with nothing in common: what compact entries may cost at most. In a first list, some 70 attempts to find
 * what they have in common take 40 ms, because V8 has not compiled that code yet; 1.02 was wanted.
 */
export const RANDOM: Measurement = fleet("random", "random objects", { sync: 1.1, heap: 1.02, settledHeap: 1.02 });

function fleet(name: Fleet, objects: string, accepted: Accepted): Measurement {
  const id = `fleet-${name}`;
  return {
    ids: ["sync", "heap", "rss", "settled-heap", "settled-rss", "collected-rss", "bytes", "saved"]
      .map((figure) => `${id}-${figure}`),
    name: id,
    onlyNamed: true,
    measure: async ({ repetitions, objects: count = 20_000, settleSeconds = 60 }) => {
      await using server = new Child(caseCommand(SERVER, { args: [name, count], v8Flags: [] }));
      const url = await server.line(60_000 + 3 * count);
      const run = async (mode: string, settleMs: number): Promise<Numbers> => {
        const numbers = await measureCase(import.meta.url, { args: [url, name, mode, settleMs] });
        expectObjects(count, numbers);
        return numbers;
      };
      const first = await run("compact", 0);
      const modes = first.isKnown === 1 ? ["compact", "plain"] : ["compact"];
      if (modes.length === 1) console.error("this version has no compact entries: all ratios are 1");
      const synced = new Map<string, Numbers[]>(modes.map((mode) => [mode, []]));
      for (let repetition = 0; repetition < repetitions; repetition++) {
        for (const mode of modes) synced.get(mode)!.push(await run(mode, 0));
      }
      // Only memory is measured here, so that both can be idle at the same time.
      const [compactSettled, plainSettled = compactSettled] = await Promise.all(
        modes.map((mode) => run(mode, settleSeconds * 1_000)),
      );
      const [compact, plain = compact] = modes.map((mode) => mediansOf(synced.get(mode)!));
      const what = (figure: string): string => `${count} ${objects}: ${figure} / without compact entries`;
      const row = (figure: string, text: string, [ours, theirs]: readonly number[], most?: number): Limit => ({
        id: `${id}-${figure}`,
        what: what(text),
        value: ours / theirs,
        ...most === undefined || modes.length === 1 ? {} : { accept: { most } },
      });
      const settled = `after ${settleSeconds} s of idle time`;
      return [
        row("sync", "time of the first list", [compact.syncMs, plain.syncMs], accepted.sync),
        row("heap", "heap after it", [compact.heapBytes, plain.heapBytes], accepted.heap),
        row("rss", "resident memory after it", [compact.rssBytes, plain.rssBytes]),
        row(
          "settled-heap",
          `heap ${settled}`,
          [compactSettled.heapBytes, plainSettled.heapBytes],
          accepted.settledHeap,
        ),
        row("settled-rss", `resident memory ${settled}`, [compactSettled.rssBytes, plainSettled.rssBytes]),
        row(
          "collected-rss",
          "the same after a forced collection, which returns pages",
          [compactSettled.collectedRssBytes, plainSettled.collectedRssBytes],
          accepted.collectedRss,
        ),
        {
          id: `${id}-bytes`,
          what: `${count} ${objects}: heap of each ${settled}`,
          value: compactSettled.heapBytes,
          unit: "bytes",
        },
        {
          id: `${id}-saved`,
          what: `${count} ${objects}: saved of each by the cache's own account`,
          value: compactSettled.savedBytes,
          unit: "bytes",
        },
      ];
    },
  };
}

/** The defaults without compact entries: older versions do not have this option, and pass over it. */
const PLAIN = { parse: "lazy", compact: false } as const;

async function main(): Promise<void> {
  const [url, name, mode, settleMs] = Deno.args;
  const resource =
    (name === "random"
      ? defineResource<KubernetesObject>({ group: "random.example.com", version: "v1", plural: "blobs", kind: "Blob" })
      : Pod) as Resource<KubernetesObject>;
  const informer = new SharedIndexInformer(
    new Client({ server: url }).resource(resource),
    mode === "plain" ? PLAIN : {},
  );
  collect();
  const before = { ...Deno.memoryUsage(), ...await statOf("self") };
  const began = performance.now();
  void informer.run();
  await informer.waitForCacheSync();
  const syncMs = performance.now() - began;
  // Without an idle time for what is done in idle turns: only as long as the last chunk is still held.
  await new Promise((resolve) => setTimeout(resolve, Math.max(20, Number(settleMs))));
  const { rssMb } = await statOf("self");
  collect();
  const after = Deno.memoryUsage();
  const objects = informer.indexer.size;
  const heapBytes = (after.heapUsed + after.external - before.heapUsed - before.external) / objects;
  const { collectedRssMb = NaN } = await collectAll();
  const { compact } = informer.memory() as { readonly compact?: { readonly savedBytes: number } };
  console.log(JSON.stringify({
    objects,
    syncMs,
    heapBytes,
    rssBytes: (rssMb - before.rssMb) * 1e6 / objects,
    collectedRssBytes: (collectedRssMb - before.rssMb) * 1e6 / objects,
    isKnown: compact === undefined ? 0 : 1,
    savedBytes: (compact?.savedBytes ?? 0) / objects,
  }));
  Deno.exit(0); // an informer has no end
}

if (import.meta.main) await main();
