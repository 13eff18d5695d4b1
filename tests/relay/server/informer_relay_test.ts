import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { informerProbes, InformerRelay } from "../../../src/relay/server/informer_relay.ts";
import { FakeTime } from "../../../src/testing/mod.ts";
import { parseOpenMetrics } from "../../support/texts/parse_open_metrics.ts";
import { refusal, Relayed, threePods } from "../../support/servers/relayed.ts";

async function ask({ informers }: Relayed, path: string, method = "GET"): Promise<[number, string]> {
  const response = informerProbes(informers, { maxStaleMs: 5_000 })(new Request(`http://pod${path}`, { method }));
  return [response.status, await response.text()];
}

Deno.test("a process without informers is healthy and ready", async () => {
  await using relayed = new Relayed();
  assertEquals(await ask(relayed, "/healthz"), [200, "ok\n"]);
  assertEquals(await ask(relayed, "/readyz"), [200, "ok\n"]);
});

Deno.test("a process is ready once its caches have synced", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed();
  relayed.server.failNext(403, 3);
  using _pods = relayed.informers.acquire(Pod);
  await time.tickAsync(0);
  assertEquals(await ask(relayed, "/readyz"), [503, "pods: forbidden, it has not synced\n"]);
  await time.tickAsync(60_000);
  assertEquals(await ask(relayed, "/readyz"), [200, "ok\n"]);
});

Deno.test("a process is not ready when a cache has not been live for too long", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed();
  using _pods = relayed.informers.acquire(Pod);
  await time.tickAsync(1_000);
  relayed.server.breakNext(1_000);
  relayed.server.dropWatches(Pod);
  await time.tickAsync(4_000);
  assertEquals(await ask(relayed, "/readyz"), [200, "ok\n"]);
  await time.tickAsync(3_000);
  assertEquals(await ask(relayed, "/readyz"), [503, "pods: unreachable, it has not been live for 7 s\n"]);
});

Deno.test("a cache that was paused because it has no reader does not count", async () => {
  using time = new FakeTime();
  await using relayed = new Relayed({}, { idleTimeoutMs: 0 });
  const pods = relayed.informers.acquire(Pod);
  await time.tickAsync(1_000);
  pods[Symbol.dispose]();
  await time.tickAsync(60_000);
  assertEquals(relayed.informers.status()[0].status.state, "paused");
  assertEquals(await ask(relayed, "/readyz"), [200, "ok\n"]);
});

Deno.test("the metrics are those of the informers, in the OpenMetrics format [F37]", async () => {
  await using relayed = new Relayed();
  using pods = relayed.informers.acquire(Pod);
  await pods.informer.waitForCacheSync();
  const [status, text] = await ask(relayed, "/metrics");
  assertEquals(status, 200);
  parseOpenMetrics(text);
  assertMatch(text, /^informer_objects\{resource="pods"\} 0$/m);
});

Deno.test("a relay answers probes too, to those that may ask", async () => {
  await using relayed = new Relayed();
  assertEquals((await relayed.get("/readyz")).status, 200);
  assertEquals((await relayed.relay.fetch(new Request("http://localhost/metrics"))).status, 403);
  assertEquals((await ask(relayed, "/api/pods"))[0], 404);
  assertEquals((await ask(relayed, "/readyz", "POST"))[0], 405);
});

Deno.test("encoded slashes and dots in a path lead to no other collection", async () => {
  await using relayed = new Relayed();
  for (
    const path of ["/api/..%2Fpods", "/api/%2e%2e/pods", "/api/pods%2F..", "/api//pods", "/api/pods%00", "//api/pods"]
  ) {
    assertEquals((await relayed.get(path)).status, 404, path);
  }
});

Deno.test("a relay that was disposed ends its streams with the reason, and gives its informers back", async () => {
  await using relayed = new Relayed({}, { server: threePods(), idleTimeoutMs: 0 });
  await using events = await relayed.events("/events/pods");
  await events.through("synced");
  await relayed.relay[Symbol.asyncDispose]();
  assertEquals((await events.through("closed")).slice(-2), ["end closed", "closed"]);
  assertEquals(relayed.present, { connections: 0, streams: {} });
  for (const path of ["/api/pods", "/events/pods", "/views", "/api"]) {
    assertEquals(await refusal(await relayed.get(path)), [503, "Cannot answer GET: the relay was stopped"], path);
  }
});

Deno.test("streams end with a reason when the factory of the informers is shut down", async () => {
  await using relayed = new Relayed({}, { server: threePods() });
  await using events = await relayed.events("/events/pods");
  await events.through("synced");
  await relayed.informers.shutdown();
  assertEquals((await events.through("closed")).slice(-2), ["end closed", "closed"]);
});

Deno.test("an informer in place of the factory is refused with what to do", async () => {
  await using relayed = new Relayed();
  using pods = relayed.informers.acquire(Pod);
  for (const given of [pods, undefined]) {
    const make = (): void => void new InformerRelay(given as never, { collections: { pods: Pod } });
    assertThrows(make, TypeError, "Pass the factory instead of one of its informers");
  }
  const make = (): void => void new InformerRelay(relayed.informers, undefined as never);
  assertThrows(make, TypeError, "Add at least one, for example { collections: { pods: Pod } }");
});

Deno.test("options that are out of range are refused", () => {
  const relayed = new Relayed();
  const of = (options: object): void =>
    void new InformerRelay(relayed.informers, { collections: { pods: Pod }, ...options });
  assertThrows(() => of({ collections: {} }), TypeError, "Add at least one");
  assertThrows(() => of({ collections: { "a/b": Pod } }), TypeError, 'Cannot serve "a/b"');
  assertThrows(() => of({ collections: { "..": Pod } }), TypeError, 'Cannot serve ".."');
  assertThrows(() => of({ stallMs: -1 }), RangeError, "stallMs must be at least 0");
  assertThrows(() => of({ heartbeatMs: 0 }), RangeError, "heartbeatMs must be at least 1 milliseconds");
  assertThrows(() => of({ heartbeatMs: 31_000 }), RangeError, "heartbeatMs must be at most 30000");
  assertThrows(
    () => of({ maxBytes: NaN }),
    RangeError,
    "maxBytes must be a whole number of at least 0, or Infinity for no limit, but it is NaN",
  );
  assertThrows(() => of({ maxConnections: 0 }), RangeError, "maxConnections must be a whole number of at least 1");
  assertThrows(() => of({ origins: ["dash.example.com"] }), TypeError, 'Cannot allow "dash.example.com"');
});
