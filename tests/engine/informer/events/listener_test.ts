import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { Durations } from "../../../../src/engine/async/histogram.ts";
import type { AddedEvent, UpdatedEvent } from "../../../../src/engine/informer/events/event.ts";
import { ConfigMap } from "../../../../src/engine/kinds/core/v1.ts";
import {
  added,
  deleted,
  entry,
  expired,
  modified,
  nameless,
  type Thing,
  unparsable,
} from "../../../support/sources/fixtures.ts";
import { gate, holding, Notes, Run, Uncaught } from "../../../support/sources/informer.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

Deno.test("SharedIndexInformer delivers the cached objects, a synced event, and then changes", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2)));
  const notes = new Notes();
  const registration = run.informer.addEventHandler(notes);
  await run.start();
  assertEquals(notes.take(), ["+ default/a@1 (initial)", "+ default/b@2 (initial)", "= 2 at 10"]);
  assertEquals([registration.name, registration.hasSynced, registration.pending], ["handler 1", true, 0]);
  await run.send(modified("a", 11), added("c", 12), deleted("b", 13));
  assertEquals(notes.take(), ["~ default/a@1→11", "+ default/c@12", "- default/b@13"]);
});

Deno.test("SharedIndexInformer of one of several clusters names it in each event", async () => {
  await using run = await new Run(holding(entry("a", 1)), { cluster: "berlin" }).start();
  const clusters: (string | undefined)[] = [];
  const note = ({ cluster }: { readonly cluster?: string }): void => void clusters.push(cluster);
  run.informer.addEventHandler({ onAdd: note, onDelete: note, onSynced: note });
  await run.send(deleted("a", 11));
  assertEquals(clusters, ["berlin", "berlin", "berlin"]);
});

Deno.test("SharedIndexInformer never calls a handler before addEventHandler has returned", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  let returned = false;
  const calls: boolean[] = [];
  run.informer.addEventHandler({ onAdd: () => void calls.push(returned) });
  returned = true;
  await run.tick();
  assertEquals(calls, [true]);
});

Deno.test("SharedIndexInformer delivers the cached objects to a late handler, then changes: none missed, none twice [C097] [F30]", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2)));
  const early = run.listen();
  await run.start();
  await run.send(modified("a", 11), deleted("b", 12));
  early.take();
  // One that comes before the change is taken, and one behind it.
  run.source.newest.send([added("c", 13)]);
  const before = run.listen();
  await run.tick();
  const late = new Notes();
  const hold = gate();
  late.gate = hold.promise;
  const registration = run.informer.addEventHandler(late);
  run.source.newest.send([modified("c", 14)]);
  await run.tick();
  assertEquals([registration.hasSynced, registration.pending], [false, 3]);
  assertEquals(early.lines, ["+ default/c@13", "~ default/c@13→14"]);
  hold.resolve();
  await run.tick();
  assertEquals([registration.hasSynced, registration.pending], [true, 0]);
  assertEquals(
    late.lines,
    ["+ default/a@11 (initial)", "+ default/c@13 (initial)", "= 2 at 13", "~ default/c@13→14"],
  );
  assertEquals(before.lines, ["+ default/a@11 (initial)", "= 1 at 12", "+ default/c@13", "~ default/c@13→14"]);
});

Deno.test("a handler has synced when its calls for the initial objects have returned", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 2)));
  const holds = [gate(), gate()];
  let call = 0;
  const registration = run.informer.addEventHandler({ onAdd: () => holds[call++].promise });
  let synced = false;
  const waiting = registration.waitForSync().then(() => synced = true);
  await run.start();
  assertEquals([run.informer.hasSynced, registration.hasSynced], [true, false]);
  holds[0].resolve();
  await run.tick();
  assertEquals([call, registration.hasSynced], [2, false]);
  holds[1].resolve();
  await waiting;
  assertEquals([synced, registration.hasSynced], [true, true]);
});

Deno.test("SharedIndexInformer applies a change to the cache before it delivers it", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const shown: (string | undefined)[] = [];
  const look = ({ key }: { key: string }): void =>
    void shown.push(run.informer.indexer.getByKey(key)?.metadata.resourceVersion);
  run.informer.addEventHandler({ onAdd: look, onUpdate: look, onDelete: look });
  await run.start();
  await run.send(modified("a", 11));
  await run.send(deleted("a", 12));
  assertEquals(shown, ["1", "11", undefined]);
});

