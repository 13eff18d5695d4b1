import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { pod } from "../../../src/testing/mod.ts";
import { LOCAL, refusal, Relayed, threePods } from "../_relayed.ts";

Deno.test("HEAD is answered as GET, without a body", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const request = new Request("http://localhost/api/pods", { method: "HEAD" });
  const response = await relayed.relay.fetch(request, LOCAL);
  assertEquals([response.status, response.body], [200, null]);
  assertMatch(response.headers.get("etag")!, /^W\/"/);
  const events = await relayed.relay.fetch(new Request("http://localhost/events/pods", { method: "HEAD" }), LOCAL);
  assertEquals([events.status, events.body, events.headers.get("content-type")], [200, null, "text/event-stream"]);
  const [names, read] = await Promise.all(["HEAD", "GET"].map((method) => {
    return relayed.relay.fetch(new Request("http://localhost/api", { method }), LOCAL);
  }));
  assertEquals([names.status, names.body, [...names.headers]], [200, null, [...read.headers]]);
  assertEquals(Object.keys(await read.json()), ["collections"]);
  assertEquals(relayed.present, { connections: 0, streams: {} });
});

Deno.test("a stream does not begin where its relay is disposed while the request is read", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const answer = relayed.get("/events/pods");
  await relayed.relay[Symbol.asyncDispose]();
  const response = await answer;
  assertEquals([response.status, response.headers.get("content-type")], [503, "application/json"]);
  await response.body?.cancel();
  assertEquals(relayed.present, { connections: 0, streams: {} });
});

Deno.test("an event stream has the state, a snapshot, and then changes", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  await using events = await relayed.events("/events/pods?namespace=shop");
  assertEquals(events.response.headers.get("content-type"), "text/event-stream");
  const snapshot = await events.through("synced");
  assertEquals(snapshot.at(-1), "synced 2");
  assertEquals(snapshot.filter((it) => it.startsWith("added")), ["added cart-0", "added cart-1"]);
  relayed.server.patch(Pod, "shop/cart-0", { metadata: { labels: { tier: "1" } } });
  relayed.server.create(Pod, pod({ name: "mail-1", namespace: "mail" }));
  relayed.server.create(Pod, pod({ name: "cart-2", namespace: "shop" }));
  relayed.server.delete(Pod, "shop/cart-1");
  assertEquals(await events.through("deleted"), ["updated cart-0", "added cart-2", "deleted shop/cart-1"]);
});

Deno.test("an object that begins or ceases to match the selectors of a stream is added or deleted", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  await using events = await relayed.events("/events/pods?labelSelector=app%3Dcart");
  await events.through("synced");
  relayed.server.patch(Pod, "mail/mail-0", { metadata: { labels: { app: "cart" } } });
  assertEquals(await events.through("added"), ["added mail-0"]);
  relayed.server.patch(Pod, "shop/cart-0", { metadata: { labels: { app: "mail" } } });
  assertEquals(await events.through("deleted"), ["deleted shop/cart-0"]);
  relayed.server.delete(Pod, "shop/cart-0"); // nothing that this stream has
  relayed.server.delete(Pod, "shop/cart-1");
  assertEquals(await events.through("deleted"), ["deleted shop/cart-1"]);
});

Deno.test("a stream begins before the cache has synced, and reports the state until then", async () => {
  const server = threePods();
  let refuses = true;
  server.failNext(403, Infinity, () => refuses);
  await using relayed = new Relayed({}, { server, reflector: { backoff: { initialMs: 1, jitter: 0 } } });
  await using events = await relayed.events("/events/pods");
  assertEquals(await events.through("state forbidden"), ["state forbidden"]);
  refuses = false;
  assertEquals((await events.through("synced")).at(-1), "synced 3");
});

Deno.test("a change of the informer's state is an event", async () => {
  await using relayed = new Relayed({}, { server: threePods(), reflector: { reconnectMs: 60_000 } });
  await using events = await relayed.events("/events/pods");
  await events.through("synced");
  relayed.server.dropWatches(Pod);
  assertEquals(await events.through("state unreachable"), ["state unreachable"]);
});

Deno.test("many clients are served from one list and one watch", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const streams = await Promise.all(Array.from({ length: 50 }, () => relayed.events("/events/pods")));
  await Promise.all(streams.map((events) => events.through("synced")));
  relayed.server.delete(Pod, "shop/cart-1");
  await Promise.all(streams.map((events) => events.through("deleted")));
  assertEquals(relayed.present, { connections: 50, streams: { pods: 50 } });
  for (const events of streams) await events[Symbol.asyncDispose]();
  await relayed.untilConnections(0);
  assertEquals(relayed.present, { connections: 0, streams: { pods: 0 } });
  assertEquals(relayed.server.requests.map(({ verb }) => verb), ["watch"]); // a streaming list
});

Deno.test("an unknown collection, path, parameter or selector is refused with the reason", async () => {
  await using relayed = new Relayed();
  const of = async (path: string): Promise<[number, string]> => await refusal(await relayed.get(path));
  assertEquals(await of("/api/services"), [
    404,
    "Cannot answer GET: found no collection of that name, expected one of pods, maps, secrets",
  ]);
  assertEquals((await of("/api/services/"))[0], 404);
  assertEquals((await of("/"))[0], 404);
  assertEquals((await of("/api/constructor"))[0], 404);
  assertEquals(await of("/api/pods?labelselector=a"), [
    400,
    'Cannot answer GET: found the parameter "labelselector", expected namespace, labelSelector, fieldSelector, fields',
  ]);
  assertEquals((await of("/api/pods?namespace=a&namespace=b"))[1], 'Cannot answer GET: found "namespace" twice');
  assertStringIncludes((await of("/api/pods?labelSelector=a%20in"))[1], "Cannot parse label selector");
  assertStringIncludes((await of("/api/pods?fieldSelector=spec"))[1], "Cannot parse field selector");
  assertStringIncludes((await of("/events/pods?fields=spec..a"))[1], "Cannot read the field path");
  assertStringIncludes((await of("/api/pods?fields="))[1], "Cannot read the field path");
  assertEquals(relayed.server.requests, []);
});

Deno.test("a request with a body, or another method than GET, is refused", async () => {
  await using relayed = new Relayed();
  const request = new Request("http://localhost/api/pods", { method: "POST", body: "x".repeat(1_000_000) });
  const response = await relayed.relay.fetch(request, LOCAL);
  assertEquals(await refusal(response), [405, "Cannot answer POST: use GET"]);
  assertEquals(response.headers.get("allow"), "GET, HEAD");
});

Deno.test("a request that does not accept the media type is refused", async () => {
  await using relayed = new Relayed();
  assertEquals((await relayed.get("/events/pods", { accept: "application/json" })).status, 406);
  assertEquals((await relayed.get("/api/pods", { accept: "text/html" })).status, 406);
});
