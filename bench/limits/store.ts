/** L13: look-ups by key and lists of an Indexer of 100,000 values, beside those of a Map. REPETITIONS. */
import { Indexer } from "../../mod.ts";
import { median } from "../statistics.ts";
import { collect, measureCase, type Measurement, ratio } from "./measurement.ts";

/** L13: reading the store against reading a Map. */
export const STORE: Measurement = {
  ids: ["L13g", "L13l"],
  measure: async ({ repetitions }) => {
    const { mapGetMs, storeGetMs, mapListMs, storeListMs } = await measureCase(import.meta.url, {
      args: [5 * repetitions],
    });
    return [
      ratio("L13g", "store.getByKey / Map.get, 100k keys", storeGetMs / mapGetMs, 1.5),
      ratio("L13l", "store.list() / [...map.values()], 100k", storeListMs / mapListMs, 3),
    ];
  },
};

function main(): void {
  interface Value {
    readonly key: string;
  }

  const COUNT = 100_000;
  const LISTS = 20;
  const values: Value[] = Array.from(
    { length: COUNT },
    (_, index) => ({ key: `namespace-${index % 100}/object-${index}` }),
  );
  // Neither in the order in which they were stored.
  const keys = values.map((_, index) => values[(index * 7_919) % COUNT].key);
  const map = new Map(values.map((value) => [value.key, value]));
  const store = new Indexer<Value, "namespace">({
    keyOf: (value) => value.key,
    indexers: { namespace: (value) => [value.key.split("/")[0]] },
  });
  for (const value of values) store.add(value);

  const jobs = {
    mapGetMs: (): number => keys.reduce((found, key) => map.get(key) === undefined ? found : found + 1, 0),
    storeGetMs: (): number => keys.reduce((found, key) => store.getByKey(key) === undefined ? found : found + 1, 0),
    mapListMs: (): number =>
      Array.from({ length: LISTS }, () => [...map.values()].length).reduce((a, b) => a + b, 0) / LISTS,
    storeListMs: (): number =>
      Array.from({ length: LISTS }, () => store.list().length).reduce((a, b) => a + b, 0) / LISTS,
  };
  const times: Record<string, number[]> = {};
  for (let repetition = -3; repetition < Number(Deno.args[0]); repetition++) {
    for (const [name, job] of Object.entries(jobs)) {
      collect();
      const began = performance.now();
      const found = job();
      const tookMs = performance.now() - began;
      if (found !== COUNT) throw new Error(`Cannot measure: ${found} values were found, expected ${COUNT}`);
      if (repetition >= 0) (times[name] ??= []).push(tookMs); // the first ones warm up
    }
  }
  console.log(JSON.stringify(Object.fromEntries(Object.entries(times).map(([name, times]) => [name, median(times)]))));
}

if (import.meta.main) main();
