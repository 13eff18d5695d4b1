import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import type { StoredSnapshot } from "../../../src/engine/api/stores.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { derive } from "../../../src/engine/informer/derived_collection.ts";
import { Checkpoint, MemoryCheckpoints } from "../../../src/engine/informer/events/checkpoint.ts";
import type { SharedIndexInformerOptions } from "../../../src/engine/informer/options.ts";
import { perObject } from "../../../src/engine/informer/per_object.ts";
import { SharedIndexInformer } from "../../../src/engine/informer/shared_index_informer.ts";
import { MemorySnapshots } from "../../../src/engine/informer/snapshot.ts";
import { WaitError } from "../../../src/engine/informer/status.ts";
import { ConfigMap, Namespace, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { configMap, FakeApiServer, namespace, pod } from "../../../src/testing/mod.ts";
import {
  added,
  bookmark,
  deleted,
  entry,
  expired,
  modified,
  part,
  seen,
  type Thing,
} from "../../support/sources/fixtures.ts";
import { PAGES } from "../../support/sources/followed_source.ts";
import { gate, holding, Notes, Run } from "../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";
import { createWidget, define, Widget } from "../../support/sources/widgets.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { FactoryFixture } from "./_factory_fixture.ts";

/** An informer whose first run has ended by its signal. */
async function endedRun(
  source: ScriptedSource = holding(entry("a", 1), entry("b", 2)),
  options: SharedIndexInformerOptions<Thing> = {},
): Promise<{ readonly run: Run; readonly notes: Notes }> {
  const run = new Run(source, options);
  const notes = run.listen();
  await once(run);
  notes.take();
  return { run, notes };
}

/** Runs until the first wait is over. */
async function once(run: Run, ms = 0): Promise<void> {
  const stop = new CountedController();
  const running = run.informer.run({ signal: stop.signal });
  await run.tick(ms);
  stop.abort();
  await running;
  assertEquals([stop.listeners, run.source.open, run.time.timers], [0, 0, 0], "nothing of the run is left");
}

Deno.test("run() after a signal has ended it resumes the watch without a list, and its handlers receive nothing twice", async () => {
  const { run, notes } = await endedRun(holding(entry("a", 1), entry("b", 2)).watch(), { resyncMs: 60_000 });
  await using _run = run;
  const { informer, source } = run;
  await run.tick(90_000);
  assertEquals([informer.status().state, informer.hasSynced, run.cached], ["stopped", true, [
    "default/a@1",
    "default/b@2",
  ]]);
  assertEquals(informer.status().handlers.map(({ name }) => name), ["handler 1"]);
  const running = informer.run();
  assertEquals([informer.status().state, informer.status().staleForMs], ["stale", 90_000]);
  await run.tick();
  assertEquals([source.lists.length, source.newest.options.resourceVersion, notes.take()], [1, "10", []]);
  source.newest.send([modified("a", 11), deleted("b", 12)]);
  await run.tick();
  assertEquals([informer.status().state, notes.take()], ["live", ["~ default/a@1→11", "- default/b@12"]]);
  await run.tick(60_000);
  assertEquals(notes.take(), ["~ default/a@11→11 (resync)"]);
  await informer[Symbol.asyncDispose]();
  await running;
  assertEquals([informer.status().handlers, run.time.timers], [[], 0]);
});

Deno.test("run() again lists when the server no longer has the version, and handlers receive the difference once", async () => {
  const { run, notes } = await endedRun();
  await using _run = run;
  run.source.watch(expired()).list(part(30, [entry("b", 25), entry("c", 26)]), END).watch([]);
  await run.start();
  await run.tick(800);
  assertEquals(notes.take().sort(), ["+ default/c@26", "- default/a@1 (unknown)", "~ default/b@2→25"]);
  assertEquals([run.source.lists.length, run.cached], [2, ["default/b@25", "default/c@26"]]);
});

Deno.test("run() again after a run that had not synced lists the objects as initial ones", async () => {
  await using run = new Run(new ScriptedSource().list().list(part(10, [entry("a", 1)]), END).watch([]));
  const notes = run.listen();
  await once(run);
  await run.start();
  await run.informer.waitForCacheSync();
  await run.tick();
  assertEquals(notes.take(), ["+ default/a@1 (initial)", "= 1 at 10"]);
});

Deno.test("run() again any number of times, and after a signal that had aborted already", async () => {
  await using run = new Run(holding(entry("a", 1)).watch([]).watch([]));
  const notes = run.listen();
  await run.informer.run({ signal: AbortSignal.abort() });
  assertEquals(run.source.calls, []);
  for (let i = 0; i < 3; i++) await once(run);
  assertEquals(notes.take(), ["+ default/a@1 (initial)", "= 1 at 10"]);
  assertEquals([run.source.lists.length, run.source.watches.length], [1, 3]);
});

Deno.test("A second run() is refused while the first one runs, after a disposal, and after a failure", async () => {
  const { run } = await endedRun();
  {
    await using _run = run;
    await run.start();
    await assertRejects(() => run.informer.run(), Error, 'Cannot run the informer of "objects": it is running already');
  }
  const stopped = 'Cannot run the informer of "objects": it has stopped already';
  await assertRejects(() => run.informer.run(), Error, stopped);
  const ended = await endedRun();
  await ended.run[Symbol.asyncDispose]();
  assertEquals(ended.run.informer.status().handlers, []);
  await assertRejects(() => ended.run.informer.run(), Error, stopped);
  let fails = false;
  const onPhase = (): void => {
    if (fails) throw new Error("the phase is not to my liking");
  };
  const failing = await endedRun(holding(entry("a", 1)), { reflector: { onPhase } });
  await using _failing = failing.run;
  fails = true;
  await assertRejects(() => failing.run.informer.run(), Error, "the phase is not to my liking");
  assertEquals(failing.run.informer.status().handlers, []);
  await assertRejects(() => failing.run.informer.run(), Error, stopped);
});

Deno.test("run() that is called while the last run waits for a handler begins after that, unless it is disposed", async () => {
  for (const isDisposed of [false, true]) {
    await using run = new Run(holding(entry("a", 1)).watch([modified("a", 11)]));
    const notes = run.listen();
    const held = gate();
    notes.gate = held.promise;
    const stop = new AbortController();
    const first = run.informer.run({ signal: stop.signal });
    await run.tick();
    stop.abort();
    await run.tick();
    const second = run.informer.run();
    await run.tick();
    assertEquals([run.informer.status().state, run.source.open], ["stopped", 0]);
    const disposal = isDisposed ? run.informer[Symbol.asyncDispose]() : undefined;
    held.resolve();
    await run.tick();
    await first;
    await disposal;
    if (isDisposed) await second;
    const { state, handlers } = run.informer.status();
    assertEquals([state, handlers.length], isDisposed ? ["stopped", 0] : ["live", 1]);
    assertEquals(notes.take().slice(1), isDisposed ? [] : ["= 1 at 10", "~ default/a@1→11"]);
  }
});

Deno.test("The backlog of a handler is kept at the end of a run, and delivered by the next one", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1), entry("c", 1)).watch([]));
  const { informer } = run;
  const notes = run.listen();
  const signals: AbortSignal[] = [];
  informer.addEventHandler({
    onAdd: (_event, { signal }) =>
      new Promise((resolve) => {
        signals.push(signal);
        signal.addEventListener("abort", resolve);
      }),
  }, { name: "waits" });
  const held = gate();
  notes.gate = held.promise;
  const stop = new AbortController();
  const first = informer.run({ signal: stop.signal });
  await run.tick();
  stop.abort();
  await run.tick();
  held.resolve(); // its call returns after the end of the lists and watches
  await first;
  await run.tick(1_000);
  assertEquals(notes.take(), ["+ default/a@1 (initial)"]);
  assertEquals(informer.status().handlers.map(({ name, pending }) => [name, pending]), [["handler 1", 3], [
    "waits",
    3,
  ]]);
  assertEquals(signals.map(({ aborted }) => aborted), [true]);
  await run.start();
  assertEquals(notes.take(), ["+ default/b@1 (initial)", "+ default/c@1 (initial)", "= 3 at 10"]);
  assertEquals(signals.map(({ aborted }) => aborted), [true, false]); // each run has its own signal
});

