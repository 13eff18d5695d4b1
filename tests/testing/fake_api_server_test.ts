import { assertEquals, assertRejects } from "@std/assert";
import { Pod } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { FakeTime } from "../support/fake_time.ts";

Deno.test("FakeApiServer until() resolves with the object once the predicate holds, now or after a write", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  server.create(Pod, pod({ name: "a" }));
  assertEquals((await server.until(Pod, "a", (it) => it !== undefined))?.metadata.name, "a");
  const failed = server.until(Pod, "default/a", (it) => it?.status?.phase === "Failed");
  server.create(Pod, pod({ name: "b" }));
  server.patch(Pod, "a", { status: { phase: "Failed" } });
  assertEquals((await failed)?.status?.phase, "Failed");
  const deleted = server.until(Pod, "a", (it) => it === undefined);
  server.delete(Pod, "a");
  assertEquals([await deleted, time.timers], [undefined, 0]);
});

Deno.test("FakeApiServer until() rejects after its time with the present object, for its signal, and for a predicate that throws", async () => {
  using time = new FakeTime();
  const server = new FakeApiServer();
  const never = assertRejects(
    () => server.until(Pod, "a", () => false),
    Error,
    'pods "a" any longer than 5000 ms: there is no',
  );
  await time.tickAsync(5_000);
  await never;
  server.create(Pod, pod({ name: "a" }));
  const late = assertRejects(() => server.until(Pod, "a", () => false, { timeoutMs: 10 }), Error, '"name":"a"');
  await time.tickAsync(10);
  await late;
  const stop = new AbortController();
  const aborted = assertRejects(() => server.until(Pod, "a", () => false, { signal: stop.signal }), Error, "enough");
  stop.abort(new Error("enough"));
  await aborted;
  await assertRejects(() => server.until(Pod, "a", () => false, { signal: stop.signal }), Error, "enough");
  const thrown = assertRejects(
    () =>
      server.until(Pod, "a", (it) => {
        if (it === undefined) throw new Error("gone");
        return false;
      }),
    Error,
    "gone",
  );
  server.delete(Pod, "a");
  await thrown;
  assertEquals(time.timers, 0);
});
