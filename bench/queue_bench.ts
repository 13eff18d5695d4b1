/**
 * The cost of a DeltaFIFO over the least that could remember values by key at all. The baseline of each group builds
 * each key and sets the value in a Map. Queues are drained into nothing, except where a store is named.
 */
import { DeltaFIFO } from "../src/engine/queue/delta_fifo.ts";
import { Indexer } from "../src/engine/store/indexer.ts";

interface Thing {
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
}

function keyOf(thing: Thing): string {
  return `${thing.namespace}/${thing.name}`;
}

function same(known: Thing, thing: Thing): boolean {
  return known.version === thing.version;
}

function things(count: number, version: number): Thing[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace: `namespace-${index % 100}`,
    name: `object-${index}`,
    version,
  }));
}

const nothing = (): void => {};

for (const [size, count] of [["1k keys", 1_000], ["10k keys", 10_000], ["100k keys", 100_000]] as const) {
  const group = `queue / ${size}`;
  const first = things(count, 1);
  const second = things(count, 2);
  /** One in a hundred is new. */
  const relist = first.map((thing, index) => index % 100 === 0 ? second[index] : { ...thing });
  const map = new Map<string, Thing>();
  const known = new Indexer<Thing>({ keyOf });
  known.replace(first, "1");
  const empty = new Indexer<Thing>({ keyOf });
  const queue = new DeltaFIFO<Thing>({ keyOf, knownObjects: empty });
  const comparing = new DeltaFIFO<Thing>({ keyOf, knownObjects: known, same });

  Deno.bench({
    name: "bare Map.set with key build",
    group,
    baseline: true,
    fn: () => {
      for (const thing of first) map.set(keyOf(thing), thing);
    },
  });

  Deno.bench({
    name: "add, pop all",
    group,
    fn: () => {
      for (const thing of first) queue.add(thing);
      while (queue.pop(nothing));
    },
  });

  Deno.bench({
    name: "add, pop each",
    group,
    fn: () => {
      for (const thing of first) {
        queue.add(thing);
        queue.pop(nothing);
      }
    },
  });

  Deno.bench({
    name: "add+update, pop all",
    group,
    fn: () => {
      for (const thing of first) queue.add(thing);
      for (const thing of second) queue.update(thing);
      while (queue.pop(nothing));
    },
  });

  Deno.bench({
    name: "first replace, pop all into a new store",
    group,
    fn: () => {
      const store = new Indexer<Thing>({ keyOf });
      const fifo = new DeltaFIFO<Thing>({ keyOf, knownObjects: store, same });
      fifo.replace(first, "1");
      while (fifo.pop(({ key, deltas }) => store.set(key, deltas[0].value)));
    },
  });

  Deno.bench({
    name: "replace by a list of which 1 % is new, pop all",
    group,
    fn: () => {
      comparing.replace(relist, "2");
      while (comparing.pop(nothing));
    },
  });

  Deno.bench({
    name: "resync, pop all",
    group,
    fn: () => {
      comparing.resync();
      while (comparing.pop(nothing));
    },
  });
}
