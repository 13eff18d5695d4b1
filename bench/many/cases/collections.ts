/**
 * Several collections at once until all have synced, in a process of its own: URL MODE COUNT-NAMESPACES-HOWMANY,… Modes:
 * `informers` (of one factory, defaults), `bare` (`.json()` of each, managedFields taken out, each object into a Map).
 */
import { Client, defineResource, type KubernetesObject, SharedInformerFactory } from "../../../mod.ts";
import { collect } from "../../collect.ts";
import { statOf } from "../../peers/process_stat.ts";
import { Delays } from "../delays.ts";
import { Turns } from "../turns.ts";

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
Deno.exit(0); // informers go on for ever
