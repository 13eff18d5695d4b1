/**
 * The cost of a work queue over the least that hands out keys: all keys are added, then each is taken and given back.
 * The baseline remembers keys in a Map and their order in an array. Then the same with priorities and causes on, which
 * the same group compares with the queue without them, and keys that are delayed, all of them by one timer.
 *
 * Then keys that come alone, as those of a watch do: each is added in a turn of its own, in which a worker that waits
 * takes it and is done with it. The baseline is a Set, an array and a promise; what the turns cost is shown beside.
 */
import { nextTurn } from "../src/engine/async/turns.ts";
import { exponentialBackoff } from "../src/engine/workqueue/rate_limiter.ts";
import { WorkQueue, type WorkQueueAddOptions } from "../src/engine/workqueue/work_queue.ts";

/** The options of a handler, which it shares between its keys. */
const SHARED: readonly WorkQueueAddOptions[] = [
  { priority: "low", trigger: { type: "event", source: "pods", event: "added" } },
  { trigger: { type: "event", source: "pods", event: "updated" } },
];

const alone = Array.from({ length: 1_000 }, (_, index) => `namespace-${index % 100}/object-${index}`);
for (
  const { name, baseline, add } of [
    { name: "turns alone", baseline: false, add: (): void => {} },
    { name: "bare Set, array and promise", baseline: true, add: bare() },
    { name: "add, a worker that returns", baseline: false, add: worked(() => {}) },
    { name: "add, a worker that resolves", baseline: false, add: worked(() => Promise.resolve()) },
  ]
) {
  Deno.bench({
    name,
    group: "workqueue / 1k keys, each alone",
    baseline,
    fn: async () => {
      for (const key of alone) {
        add(key);
        await nextTurn();
      }
    },
  });
}

/** Adds to a queue that a worker waits for. */
function worked(worker: () => void | Promise<void>): (key: string) => void {
  const queue = new WorkQueue();
  void queue.run(worker);
  return (key) => queue.add(key);
}

/** Adds to the least that could be waited for. */
function bare(): (key: string) => void {
  const known = new Set<string>();
  const waiting: string[] = [];
  let wake: (() => void) | undefined;
  void (async (): Promise<never> => {
    for (;;) {
      if (waiting.length === 0) await new Promise<void>((resolve) => wake = resolve);
      known.delete(waiting.shift()!);
    }
  })();
  return (key) => {
    if (known.has(key)) return;
    known.add(key);
    waiting.push(key);
    wake?.();
  };
}

for (const [size, count] of [["1 key", 1], ["1k keys", 1_000], ["100k keys", 100_000]] as const) {
  const group = `workqueue / ${size}`;
  const keys = Array.from({ length: count }, (_, index) => `namespace-${index % 100}/object-${index}`);
  const items = new Map<string, "waiting" | "processing">();
  const order: string[] = [];
  const queue = new WorkQueue();

  Deno.bench({
    name: "bare Map and array",
    group,
    baseline: true,
    fn: () => {
      for (const key of keys) {
        if (items.has(key)) continue;
        items.set(key, "waiting");
        order.push(key);
      }
      for (const key of order) {
        items.set(key, "processing");
        items.delete(key);
      }
      order.length = 0;
    },
  });

  Deno.bench({
    name: "add+tryGet+dispose",
    group,
    fn: () => {
      for (const key of keys) queue.add(key);
      for (let item; (item = queue.tryGet()) !== undefined;) item[Symbol.dispose]();
    },
  });

  Deno.bench({
    name: "the same, priorities and causes",
    group,
    fn: () => {
      for (let i = 0; i < count; i++) queue.add(keys[i], SHARED[i % 2]);
      for (let item; (item = queue.tryGet()) !== undefined;) item[Symbol.dispose]();
    },
  });

  Deno.bench({
    name: "the same, a new cause for each key",
    group,
    fn: () => {
      for (let i = 0; i < count; i++) {
        queue.add(keys[i], { trigger: { type: "event", source: "pods", object: keys[i] } });
      }
      for (let item; (item = queue.tryGet()) !== undefined;) item[Symbol.dispose]();
    },
  });

  Deno.bench({
    name: "add+get+done",
    group,
    fn: async () => {
      for (const key of keys) queue.add(key);
      for (let left = count; left > 0; left--) queue.done((await queue.get())!.key);
    },
  });

  Deno.bench({
    name: "add, for await using",
    group,
    fn: async () => {
      for (const key of keys) queue.add(key);
      let left = count;
      for await (using _item of queue) {
        if (--left === 0) break;
      }
    },
  });

  Deno.bench({
    name: "get waits, add hands over, done",
    group,
    fn: async () => {
      for (const key of keys) {
        const wait = queue.get();
        queue.add(key);
        (await wait)![Symbol.dispose]();
      }
    },
  });

  Deno.bench({
    name: "add, run with 4 workers",
    group,
    fn: async () => {
      for (const key of keys) queue.add(key);
      const stop = new AbortController();
      let left = count;
      await queue.run(() => {
        if (--left === 0) stop.abort();
      }, { signal: stop.signal, concurrency: 4 });
    },
  });

  Deno.bench({
    name: "addAfter on a new queue, shutDown: one timer",
    group,
    fn: () => {
      const delaying = new WorkQueue();
      for (let i = 0; i < count; i++) delaying.addAfter(keys[i], 1000 + i);
      delaying.shutDown();
    },
  });

  Deno.bench({
    name: "addRateLimited on a new queue, shutDown",
    group,
    fn: () => {
      const delaying = new WorkQueue({ rateLimiter: exponentialBackoff() });
      for (const key of keys) delaying.addRateLimited(key);
      delaying.shutDown();
    },
  });
}
