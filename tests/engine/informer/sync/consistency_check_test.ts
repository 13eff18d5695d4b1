import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import type { Selection } from "../../../../src/engine/api/call_options.ts";
import { onlyMetadata, type Resource } from "../../../../src/engine/api/resource.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { internals } from "../../../../src/engine/errors/internals.ts";
import { SharedIndexInformer } from "../../../../src/engine/informer/shared_index_informer.ts";
import { CacheDifferenceError, type CheckResult } from "../../../../src/engine/informer/sync/consistency_check.ts";
import { seedGlobals } from "../../../../src/testing/fake/random.ts";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ConfigMap } from "../../../support/servers/fake_server.ts";
import {
  added,
  bookmark,
  deleted,
  entry,
  modified,
  nameless,
  part,
  refused,
  seen,
  type Thing,
  TOO_LARGE,
  unparsable,
} from "../../../support/sources/fixtures.ts";
import { holding, Run } from "../../../support/sources/informer.ts";
import { END, ScriptedSource } from "../../../support/sources/scripted_source.ts";
import { FactoryFixture } from "../_factory_fixture.ts";

/** An informer at version 10 on a scripted server, which has lists for the check behind those of `source`. */
class NotedRun extends Run {
  readonly notes = this.listen();

  override async start(): Promise<this> {
    await super.start();
    this.notes.take();
    return this;
  }
}

function summary({ objects, differences, keys, repair }: CheckResult): string {
  return `${repair}: ${differences} of ${objects} [${keys.join(" ")}]`;
}

function rename({ metadata, ...rest }: Thing): Thing {
  return { ...rest, metadata: { ...metadata, name: `r-${metadata.name}` } };
}

/** The requests since the first list and watch. */
function requests({ source }: Run): string[] {
  return source.requests.slice(2);
}

Deno.test("checkConsistency() of an equal cache is one list at the version of the cache, and no event", async () => {
  const source = holding(entry("a", 1), entry("b", 2)).list(part(10, [entry("a", 1), entry("b", 2)]), END);
  await using run = await new NotedRun(source).start();
  const result = await run.informer.checkConsistency();
  assertEquals(summary(result), "none: 0 of 2 []");
  assertEquals(requests(run), ["list 10 NotOlderThan limit=500"]);
  // Equal objects are not decoded again.
  assertEquals(source.lists[1].options.known?.("default/a"), run.informer.entries.getByKey("default/a"));
  assertEquals([run.notes.take(), run.errors], [[], []]);
  const { differences, lastCheck } = run.informer.status();
  assertEquals([differences, lastCheck], [0, { ...result, at: new Date(run.time.now) }]);
});

Deno.test("checkConsistency() finds a lost change, addition, deletion and successor, reads the objects again and delivers events", async () => {
  const lost = [entry("a", 11), entry("b", 2), entry("d", 14), entry("e", 15, { uid: "new" })];
  const source = holding(entry("a", 1), entry("b", 2), entry("c", 3), entry("e", 4))
    .list(part(15, lost), END)
    .list(part(15, [entry("a", 11)]), END).list(part(15, [entry("d", 14)]), END)
    .list(part(15, [entry("e", 15, { uid: "new" })]), END);
  await using run = await new NotedRun(source).start();
  await run.send(bookmark(15));
  const result = await run.informer.checkConsistency();
  assertEquals(summary(result), "objects: 4 of 4 [default/a default/d default/e default/c]");
  await run.tick();
  assertEquals(
    run.notes.take(),
    ["~ default/a@1→11", "+ default/d@14", "- default/e@4 (unknown)", "+ default/e@15", "- default/c@3 (unknown)"],
  );
  assertEquals(run.cached, seen(lost));
  const reads = source.lists.slice(2).map(({ options }) => options);
  assertEquals(reads.map(({ namespace, fieldSelector, managedFields }) => [namespace, fieldSelector, managedFields]), [
    ["default", "metadata.name=a", "drop"],
    ["default", "metadata.name=d", "drop"],
    ["default", "metadata.name=e", "drop"],
  ]);
  assertEquals(run.informer.status().differences, 4);
  assert(run.errors[0] instanceof CacheDifferenceError);
  assertEquals(run.complaints, [
    'CacheDifferenceError: The cache of "objects" differs from the server in 4 objects ("default/a", "default/d", ' +
    '"default/e", "default/c"): repaired by further reads',
  ]);
});

