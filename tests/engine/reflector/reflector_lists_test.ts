import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { WatchChange } from "../../../src/engine/api/lister_watcher.ts";
import { DecodeError, UnreachableError } from "../../../src/engine/api/status.ts";
import { Reflector } from "../../../src/engine/reflector/reflector.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import {
  added,
  bookmark,
  deleted,
  endBookmark,
  entry,
  expired,
  modified,
  nameless,
  part,
  refused,
  type Thing,
  TOO_LARGE,
} from "../../support/sources/fixtures.ts";
import { Follow, NotingStore, PAGES } from "../../support/sources/followed_source.ts";
import { END, ScriptedSource, type Step } from "../../support/sources/scripted_source.ts";

const a1 = added("a", 1);
const b2 = added("b", 2);

Deno.test("Reflector takes the initial state and later changes from one request [C008]", async () => {
  const source = new ScriptedSource()
    .watch([], [added("foo", 1)], [endBookmark(1)], [modified("foo", 2)], [added("bar", 3), added("baz", 4)]);
  await using follow = new Follow(source);
  await follow.tick(60_000);
  assertEquals(source.requests, ["watch - initial"]);
  assertEquals(follow.stored, ["default/bar@3", "default/baz@4", "default/foo@2"]);
  const { lists, pages, watches, events } = follow.reflector.counters;
  assertEquals([lists, pages, watches, events], [0, 0, 1, 3]);
});

Deno.test("Reflector counts the objects of a streaming list, and notes when the server last sent bytes or a bookmark", async () => {
  const source = new ScriptedSource().watch([], [a1, b2]);
  await using follow = new Follow(source);
  const progress = (): unknown[] => {
    const { listed, remaining, lastByteAt, lastBookmarkAt } = follow.reflector.counters;
    return [listed, remaining, lastByteAt, lastBookmarkAt];
  };
  const start = follow.time.now;
  await follow.tick(100);
  assertEquals(progress(), [2, undefined, start, 0]);
  source.newest.send([modified("a", 3), deleted("b", 4), added("c", 5)]);
  await follow.tick(100);
  assertEquals(progress(), [3, undefined, start + 100, 0]);
  source.newest.send([endBookmark(5)]);
  await follow.tick(100);
  assertEquals(progress(), [undefined, undefined, start + 200, start + 200]);
  source.newest.send([bookmark(6)]);
  await follow.tick(100);
  assertEquals(progress(), [undefined, undefined, start + 300, start + 300]);
});

Deno.test("Reflector applies nothing of a streaming list that was stopped before its end [C030]", async () => {
  await using follow = new Follow(new ScriptedSource().watch([a1]));
  await follow.tick();
  await follow.stop();
  assertEquals([follow.stored, follow.source.requests], [[], ["watch - initial"]]);
  assertEquals(follow.phases.map(({ name }) => name), ["listing", "stopped"]);
  assertEquals(follow.reflector.counters.failures, 0);
});

