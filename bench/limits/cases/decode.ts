/**
 * L1 and L1s: a watch's body in chunks of 64 KB, framed, decoded and every object read, beside JSON.parse of strings that
 * are there already. KIND (`pods` or `leases`), REPETITIONS.
 */
import { readChanges } from "../../../src/client/decode/watch_reader.ts";
import { Lease } from "../../../src/kinds/coordination/v1.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { leaseItem, podItem, streamOf, typed, watchBody } from "../../_data.ts";
import { collect } from "../../collect.ts";
import { median } from "../../statistics.ts";

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
