import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { nextTurn } from "../../src/async/next_turn.ts";
import { exponentialBackoff } from "../../src/workqueue/rate_limiter.ts";
import type { WorkItem } from "../../src/workqueue/work_item.ts";
import { WorkQueue } from "../../src/workqueue/work_queue.ts";

Deno.test("WorkQueue never gives one key to two workers [C121]", async (t) => {
  for (const ending of ["shutDown", "shutDownWithDrain"] as const) {
    await t.step(ending, async () => {
      const queue = new WorkQueue<number>();
      const held = new Set<number>();
      let handled = 0;
      let overlaps = 0;

      async function consume(): Promise<void> {
        for (let item; (item = await queue.get()) !== undefined;) {
          using taken = item;
          if (held.has(taken.key)) overlaps++;
          held.add(taken.key);
          await nextTurn();
          held.delete(taken.key);
          handled++;
        }
      }
      async function produce(producer: number): Promise<void> {
        for (let i = 0; i < 20; i++) {
          queue.add((producer + i) % 25);
          await nextTurn();
        }
      }
      const consumers = Array.from({ length: 10 }, consume);
      await Promise.all(Array.from({ length: 50 }, (_, producer) => produce(producer)));
      const { adds } = queue.status();
      await queue[ending]();
      queue.add(99);
      queue.addAfter(99, 10);
      await Promise.all(consumers);

      assertEquals(overlaps, 0);
      assertEquals(handled, adds);
      assert(adds >= 25 && adds < 1_000, `of 1000 adds some were folded, found ${adds} left`);
      const { waiting, processing, dropped } = queue.status();
      assertEquals({ waiting, processing, dropped }, { waiting: 0, processing: 0, dropped: 2 });
    });
  }
});

Deno.test("WorkQueue returns a key again that is added while it is processed, after it is done [C122]", () => {
  const queue = new WorkQueue();
  queue.add("a");
  const first = queue.tryGet()!;
  queue.add("a");
  queue.add("a");
  assertEquals([queue.length, queue.tryGet(), queue.status().returning], [0, undefined, 1]);
  first[Symbol.dispose]();
  assertEquals([queue.length, queue.status().returning], [1, 0]);
  const second = queue.tryGet()!;
  assertEquals([second.key, queue.length], ["a", 0]);
  queue.done("a");
  assertEquals([queue.tryGet(), queue.length], [undefined, 0]);
});

Deno.test("WorkQueue keeps a key once, however often it is added, at its first place [F19]", () => {
  const queue = new WorkQueue();
  for (const key of ["a", "b", "a", "c", "b", "a"]) queue.add(key);
  assertEquals(queue.length, 3);
  assertEquals(takeAll(queue), ["a", "b", "c"]);
});

Deno.test("WorkQueue puts a key that comes back behind the keys added meanwhile [F19]", () => {
  const queue = new WorkQueue();
  queue.add("a");
  using _first = queue.tryGet()!;
  queue.add("a");
  queue.add("b");
  queue.done("a");
  assertEquals(takeAll(queue), ["b", "a"]);
});

Deno.test("WorkQueue drains until every key in progress is done [C123]", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  queue.add("b");
  const items = [queue.tryGet()!, queue.tryGet()!];
  const drain = watch(queue.shutDownWithDrain());
  await nextTurn();
  assertEquals(drain.settled, false);
  items[0][Symbol.dispose]();
  await nextTurn();
  assertEquals(drain.settled, false);
  items[1][Symbol.dispose]();
  await nextTurn();
  assertEquals(drain.settled, true);
});

Deno.test("WorkQueue drains until every waiting key is done, even if no worker has one", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  const drain = watch(queue.shutDownWithDrain());
  await nextTurn();
  assertEquals(drain.settled, false);
  const item = (await queue.get())!;
  assertEquals(item.key, "a");
  await nextTurn();
  assertEquals(drain.settled, false);
  item[Symbol.dispose]();
  await nextTurn();
  assertEquals(drain.settled, true);
});

Deno.test("WorkQueue returns during a drain the keys that were added while they were processed", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  const first = queue.tryGet()!;
  queue.add("a");
  const drain = watch(queue.shutDownWithDrain());
  first[Symbol.dispose]();
  await nextTurn();
  assertEquals(drain.settled, false);
  using second = (await queue.get())!;
  assertEquals(second.key, "a");
  second[Symbol.dispose]();
  await nextTurn();
  assertEquals([drain.settled, await queue.get()], [true, undefined]);
});

