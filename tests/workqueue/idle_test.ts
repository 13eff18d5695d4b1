import { assertEquals, assertRejects } from "@std/assert";
import { exponentialBackoff } from "../../src/workqueue/rate_limiter.ts";
import { requeueAfter, retry } from "../../src/workqueue/run.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { FakeTime } from "../support/fake_time.ts";

Deno.test("WorkQueue idle resolves when all keys are done, those that retries add again too", async () => {
  using time = new FakeTime();
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  const done: string[] = [];
  const running = queue.run((key, { retries }) => {
    if (key === "b" && retries < 2) return retry();
    done.push(key);
  });
  queue.add("a");
  queue.add("b");
  let idle = false;
  const waiting = queue.idle().then(() => idle = true);
  await time.tickAsync(29);
  assertEquals([done, idle], [["a"], false]);
  await time.tickAsync(1);
  await waiting;
  assertEquals(done, ["a", "b"]);
  await queue.idle();
  queue.shutDown();
  await running;
  assertEquals(time.timers, 0);
});

Deno.test("WorkQueue idle leaves delayed keys out where it is asked to, and ends with the delays", async () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  const running = queue.run(() => requeueAfter(60_000));
  queue.add("a");
  const ignoring = queue.idle({ ignoreDelayed: true });
  const waiting = queue.idle();
  await time.tickAsync(1);
  await ignoring;
  const stop = new AbortController();
  const aborted = assertRejects(() => queue.idle({ signal: stop.signal }), Error, "enough");
  stop.abort(new Error("enough"));
  await aborted;
  await assertRejects(() => queue.idle({ signal: stop.signal }), Error, "enough");
  queue.shutDown();
  await Promise.all([waiting, running, time.tickAsync(1)]);
});

Deno.test("WorkQueue idle gives handlers a turn to add keys", async () => {
  const queue = new WorkQueue();
  const done: string[] = [];
  const running = queue.run((key) => void done.push(key));
  queueMicrotask(() => queue.add("late"));
  await queue.idle();
  assertEquals(done, ["late"]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue idle rejects with the reason of its signal, also where the queue is idle already", async () => {
  await using queue = new WorkQueue<string>();
  const reason = new Error("enough");
  assertEquals(await assertRejects(() => queue.idle({ signal: AbortSignal.abort(reason) })), reason);
});
