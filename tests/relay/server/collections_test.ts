import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { Namespace, Pod } from "../../../src/engine/kinds/core/v1.ts";
import type { RelayList } from "../../../src/relay/server/format.ts";
import { FakeApiServer, FakeTime, namespace, pod } from "../../../src/testing/mod.ts";
import { LOCAL, names, refusal, Relayed, threePods } from "../../support/servers/relayed.ts";

Deno.test("a list has the objects of the cache and the state of the informer", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const response = await relayed.get("/api/pods");
  assertEquals(response.headers.get("content-type"), "application/json");
  const { name, state, resourceVersion, items } = await response.json();
  assertEquals([name, state, resourceVersion], ["pods", "live", relayed.server.resourceVersion]);
  assertEquals(items.length, 3);
  assertEquals(items[0].spec.nodeName !== undefined, true);
  assertEquals(relayed.present, { connections: 0, streams: {} });
});

Deno.test("a list of a collection without objects is empty", async () => {
  await using relayed = new Relayed();
  assertEquals((await (await relayed.get("/api/pods")).json()).items, []);
});

Deno.test("a list selects by namespace, labels and fields", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  assertEquals(await names(await relayed.get("/api/pods?namespace=shop")), ["cart-0", "cart-1"]);
  assertEquals(await names(await relayed.get("/api/pods?labelSelector=app%3Dmail")), ["mail-0"]);
  assertEquals(await names(await relayed.get("/api/pods?fieldSelector=spec.nodeName%3Dworker-1")), [
    "cart-0",
    "mail-0",
  ]);
  assertEquals(await names(await relayed.get("/api/pods?namespace=nowhere")), []);
  assertEquals(relayed.server.requests.filter(({ resource }) => resource === "pods").length, 1); // a streaming list
});

Deno.test("a list has the named fields of each object alone, and what identifies it", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const { items } = await (await relayed.get("/api/pods?fields=spec.nodeName,status.phase&namespace=mail")).json();
  assertEquals(items[0].spec, { nodeName: "worker-1" });
  assertEquals(Object.keys(items[0].status), ["phase"]);
  assertEquals(items[0].metadata.name, "mail-0");
  assertEquals(items[0].metadata.labels, undefined);
});

Deno.test("a list that has not changed is answered by 304 without a body", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const first = await relayed.get("/api/pods");
  await first.body?.cancel();
  const etag = first.headers.get("etag")!;
  const second = await relayed.get("/api/pods", { "if-none-match": etag });
  assertEquals([second.status, await second.text()], [304, ""]);
  assertNotEquals((await relayed.get("/api/pods?namespace=shop")).headers.get("etag"), etag);

  relayed.server.create(Pod, pod({ name: "cart-2", namespace: "shop" }));
  using pods = relayed.informers.acquire(Pod);
  await pods.informer.waitForVersion(relayed.server.resourceVersion);
  const third = await relayed.get("/api/pods", { "if-none-match": etag });
  assertEquals((await names(third)).length, 4);
});

Deno.test("a list that has lost a namespace has another entity tag, though its version is the same", async () => {
  const server = threePods();
  for (const name of ["shop", "mail"]) server.create(Namespace, namespace({ name, labels: { team: "x" } }));
  await using relayed = new Relayed({}, { server, namespaces: { labels: "team=x" } });
  const first = await relayed.get("/api/pods");
  const etag = first.headers.get("etag")!;
  const { resourceVersion, items } = await first.json();
  assertEquals([items.length, (await relayed.get("/api/pods", { "if-none-match": etag })).status], [3, 304]);
  using pods = relayed.informers.acquire(Pod);
  const gone = pods.informer.untilDeleted("mail/mail-0");
  server.patch(Namespace, "mail", { metadata: { labels: { team: "y" } } });
  await gone;
  const second = await relayed.get("/api/pods", { "if-none-match": etag });
  const list = await second.json();
  assertEquals([list.resourceVersion, list.items.length], [resourceVersion, 2]);
});