Deno.test("A handler is removed between two runs by its registration or signal, and receives nothing more", async () => {
  await using run = new Run(holding(entry("a", 1)).watch([modified("a", 11)]));
  const stop = new AbortController();
  const [first, second, third] = [new Notes(), new Notes(), new Notes()];
  const registration = run.informer.addEventHandler(first);
  run.informer.addEventHandler(second, { signal: stop.signal });
  const held = gate();
  third.gate = held.promise;
  const pending = run.informer.addEventHandler(third, { name: "third" });
  const ending = new AbortController();
  const running = run.informer.run({ signal: ending.signal });
  await run.tick();
  ending.abort();
  await run.tick();
  held.resolve();
  await running;
  for (const notes of [first, second, third]) notes.take();
  await registration[Symbol.asyncDispose]();
  await pending[Symbol.asyncDispose](); // has a backlog
  stop.abort();
  await run.tick();
  assertEquals(run.informer.status().handlers, []);
  await run.start();
  assertEquals([first.lines, second.lines, third.lines], [[], [], []]);
});

Deno.test("A handler whose call does not return within graceMs fails the run, and the informer does not run again", async () => {
  await using run = new Run(holding(entry("a", 1)), { graceMs: 100 });
  const held = gate();
  run.informer.addEventHandler({ onAdd: () => held.promise }, { name: "stuck" });
  run.informer.addEventHandler({}, { name: "fine" });
  const stop = new AbortController();
  const running = run.informer.run({ signal: stop.signal });
  await run.tick();
  stop.abort();
  const rejected = assertRejects(() => running, Error, 'Cannot finish handler "stuck"');
  await run.tick(100);
  await rejected;
  assertEquals(run.informer.status().handlers, []);
  await assertRejects(() => run.informer.run(), Error, "it has stopped already");
  held.resolve();
});

