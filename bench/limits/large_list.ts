/**
 * A large list coming in, and then a relist, beside a watch of small events that say when they were written, in a
 * process of its own: URL MODE. Modes: `informers` (defaults, one for each), `bare` (the same bytes cut at a text that
 * stands between two pods of this server alone, each parsed, managedFields taken out, stored in a Map; events split,
 * parsed).
 */
import { Client, SharedIndexInformer } from "../../mod.ts";
import { Lease } from "../../src/engine/kinds/coordination/v1.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { statOf } from "../peers/child.ts";
import { quantile } from "../statistics.ts";
import { Delays } from "./_delays.ts";
import { Server } from "./_server.ts";
import { Turns } from "./_turns.ts";
import { DELAY, expectObjects, measureCase, type Measurement, medians, ms, ratio, TURN_MS } from "./measurement.ts";

const PODS = 100_000;

/** M1: an informer of 100,000 pods beside an informer of events that come every 3 ms; then a relist of the 100,000. */
export const LARGE: Measurement = {
  ids: ["M1a", "M1b", "M1c", "M1d", "M1e", "M1f", "M1g", "M1h", "M1i", "M1j", "M1k"],
  measure: async ({ repetitions }) => {
    await using server = await Server.start({ pods: PODS, changed: PODS / 100 });
    const [ours, bare] = await medians(repetitions, async (mode) => {
      await server.reset();
      return await measureCase(import.meta.url, { args: [server.url, mode], v8Flags: [] });
    });
    expectObjects(PODS, ours, bare);
    return [
      ratio("M1a", "100k list: time to sync / parse and store the same bytes", ours.syncMs / bare.syncMs, 1),
      ms("M1b", "100k list: longest turn of ours, p99.9", ours.listTurnP999Ms, TURN_MS),
      ms("M1c", "100k list: the longest turn of all, which commits", ours.listTurnMaxMs, TURN_MS),
      ratio(
        "M1d",
        "100k list: delay of the event loop, p99 / the same",
        ours.listDelayP99Ms / bare.listDelayP99Ms,
        DELAY,
      ),
      ratio("M1e", "100k list: p99.9 / the same", ours.listDelayP999Ms / bare.listDelayP999Ms, DELAY),
      ratio(
        "M1f",
        "100k list: latency of events meanwhile, p50 / the same",
        ours.listLatencyP50Ms / bare.listLatencyP50Ms,
        DELAY,
      ),
      ratio(
        "M1g",
        "100k list: latency of events meanwhile, p99 / the same",
        ours.listLatencyP99Ms / bare.listLatencyP99Ms,
        DELAY,
      ),
      ms("M1h", "100k relist, 1 % changed: longest turn of ours, p99.9", ours.relistTurnP999Ms, TURN_MS),
      ratio(
        "M1i",
        "100k relist: delay of the event loop, p99 / parse and store",
        ours.relistDelayP99Ms / bare.relistDelayP99Ms,
        DELAY,
      ),
      ratio("M1j", "100k relist: p99.9 / the same", ours.relistDelayP999Ms / bare.relistDelayP999Ms, DELAY),
      {
        id: "M1k",
        what: "100k list and relist on default flags: peak RSS",
        value: ours.peakRssMb,
        accept: { most: 600 },
        unit: "MB",
      },
    ];
  },
};

