import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { exponentialBackoff } from "../../src/workqueue/rate_limiter.ts";
import { requeueAfter, retry } from "../../src/workqueue/run.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";
import { FakeTime } from "../support/fake_time.ts";

Deno.test("WorkQueue hands out keys of normal priority before those of low priority, but one low in eight keys", () => {
  const queue = new WorkQueue<number>();
  for (let key = 0; key < 4; key++) queue.add(key, { priority: "low" });
  for (let key = 100; key < 116; key++) queue.add(key);
  const normal = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
  assertEquals(takeAll(queue), [...normal(100, 7), 0, ...normal(107, 7), 1, ...normal(114, 2), 2, 3]);
});

Deno.test("a key of low priority is handed out in time, however many keys of normal priority are added [F19]", () => {
  fc.assert(fc.property(fc.nat(20), fc.array(fc.nat(9), { maxLength: 40 }), fc.nat(7), (before, loads, taken) => {
    const queue = new WorkQueue<number>();
    let next = 1000;
    // The share may stand anywhere when the key is added.
    queue.add(-2, { priority: "low" });
    for (let i = 0; i < taken; i++) queue.add(next++);
    for (let i = 0; i < taken; i++) queue.tryGet()![Symbol.dispose]();
    for (let key = 0; key < before; key++) queue.add(key, { priority: "low" });
    queue.add(-1, { priority: "low" });
    const bound = 8 * (before + 1 + 1); // one more waits before it: the first
    for (let takes = 1;; takes++) {
      for (let load = loads[takes % loads.length] ?? 1; load >= 0; load--) queue.add(next++);
      using item = queue.tryGet()!;
      if (item.key === -1) return;
      assert(takes < bound, `not among the first ${bound} keys`);
    }
  }));
});

Deno.test("a key of normal priority waits for few of low priority", () => {
  const queue = new WorkQueue<number>();
  for (let key = 0; key < 1000; key++) queue.add(key, { priority: "low" });
  for (let key = 1000; key < 1070; key++) queue.add(key);
  const keys = takeAll(queue);
  assertEquals(keys.indexOf(1069) + 1, 70 + 9);
});

Deno.test("a waiting key of low priority moves behind those of normal priority when it is added with that", () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "c"]) queue.add(key, { priority: "low" });
  queue.add("d");
  queue.add("b");
  queue.add("d", { priority: "low" }); // stays
  assertEquals(queue.status().lowPriority, 2);
  assertEquals(takeAll(queue), ["d", "b", "a", "c"]);
});

Deno.test("a key added while it is processed has the higher priority of its additions", () => {
  const queue = new WorkQueue();
  queue.add("a");
  const item = queue.tryGet()!;
  queue.add("a", { priority: "low" });
  queue.add("b", { priority: "low" });
  queue.add("a");
  item[Symbol.dispose]();
  assertEquals(takeAll(queue), ["a", "b"]);
});

Deno.test("a delayed key keeps its priority and causes, and those of several additions", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("a", 10, { priority: "low", cause: { type: "external" } });
  queue.addAfter("a", 20, { priority: "low", cause: { type: "resync" } });
  queue.addAfter("b", 10);
  queue.addAfter("b", 5, { priority: "low" });
  time.tick(10);
  assertEquals(queue.status().lowPriority, 1);
  using b = queue.tryGet()!;
  using a = queue.tryGet()!;
  assertEquals([b.key, a.key, a.causes], ["b", "a", [{ type: "external" }, { type: "resync" }]]);
  queue.shutDown();
});

Deno.test("a worker receives the causes of all additions that it answers, each once", async () => {
  const seen: unknown[] = [];
  await using queue = new WorkQueue();
  const cause = { type: "event", source: "pods", event: "updated", paths: ["spec.replicas"] };
  queue.add("a", { cause });
  queue.add("a", { cause: { ...cause, paths: ["spec.replicas", "metadata.labels"] } });
  queue.add("a", { cause: { type: "resync" } });
  queue.add("a");
  await queue.run((_key, { causes }) => {
    seen.push(causes);
    queue.shutDown();
  });
  assertEquals(seen, [[{ ...cause, paths: ["spec.replicas", "metadata.labels"] }, { type: "resync" }]]);
});

Deno.test("causes of a key are bounded, and the last one counts those that were left out", () => {
  const queue = new WorkQueue();
  for (let i = 0; i < 20; i++) queue.add("a", { cause: { type: "event", object: `pod-${i}` } });
  for (let i = 0; i < 20; i++) queue.add("a", { cause: { type: "event", object: "pod-0", paths: [`spec.${i}`] } });
  using item = queue.tryGet()!;
  assertEquals(item.causes.length, 8);
  assertEquals(item.causes[0].paths?.length, 8);
  assertEquals(item.causes[6], { type: "event", object: "pod-6" });
  assertEquals(item.causes[7], { type: "more", count: 13 });
});

Deno.test("retries and requeues are causes", async () => {
  using time = new FakeTime();
  const seen: unknown[] = [];
  await using queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 1 }) });
  queue.add("a", { priority: "low", cause: { type: "external" } });
  const running = queue.run((_key, { causes }) => {
    seen.push(causes);
    if (seen.length === 1) throw new Error("no");
    if (seen.length === 2) return retry();
    if (seen.length === 3) return requeueAfter(4);
  });
  for (const ms of [1, 2, 4]) {
    await time.tickAsync(0);
    time.tick(ms);
    await time.tickAsync(0);
  }
  assertEquals(seen, [
    [{ type: "external" }],
    [{ type: "retry", count: 1 }],
    [{ type: "retry", count: 2 }],
    [{ type: "requeue" }],
  ]);
  assertEquals(queue.status().lastError?.causes, [{ type: "external" }]);
  queue.shutDown();
  await running;
});

Deno.test("a key that fails or is requeued keeps its low priority", async () => {
  using time = new FakeTime();
  await using queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 1 }) });
  const worker = [
    (): never => {
      throw new Error("no");
    },
    retry,
    () => requeueAfter(1),
  ];
  for (const work of worker) {
    queue.add("a", { priority: "low" });
    const stop = new AbortController();
    const running = queue.run(() => {
      stop.abort();
      return work();
    }, { signal: stop.signal });
    await running;
    time.tick(10);
    assertEquals(queue.status().lowPriority, 1);
    takeAll(queue);
  }
});

function takeAll<K extends string | number>(queue: WorkQueue<K>): K[] {
  const keys: K[] = [];
  for (let item; (item = queue.tryGet()) !== undefined; item[Symbol.dispose]()) keys.push(item.key);
  return keys;
}