Deno.test("A run ends when a handler is removed whose call it waits for, once that call returns", async () => {
  await using run = new Run(holding(entry("a", 1)).watch([]));
  const held = gate();
  const registration = run.informer.addEventHandler({ onAdd: () => held.promise });
  const stop = new AbortController();
  const running = run.informer.run({ signal: stop.signal });
  await run.tick();
  stop.abort();
  await run.tick();
  registration.remove();
  held.resolve();
  await running;
  await run.start();
  assertEquals(run.informer.status().handlers, []);
});

Deno.test("Streams, status, views, waits, derived collections and jobs end with a run; the next run has new ones", async () => {
  const { run } = await endedRun(holding(entry("a", 1)).watch([]).watch([]));
  await using _run = run;
  const { informer } = run;
  const stop = new AbortController();
  const running = informer.run({ signal: stop.signal });
  const events = informer.events();
  const begun = events.next();
  const statuses = informer.statusChanges();
  const view = informer.view();
  const updates = view.changes();
  await using sizes = derive(informer, ({ metadata: { name } }) => ({ metadata: { name } }));
  const jobs: string[] = [];
  await using _jobs = perObject(informer, ({ metadata: { name } }, signal) => {
    jobs.push(name);
    return new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  const handler = informer.addEventHandler({ onAdd: () => new Promise((resolve) => setTimeout(resolve, 500)) });
  await updates.next();
  await run.tick();
  const waits = [
    informer.until(() => false),
    informer.waitForVersion("99"),
    handler.waitForSync(),
    informer.untilDeleted("default/a"),
  ].map((wait) => assertRejects(() => wait, WaitError, "stopped"));
  stop.abort();
  await run.tick(500);
  await running;
  await Promise.all(waits);
  assertEquals([(await begun).done, (await Array.fromAsync(events)).length, (await updates.next()).done], [
    false,
    0,
    true,
  ]);
  assertEquals((await Array.fromAsync(statuses)).at(-1)?.state, "stopped");
  assertEquals([sizes.status().state, informer.status().handlers.length, jobs], ["stopped", 2, ["a"]]);
  await assertRejects(() => informer.waitForVersion("99"), WaitError, "it has stopped");
  await assertRejects(() => informer.until(() => false), Error, "it has stopped already");
  assertThrows(() => informer.addEventHandler({}), Error, "it has stopped already");
  await assertRejects(() => informer.rescope({ namespaces: ["a"] }), Error, "it has stopped already");
  await assertRejects(() => informer.checkConsistency(), Error, "it is stopped");
  await run.start();
  const next = informer.statusChanges();
  assertEquals((await next.next()).value?.state, "live");
  const reached = informer.waitForVersion("11");
  const found = informer.until(({ metadata }) => metadata.name === "c");
  await run.send(added("c", 11));
  await reached;
  assertEquals((await found).metadata.resourceVersion, "11");
  await handler.waitForSync();
  await informer.waitForCacheSync();
  await next.return?.();
});

Deno.test("A handler with a checkpoint ends with a run, and begins at its checkpoint when it is added to the next one", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  for (const name of ["a", "b"]) server.create(ConfigMap, configMap({ name, namespace: "shop" }));
  const maps = informers.forResource(ConfigMap);
  await using checkpoint = await Checkpoint.open(new MemoryCheckpoints(), { name: "notes" });
  const lines: string[] = [];
  const handler = {
    onAdd: ({ name }: { readonly name: string }): void => void lines.push(`+ ${name}`),
    onDelete: ({ name }: { readonly name: string }): void => void lines.push(`- ${name}`),
  };
  maps.addEventHandler(handler, { checkpoint });
  const stop = new AbortController();
  const running = informers.run({ signal: stop.signal });
  await fixture.tick(5_000);
  stop.abort();
  await running;
  assertEquals([lines.splice(0), maps.status().handlers], [["+ a", "+ b"], []]);
  server.delete(ConfigMap, "shop/a");
  informers.start();
  maps.addEventHandler(handler, { checkpoint });
  await fixture.tick(5_000);
  assertEquals(lines, ["- a"]);
});

Deno.test("An informer that was paused when its run ended begins its next run paused", async () => {
  const { run, notes } = await endedRun(holding(entry("a", 1)).watch([modified("a", 11)]));
  await using _run = run;
  const { informer } = run;
  informer.pause();
  assertEquals(informer.status().state, "stopped");
  await run.start();
  assertEquals([informer.status().state, run.source.open], ["paused", 0]);
  informer.resume();
  await run.tick();
  assertEquals([informer.status().state, notes.take(), run.source.lists.length], ["live", ["~ default/a@1→11"], 1]);
});

Deno.test("Several namespaces resume at their own versions, and a relist deletes only objects of its own", async () => {
  using time = new FakeTime();
  const a = new ScriptedSource().list(part(10, [entry("x", 1, { namespace: "a" })]), END).watch([bookmark(15)]);
  const b = new ScriptedSource().list(part(12, [entry("y", 2, { namespace: "b" })]), END).watch([]);
  const informer = new SharedIndexInformer<Thing>([{ namespace: "a", source: a }, { namespace: "b", source: b }], {
    reflector: { ...PAGES, reconnectMs: 0, backoff: { initialMs: 800, jitter: 0 } },
  });
  const notes = new Notes();
  informer.addEventHandler(notes);
  const stop = new AbortController();
  const running = informer.run({ signal: stop.signal });
  await time.tickAsync(0);
  stop.abort();
  await running;
  notes.take();
  a.watch(expired()).list(part(20, []), END).watch([]);
  b.watch([]);
  void informer.run();
  await time.tickAsync(0);
  assertEquals([a.watches[1].options.resourceVersion, b.watches[1].options.resourceVersion], ["15", "12"]);
  await time.tickAsync(800);
  assertEquals([notes.take(), seen(informer.entries)], [["- a/x@1 (unknown)"], ["b/y@2"]]);
  await informer[Symbol.asyncDispose]();
  assertEquals(time.timers, 0);
});

Deno.test("A transform is not applied again to what a run has cached", async () => {
  let calls = 0;
  const transform = (object: Thing): Thing => {
    calls++;
    return { ...object, metadata: { ...object.metadata, annotations: { calls: String(calls) } } };
  };
  const { run, notes } = await endedRun(holding(entry("a", 1)), { transform });
  await using _run = run;
  await run.start();
  assertEquals([calls, notes.take()], [1, []]);
});

Deno.test("A check ends with its run, and the regular checks of the next run begin again", async () => {
  const { run } = await endedRun(holding(entry("a", 1)), { consistencyCheck: { intervalMs: 60_000 } });
  await using _run = run;
  run.source.watch([]).list();
  const stop = new AbortController();
  const running = run.informer.run({ signal: stop.signal });
  await run.tick(75_000);
  assertEquals(run.source.lists.length, 2);
  stop.abort();
  await running;
  assertEquals([run.source.open, run.time.timers, run.errors], [0, 0, []]);
});

Deno.test("An informer whose namespaces changed between two runs removes what left as moved, and lists only what came", async () => {
  await using fixture = new FactoryFixture({ namespaces: { labels: "team=web" } });
  const { informers, server } = fixture;
  for (const [name, team] of [["a", "web"], ["b", "web"], ["c", "db"]]) {
    server.create(Namespace, namespace({ name, labels: { team } }));
  }
  for (const namespace of ["a", "b", "c"]) server.create(ConfigMap, configMap({ name: "m", namespace }));
  const maps = informers.forResource(ConfigMap);
  const lines: string[] = [];
  maps.addEventHandler({
    onAdd: ({ key }) => void lines.push(`+ ${key}`),
    onDelete: ({ key, reason }) => void lines.push(`- ${key} (${reason})`),
  });
  const stop = new AbortController();
  const running = informers.run({ signal: stop.signal });
  await fixture.tick(1_000);
  stop.abort();
  await running;
  assertEquals(lines.splice(0).sort(), ["+ a/m", "+ b/m"]);
  server.patch(Namespace, "a", { metadata: { labels: { team: "db" } } });
  server.patch(Namespace, "c", { metadata: { labels: { team: "web" } } });
  await fixture.tick(1_000); // the namespaces themselves are followed on
  assertEquals(lines, []);
  const before = server.requests.length;
  informers.start();
  await fixture.tick(1_000);
  assertEquals([lines.sort(), seen(maps.entries).length], [["+ c/m", "- a/m (moved)"], 2]);
  const lists = server.requests.slice(before).filter(({ query }) => !query.has("watch"));
  assertEquals(lists.map(({ path }) => path), ["/api/v1/namespaces/c/configmaps"]);
});

Deno.test("SharedInformerFactory runs again: its informers keep their handlers, and resume; those of holders too", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  server.create(Pod, pod({ name: "a", namespace: "shop" }));
  server.create(ConfigMap, configMap({ name: "m", namespace: "shop" }));
  const lines: string[] = [];
  const pods = informers.forResource(Pod);
  pods.addEventHandler({
    onAdd: ({ key }) => void lines.push(`+ ${key}`),
    onDelete: ({ key }) => void lines.push(`- ${key}`),
  });
  using held = informers.acquire(ConfigMap);
  informers.forResource(ConfigMap);
  for (let round = 0; round < 3; round++) {
    const stop = new CountedController();
    const running = informers.run({ signal: stop.signal });
    await fixture.tick();
    assertEquals([pods.status().state, held.informer.status().state, server.watches], ["live", "live", 2]);
    stop.abort();
    await running;
    assertEquals([server.watches, stop.listeners, fixture.time.timers], [0, 0, 0]);
    server.create(Pod, pod({ name: `b${round}`, namespace: "shop" }));
    assertEquals(fixture.asked.filter((it) => it === "list").length, round === 0 ? 2 : 0);
  }
  assertEquals(lines, ["+ shop/a", "+ shop/b0", "+ shop/b1"]);
  assertStrictEquals(informers.forResource(Pod), pods);
});

