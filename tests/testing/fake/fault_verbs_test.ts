import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { Client, DecodeError } from "../../../mod.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";
import { onBoth } from "./_both_transports.ts";
import { ask, brief, ConfigMap, fiveMaps, Lines, MAPS, Pod } from "../../support/servers/fake_server.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

const WATCH = `${MAPS}?watch=1&resourceVersion=6`;
const STREAM = `${MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

onBoth("failNext refuses with any status and Retry-After", async (server, wire) => {
  server.failNext({ code: 429, retryAfterSeconds: 7 }, 2, (request) => request.verb === "watch");
  assertEquals((await ask(wire, MAPS)).status, 200);
  for (let times = 0; times < 2; times++) {
    const refused = await ask(wire, WATCH);
    assertEquals(
      [refused.status, refused.json.reason, refused.headers.get("retry-after")],
      [429, "TooManyRequests", "7"],
    );
  }
  await using watch = await Lines.open(wire, WATCH);
  assertEquals(watch.response.status, 200);
});

onBoth("truncateWatches leaves half a line and a clean end", async (server, wire) => {
  await using watch = await Lines.open(wire, WATCH);
  server.truncateWatches(ConfigMap, "nextEvent");
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(await watch.all(), []);
  assert(watch.rest.startsWith('{"type":"DELETED","object":{'));
  assertThrows(() => JSON.parse(watch.rest), SyntaxError);
});

onBoth("failWatches sends an ERROR and ends", async (server, wire) => {
  await using watch = await Lines.open(wire, WATCH);
  server.failWatches({ code: 500, message: "etcdserver: leader changed" });
  const [{ type, object }, ...more] = await watch.all();
  const { code, reason, message } = object;
  assertEquals([type, code, reason, message], ["ERROR", 500, "InternalError", "etcdserver: leader changed"]);
  assertEquals([more.length, server.watches], [0, 0]);
});

onBoth("stallWatches holds back watch events, and nothing else", async (server, wire) => {
  await using watch = await Lines.open(wire, WATCH);
  const stall = server.stallWatches();
  server.delete(ConfigMap, "answers/map-0");
  let received = false;
  const next = watch.next().then((event) => {
    received = true;
    return event;
  });
  assertEquals((await ask(wire, MAPS)).json.items.length, 4);
  assertEquals(received, false);
  stall[Symbol.dispose]();
  assertEquals(brief(await next), "DELETED map-0@7");
});

onBoth("stallNext sends the headers and nothing more until it is disposed", async (server, wire) => {
  const stall = server.stallNext(1, (request) => request.verb === "list");
  const response = await wire.fetch(new Request(`http://fake${MAPS}`));
  assertEquals(response.status, 200);
  let read = false;
  const body = response.json().then((json) => {
    read = true;
    return json;
  });
  assertEquals((await ask(wire, MAPS)).status, 200); // one answer is stalled, not the next
  assertEquals(read, false);
  stall[Symbol.dispose]();
  assertEquals((await body).items.length, 5);
});

Deno.test("stallNext can be withdrawn before a request, and a stalled response can be aborted", async () => {
  const server = new FakeApiServer();
  server.stallNext()[Symbol.dispose]();
  assertEquals((await ask(server, "/api/v1/pods")).json.items, []);
  using _stall = server.stallNext();
  const watch = await Lines.open(server, "/api/v1/pods?watch=1&resourceVersion=1");
  const next = watch.next();
  const reason = new Error("silent for too long");
  watch.abort(reason);
  assertEquals(await assertRejects(() => next), reason);
  assertEquals(server.watches, 0);
});

