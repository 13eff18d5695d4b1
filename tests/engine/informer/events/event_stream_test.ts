import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { Pacer } from "../../../../src/engine/async/turns.ts";
import { errorLine } from "../../../../src/engine/errors/errors.ts";
import type { InformerEvent } from "../../../../src/engine/informer/events/event.ts";
import { WaitError } from "../../../../src/engine/informer/status.ts";
import {
  added,
  bookmark,
  deleted,
  entry,
  expired,
  modified,
  part,
  type Thing,
  unparsable,
} from "../../../support/sources/fixtures.ts";
import { holding, line, Run } from "../../../support/sources/informer.ts";
import { CountedController } from "../../../support/times/listeners.ts";
import { END, ScriptedSource } from "../../../support/sources/scripted_source.ts";

async function take(events: AsyncIterator<InformerEvent<Thing>>, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    lines.push(line(value));
  }
  return lines;
}

Deno.test("events() starts at the first next(), with the objects cached then", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const events = run.informer.events();
  await run.send(modified("a", 11), added("b", 12));
  assertEquals(run.informer.status().handlers, []);
  assertEquals(await take(events, 3), ["+ default/a@11 (initial)", "+ default/b@12 (initial)", "= 2 at 12"]);
  assertEquals(run.informer.status().handlers, [{ name: "events 1", pending: 0, errors: 0, slow: false }]);
  await run.send(deleted("a", 13));
  assertEquals(run.informer.status().handlers[0].pending, 1);
  assertEquals(await take(events, 1), ["- default/a@13"]);
  await events.return!();
});

Deno.test("events() that starts before the informer has synced yields the first list as initial", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const events = run.informer.events();
  const first = take(events, 2);
  await run.start();
  assertEquals(await first, ["+ default/a@1 (initial)", "= 1 at 10"]);
  await events.return!();
});

Deno.test("events() leaves nothing behind when its loop is left", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  for (let round = 0; round < 3; round++) {
    for await (const event of run.informer.events({ resyncMs: 1_000 })) {
      assertEquals(event.type, "added");
      break;
    }
  }
  assertEquals([run.informer.status().handlers, run.time.timers], [[], 1]); // the watch's idle limit
});

Deno.test("events() ends without an error when its signal aborts", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const stop = new AbortController();
  const events = run.informer.events({ signal: stop.signal });
  await take(events, 2);
  const waiting = events.next();
  await run.tick();
  stop.abort(new Error("enough"));
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals(await events.next(), { done: true, value: undefined });
  const late = run.informer.events({ signal: stop.signal });
  assertEquals(await late.next(), { done: true, value: undefined });
  assertEquals(run.informer.status().handlers, []);
});

Deno.test("events() removes its listener from its signal when the stream ends", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const stop = new CountedController();
  const events = run.informer.events({ signal: stop.signal });
  await events.next();
  assertEquals(stop.listeners, 1);
  await events.return!();
  assertEquals(stop.listeners, 0);
});

Deno.test("events() counts and reports an error of its filter, and leaves the object out", async () => {
  await using run = await new Run(holding(entry("a", 1), entry("b", 1))).start();
  const events = run.informer.events({
    filter: ({ metadata }) => {
      if (metadata.name === "a") throw new Error("not this one");
      return true;
    },
  });
  assertEquals(await take(events, 2), ["+ default/b@1 (initial)", "= 2 at 10"]);
  assertEquals([run.complaints, run.informer.status().handlers[0].errors], [["Error: not this one"], 1]);
  await events.return!();
});

Deno.test("events() answers calls of next() in order", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const events = run.informer.events();
  const asked = Array.from({ length: 4 }, () => events.next());
  await run.send(modified("a", 11));
  await run.send(modified("a", 12));
  const results = await Promise.all(asked);
  assertEquals(
    results.map(({ value }) => line(value)),
    ["+ default/a@1 (initial)", "= 1 at 10", "~ default/a@1→11", "~ default/a@11→12"],
  );
  const pending = [events.next(), events.next()];
  await run.tick();
  await events.return!();
  assertEquals((await Promise.all(pending)).map(({ done }) => done), [true, true]);
});

Deno.test("events() ends when the informer stops, and rejects when that had stopped before", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const events = run.informer.events();
  const never = run.informer.events();
  await take(events, 2);
  const waiting = events.next();
  await run.informer[Symbol.asyncDispose]();
  assertEquals((await waiting).done, true);
  await assertRejects(() => never.next(), Error, 'Cannot read events of the informer of "objects": it has stopped');
});