Deno.test("WorkQueue shutDown does not wait for workers, and ends a pending drain", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  using _item = queue.tryGet();
  const drains = [queue.shutDownWithDrain(), queue.shutDownWithDrain()];
  queue.shutDown();
  await Promise.all(drains);
  assertEquals(queue.status().processing, 1);
});

Deno.test("WorkQueue drain resolves at once when nothing is left, at each call", async () => {
  const queue = new WorkQueue();
  await queue.shutDownWithDrain();
  queue.shutDown();
  await queue.shutDownWithDrain();
  assertEquals(queue.isShutDown, true);
});

Deno.test("WorkQueue drain can be awaited after shutdown", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  queue.shutDown();
  const drain = watch(queue.shutDownWithDrain());
  await nextTurn();
  assertEquals(drain.settled, false);
  queue.tryGet()![Symbol.dispose]();
  await nextTurn();
  assertEquals(drain.settled, true);
});

Deno.test("WorkQueue shutDownWithDrain rejects with the signal's reason, and stays shut down", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  const controller = new AbortController();
  const drain = queue.shutDownWithDrain({ signal: controller.signal });
  controller.abort(new Error("too long"));
  await assertRejects(() => drain, Error, "too long");
  queue.add("b");
  assertEquals([queue.isShutDown, takeAll(queue)], [true, ["a"]]);
});

Deno.test("WorkQueue shutDown leaves waiting keys to be taken; then get returns undefined", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  queue.shutDown();
  queue.shutDown();
  using item = await queue.get();
  assertEquals([item?.key, await queue.get(), queue.tryGet()], ["a", undefined, undefined]);
});

Deno.test("WorkQueue shutDown resolves all waiting calls of get", async () => {
  const queue = new WorkQueue();
  const waits = [
    queue.get(),
    queue.get({ signal: new AbortController().signal }),
    queue[Symbol.asyncIterator]().next(),
  ];
  queue.shutDown();
  assertEquals(await Promise.all(waits), [undefined, undefined, { done: true, value: undefined }]);
});

Deno.test("WorkQueue get answers pending calls in their order", async () => {
  const queue = new WorkQueue();
  const waits = [queue.get(), queue.get(), queue.get()];
  for (const key of ["a", "b", "c"]) queue.add(key);
  assertEquals(keysOf(await Promise.all(waits)), ["a", "b", "c"]);
  assertEquals(queue.status().processing, 3);
});

Deno.test("WorkQueue get rejects with the signal's reason, and then takes no key", async () => {
  const queue = new WorkQueue();
  const controller = new AbortController();
  const aborted = queue.get({ signal: controller.signal });
  const next = queue.get();
  const reason = new Error("enough");
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => aborted), reason);
  queue.add("a");
  assertEquals((await next)?.key, "a");
  queue.add("b");
  assertStrictEquals(await assertRejects(() => queue.get({ signal: controller.signal })), reason);
  assertEquals(queue.length, 1);
});

Deno.test("WorkQueue get leaves no listener on the signal once it has a key", async () => {
  const queue = new WorkQueue();
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>): void => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>): void => (listeners--, remove(...args));
  const wait = queue.get({ signal });
  assertEquals(listeners, 1);
  queue.add("a");
  await wait;
  assertEquals(listeners, 0);
});

Deno.test("WorkQueue done of a key that is not being processed does nothing", () => {
  const queue = new WorkQueue();
  queue.done("unknown");
  queue.add("a");
  queue.done("a");
  assertEquals([queue.length, takeAll(queue), queue.length], [1, ["a"], 0]);
  queue.done("a");
  assertEquals(queue.status().workDurationMs.count, 1);
});

Deno.test("WorkItem that is disposed late does not end the work of the next worker", () => {
  const queue = new WorkQueue();
  queue.add("a");
  const first = queue.tryGet()!;
  first[Symbol.dispose]();
  queue.add("a");
  using second = queue.tryGet()!;
  first[Symbol.dispose]();
  queue.add("a");
  assertEquals([queue.length, queue.status().processing, second.key], [0, 1, "a"]);
});

Deno.test("WorkItem is done at the end of a using block, even when that throws", () => {
  const queue = new WorkQueue();
  queue.add("a");
  assertThrows(
    () => {
      using item = queue.tryGet()!;
      throw new Error(item.key);
    },
    Error,
    "a",
  );
  assertEquals(queue.status().processing, 0);
});