Deno.test("SharedInformerFactory.start() again starts informers that have ended or are ending, and acquire does, too", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const pods = informers.forResource(Pod);
  const added: string[] = [];
  pods.addEventHandler({ onAdd: ({ key }) => void added.push(key) });
  const stops = [new AbortController(), new AbortController()];
  informers.start({ signal: stops[0].signal });
  await fixture.tick();
  stops[0].abort();
  informers.start({ signal: stops[1].signal });
  server.create(Pod, pod({ name: "a", namespace: "shop" }));
  await fixture.tick();
  assertEquals([pods.status().state, added, server.watches], ["live", ["shop/a"], 1]);
  stops[1].abort();
  await fixture.tick();
  using held = informers.acquire(Pod);
  await fixture.tick();
  assertEquals([held.informer.status().state, pods.status().state, server.watches], ["live", "live", 1]);
  assertEquals(fixture.errors, []);
});

Deno.test("Between two runs the bytes of a cache count; its disposal gives them back before its handlers return", async () => {
  await using fixture = new FactoryFixture({ maxBytes: 1_000_000 });
  const { informers, server } = fixture;
  server.create(Pod, pod({ name: "a", namespace: "shop" }));
  const pods = informers.forResource(Pod);
  const held = gate();
  let calls = 0;
  pods.addEventHandler({ onAdd: () => calls++ === 0 ? undefined : held.promise });
  for (const stop of [new AbortController(), new AbortController()]) {
    const running = informers.run({ signal: stop.signal });
    await fixture.tick();
    const bytes = informers.countedBytes!;
    stop.abort();
    await running;
    assert(bytes > 0);
    assertEquals(informers.countedBytes, bytes);
  }
  server.create(Pod, pod({ name: "b", namespace: "shop" }));
  const stop = new CountedController();
  informers.start({ signal: stop.signal });
  await fixture.tick();
  const disposal = pods[Symbol.asyncDispose]();
  await fixture.tick();
  assertEquals([calls, informers.countedBytes], [2, 0]);
  held.resolve();
  await disposal;
  await fixture.tick();
  assertEquals(stop.listeners, 0);
});