Deno.test("events() yields events of objects that pass its filter", async () => {
  await using run = await new Run(holding(entry("a", 1), entry("b", 1, { size: 2 }))).start();
  const events = run.informer.events({ filter: ({ spec }) => spec.size === 2 });
  assertEquals(await take(events, 2), ["+ default/b@1 (initial)", "= 2 at 10"]);
  const next = take(events, 2);
  await run.send(modified("b", 11), modified("a", 12), modified("a", 13, { size: 2 }));
  assertEquals(await next, ["- default/b@1", "+ default/a@13"]);
  await events.return!();
});

Deno.test("until() resolves with the first object that its predicate accepts, cached or later", async () => {
  await using run = await new Run(holding(entry("a", 1), entry("b", 1, { size: 5 }))).start();
  const { informer } = run;
  assertEquals((await informer.until(({ spec }) => spec.size === 5)).metadata.name, "b");
  const named = informer.until(({ spec }) => spec.size === 5, { key: "default/a" });
  const coming = informer.until(({ spec }) => spec.size === 7);
  await run.send(modified("b", 11, { size: 6 }), modified("b", 12, { size: 7 }), modified("a", 13, { size: 5 }));
  assertEquals([(await named).metadata.name, (await coming).metadata.resourceVersion], ["a", "12"]);
  assertEquals(informer.status().handlers, []);
});

/** Fails unless the promise is settled after a few others: not behind one for each cached object. */
async function soon(promise: Promise<unknown>): Promise<void> {
  let settled = false;
  promise.finally(() => settled = true);
  for (let i = 0; i < 50; i++) await Promise.resolve();
  assert(settled);
}

Deno.test("until() with a key and untilDeleted() look up their object only, however many others are cached and change", async () => {
  const others = Array.from({ length: 2_000 }, (_, i) => entry(`other-${i}`, 1));
  for (const when of ["late", "early"]) {
    await using run = new Run(holding(...others, entry("a", 1)));
    const { informer } = run;
    if (when === "late") await run.start();
    const read: string[] = [];
    const until = (size: number): Promise<Thing> =>
      informer.until((object) => (read.push(object.metadata.name), object.spec.size === size), { key: "default/a" });
    const waits = { cached: until(1), coming: until(2), gone: informer.untilDeleted("default/a"), passing: until(3) };
    const stop = new AbortController();
    const never = assertRejects(() => informer.until(() => true, { key: "default/none", signal: stop.signal }));
    if (when === "late") await soon(waits.cached);
    else await run.start();
    await waits.cached;
    await soon(informer.untilDeleted("default/none"));
    await run.send(modified("a", 11, { size: 3 }), ...others.map(({ name }) => modified(name, 12)));
    await waits.passing;
    await run.send(modified("a", 13, { size: 2 }), deleted("a", 14));
    assertEquals((await waits.coming).metadata.resourceVersion, "13");
    await waits.gone;
    stop.abort(new Error("enough"));
    await never;
    assertEquals([new Set(read), informer.status().handlers], [new Set(["a"]), []], when);
  }
});

Deno.test("until() skips objects that cannot be read", async () => {
  await using run = await new Run(holding(unparsable("a", 1), entry("b", 1))).start();
  assertEquals((await run.informer.until(() => true)).metadata.name, "b");
  assertEquals([run.errors.length, run.informer.status().quarantined], [1, 1]);
});

Deno.test("until() rejects with what the predicate throws, when its signal aborts, and when the informer stops", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const { informer } = run;
  const thrown = new Error("bad predicate");
  assertStrictEquals(
    await assertRejects(() =>
      informer.until(() => {
        throw thrown;
      })
    ),
    thrown,
  );
  const stop = new AbortController();
  const aborted = assertRejects(() => informer.until(() => false, { signal: stop.signal }));
  await run.tick();
  stop.abort(thrown);
  const error = await aborted;
  assert(error instanceof WaitError);
  assertEquals([error.cause, error.reason, error.state], [thrown, thrown, "live"]);
  const stopped = assertRejects(() => informer.until(() => false), WaitError, "has stopped");
  const gone = assertRejects(() => informer.untilDeleted("default/a"), WaitError, "it has stopped");
  await run.tick();
  await informer[Symbol.asyncDispose]();
  await Promise.all([stopped, gone]);
  assertEquals(informer.status().handlers, []);
});

Deno.test("untilDeleted() resolves at once for an object that is not cached, else at its deletion, even if another one follows", async () => {
  await using run = new Run(holding(entry("a", 1), entry("b", 1)));
  const { informer } = run;
  const done: string[] = [];
  const note = (name: string) => (): void => void done.push(name);
  const absent = informer.untilDeleted("default/none").then(note("none"));
  await run.tick();
  assertEquals(done, []); // before the sync nobody knows
  await run.start();
  await absent;
  const waits = [
    informer.untilDeleted("default/a").then(note("a")),
    informer.untilDeleted("default/b").then(note("b")),
  ];
  await run.send(modified("a", 11));
  assertEquals(done, ["none"]);
  await run.send(deleted("a", 12), added("a", 13));
  await run.relist(expired(), 20, [entry("a", 13)]);
  await Promise.all(waits);
  assertEquals(done, ["none", "a", "b"]);
});