Deno.test("checkConsistency() reports the first ten keys of many", async () => {
  const things = Array.from({ length: 12 }, (_, i) => entry(`n${String(i).padStart(2, "0")}`, i + 1));
  await using run = await new NotedRun(holding(...things).list(part(20, []), END)).start();
  await run.send(bookmark(20));
  const { differences, keys, repair } = await run.informer.checkConsistency();
  assertEquals([differences, keys.length, keys[0], repair, run.cached], [12, 10, "default/n00", "objects", []]);
  assert(run.complaints[0].includes('"default/n09" and 2 more)'), run.complaints[0]);
});

Deno.test("checkConsistency() waits for changes that are under way, which are no differences", async () => {
  const source = holding(entry("a", 1), entry("c", 3)).list(part(13, [entry("a", 11), entry("b", 12)]), END);
  await using run = await new NotedRun(source).start();
  const checking = run.informer.checkConsistency();
  await run.tick(1_000);
  await run.send(modified("a", 11), added("b", 12), deleted("c", 13));
  assertEquals(summary(await checking), "none: 0 of 2 []");
  assertEquals(run.notes.take(), ["~ default/a@1→11", "+ default/b@12", "- default/c@13"]);
  assertEquals([requests(run).length, run.errors], [1, []]);
});

Deno.test("checkConsistency() takes changes after the version of the list for no differences", async () => {
  const source = holding(entry("a", 1), entry("b", 2), entry("d", 3)).list(part(10, [entry("a", 1)]), part(10, []))
    .list(part(12, []), END);
  await using run = await new NotedRun(source).start();
  const checking = run.informer.checkConsistency();
  await run.tick();
  // Between two parts of the list, "a" and "d" change, "b" is deleted, and "c" is added.
  await run.send(modified("a", 11), deleted("b", 12), added("c", 13), modified("d", 14));
  source.lists[1].send(part(10, [entry("b", 2), entry("d", 3)]), END);
  assertEquals(summary(await checking), "none: 0 of 3 []"); // a read has shown that "b" is gone
  assertEquals(run.cached, ["default/a@11", "default/c@13", "default/d@14"]);
});

Deno.test("checkConsistency() never replaces what the watch has sent meanwhile by an older read", async () => {
  const source = holding(entry("a", 1)).list(part(11, [entry("a", 11)]), END).list(part(11, []));
  await using run = await new NotedRun(source).start();
  await run.send(bookmark(11));
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.send(modified("a", 12));
  source.lists[2].send(part(11, [entry("a", 11)]), END);
  assertEquals(summary(await checking), "objects: 1 of 1 [default/a]");
  await run.tick();
  assertEquals([run.notes.take(), run.cached], [["~ default/a@1→12"], ["default/a@12"]]);
  assertEquals(run.informer.status().outdated, 0);
});

Deno.test("checkConsistency() keeps an object that the watch has added again while another was read", async () => {
  const source = holding(entry("a", 1), entry("b", 2)).list(part(11, [entry("a", 11)]), END)
    .list(part(11, [entry("a", 11)]));
  await using run = await new NotedRun(source).start();
  await run.send(bookmark(11));
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.send(added("b", 12, { uid: "new" }));
  source.lists[2].send(END);
  assertEquals(summary(await checking), "objects: 1 of 1 [default/a]");
  await run.tick();
  assertEquals(run.notes.take(), ["- default/b@2 (unknown)", "+ default/b@12", "~ default/a@1→11"]);
});

Deno.test("checkConsistency() adds an object whose deletion the watch has sent before it was read", async () => {
  const source = holding(entry("a", 1)).list().list(part(12, [entry("a", 12, { uid: "new" })]), END);
  await using run = await new NotedRun(source).start();
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.send(deleted("a", 11), bookmark(12));
  source.lists[1].send(part(12, [entry("a", 12, { uid: "new" })]), END);
  assertEquals(summary(await checking), "objects: 1 of 1 [default/a]");
  await run.tick();
  assertEquals(run.notes.take(), ["- default/a@11", "+ default/a@12"]);
});