Deno.test("start() does not start an informer again that was disposed between two runs", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const pods = informers.forResource(Pod);
  const stop = new AbortController();
  informers.start({ signal: stop.signal });
  await fixture.tick();
  stop.abort();
  await fixture.tick();
  await pods[Symbol.asyncDispose]();
  informers.start();
  await fixture.tick();
  assertEquals([fixture.errors, server.watches, pods.status().state], [[], 0, "stopped"]);
});

Deno.test("An optional kind that is defined during a second run is found at once", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  const widgets = informers.forResource(Widget, { optional: true });
  const stop = new AbortController();
  informers.start({ signal: stop.signal });
  await fixture.tick();
  stop.abort();
  informers.start();
  await fixture.tick(400_000); // the next attempt is far away
  define(server, Widget);
  createWidget(server, "a");
  await fixture.tick(10);
  assertEquals([widgets.status().state, widgets.indexer.size], ["live", 1]);
});

Deno.test("Readable namespaces are stale from the beginning of a second run, and resume once the server has named them", async () => {
  await using fixture = new FactoryFixture({ namespaces: "readable" }, {
    authorize: ({ resource, namespace }) => resource !== "configmaps" || namespace === "a" || namespace === "b",
  });
  const { informers, server } = fixture;
  for (const name of ["a", "b"]) {
    server.create(Namespace, namespace({ name }));
    server.create(ConfigMap, configMap({ name: "m", namespace: name }));
  }
  const maps = informers.forResource(ConfigMap);
  const keys: string[] = [];
  maps.addEventHandler({ onAdd: ({ key }) => void keys.push(key) });
  const stop = new AbortController();
  const running = informers.run({ signal: stop.signal });
  await fixture.tick(1_000);
  stop.abort();
  await running;
  server.create(ConfigMap, configMap({ name: "n", namespace: "b" }));
  const before = server.requests.length;
  informers.start();
  assertEquals(maps.status().state, "stale");
  await fixture.tick(1_000);
  const sent = server.requests.slice(before).filter(({ resource }) => resource === "configmaps");
  assertEquals(sent.filter(({ query }) => !query.has("watch")), []);
  assertEquals([maps.status().state, keys], ["live", ["a/m", "b/m", "b/n"]]);
});

