import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { type Durations, Histogram } from "../../../src/engine/async/histogram.ts";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { exponentialBackoff } from "../../../src/engine/workqueue/rate_limiter.ts";
import { requeueAfter, retry } from "../../../src/engine/workqueue/work_item.ts";
import { WorkQueue, type WorkQueueStatus } from "../../../src/engine/workqueue/work_queue.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { collectHeap } from "../../support/times/heap.ts";

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

function durations(...all: number[]): Durations {
  const histogram = new Histogram();
  for (const ms of all) histogram.add(ms);
  return histogram.durations;
}

const NONE = durations();
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
  const handedOut = { ...EMPTY, processing: 1, adds: 1, queueLatencyMs: durations(50) };
  assertEquals(queue.status(), { ...handedOut, running: [{ key: "a", runningMs: 0, triggers: [] }] });

  time.tick(25);
  assertEquals(
    queue.status(),
    { ...handedOut, unfinishedWorkMs: 25, longestRunningMs: 25, running: [{ key: "a", runningMs: 25, triggers: [] }] },
  );
  queue.add("a");
  assertEquals(queue.status().adds, 2);
  assertEquals(queue.status().returning, 1);

  time.tick(25);
  item[Symbol.dispose]();
  const returned = { ...handedOut, processing: 0, waiting: 1, adds: 2, workDurationMs: durations(50) };
  assertEquals(queue.status(), returned);

  // The latency of a returning key counts from its second add.
  queue.tryGet()![Symbol.dispose]();
  assertEquals(
    queue.status(),
    { ...EMPTY, adds: 2, queueLatencyMs: durations(50, 25), workDurationMs: durations(50, 0) },
  );
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
  assertThrows(() => queue.addAfter("a", Infinity), RangeError, "it is Infinity");
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

function watch(promise: Promise<void>): { settled: boolean } {
  const watched = { settled: false };
  promise.then(() => watched.settled = true);
  return watched;
}

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

Deno.test("WorkQueue keeps no reference to keys that are done [C124]", async () => {
  const queue = new WorkQueue<number>();
  const refs = (() => {
    for (let key = 0; key < 40; key++) queue.add(key);
    return Array.from({ length: 10 }, () => {
      using item = queue.tryGet()!;
      return new WeakRef(item);
    });
  })();
  await collectHeap();
  assertEquals(refs.filter((ref) => ref.deref() !== undefined).length, 0);
  assertEquals(queue.length, 30);
});

Deno.test("WorkQueue keeps no memory of a run that has ended", async () => {
  await using queue = new WorkQueue<number>();
  const run = async (): Promise<WeakRef<AbortSignal>> => {
    const stop = new AbortController();
    let seen: WeakRef<AbortSignal> | undefined;
    queue.add(1);
    await queue.run((_key, { signal }) => {
      seen = new WeakRef(signal);
      stop.abort();
    }, stop).catch(() => {});
    return seen!;
  };
  const signal = await run();
  await collectHeap();
  assertEquals(signal.deref(), undefined);
});

Deno.test("WorkQueue iterator keeps no reference to an item that it waited for", async () => {
  const queue = new WorkQueue<number>();
  const items = queue[Symbol.asyncIterator]();
  const step = async (): Promise<WeakRef<object>> => {
    const next = items.next();
    queue.add(1);
    using item = (await next).value!;
    return new WeakRef(item);
  };
  const item = await step();
  await collectHeap();
  assertEquals(item.deref(), undefined);
  await items.return!();
});

Deno.test("WorkItem that is kept although it is done keeps no later item of its key", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  const kept = queue.tryGet()!;
  queue.add("a");
  kept[Symbol.dispose]();
  const take = (): WeakRef<object> => {
    using item = queue.tryGet()!;
    return new WeakRef(item);
  };
  const later = take();
  await collectHeap();
  assertEquals([later.deref(), kept.key], [undefined, "a"]);
});

Deno.test("WorkQueue that was shut down keeps no cause of a delayed key", async () => {
  const queue = new WorkQueue();
  const delay = (): WeakRef<object> => {
    const cause = { type: "external" };
    queue.addAfter("a", 60_000, { trigger: cause });
    return new WeakRef(cause);
  };
  const cause = delay();
  queue.shutDown();
  await collectHeap();
  assertEquals([cause.deref(), queue.status().delayed], [undefined, 0]);
});

Deno.test("a key added while it is processed has the higher priority of its additions", () => {
  const queue = new WorkQueue();
  queue.add("a");
  const item = queue.tryGet()!;
  queue.add("a", { priority: "low" });
  queue.add("b", { priority: "low" });
  queue.add("a");
  item[Symbol.dispose]();
  assertEquals(takeAllByPriority(queue), ["a", "b"]);
});

Deno.test("a delayed key keeps its priority and triggers, and those of several additions", () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addAfter("a", 10, { priority: "low", trigger: { type: "external" } });
  queue.addAfter("a", 20, { priority: "low", trigger: { type: "resync" } });
  queue.addAfter("b", 10);
  queue.addAfter("b", 5, { priority: "low" });
  time.tick(10);
  assertEquals(queue.status().lowPriority, 1);
  using b = queue.tryGet()!;
  using a = queue.tryGet()!;
  assertEquals([b.key, a.key, a.triggers], ["b", "a", [{ type: "external" }, { type: "resync" }]]);
  queue.shutDown();
});

Deno.test("a worker receives the triggers of all additions that it answers, each once", async () => {
  const seen: unknown[] = [];
  await using queue = new WorkQueue();
  const cause = { type: "event", source: "pods", event: "updated", paths: ["spec.replicas"] };
  queue.add("a", { trigger: cause });
  queue.add("a", { trigger: { ...cause, paths: ["spec.replicas", "metadata.labels"] } });
  queue.add("a", { trigger: { type: "resync" } });
  queue.add("a");
  await queue.run((_key, { triggers }) => {
    seen.push(triggers);
    queue.shutDown();
  });
  assertEquals(seen, [[{ ...cause, paths: ["spec.replicas", "metadata.labels"] }, { type: "resync" }]]);
});

Deno.test("retries and requeues are triggers", async () => {
  using time = new FakeTime();
  const seen: unknown[] = [];
  await using queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 1 }) });
  queue.add("a", { priority: "low", trigger: { type: "external" } });
  const running = queue.run((_key, { triggers }) => {
    seen.push(triggers);
    if (seen.length === 1) throw new Error("no");
    if (seen.length === 2) return retry();
    if (seen.length === 3) return requeueAfter(4);
  });
  for (const ms of [1, 2, 4]) {
    await time.tickAsync(0);
    time.tick(ms);
    await time.tickAsync(0);
  }
  assertEquals(
    seen,
    [[{ type: "external" }], [{ type: "retry", count: 1 }], [{ type: "retry", count: 2 }], [{ type: "requeue" }]],
  );
  assertEquals(queue.status().lastError?.triggers, [{ type: "external" }]);
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
    takeAllByPriority(queue);
  }
});

function takeAllByPriority<K extends string | number>(queue: WorkQueue<K>): K[] {
  const keys: K[] = [];
  for (let item; (item = queue.tryGet()) !== undefined; item[Symbol.dispose]()) keys.push(item.key);
  return keys;
}