async function main(): Promise<void> {
  const [url, mode] = Deno.args;
  const turns = new Turns();
  using delays = new Delays();
  let latenciesMs: number[] = [];

  function record(
    { metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } },
  ): void {
    const written = metadata.annotations?.written;
    if (written === undefined) return;
    latenciesMs.push(Number(Temporal.Now.instant().epochNanoseconds - BigInt(written)) / 1e6);
  }

  function taken(name: string): Record<string, number> {
    const latencies = latenciesMs;
    latenciesMs = [];
    return {
      ...turns.take(name),
      ...delays.take(name),
      [`${name}Events`]: latencies.length,
      [`${name}LatencyP50Ms`]: quantile(latencies, 0.5),
      [`${name}LatencyP99Ms`]: quantile(latencies, 0.99),
    };
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  async function informers(): Promise<Record<string, number>> {
    const client = new Client({ server: url, transport: turns.watchBodies() });
    const leases = new SharedIndexInformer(client.resource(Lease));
    leases.addEventHandler({ onAdd: ({ object }) => record(object), onUpdate: ({ object }) => record(object) });
    void leases.run();
    await leases.waitForCacheSync();
    const expired = Promise.withResolvers<number>();
    const relisted = Promise.withResolvers<number>();
    let hasWatched = false;
    let isRelist = false;
    const pods = new SharedIndexInformer(client.resource(Pod), {
      reflector: {
        onPhase: ({ name }) => {
          // The first list may be two phases: a streaming list that the server refuses, then pages.
          if (name === "listing" && hasWatched) {
            isRelist = true;
            expired.resolve(performance.now());
          }
          if (name !== "watching") return;
          hasWatched = true;
          if (isRelist) relisted.resolve(performance.now());
        },
      },
      onError: (error) => {
        if (!hasWatched) throw error; // afterwards the watch expires, which is what brings the relist
      },
    });
    const worked = (): void => {
      turns.began();
      turns.touched();
    };
    pods.addEventHandler({ onAdd: worked, onUpdate: worked });
    await pause(300); // until events come
    taken("");
    const began = performance.now();
    void pods.run();
    await pods.waitForCacheSync();
    const syncMs = performance.now() - began;
    await pause(10); // a delay that is not over yet is not counted
    const list = taken("list");
    const beganAgain = await expired.promise;
    taken("");
    const relistMs = await relisted.promise - beganAgain;
    await pause(10);
    return { objects: pods.indexer.size, syncMs, relistMs, ...list, ...taken("relist") };
  }

  const BETWEEN = `,{"metadata":{"name":`;
  const decoder = new TextDecoder();

  const cache = new Map<string, Pod>();

  /** Lists into the Map; a second time over what is there, so that memory is not what is compared. */
  async function bareList(): Promise<void> {
    const store = (text: string): void => {
      const pod = JSON.parse(text) as Pod;
      delete (pod.metadata as { managedFields?: unknown }).managedFields;
      cache.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod);
    };
    let rest = "";
    const response = await fetch(`${url}/api/v1/pods?resourceVersion=0`);
    for await (const chunk of response.body!) {
      const parts = (rest + decoder.decode(chunk)).split(BETWEEN);
      rest = parts.pop()!;
      for (const part of parts) {
        const start = part.startsWith(`{"kind":`) ? part.indexOf(`[{`) + 1 : 0;
        store(start > 0 ? part.slice(start) : `${BETWEEN.slice(1)}${part}`);
      }
    }
    store(`${BETWEEN.slice(1)}${rest.slice(0, rest.lastIndexOf("]}"))}`);
  }

  async function bareEvents(path: string, each: (object: Pod) => void): Promise<void> {
    const response = await fetch(`${url}${path}?watch=1`);
    let rest = "";
    for await (const chunk of response.body!) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) each(JSON.parse(line).object);
    }
  }

  async function bare(): Promise<Record<string, number>> {
    void bareEvents("/apis/coordination.k8s.io/v1/leases", record);
    await pause(300);
    taken("");
    const began = performance.now();
    await bareList();
    const syncMs = performance.now() - began;
    await pause(10);
    const list = taken("list");
    await bareEvents("/api/v1/pods", () => {});
    taken("");
    const beganAgain = performance.now();
    await bareList();
    const relistMs = performance.now() - beganAgain;
    await pause(10);
    return { objects: cache.size, syncMs, relistMs, ...list, ...taken("relist") };
  }

  const numbers = mode === "informers" ? await informers() : await bare();
  console.log(JSON.stringify({ ...numbers, peakRssMb: (await statOf("self")).peakRssMb }, finite));
  Deno.exit(0); // watches have no end

  /** Leaves out a number that could not be measured. */
  function finite(_key: string, value: unknown): unknown {
    return Number.isNaN(value) ? undefined : value;
  }
}

if (import.meta.main) await main();