Deno.test("spreadNext sends initial events one at a time, and later changes before the end bookmark", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  for (const name of ["map-0", "map-1"]) server.create(ConfigMap, { metadata: { name, namespace: "answers" } });
  server.spreadNext(100, 2, ({ namespace }) => namespace === "answers");
  await ask(server, MAPS); // a list has no initial events
  const watch = await Lines.open(server, STREAM);
  const lines: string[] = [];
  const reading = (async (): Promise<void> => {
    for (let line; (line = await watch.next()) !== undefined;) lines.push(brief(line));
  })();
  const linesAfter = async (ms: number): Promise<string[]> => {
    await time.tickAsync(ms);
    return lines.splice(0);
  };
  assertEquals(await linesAfter(99), []);
  assertEquals(await linesAfter(1), ["ADDED map-0@2"]);
  server.delete(ConfigMap, "answers/map-0");
  server.create(ConfigMap, { metadata: { name: "map-2", namespace: "answers" } });
  server.bookmark(); // is not sent: the version is ahead of the events
  assertEquals(await linesAfter(100), ["ADDED map-1@3"]);
  assertEquals(await linesAfter(200), ["DELETED map-0@4", "ADDED map-2@5"]);
  server.delete(ConfigMap, "answers/map-2");
  assertEquals(await linesAfter(100), ["DELETED map-2@6"]);
  assertEquals(await linesAfter(100), ["BOOKMARK @6"]);
  server.delete(ConfigMap, "answers/map-1");
  assertEquals(await linesAfter(0), ["DELETED map-1@7"]);
  server.endWatches();
  await time.tickAsync(0);
  await reading;
  // The second one ends while its initial events are still to be sent.
  const second = await Lines.open(server, STREAM);
  server.create(ConfigMap, { metadata: { name: "map-3", namespace: "answers" } });
  server.endWatches();
  assertEquals(await second.all(), []);
  assertEquals(time.timers, 0);
  assertThrows(() => server.spreadNext(0), RangeError, "must be at least 1, but it is 0");
});

onBoth("dripNext sends the complete response in small pieces", async (server, wire) => {
  server.dripNext(300, 1);
  const list = await ask(wire, MAPS);
  assertEquals(list.json.items.length, 5);
  assertThrows(() => server.dripNext(0, 1), RangeError, "bytes and milliseconds per chunk must be at least 1");
});

Deno.test("dripNext sends a number of bytes at a time, and the rest when it is disposed", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  const drip = server.dripNext(10, 100, 2);
  const response = await server.fetch(new Request("http://fake/api/v1/pods"));
  let text = "";
  const reading = (async (): Promise<void> => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  await time.tickAsync(0);
  assertEquals(text, '{"kind":"P');
  await time.tickAsync(99);
  assertEquals(text.length, 10);
  await time.tickAsync(201);
  assertEquals(text.length, 40);
  drip[Symbol.dispose]();
  await reading;
  assertEquals(JSON.parse(text).items, []);
  assertEquals((await ask(server, "/api/v1/pods")).status, 200);
  assertEquals(time.timers, 0);
});

onBoth("duplicateNext sends one event twice", async (server, wire) => {
  await using watch = await Lines.open(wire, WATCH);
  server.duplicateNext(Pod);
  server.delete(ConfigMap, "answers/map-0");
  server.duplicateNext();
  server.delete(ConfigMap, "answers/map-1");
  server.delete(ConfigMap, "answers/map-2");
  assertEquals(
    (await watch.take(4)).map(brief),
    ["DELETED map-0@7", "DELETED map-1@8", "DELETED map-1@8", "DELETED map-2@9"],
  );
});

onBoth("reorderNext swaps two events of different objects, and keeps those of one in order", async (server, wire) => {
  await using watch = await Lines.open(wire, WATCH);
  server.reorderNext();
  server.patch(ConfigMap, "answers/map-0", { data: { k: "1" } });
  server.patch(ConfigMap, "answers/map-0", { data: { k: "2" } });
  server.delete(ConfigMap, "answers/map-1");
  server.delete(ConfigMap, "answers/map-2");
  assertEquals(
    (await watch.take(4)).map(brief),
    ["MODIFIED map-0@7", "DELETED map-1@9", "MODIFIED map-0@8", "DELETED map-2@10"],
  );
});

