/**
 * L2 to L5: one list of pods into a Map, in a process of its own. URL MODE. Modes: `json` (`.json()` and a loop), `streamed`
 * (part by part, every object read, managedFields kept), `stripped` (the same without managedFields), `informer` (its
 * defaults, until it has synced).
 */
import { Client, SharedIndexInformer } from "../../../mod.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { statOf } from "../../peers/process_stat.ts";
import { Stalls } from "../../stalls.ts";

const [url, mode] = Deno.args;
const client = new Client({ server: url });
const cache = new Map<string, Pod>();
using stalls = new Stalls();
const began = performance.now();
switch (mode) {
  case "json": {
    const list = await (await fetch(`${url}/api/v1/pods`)).json() as { items: Pod[] };
    for (const pod of list.items) cache.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod);
    break;
  }
  case "streamed":
  case "stripped": {
    const managedFields = mode === "streamed" ? "keep" : "drop";
    for await (const part of client.resource(Pod).listEntries({ managedFields })) {
      for (const entry of part.entries) cache.set(entry.key, entry.object);
    }
    break;
  }
  default: {
    const informer = new SharedIndexInformer(client.resource(Pod));
    informer.addEventHandler({});
    void informer.run();
    await informer.waitForCacheSync();
    if (informer.indexer.size === 0) throw new Error("Cannot measure: the informer has synced nothing");
  }
}
const wallMs = performance.now() - began;
await new Promise((resolve) => setTimeout(resolve, 10)); // a stall that is not over yet is not counted
console.log(JSON.stringify({ wallMs, stallMs: stalls.worstMs, peakRssMb: (await statOf("self")).peakRssMb }));
Deno.exit(0); // an informer goes on for ever