Deno.test("a list whose namespaces were exchanged has another entity tag, though version and numbers are the same", async () => {
  const server = threePods();
  server.create(Pod, pod({ name: "post-0", namespace: "post" }));
  for (const name of ["shop", "mail", "post"]) {
    server.create(Namespace, namespace({ name, labels: { team: name === "post" ? "y" : "x" } }));
  }
  await using relayed = new Relayed({}, { server, namespaces: { labels: "team=x" } });
  const first = await relayed.get("/api/pods");
  const etag = first.headers.get("etag")!;
  const { resourceVersion } = await first.json();
  using pods = relayed.informers.acquire(Pod);
  const { informer } = pods;
  const exchanged = [informer.untilDeleted("mail/mail-0"), informer.until(() => true, { key: "post/post-0" })];
  const { events, objects } = informer.status();
  server.patch(Namespace, "mail", { metadata: { labels: { team: "y" } } });
  server.patch(Namespace, "post", { metadata: { labels: { team: "x" } } });
  await Promise.all(exchanged);
  for await (const { state } of informer.statusChanges()) if (state === "live") break;
  assertEquals([informer.status().events, informer.status().objects], [events, objects]);
  const second = await relayed.get("/api/pods", { "if-none-match": etag });
  assertEquals([second.status, (await second.clone().json()).resourceVersion], [200, resourceVersion]);
  assertEquals(await names(second), ["cart-0", "cart-1", "post-0"]);
});

Deno.test("a list is answered by 502 where the API server refuses the relay", async () => {
  const server = threePods();
  server.failNext(403, 100);
  await using relayed = new Relayed({}, { server });
  assertEquals(await refusal(await relayed.get("/api/pods")), [
    502,
    "Cannot answer GET: the API server refuses the requests of this relay (forbidden)",
  ]);
});

Deno.test("a list is answered by 503 where the cache does not sync in time", async () => {
  const server = threePods();
  using _stall = server.stallNext(100);
  await using relayed = new Relayed({ syncMs: 5 }, { server });
  const [status, error] = await refusal(await relayed.get("/api/pods"));
  assertEquals(status, 503);
  assertStringIncludes(error, "the cache has not synced");
});

Deno.test("a cache that is not live is served with its state", async () => {
  await using relayed = new Relayed({}, { server: threePods(), reflector: { reconnectMs: 60_000 } });
  using pods = relayed.informers.acquire(Pod);
  await pods.informer.waitForCacheSync();
  relayed.server.breakNext(1_000);
  relayed.server.dropWatches(Pod);
  for await (const { state } of pods.informer.statusChanges()) if (state === "stale" || state === "unreachable") break;
  const { state, notLiveSince, items } = await (await relayed.get("/api/pods")).json();
  assert(state === "stale" || state === "unreachable");
  assert(Date.now() - Date.parse(notLiveSince) < 60_000);
  assertEquals(items.length, 3);
});

Deno.test("lists that nobody reads are counted by maxConnections, and broken after the time for it", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({ maxConnections: 10, stallMs: 30_000 }, { server: threePods() });
  const lists = await Promise.all(Array.from({ length: 10 }, () => relayed.get("/api/pods")));
  assertEquals((await relayed.get("/api/pods")).status, 503);
  await time.tickAsync(29_999);
  assertEquals(relayed.relay.status().connections, 10);
  await time.tickAsync(1);
  assertEquals(relayed.present, { connections: 0, streams: {} });
  for (const list of lists) await assertRejects(() => list.text(), Error, "The client does not read");
  assertEquals(relayed.relay.status().bytes, 0);
});

Deno.test("a list that is read slowly is complete, and consistent, whatever changes meanwhile", async () => {
  await using relayed = new Relayed({}, { server: many(600) });
  const response = await relayed.get("/api/pods");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value!;
  await changeAll(relayed, 600);
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  const { items, resourceVersion } = JSON.parse(text) as RelayList;
  assertEquals([items.length, new Set(items.map(({ metadata }) => metadata.name)).size], [600, 600]);
  assert(items.every(({ metadata }) => Number(metadata.resourceVersion) <= Number(resourceVersion)));
});