Deno.test("A factory reads a snapshot before the first run only, and writes one at the end of each", async () => {
  const store = new MemorySnapshots();
  const calls: string[] = [];
  const noted = {
    get: (name: string) => (calls.push("get"), store.get(name)),
    set: (
      name: string,
      snapshot: StoredSnapshot,
    ) => (calls.push(`set at ${snapshot.version}`), store.set(name, snapshot)),
  };
  await using fixture = new FactoryFixture({ snapshots: { store: noted } });
  const { informers, server } = fixture;
  informers.forResource(Pod);
  const versions: string[] = [];
  for (const name of ["a", "b"]) {
    server.create(Pod, pod({ name, namespace: "shop" }));
    const stop = new AbortController();
    const running = informers.run({ signal: stop.signal });
    await fixture.tick();
    versions.push(`set at ${server.resourceVersion}`);
    stop.abort();
    await running;
  }
  assertEquals([calls, fixture.errors], [["get", ...versions], []]);
});

Deno.test("A restored informer asks whether the server has its objects until that is answered, and not again", async () => {
  using time = new FakeTime();
  const run = (server: FakeApiServer, hold?: Promise<void>): [Client, SharedIndexInformer<Pod>] => {
    const fetch = async (request: Request): Promise<Response> => {
      if (request.url.includes("fieldSelector")) await hold;
      return await server.fetch(request);
    };
    const client = new Client({ server: "http://fake", transport: { fetch } });
    return [client, new SharedIndexInformer(client.resource(Pod), { onError: () => {} })];
  };
  const [own, other] = [new FakeApiServer(), new FakeApiServer()];
  own.create(Pod, pod({ name: "a", namespace: "shop" }));
  const [client, first] = run(own);
  void first.run();
  await time.tickAsync(0);
  const bytes = await new Response(first.snapshot()).bytes();
  await first[Symbol.asyncDispose]();
  for (const server of [own, other]) {
    while (Number(other.resourceVersion) < 50) {
      other.create(Pod, pod({ name: `o${other.resourceVersion}`, namespace: "shop" }));
    }
    const held = gate();
    const [secondClient, second] = run(server, held.promise);
    await second.restore(ReadableStream.from([bytes]));
    const runFor = async (ms: number): Promise<string[]> => {
      const before = server.requests.length;
      const stop = new AbortController();
      const running = second.run({ signal: stop.signal });
      await time.tickAsync(ms);
      stop.abort();
      await time.tickAsync(0);
      await running;
      return server.requests.slice(before).map(({ query }) => {
        if (query.has("fieldSelector")) return "question";
        return query.has("sendInitialEvents") || !query.has("watch") ? "list" : "watch";
      });
    };
    assertEquals(await runFor(0), []); // the question has no answer
    held.resolve();
    const kinds = new Set(await runFor(100));
    assertEquals([...kinds].sort(), server === own ? ["question", "watch"] : ["list", "question"]);
    if (server === own) own.delete(Pod, "shop/a"); // which another question would find
    assertEquals(await runFor(100), ["watch"]);
    await second[Symbol.asyncDispose]();
    secondClient[Symbol.dispose]();
  }
  client[Symbol.dispose]();
  for (const server of [own, other]) server[Symbol.dispose]();
  assertEquals(time.timers, 0);
});

Deno.test("Texts become compact in the idle turns of a second run, too", async () => {
  await using fixture = new FactoryFixture();
  const { informers, server } = fixture;
  for (let i = 0; i < 20; i++) {
    server.create(Pod, pod({ name: `web-${i}`, namespace: "shop", annotations: { note: "n".repeat(200) } }));
  }
  const pods = informers.forResource(Pod);
  const stop = new AbortController();
  const running = informers.run({ signal: stop.signal });
  await fixture.tick(100);
  stop.abort();
  await running;
  await fixture.tick(10_000);
  assertEquals([pods.memory().compact.objects, fixture.time.timers], [0, 0]);
  informers.start();
  await fixture.tick(10_000);
  assertEquals(pods.memory().compact.objects, 20);
});