Deno.test("checkConsistency() reads objects by names with characters of selectors, and without a namespace", async () => {
  const odd = entry("a,b=c\\d", 11, { namespace: "" });
  await using run = await new NotedRun(holding().list(part(11, [odd]), END).list(part(11, [odd]), END)).start();
  await run.send(bookmark(11));
  assertEquals((await run.informer.checkConsistency()).differences, 1);
  const { fieldSelector, namespace } = run.source.lists[2].options;
  assertEquals([fieldSelector, namespace], ["metadata.name=a\\,b\\=c\\\\d", undefined]);
});

Deno.test("checkConsistency() does not add an object again that the watch has deleted while it was read", async () => {
  const source = holding().list(part(11, [entry("a", 11)]), END).list(part(11, []));
  await using run = await new NotedRun(source).start();
  await run.send(bookmark(11));
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.send(deleted("a", 12));
  source.lists[2].send(part(11, [entry("a", 11)]), END);
  assertEquals(summary(await checking), "none: 0 of 1 []");
  await run.tick();
  assertEquals([run.notes.take(), run.cached], [[], []]);
});

Deno.test("checkConsistency() leaves a state that is newer than the cache to the watch", async () => {
  const source = holding(entry("a", 1)).list(part(11, [entry("a", 11)]), END).list(part(12, [entry("a", 12)]), END);
  await using run = await new NotedRun(source).start();
  await run.send(bookmark(11));
  assertEquals(summary(await run.informer.checkConsistency()), "objects: 1 of 1 [default/a]");
  assertEquals(run.cached, ["default/a@1"]);
  await run.send(modified("a", 12));
  assertEquals([run.notes.take(), run.informer.status().outdated], [["~ default/a@1→12"], 0]);
});

Deno.test("checkConsistency() lists the collection when the watch is silent about objects that differ", async () => {
  const source = holding(entry("a", 1)).list(part(12, [entry("a", 11)]), END);
  await using run = await new NotedRun(source).start();
  const checking = run.informer.checkConsistency();
  await run.tick(89_999);
  assertEquals(source.lists.length, 2);
  source.list(part(13, [entry("a", 11)]), END).watch([]);
  await run.tick(1);
  const result = await checking;
  assertEquals([summary(result), result.reason], [
    "list: 1 of 1 [default/a]",
    "the watch has not reached version 11 for 90 s",
  ]);
  await run.tick();
  assertEquals([run.notes.take(), run.informer.status().resourceVersion], [["~ default/a@1→11"], "13"]);
});

Deno.test("checkConsistency() lists the collection when the server's version is behind the cache's", async () => {
  for (const tooLarge of Object.values(TOO_LARGE)) {
    const source = holding(entry("a", 1), entry("b", 9)).list(tooLarge()).list(part(5, [entry("a", 1)]), END);
    await using run = await new NotedRun(source).start();
    source.list(part(5, [entry("a", 1)]), END).watch([]);
    const result = await run.informer.checkConsistency();
    assertEquals([summary(result), result.reason], [
      "list: 1 of 1 [default/b]",
      "the server's history went back from version 10 to 5",
    ]);
    await run.tick();
    assertEquals(run.notes.take(), ["- default/b@9 (unknown)"]);
    assertEquals(requests(run), ["list 10 NotOlderThan limit=500", "list - limit=500", "list - limit=500", "watch 5"]);
    assertEquals(run.informer.status().resourceVersion, "5");
  }
});

Deno.test("checkConsistency() of a server that is slow to reach the version compares the newest state", async () => {
  const source = holding(entry("a", 1)).list(TOO_LARGE["a message"]()).list(part(10, [entry("a", 1)]), END);
  await using run = await new NotedRun(source).start();
  assertEquals(summary(await run.informer.checkConsistency()), "none: 0 of 1 []");
});

