import { assert, assertEquals, assertMatch } from "@std/assert";
import { ConfigMap, Pod } from "../../src/kinds/core/v1.ts";
import { pod } from "../../src/testing/objects/pod.ts";
import { requeueAfter } from "../../src/workqueue/result.ts";
import { Session } from "./_session.ts";

Deno.test("a reconcile that writes something new at each call is reported, and called with growing waits", async () => {
  using session = new Session();
  session.create("a");
  session.create("calm");
  const calls: Record<string, number> = { "default/a": 0, "default/calm": 0 };
  let isMended = false;
  const maps = session.reconciler(async (key, { client }) => {
    const n = ++calls[key];
    if (key !== "default/a" || isMended) return;
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", {
      type: "merge",
      body: { data: { n: `${n}` } },
    });
  });
  const running = maps.run();
  await session.pass(1_000);
  const first = calls["default/a"];
  assert(first > 20 && first < 35, `${first} calls in the first second`);
  assertMatch(session.errors[0], /^default\/a: Reconciling "default\/a" over and over: /);
  await session.pass(100_000);
  const second = calls["default/a"];
  assert(second - first < 10, `${second - first} calls in the next 100 s`);
  assertEquals([calls["default/calm"], session.errors.length], [1, second - 23]);
  // A change by somebody else is not delayed.
  session.server.annotate(ConfigMap, "default/a", { by: "somebody" });
  await session.pass(1);
  assertEquals(calls["default/a"], second + 1);
  // The retry finds that the loop has ended, and all is as before.
  isMended = true;
  await session.pass(1_000_000);
  const last = calls["default/a"];
  assert(last <= second + 3, `${last - second} calls after the end`);
  await session.pass(1_000_000);
  session.server.annotate(ConfigMap, "default/a", { by: "another" });
  await session.pass(1);
  assertEquals(calls["default/a"], last + 1);
  await session.stop(maps);
  await running;
});

Deno.test("a reconcile whose writes are undone each time is reported, and called with growing waits", async () => {
  using session = new Session((server) => ({
    fetch: async (request) => {
      if (request.method !== "PATCH") return await server.fetch(request);
      using _late = server.stallWatches(Pod);
      const response = await server.fetch(request);
      server.patch(Pod, "default/x", { metadata: { labels: { of: null } } });
      return response;
    },
  }));
  session.create("a");
  session.server.create(Pod, pod({ name: "x" }));
  let calls = 0;
  const maps = session.reconciler(async (_key, { client }) => {
    calls++;
    const body = { metadata: { labels: { of: "a" } } };
    await client.resource(Pod, { namespace: "default" }).patch("x", { type: "merge", body });
  }).watches(Pod, () => [], {});
  const running = maps.run();
  await session.pass(100_000);
  assert(calls > 20 && calls < 45, `${calls} calls`);
  assertMatch(session.errors[0], /over and over: /);
  await session.stop(maps);
  await running;
});

Deno.test("a reconcile that writes after each change of others, or comes back by itself, is called as often as they ask", async () => {
  using session = new Session();
  const { server } = session;
  session.create("a", "b");
  const calls: Record<string, number> = { "default/a": 0, "default/b": 0 };
  const maps = session.reconciler(async (key, { object, client }) => {
    calls[key]++;
    if (key === "default/b") return requeueAfter(5);
    const seen = object?.metadata.annotations?.n ?? "";
    if (object?.data?.seen === seen) return;
    await client.resource(ConfigMap, { namespace: "default" }).patch("a", { type: "merge", body: { data: { seen } } });
  });
  const running = maps.run();
  await session.pass(100);
  for (let n = 1; n <= 200; n++) {
    server.annotate(ConfigMap, "default/a", { n: `${n}` });
    await session.pass(5);
    assertEquals(server.get(ConfigMap, "default/a")?.data, { seen: `${n}` });
  }
  assertEquals(session.errors, []);
  assert(calls["default/b"] > 190, `${calls["default/b"]} calls`);
  await session.stop(maps);
  await running;
});
