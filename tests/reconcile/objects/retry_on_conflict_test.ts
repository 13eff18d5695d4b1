import { retryOnConflict } from "@kube/informer/reconcile";
import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { FakeTime } from "../../support/fake_time.ts";
import { refused } from "../../support/fixtures.ts";

Deno.test("retryOnConflict calls again until there is no conflict, and returns the result [C157]", async (test) => {
  await test.step("resolves with the first result, a wait of 10 to 11 ms after each conflict", async () => {
    using time = new FakeTime();
    const startedAt = time.now;
    const calls: number[] = [];
    const result = retryOnConflict((retries) => {
      calls.push(retries);
      return retries < 3 ? Promise.reject(refused(409)) : Promise.resolve("written");
    });
    await time.tickAsync(33);
    assertEquals([await result, calls, time.now - startedAt], ["written", [0, 1, 2, 3], 33]);
  });

  await test.step("rejects with the last conflict after 5 calls", async () => {
    using time = new FakeTime();
    const errors = Array.from({ length: 6 }, () => refused(409));
    const failed = assertRejects(() => retryOnConflict((retries) => Promise.reject(errors[retries])));
    await time.tickAsync(1_000);
    assertStrictEquals(await failed, errors[4]);
  });

  await test.step("rejects at once with any other error", async () => {
    const error = refused(403);
    assertStrictEquals(await assertRejects(() => retryOnConflict(() => Promise.reject(error))), error);
  });

  await test.step("rejects with the reason of the signal, also during a wait", async () => {
    using time = new FakeTime();
    const stop = new AbortController();
    const options = { signal: stop.signal, initialMs: 1_000 };
    let calls = 0;
    const failed = assertRejects(() => retryOnConflict(() => (calls++, Promise.reject(refused(409))), options));
    await time.tickAsync(10);
    stop.abort(new Error("stopped"));
    assertEquals([(await failed as Error).message, calls, time.timers], ["stopped", 1, 0]);
  });
});

Deno.test("retryOnConflict refuses a number of attempts below 1", async () => {
  await assertRejects(() => retryOnConflict(() => Promise.resolve(), { attempts: 0 }), RangeError, "found 0");
});
