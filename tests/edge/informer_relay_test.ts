import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { InformerRelay } from "../../src/edge/informer_relay.ts";
import { ConfigMap, Pod, Secret } from "../../src/kinds/core/v1.ts";
import { configMap, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { Relayed } from "./_relayed.ts";

/** A server with three pods in two namespaces. */
function threePods(): FakeApiServer {
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "cart-0", namespace: "shop", node: "worker-1", labels: { app: "cart" } }));
  server.create(Pod, pod({ name: "cart-1", namespace: "shop", node: "worker-2", labels: { app: "cart" } }));
  server.create(Pod, pod({ name: "mail-0", namespace: "mail", node: "worker-1", labels: { app: "mail" } }));
  return server;
}

// deno-lint-ignore no-explicit-any
async function names(response: Response): Promise<any> {
  assertEquals(response.status, 200);
  // deno-lint-ignore no-explicit-any
  return (await response.json()).items.map(({ metadata }: any) => metadata.name).sort();
}

async function refusal(response: Response): Promise<[number, string]> {
  return [response.status, (await response.json()).error];
}

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

Deno.test("HEAD is answered as GET, without a body", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  const request = new Request("http://localhost/api/pods", { method: "HEAD" });
  const response = await relayed.relay.fetch(request, { remoteAddr: { hostname: "127.0.0.1" } });
  assertEquals([response.status, response.body], [200, null]);
  assertMatch(response.headers.get("etag")!, /^W\/"/);
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
  server.failNext(403, 3);
  await using relayed = new Relayed({}, { server, reflector: { backoff: { initialMs: 1, jitter: 0 } } });
  await using events = await relayed.events("/events/pods");
  assertEquals(await events.through("state forbidden"), ["state forbidden"]);
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
  assertEquals(relayed.relay.status(), { connections: 50, streams: { pods: 50 } });
  for (const events of streams) await events[Symbol.asyncDispose]();
  await relayed.untilConnections(0);
  assertEquals(relayed.relay.status(), { connections: 0, streams: { pods: 0 } });
  assertEquals(relayed.server.requests.map(({ verb }) => verb), ["watch"]); // a streaming list
});

Deno.test("the data of Secrets is left out, unless asked for by name", async () => {
  const server = new FakeApiServer();
  server.create(Secret, { metadata: { name: "login", namespace: "shop" }, data: { password: "c2VjcmV0" } });
  for (
    const path of ["/api/secrets", "/api/secrets?fields=data", "/api/secrets?fieldSelector=data.password%3Dc2VjcmV0"]
  ) {
    await using relayed = new Relayed({}, { server: new FakeApiServer() });
    relayed.server.create(Secret, { metadata: { name: "login", namespace: "shop" }, data: { password: "c2VjcmV0" } });
    assertEquals((await (await relayed.get(path)).text()).includes("c2VjcmV0"), false, path);
  }
  await using open = new Relayed({ collections: { secrets: { resource: Secret, keep: "data" } } }, { server });
  assertStringIncludes(await (await open.get("/api/secrets")).text(), "c2VjcmV0");
});

Deno.test("neither fields nor selectors reach what redact takes out", async () => {
  await using relayed = new Relayed({
    redact: ({ metadata: { annotations: _hidden, ...metadata }, ...rest }) =>
      metadata.name === "hidden" ? undefined : { ...rest, metadata },
  });
  const { server } = relayed;
  server.create(ConfigMap, configMap({ name: "shown", annotations: { note: "private" } }));
  server.create(ConfigMap, configMap({ name: "hidden" }));
  assertEquals(await names(await relayed.get("/api/maps")), ["shown"]);
  const { items } = await (await relayed.get("/api/maps?fields=metadata.annotations")).json();
  assertEquals(items[0].metadata.annotations, undefined);
  assertEquals(await names(await relayed.get("/api/maps?fieldSelector=metadata.annotations.note%3Dprivate")), []);

  await using events = await relayed.events("/events/maps");
  assertEquals((await events.through("synced")).at(-1), "synced 1");
  server.patch(ConfigMap, "default/hidden", { data: { a: "1" } });
  server.delete(ConfigMap, "default/hidden");
  server.patch(ConfigMap, "default/shown", { data: { a: "1" } });
  const { text, data } = await events.next();
  assertEquals([text, data.metadata.annotations], ["updated shown", undefined]);
});

