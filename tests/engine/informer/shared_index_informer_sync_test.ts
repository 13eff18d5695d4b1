import { assert, assertEquals, assertRejects, assertStrictEquals, assertStringIncludes } from "@std/assert";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { type InformerStatus, WaitError } from "../../../src/engine/informer/status.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
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
} from "../../support/sources/fixtures.ts";
import { holding, Notes, Run } from "../../support/sources/informer.ts";
import { CountedController } from "../../support/times/listeners.ts";
import { END, ScriptedSource } from "../../support/sources/scripted_source.ts";

Deno.test("waitForCacheSync resolves when the cache equals the server, and at once from then on", async () => {
  await using run = new Run(holding(entry("a", 1)));
  let cached: string[] = [];
  const waiting = run.informer.waitForCacheSync().then(() => cached = run.cached);
  assertEquals(run.informer.hasSynced, false);
  await run.start();
  await waiting;
  assertEquals([cached, run.informer.hasSynced], [["default/a@1"], true]);
  await run.informer.waitForCacheSync({ signal: AbortSignal.abort() }); // done is done
  await run.informer[Symbol.asyncDispose]();
  await run.informer.waitForCacheSync();
});

Deno.test("waitForCacheSync resolves for an empty collection", async () => {
  await using run = new Run(holding());
  const notes = new Notes();
  const registration = run.informer.addEventHandler(notes);
  const waiting = Promise.all([run.informer.waitForCacheSync(), registration.waitForSync()]);
  await run.start();
  await waiting;
  assertEquals(notes.lines, ["= 0 at 10"]);
});

Deno.test("waitForCacheSync rejects at once with the cause when the server refuses before the first sync; the informer keeps trying [F10]", async () => {
  for (
    const [code, state] of [[400, "listing"], [401, "unauthorized"], [403, "forbidden"], [404, "notFound"]] as const
  ) {
    const no = refused(code);
    await using run = new Run(new ScriptedSource().list(no).list(no).list(part(10, []), END).watch([]));
    const { informer } = run;
    const waiting = assertRejects(() => informer.waitForCacheSync(), WaitError);
    const patient = informer.waitForCacheSync({ patient: true });
    await run.start();
    const { state: stated, cause, resource, message } = await waiting;
    assertEquals([stated, cause, resource], [state, no, "objects"]);
    assertEquals(message, `Cannot wait for "objects" to sync: its state has been "${state}" for 0.0 s`);
    assertEquals([informer.status().state, informer.status().cause], [state, no]);
    // Later calls reject in the same way, even while the next list is under way.
    assertStrictEquals((await assertRejects(() => informer.waitForCacheSync(), WaitError)).cause, no);
    await run.tick(800 + 1_600);
    await patient;
    assertEquals([informer.hasSynced, informer.status().state, informer.status().cause], [true, "live", undefined]);
    await informer.waitForCacheSync();
  }
});

Deno.test("waitForCacheSync rejects at once for a kind without resourceVersions, and for a defect of the program", async () => {
  const defect = new TypeError("Map.groupBy is not a function");
  for (
    const [source, message] of [
      [new ScriptedSource().list(part("", []), END), "Create the informer with pollMs"],
      [new ScriptedSource().list(defect), "Map.groupBy is not a function"],
    ] as const
  ) {
    await using run = new Run(source);
    const waiting = assertRejects(() => run.informer.waitForCacheSync(), WaitError);
    await run.start();
    const error = await waiting;
    assertStringIncludes(errorLine(error), message);
  }
});

Deno.test("waitForCacheSync rejects at once for a permission that the runtime misses, and syncs once it is granted", async () => {
  const missing = new Error("Requires net access");
  missing.name = "NotCapable";
  const unreachable = new UnreachableError("Cannot reach it: run with --allow-net=a:1", { cause: missing });
  await using run = new Run(new ScriptedSource().list(unreachable).list(part(10, []), END).watch([]));
  const { informer } = run;
  const waiting = assertRejects(() => informer.waitForCacheSync(), WaitError);
  await run.start();
  assertEquals([(await waiting).cause, (await waiting).state], [unreachable, "unreachable"]);
  await run.tick(1_000);
  await informer.waitForCacheSync();
});

