import { assertEquals } from "@std/assert";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { FakeTime, pod } from "../../../src/testing/mod.ts";
import { Relayed } from "../_relayed.ts";
import { answerOf, statusOf } from "./_sent.ts";

const REMOTE = { remoteAddr: { hostname: "203.0.113.7" } };

Deno.test("authorize decides about requests from everywhere", async () => {
  const headers = { "x-forwarded-for": "203.0.113.7" };
  assertEquals(await statusOf({ authorize: () => true }, { info: REMOTE, headers }), 200);
  assertEquals(await statusOf({ authorize: () => Promise.resolve(false) }, { info: REMOTE }), 403);
  assertEquals(await statusOf({ authorize: () => true }, { info: undefined }), 200);
});

Deno.test("a response of authorize is sent as it is", async () => {
  const authorize = (): Response => Response.redirect("https://login.example.com/");
  const response = await answerOf({ authorize }, {});
  assertEquals([response.status, response.headers.get("location")], [302, "https://login.example.com/"]);
});

Deno.test("an error of authorize is answered by 500 without its message, and reported", async () => {
  const errors: unknown[] = [];
  const authorize = (): never => {
    throw new Error("the password is hunter2");
  };
  const response = await answerOf({ authorize, onError: (error) => errors.push(error) }, {});
  assertEquals([response.status, (await response.text()).includes("hunter2")], [500, false]);
  assertEquals(errors.length, 1);
});

Deno.test("authorize is asked before anything of the request is read", async () => {
  const authorize = (): boolean => false;
  assertEquals(await statusOf({ authorize }, { url: "http://localhost/api/unknown" }), 403);
  assertEquals(await statusOf({ authorize }, { url: "http://localhost/metrics" }), 403);
});

Deno.test("an authorization that is over is refused", async () => {
  assertEquals(await statusOf({ authorize: () => ({ expiresAt: new Date(0) }) }, {}), 401);
  assertEquals(await statusOf({ authorize: () => ({ expiresAt: new Date(NaN) }) }, {}), 401);
});

Deno.test("an open stream ends when its authorization is over, and the client is asked again", async () => {
  using time = new FakeTime();
  const asked: string[] = [];
  await using relayed = new Relayed({
    heartbeatMs: 30_000,
    authorize: (request) => {
      asked.push(request.headers.get("authorization") ?? "");
      return { expiresAt: new Date(Date.now() + 60_000) };
    },
  });
  relayed.server.create(Pod, pod({ name: "cart-0" }));
  await using events = await relayed.events("/events/pods");
  await time.tickAsync(0);
  await events.through("synced");
  await time.tickAsync(59_999);
  assertEquals(relayed.relay.status().connections, 1);
  await time.tickAsync(1);
  const texts = await events.through("closed");
  assertEquals(texts.slice(-2), ["end expired", "closed"]);
  assertEquals([relayed.relay.status().connections, asked.length], [0, 1]);
  const again = await relayed.events("/events/pods", events.lastEventId);
  assertEquals([(await again.next()).text, asked.length], ["state live", 2]);
  await again[Symbol.asyncDispose]();
});
