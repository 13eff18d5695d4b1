import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { FakeTime } from "../../../src/testing/fake/fake_time.ts";

Deno.test("FakeTime fires timers in the order of their times, each at its own", () => {
  using time = new FakeTime(1_000);
  const fired: string[] = [];
  const note = (name: string): void => void fired.push(`${name}@${Date.now()}`);
  setTimeout(note, 20, "late");
  setTimeout(note, 10, "a");
  setTimeout(note, 10, "b");
  setTimeout(() => setTimeout(note, 5, "nested"), 10);
  time.tick(9);
  assertEquals(fired, []);
  time.tick(11);
  assertEquals(fired, ["a@1010", "b@1010", "nested@1015", "late@1020"]);
  assertEquals([time.now, time.timers], [1_020, 0]);
});

Deno.test("FakeTime repeats intervals until they are cleared", () => {
  using time = new FakeTime();
  let fired = 0;
  const interval = setInterval(() => ++fired === 3 && clearInterval(interval), 10);
  time.tick(100);
  assertEquals([fired, time.timers], [3, 0]);
});

Deno.test("FakeTime tickAsync lets promises and turns of the event loop run between timers", async () => {
  using time = new FakeTime(0);
  const seen: number[] = [];
  async function poll(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      await new Promise<void>((resolve) => setImmediate(resolve));
      seen.push(Date.now());
    }
  }
  const polling = poll();
  await time.tickAsync(35);
  assertEquals([seen, time.now], [[10, 20, 30], 35]);
  await time.tickAsync(5);
  await polling;
  assertEquals(seen, [10, 20, 30, 40]);
});

Deno.test("FakeTime tickAsync fires a timer that is armed without delay at the end", async () => {
  using time = new FakeTime(0);
  const order: string[] = [];
  setTimeout(() => Promise.resolve().then(() => setTimeout(() => order.push("chained"), 0)), 10);
  await time.tickAsync(10);
  assertEquals([order, time.timers], [["chained"], 0]);
});

Deno.test("FakeTime replaces the parts of Date that read the time, and no others", () => {
  using time = new FakeTime(Date.UTC(2026, 0, 1));
  time.tick(1_500);
  assertEquals(new Date().toISOString(), "2026-01-01T00:00:01.500Z");
  assertEquals(new Date(0).getTime(), 0);
  assertEquals(Date.parse("1970-01-01T00:00:01Z"), 1_000);
  assertEquals(new Date() instanceof Date, true);
});

Deno.test("FakeTime throws a callback's error, and does not fire that timer again", async () => {
  using time = new FakeTime();
  setTimeout(() => {
    throw new Error("boom");
  }, 1);
  let fired = false;
  setTimeout(() => fired = true, 2);
  assertThrows(() => time.tick(5), Error, "boom");
  assertEquals(fired, false);
  await time.tickAsync(5);
  assertEquals(fired, true);
});

Deno.test("FakeTime treats a delay of more than 31 bits as zero, as the real timers do", () => {
  using time = new FakeTime();
  let fired = 0;
  setTimeout(() => fired++, 2 ** 31);
  setTimeout(() => fired++, 2 ** 31 - 1);
  time.tick(1);
  assertEquals(fired, 1);
});

Deno.test("FakeTime also clears real timers, and restores all globals when disposed", () => {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval, Date };
  let fired = false;
  // The resource sanitizer of this test fails if the timer is not cleared.
  const armedBefore = setTimeout(() => fired = true, 60_000);
  const time = new FakeTime();
  clearTimeout(armedBefore);
  assertThrows(() => new FakeTime(), Error, "another FakeTime is active");
  time[Symbol.dispose]();
  time[Symbol.dispose]();
  for (const [name, value] of Object.entries(real)) {
    assertStrictEquals((globalThis as Record<string, unknown>)[name], value);
  }
  assertEquals(fired, false);
});

Deno.test("FakeTime refuses to go back", async () => {
  using time = new FakeTime();
  assertThrows(() => time.tick(-1), RangeError, "it is -1");
  await assertRejects(() => time.tickAsync(NaN), RangeError, "it is NaN");
});

Deno.test("FakeTime moves the monotonic clock with its timers, and not when the time of day is set", () => {
  using time = new FakeTime(1_000);
  const startMs = performance.now();
  let fired = 0;
  setTimeout(() => fired++, 50);
  time.setClock(500_000);
  assertEquals([Date.now(), performance.now() - startMs, fired], [500_000, 0, 0]);
  time.tick(50);
  assertEquals([Date.now(), performance.now() - startMs, fired], [500_050, 50, 1]);
});

Deno.test("FakeTime aborts the signals of AbortSignal.timeout when their time has passed, and restores it", () => {
  const real = AbortSignal.timeout;
  {
    using time = new FakeTime();
    const signal = AbortSignal.timeout(20);
    time.tick(19);
    assertEquals(signal.aborted, false);
    time.tick(1);
    assertEquals([signal.aborted, signal.reason.name, time.timers], [true, "TimeoutError", 0]);
  }
  assertStrictEquals(AbortSignal.timeout, real);
});
