import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { DecodeError, UnreachableError } from "../../src/api/status.ts";
import { Reflector } from "../../src/reflector/reflector.ts";
import {
  deleted,
  entry,
  expired,
  modified,
  nameless,
  part,
  refused,
  type Thing,
  TOO_LARGE,
} from "../support/fixtures.ts";
import { FakeTime } from "../support/fake_time.ts";
import { Follow, NotingStore, PAGES } from "../support/followed_source.ts";
import { END, ScriptedSource } from "../support/scripted_source.ts";

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
  assertEquals(source.requests, [
    "list 0 limit=4",
    "list - limit=4 continue=C1",
    "list - limit=4 continue=C2",
    "watch 10",
  ]);
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
  assertEquals(source.requests, [
    "list 0 limit=500",
    "watch 10",
    "list 10 NotOlderThan limit=500",
    "list - limit=500",
    "watch 20",
  ]);
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
  assertEquals(source.requests.slice(2), [
    "list 10 NotOlderThan limit=4",
    "list - limit=4 continue=C1",
    "list 10 NotOlderThan",
    "watch 15",
  ]);
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
  assertEquals(source.requests, [
    "list 0 limit=500",
    "list - limit=500 continue=C1",
    "list 0",
    "list - limit=500",
    "watch 15",
  ]);
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
    Array(3).fill(
      'DecodeError: Cannot file Thing in namespace "default": it has no metadata.name',
    ),
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
