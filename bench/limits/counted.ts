/**
 * Bytes that a factory counts for `maxBytes`, beside the memory of its process: URL MODE. Modes: `unread`, `parsed`
 * (every object as it arrives), `fields` (three fields of each pod, an index of one of them).
 */
import { Client, field, SharedInformerFactory } from "../../mod.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { Child, statOf } from "../peers/child.ts";
import { caseCommand, collect, expectObjects, type Limit, measureCase, type Measurement } from "./measurement.ts";

const PODS = 40_000;
const SERVER = new URL("./_pods_server.ts", import.meta.url).href;

/** The growth of resident memory for each counted byte, behind the first list, and at its peak. */
export const COUNTED: Measurement = {
  ids: ["counted-unread", "counted-parsed", "counted-fields"],
  onlyNamed: true,
  measure: async () => {
    await using server = new Child(caseCommand(SERVER, { args: [PODS], v8Flags: [] }));
    const url = await server.line(30_000);
    const limits: Limit[] = [];
    for (const mode of ["unread", "parsed", "fields"]) {
      const { objects, countedMb, beforeMb, liveMb, peakRssMb } = await measureCase(import.meta.url, {
        args: [url, mode],
      });
      expectObjects(PODS, { objects });
      const what = `${PODS} pods, ${mode}: resident / counted (${countedMb} MB)`;
      limits.push({ id: `counted-${mode}`, what: `${what}, collected`, value: (liveMb - beforeMb) / countedMb });
      limits.push({ id: `counted-${mode}`, what: `${what}, peak`, value: (peakRssMb - beforeMb) / countedMb });
    }
    return limits;
  },
};

async function main(): Promise<void> {
  const [url, mode] = Deno.args;
  const rssMb = (): number => Deno.memoryUsage().rss / 1e6;
  const informers = new SharedInformerFactory(new Client({ server: url }), { maxBytes: Infinity });
  const fields = ["spec.nodeName", "status.phase", "status.podIP"] as const;
  const pods = mode === "fields"
    ? informers.forResource(Pod, { fields, indexers: { node: field("spec.nodeName") } })
    : informers.forResource(Pod, { parse: mode === "parsed" ? "eager" : "lazy" });
  collect();
  const beforeMb = rssMb();
  informers.start();
  await informers.waitForCacheSync();
  collect();
  const countedMb = Math.round(informers.countedBytes! / 1e6);
  const { peakRssMb } = await statOf("self");
  console.log(JSON.stringify({ objects: pods.indexer.size, countedMb, beforeMb, liveMb: rssMb(), peakRssMb }));
  Deno.exit(0); // an informer runs until it is stopped
}

if (import.meta.main) await main();
