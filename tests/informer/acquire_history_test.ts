import { assert, assertEquals } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import type { AcquiredInformer } from "../../src/informer/shared_informer_factory.ts";
import { SharedInformerFactory } from "../../src/informer/shared_informer_factory.ts";
import { ConfigMap } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, history, perform } from "../../src/testing/mod.ts";
import { Random } from "../../src/testing/random.ts";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { FakeTime } from "../support/fake_time.ts";

const IDLE_MS = 8_000;
const FORGET_MS = 40_000;

/** Writes, and faults that need no timer of the server. */
const STEPS: ReadonlySet<string> = new Set([
  "write",
  "delete",
  "compact",
  "drop",
  "end",
  "refuse",
  "break",
  "failWatches",
]);

/** A holder, whose events are checked. */
class Holder implements Disposable {
  readonly maps: AcquiredInformer<ConfigMap>;
  readonly checker: EventChecker<ConfigMap>;
  /** The objects that it had received when it was disposed, and has to have at the end. */
  last: string | undefined;

  constructor(informers: SharedInformerFactory) {
    this.maps = informers.acquire(ConfigMap);
    this.checker = new EventChecker(this.maps.informer, this.maps);
  }

  [Symbol.dispose](): void {
    this.maps[Symbol.dispose]();
    this.last ??= this.checker.summary;
  }
}

/** Plays the history of a seed under holders that come and go. Returns the number of pauses and of caches. */
async function play(seed: number): Promise<{ readonly pauses: number; readonly caches: number }> {
  using time = new FakeTime();
  using server = new FakeApiServer({ seed, history: 20, chunkBytes: 300, bookmarkMs: 10_000 });
  using client = new Client({ server: "http://fake", transport: server });
  const informers = new SharedInformerFactory(client, { idleMs: IDLE_MS, forgetMs: FORGET_MS, onError: () => {} });
  const random = new Random(seed ^ 0xac9);
  const holders: Holder[] = [];
  const all: Holder[] = [];
  const what = `seed ${seed}`;
  let [pauses, caches, freeMs] = [0, 0, Infinity];
  const wait = async (ms: number): Promise<void> => {
    await time.tickAsync(ms);
    if (holders.length > 0) return;
    if (freeMs < IDLE_MS && freeMs + ms >= IDLE_MS) pauses++;
    freeMs += ms;
    if (freeMs >= IDLE_MS) assertEquals(server.watches, 0, `${what}: the informer has no holder, so it does not watch`);
    if (freeMs >= IDLE_MS + FORGET_MS) assertEquals(time.timers, 0, `${what}: nothing is left of the informer`);
  };
  const acquire = (): void => {
    const isKept = holders.length > 0 || freeMs < IDLE_MS + FORGET_MS;
    if (!isKept) caches++;
    holders.push(new Holder(informers));
    all.push(holders.at(-1)!);
    if (!isKept) assertEquals(holders[0].maps.informer.indexer.size, 0, `${what}: a new cache is empty`);
  };
  const dispose = (): void => {
    const [holder] = holders.splice(random.below(holders.length), 1);
    holder?.[Symbol.dispose]();
    holder?.[Symbol.dispose]();
    if (holder !== undefined && holders.length === 0) freeMs = 0;
  };
  const steps = history(seed, { names: 3, steps: 60 }).filter((step) => STEPS.has(step.do));
  for (const step of steps) {
    perform(server, ConfigMap, step);
    const chance = random.next();
    if (chance < 0.4) acquire();
    if (chance > 0.3) dispose();
    await wait(random.pick([0, 0, 30, 900, 5_000, IDLE_MS - 1, IDLE_MS, 30_000, 70_000]));
  }
  acquire();
  const { maps } = holders[0];
  await time.tickAsync(0);
  const caughtUp = (): boolean =>
    maps.informer.status().state === "live" && maps.informer.lastSyncResourceVersion === server.resourceVersion;
  for (let tries = 0; tries < 20 && !caughtUp(); tries++) {
    server.bookmark();
    await time.tickAsync(30_000);
  }
  const expected = server.list(ConfigMap)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`).sort();
  const cached = [...maps.informer.entries].map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).sort();
  assertEquals([maps.informer.status().state, cached], ["live", expected], what);
  for (const { checker } of holders) assertEquals(await checker.end(), [], `${what}: every holder has every event`);
  for (const holder of holders.splice(0)) holder[Symbol.dispose]();
  await time.tickAsync(IDLE_MS + FORGET_MS);
  assertEquals([server.watches, time.timers], [0, 0], what);
  for (const { checker, last } of all) assertEquals([checker.problems, checker.summary], [[], last], what);
  await informers.shutdown();
  return { pauses, caches };
}

Deno.test("Holders that come and go at random, under faults, read a cache that equals the server, without a gap", async () => {
  let [pauses, caches] = [0, 0];
  for (let seed = 1; seed <= 40; seed++) {
    const counts = await play(seed);
    pauses += counts.pauses;
    caches += counts.caches;
  }
  assert(pauses > 50 && caches > 50, `${pauses} pauses and ${caches} caches are too few`);
});
