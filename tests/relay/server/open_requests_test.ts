import { assertEquals } from "@std/assert";
import { OpenRequests } from "../../../src/relay/server/open_requests.ts";
import { names, refusal, Relayed, threePods } from "../../support/servers/relayed.ts";

Deno.test("requests beyond the limit are answered by 503 until others have ended", async () => {
  await using relayed = new Relayed({ maxConnections: 2 }, { server: threePods() });
  const first = await relayed.events("/events/pods");
  await using _second = await relayed.events("/events/pods");
  const refused = await relayed.get("/api/pods");
  assertEquals(refused.headers.get("retry-after"), "2");
  assertEquals(await refusal(refused), [
    503,
    "Cannot answer GET: the relay is already serving 2 requests, which is its limit",
  ]);
  await first[Symbol.asyncDispose]();
  await relayed.untilConnections(1);
  assertEquals((await names(await relayed.get("/api/pods"))).length, 3);
});

Deno.test("a request is counted until its disposal, and one whose answer is a stream until that ends, once", () => {
  const requests = new OpenRequests({ maxConnections: 2, onError: () => {} });
  const [list, stream] = [requests.admit()!, requests.admit()!];
  assertEquals([requests.size, requests.admit()], [2, undefined]);
  stream.keep();
  for (const request of [list, stream]) request[Symbol.dispose]();
  assertEquals(requests.size, 1);
  for (const request of [list, stream, stream]) request.leave();
  assertEquals(requests.size, 0);
});