Deno.test("WorkQueue iteration lasts until the queue is shut down and empty", async () => {
  const queue = new WorkQueue<number>();
  for (let key = 0; key < 200; key++) queue.add(key);
  const seen: number[] = [];
  const iterating = (async (): Promise<void> => {
    for await (using item of queue) {
      seen.push(item.key);
      if (item.key === 199) queue.addAfter(200, 0);
      if (item.key === 201) queue.shutDown();
    }
  })();
  await nextTurn();
  await nextTurn();
  queue.add(201);
  await iterating;
  assertEquals(seen, Array.from({ length: 202 }, (_, key) => key));
  assertEquals(queue.status().processing, 0);
});

Deno.test("WorkQueue can be iterated by several loops at once, and each key goes to one of them", async () => {
  const queue = new WorkQueue<number>();
  const seen: number[] = [];
  async function consume(): Promise<void> {
    for await (using item of queue) {
      seen.push(item.key);
      await nextTurn();
    }
  }
  const consumers = [consume(), consume(), consume()];
  for (let key = 0; key < 30; key++) queue.add(key);
  await queue.shutDownWithDrain();
  await Promise.all(consumers);
  assertEquals(seen, Array.from({ length: 30 }, (_, key) => key));
});

Deno.test("WorkQueue iterator that has returned takes no further key", async () => {
  const queue = new WorkQueue();
  const iterator = queue[Symbol.asyncIterator]();
  const pending = iterator.next();
  await iterator.return!();
  queue.add("a");
  const over = { done: true, value: undefined } as const;
  assertEquals([await pending, await iterator.next(), queue.length], [over, over, 1]);
});

Deno.test("WorkQueue iteration lets the event loop run", async () => {
  const queue = new WorkQueue<number>();
  let had = 0;
  let stop = false;
  const turns = (async (): Promise<void> => {
    while (!stop) {
      await nextTurn();
      had++;
    }
  })();
  // Each key brings the next: without a turn now and then this would never let go.
  queue.add(0);
  for await (using item of queue) {
    if (had < 3) queue.add(item.key + 1);
    else queue.shutDown();
  }
  stop = true;
  await turns;
  assert(had >= 3);
});

Deno.test("WorkQueue forget clears a key's failures, and leaves the key in the queue", () => {
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 1 }) });
  queue.add("a");
  queue.addRateLimited("b");
  assertEquals([queue.retries("a"), queue.retries("b")], [0, 1]);
  queue.forget("a");
  queue.forget("b");
  const { waiting, delayed } = queue.status();
  assertEquals([queue.retries("b"), waiting, delayed], [0, 1, 1]);
  queue.shutDown();
});

Deno.test("WorkItem has the number of retries of its key", () => {
  const queue = new WorkQueue({ rateLimiter: { when: () => 0, forget: () => {}, retries: () => 7 } });
  queue.addRateLimited("a");
  using item = queue.tryGet()!;
  assertEquals([item.key, item.retries], ["a", 7]);
});

Deno.test("WorkQueue refuses invalid delays and limiters", () => {
  const queue = new WorkQueue({ name: "pods" });
  assertThrows(
    () => queue.addAfter("a", NaN),
    RangeError,
    'Cannot add "a" to work queue "pods": delayMs must be a finite',
  );
  assertThrows(() => queue.addAfter("a", Infinity), RangeError, "found Infinity");
  assertEquals(queue.status().retries, 0);
  const rateLimiter = { when: () => 0, forget: () => {} } as unknown as ReturnType<typeof exponentialBackoff>;
  assertThrows(() => new WorkQueue({ rateLimiter }), TypeError, 'must have a method "retries"');
});

Deno.test("WorkQueue accepts only strings and numbers as keys", () => {
  const queue = new WorkQueue<number>({ rateLimiter: exponentialBackoff() });
  queue.add(1);
  // @ts-expect-error a queue of numbers
  const addString = (): void => queue.add("1");
  // @ts-expect-error objects would never be folded
  type OfObjects = WorkQueue<{ name: string }>;
  assertEquals([queue.length, typeof addString, undefined as OfObjects | undefined], [1, "function", undefined]);
});

function takeAll<K extends string | number>(queue: WorkQueue<K>): K[] {
  const keys: K[] = [];
  for (let item; (item = queue.tryGet()) !== undefined;) {
    using taken = item;
    keys.push(taken.key);
  }
  return keys;
}

function keysOf<K>(items: readonly (WorkItem<K> | undefined)[]): (K | undefined)[] {
  return items.map((item) => item?.key);
}

function watch(promise: Promise<void>): { settled: boolean } {
  const watched = { settled: false };
  promise.then(() => watched.settled = true);
  return watched;
}
