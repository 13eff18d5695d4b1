import { assert, assertEquals, assertRejects } from "@std/assert";
import type { WatchChange } from "../../../../src/engine/api/lister_watcher.ts";
import type { HandlerOptions, HandlerRegistration } from "../../../../src/engine/informer/events/event.ts";
import type { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import { added, deleted, entry, modified, type Thing } from "../../../support/sources/fixtures.ts";
import { gate, holding, line, Notes, Run } from "../../../support/sources/informer.ts";

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
  Record<string, (informer: SharedIndexInformer<Thing>, received: () => void, over: () => void) => void>
> = {
  "a handler": (informer, received, over) => void informer.addEventHandler({ onAdd: received, onSynced: over }),
  "a handler that returns promises": (informer, received, over) =>
    void informer.addEventHandler({
      // deno-lint-ignore require-await -- as handlers often are
      onAdd: async () => received(),
      onSynced: over,
    }),
  "a handler whose filter takes nothing": (informer, received, over) =>
    void informer.addEventHandler({ onSynced: over }, { filter: () => (received(), false) }),
  "a loop over events": async (informer, received, over) => {
    for await (const { type } of informer.events()) {
      if (type === "synced") break;
      received();
    }
    over();
  },
  "a loop over events whose filter takes nothing": async (informer, received, over) => {
    for await (const _synced of informer.events({ filter: () => (received(), false) })) break;
    over();
  },
  "a wait for an object that is not there": async (informer, received, over) => {
    const last = `object-${OBJECTS - 1}`;
    await informer.until(({ metadata }) => (received(), metadata.name === last));
    over();
  },
};

for (const [reader, read] of Object.entries(READERS)) {
  Deno.test(`SharedIndexInformer lets other work run while ${reader} receives 20,000 objects`, async () => {
    using time = new FakeTime();
    using work = new FakeWork();
    const entries = Array.from({ length: OBJECTS }, (_, i) => entry(`object-${i}`, i + 1));
    await using run = await new Run(holding(...entries), {}, time).start();
    assertEquals(run.informer.indexer.size, OBJECTS);
    let received = 0;
    let atLastTurn = 0;
    let longest = 0;
    let over = false;
    read(run.informer, () => {
      received++;
      work.lasts(0.01);
    }, () => over = true);
    for (let turn = 0; !over; turn++) {
      assert(turn < OBJECTS, `not done after ${turn} turns`);
      await nextTurn();
      longest = Math.max(longest, received - atLastTurn);
      atLastTurn = received;
    }
    assertEquals(received, OBJECTS);
    // 5 ms are 500 objects, and the clock is looked at every 64.
    assert(longest <= 576, `${longest} objects received in one turn`);
    assert(longest >= 64, `${longest} objects received at most in a turn: that many turns are slow`);
  });
}

/** A turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * So many handlers, each call of which takes a hundredth of a millisecond, and an informer that has delivered nothing
 * yet.
 */
class ManyHandlers implements AsyncDisposable {
  readonly received: number[];
  /** The numbers of the handlers that were called, each once for all its calls in a row. */
  readonly served: number[] = [];
  readonly registrations: HandlerRegistration[] = [];
  readonly #run: Run;

  private constructor(run: Run, handlers: number) {
    this.#run = run;
    this.received = Array(handlers).fill(0);
  }

  /** Adds the handlers to an informer that holds so many objects. */
  static async of(time: FakeTime, work: FakeWork, handlers: number, objects: number): Promise<ManyHandlers> {
    const entries = Array.from({ length: objects }, (_, i) => entry(`object-${i}`, i + 1));
    const many = new ManyHandlers(await new Run(holding(...entries), {}, time).start(), handlers);
    for (let i = 0; i < handlers; i++) {
      const onAdd = (): void => {
        many.received[i]++;
        if (many.served.at(-1) !== i) many.served.push(i);
        work.lasts(0.01);
      };
      many.registrations.push(many.informer.addEventHandler({ onAdd }));
    }
    return many;
  }

  get informer(): SharedIndexInformer<Thing> {
    return this.#run.informer;
  }

  /** The number of calls of all handlers. */
  get total(): number {
    return this.received.reduce((sum, count) => sum + count, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#run[Symbol.asyncDispose]();
  }
}

Deno.test("SharedIndexInformer lets other work run while 100 handlers receive 500 objects each", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  await using many = await ManyHandlers.of(time, work, 100, 500);
  await nextTurn();
  assert(many.total <= 2 * 576, `${many.total} calls in this turn and the first`);
  let longest = 0;
  let turns = 0;
  for (let before = many.total; many.total < 50_000; before = many.total) {
    assert(turns++ < 1_000, `${many.total} calls after ${turns} turns`);
    await nextTurn();
    longest = Math.max(longest, many.total - before);
  }
  // No handler is called again before all others were.
  assertEquals(many.served.slice(0, 100), Array.from({ length: 100 }, (_, i) => i));
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

for (const [reader, ask] of Object.entries(ASKING)) {
  Deno.test(`SharedIndexInformer does not delay ${reader} that awaits answers while many handlers receive many events`, async () => {
    using time = new FakeTime();
    using work = new FakeWork();
    await using many = await ManyHandlers.of(time, work, 50, 2_000);
    let answered = 0;
    ask(many.informer, () => answered++);
    for (let turn = 0; turn < 60; turn++) await nextTurn();
    assert(answered > 0, "all have been called");
    const before = answered;
    for (let turn = 0; turn < 60; turn++) await nextTurn();
    assert(many.total < 90_000, "the others are busy");
    assert(answered - before >= 15, `it was called ${answered - before} times in 60 turns, of which each call needs 3`);
  });
}

Deno.test("HandlerRegistration remove ends a handler that waits for its turn, and the others continue", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  await using many = await ManyHandlers.of(time, work, 20, 1_000);
  await nextTurn();
  assertEquals(many.received.slice(5), Array(15).fill(many.received[19]), "they wait");
  const before = many.received[10];
  let ended = false;
  many.registrations[10][Symbol.asyncDispose]().then(() => ended = true);
  many.registrations[11].remove();
  for (let i = 0; i < 20; i++) await Promise.resolve();
  assert(ended, "not only when its turn has come");
  for (let turns = 0; many.total < 18_000 + 2 * before; turns++) {
    assert(turns < 1_000, `${many.total} calls after ${turns} turns`);
    await nextTurn();
  }
  assertEquals(many.received.filter((count) => count !== 1_000), [before, before]);
});

Deno.test("SharedIndexInformer lets other work run while a source yields batches without waiting", async () => {
  using time = new FakeTime();
  using work = new FakeWork();
  const transform = (object: Thing): Thing => {
    work.lasts(0.1);
    return object;
  };
  await using run = await new Run(holding(entry("a", 1)), { transform }, time).start();
  let received = 0;
  run.informer.addEventHandler({ onUpdate: () => void received++ });
  await time.tickAsync(0);
  run.source.newest.send(...Array.from({ length: 2_000 }, (_, i) => [modified("a", 11 + i)]));
  await nextTurn();
  let seen = Number(run.informer.lastSyncResourceVersion);
  assert(seen <= 10 + 2 * 64, `${seen - 10} changes were cached in this turn and the first`);
  let longest = 0;
  let turns = 0;
  while (received < 2_000) {
    assert(turns++ < 5_000, `received ${received} after ${turns} turns`);
    await nextTurn();
    const version = Number(run.informer.lastSyncResourceVersion);
    longest = Math.max(longest, version - seen);
    seen = version;
  }
  assert(longest <= 64, `${longest} changes were cached in one turn`);
});

/**
 * Readers with a limit of 10 that wait for nothing but their turn, each event of which takes a hundredth of a
 * millisecond.
 */
const BOUNDED: Readonly<Record<string, (informer: SharedIndexInformer<Thing>, received: () => void) => void>> = {
  "a handler": (informer, received) => void informer.addEventHandler({ onUpdate: received }, { backlog: { max: 10 } }),
  "a handler that returns promises": (informer, received) =>
    void informer.addEventHandler({
      onUpdate: async () => {
        await Promise.resolve();
        received();
      },
    }, { backlog: { max: 10 } }),
  "a loop over events": async (informer, received) => {
    for await (const { type } of informer.events({ backlog: { max: 10 } })) if (type === "updated") received();
  },
};

for (const [reader, read] of Object.entries(BOUNDED)) {
  Deno.test(`a bounded backlog of 10 keeps ${reader} that handles bursts of 500, however long other handlers take`, async () => {
    for (const othersMs of [0, 0.1, 5]) {
      using time = new FakeTime();
      using work = new FakeWork();
      await using run = await new Run(holding(entry("x", 1)), {}, time).start();
      run.informer.addEventHandler({ onUpdate: () => work.lasts(othersMs) });
      let received = 0;
      read(run.informer, () => {
        received++;
        work.lasts(0.01);
      });
      await time.tickAsync(0);
      for (let burst = 1; burst <= 3; burst++) {
        const changes = Array.from({ length: 500 }, (_, i) => modified("x", 500 * burst + i));
        run.source.newest.send(changes);
        for (let turn = 0; received < 500 * burst; turn++) {
          assert(turn < 10_000 && run.errors.length === 0, `received ${received}: ${run.complaints}`);
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
  await using run = await new Run(holding(entry("x", 1)), {}, time).start();
  let received = 0;
  run.informer.addEventHandler({
    onUpdate: () => {
      received++;
      work.lasts(5);
    },
  }, { backlog: { max: 10 } });
  await time.tickAsync(0);
  let sent = 0;
  while (run.errors.length === 0) {
    assert(sent < 100_000, `${sent - received} events behind`);
    run.source.newest.send(Array.from({ length: 200 }, () => modified("x", 11 + sent++)));
    await nextTurn();
  }
  assertEquals(run.complaints, ['Error: Handler "handler 1" was removed: its backlog exceeded the limit of 10 events']);
  assert(received > 10, "it was ended by the first burst");
});

/** Runs an informer on one object `x`, whose handler hangs in its first call until released. */
async function busy(
  options: HandlerOptions<Thing>,
  first = [entry("x", 1)],
): Promise<{ run: Run; notes: Notes; registration: HandlerRegistration; release: () => Promise<string[]> }> {
  const run = new Run(holding(...first));
  const notes = new Notes();
  const hold = gate();
  notes.gate = hold.promise;
  const registration = run.informer.addEventHandler(notes, options);
  await run.start();
  const release = async (): Promise<string[]> => {
    hold.resolve();
    await run.tick();
    return notes.take();
  };
  return { run, notes, registration, release };
}

Deno.test("a backlog keeps every event for a slow handler by default", async () => {
  const { run, notes, registration, release } = await busy({});
  await using _run = run;
  await run.send(added("a", 11), modified("a", 12), deleted("a", 13), added("a", 14));
  assertEquals([notes.take(), registration.pending], [["+ default/x@1 (initial)"], 5]);
  assertEquals(
    await release(),
    ["= 1 at 10", "+ default/a@11", "~ default/a@11→12", "- default/a@13", "+ default/a@14"],
  );
});

/** Changes of `a` while the handler is busy, and the events that it receives afterwards. */
const FOLDS: Readonly<Record<string, readonly [before: "there" | "not there", WatchChange<Thing>[], string[]]>> = {
  "add": ["not there", [added("a", 11)], ["+ default/a@11"]],
  "add, update": ["not there", [added("a", 11), modified("a", 12)], ["+ default/a@12"]],
  "add, delete": ["not there", [added("a", 11), deleted("a", 12)], []],
  "add, update, delete": ["not there", [added("a", 11), modified("a", 12), deleted("a", 13)], []],
  "add, delete, add": ["not there", [added("a", 11), deleted("a", 12), added("a", 13)], ["+ default/a@13"]],
  "update": ["there", [modified("a", 11)], ["~ default/a@2→11"]],
  "update, update": ["there", [modified("a", 11), modified("a", 12)], ["~ default/a@2→12"]],
  "update, delete": ["there", [modified("a", 11), deleted("a", 12)], ["- default/a@12"]],
  "delete": ["there", [deleted("a", 11)], ["- default/a@11"]],
  "delete, add": ["there", [deleted("a", 11), added("a", 12)], ["- default/a@11", "+ default/a@12"]],
  "delete, add, update": ["there", [deleted("a", 11), added("a", 12), modified("a", 13)], [
    "- default/a@11",
    "+ default/a@13",
  ]],
  "delete, add, delete": ["there", [deleted("a", 11), added("a", 12), deleted("a", 13)], ["- default/a@11"]],
  "update, delete, add": ["there", [modified("a", 11), deleted("a", 12), added("a", 13)], [
    "- default/a@12",
    "+ default/a@13",
  ]],
  "another uid": ["there", [modified("a", 11, { uid: "other" })], ["- default/a@2 (unknown)", "+ default/a@11"]],
};

Deno.test("a latestPerKey backlog merges pending events into the fewest that lead to the current state [F12]", async () => {
  for (const [how, [before, changes, left]] of Object.entries(FOLDS)) {
    for (const batches of [[changes], changes.map((change) => [change])]) {
      const there = before === "there" ? [entry("a", 2), entry("x", 1)] : [entry("x", 1)];
      const { run, notes, release } = await busy({ backlog: "latestPerKey" }, there);
      await using _run = run;
      await release();
      const hold = gate();
      notes.gate = hold.promise;
      await run.send(modified("x", 9));
      assertEquals(notes.take(), ["~ default/x@1→9"], how);
      for (const batch of batches) await run.send(...batch);
      assertEquals(run.informer.status().handlers[0].pending, left.length === 0 ? 0 : 1, how);
      hold.resolve();
      await run.tick();
      assertEquals(notes.take(), left, how);
    }
  }
});

Deno.test("a latestPerKey backlog marks objects of the first list as initial, also when they have changed since", async () => {
  const { run, notes, registration, release } = await busy({ backlog: "latestPerKey" }, [
    entry("x", 1),
    entry("y", 1),
    entry("z", 1),
  ]);
  await using _run = run;
  await run.send(modified("y", 11), deleted("z", 12), added("n", 13));
  assertEquals([notes.take(), registration.hasSynced], [["+ default/x@1 (initial)"], false]);
  assertEquals(await release(), ["+ default/y@11 (initial)", "= 3 at 10", "+ default/n@13"]);
  assertEquals(registration.hasSynced, true);
});

Deno.test("a latestPerKey backlog does not merge events of a deleted object with those of its successor", async () => {
  const { run, notes, release } = await busy({ backlog: "latestPerKey" });
  await using _run = run;
  await release();
  let hold = gate();
  notes.gate = hold.promise;
  await run.send(modified("x", 11)); // delivered, and its call does not return
  await run.send(deleted("x", 12), added("x", 13));
  notes.gate = gate().promise;
  const second = gate();
  notes.gate = second.promise;
  hold.resolve();
  hold = second;
  await run.tick(); // the deletion is delivered, and its call does not return; the addition is next
  await run.send(modified("x", 14), deleted("x", 15));
  second.resolve();
  await run.tick();
  assertEquals(notes.lines, ["~ default/x@1→11", "- default/x@12", "+ default/x@13", "- default/x@15"]);
});

Deno.test("a bounded backlog removes a handler that falls further behind, and rejects waitForSync [F12]", async () => {
  // What was there at first does not count.
  const first = Array.from({ length: 10 }, (_, i) => entry(`x${i}`, 1));
  const { run, notes, registration, release } = await busy({ backlog: { max: 3 }, name: "slow" }, first);
  await using _run = run;
  const others = run.listen();
  const waiting = assertRejects(() => registration.waitForSync(), Error);
  await run.send(added("a", 11), modified("a", 12), deleted("a", 13));
  assertEquals([run.errors, registration.pending], [[], 13]);
  await run.send(added("a", 14));
  const message = 'Handler "slow" was removed: its backlog exceeded the limit of 3 events';
  assertEquals([run.complaints, (await waiting).message], [[`Error: ${message}`], message]);
  assertEquals(run.informer.status().handlers.map(({ name }) => name), ["handler 1"]);
  notes.take();
  assertEquals([await release(), others.lines.length], [[], 15]);
});

Deno.test("a bounded backlog keeps a handler that stays within it, however many events there are", async () => {
  const { run, notes, release } = await busy({ backlog: { max: 3 } });
  await using _run = run;
  await release();
  for (let version = 11; version < 100; version += 3) {
    const hold = gate();
    notes.gate = hold.promise;
    await run.send(modified("x", version), modified("x", version + 1), modified("x", version + 2));
    hold.resolve();
    await run.tick();
  }
  assertEquals([notes.take().length, run.errors], [90, []]);
});

Deno.test("a stream of events that falls too far behind rejects, and ends", async () => {
  await using run = await new Run(holding(entry("x", 1))).start();
  const events = run.informer.events({ backlog: { max: 2 }, name: "reader" });
  await events.next();
  await run.send(modified("x", 11), modified("x", 12), modified("x", 13));
  await assertRejects(
    () => events.next(),
    Error,
    'Event stream "reader" was ended: its backlog exceeded the limit of 2 events',
  );
  assertEquals([await events.next(), run.informer.status().handlers], [{ done: true, value: undefined }, []]);
});

Deno.test("every backlog policy delivers the first list in order, and does not count it as falling behind", async () => {
  const first = ["c", "a", "b", "d"].map((name, index) => entry(name, index + 1));
  await using run = new Run(holding(...first));
  const policies = { keep: "keep", folded: "latestPerKey", bounded: { max: 1 } } as const;
  const hold = gate();
  const notes = Object.entries(policies).map(([name, backlog]) => {
    const notes = new Notes();
    notes.gate = hold.promise;
    run.informer.addEventHandler(notes, { name, backlog });
    return notes;
  });
  const stream = run.informer.events();
  const delivered = stream.next();
  await run.start();
  const initial = ["c@1", "a@2", "b@3", "d@4"].map((name) => `+ default/${name} (initial)`);
  for (const { lines } of notes) assertEquals(lines, initial.slice(0, 1));
  assertEquals(line((await delivered).value!), initial[0]);
  // Three and the end of the list; of the stream, too.
  assertEquals(run.informer.status().handlers.map(({ pending }) => pending), [4, 4, 4, 4]);
  await run.send(modified("b", 11));
  const late = run.listen();
  hold.resolve();
  await run.tick();
  const end = "= 4 at 10";
  assertEquals(notes.map((each) => each.take()), [
    [...initial, end, "~ default/b@3→11"],
    [...initial.with(2, "+ default/b@11 (initial)"), end],
    [...initial, end, "~ default/b@3→11"],
  ]);
  assertEquals(late.take(), [...initial.with(2, "+ default/b@11 (initial)"), "= 4 at 11"]);
  for (const expected of [...initial.slice(1), end, "~ default/b@3→11"]) {
    assertEquals(line((await stream.next()).value!), expected);
  }
});
