import { assert, assertEquals } from "@std/assert";
import { EventLog } from "../../../src/informer/events/event_log.ts";
import type { HandlerRegistration } from "../../../src/informer/events/handler.ts";
import type { SharedIndexInformer } from "../../../src/informer/shared_index_informer.ts";
import { entry, modified, type Thing } from "../../support/fixtures.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { holding, Run } from "../../support/informer.ts";

const OBJECTS = 20_000;

/** Makes `performance.now()` return the time of a test: work takes as long as the test says. */
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

/** Ways to receive 20,000 cached objects, each of which takes a hundredth of a millisecond. */
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
  Deno.test(`SharedIndexInformer lets other work run while ${who} receives 20,000 objects`, async () => {
    using time = new FakeTime();
    using work = new FakeWork();
    const entries = Array.from({ length: OBJECTS }, (_, i) => entry(`object-${i}`, i + 1));
    await using run = await new Run(time, holding(...entries)).start();
    assertEquals(run.informer.indexer.size, OBJECTS);
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
      await nextTurn();
      longest = Math.max(longest, heard - atLastTurn);
      atLastTurn = heard;
    }
    assertEquals(heard, OBJECTS);
    // 5 ms are 500 objects, and the clock is looked at every 64.
    assert(longest <= 576, `heard of ${longest} objects in one turn`);
    assert(longest >= 64, `heard of ${longest} objects at most in a turn: that many turns are slow`);
  });
}

/** A turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** So many handlers, each call of which takes a hundredth of a millisecond, and an informer that has delivered nothing yet. */
class Crowd implements AsyncDisposable {
  readonly heard: number[];
  /** The numbers of the handlers that were called, each once for all its calls in a row. */
  readonly served: number[] = [];
  readonly registrations: HandlerRegistration[] = [];
  readonly #run: Run;

  private constructor(run: Run, handlers: number) {
    this.#run = run;
    this.heard = Array(handlers).fill(0);
  }

  /** Adds the handlers to an informer that holds so many objects. */
  static async of(time: FakeTime, work: FakeWork, handlers: number, objects: number): Promise<Crowd> {
    const entries = Array.from({ length: objects }, (_, i) => entry(`object-${i}`, i + 1));
    const crowd = new Crowd(await new Run(time, holding(...entries)).start(), handlers);
    for (let i = 0; i < handlers; i++) {
      const onAdd = (): void => {
        crowd.heard[i]++;
        if (crowd.served.at(-1) !== i) crowd.served.push(i);
        work.lasts(0.01);
      };
      crowd.registrations.push(crowd.informer.addEventHandler({ onAdd }));
    }
    return crowd;
  }

  get informer(): SharedIndexInformer<Thing> {
    return this.#run.informer;
  }

  /** The number of calls of all handlers. */
  get total(): number {
    return this.heard.reduce((sum, count) => sum + count, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#run[Symbol.asyncDispose]();
  }
}

Deno.test("SharedIndexInformer lets other work run while 100 handlers receive 500 objects each", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  await using crowd = await Crowd.of(time, work, 100, 500);
  await nextTurn();
  assert(crowd.total <= 2 * 576, `${crowd.total} calls in this turn and the first`);
  let longest = 0;
  let turns = 0;
  for (let before = crowd.total; crowd.total < 50_000; before = crowd.total) {
    assert(turns++ < 1_000, `${crowd.total} calls after ${turns} turns`);
    await nextTurn();
    longest = Math.max(longest, crowd.total - before);
  }
  // Nobody is served again before everybody was.
  assertEquals(crowd.served.slice(0, 100), Array.from({ length: 100 }, (_, i) => i));
  assert(longest <= 576, `${longest} calls in one turn`);
  assert(turns <= 150, `${turns} turns for work of 100`);
});

/** Ways to send a request for each object, which is answered after three turns. */
const ASKING: Readonly<Record<string, (informer: SharedIndexInformer<Thing>, answered: () => void) => void>> = {
  "a handler": (informer, answered) => {
    const onAdd = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      answered();
    };
    informer.addEventHandler({ onAdd });
  },
  "a loop over events": async (informer, answered) => {
    for await (const _event of informer.events()) {
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      answered();
    }
  },
};

for (const [who, ask] of Object.entries(ASKING)) {
  Deno.test(`SharedIndexInformer does not delay ${who} that awaits answers while many handlers receive many events`, async () => {
    using time = new FakeTime();
    using work = new FakeWork();
    await using crowd = await Crowd.of(time, work, 50, 2_000);
    let answered = 0;
    ask(crowd.informer, () => answered++);
    for (let turn = 0; turn < 60; turn++) await nextTurn();
    assert(answered > 0, "all have been called");
    const before = answered;
    for (let turn = 0; turn < 60; turn++) await nextTurn();
    assert(crowd.total < 90_000, "the others are busy");
    assert(answered - before >= 15, `it was called ${answered - before} times in 60 turns, of which each call needs 3`);
  });
}