Deno.test("checkConsistency() lists the collection when an object is older on the server than in the cache, or another at its version", async () => {
  const found = [
    [entry("a", 4), "at 4", ["~ default/a@9→4"]],
    [entry("a", 9, { uid: "another" }), "another object at 9", ["- default/a@9 (unknown)", "+ default/a@9"]],
  ] as const;
  for (const [on, was, events] of found) {
    const source = holding(entry("a", 9)).list(part(20, [on]), END).list(part(21, [on]), END);
    await using run = await new NotedRun(source).start();
    await run.send(bookmark(20));
    source.watch([]);
    const result = await run.informer.checkConsistency();
    assertEquals([summary(result), result.reason], [
      "list: 1 of 1 [default/a]",
      `the server's history went back: "default/a" is cached at version 9, and was ${was} when the server was at 20`,
    ]);
    await run.tick();
    assertEquals(run.notes.take(), [...events]);
  }
});

Deno.test("checkConsistency() lists the collection when more than 100 objects differ", async () => {
  const things = Array.from({ length: 101 }, (_, i) => entry(`n${i}`, 11));
  const source = holding().list(part(11, things), END).list(part(11, things), END);
  await using run = await new NotedRun(source).start();
  await run.send(bookmark(11));
  assertEquals((await run.informer.checkConsistency()).repair, "list");
  await run.tick();
  assertEquals([run.cached.length, source.lists.length], [101, 3]);
});

Deno.test("checkConsistency() lists the collection when versions that differ cannot be ordered", async () => {
  const source = holding(entry("a", "x")).list(part("w", [entry("a", "y")]), END).list(
    part("w", [entry("a", "y")]),
    END,
  );
  await using run = await new NotedRun(source).start();
  assertEquals((await run.informer.checkConsistency()).reason, "the server does not order its versions");
  await run.tick();
  assertEquals(run.cached, ["default/a@y"]);
});

Deno.test("checkConsistency() ends when the collection is listed meanwhile", async () => {
  const source = holding(entry("a", 1)).list(part(10, []));
  await using run = await new NotedRun(source).start();
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.relist(refused(500), 20, [entry("a", 15)]);
  assertEquals(summary(await checking), "listed: 0 of 0 []");
  assertEquals([run.cached, source.lists[1].over], [["default/a@15"], "returned"]);
});

Deno.test("statusChanges() yields the result of a check", async () => {
  await using run = await new NotedRun(holding(entry("a", 1)).list(part(10, [entry("a", 1)]), END)).start();
  const statuses = run.informer.statusChanges();
  await statuses.next();
  const [{ value }, result] = await Promise.all([statuses.next(), run.informer.checkConsistency()]);
  assertEquals(value?.lastCheck, { ...result, at: new Date(run.time.now) });
});

Deno.test("checkConsistency() reads pages, and begins anew when a token expires", async () => {
  const source = holding(entry("a", 1), entry("b", 2))
    .list(part(10, [entry("a", 1), entry("gone", 3)], { continue: "t" }), END)
    .list(refused(410, { reason: "Expired" })).list(part(12, [entry("a", 1), entry("b", 2)]), END);
  await using run = await new NotedRun(source, { reflector: { pageSize: 2 } }).start();
  assertEquals(summary(await run.informer.checkConsistency()), "none: 0 of 2 []");
  assertEquals(requests(run), ["list 10 NotOlderThan limit=2", "list - limit=2 continue=t", "list 10 NotOlderThan"]);
});

Deno.test("checkConsistency() rejects with the error of a request, and gives up a list that is silent", async () => {
  await using run = await new NotedRun(holding().list(refused(403))).start();
  await assertRejects(() => run.informer.checkConsistency(), Error, "403");
  const silent = assertRejects(() => run.informer.checkConsistency(), Error, "has not begun to answer for 70 s");
  await run.tick(70_000);
  await silent;
  assertEquals([run.errors, run.informer.status().lastCheck], [[], undefined]);
});