Deno.test("waitForCacheSync continues to wait through temporary failures", async () => {
  const source = new ScriptedSource().list(refused(500)).list(refused(429)).list(new UnreachableError("nobody there"))
    .list(part(10, []), END).watch([]);
  await using run = new Run(source);
  const waiting = run.informer.waitForCacheSync();
  await run.start();
  await run.tick(800 + 1_600 + 3_200);
  await waiting;
  assertEquals(run.errors.length, 3);
});

Deno.test("waitForCacheSync rejects when its signal aborts, and when the informer stops first, with what was wrong", async () => {
  const cause = refused(500);
  await using run = await new Run(new ScriptedSource().list(cause)).start();
  const { informer } = run;
  const stop = new AbortController();
  const aborted = assertRejects(() => informer.waitForCacheSync({ signal: stop.signal }), WaitError);
  await run.tick(300);
  const reason = new Error("enough");
  stop.abort(reason);
  const error = await aborted;
  assertEquals(
    [error.message, error.cause, error.reason],
    ['Cannot wait for "objects" to sync: given up after 0.3 s, its state has been "listing" for 0.3 s', cause, reason],
  );
  assert(Deno.inspect(error).split("\n").length <= 10);
  const waits = [() => informer.waitForCacheSync(), () => informer.waitForCacheSync({ patient: true })]
    .map((wait) => assertRejects(wait, Error, 'Cannot wait for the informer of "objects": it has stopped'));
  await informer[Symbol.asyncDispose]();
  for (const error of await Promise.all(waits)) assertStrictEquals(error.cause, cause);
  await assertRejects(() => informer.waitForCacheSync(), Error, "it has stopped");
  assertEquals(informer.hasSynced, false);
});

Deno.test("SharedIndexInformer calls onError for a failed list as soon as it fails [C090]", async () => {
  const denied = refused(403, { message: "Access Denied" });
  await using run = await new Run(new ScriptedSource().list(denied)).start();
  assertEquals([run.errors, run.informer.status().errors], [[denied], 1]);
  assertEquals(run.complaints, ["StatusError: Cannot do it: Access Denied"]);
});

Deno.test("SharedIndexInformer does not deliver an object that is created and deleted before the end of a streaming relist", async () => {
  const source = new ScriptedSource()
    .watch([added("a", 1), endBookmark(1)], expired())
    .watch([added("a", 1), added("b", 2)], [deleted("b", 3)], [endBookmark(3)]);
  await using run = new Run(source, { reflector: { streamingList: "on" } });
  const notes = run.listen();
  await run.start();
  await run.tick(5_000);
  assertEquals([run.cached, notes.lines], [["default/a@1"], ["+ default/a@1 (initial)", "= 1 at 1"]]);
});

Deno.test("SharedIndexInformer is not live before its watch is answered", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)]), END).watch();
  await using run = new Run(source);
  const { informer } = run;
  await run.start();
  assertEquals([informer.hasSynced, informer.status().state], [true, "listing"]);
  source.newest.send([]);
  await run.tick();
  assertEquals(informer.status().state, "live");
  source.watch();
  source.newest.send(refused(429));
  await run.tick(5_000);
  assertEquals([source.watches.length, informer.status().state], [2, "stale"]); // the second one is not answered yet
});

Deno.test("SharedIndexInformer's status shows its state through a whole life [C094] [F37]", async () => {
  const source = new ScriptedSource().list();
  await using run = new Run(source);
  const { informer } = run;
  const states: string[] = [];
  const note = (): void => {
    const { state, cause, objects, resourceVersion } = informer.status();
    const why = cause === undefined ? "" : `: ${(cause as Error).message.split(": ").at(-1)}`;
    states.push(`${state}, ${objects} at "${resourceVersion}"${why}`);
  };
  note();
  await run.start();
  note();
  source.lists[0].send(part(10, [entry("a", 1)]), END);
  source.watch([]);
  await run.tick();
  note();
  source.watch(refused(429)).watch(new UnreachableError("nobody there")).watch([]);
  source.newest.send(END);
  await run.tick();
  note(); // it ended within a second
  await run.tick(800);
  note();
  await run.tick(1_600);
  note();
  await run.tick(3_200);
  note();
  source.list(refused(403)).list(refused(401)).list(refused(404)).list(part(30, []), END).watch([]);
  source.newest.send(refused(500));
  await run.tick();
  note();
  for (const wait of [6_400, 12_800, 25_600]) {
    await run.tick(wait);
    note();
  }
  await run.tick(30_000);
  note();
  await informer[Symbol.asyncDispose]();
  note();
  assertEquals(states, [
    'idle, 0 at ""',
    'listing, 0 at ""',
    'live, 1 at "10"',
    'stale, 1 at "10": the server ends each watch within a second, without an event',
    'stale, 1 at "10": the test says 429',
    'unreachable, 1 at "10": nobody there',
    'live, 1 at "10"',
    'stale, 1 at "10": the test says 500',
    'forbidden, 1 at "10": the test says 403',
    'unauthorized, 1 at "10": the test says 401',
    'notFound, 1 at "10": the test says 404',
    'live, 0 at "30"',
    'stopped, 0 at "30"',
  ]);
});