Deno.test("unread lists of one version hold its objects once; those that hold old versions beyond the budget are cut", async () => {
  await using relayed = new Relayed({ maxBytes: 1_333_333 }, { server: many(600) }); // a million for lists and views
  const begin = async (): Promise<ReadableStreamDefaultReader> => {
    const reader = (await relayed.get("/api/pods")).body!.getReader();
    await reader.read();
    return reader;
  };
  const old = await Promise.all(Array.from({ length: 100 }, begin));
  assertEquals(relayed.relay.status().bytes, 600 * 64);
  const generations: ReadableStreamDefaultReader[] = [];
  for (let round = 0; round < 10; round++) {
    await changeAll(relayed, 600);
    generations.push(await begin());
    const { bytes } = relayed.relay.status();
    assert(bytes <= 1_000_000, `${bytes}`);
    if (round === 0) assert(bytes > 200_000, `${bytes}`); // the old objects are counted
  }
  for (const reader of [...old, generations[0]]) {
    await assertRejects(() => reader.closed, Error, "The relay was disposed, or has reached maxBytes");
  }
  for (let part = await generations[9].read(); !part.done;) part = await generations[9].read();
  for (const reader of generations.slice(1)) await reader.cancel().catch(() => {});
  assertEquals([relayed.relay.status().bytes, relayed.relay.status().connections], [0, 0]);
});

function many(count: number): FakeApiServer {
  const server = new FakeApiServer();
  for (let i = 0; i < count; i++) server.create(Pod, pod({ name: `web-${i}`, namespace: "shop" }));
  return server;
}

async function changeAll({ server, informers }: Relayed, count: number): Promise<void> {
  using pods = informers.acquire(Pod);
  for (let i = 0; i < count; i++) {
    server.patch(Pod, `shop/web-${i}`, { metadata: { labels: { at: server.resourceVersion } } });
  }
  await pods.informer.waitForVersion(server.resourceVersion);
}

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
    "Cannot answer GET: the relay has no collection with this name. Its collections are pods, maps, secrets",
  ]);
  assertEquals((await of("/api/services/"))[0], 404);
  assertEquals((await of("/"))[0], 404);
  assertEquals((await of("/api/constructor"))[0], 404);
  assertEquals(await of("/api/pods?labelselector=a"), [
    400,
    'Cannot answer GET: "labelselector" is not a parameter. The parameters are namespace, labelSelector, fieldSelector, fields',
  ]);
  assertEquals(
    (await of("/api/pods?namespace=a&namespace=b"))[1],
    'Cannot answer GET: the parameter "namespace" occurs twice',
  );
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

Deno.test("a tag stands for one list, also where objects come and go while lists of several users are made", async () => {
  const server = threePods();
  for (let i = 0; i < 600; i++) {
    server.create(Pod, pod({ name: `till-${i}`, namespace: "shop", labels: { app: "till" } }));
  }
  await using relayed = new Relayed({
    predicates: { app: ({ metadata }, app) => metadata.labels?.app === app },
    authorize: ({ headers }) => {
      const app = headers.get("x-app");
      return app === null || { rights: { pods: { where: { app } } } };
    },
  }, { server });
  const seen = new Map<string, string>();
  const list = async (app: string | undefined): Promise<void> => {
    const response = await relayed.get("/api/pods", app === undefined ? {} : { "x-app": app });
    const tag = `${app} ${response.headers.get("etag")}`;
    const { items } = await response.json();
    const names = items.map(({ metadata }: Pod) => `${metadata.name} ${metadata.uid}`).sort().join();
    assertEquals(names, seen.get(tag) ?? names);
    seen.set(tag, names);
  };
  await list("cart");
  using _kept = relayed.informers.acquire(Pod);
  for (let round = 0; round < 40; round++) {
    server.annotate(Pod, "shop/till-0", { n: String(round) }); // no digest is known
    const lists = [list("cart"), list("mail"), list(undefined)];
    for (let turn = 0; turn < round % 4; turn++) await nextTurn();
    server.create(Pod, pod({ name: "cart-9", namespace: "shop", labels: { app: "cart" } }));
    await Promise.all(lists);
    server.delete(Pod, "shop/cart-9");
    await nextTurn();
    await list("cart");
  }
});
