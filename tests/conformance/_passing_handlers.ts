/**
 * An informer that so many handlers and readers join and leave again, each holding something large, while little else
 * happens. Prints how many are left, and by how many bytes the heap grew after the first tenth.
 *
 * Needs `--v8-flags=--expose-gc`.
 */
import { setImmediate } from "node:timers";
import { Client, SharedIndexInformer } from "../../mod.ts";
import { ConfigMap } from "../../src/engine/kinds/core/v1.ts";
import { configMap, FakeApiServer } from "../../src/testing/mod.ts";

const collect = (globalThis as unknown as { gc: () => void }).gc;
const ROUNDS = Number(Deno.args[0]);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

using server = new FakeApiServer({ history: 10 });
for (let i = 0; i < 10; i++) server.create(ConfigMap, configMap({ name: `map-${i}` }));
using client = new Client({ server: "http://fake", transport: server });
await using maps = new SharedIndexInformer(client.resource(ConfigMap));
void maps.run();
await maps.waitForCacheSync();

/** Keeps what it is given alive for as long as it is itself. */
function holder(): { readonly onAdd: () => void } {
  const large = new Array<number>(5_000).fill(1);
  return { onAdd: () => void large.length };
}

const WAYS: readonly (() => void | Promise<void>)[] = [
  () => maps.addEventHandler(holder()).remove(),
  () => maps.addEventHandler(holder(), { backlog: "latestPerKey", resyncMs: 60_000 })[Symbol.asyncDispose](),
  async () => {
    const registration = maps.addEventHandler(holder(), { backlog: { max: 100 } });
    await registration.waitForSync();
    await turn(); // so that it waits for what comes next
    registration.remove();
  },
  () => {
    const stop = new AbortController();
    maps.addEventHandler(holder(), { signal: stop.signal });
    stop.abort();
  },
  async () => {
    const large = holder();
    for await (const event of maps.events({ filter: () => (large.onAdd(), true) })) if (event.type === "synced") break;
  },
];

async function measure(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await turn();
    collect();
  }
  return Deno.memoryUsage().heapUsed;
}

let before = 0;
for (let round = 0; round < ROUNDS; round++) {
  if (round === ROUNDS / 10) before = await measure();
  await WAYS[round % WAYS.length]();
  if (round % 100 === 0) await turn();
  // Seldom: what is only let go of when something happens would stay for long.
  if (round % (ROUNDS / 4) === 0) server.patch(ConfigMap, "default/map-1", { data: { round: String(round) } });
}
const grownBytes = await measure() - before;
console.log(JSON.stringify({ handlers: maps.status().handlers.length, grownBytes }));