Deno.test("reorderNext sends a held event before a bookmark, an error and the end", async () => {
  const server = new FakeApiServer();
  fiveMaps(server);
  for (
    const [end, then] of [
      [(): void => server.bookmark(), ["BOOKMARK @7"]],
      [(): void => server.failWatches({ code: 500 }), ["ERROR @undefined"]],
      [(): void => server.endWatches(), []],
    ] as const
  ) {
    const before = server.resourceVersion;
    await using watch = await Lines.open(server, `${MAPS}?watch=1&allowWatchBookmarks=1&resourceVersion=${before}`);
    server.reorderNext();
    server.patch(ConfigMap, "answers/map-0", { data: { k: before } });
    end();
    server.endWatches();
    const version = Number(before) + 1;
    assertEquals((await watch.all()).map(brief), [
      `MODIFIED map-0@${version}`,
      ...then.map((line) => line.replace("@7", `@${version}`)),
    ]);
  }
});

Deno.test("reorderNext sends both events in one chunk, however small chunks are", async () => {
  const server = new FakeApiServer({ chunkBytes: 7 });
  fiveMaps(server);
  const response = await server.fetch(new Request(`http://fake${WATCH}`));
  server.reorderNext();
  for (const name of ["map-0", "map-1", "map-2"]) server.delete(ConfigMap, `answers/${name}`);
  server.endWatches();
  const chunks: string[] = [];
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) chunks.push(chunk);
  const [both, ...rest] = chunks;
  assertEquals(both.trimEnd().split("\n").map((line) => brief(JSON.parse(line))), [
    "DELETED map-1@8",
    "DELETED map-0@7",
  ]);
  assert(rest.every((chunk) => chunk.length <= 7));
  assertEquals(brief(JSON.parse(rest.join(""))), "DELETED map-2@9");
});

onBoth("loseNext drops one event, and forceRelist makes all clients list", async (server, wire) => {
  await using watch = await Lines.open(wire, WATCH);
  server.loseNext();
  server.delete(ConfigMap, "answers/map-0");
  server.delete(ConfigMap, "answers/map-1");
  assertEquals(brief(await watch.next()), "DELETED map-1@8");
  server.forceRelist();
  const [error] = await watch.all();
  assertEquals([error.type, error.object.code, error.object.reason], ["ERROR", 410, "Expired"]);
  assertEquals(error.object.message, "too old resource version: 8 (9)");
  // The same for a client that was not connected, and has seen all versions.
  await using again = await Lines.open(wire, `${MAPS}?watch=1&resourceVersion=8`);
  assertEquals((await again.all()).map(({ object }) => object.code), [410]);
  const list = await ask(wire, MAPS);
  assertEquals([list.json.metadata.resourceVersion, list.json.items.length], ["9", 3]);
});

onBoth("corruptNext sends a line that is not JSON", async (server, wire) => {
  for (const where of ["line", "object"] as const) {
    await using watch = await Lines.open(wire, `${MAPS}?watch=1&resourceVersion=${server.resourceVersion}`);
    server.corruptNext(ConfigMap, where);
    server.patch(ConfigMap, "answers/map-0", { data: { k: where } });
    await assertRejects(() => watch.next(), SyntaxError);
    server.patch(ConfigMap, "answers/map-0", { data: { k: `after ${where}` } });
    assertEquals((await watch.next()).object.data.k, `after ${where}`);
  }
});

onBoth("htmlNext answers with a web page", async (server, wire) => {
  server.htmlNext(1, (request) => request.verb === "watch");
  const page = await ask(wire, WATCH);
  assertEquals([page.status, page.headers.get("content-type"), server.watches], [200, "text/html; charset=utf-8", 0]);
  assertMatch(page.text, /^<!DOCTYPE html>/);
});

onBoth("emptyNext answers with an empty body, and does not perform the request", async (server, wire) => {
  server.emptyNext();
  const nothing = await ask(wire, `${MAPS}/map-0`, { method: "DELETE" });
  assertEquals([nothing.status, nothing.text, server.keys(ConfigMap).length], [200, "", 5]);
  assertEquals((await ask(wire, `${MAPS}/map-0`, { method: "DELETE" })).status, 200);
  assertEquals(server.keys(ConfigMap).length, 4);
});