Deno.test("SharedIndexInformer awaits a handler's promise before its next event, without delaying other handlers [F11]", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)));
  const slow = new Notes();
  const fast = new Notes();
  const hold = gate();
  slow.gate = hold.promise;
  run.informer.addEventHandler(slow, { name: "slow" });
  run.informer.addEventHandler(fast, { name: "fast" });
  await run.start();
  await run.send(modified("a", 11));
  assertEquals([slow.lines, fast.lines.length], [["+ default/a@1 (initial)"], 4]);
  assertEquals(run.informer.status().handlers.map(({ name, pending, slow }) => ({ name, pending, slow })), [
    { name: "slow", pending: 3, slow: false },
    { name: "fast", pending: 0, slow: false },
  ]);
  for (const jumpMs of [3_600_000, -3_600_000]) {
    run.time.setClock(run.time.now + jumpMs); // how long a call takes is not measured by the time of day
    await run.tick(500);
    assertEquals(run.informer.status().handlers.map(({ slow }) => slow), [false, false]);
  }
  await run.tick(1);
  assertEquals(run.informer.status().handlers.map(({ slow }) => slow), [true, false]);
  hold.resolve();
  await run.tick();
  assertEquals(slow.lines, fast.lines);
  await run.tick(2_000);
  assertEquals(run.informer.status().handlers.map(({ slow }) => slow), [false, false]);
});

Deno.test("SharedIndexInformer lets no handler wait for the promise of another one, whichever was added first", async () => {
  for (const names of [["slow", "fast"], ["fast", "slow"]]) {
    await using run = new Run(holding(entry("a", 1)));
    const hold = gate();
    const notes = { slow: new Notes(), fast: new Notes() };
    notes.slow.gate = hold.promise;
    notes.fast.gate = Promise.resolve(); // each call returns a promise
    for (const name of names) run.informer.addEventHandler(notes[name as keyof typeof notes], { name });
    await run.start();
    await run.send(modified("a", 11), deleted("a", 12));
    const all = ["+ default/a@1 (initial)", "= 1 at 10", "~ default/a@1→11", "- default/a@12"];
    const meanwhile = [[...notes.slow.lines], [...notes.fast.lines]];
    hold.resolve();
    await run.tick();
    assertEquals([...meanwhile, notes.slow.lines], [all.slice(0, 1), all, all]);
  }
});

// client-go's process crashes; here the error is reported and counted, and the process continues.
Deno.test("SharedIndexInformer reports a handler's error or rejection, and continues with the next event [C078] [F11]", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1), entry("c", 1)));
  const delivered: string[] = [];
  const cause = new Error("thrown");
  const registration = run.informer.addEventHandler({
    onAdd: ({ name }) => {
      delivered.push(name);
      if (name === "a") throw cause;
      if (name === "b") return Promise.reject("rejected");
    },
  }, { name: "bad" });
  await run.start();
  assertEquals([delivered, registration.hasSynced], [["a", "b", "c"], true]);
  assertEquals(run.complaints, [
    'InformerError: Handler "bad" failed on "added" of "default/a": thrown',
    'InformerError: Handler "bad" failed on "added" of "default/b": rejected',
  ]);
  assertStrictEquals((run.errors[0] as Error).cause, cause);
  assertEquals([run.informer.status().errors, run.informer.status().handlers[0].errors], [2, 2]);
});

// client-go makes a pause of a second after each; here there is none.
Deno.test("SharedIndexInformer delivers every object once to a handler that always throws, and to other handlers [C098]", async () => {
  const names = ["a", "b", "c", "d", "e"];
  await using run = new Run(holding(...names.map((name) => entry(name, 1))));
  const delivered: string[] = [];
  const others = new Notes();
  run.informer.addEventHandler({
    onAdd: ({ name }) => {
      delivered.push(name);
      throw new Error("always");
    },
  });
  run.informer.addEventHandler(others);
  await run.start();
  assertEquals([delivered, run.errors.length, others.lines.length, run.informer.hasSynced], [names, 5, 6, true]);
});

