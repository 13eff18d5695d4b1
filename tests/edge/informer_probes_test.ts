import { assertEquals, assertMatch } from "@std/assert";
import { informerProbes } from "../../src/edge/informer_probes.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { FakeTime } from "../../src/testing/mod.ts";
import { parseOpenMetrics } from "../metrics/_parse_open_metrics.ts";
import { Relayed } from "./_relayed.ts";

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
  await using relayed = new Relayed({}, { idleMs: 0 });
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
  await pods.waitForCacheSync();
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