Deno.test("gzipNext sends each chunk as a gzip member of its own", async () => {
  const server = new FakeApiServer();
  fiveMaps(server);
  server.gzipNext();
  const response = await server.fetch(new Request(`http://fake${WATCH}`));
  assertEquals(response.headers.get("content-encoding"), "gzip");
  const reader = response.body!.getReader();
  for (const name of ["map-0", "map-1"]) {
    server.delete(ConfigMap, `answers/${name}`);
    const { value } = await reader.read();
    assertEquals([...value!.slice(0, 2)], [0x1f, 0x8b]);
    const text = await new Response(new Blob([value!]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    assertEquals(JSON.parse(text).object.metadata.name, name);
  }
  await reader.cancel();
  assertEquals(server.watches, 0);
});

onBoth("gzipNext compresses a response whose request did not accept that", async (server, wire) => {
  server.gzipNext();
  if (!wire.http) {
    const list = await server.fetch(new Request(`http://fake${MAPS}`));
    const text = await new Response(list.body!.pipeThrough(new DecompressionStream("gzip"))).text();
    assertEquals(JSON.parse(text).items.length, 5);
    return;
  }
  // `fetch` decompresses and hides it: the bytes themselves.
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: wire.port });
  await connection.write(new TextEncoder().encode(`GET ${MAPS} HTTP/1.1\r\nHost: fake\r\nConnection: close\r\n\r\n`));
  let text = "";
  const buffer = new Uint8Array(16_384);
  for (let size; (size = await connection.read(buffer)) !== null;) {
    text += String.fromCharCode(...buffer.subarray(0, size));
  }
  assertMatch(text, /content-encoding: gzip\r\n/i);
  assert(text.includes("\x1f\x8b"));
});

onBoth("latency delays the requests that arrive while it lasts", async (server, wire) => {
  const order: string[] = [];
  server.latency(30);
  const slow = ask(wire, `${MAPS}?limit=1`).then(() => order.push("slow"));
  // Over a port, a request comes in when it does.
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  server.latency(0);
  await ask(wire, MAPS).then(() => order.push("quick"));
  await slow;
  assertEquals(order, ["quick", "slow"]);
});

