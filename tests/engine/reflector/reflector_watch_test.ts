import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import type { ReflectorOptions } from "../../../src/engine/reflector/reflector.ts";
import { RequestRateError, ShortWatchError } from "../../../src/engine/reflector/transition.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  bookmark,
  deleted,
  entry,
  expired,
  modified,
  nameless,
  part,
  refused,
} from "../../support/sources/fixtures.ts";
import { Follow, PAGES } from "../../support/sources/followed_source.ts";
import { collectHeap } from "../../support/times/heap.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

/** A reflector that has listed an empty collection at version 10. */
async function live(source: ScriptedSource, options: ReflectorOptions = {}): Promise<Follow> {
  const first = new ScriptedSource().list(part(10, []), END);
  source.list = first.list.bind(first);
  source.listEntries = (options) => {
    const call = first.listEntries(options);
    source.calls.push(call as never);
    return call;
  };
  const follow = new Follow(source, { ...PAGES, ...options });
  await follow.tick();
  return follow;
}

Deno.test("Reflector treats a watch that ends at once without an event as a failure, and backs off [C005]", async () => {
  const source = new ScriptedSource().watch([], END).watch(END).watch([]);
  await using follow = await live(source);
  assertEquals([source.requests, follow.waits], [["list 0 limit=500", "watch 10"], [800]]);
  const { phase } = follow.reflector;
  assert(phase.name === "waiting" && phase.error instanceof ShortWatchError);
  await follow.tick(800 + 1_600);
  // No list in between: the watch is tried again from where it was.
  assertEquals(source.requests, ["list 0 limit=500", "watch 10", "watch 10", "watch 10"]);
  assertEquals(follow.waits, [800, 1_600]);
});

Deno.test("Reflector resumes a watch that the server ends without an error, at its time or before", async () => {
  const source = new ScriptedSource().watch([]).watch([bookmark(15)], END).watch([]);
  await using follow = await live(source);
  await follow.tick(1_000);
  source.newest.send(END);
  await follow.tick();
  assertEquals(source.requests, ["list 0 limit=500", "watch 10", "watch 10", "watch 15"]);
  assertEquals(follow.waits, []);
});

Deno.test("Reflector applies changes in the server's order, and its version does not go back", async () => {
  const source = new ScriptedSource().watch([added("foo", 11)], [
    deleted("foo", 12),
    modified("bar", 55),
    added("baz", 32),
  ]);
  await using follow = await live(source);
  assertEquals(follow.stored, ["default/bar@55", "default/baz@32"]);
  assertEquals(follow.reflector.lastSyncResourceVersion, "55");
  source.newest.send([bookmark(40)], END);
  await follow.tick();
  assertEquals(source.requests.at(-1), "watch 55");
});

Deno.test("Reflector waits longer and longer when watches are refused, and does not list [C010]", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 40; attempt++) source.watch(new UnreachableError("connection refused"));
  await using follow = await live(source, { backoff: { initialMs: 1, maxMs: 50, jitter: 1 } });
  await follow.tick(40 * 100);
  assertEquals([source.lists.length, source.watches.length, follow.waits.length], [1, 41, 40]);
  follow.waits.forEach((wait, attempt) => {
    const base = Math.min(2 ** Math.max(0, attempt - 7), 25); // eight come soon: most outages are short
    assert(wait >= base && wait <= 2 * base, `wait ${attempt} is ${wait}, expected ${base} to ${2 * base}`);
  });
});

Deno.test("Reflector waits as its backoff says [C011]", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 5; attempt++) source.watch(refused(429));
  await using follow = await live(source, { backoff: { initialMs: 10, maxMs: 100, jitter: 0 } });
  await follow.tick(249);
  assertEquals([follow.waits, source.watches.length], [[10, 20, 40, 80, 100], 5]);
  await follow.tick(1);
  assertEquals([source.watches.length, source.lists.length], [6, 1]);
});

Deno.test("Reflector waits when the server throttles a watch, in the response or in the stream [C012]", async () => {
  const source = new ScriptedSource().watch(refused(429)).watch([], refused(429, { retryAfterSeconds: 5 }))
    .watch([], refused(503));
  await using follow = await live(source);
  await follow.tick(800 + 5_000 + 3_200);
  assertEquals(follow.waits, [800, 5_000, 3_200]);
  assertEquals([source.lists.length, source.watches.length], [1, 4]);
});

Deno.test("Reflector does not list because watches are throttled [C013]", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 4; attempt++) source.watch(refused(429));
  await using follow = await live(source);
  await follow.tick(800 + 1_600 + 3_200 + 6_400);
  assertEquals([source.lists.length, source.watches.length], [1, 5]);
});

