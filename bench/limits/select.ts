/**
 * The first `list(selector)` over 10,000 unread pods, beside parsing them all and filtering, in a process of its own:
 * REPETITIONS.
 */
import { type CacheEntry, Indexer, type KubernetesObject, LabelSelector } from "../../mod.ts";
import { Quarantine } from "../../src/engine/informer/cache/entry_transform.ts";
import { EntryLister } from "../../src/engine/informer/cache/lister.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { readList } from "../../tests/support/sources/bodies.ts";
import { listBody, podItem, streamOf } from "../_data.ts";
import { median } from "../statistics.ts";
import { collect, DELAY, measureCase, type Measurement, ms, ratio, TURN_MS } from "./measurement.ts";

/** M2b and M2c: the first list by a selector. */
export const SELECT: Measurement = {
  ids: ["M2b", "M2c"],
  measure: async ({ repetitions }) => {
    const { bareMs, oursMs } = await measureCase(import.meta.url, { args: [repetitions] });
    return [
      ratio("M2b", "first list(selector), 10k unread pods / parse, store, filter", oursMs / bareMs, DELAY),
      ms("M2c", "first list(selector), 10k unread pods, one turn", oursMs, TURN_MS),
    ];
  },
};

async function main(): Promise<void> {
  const COUNT = 10_000;
  const SELECTOR = "app.kubernetes.io/version=1.7.0";
  const body = listBody("Pod", "v1", Array.from({ length: COUNT }, (_, index) => podItem(index)));
  const texts = Array.from({ length: COUNT }, (_, index) => {
    const item = podItem(index);
    delete (item.metadata as Record<string, unknown>).managedFields;
    return JSON.stringify({ kind: "Pod", apiVersion: "v1", ...item });
  });

  async function unread(): Promise<EntryLister<Pod>> {
    const store = new Indexer<CacheEntry<Pod>, "namespace">({
      keyOf: (entry) => entry.key,
      indexers: { namespace: (entry) => [entry.namespace] },
    });
    for await (const part of readList<Pod>(streamOf(body), { resource: Pod, managedFields: "drop" })) {
      for (const entry of part.entries) store.add(entry);
    }
    const report = (error: unknown): void => {
      throw error;
    };
    return new EntryLister(store, new Quarantine<Pod>(report, () => true));
  }

  const selector = LabelSelector.parse(SELECTOR);
  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let repetition = -1; repetition < Number(Deno.args[0]); repetition++) {
    collect();
    let began = performance.now();
    const cache = new Map<string, KubernetesObject>();
    for (const text of texts) {
      const object = JSON.parse(text) as KubernetesObject;
      cache.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
    }
    const filtered = [...cache.values()].filter(({ metadata }) => selector.matches(metadata.labels));
    const bareTook = performance.now() - began;
    const lister = await unread();
    collect();
    began = performance.now();
    const listed = lister.list(SELECTOR);
    const oursTook = performance.now() - began;
    if (listed.length !== filtered.length || listed.length === 0) {
      throw new Error(`Cannot measure: ${listed.length} pods match, expected ${filtered.length}`);
    }
    if (repetition < 0) continue; // the first ones warm up
    bareMs.push(bareTook);
    oursMs.push(oursTook);
  }
  console.log(JSON.stringify({ bareMs: median(bareMs), oursMs: median(oursMs) }));
}

if (import.meta.main) await main();
