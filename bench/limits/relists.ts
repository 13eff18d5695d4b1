/**
 * L10: a relist of which 1 % has changed, by frames, through a queue into a store, the changed objects read; beside
 * parsing every frame anew into a Map. KIND (`pods` or `leases`), REPETITIONS.
 */
import { type CacheEntry, DeltaFIFO, Indexer, type KubernetesObject } from "../../mod.ts";
import { sameVersion } from "../../src/engine/api/entry.ts";
import { Lease } from "../../src/engine/kinds/coordination/v1.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { readChanges } from "../../tests/support/sources/bodies.ts";
import { type Item, leaseItem, podItem, streamOf, typed, watchBody } from "../_data.ts";
import { median } from "../statistics.ts";
import { collect, measureCase, type Measurement } from "./measurement.ts";

function relists(id: string, kind: "pods" | "leases", most: number): Measurement {
  return {
    ids: [id],
    measure: async ({ repetitions }) => {
      const { bareMs, oursMs } = await measureCase(import.meta.url, { args: [kind, 2 * repetitions] });
      const what = `${kind}: relist by frames, 1 % changed / parsing all`;
      return [{ id, what, value: oursMs / bareMs, accept: { most } }];
    },
  };
}

/** L10: what did not change is not parsed. */
export const PODS: Measurement = relists("L10", "pods", 0.25);

/** L10s: the same for small objects. */
export const LEASES: Measurement = relists("L10s", "leases", 0.5);

async function main(): Promise<void> {
  const [kind, repetitions] = Deno.args;
  const leases = kind === "leases";
  const resource = leases ? Lease : Pod;
  const COUNT = 10_000;

  function itemAt(index: number, changed: boolean): Item {
    const item = leases
      ? typed("Lease", "coordination.k8s.io/v1", leaseItem(index))
      : typed("Pod", "v1", podItem(index));
    if (changed && index % 100 === 0) {
      (item.metadata as Record<string, unknown>).resourceVersion = String(5_000_000 + index);
    }
    return item;
  }

  const bodies = [false, true].map((changed) =>
    watchBody(Array.from({ length: COUNT }, (_, index) => itemAt(index, changed)))
  );

  const keyOf = (entry: CacheEntry<KubernetesObject>): string => entry.key;
  const store = new Indexer({ keyOf, indexers: { namespace: (entry) => [entry.namespace] } });
  const queue = new DeltaFIFO({ keyOf, knownObjects: store, same: sameVersion });

  async function relist(body: Uint8Array): Promise<number> {
    const replacement = queue.replacing();
    // As an informer does.
    const known = (key: string): CacheEntry<KubernetesObject> | undefined => store.lookUp(key);
    const knownNext = (): CacheEntry<KubernetesObject> | undefined => store.lookUpNext();
    const read = { resource, managedFields: "drop", known, knownNext } as const;
    for await (const batch of readChanges<KubernetesObject>(streamOf(body), read)) {
      const entries: CacheEntry<KubernetesObject>[] = [];
      for (const change of batch) if (change.type !== "BOOKMARK") entries.push(change.entry);
      replacement.add(entries);
    }
    replacement.commit("1");
    let objectsRead = 0;
    while (
      queue.pop(({ key, deltas }) => {
        const { value } = deltas.at(-1)!;
        store.set(key, value);
        if (value.object !== undefined) objectsRead++;
      })
    );
    return objectsRead;
  }

  const decoder = new TextDecoder();
  let cache = new Map<string, KubernetesObject>();

  async function reparse(body: Uint8Array): Promise<number> {
    const fresh = new Map<string, KubernetesObject>();
    let carry = new Uint8Array(0);
    for await (const chunk of streamOf(body)) {
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; start = end + 1, end = chunk.indexOf(10, start)) {
        let line = chunk.subarray(start, end);
        if (carry.length > 0) {
          const whole = new Uint8Array(carry.length + end - start);
          whole.set(carry);
          whole.set(line, carry.length);
          line = whole;
          carry = new Uint8Array(0);
        }
        const { object } = JSON.parse(decoder.decode(line)) as { object: KubernetesObject };
        fresh.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
      }
      carry = chunk.slice(start);
    }
    cache = fresh;
    return cache.size;
  }

  await relist(bodies[0]);
  await reparse(bodies[0]);
  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let repetition = 0; repetition < Number(repetitions); repetition++) {
    for (const [times, job, expected] of [[bareMs, reparse, COUNT], [oursMs, relist, COUNT / 100]] as const) {
      collect();
      await job(bodies[1]); // a forced collection shrinks the heap below what the job itself leaves behind: it grows back first
      const began = performance.now();
      const objectsRead = await job(bodies[0]);
      times.push(performance.now() - began);
      if (objectsRead !== expected) {
        throw new Error(`Cannot measure: ${objectsRead} objects were read, expected ${expected}`);
      }
    }
  }
  console.log(JSON.stringify({ bareMs: median(bareMs), oursMs: median(oursMs) }));
}

if (import.meta.main) await main();