Deno.test("checkConsistency() gives up a read that is silent, and waits for a list that arrives slowly", async () => {
  await using run = await new NotedRun(holding().list()).start();
  await run.send(bookmark(11));
  const silent = assertRejects(() => run.informer.checkConsistency(), Error, "has not begun to answer for 70 s");
  for (const objects of [[], [entry("a", 11)], [entry("b", 2)]]) {
    run.source.lists[1]?.send(part(11, objects));
    await run.tick(60_000);
  }
  run.source.lists[1].send(END);
  await run.tick(70_000);
  await silent;
  assertEquals(run.source.lists.length, 3);
});

Deno.test("A cache is caught up once a check of the newest state has succeeded; those that fail are reported", async () => {
  const source = holding(entry("a", 1)).list(refused(500)).list(part(10, [entry("a", 1)]), END);
  await using run = await new NotedRun(source).start();
  let isOver = false;
  void run.informer[internals].checks.untilChecked(new AbortController().signal).then(() => isOver = true);
  await run.tick();
  assertEquals([isOver, run.complaints], [false, ["StatusError: Cannot do it: the test says 500"]]);
  await run.tick(5_000);
  assertEquals([isOver, run.errors.length, requests(run)], [true, 1, ["list - limit=500", "list - limit=500"]]);

  // The end of the wait, or of the informer, is no failure. The server does not answer.
  const stop = new AbortController();
  const aborted = assertRejects(() => run.informer[internals].checks.untilChecked(stop.signal), Error, "enough");
  await run.tick();
  stop.abort(new Error("enough"));
  await aborted;
  const stopped = run.informer[internals].checks.untilChecked(new AbortController().signal);
  await run.tick();
  await run.informer[Symbol.asyncDispose]();
  await stopped;
  assertEquals(run.errors.length, 1);
});

Deno.test("checkConsistency() of an informer that is paused as it resumes ends with the pause, whichever is first", async () => {
  for (const isFirst of [true, false]) {
    for (let resuming = 0; resuming < 8; resuming++) {
      for (let between = 0; between < 8; between++) {
        await using run = await new NotedRun(holding(entry("a", 1))).start(); // with no list for the check
        const { informer } = run;
        informer.pause();
        await run.tick();
        informer.resume();
        for (let turn = 0; turn < resuming; turn++) await Promise.resolve();
        let end = "none";
        const check = (): Promise<void> =>
          informer.checkConsistency().then(
            () => {},
            (error: Error) => void (end = error.message.replace(/.* (is|was) /, "")),
          );
        if (isFirst) void check();
        else informer.pause();
        for (let turn = 0; turn < between; turn++) await Promise.resolve();
        if (isFirst) informer.pause();
        else void check();
        await run.tick();
        assertEquals(end, "paused", `${isFirst} ${resuming} ${between}`);
      }
    }
  }
});

Deno.test("checkConsistency() rejects when its signal aborts, and when the informer is disposed or paused meanwhile", async () => {
  await using run = await new NotedRun(holding().list(part(10, [])).list(part(10, [])).list(part(10, []))).start();
  const { informer, source } = run;
  const stop = new AbortController();
  const aborted = assertRejects(() => informer.checkConsistency({ signal: stop.signal }), Error, "enough");
  await run.tick();
  stop.abort(new Error("enough"));
  await aborted;
  const paused = assertRejects(() => informer.checkConsistency(), Error, "the informer was paused");
  await run.tick();
  informer.pause();
  await paused;
  await run.tick();
  assertEquals(source.open, 0);
  await assertRejects(() => informer.checkConsistency(), Error, "it is paused");
  source.watch([]);
  informer.resume();
  await run.tick();
  const disposed = assertRejects(() => informer.checkConsistency(), DOMException, "was disposed");
  await run.tick();
  await informer[Symbol.asyncDispose]();
  await disposed;
  await assertRejects(() => informer.checkConsistency(), Error);
  assertEquals(source.lists.length, 4);
});

Deno.test("checkConsistency() is refused before the first list, unless its signal has aborted already: then it rejects with the reason", async () => {
  await using run = new Run(new ScriptedSource());
  await assertRejects(() => run.informer.checkConsistency(), Error, "it has not synced yet");
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => run.informer.checkConsistency({ signal }), Error, "enough");
  await run.start();
  await assertRejects(() => run.informer.checkConsistency(), Error, "it has not synced yet");
});

