import { assertEquals, assertThrows } from "@std/assert";
import type { CacheEntry } from "../../../src/engine/api/entry.ts";
import { Controller } from "../../../src/engine/informer/controller.ts";
import { DeltaFIFO } from "../../../src/engine/queue/delta_fifo.ts";
import type { ReflectorPhase } from "../../../src/engine/reflector/transition.ts";
import { Indexer } from "../../../src/engine/store/indexer.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { added, bookmark, deleted, entry, modified, part, seen, type Thing } from "../../support/sources/fixtures.ts";
import { PAGES } from "../../support/sources/followed_source.ts";
import { holding } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

/** A controller that fills a store; `notes` has the processed keys, and the versions passed to `onProgress`. */
class Filling implements AsyncDisposable {
  readonly store: Indexer<CacheEntry<Thing>> = new Indexer<CacheEntry<Thing>>({ keyOf });
  readonly queue: DeltaFIFO<CacheEntry<Thing>> = new DeltaFIFO<CacheEntry<Thing>>({ keyOf, knownObjects: this.store });
  readonly notes: string[] = [];
  readonly controller: Controller<Thing>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(source: ScriptedSource) {
    this.controller = new Controller<Thing>({
      source,
      queue: this.queue,
      process: ({ key, deltas }) => {
        for (const delta of deltas) {
          if (delta.type === "Deleted") this.store.deleteByKey(key);
          else this.store.set(key, delta.value);
        }
        this.notes.push(key);
      },
      onProgress: (version) => this.notes.push(`${version}, ${this.store.size} stored, ${this.queue.size} queued`),
      reflector: { ...PAGES, backoff: { jitter: 0 }, resyncMs: 60_000 },
    });
    this.#running = this.controller.run({ signal: this.#stop.signal });
  }

  /** The notes since the last call. */
  take(): string[] {
    return this.notes.splice(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

function keyOf(entry: CacheEntry<Thing>): string {
  return entry.key;
}

Deno.test("Controller drains the queue, then calls onProgress, once for each list, batch and bookmark", async () => {
  using time = new FakeTime();
  const source = holding(entry("a", 1), entry("b", 2));
  await using filling = new Filling(source);
  assertEquals(filling.controller.hasSynced, false);
  await time.tickAsync(0);
  assertEquals(filling.take(), ["default/a", "default/b", "10, 2 stored, 0 queued"]);
  assertEquals([filling.controller.hasSynced, filling.controller.lastSyncResourceVersion], [true, "10"]);
  source.newest.send([modified("a", 11), added("c", 12), modified("a", 13)], [bookmark(20)]);
  await time.tickAsync(0);
  assertEquals(
    filling.take(),
    ["default/a", "default/c", "default/a", "13, 3 stored, 0 queued", "20, 3 stored, 0 queued"],
  );
  source.newest.send([deleted("c", 21)]);
  await time.tickAsync(0);
  assertEquals(filling.take(), ["default/c", "21, 2 stored, 0 queued"]);
});

Deno.test("Controller processes all known keys again when its reflector resyncs", async () => {
  using time = new FakeTime();
  await using filling = new Filling(holding(entry("a", 1), entry("b", 2)));
  await time.tickAsync(0);
  filling.take();
  await time.tickAsync(60_000);
  assertEquals(filling.take(), ["default/a", "default/b", "10, 2 stored, 0 queued"]);
});

// client-go delivers the changes that succeeded and loses the others; here the next list has them.
Deno.test("Controller lists again when its process function throws, so that no change is lost [C077]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(1, []), END).watch([], [added("a", 2), added("b", 3), added("c", 4)])
    .list(part(4, [entry("a", 2), entry("b", 3), entry("c", 4)]), END);
  const keyOf = (entry: CacheEntry<Thing>): string => entry.key;
  const store = new Indexer<CacheEntry<Thing>>({ keyOf });
  const queue = new DeltaFIFO<CacheEntry<Thing>>({ keyOf, knownObjects: store });
  const processed: string[] = [];
  const errors: string[] = [];
  const onPhase = (phase: ReflectorPhase): void => {
    if (phase.name === "waiting") errors.push((phase.error as Error).message);
  };
  let refusals = 1;
  const controller = new Controller<Thing>({
    source,
    queue,
    process: ({ key, deltas }) => {
      if (key === "default/b" && refusals-- > 0) throw new Error("cannot take b");
      for (const delta of deltas) {
        if (delta.type === "Deleted") store.deleteByKey(key);
        else store.set(key, delta.value);
      }
      processed.push(key);
    },
    reflector: { ...PAGES, backoff: { jitter: 0 }, onPhase },
  });
  const stop = new AbortController();
  const running = controller.run({ signal: stop.signal });
  await time.tickAsync(0);
  assertEquals([processed, controller.lastSyncResourceVersion, errors], [["default/a"], "1", ["cannot take b"]]);
  await time.tickAsync(800);
  assertEquals([seen(store), controller.lastSyncResourceVersion], [["default/a@2", "default/b@3", "default/c@4"], "4"]);
  assertEquals([controller.hasSynced, errors.length], [true, 1]);
  stop.abort();
  await running;
  assertThrows(() => queue.add(entry("d", 5)), Error, "closed");
  assertEquals([source.open, time.timers], [0, 0]);
});
