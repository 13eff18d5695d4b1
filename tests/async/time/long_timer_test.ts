import { assertEquals } from "@std/assert";
import { LongTimer } from "../../../src/async/time/long_timer.ts";
import { FakeTime } from "../../support/fake_time.ts";

const DAY_MS = 86_400_000;

Deno.test("a long timer fires once, after its delay, also when that is longer than the runtime's timers allow", async () => {
  using time = new FakeTime();
  let fired = 0;
  using timer = new LongTimer(() => fired++);
  for (const ms of [0, 0.5, 800, 2 ** 31 - 1, 2 ** 31, 100 * DAY_MS]) {
    fired = 0;
    timer.arm(ms);
    assertEquals([timer.isArmed, time.timers], [true, 1]);
    await time.tickAsync(Math.max(0, Math.ceil(ms) - 1));
    assertEquals(fired, ms === 0 ? 1 : 0);
    await time.tickAsync(1);
    assertEquals([fired, timer.isArmed, time.timers], [1, false, 0]);
    await time.tickAsync(200 * DAY_MS);
    assertEquals(fired, 1);
  }
});

Deno.test("a long timer armed with Infinity sets no timer, and clears the one before", () => {
  using time = new FakeTime();
  using timer = new LongTimer(() => {});
  timer.arm(Infinity);
  assertEquals([timer.isArmed, time.timers], [false, 0]);
  timer.arm(5);
  timer.arm(Infinity);
  assertEquals([timer.isArmed, time.timers], [false, 0]);
});

Deno.test("a long timer fires at the time that it was last armed for, and its callback may arm it again", async () => {
  using time = new FakeTime();
  const firedAt: number[] = [];
  const startMs = time.now;
  using timer = new LongTimer(() => {
    firedAt.push(time.now - startMs);
    if (firedAt.length < 3) timer.arm(30 * DAY_MS);
  });
  timer.arm(10);
  timer.arm(40 * DAY_MS);
  await time.tickAsync(365 * DAY_MS);
  assertEquals(firedAt, [40 * DAY_MS, 70 * DAY_MS, 100 * DAY_MS]);
  assertEquals(time.timers, 0);
});

Deno.test("a disposed long timer does not fire, and leaves no timer behind", async () => {
  using time = new FakeTime();
  let fired = 0;
  {
    using timer = new LongTimer(() => fired++);
    timer.arm(2 ** 31);
    await time.tickAsync(2 ** 31 - 1); // the second timer is armed
  }
  assertEquals(time.timers, 0);
  await time.tickAsync(DAY_MS);
  assertEquals(fired, 0);
});

Deno.test("a change of the time of day does not move a long timer", async () => {
  using time = new FakeTime();
  let fired = 0;
  using timer = new LongTimer(() => fired++);
  for (const jumpMs of [-100 * DAY_MS, 100 * DAY_MS]) {
    fired = 0;
    timer.arm(30 * DAY_MS);
    time.setClock(time.now + jumpMs);
    await time.tickAsync(30 * DAY_MS - 1);
    assertEquals(fired, 0);
    await time.tickAsync(1);
    assertEquals(fired, 1);
  }
});
