/**
 * 1,000 handlers on one informer, which receive 1,000 objects and then 1,000 changes in batches of 100, beside calling
 * 1,000 functions for each, in a process of its own: REPETITIONS.
 */
import { type KubernetesObject, SharedIndexInformer } from "../../mod.ts";
import { median } from "../statistics.ts";
import { Delays } from "./_delays.ts";
import { Scripted, small } from "./_scripted.ts";
import { collect, measureCase, type Measurement, ms, ratio, TURN_MS } from "./measurement.ts";

/** M3: one informer, many handlers. */
export const HANDLERS: Measurement = {
  ids: ["M3a", "M3b", "M3c", "M3d"],
  measure: async ({ repetitions }) => {
    const { bareMs, oursMs, listMaxMs, changesMaxMs, heapBytes } = await measureCase(import.meta.url, {
      args: [repetitions],
    });
    return [
      ratio("M3a", "1,000 handlers, 2,000 events each / calling as many functions", oursMs / bareMs, 10),
      ms("M3b", "1,000 listed objects to 1,000 handlers: worst delay", listMaxMs, TURN_MS),
      ms("M3c", "batches of 100 changes to 1,000 handlers: worst delay", changesMaxMs, TURN_MS),
      { id: "M3d", what: "heap per handler", value: heapBytes, accept: { most: 4_000 }, unit: "bytes" },
    ];
  },
};

async function main(): Promise<void> {
  const HANDLERS = 1_000;
  const OBJECTS = 1_000;
  const BATCH = 100;
  const objects = Array.from({ length: OBJECTS }, (_, index) => small(index, 1));
  const changes = Array.from(
    { length: OBJECTS / BATCH },
    (_, batch) => Array.from({ length: BATCH }, (_, i) => small(batch * BATCH + i, 2 + batch * BATCH + i)),
  );

  const times: Record<"bareMs" | "oursMs" | "listMaxMs" | "changesMaxMs" | "heapBytes", number[]> = {
    bareMs: [],
    oursMs: [],
    listMaxMs: [],
    changesMaxMs: [],
    heapBytes: [],
  };

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  for (let repetition = -1; repetition < Number(Deno.args[0]); repetition++) {
    let calls = 0;
    const functions = Array.from({ length: HANDLERS }, () => (event: { readonly key: string }) => {
      if (event.key !== "") calls++;
    });
    collect();
    const beganBare = performance.now();
    for (const object of [...objects, ...changes.flat()]) {
      const event = { key: `${object.metadata.namespace}/${object.metadata.name}`, object };
      for (const call of functions) call(event);
    }
    const bareMs = performance.now() - beganBare;

    const source = new Scripted(objects);
    await using informer = new SharedIndexInformer<KubernetesObject>(source, { reflector: { streamingList: "off" } });
    collect();
    const before = Deno.memoryUsage().heapUsed;
    let delivered = 0;
    const listed = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<void>();
    const count = (): void => {
      delivered++;
      if (delivered === HANDLERS * OBJECTS) listed.resolve();
      if (delivered === 2 * HANDLERS * OBJECTS) changed.resolve();
    };
    for (let i = 0; i < HANDLERS; i++) informer.addEventHandler({ onAdd: count, onUpdate: count });
    collect();
    const heapBytes = (Deno.memoryUsage().heapUsed - before) / HANDLERS;
    await pause(20);
    using delays = new Delays();
    await pause(20);
    delays.take("");
    const began = performance.now();
    void informer.run();
    await listed.promise;
    const listMs = performance.now() - began;
    await pause(20);
    const list = delays.take("");
    const beganAgain = performance.now();
    source.deliver(changes);
    await changed.promise;
    const oursMs = listMs + performance.now() - beganAgain;
    await pause(20);
    const measured = {
      bareMs,
      oursMs,
      listMaxMs: list.DelayMaxMs,
      changesMaxMs: delays.take("").DelayMaxMs,
      heapBytes,
    };
    if (calls !== delivered) throw new Error(`Cannot measure: ${delivered} events were delivered, expected ${calls}`);
    if (repetition < 0) continue; // the first one warms up
    for (const [name, value] of Object.entries(measured)) times[name as keyof typeof times].push(value);
  }
  console.log(
    JSON.stringify(Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]))),
  );
}

if (import.meta.main) await main();