Deno.test("checkConsistency() of objects without a name or that cannot be read finds no difference", async () => {
  const things = (): Parameters<typeof holding> => [entry("a", 1), nameless(2), unparsable("b", 3)];
  await using run = await new NotedRun(holding(...things()).list(part(10, things()), END)).start();
  const [quarantined] = run.informer.entries.list().filter(({ key }) => key === "default/b");
  assertThrows(() => quarantined.object);
  assertEquals(summary(await run.informer.checkConsistency()), "none: 0 of 3 []");
});

Deno.test("checkConsistency() leaves a renamed object in the cache that the watch brings after the list has shown it", async () => {
  const source = holding(entry("a", 1)).list(part(20, [entry("a", 1), entry("b", 15)]), END);
  await using run = await new NotedRun(source, { transform: rename }).start();
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.send(added("b", 15), bookmark(20));
  assertEquals(summary(await checking), "none: 0 of 2 []");
  assertEquals([run.notes.take(), run.cached], [["+ default/r-b@15"], ["default/r-a@1", "default/r-b@15"]]);
});

Deno.test("checkConsistency() does not take an object for another one that has its name after a rename", async () => {
  const source = holding(entry("a", 1)).list(part(20, [entry("a", 1), entry("r-a", 15)]), END);
  await using run = await new NotedRun(source, { transform: rename }).start();
  const checking = run.informer.checkConsistency();
  await run.tick();
  await run.send(added("r-a", 15), bookmark(20));
  assertEquals(summary(await checking), "none: 0 of 2 []");
  assertEquals(run.cached, ["default/r-a@1", "default/r-r-a@15"]);
});

Deno.test("checkConsistency() that asks for a list while the watch is reconnected gets it", async () => {
  const source = holding(entry("a", 9), entry("b", 10)).list(part(5, [entry("a", 1)]))
    .list(part(5, [entry("a", 1)]), END).watch([]);
  await using run = await new NotedRun(source).start();
  await run.tick(5_000);
  const checking = run.informer.checkConsistency();
  await run.tick();
  run.source.watches[0].send(refused(429)); // the reflector waits
  await run.tick();
  source.lists[1].send(END);
  await run.tick();
  assertEquals((await checking).repair, "list");
  await run.tick(800);
  assertEquals(run.cached, ["default/a@1"]);
});

Deno.test("checkConsistency() compares renamed objects with those that they were", async () => {
  const source = holding(entry("a", 1), entry("b", 2), entry("c", 3))
    .list(part(12, [entry("a", 1), entry("b", 11), entry("d", 12)]), END)
    .list(part(12, [entry("b", 11)]), END).list(part(12, [entry("d", 12)]), END);
  await using run = await new NotedRun(source, { transform: rename }).start();
  await run.send(bookmark(12));
  assertEquals(summary(await run.informer.checkConsistency()), "objects: 3 of 3 [default/r-b default/d default/r-c]");
  assertEquals(run.cached, ["default/r-a@1", "default/r-b@11", "default/r-d@12"]);
  assertEquals(source.lists.slice(2).map(({ options }) => options.fieldSelector), [
    "metadata.name=b",
    "metadata.name=d",
  ]);
});

/** Checks each minute; the length of watches, which is random, is left to the source. */
const CHECKED = { consistencyCheck: { intervalMs: 60_000 }, reflector: { watchTimeoutMs: Infinity } };

Deno.test("consistencyCheck: { intervalMs } checks while the informer is live, at random times", async () => {
  using _random = seedGlobals(() => 0.5);
  const equal = [part(10, [entry("a", 1)]), END] as const;
  const source = holding(entry("a", 1)).list(...equal).list(...equal);
  await using run = await new NotedRun(source, CHECKED).start();
  const { informer } = run;
  await run.tick(65_999);
  assertEquals(source.lists.length, 1);
  await run.tick(1);
  assertEquals([source.lists.length, informer.status().lastCheck?.repair], [2, "none"]);
  informer.pause();
  await run.tick(300_000);
  assertEquals([source.lists.length, run.errors], [2, []]);
  source.watch([]);
  informer.resume();
  await run.tick(72_000);
  assertEquals(source.lists.length, 3);
});