Deno.test("HandlerRegistration remove ends a handler that waits for its turn, and the others continue", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  await using crowd = await Crowd.of(time, work, 20, 1_000);
  await nextTurn();
  assertEquals(crowd.heard.slice(5), Array(15).fill(crowd.heard[19]), "they wait");
  const before = crowd.heard[10];
  let ended = false;
  crowd.registrations[10][Symbol.asyncDispose]().then(() => ended = true);
  crowd.registrations[11].remove();
  for (let i = 0; i < 20; i++) await Promise.resolve();
  assert(ended, "not only when its turn has come");
  for (let turns = 0; crowd.total < 18_000 + 2 * before; turns++) {
    assert(turns < 1_000, `${crowd.total} calls after ${turns} turns`);
    await nextTurn();
  }
  assertEquals(crowd.heard.filter((count) => count !== 1_000), [before, before]);
});

Deno.test("SharedIndexInformer lets other work run while a source yields batches without waiting", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  const transform = (object: Thing): Thing => {
    work.lasts(0.1);
    return object;
  };
  await using run = await new Run(time, holding(entry("a", 1)), { transform }).start();
  let heard = 0;
  run.informer.addEventHandler({ onUpdate: () => void heard++ });
  await time.tickAsync(0);
  run.source.newest.send(...Array.from({ length: 2_000 }, (_, i) => [modified("a", 11 + i)]));
  await nextTurn();
  let seen = Number(run.informer.lastSyncResourceVersion);
  assert(seen <= 10 + 2 * 64, `${seen - 10} changes were cached in this turn and the first`);
  let longest = 0;
  let turns = 0;
  while (heard < 2_000) {
    assert(turns++ < 5_000, `heard ${heard} after ${turns} turns`);
    await nextTurn();
    const version = Number(run.informer.lastSyncResourceVersion);
    longest = Math.max(longest, version - seen);
    seen = version;
  }
  assert(longest <= 64, `${longest} changes were cached in one turn`);
});

Deno.test("EventLog does not call waiting callbacks that were withdrawn", () => {
  const log = new EventLog<Thing>();
  let woken = 0;
  for (let round = 0; round < 10; round++) log.onceAppended(() => woken++)();
  log.onceAppended(() => woken++);
  log.append({ type: "synced", objects: 0, resourceVersion: "1" });
  log.append({ type: "synced", objects: 0, resourceVersion: "2" });
  assertEquals([woken, log.end.count], [1, 2]);
});

/** Readers with a limit of 10 that wait for nothing but their turn, each event of which takes a hundredth of a millisecond. */
const BOUNDED: Readonly<Record<string, (informer: SharedIndexInformer<Thing>, heard: () => void) => void>> = {
  "a handler": (informer, heard) => void informer.addEventHandler({ onUpdate: heard }, { backlog: { max: 10 } }),
  "a handler that returns promises": (informer, heard) =>
    void informer.addEventHandler({
      onUpdate: async () => {
        await Promise.resolve();
        heard();
      },
    }, { backlog: { max: 10 } }),
  "a loop over events": async (informer, heard) => {
    for await (const { type } of informer.events({ backlog: { max: 10 } })) if (type === "updated") heard();
  },
};

for (const [who, read] of Object.entries(BOUNDED)) {
  Deno.test(`a bounded backlog of 10 keeps ${who} that handles bursts of 500, however long other handlers take`, async () => {
    for (const othersMs of [0, 0.1, 5]) {
      using time = new FakeTime();
      using work = new FakeWork();
      await using run = await new Run(time, holding(entry("x", 1))).start();
      run.informer.addEventHandler({ onUpdate: () => work.lasts(othersMs) });
      let heard = 0;
      read(run.informer, () => {
        heard++;
        work.lasts(0.01);
      });
      await time.tickAsync(0);
      for (let burst = 1; burst <= 3; burst++) {
        const changes = Array.from({ length: 500 }, (_, i) => modified("x", 500 * burst + i));
        run.source.newest.send(changes);
        for (let turn = 0; heard < 500 * burst; turn++) {
          assert(turn < 10_000 && run.errors.length === 0, `heard of ${heard}: ${run.complaints}`);
          await nextTurn();
        }
      }
      assertEquals(run.informer.status().handlers.length, 2);
      await run.informer[Symbol.asyncDispose]();
    }
  });
}

Deno.test("a bounded backlog removes a handler that is always busy and falls further behind", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  await using run = await new Run(time, holding(entry("x", 1))).start();
  let heard = 0;
  run.informer.addEventHandler({
    onUpdate: () => {
      heard++;
      work.lasts(5);
    },
  }, { backlog: { max: 10 } });
  await time.tickAsync(0);
  let sent = 0;
  while (run.errors.length === 0) {
    assert(sent < 100_000, `${sent - heard} events behind`);
    run.source.newest.send(Array.from({ length: 200 }, () => modified("x", 11 + sent++)));
    await nextTurn();
  }
  assertEquals(run.complaints, ['Error: Cannot keep up with handler "handler 1": it is more than 10 events behind']);
  assert(heard > 10, "it was ended by the first burst");
});
