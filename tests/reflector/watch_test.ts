import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { UnreachableError } from "../../src/api/errors.ts";
import { ShortWatchError } from "../../src/reflector/phase.ts";
import type { ReflectorOptions } from "../../src/reflector/reflector.ts";
import { added, bookmark, deleted, expired, modified, part, refused } from "../_fixtures.ts";
import { FakeTime } from "../_time.ts";
import { Follow, PAGES } from "./_follow.ts";
import { END, ScriptedSource } from "./_source.ts";

/** A reflector that has listed an empty collection at version 10. */
async function live(time: FakeTime, source: ScriptedSource, options: ReflectorOptions = {}): Promise<Follow> {
  const first = new ScriptedSource().list(part(10, []), END);
  source.list = first.list.bind(first);
  source.listEntries = (options) => {
    const call = first.listEntries(options);
    source.calls.push(call as never);
    return call;
  };
  const follow = new Follow(time, source, { ...PAGES, ...options });
  await time.tickAsync(0);
  return follow;
}

Deno.test("Reflector takes a watch that ends at once, having said nothing, for a failure, and waits [C005]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([], END).watch(END).watch([]);
  await using follow = await live(time, source);
  assertEquals([source.story, follow.waits], [["list 0 limit=500", "watch 10"], [800]]);
  const { phase } = follow.reflector;
  assert(phase.name === "waiting" && phase.error instanceof ShortWatchError);
  await time.tickAsync(800 + 1_600);
  // No list in between: the watch is tried again from where it was.
  assertEquals(source.story, ["list 0 limit=500", "watch 10", "watch 10", "watch 10"]);
  assertEquals(follow.waits, [800, 1_600]);
});

Deno.test("Reflector watches on at once when a watch ends in good order after a second, or having said something", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([]).watch([bookmark(15)], END).watch([]);
  await using follow = await live(time, source);
  await time.tickAsync(1_000);
  source.newest.send(END);
  await time.tickAsync(0);
  assertEquals(source.story, ["list 0 limit=500", "watch 10", "watch 10", "watch 15"]);
  assertEquals(follow.waits, []);
});

// client-go's watch knows the type it expects; here whoever reads an entry learns what it is.
Deno.test("Reflector applies changes in the server's order, and its version does not go back [C006]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([added("foo", 11)], [
    deleted("foo", 12),
    modified("bar", 55),
    added("baz", 32),
  ]);
  await using follow = await live(time, source);
  assertEquals(follow.stored, ["default/bar@55", "default/baz@32"]);
  assertEquals(follow.reflector.lastSyncResourceVersion, "55");
  source.newest.send([bookmark(40)], END);
  await time.tickAsync(0);
  assertEquals(source.story.at(-1), "watch 55");
});

Deno.test("Reflector waits longer and longer when watches are not accepted, and does not list [C010]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 40; attempt++) source.watch(new UnreachableError("connection refused"));
  await using follow = await live(time, source, { backoff: { initialMs: 1, maxMs: 50, jitter: 1 } });
  await time.tickAsync(40 * 100);
  assertEquals([source.lists.length, source.watches.length, follow.waits.length], [1, 41, 40]);
  follow.waits.forEach((wait, attempt) => {
    const base = Math.min(2 ** attempt, 50);
    assert(wait >= base && wait <= 2 * base, `wait ${attempt} is ${wait}, expected ${base} to ${2 * base}`);
  });
});

Deno.test("Reflector waits as its backoff says [C011]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 5; attempt++) source.watch(new UnreachableError("connection refused"));
  await using follow = await live(time, source, { backoff: { initialMs: 10, maxMs: 100, jitter: 0 } });
  await time.tickAsync(249);
  assertEquals([follow.waits, source.watches.length], [[10, 20, 40, 80, 100], 5]);
  await time.tickAsync(1);
  assertEquals([source.watches.length, source.lists.length], [6, 1]);
});

Deno.test("Reflector waits when the server puts a watch off, as an answer or in the stream [C012]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch(refused(429)).watch([], refused(429, { retryAfterSeconds: 5 }))
    .watch([], refused(503));
  await using follow = await live(time, source);
  await time.tickAsync(800 + 5_000 + 3_200);
  assertEquals(follow.waits, [800, 5_000, 3_200]);
  assertEquals([source.lists.length, source.watches.length], [1, 4]);
});

Deno.test("Reflector does not list again because watches are put off [C013]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 4; attempt++) source.watch(refused(429));
  await using _follow = await live(time, source);
  await time.tickAsync(800 + 1_600 + 3_200 + 6_400);
  assertEquals([source.lists.length, source.watches.length], [1, 5]);
});

// client-go can retry the watch at once for a while; here a server that fails inside is given time, and listed again.
Deno.test("Reflector lists again, after longer and longer waits, while watches fail with 500 [C014]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 8; attempt++) source.watch([], refused(500));
  await using follow = await live(time, source);
  for (let attempt = 0; attempt < 8; attempt++) source.list(part(10, []), END);
  await time.tickAsync(120_000);
  assertEquals(follow.waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  assertEquals([source.lists.length, source.watches.length], [9, 9]);
});

