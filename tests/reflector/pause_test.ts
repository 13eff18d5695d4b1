import { assert, assertEquals } from "@std/assert";
import { Reflector } from "../../src/reflector/reflector.ts";
import { bookmark, entry, expired, modified, part, refused, type Thing } from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { Follow, NotingStore, PAGES } from "../support/followed_source.ts";
import { observeMoments } from "../support/moments.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";
import { SCRIPTS } from "./_scripts.ts";

Deno.test("Reflector that is paused while it watches ends the watch, and resumes it where it was, without a list", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)]), END)
    .watch([], [modified("a", 11)], [bookmark(20)])
    .watch([], [modified("a", 21)]);
  await using follow = new Follow(source, PAGES);
  const { reflector } = follow;
  await follow.tick(1_000);
  reflector.pause();
  await follow.tick(3_600_000);
  reflector.pause();
  assertEquals([source.open, follow.time.timers, reflector.phase.name], [0, 0, "paused"]);
  assertEquals([follow.stored, reflector.lastSyncResourceVersion], [["default/a@11"], "20"]);
  assertEquals(reflector.counters.lastWatchEnd?.reason, "it was paused");
  reflector.resume();
  reflector.resume();
  await follow.tick();
  assertEquals(source.calls.map(({ type, options }) => `${type} ${options.resourceVersion}`), [
    "list 0",
    "watch 10",
    "watch 20",
  ]);
  assertEquals([follow.stored, follow.errors, reflector.counters.failures], [["default/a@21"], [], 0]);
});

Deno.test("Reflector whose version expires during a pause lists what is not older, and replaces the contents", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1), entry("b", 2)]), END).watch([])
    .watch(expired())
    .list(part(30, [entry("b", 25)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.pause();
  await follow.tick(600_000);
  follow.reflector.resume();
  await follow.tick(800);
  assertEquals(source.lists.map(({ options }) => options.resourceVersion), ["0", "10"]);
  assertEquals(follow.stored, ["default/b@25"]);
});

Deno.test("Reflector that is paused and resumed in one turn resumes its watch, and one that is resumed and paused stays paused", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([], [bookmark(12)]).watch([]);
  await using follow = new Follow(source, PAGES);
  const { reflector } = follow;
  await follow.tick();
  reflector.pause();
  reflector.resume();
  await follow.tick();
  assertEquals([reflector.phase.name, source.newest.options.resourceVersion, source.open], ["watching", "12", 1]);
  reflector.pause();
  await follow.tick();
  reflector.resume();
  reflector.pause();
  await follow.tick();
  assertEquals([reflector.phase.name, source.open, source.watches.length], ["paused", 0, 2]);
  // The request that would have begun in between is not sent.
  reflector.resume();
  await Promise.resolve();
  reflector.pause();
  await follow.tick(60_000);
  assertEquals([reflector.phase.name, source.open], ["paused", 0]);
});

Deno.test("Reflector that is paused before it runs, and run again while it is paused, sends no request until it is resumed", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(10, []), END).watch([]);
  const reflector = new Reflector<Thing>(source, new NotingStore(), PAGES);
  reflector.pause();
  for (let run = 0; run < 2; run++) {
    const stop = new AbortController();
    const running = reflector.run({ signal: stop.signal });
    await time.tickAsync(60_000);
    assertEquals([reflector.phase.name, source.calls.length, time.timers], ["paused", 0, 0]);
    stop.abort();
    await running;
  }
  const stop = new AbortController();
  const running = reflector.run({ signal: stop.signal });
  reflector.resume();
  await time.tickAsync(0);
  assertEquals([reflector.phase.name, reflector.lastSyncResourceVersion], ["watching", "10"]);
  stop.abort();
  await running;
});

Deno.test("Reflector continues the rest of a wait after a pause, so that pauses do not shorten a Retry-After", async () => {
  const source = new ScriptedSource().list(refused(503)).list(part(10, []), END).watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick(500);
  follow.reflector.pause();
  await follow.tick(60_000);
  follow.reflector.resume();
  await follow.tick(299);
  assertEquals(source.lists.length, 1);
  await follow.tick(1);
  assertEquals(source.lists.length, 2);
});

