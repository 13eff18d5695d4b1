import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { ask, brief, ConfigMap, fiveMaps, Lines, MAPS, Pod, Widget } from "../../support/fake_server.ts";
import { statusObject } from "../../support/transport.ts";

const STREAM = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
const END = { "k8s.io/initial-events-end": "true" };

function maps(options = {}): FakeApiServer {
  const server = new FakeApiServer(options);
  fiveMaps(server);
  return server;
}

Deno.test("FakeApiServer sends ADDED and DELETED for objects that enter and leave a watch's selection", async () => {
  using time = new FakeTime();
  const server = maps();
  await using watch = await Lines.open(
    server,
    `${MAPS}?watch=1&resourceVersion=6&timeoutSeconds=4&allowWatchBookmarks=true&labelSelector=colour%3Dred`,
  );
  const key = "answers/map-9";
  server.create(ConfigMap, {
    metadata: { namespace: "answers", name: "map-9", labels: { colour: "red" } },
    data: { k: "0" },
  });
  server.patch(ConfigMap, key, { data: { k: "1" } });
  server.patch(ConfigMap, key, { metadata: { labels: { colour: "blue" } } });
  server.patch(ConfigMap, key, { data: { k: "2" } });
  server.patch(ConfigMap, key, { metadata: { labels: { colour: "red" } } });
  server.delete(ConfigMap, key);
  const events = await watch.take(5);
  assertEquals(events.map(brief), [
    "ADDED map-9@7",
    "MODIFIED map-9@8",
    "DELETED map-9@9",
    "ADDED map-9@11",
    "DELETED map-9@12",
  ]);
  // An object that left the selection is delivered in its last selected state.
  assertEquals(events[2].object.metadata.labels, { colour: "red" });
  assertEquals(events[2].object.data, { k: "1" });
  await time.tickAsync(1_999);
  const bookmark = watch.next();
  await time.tickAsync(1);
  assertEquals(await bookmark, {
    type: "BOOKMARK",
    object: { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion: "12" } },
  });
  assertEquals(server.watches, 1);
  await time.tickAsync(2_000);
  assertEquals(await watch.all(), []);
  assertEquals(server.watches, 0);
  assertEquals(time.timers, 0);
});

Deno.test("FakeApiServer ends an idle watch without an event", async () => {
  using time = new FakeTime();
  const server = maps();
  const path = `${MAPS}?watch=1&resourceVersion=6&timeoutSeconds=70&allowWatchBookmarks=true`;
  await using watch = await Lines.open(server, path);
  const all = watch.all();
  await time.tickAsync(69_999);
  assertEquals(server.watches, 1);
  await time.tickAsync(1);
  assertEquals(await all, []);
  assertEquals(watch.rest, "");
});

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

Deno.test("FakeApiServer streams a list in the order of keys, with a bookmark at its end", async () => {
  const server = maps();
  server.create(ConfigMap, { metadata: { namespace: "answers", name: "a" } });
  await using watch = await Lines.open(server, `${MAPS}?${STREAM}`);
  const events = await watch.take(7);
  assertEquals(events.map(brief), [
    "ADDED a@7",
    "ADDED map-0@2",
    "ADDED map-1@3",
    "ADDED map-2@4",
    "ADDED map-3@5",
    "ADDED map-4@6",
    "BOOKMARK @7",
  ]);
  assertEquals(events[6].object, {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { resourceVersion: "7", annotations: END },
  });
  assertEquals(Object.keys(events[0].object), ["kind", "apiVersion", "metadata"]);
  server.delete(ConfigMap, "answers/a");
  assertEquals(brief(await watch.next()), "DELETED a@8");
});

Deno.test("FakeApiServer turns a watch from version 0 or none with bookmarks into a streaming list", async () => {
  for (const version of ["", "&resourceVersion=0"]) {
    const server = maps();
    await using watch = await Lines.open(server, `${MAPS}?watch=1&allowWatchBookmarks=true${version}`);
    const events = await watch.take(6);
    assertEquals(events.map((event) => event.type), ["ADDED", "ADDED", "ADDED", "ADDED", "ADDED", "BOOKMARK"]);
    assertEquals(events[5].object.metadata.annotations, END);
  }
});

Deno.test("FakeApiServer without streaming lists sends the initial objects, but no bookmark at their end", async () => {
  using time = new FakeTime();
  const server = maps({ streamingList: false });
  const path =
    `${MAPS}?watch=1&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=2&fieldSelector=metadata.name%3Dmap-1`;
  await using watch = await Lines.open(server, path);
  const all = watch.all();
  await time.tickAsync(2_000);
  assertEquals((await all).map(brief), ["ADDED map-1@3"]);
  const { status, json } = await ask(server, `${MAPS}?${STREAM}`);
  assertEquals(status, 422);
  assertEquals(json.details.causes, [{
    reason: "FieldValueForbidden",
    message: "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
    field: "sendInitialEvents",
  }]);
});

Deno.test("FakeApiServer sends no end bookmark to watches without bookmarks", async () => {
  using time = new FakeTime();
  for (const query of ["watch=1", "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"]) {
    await using watch = await Lines.open(maps(), `${MAPS}?${query}&timeoutSeconds=1`);
    const all = watch.all();
    await time.tickAsync(1_000);
    assertEquals((await all).map((event) => event.type), ["ADDED", "ADDED", "ADDED", "ADDED", "ADDED"]);
  }
});

Deno.test("FakeApiServer starts a watch at the current version if sendInitialEvents is false", async () => {
  const server = maps();
  const path = `${MAPS}?watch=1&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`;
  await using watch = await Lines.open(server, path);
  server.delete(ConfigMap, "answers/map-3");
  assertEquals(brief(await watch.next()), "DELETED map-3@7");
});