// client-go can retry the watch at once for a while; here a server that fails inside is given time, and listed again.
Deno.test("Reflector lists again, after longer and longer waits, while watches fail with 500 [C014]", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 8; attempt++) source.watch([], refused(500));
  await using follow = await live(source);
  for (let attempt = 0; attempt < 8; attempt++) source.list(part(10, []), END);
  await follow.tick(120_000);
  assertEquals(follow.waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  assertEquals([source.lists.length, source.watches.length], [9, 9]);
});

// client-go ends the watch; here it continues.
Deno.test("Reflector resyncs its store at a period, and reports a resync that fails [C015]", async () => {
  const source = new ScriptedSource().watch([]);
  await using follow = await live(source, { resyncMs: 1_000 });
  follow.store.refuses = (note) => note === "resync" && follow.time.now % 2_000 === 0 ? new Error("no") : undefined;
  await follow.tick(3_000);
  assertEquals(follow.store.notes.slice(3), ["resync", "flush 10", "resync", "flush 10"]);
  assertEquals([follow.errors.map(String), source.watches.length], [["Error: no"], 1]);
});

Deno.test("Reflector does not resync its store before the first list", async () => {
  await using follow = new Follow(new ScriptedSource(), { ...PAGES, resyncMs: 1_000 });
  await follow.tick(3_000);
  assertEquals(follow.store.notes, ["replacing"]);
});

Deno.test("Reflector requests watches of 120 to 220 seconds, or of the option's length and up to 1.8 times it [C023] [F04]", async () => {
  for (
    const [options, low, high] of [[{}, 120, 220], [{ watchTimeoutMs: 1_800_000 }, 1_800, 3_240], [
      {
        watchTimeoutMs: 1,
      },
      1,
      1,
    ]] as const
  ) {
    const source = new ScriptedSource();
    for (let attempt = 0; attempt < 50; attempt++) source.watch([bookmark(10)], END);
    await using follow = await live(source, options);
    await follow.tick(42_000);
    const asked = source.watches.map(({ options }) => options.timeoutSeconds!);
    assertEquals(asked.length, 51);
    for (const seconds of asked) assert(Number.isInteger(seconds) && seconds >= low && seconds <= high, `${seconds}`);
    if (high > low) assert(new Set(asked).size > 10, "the length is not by chance");
  }
});

Deno.test("Reflector passes every version to the store, once per batch, after the batch's changes [C024]", async () => {
  const source = new ScriptedSource().watch([added("a", 11)], [modified("a", 20)], [bookmark(30)], [deleted("a", 40)]);
  await using follow = await live(source);
  assertEquals(
    follow.store.notes.slice(3),
    ["add default/a@11", "flush 11", "update default/a@20", "flush 20", "flush 30", "delete default/a@40", "flush 40"],
  );
});

Deno.test("Reflector counts a bookmark as seen only after the store has accepted it", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([], [added("a", 11), bookmark(20)]);
  const seen: string[] = [];
  const follow = new Follow(source.list(part(10, []), END), PAGES, undefined, time);
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
  const source = new ScriptedSource().watch([modified("a", 11)], [added("b", 9)], [bookmark(8)], [added("c", "z")]);
  await using follow = await live(source);
  // After numbers, a version that is no number comes from an odd event: a watch could not resume from it.
  assertEquals(follow.store.flushed, ["10", "11", "11", "11", "11"]);
});

Deno.test("Reflector that watches without a version takes none from the initial events, in any order", async () => {
  const source = new ScriptedSource().list(part("0", []), END)
    .watch([added("a", 9), added("b", 4)], [added("c", 6)], [bookmark(12)], [added("d", 13)]);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  assertEquals(follow.store.flushed, ["0", "0", "0", "12", "13"]);
});

Deno.test("Reflector cancels a silent watch 10 s after the length that it requested [F01]", async () => {
  const source = new ScriptedSource().watch().watch([]);
  await using follow = await live(source);
  source.watches[0].ignoresAbort = true; // a black hole: it does not notice its signal either
  const lastsMs = source.watches[0].options.timeoutSeconds! * 1_000;
  await follow.tick(lastsMs + 9_999);
  assertEquals([follow.waits, follow.reflector.phase.name], [[], "watching"]);
  await follow.tick(1);
  assertEquals([source.lists.length, source.requests.at(-1)], [1, "watch 10"]);
  const phase = follow.phases.find(({ name }) => name === "waiting");
  assert(phase?.name === "waiting" && phase.error instanceof UnreachableError);
  assertStringIncludes(phase.error.message, "the server has not ended the watch 10 s after");
  assertEquals(source.watches[0].over, "returned");
  await follow.tick(800);
  assertEquals([follow.waits, source.watches.length], [[800], 2]);
});

