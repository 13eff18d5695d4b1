import { assertEquals, assertStringIncludes } from "@std/assert";
import { ConfigMap, Node, Pod, Secret } from "../../../src/engine/kinds/core/v1.ts";
import { refuseRequest } from "../../../src/relay/server/answers.ts";
import { Relayed } from "../../support/servers/relayed.ts";
import { answerOf } from "./_sent.ts";

Deno.test("a refusal is JSON with the reason, is not kept, and drops the body of the request", async () => {
  let cancels = 0;
  const body = new ReadableStream({ cancel: (): void => void cancels++ });
  const init = { method: "POST", body, duplex: "half" }; // Node requires it of a stream
  const request = new Request("http://localhost/api/pods", init);
  const response = refuseRequest(request, { status: 405, reason: "use GET" }, { allow: "GET" });
  assertEquals([response.status, await response.json()], [405, { error: "Cannot answer POST: use GET" }]);
  const { headers } = response;
  assertEquals(["allow", "cache-control", "retry-after"].map((name) => headers.get(name)), ["GET", "no-store", null]);
  assertEquals(cancels, 1);
});

Deno.test("browsers keep no event stream, and no list that may hold credentials", async () => {
  await using relayed = new Relayed({ collections: { pods: Pod, secrets: Secret, maps: ConfigMap, nodes: Node } });
  const kept = async (path: string): Promise<string | null> => {
    const response = await relayed.get(path);
    await response.body?.cancel();
    return response.headers.get("cache-control");
  };
  for (const path of ["/events/pods", "/events/nodes", "/views"]) assertEquals(await kept(path), "no-store", path);
  for (const path of ["/api/pods", "/api/secrets"]) assertEquals(await kept(path), "private, no-store", path);
  for (const path of ["/api/maps", "/api/nodes", "/api"]) assertEquals(await kept(path), "private, no-cache", path);
});

Deno.test("refusals can be read by the pages of a named origin", async () => {
  const sent = { url: "http://localhost/api/unknown", headers: { origin: "https://dash.example.com" } };
  const response = await answerOf({ origins: ["https://dash.example.com"] }, sent);
  assertEquals([response.status, response.headers.get("access-control-allow-origin")], [
    404,
    "https://dash.example.com",
  ]);
});

Deno.test("answers forbid frames, scripts, and a guess of their type", async () => {
  for (const url of ["http://localhost/api/pods", "http://localhost/api/unknown"]) {
    const { headers } = await answerOf({}, { url });
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertStringIncludes(headers.get("content-security-policy")!, "default-src 'none'");
  }
});
