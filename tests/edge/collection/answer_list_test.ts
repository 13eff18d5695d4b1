import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { pod } from "../../../src/testing/mod.ts";
import { names, refusal, Relayed, threePods } from "../_relayed.ts";

Deno.test("a list has the objects of the cache and the state of the informer", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const response = await relayed.get("/api/pods");
  assertEquals(response.headers.get("content-type"), "application/json");
  const { name, state, resourceVersion, items } = await response.json();
  assertEquals([name, state, resourceVersion], ["pods", "live", relayed.server.resourceVersion]);
  assertEquals(items.length, 3);
  assertEquals(items[0].spec.nodeName !== undefined, true);
  assertEquals(relayed.relay.status(), { connections: 0, streams: {} });
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
