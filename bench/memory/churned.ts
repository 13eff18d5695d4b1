/**
 * Steady churn on a large cache, in a process of its own whose garbage collections are traced: URL EVENTS MODE. Modes:
 * `unread` (the default, nothing read), `read` (the default, every object read), `eager` (parsed as it arrives).
 */
import { Client, SharedIndexInformer } from "../../mod.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { collect } from "../collect.ts";
import { statOf } from "../peers/process_stat.ts";

const [url, events, mode] = Deno.args;
const stop = new AbortController();
const informer = new SharedIndexInformer(new Client({ server: url }).resource(Pod), {
  parse: mode === "eager" ? "eager" : "lazy",
});
let told = 0;
let beganMs = NaN;
let endedMs = NaN;
const done = Promise.withResolvers<void>();
const count = (): void => {
  if (++told === 1) beganMs = performance.now();
  if (told < Number(events)) return;
  endedMs = performance.now();
  stop.abort();
  done.resolve();
};
informer.addEventHandler({
  onUpdate: (event) => {
    if (mode === "read" && event.object.status === undefined) throw new Error("Cannot measure: a pod has no status");
    count();
  },
});
const running = informer.run({ signal: stop.signal });
await done.promise;
const { heapUsed } = Deno.memoryUsage();
const { peakRssMb } = await statOf("self");
await running;
collect();
const live = Deno.memoryUsage().heapUsed;
console.log(JSON.stringify({
  objects: informer.indexer.size,
  beganMs,
  endedMs,
  heapMb: heapUsed / 1e6,
  liveMb: live / 1e6,
  peakRssMb,
}));
Deno.exit(0);