Deno.test("FakeApiServer streams an empty list with its end bookmark", async () => {
  await using watch = await Lines.open(maps(), `/api/v1/namespaces/answers/secrets?${STREAM}`);
  assertEquals(await watch.next(), {
    type: "BOOKMARK",
    object: { kind: "Secret", apiVersion: "v1", metadata: { resourceVersion: "6", annotations: END } },
  });
});

Deno.test("FakeApiServer sends a watch the changes since its version [F39]", async () => {
  const server = maps();
  server.create(Pod, { metadata: { name: "a" } });
  server.delete(ConfigMap, "answers/map-0");
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  assertEquals((await watch.take(2)).map(brief), ["ADDED map-4@6", "DELETED map-0@8"]);
});

Deno.test("FakeApiServer sends nothing to a watch from a version of the future until that is reached", async () => {
  const server = maps();
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=8`);
  for (const name of ["map-0", "map-1", "map-2"]) server.delete(ConfigMap, `answers/${name}`);
  assertEquals(brief(await watch.next()), "DELETED map-2@9");
});

Deno.test("FakeApiServer answers 504 inside a streaming list from a version of the future", async () => {
  const server = maps();
  await using watch = await Lines.open(server, `${MAPS}?${STREAM}&resourceVersion=99999999`);
  assertEquals(watch.response.status, 200);
  assertEquals(await watch.all(), [{
    type: "ERROR",
    object: statusObject(504, "Timeout", "Timeout: Too large resource version: 99999999, current: 6", {
      details: {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      },
    }),
  }]);
  assertEquals(server.watches, 0);
});

Deno.test("FakeApiServer answers 410 inside a watch from a compacted version", async () => {
  const server = maps();
  await using open = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  server.create(Pod, { metadata: { name: "a" } });
  server.compact();
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  assertEquals(watch.response.status, 200);
  assertEquals(await watch.all(), [{
    type: "ERROR",
    object: statusObject(410, "Expired", "too old resource version: 6 (7)"),
  }]);
  assertEquals(server.watches, 1);
  await using newest = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=7`);
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(brief(await newest.next()), "DELETED map-0@8");
  // The watch that stayed open has missed nothing.
  assertEquals(brief(await open.next()), "DELETED map-0@8");
});

Deno.test("FakeApiServer refuses invalid watches as the server does", async () => {
  const server = maps();
  const cases: [query: string, status: number, message: string][] = [
    [
      "watch=1&sendInitialEvents=true&allowWatchBookmarks=true",
      422,
      `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting ` +
      `resourceVersionMatch to NotOlderThan`,
    ],
    [
      "watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=3",
      422,
      `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for ` +
      `watch unless sendInitialEvents is provided`,
    ],
    [
      "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=Exact&resourceVersion=3",
      422,
      `ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting ` +
      `resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: ` +
      `"NotOlderThan"]`,
    ],
    [
      "watch=1&resourceVersion=abc",
      500,
      `resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
    ],
  ];
  for (const [query, status, message] of cases) {
    const answer = await ask(server, `${MAPS}?${query}`);
    assertEquals([answer.status, answer.json.message], [status, message]);
  }
  assertEquals((await ask(server, `${MAPS}?watch=1&resourceVersion=abc`)).json.reason, undefined);
  const { status, json, headers } = await ask(server, "/api/v1/componentstatuses?watch=1");
  assertEquals(status, 405);
  assertEquals(headers.get("warning"), '299 - "v1 ComponentStatus is deprecated in v1.19+"');
  assertEquals(
    json,
    statusObject(405, "MethodNotAllowed", 'watch is not supported on resources of kind "componentstatuses"', {
      details: { kind: "componentstatuses" },
    }),
  );
});

Deno.test("FakeApiServer watches metadata alone, and sends nothing for the kind PartialObjectMetadataList", async () => {
  const server = maps();
  const as = (name: string) => ({ accept: `application/json;as=${name};g=meta.k8s.io;v=v1` });
  await using watch = await Lines.open(server, `${MAPS}?${STREAM}`, as("PartialObjectMetadata"));
  const events = await watch.take(6);
  assertEquals([...new Set(events.map((event) => event.object.kind))], ["PartialObjectMetadata"]);
  assertEquals(Object.keys(events[0].object), ["kind", "apiVersion", "metadata"]);
  assertEquals(events[5].object, {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: "6", annotations: END },
  });
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(brief(await watch.next()), "DELETED map-0@7");
  const wrong = await ask(server, `${MAPS}?${STREAM}`, { headers: as("PartialObjectMetadataList") });
  assertEquals([wrong.status, wrong.text], [200, ""]);
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

Deno.test("FakeApiServer sends the last state of deleted objects, with the version of the deletion", async () => {
  const server = new FakeApiServer();
  server.create(ConfigMap, { metadata: { name: "x", labels: { a: "b" } }, data: { k: "é" } });
  await using watch = await Lines.open(server, "/api/v1/configmaps?watch=1&resourceVersion=2");
  server.delete(ConfigMap, "x");
  const { type, object } = await watch.next();
  assertEquals([type, object.metadata.resourceVersion, object.data], ["DELETED", "3", { k: "é" }]);
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
  const server = maps({ tooLargeDelayMs: 5_000 });
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  const waiting = ask(server, `${MAPS}?resourceVersion=77`);
  await time.tickAsync(0);
  server[Symbol.dispose]();
  assertEquals((await watch.all()).map(brief), ["ADDED map-4@6"]);
  assertEquals((await waiting).status, 504);
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
