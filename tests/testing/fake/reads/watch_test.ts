import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask, brief, ConfigMap, fiveMaps, Lines, MAPS, Pod, Widget } from "../../../support/servers/fake_server.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

const STREAM = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";

function maps(options = {}): FakeApiServer {
  const server = new FakeApiServer(options);
  fiveMaps(server);
  return server;
}

Deno.test("FakeApiServer sends a bookmark every minute and one before the end, if the version has changed", async () => {
  using time = new FakeTime();
  const server = maps();
  await using watch = await Lines.open(
    server,
    `${MAPS}?watch=1&resourceVersion=6&timeoutSeconds=65&allowWatchBookmarks=true`,
  );
  // Of another kind: the watch does not see it, its bookmarks do.
  server.create(Pod, { metadata: { name: "a" } });
  await time.tickAsync(60_000);
  assertEquals(brief(await watch.next()), "BOOKMARK @7");
  server.create(Pod, { metadata: { name: "b" } });
  await time.tickAsync(3_000);
  assertEquals(brief(await watch.next()), "BOOKMARK @8");
  await time.tickAsync(2_000);
  assertEquals(await watch.all(), []);
});

Deno.test("FakeApiServer sends bookmarks only to watches that request them", async () => {
  const server = maps({ bookmarkMs: 10 });
  await using plain = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  await using asked = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6&allowWatchBookmarks=true`);
  server.bookmark();
  server.delete(ConfigMap, "answers/map-0");
  assertEquals((await asked.take(2)).map(brief), ["BOOKMARK @6", "DELETED map-0@7"]);
  assertEquals(brief(await plain.next()), "DELETED map-0@7");
});

Deno.test("FakeApiServer can be set to send bookmarks more often", async () => {
  using time = new FakeTime();
  const server = maps({ bookmarkMs: 100 });
  await using watch = await Lines.open(
    server,
    `${MAPS}?watch=1&resourceVersion=5&timeoutSeconds=1&allowWatchBookmarks=true`,
  );
  const all = watch.all();
  await time.tickAsync(1_000);
  assertEquals((await all).map(brief), ["ADDED map-4@6", ...Array(9).fill("BOOKMARK @6")]);
});

Deno.test("FakeApiServer streams a list in the order of keys, and then changes", async () => {
  const server = maps();
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "a" } });
  await using watch = await Lines.open(server, `${MAPS}?${STREAM}`);
  assertEquals(
    (await watch.take(7)).map(brief),
    ["ADDED a@7", ...[0, 1, 2, 3, 4].map((map) => `ADDED map-${map}@${map + 2}`), "BOOKMARK @7"],
  );
  server.delete(ConfigMap, "answers/a");
  assertEquals(brief(await watch.next()), "DELETED a@8");
});

Deno.test("FakeApiServer starts a watch at the current version if sendInitialEvents is false", async () => {
  const server = maps();
  const path = `${MAPS}?watch=1&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`;
  await using watch = await Lines.open(server, path);
  server.delete(ConfigMap, "answers/map-3");
  assertEquals(brief(await watch.next()), "DELETED map-3@7");
});

Deno.test("FakeApiServer sends nothing to a watch from a version of the future until that is reached", async () => {
  const server = maps();
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=8`);
  for (const name of ["map-0", "map-1", "map-2"]) server.delete(ConfigMap, `answers/${name}`);
  assertEquals(brief(await watch.next()), "DELETED map-2@9");
});

