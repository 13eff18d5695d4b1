/**
 * What a work queue costs over the least that could remember keys at all: all keys are added, then each is taken and given
 * back. The baseline sets them in a Map, in the same order, and deletes them one by one.
 *
 * Then keys that come alone, as those of a watch do: each is added in a turn of its own, in which a worker that waits takes
 * it and is done with it. The baseline is a Set, an array and a promise; what the turns cost is shown beside.
 */
import { nextTurn } from "../src/async/next_turn.ts";
import { exponentialBackoff } from "../src/workqueue/rate_limiter.ts";
import { WorkQueue } from "../src/workqueue/work_queue.ts";

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
  const map = new Map<string, number>();
  const queue = new WorkQueue();

  Deno.bench({
    name: "bare Map set+delete",
    group,
    baseline: true,
    fn: () => {
      for (const key of keys) map.set(key, 0);
      for (const key of keys) map.delete(key);
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
    name: "addRateLimited on a new queue, shutDown",
    group,
    fn: () => {
      const delaying = new WorkQueue({ rateLimiter: exponentialBackoff() });
      for (const key of keys) delaying.addRateLimited(key);
      delaying.shutDown();
    },
  });
}
