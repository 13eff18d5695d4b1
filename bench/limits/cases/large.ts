/** L6: an informer with its defaults syncs whatever the server has, on default flags. URL. */
import { Client, SharedIndexInformer } from "../../../mod.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { collect } from "../../collect.ts";
import { statOf } from "../../peers/process_stat.ts";
import { Stalls } from "../../stalls.ts";

const informer = new SharedIndexInformer(new Client({ server: Deno.args[0] }).resource(Pod));
informer.addEventHandler({});
using stalls = new Stalls();
const began = performance.now();
void informer.run();
await informer.waitForCacheSync();
const syncMs = performance.now() - began;
const { peakRssMb } = await statOf("self");
collect();
const heapMb = Deno.memoryUsage().heapUsed / 1e6;
console.log(JSON.stringify({ objects: informer.indexer.size, syncMs, peakRssMb, heapMb, stallMs: stalls.worstMs }));
Deno.exit(0); // an informer goes on for ever
