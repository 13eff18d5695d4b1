import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { FakeApiServer } from "../../../../src/testing/mod.ts";
import { ask, brief, ConfigMap, fiveMaps, Lines, MAPS, Pod } from "../../../support/servers/fake_server.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

function maps(options = {}): FakeApiServer {
  const server = new FakeApiServer(options);
  fiveMaps(server);
  return server;
}

Deno.test("failNext refuses the given number of requests, and no more", async () => {
  const server = maps();
  server.failNext(503, 2);
  assertEquals((await ask(server, MAPS)).json.reason, "ServiceUnavailable");
  assertEquals((await ask(server, MAPS)).status, 503);
  assertEquals((await ask(server, MAPS)).status, 200);
  assertThrows(() => server.failNext(500, 0), RangeError, "times must be a whole number of at least 1");
});

Deno.test("failNext waits for the request that its filter matches", async () => {
  const server = maps();
  server.failNext(500, 1, (request) => request.verb === "watch" && request.resource === "pods");
  server.failNext(504, 1, (request) => request.verb === "watch");
  assertEquals((await ask(server, MAPS)).status, 200);
  assertEquals((await ask(server, "/api/v1/pods?watch=1")).status, 500);
  assertEquals((await ask(server, "/api/v1/pods?watch=1")).status, 504);
});

Deno.test("breakNext breaks the connection instead of responding", async () => {
  const server = maps();
  server.breakNext();
  await assertRejects(() => server.fetch(new Request(`http://fake${MAPS}`)), TypeError, "Connection reset");
  assertEquals((await ask(server, MAPS)).status, 200);
  assertEquals(server.requests.map((request) => request.status), [0, 200]);
});

Deno.test("latency delays responses, and an aborted request does not wait", async () => {
  using time = new FakeTime();
  const server = maps();
  server.latency(100);
  let status = 0;
  const answer = ask(server, MAPS).then((answer) => status = answer.status);
  await time.tickAsync(99);
  assertEquals(status, 0);
  await time.tickAsync(1);
  await answer;
  assertEquals(status, 200);
  const controller = new AbortController();
  const aborted = server.fetch(new Request(`http://fake${MAPS}`, { signal: controller.signal }));
  const reason = new Error("enough");
  controller.abort(reason);
  assertEquals(await assertRejects(() => aborted), reason);
  assertEquals(time.timers, 0);
  server.latency(0);
  assertEquals((await ask(server, MAPS)).status, 200);
  assertThrows(() => server.latency(-1), RangeError);
});

Deno.test("requests records requests, without credentials", async () => {
  const server = maps();
  const headers = { authorization: "Bearer secret", "user-agent": "test/1" };
  await ask(server, `${MAPS}?limit=1`, { headers });
  await ask(server, MAPS, { method: "POST", body: { metadata: { name: "x" } } });
  const [list, create] = server.requests;
  assertEquals([list.method, list.path, list.query.get("limit"), list.verb], ["GET", MAPS, "1", "list"]);
  assertEquals([list.resource, list.namespace, list.body, list.status], ["configmaps", "answers", undefined, 200]);
  assertEquals([list.headers.get("authorization"), list.headers.get("user-agent")], ["[redacted]", "test/1"]);
  assertEquals([create.verb, create.body, create.status], ["create", '{"metadata":{"name":"x"}}', 201]);
});

Deno.test("dropWatches breaks the connections, of one resource or all", async () => {
  const server = maps();
  const first = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  const pods = await Lines.open(server, "/api/v1/pods?watch=1&resourceVersion=6");
  server.dropWatches(Pod);
  await assertRejects(() => pods.next(), TypeError, "Connection reset");
  assertEquals(server.watches, 1);
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(brief(await first.next()), "DELETED map-0@7");
  server.dropWatches();
  assertEquals(server.watches, 0);
  await assertRejects(() => first.next(), TypeError, "Connection reset");
});

