import { assertEquals, assertRejects } from "@std/assert";
import { sleep } from "../../../src/async/time/sleep.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { CountedController } from "../../support/listeners.ts";

Deno.test("sleep resolves after its time, not before, and leaves no listener behind", async () => {
  using time = new FakeTime();
  const stop = new CountedController();
  let awake = false;
  const slept = sleep(800, stop).then(() => awake = true);
  await time.tickAsync(799);
  assertEquals([awake, stop.listeners], [false, 1]);
  await time.tickAsync(1);
  assertEquals([awake, stop.listeners], [true, 0]);
  await slept;
});

Deno.test("sleep rejects with the reason as soon as its signal aborts, and clears its timer", async () => {
  using time = new FakeTime();
  const stop = new AbortController();
  const slept = sleep(800, stop);
  assertEquals(time.timers, 1);
  stop.abort(new Error("get up"));
  await assertRejects(() => slept, Error, "get up");
  assertEquals(time.timers, 0);
  await assertRejects(() => sleep(800, stop), Error, "get up");
  assertEquals(time.timers, 0);
});

Deno.test("sleep may be longer than the runtime's timers allow, and ignores changes of the time of day", async () => {
  using time = new FakeTime();
  const ms = 60 * 86_400_000;
  for (const jumpMs of [0, ms, -ms]) {
    const stop = new CountedController();
    let awake = false;
    const slept = sleep(ms, stop).then(() => awake = true);
    await time.tickAsync(1);
    time.setClock(time.now + jumpMs);
    await time.tickAsync(ms - 2);
    assertEquals([awake, stop.listeners], [false, 1]);
    await time.tickAsync(1);
    assertEquals([awake, stop.listeners, time.timers], [true, 0, 0]);
    await slept;
  }
});

Deno.test("a sleep of Infinity ends with its signal", async () => {
  using time = new FakeTime();
  const stop = new AbortController();
  const slept = sleep(Infinity, stop);
  slept.catch(() => {}); // it rejects before the test waits for it
  await time.tickAsync(2 ** 33);
  stop.abort(new Error("get up"));
  await assertRejects(() => slept, Error, "get up");
  assertEquals(time.timers, 0);
});
