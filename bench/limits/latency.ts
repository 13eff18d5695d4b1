/**
 * L15: from the server's write of one small event to the parsed object at hand, by a fetch reader and by an informer's
 * handler, one after the other. URL REPETITIONS.
 */
import { Client, SharedIndexInformer } from "../../mod.ts";
import { Lease } from "../../src/engine/kinds/coordination/v1.ts";
import { median, quantile } from "../statistics.ts";
import { Server } from "./_server.ts";
import { measureCase, type Measurement, ratio } from "./measurement.ts";

/** L15: how long a small event takes from the server's write to a handler. */
export const LATENCY: Measurement = {
  ids: ["L15"],
  measure: async ({ repetitions }) => {
    await using server = await Server.start({ pods: 1 });
    const { rawP50Ms, oursP50Ms } = await measureCase(import.meta.url, { args: [server.url, repetitions] });
    return [ratio("L15", "latency of an event, p50, informer's handler / fetch reader", oursP50Ms / rawP50Ms, 1.5)];
  },
};

async function main(): Promise<void> {
  const [url, repetitions] = Deno.args;
  const EVENTS = 1_000;
  const WARM_UP = 100;

  interface Written {
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  }

  function latencyMs({ metadata }: Written): number {
    const now = Temporal.Now.instant().epochNanoseconds;
    return Number(now - BigInt(metadata.annotations!.written)) / 1e6;
  }

  async function raw(): Promise<number[]> {
    const stop = new AbortController();
    const response = await fetch(`${url}/apis/coordination.k8s.io/v1/leases?watch=1`, { signal: stop.signal });
    const decoder = new TextDecoder();
    const taken: number[] = [];
    let rest = "";
    const reader = response.body!.getReader();
    while (taken.length < EVENTS) {
      const { value, done } = await reader.read();
      if (done) throw new Error("Cannot measure: the watch ended early");
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) taken.push(latencyMs(JSON.parse(line).object));
    }
    stop.abort();
    return taken.slice(WARM_UP);
  }

  async function informed(): Promise<number[]> {
    using client = new Client({ server: url });
    await using informer = new SharedIndexInformer(client.resource(Lease));
    const taken: number[] = [];
    const done = Promise.withResolvers<void>();
    const record = (lease: Written): void => {
      if (taken.push(latencyMs(lease)) === EVENTS) done.resolve();
    };
    informer.addEventHandler({ onAdd: ({ object }) => record(object), onUpdate: ({ object }) => record(object) });
    void informer.run();
    await done.promise;
    return taken.slice(WARM_UP);
  }

  const rawMs: number[] = [];
  const oursMs: number[] = [];
  for (let repetition = 0; repetition < Number(repetitions); repetition++) {
    rawMs.push(...await raw());
    oursMs.push(...await informed());
  }
  console.log(JSON.stringify({
    rawP50Ms: median(rawMs),
    oursP50Ms: median(oursMs),
    rawP99Ms: quantile(rawMs, 0.99),
    oursP99Ms: quantile(oursMs, 0.99),
  }));
}

if (import.meta.main) await main();