Deno.test("SharedIndexInformer's status has counts, and the time of the last change of state", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const { informer } = run;
  const begun = run.time.now;
  await run.tick(5_000);
  assertEquals(informer.status().since, new Date(begun));
  assertEquals([informer.status().lastByteAt, informer.status().lastBookmarkAt], [undefined, undefined]);
  await run.start();
  await run.tick(1_000);
  await run.send(modified("a", 11), bookmark(12));
  const { since, lastByteAt, lastBookmarkAt, events, lists, watches, objects, resourceVersion } = informer.status();
  assertEquals(
    [since, lastByteAt, lastBookmarkAt],
    [begun + 5_000, begun + 6_000, begun + 6_000].map((at) => new Date(at)),
  );
  assertEquals([events, lists, watches, objects, resourceVersion], [1, 1, 1, 1, "12"]);
});

Deno.test("SharedIndexInformer's status has the time of the next request while it waits, and the time since when it is not live", async () => {
  await using run = new Run(new ScriptedSource().list(refused(500)).list(part(10, []), END).watch([]));
  const times = (): (number | undefined)[] => {
    const { retryAt, notLiveSince } = run.informer.status();
    return [retryAt, notLiveSince].map((at) => at === undefined ? undefined : at.getTime() - begun);
  };
  const begun = run.time.now;
  assertEquals(times(), [undefined, undefined]);
  await run.start();
  assertEquals(times(), [800, 0]);
  await run.tick(800);
  assertEquals(times(), [undefined, undefined], "live");
  await run.tick(2_000);
  run.source.watch(new UnreachableError("nobody there"));
  run.source.newest.send(new UnreachableError("nobody there"));
  await run.tick(100);
  assertEquals(times(), [3_600, 2_800]);
  await run.informer[Symbol.asyncDispose]();
  assertEquals(times(), [undefined, 2_800], "it stopped while it waited");
});

Deno.test("SharedIndexInformer's status has the progress of a list, and the time of the list's last bookmark", async () => {
  await using run = new Run(new ScriptedSource().watch([], [added("a", 1), added("b", 2)]), {
    reflector: { streamingList: "auto" },
  });
  const { informer } = run;
  assertEquals(informer.status().listing, undefined);
  await run.start();
  assertEquals(informer.status().listing, { objects: 2 });
  await run.send(added("c", 3));
  assertEquals([informer.status().listing, informer.status().lastBookmarkAt], [{ objects: 3 }, undefined]);
  await run.tick(1_000);
  await run.send(endBookmark(3));
  assertEquals(informer.status().listing, undefined);
  assertEquals(informer.status().lastBookmarkAt, new Date(run.time.now));
});

Deno.test("SharedIndexInformer's status has the number of objects still to come of a list in pages, if the server sends it", async () => {
  const source = new ScriptedSource().list(part(10, [entry("a", 1)], { remainingItemCount: 2 }));
  await using run = await new Run(source).start();
  assertEquals(run.informer.status().listing, { objects: 1, remaining: 2 });
  source.lists[0].send(part(10, [entry("b", 2), entry("c", 3)]));
  await run.tick();
  assertEquals(run.informer.status().listing, { objects: 3, remaining: 2 });
  source.lists[0].send(END);
  await run.tick();
  assertEquals(run.informer.status().listing, undefined);
});

