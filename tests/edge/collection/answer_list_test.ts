import { assert, assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { RelayList } from "../../../src/edge/format/relay_events.ts";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer, FakeTime, pod } from "../../../src/testing/mod.ts";
import { names, refusal, Relayed, threePods } from "../_relayed.ts";

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
  await pods.atLeast(relayed.server.resourceVersion);
  const third = await relayed.get("/api/pods", { "if-none-match": etag });
  assertEquals((await names(third)).length, 4);
});

Deno.test("a list is answered by 502 where the API server refuses the relay", async () => {
  const server = threePods();
  server.failNext(403, 100);
  await using relayed = new Relayed({}, { server });
  assertEquals(await refusal(await relayed.get("/api/pods")), [
    502,
    "Cannot answer GET: the API server refuses this relay (forbidden)",
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
  await pods.waitForCacheSync();
  relayed.server.breakNext(1_000);
  relayed.server.dropWatches(Pod);
  for await (const { state } of pods.statusChanges()) if (state === "stale" || state === "unreachable") break;
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
  await using relayed = new Relayed({ maxBytes: 4_000_000 / 3 }, { server: many(600) }); // a million for lists and views
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
    await assertRejects(() => reader.closed, Error, "The relay was disposed, or is short of memory");
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
  await pods.atLeast(server.resourceVersion);
}