Deno.test("consistencyCheck: { intervalMs } leaves out a check while the informer is not live, and reports none that a pause ends", async () => {
  const source = holding().list().watch();
  await using run = await new NotedRun(source, CHECKED).start();
  await run.tick(72_000);
  assertEquals(source.lists.length, 2);
  run.informer.pause();
  await run.tick();
  run.informer.resume(); // the watch does not open
  await run.tick(100_000);
  assertEquals([source.lists.length, run.informer.status().state, run.errors], [2, "stale", []]);
});

Deno.test("consistencyCheck: { intervalMs } reports checks that fail, and continues", async () => {
  const source = holding().list(refused(403)).list(part(10, []), END);
  await using run = await new NotedRun(source, CHECKED).start();
  await run.tick(72_000);
  assertEquals([run.errors.length, run.informer.status().lastCheck], [1, undefined]);
  await run.tick(72_000);
  assertEquals([run.errors.length, run.informer.status().lastCheck?.repair], [1, "none"]);
});

/** A factory on a server that sends bookmarks, and has three objects in each of three namespaces. */
class Setting extends FactoryFixture {
  constructor() {
    super({}, { bookmarkMs: 1_000 });
    for (const namespace of ["a", "b", "c"]) {
      for (let i = 0; i < 3; i++) this.write(namespace, `n${i}`, 0);
    }
  }

  write(namespace: string, name: string, value: number, server: FakeApiServer = this.server): void {
    const labels = { tier: value % 2 === 0 ? "web" : "db" };
    const data = { value: String(value) };
    const present = server.get(ConfigMap, `${namespace}/${name}`);
    if (present === undefined) server.create(ConfigMap, { metadata: { namespace, name, labels }, data });
    else server.update(ConfigMap, { ...present, metadata: { ...present.metadata, labels }, data });
  }
}

