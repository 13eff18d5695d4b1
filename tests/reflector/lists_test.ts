import { assert, assertEquals } from "@std/assert";
import type { Change } from "../../src/api/lister_watcher.ts";
import { UnreachableError } from "../../src/api/status.ts";
import { FakeTime } from "../support/fake_time.ts";
import {
  added,
  bookmark,
  deleted,
  endBookmark,
  entry,
  expired,
  modified,
  part,
  refused,
  type Thing,
  TOO_LARGE,
} from "../support/fixtures.ts";
import { Follow, PAGES } from "../support/followed_source.ts";
import { END, ScriptedSource, type Step } from "../support/scripted_source.ts";

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
    assertEquals(source.requests, [
      "watch - initial",
      "list 0 limit=500",
      "watch 1",
      "list 1 NotOlderThan limit=500",
      "watch 2",
    ]);
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
  assertEquals(follow.store.notes, [
    "replacing",
    "replace at 2",
    "flush 2",
    "delete default/a@3",
    "add default/d@4",
    "flush 4",
  ]);
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
const CUTS: Readonly<Record<string, Step<readonly Change<Thing>[]>>> = {
  "in good order": END,
  "by a broken connection": new UnreachableError("Cannot read: connection reset"),
};

for (const [how, cut] of Object.entries(CUTS)) {
  Deno.test(`Reflector lists in pages permanently when two streaming lists are cut short ${how}`, async () => {
    const source = new ScriptedSource().watch([a1], cut).watch([a1], cut)
      .list(part(2, [entry("a", 1), entry("b", 2)]), END).watch([], refused(500)).list(part(3, [entry("a", 1)]), END);
    await using follow = new Follow(source);
    await follow.tick(800 + 1_600 + 3_200);
    assertEquals(source.requests, [
      "watch - initial",
      "watch - initial",
      "list 0 limit=500",
      "watch 2",
      "list 2 NotOlderThan limit=500",
      "watch 3",
    ]);
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