Deno.test("FakeApiServer keeps a watch open whose start is compacted", async () => {
  const server = maps();
  await using open = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  server.create(Pod, { metadata: { name: "a" } });
  server.compact();
  await using late = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  assertEquals((await late.all()).map(({ object }) => object.message), ["too old resource version: 6 (7)"]);
  assertEquals(server.watches, 1);
  await using newest = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=7`);
  server.delete(ConfigMap, "answers/map-0");
  for (const watch of [open, newest]) assertEquals(brief(await watch.next()), "DELETED map-0@8");
});

Deno.test("FakeApiServer watches one namespace, or all of them", async () => {
  const server = new FakeApiServer();
  await using one = await Lines.open(server, "/api/v1/namespaces/a/configmaps?watch=1&resourceVersion=1");
  await using all = await Lines.open(server, "/api/v1/configmaps?watch=1&resourceVersion=1");
  server.create(ConfigMap, { metadata: { namespace: "b", name: "x" } });
  server.create(ConfigMap, { metadata: { namespace: "a", name: "y" } });
  assertEquals(brief(await one.next()), "ADDED y@3");
  assertEquals((await all.take(2)).map(brief), ["ADDED x@2", "ADDED y@3"]);
});

Deno.test("FakeApiServer ends a watch after one to two times its default length, if none is requested", async () => {
  using time = new FakeTime();
  const server = maps({ watchTimeoutMs: 1_000 });
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  const all = watch.all();
  await time.tickAsync(999);
  assertEquals(server.watches, 1);
  await time.tickAsync(1_001);
  assertEquals(server.watches, 0);
  assertEquals(await all, []);
});

Deno.test("FakeApiServer forgets a watch that is aborted or cancelled", async () => {
  using time = new FakeTime();
  const server = maps();
  const aborted = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6&allowWatchBookmarks=true`);
  const cancelled = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6&allowWatchBookmarks=true`);
  assertEquals([server.watches, time.timers], [2, 4]);
  const reason = new Error("enough");
  const next = aborted.next();
  aborted.abort(reason);
  const error = await assertRejects(() => next);
  assertEquals(error, reason);
  await cancelled[Symbol.asyncDispose]();
  assertEquals([server.watches, time.timers], [0, 0]);
  const controller = new AbortController();
  controller.abort(reason);
  const late = new Request(`http://fake${MAPS}?watch=1`, { signal: controller.signal });
  assertEquals(await assertRejects(() => server.fetch(late)), reason);
  assertEquals(server.watches, 0);
});

Deno.test("FakeApiServer ends all watches when it is disposed, and still answers requests", async () => {
  using time = new FakeTime();
  const server = maps();
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  await time.tickAsync(0);
  server[Symbol.dispose]();
  assertEquals((await watch.all()).map(brief), ["ADDED map-4@6"]);
  assertEquals([server.watches, time.timers], [0, 0]);
  assertEquals((await ask(server, MAPS)).status, 200);
});

Deno.test("FakeApiServer sends an event in the turn of the write", async () => {
  const server = maps();
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  const next = watch.next();
  // Only promises run between here and there, no turn of the event loop.
  let received: unknown;
  next.then((event) => received = event.type);
  server.delete(ConfigMap, "answers/map-0");
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assertEquals(received, "DELETED");
});

Deno.test("FakeApiServer serves watches to BYOB readers, up to a clean end", async () => {
  const server = maps();
  const response = await server.fetch(new Request(`http://fake${MAPS}?watch=1&resourceVersion=6`));
  const reader = response.body!.getReader({ mode: "byob" });
  const waiting = reader.read(new Uint8Array(10_000));
  server.delete(ConfigMap, "answers/map-0");
  const { value } = await waiting;
  assertEquals(brief(JSON.parse(new TextDecoder().decode(value))), "DELETED map-0@7");
  const last = reader.read(new Uint8Array(10));
  server.endWatches();
  assertEquals((await last).done, true);
});

Deno.test("FakeApiServer sends all waiting events in one chunk, up to the chunk size", async () => {
  const server = maps({ chunkBytes: 300 });
  const response = await server.fetch(new Request(`http://fake${MAPS}?watch=1&resourceVersion=1`));
  const reader = response.body!.getReader();
  const first = await reader.read();
  const second = await reader.read();
  assertEquals([first.value!.length, second.value!.length], [300, 300]);
  assertMatch(new TextDecoder().decode(first.value), /^\{"type":"ADDED","object":\{"kind":"ConfigMap"/);
  await reader.cancel();
  assertEquals(server.watches, 0);
});

Deno.test("FakeApiServer replays any part of a random history to watches as it was first sent [F39]", async () => {
  const server = new FakeApiServer();
  server.define(Widget);
  await using watch = await Lines.open(server, "/apis/example.com/v1/widgets?watch=1&resourceVersion=1");
  let writes = 0;
  for (let step = 0; step < 200; step++) {
    const name = `w-${(step * 7) % 13}`;
    if (server.get(Widget, name) === undefined) server.create(Widget, { metadata: { name }, spec: { size: step } });
    else if (step % 5 === 0) server.delete(Widget, name);
    else server.patch(Widget, name, { spec: { size: step } });
    writes++;
  }
  const events = (await watch.take(writes)).map((event) => JSON.stringify(event));
  for (const from of [1, 2, 57, 133, writes]) {
    await using replay = await Lines.open(server, `/apis/example.com/v1/widgets?watch=1&resourceVersion=${from}`);
    const again = await replay.take(writes - from + 1);
    assertEquals(again.map((event) => JSON.stringify(event)), events.slice(from - 1));
  }
  assert(events.every((line) => line.startsWith('{"type":')));
});
