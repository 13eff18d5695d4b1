/**
 * L1 and L1s: a watch's body in chunks of 64 KB, framed, decoded and every object read, beside JSON.parse of strings
 * that are there already. KIND (`pods` or `leases`), REPETITIONS.
 */
import { Lease } from "../../src/engine/kinds/coordination/v1.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { readChanges } from "../../tests/support/sources/bodies.ts";
import { leaseItem, podItem, streamOf, typed, watchBody } from "../_data.ts";
import { median } from "../statistics.ts";
import { collect, measureCase, type Measurement } from "./measurement.ts";

function decoding(id: string, kind: "pods" | "leases", most: number): Measurement {
  return {
    ids: [id],
    measure: async ({ repetitions }) => {
      const { bareMs, oursMs } = await measureCase(import.meta.url, { args: [kind, 3 * repetitions] });
      const what = `${kind}: frame, decode, read each / JSON.parse of ready strings`;
      return [{ id, what, value: oursMs / bareMs, accept: { most } }];
    },
  };
}

/** L1: a watch's body of pods against parsing alone. */
export const PODS: Measurement = decoding("L1", "pods", 1.3);

/** L1s: the same for small objects. */
export const LEASES: Measurement = decoding("L1s", "leases", 1.25);

async function main(): Promise<void> {
  const [kind, repetitions] = Deno.args;
  const leases = kind === "leases";
  const resource = leases ? Lease : Pod;
  const objects = Array.from(
    { length: leases ? 20_000 : 2_000 },
    (_, index) =>
      leases ? typed("Lease", "coordination.k8s.io/v1", leaseItem(index)) : typed("Pod", "v1", podItem(index)),
  );
  const texts = objects.map((object) => JSON.stringify(object));
  const body = watchBody(objects);

  function parseTexts(): number {
    let parsed = 0;
    for (const text of texts) if (JSON.parse(text).metadata !== undefined) parsed++;
    return parsed;
  }

  async function readBody(): Promise<number> {
    let read = 0;
    for await (const batch of readChanges(streamOf(body), { resource, managedFields: "keep", parse: "now" })) {
      for (const change of batch) if (change.type !== "BOOKMARK" && change.entry.object !== undefined) read++;
    }
    return read;
  }

  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let repetition = -1; repetition < Number(repetitions); repetition++) {
    for (const [times, job] of [[bareMs, parseTexts], [oursMs, readBody]] as const) {
      collect();
      await job(); // a forced collection shrinks the heap below what the job itself leaves behind: it grows back first
      const began = performance.now();
      if (await job() !== texts.length) throw new Error("Cannot measure: not every object was read");
      if (repetition >= 0) times.push(performance.now() - began); // the first one warms up
    }
  }
  console.log(JSON.stringify({ bareMs: median(bareMs), oursMs: median(oursMs) }));
}

if (import.meta.main) await main();