// client-go ends the watch; here it goes on.
Deno.test("Reflector resyncs its store at a period, and reports a resync that fails [C015]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([]);
  await using follow = await live(time, source, { resyncMs: 1_000 });
  follow.store.refuses = (note) => note === "resync" && time.now % 2_000 === 0 ? new Error("no") : undefined;
  await time.tickAsync(3_000);
  assertEquals(follow.store.notes.filter((note) => note === "resync").length, 2);
  assertEquals([follow.errors.map(String), source.watches.length], [["Error: no"], 1]);
});

Deno.test("Reflector asks for watches of 120 to 220 seconds, or of the option's length and up to 1.8 times it [C023] [F04]", async () => {
  for (
    const [options, low, high] of [[{}, 120, 220], [{ watchTimeoutMs: 1_800_000 }, 1_800, 3_240], [
      {
        watchTimeoutMs: 1,
      },
      1,
      1,
    ]] as const
  ) {
    using time = new FakeTime();
    const source = new ScriptedSource();
    for (let attempt = 0; attempt < 50; attempt++) source.watch([bookmark(10)], END);
    // Watches as short as these are not asked for in a hurry; here the waits are of no interest.
    await using _follow = await live(time, source, { backoff: { initialMs: 1, maxMs: 1, jitter: 0 }, ...options });
    await time.tickAsync(200);
    const asked = source.watches.map(({ options }) => options.timeoutSeconds!);
    assertEquals(asked.length, 51);
    for (const seconds of asked) assert(Number.isInteger(seconds) && seconds >= low && seconds <= high, `${seconds}`);
    if (high > low) assert(new Set(asked).size > 10, "the length is not by chance");
  }
});

Deno.test("Reflector tells the store every version it has been told of, once per batch, behind the changes [C024]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([added("a", 11)], [modified("a", 20)], [bookmark(30)], [deleted("a", 40)]);
  await using follow = await live(time, source);
  assertEquals(follow.store.notes.slice(3), [
    "add default/a@11",
    "flush 11",
    "update default/a@20",
    "flush 20",
    "flush 30",
    "delete default/a@40",
    "flush 40",
  ]);
});

Deno.test("Reflector counts a bookmark as seen only when the store has taken it", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([], [added("a", 11), bookmark(20)]);
  const seen: string[] = [];
  const follow = new Follow(time, source.list(part(10, []), END), PAGES);
  await using _follow = follow;
  const { flush } = follow.store;
  follow.store.flush = function (version: string): void {
    seen.push(`${version} after ${follow.reflector.lastSyncResourceVersion}`);
    flush.call(this, version);
  };
  await time.tickAsync(0);
  assertEquals(seen, ["10 after ", "20 after 10"]);
  assertEquals(follow.reflector.lastSyncResourceVersion, "20");
  assertEquals(follow.reflector.counters.lastBookmarkAt, time.now);
});

Deno.test("Reflector goes back to an older version only by a list", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([modified("a", 11)], [added("b", 9)], [bookmark(8)], [added("c", "z")]);
  await using follow = await live(time, source);
  // A version that is not a number can not be ordered: it is believed.
  assertEquals(follow.store.flushed, ["10", "11", "11", "11", "z"]);
});

Deno.test("Reflector that watches without a version does not take a version from what is told at first, in any order", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part("0", []), END)
    .watch([added("a", 9), added("b", 4)], [added("c", 6)], [bookmark(12)], [added("d", 13)]);
  await using follow = new Follow(time, source, PAGES);
  await time.tickAsync(0);
  assertEquals(follow.store.flushed, ["0", "0", "0", "12", "13"]);
});

Deno.test("Reflector gives a silent watch up 10 s after the time that it was asked to last [F01]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch().watch([]);
  await using follow = await live(time, source);
  source.watches[0].deaf = true; // a black hole: it does not notice its signal either
  const lastsMs = source.watches[0].options.timeoutSeconds! * 1_000;
  await time.tickAsync(lastsMs + 9_999);
  assertEquals([follow.waits, follow.reflector.phase.name], [[], "watching"]);
  await time.tickAsync(1);
  assertEquals([follow.waits, source.lists.length], [[800], 1]);
  const { phase } = follow.reflector;
  assert(phase.name === "waiting" && phase.error instanceof UnreachableError);
  assertStringIncludes(phase.error.message, "the watch: the server has said nothing for");
  assertEquals(source.watches[0].over, "returned");
  await time.tickAsync(800);
  assertEquals(source.story.at(-1), "watch 10");
});

