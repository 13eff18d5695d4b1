import { assertEquals, assertRejects } from "@std/assert";
import type { CacheEntry } from "../../../src/api/options.ts";
import { Controller } from "../../../src/informer/sync/controller.ts";
import { VersionGate } from "../../../src/informer/sync/state.ts";
import { DeltaFIFO } from "../../../src/queue/delta_fifo.ts";
import { Indexer } from "../../../src/store/indexer.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { added, bookmark, deleted, entry, modified, type Thing } from "../../support/fixtures.ts";
import { PAGES } from "../../support/followed_source.ts";
import { holding } from "../../support/informer.ts";
import type { ScriptedSource } from "../../support/scripted_source.ts";

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

Deno.test("Controller that is paused before its resume has begun ends a check, as that phase is not entered again", async () => {
  using time = new FakeTime();
  await using filling = new Filling(holding());
  const { controller } = filling;
  await time.tickAsync(0);
  controller.pause();
  await time.tickAsync(0);
  const reasons: string[] = [];
  controller.resume();
  controller.check = { deleted: () => {}, listing: () => {}, abort: ({ message }) => void reasons.push(message) };
  controller.pause();
  await time.tickAsync(0);
  assertEquals(reasons, ["Cannot go on with the check: the informer was paused"]);
});

/** A version that counts how often its length is read, as each comparison does. */
class Counted {
  compared = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    this.compared++;
    return this.#text.length;
  }

  toString(): string {
    return this.#text;
  }
}

Deno.test("VersionGate compares a version that no wait is for with the nearest wait alone", async () => {
  const gate = new VersionGate();
  gate.reached("1");
  const versions = Array.from({ length: 100 }, (_, i) => new Counted(`${1_000 + i}`));
  const waits = versions.map((version) => gate.wait(version as unknown as string, {}));
  const before = versions.map(({ compared }) => compared);
  for (let version = 2; version < 52; version++) gate.reached(`${version}`);
  const since = versions.map(({ compared }, i) => compared - before[i]);
  assertEquals(since, [50, ...Array(99).fill(0)]);
  gate.reached("1000");
  await waits[0];
  const next = versions[1].compared;
  const others = versions.slice(2).map(({ compared }) => compared);
  for (let i = 0; i < 10; i++) gate.reached("1000");
  assertEquals([versions[1].compared - next, versions.slice(2).map(({ compared }) => compared)], [10, others]);
  gate.reached("1099");
  await Promise.all(waits);
});

Deno.test("VersionGate resolves waits in any order of their versions, also once the nearest has left", async () => {
  const gate = new VersionGate();
  gate.reached("1");
  const reached: string[] = [];
  const wait = (version: string, signal?: AbortSignal): Promise<void> =>
    gate.wait(version, { signal }).then(() => void reached.push(version));
  const stop = new AbortController();
  const left = assertRejects(() => wait("3", stop.signal), DOMException);
  const waits = ["9", "5", "12", "7"].map((version) => wait(version));
  stop.abort();
  await left;
  const seen: string[][] = [];
  for (const version of ["4", "5", "6", "8", "12"]) {
    gate.reached(version);
    for (let i = 0; i < 10; i++) await Promise.resolve();
    seen.push(reached.splice(0));
  }
  assertEquals(seen, [[], ["5"], [], ["7"], ["9", "12"]]);
  await Promise.all(waits);
  const back = wait("20");
  gate.reached("2");
  await assertRejects(() => back, Error, "went back from 12 to 2");
});

Deno.test("VersionGate that has ended rejects waits with the reason, pending and later ones, unless it has the version", async () => {
  const gate = new VersionGate();
  gate.reached("5");
  const pending = gate.wait("6", {});
  gate.end(new Error("over"));
  await assertRejects(() => pending, Error, "over");
  await assertRejects(() => gate.wait("6", {}), Error, "over");
  await gate.wait("5", {});
});
