/**
 * The cost of an Indexer over the least that could hold values by key at all. The baseline of each writing group builds
 * each key and sets the value in a Map; reading groups have the same read of a Map as theirs.
 */
import { Indexer } from "../src/engine/store/indexer.ts";
import type { IndexFunction } from "../src/engine/store/value_index.ts";

interface Thing {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly tags: readonly string[];
}

function keyOf(thing: Thing): string {
  return `${thing.namespace}/${thing.name}`;
}

function things(count: number, moved: number): Thing[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace: `namespace-${index % 100}`,
    name: `object-${index}`,
    node: `node-${(index + moved) % 500}`,
    tags: [`app-${index % 50}`, `tier-${index % 3}`],
  }));
}

const INDEXERS: Readonly<Record<string, IndexFunction<Thing>>> = {
  namespace: (thing) => [thing.namespace],
  node: (thing) => [thing.node],
  tag: (thing) => thing.tags,
};

function indexer(indexes: number): Indexer<Thing, string> {
  const indexers = Object.fromEntries(Object.entries(INDEXERS).slice(0, indexes));
  return new Indexer<Thing, string>({ keyOf, indexers });
}

for (const [size, count] of [["1k", 1_000], ["10k", 10_000], ["100k", 100_000]] as const) {
  const values = things(count, 0);
  const again = things(count, 0);
  const moved = things(count, 1);
  const map = new Map<string, Thing>();
  for (const thing of values) map.set(keyOf(thing), thing);

  const fill = `store / fill / ${size}`;
  Deno.bench({
    name: "bare Map.set with key build",
    group: fill,
    baseline: true,
    fn: () => {
      const map = new Map<string, Thing>();
      for (const thing of values) map.set(keyOf(thing), thing);
    },
  });
  const update = `store / update / ${size}`;
  Deno.bench({
    name: "bare Map.set with key build",
    group: update,
    baseline: true,
    fn: () => {
      for (const thing of again) map.set(keyOf(thing), thing);
      for (const thing of values) map.set(keyOf(thing), thing);
    },
  });
  for (const indexes of [0, 1, 3]) {
    const store = indexer(indexes);
    store.replace(values, "1");
    const name = `Indexer, ${indexes} index${indexes === 1 ? "" : "es"}`;
    Deno.bench({
      name: `${name}, add`,
      group: fill,
      fn: () => {
        const store = indexer(indexes);
        for (const thing of values) store.add(thing);
      },
    });
    Deno.bench({
      name: `${name}, replace of nothing`,
      group: fill,
      fn: () => indexer(indexes).replace(values, "1"),
    });
    Deno.bench({
      name: `${name}, commit of what has been staged`,
      group: fill,
      n: 20, // else staging, which is not measured, would be done until commits fill the time
      warmup: 5,
      fn: (bench) => {
        const staged = indexer(indexes).replacing();
        staged.add(values);
        bench.start();
        staged.commit("1");
        bench.end();
      },
    });
    Deno.bench({
      name: `${name}, same index values`,
      group: update,
      fn: () => {
        for (const thing of again) store.update(thing);
        for (const thing of values) store.update(thing);
      },
    });
    if (indexes < 3) continue;
    Deno.bench({
      name: `${name}, of which 1 moves`,
      group: update,
      fn: () => {
        for (const thing of moved) store.update(thing);
        for (const thing of values) store.update(thing);
      },
    });
    Deno.bench({
      name: `${name}, replace by the same values twice`,
      group: update,
      fn: () => {
        store.replace(values, "2");
        store.replace(values, "3");
      },
    });
  }

  const store = indexer(3);
  store.replace(values, "1");
  const keys = [...map.keys()];

  const list = `store / list / ${size}`;
  Deno.bench({ name: "[...map.values()]", group: list, baseline: true, fn: () => void [...map.values()] });
  Deno.bench({ name: "list()", group: list, fn: () => void store.list() });
  Deno.bench({ name: "[...indexer]", group: list, fn: () => void [...store] });
  Deno.bench({
    name: "byIndex, 1 namespace of 100",
    group: list,
    fn: () => void store.byIndex("namespace", "namespace-1"),
  });

  const get = `store / get each / ${size}`;
  let found = 0;
  Deno.bench({
    name: "Map.get",
    group: get,
    baseline: true,
    fn: () => {
      for (const key of keys) if (map.get(key) !== undefined) found++;
    },
  });
  Deno.bench({
    name: "getByKey",
    group: get,
    fn: () => {
      for (const key of keys) if (store.getByKey(key) !== undefined) found++;
    },
  });
  Deno.bench({
    name: "get, with key build",
    group: get,
    fn: () => {
      for (const thing of values) if (store.get(thing) !== undefined) found++;
    },
  });
}
