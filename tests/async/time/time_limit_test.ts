import { assertEquals } from "@std/assert";
import { TimeLimit } from "../../../src/async/time/time_limit.ts";
import { FakeTime } from "../../support/fake_time.ts";

/** A limit under fake time, and the times at which it expired, in milliseconds from its start. */
function limitOf(time: FakeTime, ms: number): { readonly limit: TimeLimit; readonly expired: number[] } {
  const startMs = time.now;
  const expired: number[] = [];
  return { limit: new TimeLimit(() => expired.push(time.now - startMs), ms), expired };
}

Deno.test("TimeLimit expires once, after its time, and uses one timer until then", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  assertEquals([time.timers, limit.leftMs], [1, 100]);
  await time.tickAsync(99);
  assertEquals(expired, []);
  await time.tickAsync(500);
  assertEquals([expired, time.timers], [[100], 0]);
  using _never = limitOf(time, Infinity).limit;
  assertEquals(time.timers, 0);
});

Deno.test("TimeLimit that is extended or shortened expires at its new time", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  await time.tickAsync(60);
  limit.set(100);
  await time.tickAsync(99);
  assertEquals(expired, []);
  limit.set(50);
  limit.set(10);
  await time.tickAsync(10);
  assertEquals([expired, time.timers], [[169], 0]);
  limit.set(20); // begins anew
  await time.tickAsync(20);
  assertEquals([expired, time.timers], [[169, 189], 0]);
});

Deno.test("TimeLimit that is disposed does not expire", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  limit[Symbol.dispose]();
  assertEquals(time.timers, 0);
  await time.tickAsync(200);
  assertEquals(expired, []);
});

Deno.test("TimeLimit counts pauses, but leaves a minimum of time after each", async () => {
  const cases: readonly (readonly [paused: number, expires: number])[] = [[20, 100], [50, 100], [70, 100], [75, 105], [
    500,
    530,
  ]];
  for (const [pausedMs, expiresMs] of cases) {
    using time = new FakeTime();
    const { limit, expired } = limitOf(time, 100);
    limit.pause();
    assertEquals(time.timers, 0);
    await time.tickAsync(pausedMs);
    limit.resume(30);
    await time.tickAsync(1_000);
    assertEquals([expired, time.timers], [[expiresMs], 0], `paused for ${pausedMs} ms`);
  }
});

Deno.test("TimeLimit is not extended by many short pauses", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  while (expired.length === 0 && limit.leftMs > -1_000) {
    limit.pause();
    limit.resume(30);
    await time.tickAsync(5);
  }
  assertEquals(expired, [100]);
});