Deno.test("Reflector that was asked for a relist before it was paused lists the newest state when it is resumed", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([]).list(part(11, [entry("a", 11)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.relist(new Error("something is missing"));
  follow.reflector.pause();
  await follow.tick();
  assertEquals(source.lists.length, 1);
  follow.reflector.resume();
  await follow.tick();
  assertEquals([source.lists[1].options.resourceVersion, follow.stored], [undefined, ["default/a@11"]]);
});

Deno.test("Reflector that is asked for a relist while it is paused lists the newest state when it is resumed, after the rest of a wait", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([]).list(refused(503)).list(part(11, []), END)
    .watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.pause();
  await follow.tick();
  follow.reflector.relist(new Error("something is missing"));
  follow.reflector.resume();
  await follow.tick(500);
  follow.reflector.pause();
  await follow.tick();
  follow.reflector.relist(new Error("something is still missing"));
  follow.reflector.resume();
  await follow.tick(299);
  assertEquals(source.lists.length, 2);
  await follow.tick(1);
  assertEquals(source.requests, ["list 0 limit=500", "watch 10", "list - limit=500", "list - limit=500", "watch 11"]);
});

Deno.test("Reflector that is asked for a relist while it is paused in a wait for a watch lists the newest state instead", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([], refused(429)).list(part(11, []), END).watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick(300);
  assertEquals(follow.reflector.phase.name, "waiting");
  follow.reflector.pause();
  await follow.tick();
  follow.reflector.relist(new Error("something is missing"));
  follow.reflector.resume();
  await follow.tick(499);
  assertEquals(source.requests, ["list 0 limit=500", "watch 10"]);
  await follow.tick(1);
  assertEquals(source.requests.slice(2), ["list - limit=500", "watch 11"]);
});

Deno.test("Reflector starts ten watches without a wait, then one a second, however often it is paused and resumed", async () => {
  const source = new ScriptedSource().list(part(10, []), END);
  await using follow = new Follow(source, PAGES);
  for (let tenth = 0; tenth < 300; tenth++) {
    await follow.tick(50);
    follow.reflector.pause();
    await follow.tick(50);
    follow.reflector.resume();
  }
  assert(source.watches.length <= 40, `${source.watches.length} watches in 30 s`);
  assert(source.watches.length >= 30, `${source.watches.length} watches in 30 s`);
});

/** Pauses at the moment of that number, and resumes later. Returns the number of moments. */
async function pauseAt(name: string, pauseAt: number): Promise<number> {
  const [options, script] = SCRIPTS[name];
  using time = new FakeTime();
  const source = script();
  const store = new NotingStore();
  let moments = 0;
  const moment = (): void => {
    if (moments++ === pauseAt) reflector.pause();
  };
  observeMoments(source, store, moment);
  const reflector = new Reflector<Thing>(source, store, {
    backoff: { initialMs: 800, jitter: 0 },
    ...options,
    onPhase: ({ name }) => name !== "stopped" && name !== "paused" && moment(),
  });
  const stop = new AbortController();
  const running = reflector.run({ signal: stop.signal });
  await time.tickAsync(20_000);
  if (moments > pauseAt) {
    const what = `${name}, paused at moment ${pauseAt}`;
    assertEquals(time.timers, 0, what);
    const { length } = source.calls;
    await time.tickAsync(600_000);
    assertEquals([source.open, time.timers, store.staging, reflector.phase.name], [0, 0, 0, "paused"], what);
    assertEquals(source.calls.length, length, what);
    const version = reflector.lastSyncResourceVersion;
    assertEquals(store.flushed.at(-1) ?? "", version, what);
    reflector.resume();
    await time.tickAsync(6_000);
    const next = source.calls[length];
    assert(next !== undefined, `${what}: nothing follows`);
    const asked = next.options.resourceVersion ?? "";
    assert(next.type === "list" || next.options.sendInitialEvents || asked === version, `${what}: watch at ${asked}`);
  }
  stop.abort();
  await running;
  assertEquals([source.open, time.timers, store.staging], [0, 0, 0]);
  return moments;
}

for (const name of Object.keys(SCRIPTS)) {
  Deno.test(`Reflector that lists ${name} pauses at any point, leaves nothing open, and resumes there`, async () => {
    const moments = await pauseAt(name, Infinity);
    assert(moments > 30, `the script has only ${moments} moments`);
    for (let moment = 0; moment < moments; moment++) await pauseAt(name, moment);
  });
}