Deno.test("an object for which redact throws is left out, and the error is reported", async () => {
  await using relayed = new Relayed({
    redact: (object) => {
      if (object.metadata.name === "cart-0") throw new Error("no rule");
      return object;
    },
  }, { server: threePods() });
  assertEquals(await names(await relayed.get("/api/pods")), ["cart-1", "mail-0"]);
  assertEquals(relayed.errors.map(String), ['InformerError: Cannot redact one of "pods"']);
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

Deno.test("encoded slashes and dots in a path lead to no other collection", async () => {
  await using relayed = new Relayed();
  for (
    const path of ["/api/..%2Fpods", "/api/%2e%2e/pods", "/api/pods%2F..", "/api//pods", "/api/pods%00", "//api/pods"]
  ) {
    assertEquals((await relayed.get(path)).status, 404, path);
  }
});

Deno.test("a request with a body, or another method than GET, is refused", async () => {
  await using relayed = new Relayed();
  const request = new Request("http://localhost/api/pods", { method: "POST", body: "x".repeat(1_000_000) });
  const response = await relayed.relay.fetch(request, { remoteAddr: { hostname: "127.0.0.1" } });
  assertEquals(await refusal(response), [405, "Cannot answer POST: use GET"]);
  assertEquals(response.headers.get("allow"), "GET, HEAD");
});

Deno.test("a request that does not accept the media type is refused", async () => {
  await using relayed = new Relayed();
  assertEquals((await relayed.get("/events/pods", { accept: "application/json" })).status, 406);
  assertEquals((await relayed.get("/api/pods", { accept: "text/html" })).status, 406);
});

Deno.test("requests beyond the limit are answered by 503 until others have ended", async () => {
  await using relayed = new Relayed({ maxConnections: 2 }, { server: threePods() });
  const first = await relayed.events("/events/pods");
  await using _second = await relayed.events("/events/pods");
  const refused = await relayed.get("/api/pods");
  assertEquals(refused.headers.get("retry-after"), "2");
  assertEquals(await refusal(refused), [503, "Cannot answer GET: 2 requests are being answered already"]);
  await first[Symbol.asyncDispose]();
  await relayed.untilConnections(1);
  assertEquals((await names(await relayed.get("/api/pods"))).length, 3);
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

Deno.test("a relay that was disposed ends its streams with the reason, and gives its informers back", async () => {
  await using relayed = new Relayed({}, { server: threePods(), idleMs: 0 });
  await using events = await relayed.events("/events/pods");
  await events.through("synced");
  await relayed.relay[Symbol.asyncDispose]();
  assertEquals((await events.through("closed")).slice(-2), ["end closed", "closed"]);
  assertEquals(relayed.relay.status(), { connections: 0, streams: {} });
  assertEquals((await refusal(await relayed.get("/api/pods")))[0], 503);
});

Deno.test("streams end with a reason when the factory of the informers is shut down", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  await using events = await relayed.events("/events/pods");
  await events.through("synced");
  await relayed.informers.shutdown();
  assertEquals((await events.through("closed")).slice(-2), ["end closed", "closed"]);
});

Deno.test("options that are out of range are refused", () => {
  const relayed = new Relayed();
  const of = (options: object): void =>
    void new InformerRelay(relayed.informers, { collections: { pods: Pod }, ...options });
  assertThrows(() => of({ collections: {} }), TypeError, "found no collection, expected one at least");
  assertThrows(() => of({ collections: { "a/b": Pod } }), TypeError, 'Cannot serve "a/b"');
  assertThrows(() => of({ collections: { "..": Pod } }), TypeError, 'Cannot serve ".."');
  assertThrows(() => of({ stallMs: -1 }), RangeError, "stallMs must be at least 0");
  assertThrows(() => of({ heartbeatMs: 31_000 }), RangeError, "heartbeatMs must be at most 30000");
  assertThrows(() => of({ ringBytes: NaN }), RangeError, "ringBytes must be at least 0, found NaN");
  assertThrows(() => of({ maxConnections: 0 }), RangeError, "maxConnections must be at least 1, found 0");
  assertThrows(() => of({ origins: ["dash.example.com"] }), TypeError, 'Cannot allow "dash.example.com"');
});