Deno.test("waitForVersion() resolves when the cache has reached the version by a change, bookmark or list [F16]", async () => {
  await using run = new Run(holding(entry("a", 1)));
  const { informer } = run;
  const reached: string[] = [];
  const wait = (version: string): Promise<void> =>
    informer.waitForVersion(version).then(() => void reached.push(version));
  const waits = [wait("9"), wait("11"), wait("15"), wait("100")];
  await run.tick();
  assertEquals(reached, []);
  await run.start();
  assertEquals(reached, ["9"]);
  await informer.waitForVersion("10");
  await run.send(modified("a", 11));
  assertEquals([reached, informer.indexer.getByKey("default/a")?.metadata.resourceVersion], [["9", "11"], "11"]);
  await run.send(bookmark(99));
  assertEquals(reached, ["9", "11", "15"]);
  await run.relist(expired(), 1_000, []);
  await Promise.all(waits);
});

Deno.test("waitForVersion() rejects when a list has an older version, when the informer stops, when its signal aborts, and for an invalid version", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const { informer } = run;
  for (const version of ["", "x1", "01", "-5"]) await assertRejects(() => informer.waitForVersion(version), RangeError);
  const stop = new AbortController();
  const aborted = assertRejects(() => informer.waitForVersion("50", { signal: stop.signal }), WaitError);
  stop.abort(new Error("enough"));
  assertEquals(
    errorLine(await aborted).replaceAll(/[\d.]+ s\b/g, "0 s"),
    'Cannot wait for version 50 of "objects": given up after 0 s, its state has been "live" for 0 s: enough',
  );
  const back = assertRejects(
    () => informer.waitForVersion("50"),
    Error,
    "Cannot wait for version 50: the server went back from 10 to 7",
  );
  run.source.list(expired());
  await run.relist(expired(), 7, []);
  await back;
  const stopped = assertRejects(() => informer.waitForVersion("50"), Error, "it has stopped");
  await informer[Symbol.asyncDispose]();
  await stopped;
  await informer.waitForVersion("7"); // seen is seen
  await assertRejects(() => informer.waitForVersion("8"), Error, "it has stopped");
});

Deno.test("waitForVersion() rejects on a server whose versions are not numbers", async () => {
  const source = new ScriptedSource().list(part("abc", []), END).watch([]);
  await using run = await new Run(source).start();
  const error = await assertRejects(() => run.informer.waitForVersion("5"), RangeError);
  assert(error.message.includes('"abc"'));
});

Deno.test("waitForVersion() that is waiting rejects when the server's versions turn out not to be numbers", async () => {
  await using run = new Run(new ScriptedSource().list(part("abc", []), END).watch([]));
  const waiting = assertRejects(() => run.informer.waitForVersion("50"), RangeError, '"abc"');
  await run.start();
  await waiting;
});

Deno.test("waitForVersion() goes on after one event whose version is no number", async () => {
  await using run = new Run(new ScriptedSource().list(part("10", []), END).watch([]));
  await run.start();
  const waiting = run.informer.waitForVersion("50");
  await run.send(added("a", "abc"));
  await run.send(added("b", "50"));
  await waiting;
});

Deno.test("until({ key }) and untilDeleted() read no event of another object, however many wait", async () => {
  await using run = await new Run(holding(entry("a", 1))).start();
  const { step } = Pacer.prototype;
  let steps = 0;
  Pacer.prototype.step = function (): boolean {
    steps++;
    return step.call(this);
  };
  using _restore = { [Symbol.dispose]: () => void (Pacer.prototype.step = step) };
  /** The number of steps of all readers while 50 changes of other objects arrive. */
  const counted = async (from: number): Promise<number> => {
    steps = 0;
    for (let version = from; version < from + 50; version++) await run.send(modified("other", version));
    return steps;
  };
  const alone = await counted(11);
  const waits = Array.from({ length: 100 }, (_, i) => [
    run.informer.until(({ metadata }) => metadata.name === `w-${i}`, { key: `default/w-${i}` }),
    run.informer.until(() => false, { key: "default/a" }),
    run.informer.untilDeleted("default/a"),
  ]).flat();
  const settled = Promise.allSettled(waits);
  await run.tick();
  assertEquals(await counted(111), alone);
  await run.send(added("w-7", 200));
  assertEquals((await waits[21] as Thing).metadata.resourceVersion, "200");
  await run.informer[Symbol.asyncDispose]();
  assertEquals((await settled).filter(({ status }) => status === "fulfilled").length, 1);
});