function versions(objects: Iterable<KubernetesObject>): string[] {
  return [...objects].map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`)
    .sort();
}

const SELECTIONS: readonly (readonly [string, Resource<KubernetesObject>, Selection])[] = [
  ["all namespaces", ConfigMap, {}],
  ["one namespace", ConfigMap, { namespace: "a" }],
  ["several namespaces", ConfigMap, { namespaces: ["a", "b"] }],
  ["a label selector", ConfigMap, { labelSelector: "tier=web" }],
  ["a field selector", ConfigMap, { fieldSelector: "metadata.name!=n2" }],
  ["metadata alone", onlyMetadata(ConfigMap), {}],
];

for (const [name, resource, selection] of SELECTIONS) {
  Deno.test(`checkConsistency() repairs an informer of ${name}, and asks for metadata in the list`, async () => {
    await using setting = new Setting();
    const { server, informers, errors } = setting;
    const informer = informers.forResource(resource, { ...selection, freeze: true });
    await setting.start();
    for (
      const change of [
        () => setting.write("a", "n0", 1), // leaves the label selector
        () => setting.write("a", "n1", 2),
        () => setting.write("a", "n9", 2),
        () => server.delete(ConfigMap, "b/n0"),
      ]
    ) {
      server.loseNext();
      change();
      await setting.tick(10);
    }
    // Bookmarks follow the events that were lost.
    await setting.tick(2_000);
    const before = server.requests.length;
    const result = await informer.checkConsistency();
    assert(result.differences >= 2, summary(result));
    const { namespaces, ...rest } = selection;
    const expected = server.list(ConfigMap, rest).filter(({ metadata }) =>
      namespaces === undefined || namespaces.includes(metadata.namespace!)
    );
    assertEquals(versions(informer.indexer.list()), versions(expected));
    const sent = server.requests.slice(before);
    const lists = sent.filter(({ query }) => query.get("fieldSelector")?.includes("metadata.name=") !== true);
    assertEquals(
      new Set(lists.map(({ headers }) => headers.get("accept")?.includes("PartialObjectMetadataList"))).size,
      1,
    );
    assertEquals(errors.length, 1);
    assertEquals((await informer.checkConsistency()).repair, "none");
  });
}

Deno.test("checkConsistency() of two informers of one client runs one at a time, and of two clients at once", async () => {
  await using setting = new Setting();
  const { server, client, informers } = setting;
  const one = informers.forResource(ConfigMap, { namespace: "a" });
  const other = informers.forResource(ConfigMap, { namespace: "b" });
  await setting.start();
  let open = 0;
  let most = 0;
  setting.respond = async (request) => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 100));
    open--;
    return await server.fetch(request);
  };
  const stop = new AbortController();
  const first = one.checkConsistency();
  const given = assertRejects(() => other.checkConsistency({ signal: stop.signal }), Error, "enough");
  const third = other.checkConsistency();
  await setting.tick(50);
  stop.abort(new Error("enough"));
  await given;
  await setting.tick(300);
  await Promise.all([first, third]);
  assertEquals(most, 1);
  using separate = new Client({ server: "http://fake", transport: { fetch: setting.respond } });
  await using alone = new SharedIndexInformer(separate.resource(ConfigMap, { namespace: "a" }));
  void alone.run();
  await setting.tick(1_000);
  const both = [alone.checkConsistency(), one.checkConsistency()];
  await setting.tick(300);
  await Promise.all(both);
  assertEquals([most, client.server.host], [2, "fake"]);
});

Deno.test("checkConsistency() compares a cache that a streaming list has filled with a list in pages, and adds what the stream left out [C045]", async () => {
  await using setting = new Setting();
  const { server, informers } = setting;
  const complete = informers.forResource(ConfigMap);
  const lacking = informers.forResource(ConfigMap, { namespace: "a" });
  setting.respond = async (request) => {
    const response = await server.fetch(request);
    const { pathname, searchParams } = new URL(request.url);
    if (!searchParams.has("sendInitialEvents") || !pathname.includes("/namespaces/a/")) return response;
    const decoder = new TextDecoderStream();
    const without = new TransformStream<string, string>({
      transform: (chunk, controller) =>
        controller.enqueue(chunk.split("\n").filter((line) => !line.includes('"n1"')).join("\n")),
    });
    const body = response.body!.pipeThrough(decoder).pipeThrough(without).pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: response.headers });
  };
  await setting.start();
  assertEquals([complete.indexer.size, lacking.indexer.size], [9, 2]);
  assertEquals([complete.status().lists, lacking.status().lists], [0, 0]);
  const [equal, repaired] = await Promise.all([complete.checkConsistency(), lacking.checkConsistency()]);
  assertEquals([summary(equal), summary(repaired)], ["none: 0 of 9 []", "objects: 1 of 3 [a/n1]"]);
  assertEquals(versions(lacking.indexer.list()), versions(server.list(ConfigMap, { namespace: "a" })));
  const [list] = server.requests.filter(({ query }) => !query.has("watch"));
  assertEquals([list.query.get("limit"), list.headers.get("accept")?.includes("PartialObjectMetadataList")], [
    "500",
    true,
  ]);
});

Deno.test("consistencyCheck: { intervalMs } notices a server whose history went back, and the cache becomes equal to it", async () => {
  await using setting = new Setting();
  const informer = setting.informers.forResource(ConfigMap, { consistencyCheck: { intervalMs: 60_000 } });
  await setting.start();
  const restored = new FakeApiServer({ bookmarkMs: 1_000 });
  setting.write("a", "n0", 7, restored);
  setting.respond = (request) => restored.fetch(request);
  setting.server.dropWatches();
  await setting.tick(30_000);
  setting.write("a", "n1", 8, restored); // the watch begins at a later version, so it is silent
  await setting.tick(20_000);
  assertEquals([informer.indexer.size, informer.status().state], [9, "live"]);
  await setting.tick(40_000);
  assertEquals(versions(informer.indexer.list()), versions(restored.list(ConfigMap)));
  assertEquals(informer.status().lastCheck?.repair, "list");
  assert(setting.errors.some((error) => error.includes("differs from the server")), setting.errors.join());
  setting.write("a", "n2", 9, restored);
  await setting.tick(10);
  assertEquals(versions(informer.indexer.list()), versions(restored.list(ConfigMap)));
});
