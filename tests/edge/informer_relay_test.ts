import { assertEquals } from "@std/assert";
import { refusal, Relayed, threePods } from "./_relayed.ts";

Deno.test("encoded slashes and dots in a path lead to no other collection", async () => {
  await using relayed = new Relayed();
  for (
    const path of ["/api/..%2Fpods", "/api/%2e%2e/pods", "/api/pods%2F..", "/api//pods", "/api/pods%00", "//api/pods"]
  ) {
    assertEquals((await relayed.get(path)).status, 404, path);
  }
});

Deno.test("a relay that was disposed ends its streams with the reason, and gives its informers back", async () => {
  await using relayed = new Relayed({}, { server: threePods(), idleMs: 0 });
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