Deno.test("Reflector leaves the length of a watch to the server when its timeout is Infinity", async () => {
  const source = new ScriptedSource().watch([]);
  await using follow = await live(source, { watchTimeoutMs: Infinity });
  await follow.tick(2 ** 31);
  source.newest.send([bookmark(20)]);
  await follow.tick();
  assertEquals([source.watches.length, source.newest.options.timeoutSeconds], [1, undefined]);
});

Deno.test("Reflector resumes a watch 10 s after the length that it requested, even if bytes trickle in [F03]", async () => {
  const source = new ScriptedSource().watch([]).watch([]);
  await using follow = await live(source);
  const [first] = source.watches;
  const lastsMs = first.options.timeoutSeconds! * 1_000;
  for (let elapsed = 0; elapsed < lastsMs + 9_000; elapsed += 1_000) {
    first.send([]);
    await follow.tick(1_000);
  }
  assertEquals(source.watches.length, 1);
  await follow.tick(1_000);
  assertEquals([source.requests.slice(1), first.over], [["watch 10", "watch 10"], "returned"]);
});

Deno.test("Reflector lists at the version it has seen when a watch from it has expired, in the response or in the stream [F05]", async () => {
  for (const steps of [[expired()], [[], expired()], [[added("a", 12)], expired()]]) {
    const source = new ScriptedSource().watch(...steps).watch([]);
    await using follow = await live(source);
    await follow.tick(800);
    source.lists.at(-1)!.send(part(20, []), END);
    await follow.tick();
    const from = steps.length === 2 && Array.isArray(steps[0]) && steps[0].length > 0 ? "12" : "10";
    assertEquals(source.requests.slice(2), [`list ${from} NotOlderThan limit=500`, "watch 20"]);
    assertEquals(follow.waits, [800]);
  }
});

Deno.test("Reflector waits longer before each list while versions expire, until a watch lasts, and reports all but the first", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 9; attempt++) source.watch([], [bookmark(10)], expired());
  await using follow = await live(source);
  for (let list = 0; list < 9; list++) source.list(part(10, []), END);
  await follow.tick(25_600 + 30_000 * 3 + 25_200);
  assertEquals(follow.waits, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000]);
  const errors = follow.phases.flatMap((phase) => phase.name === "waiting" ? [phase.error] : []);
  assertEquals(errors.map((error) => error === undefined), [true, ...Array(8).fill(false)]);
  await follow.tick(10_000);
  source.newest.send([]);
  await follow.tick();
  source.newest.send(expired());
  await follow.tick();
  assertEquals(follow.waits.at(-1), 800);
});

Deno.test("Reflector's waits start short again only when a watch delivers, or stays open for 10 s", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 3; attempt++) source.watch([], refused(429));
  source.watch([], [bookmark(10)], refused(429)).watch([], refused(429));
  await using follow = await live(source);
  await follow.tick(800 + 1_600 + 3_200 + 800 + 1_600);
  assertEquals(follow.waits, [800, 1_600, 3_200, 800, 1_600]);
  source.newest.send([]);
  await follow.tick(9_999);
  source.newest.send(refused(429));
  await follow.tick();
  assertEquals(follow.waits.at(-1), 3_200);
  await follow.tick(3_200);
  source.newest.send([]);
  await follow.tick(10_000);
  source.newest.send(refused(429));
  await follow.tick();
  assertEquals(follow.waits.at(-1), 800);
});

Deno.test("Reflector whose watches are cut again and again resumes within a second if they deliver or last a second", async () => {
  for (const [lastsMs, sent] of [[30_000, []], [1_000, []], [10, [bookmark(11)]]] as const) {
    await using follow = await live(new ScriptedSource().watch([]), { reconnectMs: 1_000 });
    const { source } = follow;
    for (let cut = 0; cut < 12; cut++) {
      source.newest.send(sent);
      await follow.tick(lastsMs);
      source.watch([]).newest.send(new UnreachableError("connection reset by peer"));
      await follow.tick(1_000);
      assertEquals([source.lists.length, source.watches.length], [1, cut + 2], `${lastsMs} ms, cut ${cut}`);
    }
    assert(new Set(follow.waits).size > 6, "waits are by chance");
    // One that breaks at once is another matter.
    for (const wait of [...Array(8).fill(800), 1_600, 3_200, 5_000, 5_000]) {
      source.watch([]).newest.send(new UnreachableError("connection reset by peer"));
      await follow.tick(wait);
      assertEquals(follow.waits.at(-1), wait);
    }
  }
});

