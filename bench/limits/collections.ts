/**
 * Several collections at once until all have synced, in a process of its own: URL MODE COUNT-NAMESPACES-HOWMANY,…
 * Modes: `informers` (of one factory, defaults), `bare` (`.json()` of each, managedFields taken out, each object into a
 * Map).
 */
import { Client, defineResource, type KubernetesObject, SharedInformerFactory } from "../../mod.ts";
import { statOf } from "../peers/child.ts";
import { Child } from "../peers/child.ts";
import { denoRun } from "../peers/peer.ts";
import { Delays } from "./_delays.ts";
import { Turns } from "./_turns.ts";
import {
  collect,
  DELAY,
  expectObjects,
  measureCase,
  type Measurement,
  medians,
  ms,
  type Numbers,
  ratio,
  TURN_MS,
} from "./measurement.ts";

/** M4 and M5: many informers in one process, and many namespaces in one informer. */
export const COLLECTIONS: Measurement = {
  ids: ["M4a", "M4b", "M4c", "M4d", "M5a", "M5b"],
  measure: async ({ repetitions }) => {
    await using server = new Child(denoRun("../limits/_leases_server.ts"));
    const url = await server.line(20_000);
    const sized = (sizes: string): Promise<[Numbers, Numbers]> =>
      medians(repetitions, (mode) => measureCase(import.meta.url, { args: [url, mode, sizes] }));
    const [ours, bare] = await sized("200-1-50,30000-12-3");
    const [many, bareMany] = await sized("20000-10000-1");
    const [few, bareFew] = await sized("20000-12-1");
    expectObjects(100_000, ours, bare);
    expectObjects(20_000, many, bareMany, few, bareFew);
    const inInformers = "50 informers of 200 and 3 of 30,000 leases";
    return [
      ratio("M4a", `${inInformers}: time to sync / .json() and Maps`, ours.syncMs / bare.syncMs, 1.2),
      ratio(
        "M4b",
        `${inInformers}: delay of the event loop, p99 / the same`,
        ours.listDelayP99Ms / bare.listDelayP99Ms,
        DELAY,
      ),
      ms("M4c", `${inInformers}: longest turn, p99.9`, ours.listTurnP999Ms, TURN_MS),
      ratio("M4d", `${inInformers}: peak RSS / the same`, ours.peakRssMb / bare.peakRssMb, 1),
      ratio("M5a", "20,000 leases in 10,000 namespaces: time to sync / in 12", many.syncMs / few.syncMs, 1.3),
      ratio("M5b", "20,000 leases in 10,000 namespaces: heap of each / in 12", many.heapBytes / few.heapBytes, 1.3),
    ];
  },
};

async function main(): Promise<void> {
  const [url, mode, sizes] = Deno.args;
  const plurals = sizes.split(",").flatMap((size, group) => {
    const [count, namespaces, howMany] = size.split("-");
    return Array.from({ length: Number(howMany) }, (_, i) => `objects-${count}-${namespaces}-${group}${i}`);
  });
  const turns = new Turns();
  using delays = new Delays();
  collect();
  const heapBefore = Deno.memoryUsage().heapUsed;
  const began = performance.now();

  async function informers(): Promise<() => number> {
    const factory = new SharedInformerFactory(new Client({ server: url, transport: turns.watchBodies() }));
    const all = plurals.map((plural) => {
      const resource = defineResource<KubernetesObject>({
        group: "many.example.com",
        version: "v1",
        plural,
        kind: "Object",
      });
      const informer = factory.forResource(resource);
      const worked = (): void => {
        turns.began();
        turns.touched();
      };
      informer.addEventHandler({ onAdd: worked });
      return informer;
    });
    factory.start();
    await factory.waitForCacheSync();
    return () => all.reduce((sum, informer) => sum + informer.indexer.size, 0);
  }

  async function bare(): Promise<() => number> {
    const all = await Promise.all(plurals.map(async (plural) => {
      const cache = new Map<string, KubernetesObject>();
      const list = await (await fetch(`${url}/apis/many.example.com/v1/${plural}`)).json() as {
        items: KubernetesObject[];
      };
      for (const item of list.items) {
        delete (item.metadata as { managedFields?: unknown }).managedFields;
        cache.set(`${item.metadata.namespace}/${item.metadata.name}`, item);
      }
      return cache;
    }));
    return () => all.reduce((sum, cache) => sum + cache.size, 0);
  }

  const size = mode === "informers" ? await informers() : await bare();
  const syncMs = performance.now() - began;
  await new Promise((resolve) => setTimeout(resolve, 20)); // what is still under way
  const { peakRssMb } = await statOf("self");
  const measured = { ...turns.take("list"), ...delays.take("list") };
  collect();
  const heapBytes = (Deno.memoryUsage().heapUsed - heapBefore) / size();
  const numbers = { objects: size(), syncMs, peakRssMb, heapBytes, ...measured };
  console.log(JSON.stringify(numbers, (_, value) => Number.isNaN(value) ? undefined : value)); // of `bare` no turns are known
  Deno.exit(0); // informers have no end
}

if (import.meta.main) await main();