Deno.test("SharedIndexInformer reports an error thrown by onError as uncaught, and continues", async () => {
  const thrown = new Error("onError is at fault");
  await using run = new Run(holding(entry("a", 1), entry("b", 1)), {
    onError: () => {
      throw thrown;
    },
  });
  using uncaught = new Uncaught();
  const delivered: string[] = [];
  run.informer.addEventHandler({
    onAdd: ({ name }) => {
      delivered.push(name);
      throw new Error("bad");
    },
  });
  await run.start();
  assertEquals([delivered, uncaught.errors], [["a", "b"], [thrown, thrown]]);
});

Deno.test("SharedIndexInformer calls its onError also when the reflector's onError throws", async () => {
  using uncaught = new Uncaught();
  const thrown = new Error("the reflector's is at fault");
  await using run = new Run(holding(entry("a", 1), nameless(2)), {
    reflector: {
      onError: () => {
        throw thrown;
      },
    },
  });
  await run.start();
  assertEquals([run.cached, run.informer.status().state, run.errors.length], [["default/a@1"], "live", 1]);
  assertEquals(uncaught.errors, [thrown]);
});

Deno.test("SharedIndexInformer calls only the callbacks that a handler has, and delivers entering and leaving a filter as added and deleted [C082]", async () => {
  await using run = new Run(holding(entry("big", 1, { size: 9 }), entry("small", 1), entry("gone", 1)));
  run.informer.addEventHandler({});
  const notes = run.listen({ filter: ({ spec }) => spec.size > 5 });
  await run.start();
  assertEquals(notes.take(), ["+ default/big@1 (initial)", "= 3 at 10"]);
  await run.send(modified("small", 11, { size: 7 }), modified("big", 12, { size: 8 }), deleted("gone", 13));
  assertEquals(notes.take(), ["+ default/small@11", "~ default/big@1→12"]);
  await run.send(modified("big", 14), modified("big", 15), deleted("big", 16));
  // With the state that was delivered last: the new one does not pass.
  assertEquals(notes.take(), ["- default/big@12"]);
  await run.send(deleted("small", 17));
  // The deletion of an object that was delivered is delivered, whether or not its last state passes.
  assertEquals([notes.take(), run.errors], [["- default/small@17"], []]);
});

Deno.test("SharedIndexInformer drops an object whose filter throws, and reports the error", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1), unparsable("c", 1)));
  const notes = new Notes();
  run.informer.addEventHandler(notes, {
    name: "picky",
    filter: ({ metadata }) => {
      if (metadata.resourceVersion === "11") throw new Error("not this one");
      return true;
    },
  });
  await run.start();
  await run.send(modified("a", 11), modified("b", 12));
  await run.send(modified("a", 13));
  assertEquals(notes.lines, [
    "+ default/a@1 (initial)",
    "+ default/b@1 (initial)",
    "= 3 at 10",
    "- default/a@1",
    "~ default/b@1→12",
    "+ default/a@13",
  ]);
  assertEquals(run.complaints.length, 2);
  assertEquals(run.complaints[0].startsWith('DecodeError: Cannot parse "default/c" at version 1'), true);
  assertEquals(run.complaints[1], 'InformerError: Handler "picky" failed on "filter": not this one');
});

Deno.test("SharedIndexInformer delivers a deletion with key and last known state, whether from a watch or a relist [C083] [F07]", async () => {
  await using run = new Run(holding(entry("seen", 1, { size: 4 }), entry("noticed", 1, { size: 5 })));
  const delivered: unknown[] = [];
  run.informer.addEventHandler({
    onDelete: ({ key, namespace, name, object, finalStateUnknown }) =>
      void delivered.push([key, namespace, name, object.spec.size, finalStateUnknown]),
  });
  await run.start();
  await run.send(deleted("seen", 11, { size: 6 }));
  await run.relist(expired(), 20, []);
  assertEquals(delivered, [
    ["default/seen", "default", "seen", 6, false],
    ["default/noticed", "default", "noticed", 5, true],
  ]);
});

