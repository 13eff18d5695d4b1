import { assertEquals } from "@std/assert";
import { refuse } from "../../../src/edge/http/refuse.ts";

Deno.test("a refusal is JSON with the reason, is not kept, and drops the body of the request", async () => {
  let cancels = 0;
  const body = new ReadableStream({ cancel: (): void => void cancels++ });
  const request = new Request("http://localhost/api/pods", { method: "POST", body });
  const response = refuse(request, { status: 405, reason: "use GET" }, { allow: "GET" });
  assertEquals([response.status, await response.json()], [405, { error: "Cannot answer POST: use GET" }]);
  const { headers } = response;
  assertEquals(["allow", "cache-control", "retry-after"].map((name) => headers.get(name)), ["GET", "no-store", null]);
  assertEquals(cancels, 1);
});