Deno.test("Reflector lets a watch be that outlasts its time, as long as it says something [F03]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([]);
  await using follow = await live(time, source);
  const lastsMs = source.newest.options.timeoutSeconds! * 1_000;
  await time.tickAsync(lastsMs);
  for (let beat = 0; beat < 5; beat++) {
    source.newest.send([]);
    await time.tickAsync(9_000);
  }
  assertEquals([follow.waits, source.watches.length], [[], 1]);
  await time.tickAsync(1_000);
  assertEquals(follow.waits, [800]);
});

Deno.test("Reflector lists at the version it has seen when that has expired, as an answer or in the stream [F05]", async () => {
  for (const steps of [[expired()], [[], expired()], [[added("a", 12)], expired()]]) {
    using time = new FakeTime();
    const source = new ScriptedSource().watch(...steps).watch([]);
    await using follow = await live(time, source);
    source.lists.at(-1)!.send(part(20, []), END);
    await time.tickAsync(0);
    const from = steps.length === 2 && Array.isArray(steps[0]) && steps[0].length > 0 ? "12" : "10";
    assertEquals(source.story.slice(2), [`list ${from} NotOlderThan limit=500`, "watch 20"]);
    assertEquals(follow.waits, []);
  }
});

Deno.test("Reflector waits when a version expires again and no watch has said anything in between", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch(expired()).watch([], expired()).watch([], [bookmark(10)], expired())
    .watch([], expired());
  await using follow = await live(time, source);
  for (let list = 0; list < 5; list++) {
    const call = source.lists.at(-1)!;
    if (call.over === undefined) call.send(part(10, []), END);
    await time.tickAsync(follow.reflector.phase.name === "waiting" ? follow.reflector.phase.delayMs : 0);
    await time.tickAsync(0);
  }
  // The third watch said something: its expiry is a first one again; the fourth one's is not.
  assertEquals(follow.waits, [800, 1_600]);
});

Deno.test("Reflector's waits start short again after a time of health, not after luck", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 6; attempt++) source.watch([], [bookmark(10)], refused(429));
  await using follow = await live(time, source);
  await time.tickAsync(800 + 1_600 + 3_200 + 6_400 + 12_800 + 25_600);
  assertEquals(follow.waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600]);
  await time.tickAsync(119_999);
  source.newest.send([], [bookmark(11)]);
  await time.tickAsync(1);
  source.newest.send(refused(429));
  await time.tickAsync(0);
  // The last watch opened when it was asked, and said something only later.
  assertEquals(follow.waits.at(-1), 30_000);
  await time.tickAsync(30_000);
  source.newest.send([]);
  await time.tickAsync(119_000);
  source.newest.send(END);
  await time.tickAsync(0);
  source.newest.send([]);
  await time.tickAsync(1_000);
  source.newest.send(refused(429));
  await time.tickAsync(0);
  // A watch that ends in good order does not interrupt the health.
  assertEquals(follow.waits.at(-1), 800);
});

Deno.test("Reflector whose watches are cut again and again after a while is back soon each time [F03]", async () => {
  using time = new FakeTime();
  await using follow = await live(time, new ScriptedSource().watch([]));
  const { source } = follow;
  for (let cut = 0; cut < 8; cut++) {
    await time.tickAsync(30_000);
    source.watch([]).newest.send(new UnreachableError("connection reset by peer"));
    await time.tickAsync(800);
    assertEquals([follow.waits.length, follow.waits.at(-1), source.watches.length], [cut + 1, 800, cut + 2]);
  }
  // One that breaks at once is another matter, and those that were cut have not made its wait longer.
  for (const wait of [800, 1_600, 3_200]) {
    source.watch([]).newest.send(new UnreachableError("connection reset by peer"));
    await time.tickAsync(wait);
    assertEquals(follow.waits.at(-1), wait);
  }
});

Deno.test("Reflector lists when watches end at once, having said nothing, eight times in a row: its version may be forgotten [F05]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 7; attempt++) source.watch([], END);
  source.watch([bookmark(11)], END);
  for (let attempt = 0; attempt < 8; attempt++) source.watch(END);
  await using follow = await live(time, source, { backoff: { initialMs: 2_000, maxMs: 2_000, jitter: 0 } });
  await time.tickAsync(15 * 2_000);
  // One that said something was among them, so none of the lists is due.
  assertEquals([source.lists.length, source.watches.length], [1, 16]);
  source.list(part(30, []), END).watch([]);
  await time.tickAsync(2_000);
  assertEquals(source.story.slice(-2), ["list 11 NotOlderThan limit=500", "watch 30"]);
  assertEquals(follow.reflector.lastSyncResourceVersion, "30");
});

Deno.test("Reflector counts what it does", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([added("a", 11), modified("a", 12), bookmark(13)], refused(429)).watch([]);
  await using follow = await live(time, source);
  const at = time.now;
  await time.tickAsync(800);
  const { lists, pages, watches, events, failures, lastBookmarkAt, lastByteAt } = follow.reflector.counters;
  assertEquals([lists, pages, watches, events, failures], [1, 1, 2, 2, 1]);
  assertEquals([lastBookmarkAt, lastByteAt], [at, at + 800]);
});