Deno.test("SharedIndexInformer delivers 200,000 events to a handler in order, one at a time [C101]", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  let last = 1;
  let count = 0;
  let within = 0;
  run.informer.addEventHandler({
    onUpdate: ({ resourceVersion }) => {
      if (++within !== 1) throw new Error("called within a call");
      if (Number(resourceVersion) === Math.max(last + 1, 11)) count++;
      last = Number(resourceVersion);
      within--;
    },
  });
  await run.tick();
  const size = 1_000;
  for (let batch = 0; batch < 200; batch++) {
    run.source.newest.send(Array.from({ length: size }, (_, i) => modified("a", 11 + batch * size + i)));
  }
  while (last < 200_010) {
    const before = last;
    await run.tick();
    assert(last > before, `stuck at ${last}`);
  }
  assertEquals([count, run.errors], [200_000, []]);
});

Deno.test("a handler that keeps the event loop is reported once, and each such call is counted", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const busy = (ms: number) => (): void => void run.time.tick(ms);
  run.informer.addEventHandler({ onAdd: busy(50), onUpdate: busy(50) }, { name: "quick" });
  run.informer.addEventHandler({ onAdd: busy(51), onUpdate: busy(70) }, { name: "busy" });
  run.informer.addEventHandler({
    onAdd: () => new Promise((resolve) => setTimeout(resolve, 200)), // it does not keep the loop
    onUpdate: () => {
      run.time.tick(300);
      throw new Error("failed, too");
    },
  }, { name: "failing", blockedMs: 299 });
  await run.tick(200);
  await run.send(modified("a", 11));
  await run.tick(400);
  assertEquals(run.informer.status().handlers.map(({ name, blocked }) => [name, blocked]), [
    ["quick", undefined],
    ["busy", 2],
    ["failing", 1],
  ]);
  assertEquals(run.errors.map((error) => (error as Error).message.split(". ")[0]).sort(), [
    'Handler "busy" kept the event loop for 51 ms on "added"',
    'Handler "failing" failed on "updated" of "default/a"',
    'Handler "failing" kept the event loop for 300 ms on "updated"',
  ]);
});

Deno.test("SharedIndexInformer refuses invalid handler options, and adds no handler", async () => {
  await using run = await new Run(holding()).start();
  for (
    const options of [{ resyncMs: -1 }, { resyncMs: NaN }, { slowMs: -1 }, { blockedMs: -1 }, {
      slowMs: "5" as unknown as number,
    }, {
      backlog: { max: 0 },
    }, {
      backlog: { max: 1.5 },
    }]
  ) {
    assertThrows(() => run.informer.addEventHandler({}, options), RangeError, "Cannot add a handler");
    assertThrows(() => run.informer.events(options), RangeError, "Cannot add a handler");
  }
  assertEquals([run.informer.status().handlers, run.time.timers], [[], 1]); // the watch's idle limit
});

Deno.test("events parse nothing when they are printed, and have no object when they are spread", async () => {
  await using run = new Run(holding(unparsable("a", 1)));
  const events: (AddedEvent<Thing> | UpdatedEvent<Thing>)[] = [];
  run.informer.addEventHandler({ onAdd: (event) => void events.push(event), onUpdate: (e) => void events.push(e) });
  await run.start();
  await run.send({ type: "MODIFIED", entry: unparsable("a", 11) });
  assertEquals(events.map((event) => JSON.stringify(event)), [
    '{"type":"added","key":"default/a","resourceVersion":"1","initial":true}',
    '{"type":"updated","key":"default/a","resourceVersion":"11","resync":false}',
  ]);
  assertEquals(Deno.inspect(events[0]).includes("default/a"), true);
  assertEquals([run.informer.status().quarantined, run.errors], [0, []]);
  assertEquals("object" in { ...events[0] }, false);
  assertThrows(() => events[1].object, Error, "Cannot parse");
});

const map = (name: string, labels?: Record<string, string>): ConfigMap =>
  ({ metadata: { name, namespace: "shop", ...(labels === undefined ? {} : { labels }) } }) as ConfigMap;

/** The number, sum and maximum of durations. */
const figures = (durations: Durations | undefined): unknown =>
  durations === undefined ? undefined : [durations.count, durations.sumMs, durations.maxMs];

/** A factory whose clock is at a whole second, as versions of the server have no fractions of one. */
async function wholeSecond(): Promise<FactoryFixture> {
  const fixture = new FactoryFixture();
  await fixture.tick(1_000 - Date.now() % 1_000);
  return fixture;
}