Deno.test("Reflector lists in pages and then watches when streaming lists are off [C031]", async () => {
  const source = new ScriptedSource().list(part(1, [entry("a", 1)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  assertEquals(follow.stored, ["default/a@1"]);
  assertEquals(source.requests, ["list 0 limit=500", "watch 1"]);
});

Deno.test("Reflector falls back to pages, this time, when a streaming list is refused for any reason [C032]", async () => {
  for (const [code, tries] of [[403, 1], [404, 1], [500, 1]]) {
    const source = new ScriptedSource().watch(refused(code)).list(part(1, [entry("a", 1)]), END)
      .watch([], refused(500)).watch([a1, endBookmark(1)]);
    await using follow = new Follow(source);
    await follow.tick();
    assertEquals(source.requests.slice(0, 3), ["watch - initial", "list 0 limit=500", "watch 1"], String(code));
    await follow.tick(800 * tries);
    // The next list is asked for as a streaming one again.
    assertEquals(source.requests.slice(3), ["watch 1 initial"], String(code));
    assertEquals(follow.stored, ["default/a@1"]);
  }
});

Deno.test("Reflector falls back to pages permanently when the server does not support streaming lists [C033]", async () => {
  for (const code of [400, 422]) {
    const source = new ScriptedSource().watch(refused(code)).list(part(1, [entry("a", 1)]), END)
      .watch([], refused(500)).list(part(2, []), END);
    await using follow = new Follow(source);
    await follow.tick(800);
    assertEquals(
      source.requests,
      ["watch - initial", "list 0 limit=500", "watch 1", "list 1 NotOlderThan limit=500", "watch 2"],
    );
    assertEquals(follow.stored, []);
  }
});

Deno.test("Reflector with streamingList: on does not fall back", async () => {
  const source = new ScriptedSource().watch(refused(422)).watch([a1], END).watch([a1, endBookmark(1)]);
  await using follow = new Follow(source, { streamingList: "on" });
  await follow.tick(800 + 800);
  assertEquals([source.lists.length, source.requests, follow.waits], [0, Array(3).fill("watch - initial"), [800, 800]]);
  assertEquals(follow.stored, ["default/a@1"]);
});

Deno.test("Reflector applies a streaming list at its end bookmark, and continues with the same stream [C034]", async () => {
  const source = new ScriptedSource().watch([a1], [b2], [endBookmark(2)]);
  await using follow = new Follow(source);
  await follow.tick();
  assertEquals(follow.stored, ["default/a@1", "default/b@2"]);
  source.newest.send([modified("a", 3)]);
  await follow.tick();
  assertEquals(follow.stored, ["default/a@3", "default/b@2"]);
  assertEquals(source.requests, ["watch - initial"]);
  assertEquals(follow.store.notes, ["replacing", "replace at 2", "flush 2", "update default/a@3", "flush 3"]);
  const { allowBookmarks, sendInitialEvents } = source.newest.options;
  assertEquals([allowBookmarks, sendInitialEvents], [true, true]);
});

Deno.test("Reflector applies changes and deletions that come before the end of a streaming list [C035]", async () => {
  const source = new ScriptedSource().watch(
    [a1, b2, added("c", 2), added("gone", 2)],
    [modified("a", 3), deleted("c", 4), deleted("c", 4), deleted("gone", 4), bookmark(4)],
    [added("brief", 5), deleted("brief", 5), added("c", 5, { uid: "another" }), deleted("never", 6), endBookmark(6)],
  );
  await using follow = new Follow(source);
  await follow.tick();
  assertEquals(follow.stored, ["default/a@3", "default/b@2", "default/c@5"]);
  assertEquals(follow.store.flushed, ["6"]);
});

Deno.test("Reflector recognizes the end of a streaming list inside a batch; the rest belongs to the watch", async () => {
  const source = new ScriptedSource().watch([a1, b2, endBookmark(2), deleted("a", 3), added("d", 4)]);
  await using follow = new Follow(source);
  await follow.tick();
  assertEquals(
    follow.store.notes,
    ["replacing", "replace at 2", "flush 2", "delete default/a@3", "add default/d@4", "flush 4"],
  );
  const { phase } = follow.reflector;
  assert(phase.name === "watching" && phase.resourceVersion === "4" && phase.open);
});

Deno.test("Reflector waits when the server throttles a streaming list, and does not list in pages [C036]", async () => {
  const source = new ScriptedSource().watch(refused(429)).watch(refused(429, { retryAfterSeconds: 9 }))
    .watch([a1, endBookmark(1)]);
  await using follow = new Follow(source);
  await follow.tick(800 + 9_000);
  assertEquals([source.requests, follow.waits], [Array(3).fill("watch - initial"), [800, 9_000]]);
  assertEquals(follow.stored, ["default/a@1"]);
});

Deno.test("Reflector waits when a streaming list cannot reach the server, and does not list in pages", async () => {
  const refusal = new UnreachableError("Cannot connect: connection refused");
  const source = new ScriptedSource().watch(refusal).watch(refusal).watch(refusal).watch([a1, endBookmark(1)]);
  await using follow = new Follow(source);
  await follow.tick(800 + 800 + 800);
  assertEquals([source.requests, follow.waits], [Array(4).fill("watch - initial"), [800, 800, 800]]);
  assertEquals(follow.stored, ["default/a@1"]);
});

Deno.test("Reflector requests a streaming list once more, after a wait, when it was cut short [C037]", async () => {
  const source = new ScriptedSource().watch([a1], END).watch([a1, b2, endBookmark(2)]);
  await using follow = new Follow(source);
  await follow.tick(799);
  assertEquals([source.requests, follow.stored], [["watch - initial"], []]);
  await follow.tick(1);
  assertEquals([source.requests, follow.stored], [Array(2).fill("watch - initial"), ["default/a@1", "default/b@2"]]);
});

/** Ways to cut a streaming list short, behind its beginning. */
const CUTS: Readonly<Record<string, Step<readonly WatchChange<Thing>[]>>> = {
  "in good order": END,
  "by a broken connection": new UnreachableError("Cannot read: connection reset"),
};

for (const [how, cut] of Object.entries(CUTS)) {
  Deno.test(`Reflector lists in pages permanently when two streaming lists are cut short ${how}`, async () => {
    const source = new ScriptedSource().watch([a1], cut).watch([a1], cut)
      .list(part(2, [entry("a", 1), entry("b", 2)]), END).watch([], refused(500)).list(part(3, [entry("a", 1)]), END);
    await using follow = new Follow(source);
    await follow.tick(800 + 1_600 + 3_200);
    assertEquals(
      source.requests,
      ["watch - initial", "watch - initial", "list 0 limit=500", "watch 2", "list 2 NotOlderThan limit=500", "watch 3"],
    );
    assertEquals(follow.stored, ["default/a@1"]);
  });
}

Deno.test("Reflector forgets that a streaming list was cut short when the next one succeeds", async () => {
  const source = new ScriptedSource().watch([a1], END).watch([a1, endBookmark(1)], refused(500))
    .watch([a1], END).watch([a1, endBookmark(1)]);
  await using follow = new Follow(source);
  await follow.tick(800 + 1_600 + 3_200);
  assertEquals([source.lists.length, source.watches.length], [0, 4]);
});

Deno.test("Reflector lists in pages, this time, when a streaming list ends at once without an event", async () => {
  const source = new ScriptedSource().watch(END).list(part(1, []), END);
  await using follow = new Follow(source);
  await follow.tick();
  assertEquals(source.requests, ["watch - initial", "list 0 limit=500", "watch 1"]);
});

Deno.test("Reflector resumes with a plain watch at the version it has seen when the stream of its list ends [C038]", async () => {
  const source = new ScriptedSource().watch([a1, endBookmark(2), modified("a", 3)], END);
  await using follow = new Follow(source);
  await follow.tick();
  assertEquals([source.requests, follow.waits], [["watch - initial", "watch 3"], []]);
  assertEquals(source.newest.options.sendInitialEvents, undefined);
});

Deno.test("Reflector uses a streaming list again when its version has expired, and keeps the cache meanwhile [C039]", async () => {
  const source = new ScriptedSource().watch([a1, endBookmark(3)], END).watch(expired()).watch();
  await using follow = new Follow(source);
  await follow.tick(800);
  assertEquals(source.requests, ["watch - initial", "watch 3", "watch 3 initial"]);
  assertEquals(follow.stored, ["default/a@1"]);
  source.newest.send([added("b", 7)], [endBookmark(7)]);
  await follow.tick();
  assertEquals(follow.stored, ["default/b@7"]);
});

Deno.test("Reflector does not mistake another bookmark for the end of a streaming list", async () => {
  const source = new ScriptedSource().watch([a1, bookmark(5)]);
  await using follow = new Follow(source);
  await follow.tick(1_000);
  assertEquals([follow.stored, follow.store.flushed, follow.reflector.lastSyncResourceVersion], [[], [], ""]);
});

Deno.test("Reflector has no version before the end of a streaming list, and then that of its bookmark [C041]", async () => {
  const source = new ScriptedSource().watch();
  await using follow = new Follow(source);
  const versions: string[] = [];
  for (const batch of [[], [a1], [modified("a", 2)], [endBookmark(2)]]) {
    source.newest.send(batch);
    await follow.tick();
    versions.push(follow.reflector.lastSyncResourceVersion);
  }
  assertEquals(versions, ["", "", "", "2"]);
});

Deno.test("Reflector lists in pages permanently when a streaming list brings no object for too long before its end [C042]", async () => {
  const source = new ScriptedSource().watch([], [a1]).list(part(9, [entry("a", 1)]), END)
    .watch([], refused(500)).list(part(9, []), END);
  await using follow = new Follow(source);
  await follow.tick(15_000);
  source.newest.send([b2]); // progress: 20 s from here
  await follow.tick(10_000);
  source.newest.send([bookmark(5)]); // none
  await follow.tick(9_999);
  assertEquals(source.requests, ["watch - initial"]);
  await follow.tick(1);
  assertEquals(source.requests, ["watch - initial", "list 0 limit=500", "watch 9"]);
  await follow.tick(800);
  assertEquals(source.requests.slice(3), ["list 9 NotOlderThan limit=500", "watch 9"]);
  assertEquals(follow.stored, []);
});

Deno.test("Reflector retries a streaming list that has not begun in time, as the network is the likely cause", async () => {
  const source = new ScriptedSource().watch().watch([a1, endBookmark(1)]);
  await using follow = new Follow(source);
  await follow.tick(69_999);
  assertEquals([source.requests, source.open], [["watch - initial"], 1]);
  await follow.tick(1 + 800);
  assertEquals([source.requests, source.open], [Array(2).fill("watch - initial"), 1]);
  assertEquals([follow.waits, follow.stored], [[800], ["default/a@1"]]);
  const [, waiting] = follow.phases;
  if (waiting.name !== "waiting") throw new Error(`is ${waiting.name}`);
  assertEquals(waiting.error instanceof UnreachableError, true);
});

Deno.test("Reflector uses streaming lists by default [C043]", async () => {
  for (
    const [streamingList, first] of [["auto", "watch - initial"], ["on", "watch - initial"], [
      "off",
      "list 0 limit=500",
    ], [undefined, "watch - initial"]] as const
  ) {
    await using follow = new Follow(new ScriptedSource(), { streamingList });
    await follow.tick();
    assertEquals(follow.source.requests, [first]);
  }
});

Deno.test("Reflector lists the newest state at once when the version of a streaming list has expired or is too large", async () => {
  for (const [how, fail] of Object.entries({ ...TOO_LARGE, "410": expired })) {
    const source = new ScriptedSource().watch([a1, endBookmark(5)], expired()).watch(fail()).watch([endBookmark(9)]);
    await using follow = new Follow(source);
    await follow.tick(800);
    assertEquals(source.requests, ["watch - initial", "watch 5 initial", "watch - initial"], how);
    assertEquals([follow.stored, follow.waits], [[], [800]], how);
  }
});

Deno.test("Reflector falls back to pages when a streaming list sends ERROR, and drops what it had sent", async () => {
  const source = new ScriptedSource().watch([a1, b2], refused(500)).list(part(9, [entry("z", 3)]), END);
  await using follow = new Follow(source);
  await follow.tick();
  assertEquals(source.requests, ["watch - initial", "list 0 limit=500", "watch 9"]);
  assertEquals(follow.stored, ["default/z@3"]);
});

Deno.test("Reflector falls back to pages when a streaming list never ends while objects trickle in", async () => {
  const source = new ScriptedSource().watch([a1]).list(part(9, [entry("z", 3)]), END);
  await using follow = new Follow(source);
  await follow.tick();
  for (let seconds = 0; seconds < 60; seconds++) {
    assertEquals(source.requests, ["watch - initial"], `after ${seconds} s`);
    source.watches[0].send([{ type: "ADDED", entry: entry(`late-${seconds}`, 10 + seconds) }]);
    await follow.tick(1_000);
  }
  await follow.tick(2 * 61);
  assertEquals(source.requests, ["watch - initial", "list 0 limit=500", "watch 9"]);
  assertEquals(follow.stored, ["default/z@3"]);
});

Deno.test("Reflector gives a streaming list of many objects more time", async () => {
  const source = new ScriptedSource().watch([]);
  await using follow = new Follow(source);
  let objects = 0;
  for (let seconds = 0; seconds < 100; seconds++) {
    source.newest.send(
      Array.from({ length: 600 }, () => ({ type: "ADDED" as const, entry: entry(`object-${objects++}`, 1) })),
    );
    await follow.tick(1_000);
  }
  source.newest.send([endBookmark(9)]);
  await follow.tick();
  assertEquals([source.requests, follow.stored.length], [["watch - initial"], 60_000]);
});

Deno.test("Reflector that is to relist as its streaming list ends closes that stream first", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().watch([a1], [endBookmark(1)]).watch([a1], [endBookmark(2)]);
  const follow: Follow = new Follow(
    source,
    {
      onPhase: ({ name }) => {
        if (name === "watching" && source.calls.length === 1) follow.reflector.relist(new Error("ask the server"));
      },
    },
    undefined,
    time,
  );
  await using _follow = follow;
  await time.tickAsync(60_000);
  assertEquals([follow.store.flushed, source.open], [["1", "2"], 1]);
});

Deno.test("Reflector lists from any state in pages of 500, watches from there, and applies changes [C007]", async () => {
  const source = new ScriptedSource().list(part(1, [entry("foo", 1)]), END)
    .watch([], [modified("foo", 2)], [{ type: "ADDED", entry: entry("bar", 3) }, {
      type: "ADDED",
      entry: entry("baz", 4),
    }]);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  assertEquals(source.requests, ["list 0 limit=500", "watch 1"]);
  assertEquals(source.watches[0].options.allowBookmarks, true);
  assertEquals(follow.stored, ["default/bar@3", "default/baz@4", "default/foo@2"]);
  assertEquals(follow.phases.map(({ name }) => name), ["listing", "watching", "watching"]);
});

Deno.test("Reflector recovers from failed lists and watches, and equals the list after each [C009] [F02]", async () => {
  const source = new ScriptedSource()
    .list(refused(500))
    .list({ entries: [entry("half", 1)] }, new UnreachableError("Cannot read the list: connection reset"))
    .list(part(2, [entry("a", 1), entry("b", 2)]), END)
    .watch(refused(500))
    .list(part(5, [entry("b", 5)]), END)
    .watch([], refused(500))
    .list(part(7, [entry("c", 7)]), END);
  await using follow = new Follow(source, PAGES);
  const states: string[][] = [];
  for (const wait of [0, 800, 800, 3_200, 6_400]) {
    await follow.tick(wait);
    states.push(follow.stored);
  }
  assertEquals(states, [[], [], ["default/a@1", "default/b@2"], ["default/b@5"], ["default/c@7"]]);
  assertEquals(follow.waits, [800, 800, 3_200, 6_400]);
  assertEquals(follow.reflector.counters.failures, 4);
});

Deno.test("Reflector applies all pages of a list in one step [C016]", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
  const page = (from: number, token?: string) =>
    part(10, names.slice(from, from + 4).map((name) => entry(name, 1)), token === undefined ? {} : { continue: token });
  const source = new ScriptedSource().list(page(0, "C1"), END).list(page(4, "C2"), END).list(page(8), END);
  await using follow = new Follow(source, { ...PAGES, pageSize: 4 });
  await follow.tick();
  assertEquals(
    source.requests,
    ["list 0 limit=4", "list - limit=4 continue=C1", "list - limit=4 continue=C2", "watch 10"],
  );
  assertEquals(follow.stored.length, 10);
  assertEquals(follow.store.notes, ["replacing", "replace at 10", "flush 10"]);
  const { lists, pages, watches } = follow.reflector.counters;
  assertEquals([lists, pages, watches], [1, 3, 1]);
});

// client-go leaves the limit out, since with a version it would mean Exact; here the match says what is meant.
Deno.test("Reflector lists in pages a state not older than the version it has seen [C017]", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([], refused(500)).list(part(12, []), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick(800);
  assertEquals(source.requests, ["list 0 limit=500", "watch 10", "list 10 NotOlderThan limit=500", "watch 12"]);
});

// client-go remembers whether the server pages; here every list has a limit.
Deno.test("Reflector requests later lists in pages like the first [C018]", async () => {
  const source = new ScriptedSource()
    .list(part(10, [entry("a", 1)], { continue: "C1" }), END).list(part(10, [entry("b", 1)]), END)
    .watch([], expired())
    .list(part(11, [entry("a", 1)], { continue: "C2" }), END).list(part(11, [entry("b", 1)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick(800);
  assertEquals(source.lists.map(({ options }) => options.limit), [500, 500, 500, 500]);
  assertEquals(follow.stored, ["default/a@1", "default/b@1"]);
});

Deno.test("Reflector that is run again lists a state not older than the version it had seen [C019]", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(part(10, [entry("a", 1)]), END).list(part(11, []), END);
  const store = new NotingStore();
  const reflector = new Reflector<Thing>(source, store, PAGES);
  for (const version of ["10", "11"]) {
    const stop = new AbortController();
    const running = reflector.run({ signal: stop.signal });
    await time.tickAsync(0);
    assertEquals(reflector.lastSyncResourceVersion, version);
    stop.abort();
    await running;
  }
  assertEquals(source.lists.map(({ options }) => options.resourceVersion), ["0", "10"]);
  assertEquals([store.entries.size, source.open, time.timers], [0, 0, 0]);
});

Deno.test("Reflector that is run again after onPhase threw recovers from failures as before", async () => {
  using time = new FakeTime();
  const source = new ScriptedSource().list(refused(500)).list(part(10, [entry("a", 1)]), END);
  let phases = 0;
  const reflector = new Reflector<Thing>(source, new NotingStore(), {
    ...PAGES,
    backoff: { initialMs: 800, jitter: 0 },
    onPhase: () => {
      if (phases++ === 0) throw new Error("the phase is not to my liking");
    },
  });
  await assertRejects(() => reflector.run(), Error, "not to my liking");
  const stop = new AbortController();
  const running = reflector.run({ signal: stop.signal });
  await time.tickAsync(800);
  assertEquals(reflector.lastSyncResourceVersion, "10");
  stop.abort();
  await running;
});

Deno.test("Reflector lists the newest state at once when the version that it requests has expired [C020]", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)]), END).watch([], expired())
    .list(expired()).list(part(20, [entry("b", 20)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick(800);
  assertEquals(
    source.requests,
    ["list 0 limit=500", "watch 10", "list 10 NotOlderThan limit=500", "list - limit=500", "watch 20"],
  );
  assertEquals([follow.stored, follow.waits], [["default/b@20"], [800]]);
});

Deno.test("Reflector waits between lists of the newest state if that expires too", async () => {
  const source = new ScriptedSource().list(expired()).list(expired()).list(expired()).list(part(5, []), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick(800 + 1_600);
  assertEquals(source.lists.map(({ options }) => options.resourceVersion), ["0", undefined, undefined, undefined]);
  assertEquals(follow.waits, [800, 1_600]);
});

Deno.test("Reflector starts its list again, in one page, when a token has expired, and drops the pages before [C021]", async () => {
  const source = new ScriptedSource().list(part(10, []), END).watch([], expired())
    .list(part(11, [entry("old", 3)], { continue: "C1" }), END).list(expired())
    .list(part(15, [entry("new", 14)]), END);
  await using follow = new Follow(source, { ...PAGES, pageSize: 4 });
  await follow.tick(800);
  assertEquals(
    source.requests.slice(2),
    ["list 10 NotOlderThan limit=4", "list - limit=4 continue=C1", "list 10 NotOlderThan", "watch 15"],
  );
  assertEquals([follow.stored, follow.waits], [["default/new@14"], [800]]);
});

Deno.test("Reflector counts the objects of a list in pages that have arrived, from zero when it starts again, and those still to come", async () => {
  const source = new ScriptedSource()
    .list(part(10, [entry("a", 1), entry("b", 2)], { continue: "C1", remainingItemCount: 3 }), END)
    .list(expired()).list(part(15, []));
  await using follow = new Follow(source, { ...PAGES, pageSize: 2 });
  const start = follow.time.now;
  const progress = (): unknown[] => {
    const { listed, remaining, lastByteAt } = follow.reflector.counters;
    return [listed, remaining, lastByteAt - start];
  };
  const asked: unknown[] = [];
  const { listEntries } = source;
  source.listEntries = (options) => {
    asked.push(progress());
    return listEntries.call(source, options);
  };
  await follow.tick(100);
  // When the second page is asked for, and when the list begins anew; then from the first part of that.
  assertEquals([...asked, progress()], [[2, 3, 0], [2, 3, 0], [0, undefined, 0]]);
  source.lists[2].send(part(15, [entry("c", 14)]), part(15, [entry("d", 14)], { remainingItemCount: 1 }));
  await follow.tick(100);
  assertEquals(progress(), [2, 1, 100]);
  source.lists[2].send(END);
  await follow.tick(100);
  assertEquals(progress(), [undefined, undefined, 100]);
});

Deno.test("Reflector lists the newest state when a list that was started again expires as well", async () => {
  const source = new ScriptedSource().list(part(10, [entry("old", 3)], { continue: "C1" }), END)
    .list(expired()).list(expired()).list(part(15, [entry("new", 14)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  assertEquals(
    source.requests,
    ["list 0 limit=500", "list - limit=500 continue=C1", "list 0", "list - limit=500", "watch 15"],
  );
  assertEquals(follow.stored, ["default/new@14"]);
});

Deno.test("Reflector lists the newest state when the server says in any way that its version is too large [C022]", async () => {
  for (const [how, tooLarge] of Object.entries(TOO_LARGE)) {
    const source = new ScriptedSource().list(part(40, [entry("a", 40)]), END).watch([], refused(500))
      .list(tooLarge()).list(part(30, [entry("a", 30)]), END);
    await using follow = new Follow(source, PAGES);
    await follow.tick(800);
    assertEquals(source.requests, [
      "list 0 limit=500",
      "watch 40",
      "list 40 NotOlderThan limit=500",
      "list - limit=500",
      "watch 30",
    ], how);
    assertEquals([follow.stored, follow.reflector.lastSyncResourceVersion], [["default/a@30"], "30"], how);
  }
});

Deno.test("Reflector keeps its objects through a failure, and drops those that the next list does not have [C025]", async () => {
  const unreadable = refused(500, { reason: "InternalError", message: "corrupt object was deleted" });
  const source = new ScriptedSource().list(part(3, [entry("good", 1), entry("corrupt", 2)]), END)
    .watch([], unreadable).list(part(5, [entry("good", 1)]), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick(799);
  assertEquals(follow.stored, ["default/corrupt@2", "default/good@1"]);
  await follow.tick(1);
  assertEquals(follow.stored, ["default/good@1"]);
});

Deno.test("Reflector cancels a list that yields no object for too long, but not a slow one", async () => {
  const source = new ScriptedSource().list().list(part(4, []), END);
  await using follow = new Follow(source, { ...PAGES, listIdleMs: 5_000 });
  await follow.tick(4_000);
  for (const name of ["a", "b", "c"]) {
    source.lists[0].send({ entries: [entry(name, 1)] });
    await follow.tick(4_000);
  }
  assertEquals(source.calls.length, 1);
  source.lists[0].send({ entries: [] }); // bytes, but no object
  await follow.tick(1_000);
  assertEquals([source.open, source.lists[0].over, follow.waits], [0, "returned", [800]]);
  const waiting = follow.reflector.phase;
  if (waiting.name !== "waiting") throw new Error(`is ${waiting.name}`);
  assertEquals(waiting.error instanceof UnreachableError, true);
  assertStringIncludes(
    String(waiting.error),
    "Cannot read the list: the server has sent neither an object nor the end for 5 s",
  );
  await follow.tick(800);
  assertEquals([follow.stored, source.requests.at(-1)], [[], "watch 4"]);
});

Deno.test("Reflector repeats a list after the time that the server's Retry-After says", async () => {
  for (const code of [429, 503]) {
    const source = new ScriptedSource().list(refused(code, { retryAfterSeconds: 30 })).list(part(1, []), END);
    await using follow = new Follow(source, PAGES);
    await follow.tick(29_999);
    assertEquals([source.calls.length, follow.waits], [1, [30_000]]);
    await follow.tick(1);
    assertEquals(source.calls.length, 3);
  }
});

Deno.test("Reflector refuses a list that has no version, and reports it", async () => {
  const source = new ScriptedSource().list({ entries: [entry("a", 1)] }, END).list(part(2, []), END);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  const { phase } = follow.reflector;
  if (phase.name !== "waiting") throw new Error(`is ${phase.name}`);
  assertEquals([phase.error instanceof DecodeError, follow.stored], [true, []]);
});

Deno.test("Reflector skips objects without a name, and reports each", async () => {
  const source = new ScriptedSource().list(part(3, [entry("a", 1), nameless(2), entry("b", 3)]), END)
    .watch([{ type: "ADDED", entry: nameless(4) }, modified("a", 5), { type: "DELETED", entry: nameless(6) }]);
  await using follow = new Follow(source, PAGES);
  await follow.tick();
  assertEquals(follow.stored, ["default/a@5", "default/b@3"]);
  assertEquals(
    follow.errors.map(String),
    Array(3).fill('DecodeError: Cannot store Thing in namespace "default": it has no metadata.name'),
  );
  // What could not be filed was seen all the same.
  assertEquals(follow.reflector.lastSyncResourceVersion, "6");
});

Deno.test("Reflector lists again when the store throws, at any change", async () => {
  for (const what of ["update default/a@3", "flush 3", "delete default/b@3"]) {
    const source = new ScriptedSource().list(part(2, [entry("a", 1), entry("b", 2)]), END)
      .watch([], what.startsWith("delete") ? [deleted("b", 3)] : [modified("a", 3)])
      .list(part(3, [entry("a", 3)]), END);
    await using follow = new Follow(source, PAGES);
    follow.store.refuses = (note) => note === what ? new TypeError("the store is full") : undefined;
    await follow.tick();
    // Not counted as seen before the store has taken it.
    assertEquals([follow.reflector.lastSyncResourceVersion, follow.reflector.phase.name], ["2", "waiting"], what);
    follow.store.refuses = () => undefined;
    await follow.tick(800);
    assertEquals(source.requests.slice(2), ["list 2 NotOlderThan limit=500", "watch 3"], what);
    assertEquals(follow.stored, ["default/a@3"], what);
  }
});

Deno.test("Reflector backs off and lists again when the store refuses a list, in pages or streamed", async () => {
  for (const streamingList of ["off", "auto", "on"] as const) {
    for (const what of ["replacing", "replace at 2", "flush 2"]) {
      const source = new ScriptedSource();
      for (let attempt = 0; attempt < 3; attempt++) {
        source.list(part(2, [entry("a", 1)]), END);
        source.watch([{ type: "ADDED", entry: entry("a", 1) }], [{
          type: "BOOKMARK",
          resourceVersion: "2",
          initialEventsEnd: true,
        }]);
      }
      const store = new NotingStore();
      store.refuses = (note) => note === what ? new TypeError("the store is full") : undefined;
      await using follow = new Follow(source, { streamingList }, store);
      await follow.tick();
      const where = `${streamingList}, ${what}`;
      assertEquals([follow.reflector.lastSyncResourceVersion, follow.reflector.phase.name], ["", "waiting"], where);
      assertEquals(source.open, 0, where);
      store.refuses = () => undefined;
      await follow.tick(800);
      assertEquals([follow.stored, follow.reflector.lastSyncResourceVersion], [["default/a@1"], "2"], where);
    }
  }
});

Deno.test("Reflector recovers from a source that throws before it returns a stream, and leaves no timer", async () => {
  for (const streamingList of ["off", "auto"] as const) {
    using time = new FakeTime();
    const source = new ScriptedSource();
    const broken = {
      listEntries: () => {
        throw new TypeError("the selector makes no sense");
      },
      watchChanges: () => {
        throw new TypeError("the selector makes no sense");
      },
    };
    const reflector = new Reflector<Thing>(broken, new NotingStore(), { streamingList, backoff: { jitter: 0 } });
    const stop = new AbortController();
    const running = reflector.run({ signal: stop.signal });
    await time.tickAsync(0);
    assertEquals([reflector.phase.name, time.timers, source.open], ["waiting", 1, 0]);
    stop.abort();
    await running;
    assertEquals(time.timers, 0);
  }
});

Deno.test("Reflector ends with the error that onPhase throws, in any phase, and leaves nothing behind", async () => {
  for (
    const [name, open] of [["listing", undefined], ["watching", false], ["watching", true], ["waiting", undefined]]
  ) {
    for (const options of [PAGES, {}]) {
      using time = new FakeTime();
      const source = new ScriptedSource().list(part(1, []), END);
      if (options === PAGES) source.watch([], refused(500));
      else source.watch([{ type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: true }], refused(500));
      const wrong = new Error("the phase is not to my liking");
      const reflector = new Reflector<Thing>(source, new NotingStore(), {
        ...options,
        onPhase: (phase) => {
          if (phase.name === name && (open === undefined || (phase.name === "watching" && phase.open === open))) {
            throw wrong;
          }
        },
      });
      const running = assertRejects(() => reflector.run(), Error, wrong.message);
      await time.tickAsync(0);
      await running;
      assertEquals([reflector.phase.name, source.open, time.timers], ["stopped", 0, 0], `${name} ${open}`);
    }
  }
});

Deno.test("Reflector refuses to run twice at the same time", async () => {
  await using follow = new Follow(new ScriptedSource());
  await assertRejects(() => follow.reflector.run(), Error, "Cannot run the reflector: it is running already");
});

Deno.test("Reflector refuses invalid options", () => {
  const make = (options: object) => () => new Reflector<Thing>(new ScriptedSource(), new NotingStore(), options);
  for (const pageSize of [0, -1, 1.5, NaN]) assertThrows(make({ pageSize }), RangeError, "pageSize");
  for (const name of ["watchTimeoutMs", "listIdleMs", "initialEventsTimeoutMs"]) {
    for (const value of [0, -1, NaN]) assertThrows(make({ [name]: value }), RangeError, name);
  }
  for (const resyncMs of [-1, NaN]) assertThrows(make({ resyncMs }), RangeError, "resyncMs");
  for (const reconnectMs of [-1, NaN, Infinity]) assertThrows(make({ reconnectMs }), RangeError, "reconnectMs");
  assertThrows(make({ backoff: { factor: 0.5 } }), RangeError, "factor");
});