Deno.test("statusChanges() yields the present status, each change of state or cause, and the last status", async () => {
  const source = new ScriptedSource().list(refused(403)).list(part(10, [entry("a", 1)]), END).watch([]);
  await using run = new Run(source);
  const statuses: InformerStatus[] = [];
  const reading = (async (): Promise<void> => {
    for await (const status of run.informer.statusChanges()) statuses.push(status);
  })();
  await run.tick();
  await run.start();
  await run.tick(800);
  await run.informer[Symbol.asyncDispose]();
  await reading;
  const states = statuses.map(({ state }) => state).filter((state, i, all) => state !== all[i - 1]);
  assertEquals(states, ["idle", "listing", "forbidden", "live", "stopped"]);
  assertEquals(statuses.at(-1)?.lists, 2);
});

Deno.test("statusChanges() yields the newest status to a slow reader, and rejects with its signal's reason", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const stop = new AbortController();
  const changes = run.informer.statusChanges({ signal: stop.signal });
  assertEquals((await changes.next()).value.state, "idle");
  await run.start();
  await run.relist(expired(), 20, []);
  const { value } = await changes.next();
  assertEquals([value.state, value.lists], ["live", 2]);
  const waiting = changes.next();
  await run.tick();
  stop.abort(new Error("enough"));
  assertEquals(await waiting, { done: true, value: undefined });
  // Of an informer that has stopped, a late reader receives the last status, and its stream ends.
  await run.informer[Symbol.asyncDispose]();
  const late: string[] = [];
  for await (const { state } of run.informer.statusChanges()) late.push(state);
  assertEquals(late, ["stopped"]);
});

Deno.test("statusChanges() ends at once when its loop is left, also while a next() waits", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const stop = new AbortController();
  const done = { done: true, value: undefined } as const;
  for (const waits of [0, 1, 3]) {
    const changes = run.informer.statusChanges({ signal: stop.signal });
    assertEquals((await changes.next()).value.state, "live");
    const waiting = Array.from({ length: waits }, () => changes.next());
    await run.tick();
    assertEquals(await changes.return!(), done);
    assertEquals(await Promise.all([...waiting, changes.next()]), Array(waits + 1).fill(done));
  }
  const never = run.informer.statusChanges();
  await never.return!();
  assertEquals(await never.next(), done);
});

Deno.test("SharedIndexInformer accepts handlers, indexes and waits in any order around its start [C088]", async () => {
  for (let moment = 0; moment < 6; moment++) {
    const source = new ScriptedSource().list();
    await using run = new Run(source);
    const notes = new Notes();
    let synced: Promise<void> | undefined;
    const add = (now: number): void => {
      if (now !== moment) return;
      synced = run.informer.addEventHandler(notes).waitForSync();
      run.informer.withIndexers({ [`index ${moment}`]: () => ["x"] });
    };
    add(0);
    const running = run.informer.run();
    add(1);
    await run.tick();
    add(2);
    source.lists[0].send(part(10, [entry("a", 1)]));
    await run.tick();
    add(3);
    source.watch([]);
    source.lists[0].send(END);
    add(4);
    await run.tick();
    add(5);
    await synced;
    await run.send(modified("a", 11));
    assertEquals(notes.lines, ["+ default/a@1 (initial)", "= 1 at 10", "~ default/a@1→11"], String(moment));
    await run.informer[Symbol.asyncDispose]();
    await running;
  }
});

Deno.test("SharedIndexInformer that is disposed before it runs is stopped", async () => {
  using time = new FakeTime();
  const run = new Run(undefined, {}, time);
  const waiting = assertRejects(() => run.informer.waitForCacheSync(), Error, "it has stopped");
  await run.informer[Symbol.asyncDispose]();
  await run.informer[Symbol.asyncDispose]();
  await waiting;
  assertEquals([run.informer.status().state, run.source.calls], ["stopped", []]);
});

Deno.test("SharedIndexInformer removes its listener from the signal of run() when it is disposed", async () => {
  await using run = new Run(holding());
  const stop = new CountedController();
  const running = run.informer.run({ signal: stop.signal });
  await run.tick();
  assertEquals(stop.listeners, 1);
  await run.informer[Symbol.asyncDispose]();
  await running;
  assertEquals(stop.listeners, 0);
});

Deno.test("SharedIndexInformer whose signal has aborted before it runs sends no request", async () => {
  using time = new FakeTime();
  const run = new Run(holding(), {}, time);
  await run.informer.run({ signal: AbortSignal.abort() });
  assertEquals([run.informer.status().state, run.source.calls, time.timers], ["stopped", [], 0]);
});