onBoth("beforeNext compacts between a list and its watch", async (server, wire) => {
  const { json: list } = await ask(wire, MAPS);
  server.beforeNext(
    async (request) => {
      await Promise.resolve();
      assertEquals([request.verb, request.resource], ["watch", "configmaps"]);
      server.delete(ConfigMap, "answers/map-0");
      server.compact();
    },
    1,
    (request) => request.verb === "watch",
  );
  assertEquals((await ask(wire, MAPS)).json.items.length, 5);
  await using watch = await Lines.open(wire, `${MAPS}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
  const [error] = await watch.all();
  assertEquals([error.type, error.object.code], ["ERROR", 410]);
});

onBoth("afterNext changes and compacts while a streaming list is under way", async (server, wire) => {
  const streaming = (request: { query: URLSearchParams }): boolean => request.query.has("sendInitialEvents");
  using stall = server.stallNext(1, streaming);
  server.afterNext(
    () => {
      server.delete(ConfigMap, "answers/map-0");
      server.compact();
      stall[Symbol.dispose]();
    },
    1,
    streaming,
  );
  await using stream = await Lines.open(wire, STREAM);
  const lines = await stream.take(7);
  assertEquals(lines.slice(0, 5).map(({ type }) => type), Array(5).fill("ADDED"));
  assertEquals(brief(lines[5]), "BOOKMARK @6");
  assertEquals(lines[5].object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  assertEquals(brief(lines[6]), "DELETED map-0@7");
});

onBoth("shortenHistory forgets what clients may still need, until it is disposed", async (server, wire) => {
  const codes = async (version: number): Promise<number[]> => {
    const watch = await Lines.open(wire, `${MAPS}?watch=1&resourceVersion=${version}`);
    server.endWatches();
    const events = await watch.all();
    return events.map(({ object }) => object.code ?? Number(object.metadata.resourceVersion));
  };
  const short = server.shortenHistory(2);
  assertEquals(await codes(4), [5, 6]);
  assertEquals(await codes(3), [410]);
  server.delete(ConfigMap, "answers/map-0");
  assertEquals(await codes(4), [410]);
  short[Symbol.dispose]();
  server.delete(ConfigMap, "answers/map-1");
  assertEquals(await codes(5), [6, 7, 8]);
  assertThrows(() => server.shortenHistory(0), RangeError, "at least 1");
});

const NOW = Date.UTC(2026, 5, 1);
onBoth("clockSkew shows in the Date header and in new objects", async (server, wire) => {
  server.clockSkew(-3_600_000);
  const list = await ask(wire, MAPS);
  assertEquals(list.headers.get("date"), "Sun, 31 May 2026 23:00:00 GMT");
  const made = await ask(wire, MAPS, { method: "POST", body: { metadata: { name: "new" } } });
  assertEquals(made.json.metadata.creationTimestamp, "2026-05-31T23:00:00Z");
  server.clockSkew(0);
  assertEquals((await ask(wire, MAPS)).headers.get("date"), "Mon, 01 Jun 2026 00:00:00 GMT");
  assertThrows(() => server.clockSkew(NaN), RangeError);
}, { now: () => NOW });

onBoth("restart breaks connections, and watches resume at their versions", async (server, wire) => {
  const watch = await Lines.open(wire, WATCH);
  server.restart();
  await assertRejects(() => watch.next(), TypeError);
  server.delete(ConfigMap, "answers/map-0");
  await using again = await Lines.open(wire, WATCH);
  assertEquals(brief(await again.next()), "DELETED map-0@7");
});

onBoth("restart without history expires versions", async (server, wire) => {
  const watch = await Lines.open(wire, WATCH);
  server.delete(ConfigMap, "answers/map-0");
  server.restart({ history: "lost" });
  await assertRejects(() => watch.all(), TypeError);
  await using again = await Lines.open(wire, WATCH);
  assertEquals((await again.all()).map(({ object }) => object.code), [410]);
  assertEquals((await ask(wire, MAPS)).json.items.length, 4);
});

onBoth("restart with a backup undoes later writes, and the version goes back", async (server, wire) => {
  server.delete(ConfigMap, "answers/map-0"); // version 7
  server.patch(ConfigMap, "answers/map-1", { data: { n: "9" } });
  const { uid } = server.get(ConfigMap, "answers/map-2")!.metadata;
  const watch = await Lines.open(wire, WATCH);
  server.restart({ backup: 6 });
  await assertRejects(() => watch.all(), TypeError);
  assertEquals(server.resourceVersion, "6");
  assertEquals((await ask(wire, MAPS)).json.items.length, 5);
  assertEquals(server.get(ConfigMap, "answers/map-1")?.metadata.resourceVersion, "3");
  assertEquals(server.get(ConfigMap, "answers/map-2")?.metadata.uid, uid);
  const { uid: next } = server.create(ConfigMap, { metadata: { name: "new", namespace: "answers" } }).metadata;
  server.restart({ backup: 1 });
  assertEquals([server.resourceVersion, server.keys(ConfigMap)], ["1", []]);
  assert(server.create(ConfigMap, { metadata: { name: "new", namespace: "answers" } }).metadata.uid !== next);
  assertEquals(server.resourceVersion, "2");
  for (const backup of [3, 1.5, "x"]) {
    assertThrows(() => server.restart({ backup }), RangeError, "must be 1 to 2, or 1");
  }
});

onBoth(
  "a get of a version that the server has not reached fails, as one of a version that it has does not",
  async (_server, wire) => {
    const { status, json } = await ask(wire, `${MAPS}/map-0?resourceVersion=7`);
    assertEquals([status, json.message], [504, "Timeout: Too large resource version: 7, current: 6"]);
    assertEquals((await ask(wire, `${MAPS}/map-0?resourceVersion=6`)).status, 200);
    assertEquals((await ask(wire, `${MAPS}/map-0?resourceVersion=0`)).status, 200);
  },
);

Deno.test("restart breaks waiting requests, and responses that are half read", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer({ chunkBytes: 20 });
  fiveMaps(server);
  const half = (await server.fetch(new Request(`http://fake${MAPS}`))).body!.getReader();
  await half.read();
  server.latency(1_000);
  const waiting = server.fetch(new Request(`http://fake${MAPS}`));
  await time.tickAsync(10);
  server.restart();
  await assertRejects(() => waiting, TypeError, "Connection reset");
  await assertRejects(() => half.read(), TypeError, "Connection reset");
  assertEquals(time.timers, 0);
  assertEquals(server.requests.map(({ status }) => status), [200, 0]);
});

onBoth("jump raises the version without an event", async (server, wire) => {
  await using watch = await Lines.open(wire, `${WATCH}&allowWatchBookmarks=true`);
  server.jump(99_999);
  server.bookmark();
  server.jump();
  server.delete(ConfigMap, "answers/map-0");
  assertEquals((await watch.take(2)).map(brief), ["BOOKMARK @99999", "DELETED map-0@100001"]);
  await using resumed = await Lines.open(wire, `${MAPS}?watch=1&resourceVersion=50000`);
  assertEquals(brief(await resumed.next()), "DELETED map-0@100001");
  assertThrows(() => server.jump(100_001), RangeError, "must be later than 100001");
  assertThrows(() => server.jump("1e20"), RangeError);
});

onBoth("supportStreamingList turns streaming lists off and on while the server runs", async (server, wire) => {
  server.supportStreamingList(false);
  const refused = await ask(wire, STREAM);
  assertEquals([refused.status, refused.json.details.causes[0].field], [422, "sendInitialEvents"]);
  server.supportStreamingList(true);
  await using stream = await Lines.open(wire, STREAM);
  assertEquals((await stream.take(6)).at(-1).type, "BOOKMARK");
});

onBoth("sendBookmarks turns bookmarks off, also the one that ends a streaming list", async (server, wire) => {
  server.sendBookmarks(false);
  await using stream = await Lines.open(wire, STREAM);
  assertEquals((await stream.take(5)).map(({ type }) => type), Array(5).fill("ADDED"));
  server.delete(ConfigMap, "answers/map-0");
  assertEquals((await stream.next()).type, "DELETED");
  server.bookmark();
  assertEquals(brief(await stream.next()), "BOOKMARK @7");
});

Deno.test("sendBookmarks also turns off periodic bookmarks", async () => {
  using time = new FakeTime();
  using server = new FakeApiServer({ bookmarkMs: 1_000 });
  await using watch = await Lines.open(server, "/api/v1/pods?watch=1&resourceVersion=1&allowWatchBookmarks=1");
  server.jump();
  server.sendBookmarks(false);
  await time.tickAsync(5_000);
  server.sendBookmarks(true);
  server.jump();
  await time.tickAsync(1_000);
  server.endWatches();
  assertEquals((await watch.all()).map(brief), ["BOOKMARK @3"]);
});

Deno.test("Client refuses the responses of gzipNext, htmlNext and emptyNext, and says why", async () => {
  const server = new FakeApiServer();
  fiveMaps(server);
  using client = new Client({ server: "http://fake", transport: server });
  const maps = client.resource(ConfigMap);
  const watch = async (): Promise<void> => {
    for await (const _ of maps.watchChanges({ resourceVersion: "6" })) server.endWatches();
  };
  server.gzipNext();
  await assertRejects(watch, DecodeError, 'encoded in "gzip"');
  server.htmlNext(2);
  await assertRejects(watch, DecodeError, "text/html");
  await assertRejects(() => maps.list(), DecodeError, "text/html");
  server.emptyNext();
  await assertRejects(() => maps.list(), DecodeError);
  await watch();
  assertEquals(server.watches, 0);
});
