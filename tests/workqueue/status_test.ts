import { assertEquals } from "@std/assert";
import { exponentialBackoff } from "../../src/workqueue/rate_limiter.ts";
import type { WorkQueueStatus } from "../../src/workqueue/status.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { FakeTime } from "../support/fake_time.ts";

const NONE = { count: 0, sumMs: 0, maxMs: 0 };
const EMPTY: WorkQueueStatus = {
  name: "pods",
  isShutDown: false,
  waiting: 0,
  lowPriority: 0,
  processing: 0,
  returning: 0,
  delayed: 0,
  adds: 0,
  retries: 0,
  dropped: 0,
  errors: 0,
  queueLatencyMs: NONE,
  workDurationMs: NONE,
  unfinishedWorkMs: 0,
  longestRunningMs: 0,
  running: [],
};

Deno.test("WorkQueue status follows a key from add to done [C127] [F37]", () => {
  using time = new FakeTime();
  const queue = new WorkQueue({ name: "pods" });
  assertEquals(queue.status(), EMPTY);

  queue.add("a");
  assertEquals(queue.status(), { ...EMPTY, waiting: 1, adds: 1 });
  time.tick(50);
  queue.add("a"); // waits already: neither counted nor its latency begun anew

  const item = queue.tryGet()!;
  const handedOut = { ...EMPTY, processing: 1, adds: 1, queueLatencyMs: { count: 1, sumMs: 50, maxMs: 50 } };
  assertEquals(queue.status(), { ...handedOut, running: [{ key: "a", runningMs: 0, causes: [] }] });

  time.tick(25);
  assertEquals(queue.status(), {
    ...handedOut,
    unfinishedWorkMs: 25,
    longestRunningMs: 25,
    running: [{ key: "a", runningMs: 25, causes: [] }],
  });
  queue.add("a");
  assertEquals(queue.status().adds, 2);
  assertEquals(queue.status().returning, 1);

  time.tick(25);
  item[Symbol.dispose]();
  const returned = {
    ...handedOut,
    processing: 0,
    waiting: 1,
    adds: 2,
    workDurationMs: { count: 1, sumMs: 50, maxMs: 50 },
  };
  assertEquals(queue.status(), returned);

  // The latency of a returning key counts from its second add.
  queue.tryGet()![Symbol.dispose]();
  assertEquals(queue.status(), {
    ...EMPTY,
    adds: 2,
    queueLatencyMs: { count: 2, sumMs: 75, maxMs: 50 },
    workDurationMs: { count: 2, sumMs: 50, maxMs: 50 },
  });
});

Deno.test("WorkQueue status has the total and the longest time of unfinished work", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.add("a");
  queue.add("b");
  const first = queue.tryGet()!;
  time.tick(30);
  using _second = queue.tryGet()!;
  time.tick(10);
  assertEquals([queue.status().unfinishedWorkMs, queue.status().longestRunningMs], [50, 40]);
  first[Symbol.dispose]();
  assertEquals([queue.status().unfinishedWorkMs, queue.status().longestRunningMs], [10, 10]);
});

Deno.test("WorkQueue status counts retries and delays", () => {
  using time = new FakeTime();
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  queue.addRateLimited("a");
  queue.addAfter("b", 50);
  queue.addAfter("c", 0);
  assertEquals([queue.status().retries, queue.status().delayed, queue.status().adds], [3, 2, 1]);
  time.tick(50);
  assertEquals([queue.status().retries, queue.status().delayed, queue.status().adds], [3, 0, 3]);
});

Deno.test("WorkQueue status uses no timer, during the queue's life or after shutdown", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.add("a");
  using _item = queue.tryGet()!;
  assertEquals(time.timers, 0);
  queue.addAfter("b", 10);
  queue.shutDown();
  assertEquals(time.timers, 0);
  time.tick(500);
  assertEquals([queue.status().isShutDown, queue.status().longestRunningMs], [true, 500]);
});

Deno.test("WorkQueue status is a snapshot that does not change later", () => {
  const queue = new WorkQueue();
  const before = queue.status();
  queue.add("a");
  queue.tryGet()![Symbol.dispose]();
  assertEquals([before.adds, before.queueLatencyMs, before.workDurationMs], [0, NONE, NONE]);
});

Deno.test("WorkQueue status uses a clock that changes of the time of day do not affect", () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const queue = new WorkQueue();
    queue.add("a");
    time.tick(10);
    time.setClock(time.now + jumpMs);
    const item = queue.tryGet()!;
    time.tick(20);
    time.setClock(time.now - jumpMs);
    assertEquals(queue.status().longestRunningMs, 20);
    time.tick(30);
    item[Symbol.dispose]();
    const { queueLatencyMs, workDurationMs } = queue.status();
    assertEquals([queueLatencyMs.maxMs, workDurationMs.maxMs], [10, 50]);
  }
});