Deno.test("endWatches ends watches cleanly, after queued events", async () => {
  const server = maps();
  await using watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  server.delete(ConfigMap, "answers/map-0");
  server.endWatches();
  assertEquals(server.watches, 0);
  server.delete(ConfigMap, "answers/map-1");
  assertEquals((await watch.all()).map(brief), ["ADDED map-4@6", "DELETED map-0@7"]);
  assertEquals(watch.rest, "");
});

Deno.test("truncateWatches ends inside a line, now or at the next event", async () => {
  const server = maps();
  await using quiet = await Lines.open(server, "/api/v1/pods?watch=1&resourceVersion=6");
  await using busy = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  await using armed = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  server.truncateWatches(Pod);
  assertEquals(await quiet.all(), []);
  assert(
    '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata"'.startsWith(quiet.rest) &&
      quiet.rest !== "",
  );
  server.truncateWatches(ConfigMap, "nextEvent");
  assertEquals(server.watches, 2);
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(server.watches, 0);
  for (const watch of [busy, armed]) {
    assertEquals((await watch.all()).map(brief), ["ADDED map-4@6"]);
    assert(watch.rest.startsWith('{"type":"DELETED","object":{"kind":"ConfigMap"'), watch.rest);
    assertThrows(() => JSON.parse(watch.rest), SyntaxError);
  }
  await using late = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=5`);
  server.truncateWatches();
  assertEquals((await late.all()).map(brief), ["ADDED map-4@6", "DELETED map-0@7"]);
  assert(late.rest.startsWith('{"type":"MODIFIED","object":'));
});

Deno.test("cutInCharacter splits a character between two chunks, without losing bytes", async () => {
  const server = maps();
  const response = await server.fetch(new Request(`http://fake${MAPS}?watch=1&resourceVersion=6`));
  const reader = response.body!.getReader();
  const read = async (): Promise<Uint8Array> => (await reader.read()).value!;
  server.cutInCharacter();
  server.patch(ConfigMap, "answers/map-0", { data: { k: "ascii" } });
  assertEquals((await read()).at(-1), 10);
  server.patch(ConfigMap, "answers/map-0", { data: { k: "日本" } });
  const [head, tail] = [await read(), await read()];
  assertEquals(head.at(-1), 0xe6);
  assertEquals([...tail.slice(0, 2)], [0x97, 0xa5]);
  const line = new TextDecoder().decode(new Uint8Array([...head, ...tail]));
  assertEquals(JSON.parse(line).object.data.k, "日本");
  server.patch(ConfigMap, "answers/map-0", { data: { k: "é" } });
  assertEquals((await read()).at(-1), 10);
  await reader.cancel();
});

Deno.test("stallWatches holds back all events, and the end, until it is disposed", async () => {
  using time = new FakeTime();
  const server = maps();
  await using stalled = await Lines.open(
    server,
    `${MAPS}?watch=1&resourceVersion=6&timeoutSeconds=5&allowWatchBookmarks=true`,
  );
  let received = 0;
  const all = stalled.all().then((events) => {
    received = events.length;
    return events;
  });
  const stall = server.stallWatches();
  await using other = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(brief(await other.next()), "DELETED map-0@7");
  await time.tickAsync(60_000);
  assertEquals(received, 0);
  stall[Symbol.dispose]();
  stall[Symbol.dispose]();
  assertEquals((await all).map(brief), ["DELETED map-0@7", "BOOKMARK @7"]);
});

Deno.test("stallWatches lets a stalled watch be cancelled", async () => {
  using time = new FakeTime();
  const server = maps();
  const watch = await Lines.open(server, `${MAPS}?watch=1&resourceVersion=6`);
  using _stall = server.stallWatches(ConfigMap);
  const next = watch.next();
  const reason = new Error("silent for too long");
  watch.abort(reason);
  assertEquals(await assertRejects(() => next), reason);
  assertEquals([server.watches, time.timers], [0, 0]);
});