Deno.test("measureDelivery measures additions after the first list, from creationTimestamp to the call of each handler", async () => {
  await using fixture = await wholeSecond();
  const { informers, server } = fixture;
  const maps = informers.forResource(ConfigMap);
  const release = Promise.withResolvers<void>();
  maps.addEventHandler({ onAdd: ({ key }) => key === "shop/b" ? release.promise : undefined });
  maps.addEventHandler({});
  server.create(ConfigMap, map("old"));
  await fixture.tick(1_000);
  assertEquals(maps.status().deliveryMs, undefined);
  informers.measureDelivery();
  await fixture.start();
  assertEquals([maps.indexer.size, figures(maps.status().deliveryMs)], [1, [0, 0, 0]]);

  server.create(ConfigMap, map("b"));
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [2, 0, 0]);
  server.create(ConfigMap, map("c"));
  await fixture.tick(3_000);
  assertEquals(figures(maps.status().deliveryMs), [3, 0, 0]);
  release.resolve();
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [4, 3_000, 3_000]);
  server.clockSkew(60_000);
  server.create(ConfigMap, map("d")); // after this process reads its clock
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [6, 3_000, 3_000]);
  server.update(ConfigMap, { ...server.get(ConfigMap, "shop/c")!, data: { a: "b" } });
  maps.addEventHandler({}); // its initial objects are old
  await fixture.tick();
  assertEquals(figures(maps.status().deliveryMs), [6, 3_000, 3_000]);
});

Deno.test("measureDelivery measures no object that was there before, or begins to match, or lacks its time of creation", async () => {
  await using fixture = await wholeSecond();
  const { informers, server } = fixture;
  await fixture.tick(900);
  informers.measureDelivery(); // also for informers that are made later
  const all = informers.forResource(ConfigMap);
  const selected = informers.forResource(ConfigMap, { labelSelector: "app" });
  const named = informers.forResource(ConfigMap, { fields: ["metadata.labels"] });
  const bare = informers.forResource(ConfigMap, {
    namespaces: ["shop", "yard"],
    transform: ({ metadata: { creationTimestamp: _taken, ...metadata }, ...map }) =>
      ({ ...map, metadata }) as ConfigMap,
  });
  let matched = 0;
  all.addEventHandler({ onAdd: () => matched++ }, { filter: ({ metadata }) => metadata.labels?.app !== undefined });
  for (const informer of [selected, named, bare]) informer.addEventHandler({});
  await fixture.start();
  server.create(ConfigMap, map("a")); // 900 ms after its time of creation, in whole seconds
  await fixture.tick(5_000);
  server.patch(ConfigMap, "shop/a", { metadata: { labels: { app: "web" } } });
  await fixture.tick();
  assertEquals([matched, ...[selected, named, bare].map(({ indexer }) => indexer.size)], [1, 1, 1, 1]);
  assertEquals(
    [all, selected, named, bare].map((it) => figures(it.status().deliveryMs)),
    [[0, 0, 0], undefined, [1, 900, 900], [0, 0, 0]],
  );
  assertEquals([all, bare].map((it) => [it.status().listMs.count, it.status().commitMs.count]), [[1, 1], [2, 2]]);
});

Deno.test("measureDelivery measures what a relist brings, and reads no broken object", async () => {
  await using fixture = await wholeSecond();
  const { informers, server } = fixture;
  informers.measureDelivery();
  const maps = informers.forResource(ConfigMap, {
    transform: (map) => {
      if (map.metadata.name === "broken") throw new Error("broken");
      return map;
    },
  });
  const keys: string[] = [];
  maps.addEventHandler({ onAdd: ({ key }) => keys.push(key) });
  await fixture.start();
  server.failNext(500, Infinity);
  server.dropWatches();
  server.create(ConfigMap, map("a"));
  server.create(ConfigMap, map("broken"));
  server.compact();
  await fixture.tick(7_000);
  assertEquals(keys, []);
  server.disarm();
  await fixture.tick(10_000);
  assertEquals(keys.toSorted(), ["shop/a", "shop/broken"]);
  const { count = 0, maxMs = 0 } = maps.status().deliveryMs ?? {};
  assertEquals([count, maxMs >= 7_000], [1, true]);
  assertEquals(fixture.errors.filter((it) => it.includes("Handler")), []);
});