Deno.test("Reflector waits at most 5 s while the server is unreachable, and 30 s while it answers with errors", async () => {
  for (
    const [error, longest] of [[new UnreachableError("connection refused"), 5_000], [refused(500), 30_000]] as const
  ) {
    const source = new ScriptedSource();
    for (let attempt = 0; attempt < 60; attempt++) source.list(error);
    await using follow = new Follow(source, { ...PAGES, backoff: {} });
    await follow.tick(600_000);
    const last = follow.waits.slice(12);
    assert(last.length > 8 && last.every((wait) => wait >= longest / 2 && wait <= longest), `${last}`);
    assert(new Set(last).size > 8, "waits are by chance");
  }
});

Deno.test("Reflector starts ten requests without a wait, then one a second, whatever the server answers, and reports it", async () => {
  const source = new ScriptedSource();
  // Each list is answered, and each watch delivers something and ends: with no time between, nothing else would wait.
  for (let attempt = 0; attempt < 100; attempt++) source.watch([bookmark(10)], END);
  await using follow = await live(source);
  await follow.tick();
  assertEquals([source.lists.length, source.watches.length], [1, 9]);
  const { phase } = follow.reflector;
  assert(phase.name === "waiting" && phase.error instanceof RequestRateError);
  assertStringIncludes(phase.error.message, "Cannot watch immediately");
  await follow.tick(20_000);
  assertEquals(source.watches.length, 29);
  assertEquals(follow.reflector.counters.recentResumes, 28);
  await follow.tick(60_000);
  assertEquals(follow.reflector.counters.recentResumes, 60);
});

Deno.test("Reflector waits before each list when watches deliver events and then expire", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 2_000; attempt++) {
    source.list(part(10, []), END).watch([], [added("a", 11)], expired());
  }
  await using follow = new Follow(source, { ...PAGES, backoff: {} });
  await follow.tick(60_000);
  assert(source.lists.length <= 8, `${source.lists.length} lists`);
});

Deno.test("Reflector relists the newest state at once when a relist is requested, and reports that when its watch ends", async () => {
  const source = new ScriptedSource().watch([]);
  await using follow = await live(source);
  source.list(part(30, [entry("z", 29)]), END).watch([]);
  const reason = new Error("the store has an object that the server does not know");
  follow.reflector.relist(reason);
  follow.reflector.relist(reason);
  await follow.tick();
  assertEquals(source.requests.slice(2), ["list - limit=500", "watch 30"]);
  assertEquals([follow.stored, follow.waits, source.watches[0].over], [["default/z@29"], [], "returned"]);
  const { lastWatchEnd, recentRelists, recentResumes } = follow.reflector.counters;
  assertEquals(lastWatchEnd, { at: follow.time.now, reason: "a list was asked for", error: reason });
  assertEquals([recentRelists, recentResumes], [1, 0]);
});

Deno.test("Reflector reports the outcome of a failed watch, and counts that it was resumed", async () => {
  const error = refused(500);
  const source = new ScriptedSource().watch([], new UnreachableError("cut")).watch([], error).watch([]);
  await using follow = await live(source);
  assertEquals(follow.reflector.counters.lastWatchEnd?.reason, "cut");
  await follow.tick(800);
  const { lastWatchEnd, recentResumes } = follow.reflector.counters;
  assertEquals([lastWatchEnd, recentResumes], [{ at: follow.time.now, reason: error.message, error }, 1]);
});

Deno.test("Reflector reports a watch that the server ended, and how long it lasted", async () => {
  const source = new ScriptedSource().watch([]).watch([]);
  await using follow = await live(source);
  await follow.tick(3_000);
  source.newest.send(END);
  await follow.tick();
  assertEquals(follow.reflector.counters.lastWatchEnd, {
    at: follow.time.now,
    reason: "the server ended it after 3 s",
  });
});

Deno.test("Reflector that is stopped while it watches reports no failure and no end of a watch", async () => {
  await using follow = await live(new ScriptedSource().watch([]));
  await follow.stop();
  const { failures, lastWatchEnd } = follow.reflector.counters;
  assertEquals([failures, lastWatchEnd], [0, undefined]);
  assertEquals(follow.phases.map(({ name }) => name), ["listing", "watching", "watching", "stopped"]);
});

