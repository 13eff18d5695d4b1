import { assertEquals } from "@std/assert";
import { DelayQueue } from "../../src/workqueue/delay_queue.ts";
import { tokenBucket } from "../../src/workqueue/rate_limiter.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { FakeTime } from "../support/fake_time.ts";

Deno.test("WorkQueue addAfter adds a key after its delay, not before [C125]", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("a", 50);
  assertEquals([queue.length, queue.status().delayed], [0, 1]);
  time.tick(49);
  assertEquals(queue.length, 0);
  time.tick(1);
  assertEquals([queue.length, queue.status().delayed, time.timers], [1, 0, 0]);
});

Deno.test("WorkQueue addAfter adds keys of different delays separately", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("late", 70);
  queue.addAfter("early", 50);
  time.tick(60);
  assertEquals([queue.tryGet()?.key, queue.length], ["early", 0]);
  time.tick(10);
  assertEquals([queue.tryGet()?.key, queue.length], ["late", 0]);
});

Deno.test("WorkQueue addAfter keeps the earlier of two times, and adds once", async (t) => {
  for (const [first, second, due] of [[50, 70, 50], [50, 30, 30]]) {
    await t.step(`${first} ms, then ${second} ms`, () => {
      using time = new FakeTime();
      const queue = new WorkQueue();
      queue.addAfter("a", first);
      queue.addAfter("a", second);
      assertEquals(queue.status().delayed, 1);
      time.tick(due - 1);
      assertEquals(queue.length, 0);
      time.tick(1);
      queue.tryGet()![Symbol.dispose]();
      time.tick(1_000);
      assertEquals([queue.length, queue.status().adds], [0, 1]);
    });
  }
});

Deno.test("WorkQueue addAfter orders by time even if a later call has the earlier time", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("c", 30);
  queue.addAfter("b", 20);
  queue.addAfter("a", 10);
  time.tick(30);
  assertEquals([queue.tryGet()?.key, queue.tryGet()?.key, queue.tryGet()?.key], ["a", "b", "c"]);
});

Deno.test("WorkQueue addAfter adds at once without a delay", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("a", 0);
  queue.addAfter("b", -1);
  assertEquals([queue.length, time.timers], [2, 0]);
});

Deno.test("WorkQueue add does not cancel a delay of the same key", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("a", 10);
  queue.add("a");
  queue.tryGet()![Symbol.dispose]();
  time.tick(10);
  assertEquals(queue.length, 1);
  queue.addAfter("a", 10);
  time.tick(10);
  assertEquals(queue.length, 1, "a key that waits already is not added by the end of its delay");
});

Deno.test("WorkQueue shutDown drops all delayed keys, and returns how many", () => {
  using time = new FakeTime();
  for (const ending of ["shutDown", "shutDownWithDrain"] as const) {
    const queue = new WorkQueue();
    queue.addAfter("a", 10);
    queue.addAfter("b", 20);
    queue[ending]();
    assertEquals([queue.status().delayed, queue.status().dropped, time.timers], [0, 2, 0]);
    time.tick(100);
    assertEquals(queue.length, 0);
  }
});

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

Deno.test("DelayQueue keeps the order of additions for equal times", () => {
  using time = new FakeTime();
  const ready: string[] = [];
  const queue = new DelayQueue<string>((key) => ready.push(key));
  for (const key of "abcdefg") queue.add(key, 10);
  queue.add("h", 20);
  queue.add("h", 10);
  time.tick(10);
  assertEquals(ready.join(""), "abcdefgh");
});

Deno.test("DelayQueue puts a key whose time is moved behind those that have that time already", () => {
  using time = new FakeTime();
  const ready: string[] = [];
  const queue = new DelayQueue<string>((key) => ready.push(key));
  queue.add("moved", 20);
  queue.add("first", 10);
  queue.add("moved", 10);
  time.tick(10);
  assertEquals(ready, ["first", "moved"]);
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

Deno.test("WorkQueue addRateLimited delays a key by what its limiter returns", () => {
  using time = new FakeTime();
  const queue = new WorkQueue<string>({ rateLimiter: tokenBucket({ perSecond: 10, burst: 1 }) });
  for (const key of ["a", "b", "c"]) queue.addRateLimited(key);
  assertEquals([queue.length, queue.status().delayed], [1, 2]);
  time.tick(100);
  assertEquals(queue.length, 2);
  time.tick(100);
  assertEquals([queue.length, queue.status().retries], [3, 3]);
});
