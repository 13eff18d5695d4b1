/**
 * 100,000 entries that have been staged and are committed, stored and delivered in one turn, beside parsing and storing
 * the same bytes in one turn, in a process of its own: REPETITIONS.
 */
import {
  type CacheEntry,
  entryOf,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  SharedIndexInformer,
  type WatchChange,
} from "../../mod.ts";
import { median } from "../statistics.ts";
import { small } from "./_scripted.ts";
import { Turns } from "./_turns.ts";
import { collect, DELAY, measureCase, type Measurement, ms, ratio, TURN_MS } from "./measurement.ts";

/** M2a and M2d: the turn that commits a list. */
export const COMMIT: Measurement = {
  ids: ["M2a", "M2d"],
  measure: async ({ repetitions }) => {
    const { bareMs, oursMs } = await measureCase(import.meta.url, { args: [repetitions] });
    return [
      ratio(
        "M2a",
        "100k staged entries committed, stored, logged in one turn / parse and store",
        oursMs / bareMs,
        DELAY,
      ),
      ms("M2d", "100k staged entries committed, that turn", oursMs, TURN_MS),
    ];
  },
};

async function main(): Promise<void> {
  const COUNT = 100_000;
  const PART = 500;
  const text = JSON.stringify(Array.from({ length: COUNT }, (_, index) => small(index, 1)));

  function nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** A list in parts, each in a turn of its own, and a watch that says nothing. */
  class Parts implements ListerWatcher<KubernetesObject> {
    readonly #entries: readonly CacheEntry<KubernetesObject>[];
    readonly #turns: Turns;

    constructor(entries: readonly CacheEntry<KubernetesObject>[], turns: Turns) {
      this.#entries = entries;
      this.#turns = turns;
    }

    async *listEntries(): AsyncGenerator<ListPart<KubernetesObject>, void, undefined> {
      for (let at = 0; at < this.#entries.length; at += PART) {
        await nextTurn();
        this.#turns.began();
        yield { entries: this.#entries.slice(at, at + PART), resourceVersion: "1" };
        this.#turns.touched();
      }
      await nextTurn();
      this.#turns.began(); // what is left to do now is to commit
    }

    async *watchChanges(
      { signal }: { readonly signal?: AbortSignal } = {},
    ): AsyncGenerator<readonly WatchChange<KubernetesObject>[], void, undefined> {
      this.#turns.touched();
      yield [];
      await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
    }
  }

  function bare(): number {
    collect();
    const began = performance.now();
    const cache = new Map<string, KubernetesObject>();
    for (const object of JSON.parse(text) as KubernetesObject[]) {
      cache.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
    }
    const tookMs = performance.now() - began;
    if (cache.size !== COUNT) throw new Error(`Cannot measure: the Map holds ${cache.size} objects, expected ${COUNT}`);
    return tookMs;
  }

  async function ours(): Promise<number> {
    const entries = (JSON.parse(text) as KubernetesObject[]).map((object): CacheEntry<KubernetesObject> =>
      entryOf(object)
    );
    const turns = new Turns();
    await using informer = new SharedIndexInformer<KubernetesObject>(new Parts(entries, turns), {
      reflector: { streamingList: "off" },
    });
    const synced = Promise.withResolvers<void>();
    informer.addEventHandler({ onSynced: () => synced.resolve() });
    collect();
    void informer.run();
    await synced.promise;
    if (informer.indexer.size !== COUNT) {
      throw new Error(`Cannot measure: ${informer.indexer.size} objects are cached, expected ${COUNT}`);
    }
    return turns.take("").TurnMaxMs;
  }

  const bareMs: number[] = [];
  const oursMs: number[] = [];
  for (let repetition = -1; repetition < Number(Deno.args[0]); repetition++) {
    const tookMs = [bare(), await ours()];
    if (repetition < 0) continue; // the first ones warm up
    bareMs.push(tookMs[0]);
    oursMs.push(tookMs[1]);
  }
  console.log(JSON.stringify({ bareMs: median(bareMs), oursMs: median(oursMs) }));
}

if (import.meta.main) await main();
