import { assertEquals } from "@std/assert";
import { DelayQueue } from "../../../src/engine/workqueue/delay_queue.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("DelayQueue uses one timer for any number of delayed keys", () => {
  using time = new FakeTime();
  const ready: number[] = [];
  const queue = new DelayQueue<number>((key) => ready.push(key));
  for (let key = 0; key < 10_000; key++) queue.add(key, 1 + (key * 7_919) % 10_007);
  assertEquals([time.timers, queue.size], [1, 10_000]);
  time.tick(10_008);
  assertEquals([time.timers, queue.size, ready.length], [0, 0, 10_000]);
  const times = ready.map((key) => 1 + (key * 7_919) % 10_007);
  assertEquals(times, times.toSorted((a, b) => a - b));
});

Deno.test("DelayQueue that was cleared takes its keys again, at any time", () => {
  using time = new FakeTime();
  const ready: string[] = [];
  const queue = new DelayQueue<string>((key) => ready.push(key));
  queue.add("a", 10);
  assertEquals([queue.clear(), time.timers], [1, 0]);
  queue.add("a", 20);
  time.tick(20);
  assertEquals([ready, time.timers], [["a"], 0]);
});

Deno.test("DelayQueue can delay for longer than the runtime's timers allow", () => {
  using time = new FakeTime();
  const ready: string[] = [];
  const queue = new DelayQueue<string>((key) => ready.push(key));
  const days60 = 60 * 24 * 3_600_000;
  queue.add("a", days60);
  time.tick(days60 - 1);
  assertEquals([ready, time.timers], [[], 1]);
  time.tick(1);
  assertEquals([ready, time.timers], [["a"], 0]);
});

Deno.test("DelayQueue is not early by a fraction of a millisecond, nor stuck on one", () => {
  using time = new FakeTime();
  const ready: string[] = [];
  const queue = new DelayQueue<string>((key) => ready.push(key));
  queue.add("a", 10.2);
  time.tick(10);
  assertEquals(ready, []);
  time.tick(1);
  assertEquals([ready, time.timers], [["a"], 0]);
});

Deno.test("DelayQueue keeps its times when the time of day is set, back or forward", () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const ready: string[] = [];
    const queue = new DelayQueue<string>((key) => ready.push(key));
    queue.add("long", 1_000);
    time.tick(10);
    time.setClock(time.now + jumpMs);
    queue.add("short", 5);
    assertEquals(time.timers, 1);
    time.tick(4);
    assertEquals(ready, []);
    time.tick(1);
    assertEquals(ready, ["short"]);
    time.tick(984);
    assertEquals(ready, ["short"]);
    time.tick(1);
    assertEquals([ready, time.timers], [["short", "long"], 0]);
  }
});
