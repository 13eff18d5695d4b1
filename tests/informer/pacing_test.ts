import { assert, assertEquals } from "@std/assert";
import { EventLog } from "../../src/informer/event_log.ts";
import type { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { entry, type Thing } from "../_fixtures.ts";
import { FakeTime } from "../_time.ts";
import { holding, Run } from "./_informer.ts";

const OBJECTS = 20_000;

/** Makes `performance.now()` say what a test says: work takes as long as it is told to. */
class FakeWork implements Disposable {
  readonly #real = Object.getOwnPropertyDescriptor(performance, "now");
  #now = 0;

  constructor() {
    Object.defineProperty(performance, "now", { value: () => this.#now, configurable: true, writable: true });
  }

  lasts(ms: number): void {
    this.#now += ms;
  }

  [Symbol.dispose](): void {
    delete (performance as { now?: unknown }).now;
    if (this.#real !== undefined) Object.defineProperty(performance, "now", this.#real);
  }
}

/** Ways to hear of 20,000 cached objects, each of which takes a hundredth of a millisecond. */
const READERS: Readonly<
  Record<string, (informer: SharedIndexInformer<Thing>, heard: () => void, over: () => void) => void>
> = {
  "a handler": (informer, heard, over) => void informer.addEventHandler({ onAdd: heard, onSynced: over }),
  "a handler that returns promises": (informer, heard, over) =>
    void informer.addEventHandler({
      // deno-lint-ignore require-await -- as handlers often are
      onAdd: async () => heard(),
      onSynced: over,
    }),
  "a handler whose filter takes nothing": (informer, heard, over) =>
    void informer.addEventHandler({ onSynced: over }, { filter: () => (heard(), false) }),
  "a loop over events": async (informer, heard, over) => {
    for await (const { type } of informer.events()) {
      if (type === "synced") break;
      heard();
    }
    over();
  },
  "a loop over events whose filter takes nothing": async (informer, heard, over) => {
    for await (const _synced of informer.events({ filter: () => (heard(), false) })) break;
    over();
  },
  "a wait for an object that is not there": async (informer, heard, over) => {
    const last = `object-${OBJECTS - 1}`;
    await informer.until(({ metadata }) => (heard(), metadata.name === last));
    over();
  },
};

for (const [who, read] of Object.entries(READERS)) {
  Deno.test(`SharedIndexInformer lets others have their turn while ${who} hears of 20,000 objects`, async () => {
    using time = new FakeTime();
    const entries = Array.from({ length: OBJECTS }, (_, i) => entry(`object-${i}`, i + 1));
    await using run = await new Run(time, holding(...entries)).start();
    assertEquals(run.informer.indexer.size, OBJECTS);
    using work = new FakeWork();
    let heard = 0;
    let atLastTurn = 0;
    let longest = 0;
    let over = false;
    read(run.informer, () => {
      heard++;
      work.lasts(0.01);
    }, () => over = true);
    for (let turn = 0; !over; turn++) {
      assert(turn < OBJECTS, `not done after ${turn} turns`);
      await new Promise<void>((resolve) => setImmediate(resolve));
      longest = Math.max(longest, heard - atLastTurn);
      atLastTurn = heard;
    }
    assertEquals(heard, OBJECTS);
    // 5 ms are 500 objects, and the clock is looked at every 64.
    assert(longest <= 576, `heard of ${longest} objects in one turn`);
    assert(longest >= 64, `heard of ${longest} objects at most in a turn: that many turns are slow`);
  });
}

Deno.test("EventLog forgets who left while nothing happened", () => {
  const log = new EventLog<Thing>();
  let woken = 0;
  for (let round = 0; round < 10; round++) log.onceAppended(() => woken++)();
  log.onceAppended(() => woken++);
  log.append({ type: "synced", objects: 0, resourceVersion: "1" });
  log.append({ type: "synced", objects: 0, resourceVersion: "2" });
  assertEquals([woken, log.end.count], [1, 2]);
});