Deno.test("Reflector keeps no memory of a watch that has ended", async () => {
  let watch: WeakRef<object> | undefined;
  const source = new ScriptedSource().list(part(10, []), END);
  const error = refused(500); // made here: the stack of an error keeps what is on it alive
  source.watchChanges = () => {
    const changes = new ScriptedSource().watch([], error).watchChanges();
    watch = new WeakRef(changes);
    return changes;
  };
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  assertEquals(follow.reflector.phase.name, "waiting");
  await collectHeap();
  assertEquals(watch?.deref(), undefined);
});

Deno.test("Reflector ignores a requested relist while it lists, and lists the newest state after a wait in which one was requested", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)])).watch([], refused(429))
    .list(part(5, [entry("b", 2)]), END).watch([]);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  follow.reflector.relist(new Error("while it lists"));
  source.lists[0].send(END);
  await follow.tick();
  assertEquals([follow.reflector.phase.name, source.lists.length], ["waiting", 1]);
  follow.reflector.relist(new Error("while it waits"));
  await follow.tick(800);
  assertEquals([follow.reflector.phase.name, source.requests], ["watching", [
    "list 0 limit=500",
    "watch 10",
    "list - limit=500",
    "watch 5",
  ]]);
  assertEquals(follow.stored, ["default/b@2"]);
});

Deno.test("Reflector relists when its store requests that in the middle of a batch, after applying the batch", async () => {
  const source = new ScriptedSource().watch([]);
  await using follow = await live(source);
  follow.store.refuses = (note) => {
    if (note === "add default/a@11") follow.reflector.relist(new Error("ask the server"));
    return undefined;
  };
  source.newest.send([added("a", 11), added("b", 12)], [added("c", 13)]);
  await follow.tick();
  assertEquals(follow.stored, ["default/a@11", "default/b@12"]);
  assertEquals(source.requests.slice(2), ["list - limit=500"]);
});

Deno.test("Reflector relists when onPhase requests that as a watch begins, without that watch", async () => {
  const source = new ScriptedSource().list(part(10, []), END).list(part(30, [entry("z", 29)]), END).watch([]);
  let isAsked = false;
  await using follow: Follow = new Follow(source, {
    ...PAGES,
    onPhase: (phase) => {
      if (phase.name !== "watching" || isAsked) return;
      isAsked = true;
      follow.reflector.relist(new Error("ask the server"));
    },
  });
  await follow.tick();
  assertEquals(source.requests, ["list 0 limit=500", "list - limit=500", "watch 30"]);
  assertEquals(follow.stored, ["default/z@29"]);
});

Deno.test("Reflector reports an error thrown by onError as uncaught, and continues", async () => {
  const uncaught: unknown[] = [];
  const listener = (event: ErrorEvent): void => {
    event.preventDefault();
    uncaught.push(event.error);
  };
  addEventListener("error", listener);
  try {
    const thrown = new Error("a broken log");
    const source = new ScriptedSource().list(part(3, [entry("a", 1), nameless(2)]), END).watch([]);
    await using follow = new Follow(source, {
      ...PAGES,
      onError: () => {
        throw thrown;
      },
    });
    await follow.tick();
    assertEquals([uncaught, follow.stored, source.requests.length], [[thrown], ["default/a@1"], 2]);
  } finally {
    removeEventListener("error", listener);
  }
});

Deno.test("Reflector lists when eight watches in a row end at once without an event, as its version may have expired [F05]", async () => {
  const source = new ScriptedSource();
  for (let attempt = 0; attempt < 7; attempt++) source.watch([], END);
  source.watch([bookmark(11)], END);
  for (let attempt = 0; attempt < 8; attempt++) source.watch(END);
  await using follow = await live(source, { backoff: { initialMs: 2_000, maxMs: 2_000, jitter: 0 } });
  await follow.tick(14 * 2_000);
  // One that said something was among them, so none of the lists is due.
  assertEquals([source.lists.length, source.watches.length], [1, 16]);
  source.list(part(30, []), END).watch([]);
  await follow.tick(2_000);
  assertEquals(source.requests.slice(-2), ["list 11 NotOlderThan limit=500", "watch 30"]);
  assertEquals(follow.reflector.lastSyncResourceVersion, "30");
});

Deno.test("Reflector counts lists, watches and events", async () => {
  const source = new ScriptedSource().watch([added("a", 11), modified("a", 12), bookmark(13)], refused(429)).watch([]);
  await using follow = await live(source);
  const at = follow.time.now;
  await follow.tick(800);
  const { lists, pages, watches, events, failures, lastBookmarkAt, lastByteAt } = follow.reflector.counters;
  assertEquals([lists, pages, watches, events, failures], [1, 1, 2, 2, 1]);
  assertEquals([lastBookmarkAt, lastByteAt], [at, at + 800]);
});
