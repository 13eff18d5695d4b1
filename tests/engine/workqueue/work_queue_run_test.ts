import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { nextTurn } from "../../../src/engine/async/turns.ts";
import { exponentialBackoff, type RateLimiter } from "../../../src/engine/workqueue/rate_limiter.ts";
import { type ReconcileResult, requeueAfter, retry, SETTLED } from "../../../src/engine/workqueue/work_item.ts";
import { WorkQueue } from "../../../src/engine/workqueue/work_queue.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("WorkQueue run gives every key to the worker, and resolves when the queue is shut down and empty", async () => {
  const queue = new WorkQueue<number>();
  const seen: number[] = [];
  const running = queue.run((key) => void seen.push(key));
  for (let key = 0; key < 200; key++) queue.add(key);
  await queue.shutDownWithDrain();
  await running;
  assertEquals(seen, Array.from({ length: 200 }, (_, key) => key));
});

Deno.test("WorkQueue run processes as many keys at a time as concurrency allows", async (t) => {
  for (const concurrency of [undefined, 1, 3]) {
    await t.step(`concurrency ${concurrency}`, async () => {
      const queue = new WorkQueue<number>();
      let running = 0;
      let most = 0;
      for (let key = 0; key < 12; key++) queue.add(key);
      queue.shutDown();
      await queue.run(async () => {
        most = Math.max(most, ++running);
        await nextTurn();
        running--;
      }, concurrency === undefined ? {} : { concurrency });
      assertEquals(most, concurrency ?? 1);
    });
  }
});

Deno.test("WorkQueue run retries a failing key with back-off, and forgets its failures when it succeeds [F14]", async () => {
  using time = new FakeTime(0);
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  const tries: [number, number][] = [];
  const errors: [string, string][] = [];
  const running = queue.run(async (_key, { retries }) => {
    tries.push([Date.now(), retries]);
    await nextTurn();
    if (retries < 3) throw new Error(`try ${retries}`);
  }, { onError: (error, key) => void errors.push([(error as Error).message, key]) });
  queue.add("a");
  await time.tickAsync(1_000);
  assertEquals(tries, [[0, 0], [10, 1], [30, 2], [70, 3]]);
  assertEquals(errors, [["try 0", "a"], ["try 1", "a"], ["try 2", "a"]]);
  assertEquals([queue.retries("a"), queue.status().errors, time.timers], [0, 3, 0]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run without onError writes each new cause to the console, with the key, and with one nothing", async () => {
  using warnings = new Warnings();
  const queue = new WorkQueue({ name: "shop", rateLimiter: exponentialBackoff({ baseMs: 1, maxMs: 1 }) });
  queue.add("a");
  const bug = new Error("bug");
  let calls = 0;
  await queue.run(() => {
    if (++calls < 4) throw bug;
    queue.shutDown();
  });
  assertEquals(warnings.take(), [`worker of work queue "shop" failed on "a": bug`]);
  const other = new WorkQueue();
  other.add("b");
  await other.run(() => {
    other.shutDown();
    throw bug;
  }, { onError: () => "ignored" });
  assertEquals(warnings.take(), []);
});

Deno.test("WorkQueue run keeps errors in the status when there is no onError", async () => {
  using _warnings = new Warnings();
  using time = new FakeTime();
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  const error = new Error("boom");
  const running = queue.run((key) => {
    if (key === "bad") throw error;
  });
  queue.add("bad");
  queue.add("good");
  await time.tickAsync(5);
  const { errors, lastError, delayed, workDurationMs } = queue.status();
  assertEquals([errors, lastError?.key, delayed, workDurationMs.count], [1, "bad", 1, 2]);
  assertStrictEquals(lastError?.error, error);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run does not retry a key that fails after shutdown, and counts that", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  queue.shutDown();
  await queue.run(() => Promise.reject(new Error("boom")));
  const { errors, dropped, waiting, delayed } = queue.status();
  assertEquals({ errors, dropped, waiting, delayed }, { errors: 1, dropped: 1, waiting: 0, delayed: 0 });
});

Deno.test("WorkQueue run whose signal aborts takes no further key, and resolves once its workers have ended", async () => {
  const queue = new WorkQueue();
  const controller = new AbortController();
  const { promise: finish, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  let sawAbort = false;
  const running = queue.run(async (_key, { signal }) => {
    await finish;
    sawAbort = signal.aborted;
  }, { signal: controller.signal, concurrency: 2 }).then(() => isOver = true);
  queue.add("a");
  queue.add("b");
  queue.add("c");
  controller.abort();
  await nextTurn();
  assertEquals([isOver, queue.status().processing], [false, 2]);
  resolve();
  await running;
  assertEquals([sawAbort, queue.length, queue.status().processing, queue.status().errors], [true, 1, 0, 0]);
});

Deno.test("WorkQueue run whose signal aborts takes no key that is added while its workers stop", async () => {
  const queue = new WorkQueue();
  const controller = new AbortController();
  const seen: string[] = [];
  const running = queue.run((key, { signal }) => {
    seen.push(key);
    signal.addEventListener("abort", () => queue.add("late"), { once: true });
  }, { signal: controller.signal, concurrency: 3 });
  queue.add("a");
  await nextTurn();
  controller.abort();
  await running;
  assertEquals([seen, queue.length, queue.status().processing], [["a"], 1, 0]);
});

Deno.test("WorkQueue run adds one listener to its signal, for any number of waits", async () => {
  const queue = new WorkQueue<number>();
  let listeners = 0;
  const running = queue.run((key, { signal }) => {
    if (key > 0) return;
    const add = signal.addEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>): void => (listeners++, add(...args));
  });
  for (let key = 0; key < 5; key++) {
    queue.add(key);
    await nextTurn();
  }
  assertEquals([queue.status().workDurationMs.count, listeners], [5, 0]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run starts a worker after the code that adds the key has returned, one key after the other", async () => {
  const queue = new WorkQueue();
  const seen: string[] = [];
  const running = queue.run((key) => {
    seen.push(`${key} begins`);
    queueMicrotask(() => seen.push(`${key} is over`));
  });
  for (const key of ["a", "b"]) queue.add(key);
  seen.push("added");
  await nextTurn();
  assertEquals(seen, ["added", "a begins", "a is over", "b begins", "b is over"]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run rejects with the error that a rate limiter throws, and adds its key again", async () => {
  const broken = new Error("broken");
  const limiter = exponentialBackoff<string>();
  const throwing = (): never => {
    throw broken;
  };
  for (const method of ["retries", "forget", "when"] as const) {
    const queue = new WorkQueue({ rateLimiter: { ...bound(limiter), [method]: throwing } });
    const running = queue.run(() => {
      if (method === "when") throw new Error("boom");
    });
    queue.add("a");
    assertStrictEquals(await assertRejects(() => running), broken);
    const { processing, waiting, errors } = queue.status();
    assertEquals([processing, waiting, errors], [0, 0, method === "when" ? 1 : 0], method);
  }
});

Deno.test("WorkQueue run adds a key again when its worker rejects with the signal's reason", async () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  const controller = new AbortController();
  const running = queue.run((_key, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }), { signal: controller.signal });
  queue.add("a");
  await time.tickAsync(0);
  controller.abort();
  await running;
  const { errors, waiting, processing, delayed } = queue.status();
  assertEquals({ errors, waiting, processing, delayed }, { errors: 0, waiting: 1, processing: 0, delayed: 0 });
  assertEquals(queue.retries("a"), 0);
});

Deno.test("WorkQueue run resolves immediately when its signal has aborted before", async () => {
  const queue = new WorkQueue();
  queue.add("a");
  await queue.run(() => Promise.reject(new Error("never called")), { signal: AbortSignal.abort() });
  assertEquals([queue.length, queue.status().errors], [1, 0]);
});

Deno.test("WorkQueue run rejects with the error that onError throws, after the other workers have ended", async () => {
  using time = new FakeTime();
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  let ended = 0;
  const fatal = new Error("fatal");
  const running = queue.run(async (key, { signal }) => {
    if (key === "bad") throw new Error("boom");
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await nextTurn();
    ended++;
  }, {
    concurrency: 2,
    onError: async () => {
      await nextTurn();
      throw fatal;
    },
  });
  const rejected = assertRejects(() => running);
  queue.add("slow");
  queue.add("bad");
  await time.tickAsync(5);
  assertStrictEquals(await rejected, fatal);
  const { processing, delayed } = queue.status();
  assertEquals([ended, processing, delayed], [1, 0, 1], "the key that failed is still on its way back");
  queue.shutDown();
});

Deno.test("WorkQueue run lets timers fire, whatever its workers do", async () => {
  const queue = new WorkQueue<number>();
  let turns = 0;
  let stop = false;
  const turning = (async (): Promise<void> => {
    while (!stop) {
      await nextTurn();
      turns++;
    }
  })();
  queue.add(0);
  await queue.run((key) => {
    if (turns < 3) queue.add(key + 1);
    else queue.shutDown();
  });
  stop = true;
  await turning;
  assert(turns >= 3);
});

Deno.test("WorkQueue run can be called several times, and each run stops on its own", async () => {
  const queue = new WorkQueue();
  const first = new AbortController();
  const seen: string[] = [];
  const runs = ["first", "second"].map((name, index) =>
    queue.run((key) => void seen.push(`${name} ${key}`), index === 0 ? { signal: first.signal } : {})
  );
  queue.add("a");
  queue.add("b");
  await nextTurn();
  first.abort();
  await runs[0];
  queue.add("c");
  await queue.shutDownWithDrain();
  await runs[1];
  assertEquals(seen, ["first a", "second b", "second c"]);
});

Deno.test("WorkQueue run refuses an invalid concurrency", async () => {
  const queue = new WorkQueue({ name: "pods" });
  for (const concurrency of [0, -1, 1.5, NaN, Infinity]) {
    await assertRejects(
      () => queue.run(() => {}, { concurrency }),
      RangeError,
      `Cannot run work queue "pods": concurrency must be a whole number of at least 1, but it is ${concurrency}`,
    );
  }
});

Deno.test("WorkQueue disposal stops its runs, and waits for their workers", async () => {
  using time = new FakeTime();
  let ended = false;
  let reason: unknown;
  let running: Promise<void>;
  {
    await using queue = new WorkQueue({ name: "pods" });
    running = queue.run(async (_key, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      reason = signal.reason;
      await nextTurn();
      ended = true;
    });
    queue.add("a");
    queue.add("b");
    queue.addAfter("c", 1_000);
    await time.tickAsync(0);
  }
  assertEquals([ended, (reason as Error).message, time.timers], [true, 'Work queue "pods" was disposed', 0]);
  await running;
});

Deno.test("WorkQueue can be disposed twice, and while a run fails", async () => {
  const queue = new WorkQueue();
  const running = queue.run(() => Promise.reject(new Error("boom")), {
    onError: (error) => {
      throw error;
    },
  });
  const rejected = assertRejects(() => running, Error, "boom");
  queue.add("a");
  await queue[Symbol.asyncDispose]();
  await queue[Symbol.asyncDispose]();
  await rejected;
});

Deno.test("WorkQueue run adds a key again with growing waits when its worker returns retry(), without an error", async () => {
  using time = new FakeTime(0);
  for (
    const wrap of [
      (result: void | ReconcileResult) => result,
      (result: void | ReconcileResult) => Promise.resolve(result),
    ]
  ) {
    const startMs = Date.now();
    const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
    const tries: [number, number][] = [];
    const running = queue.run((_key, { retries }) => {
      tries.push([Date.now() - startMs, retries]);
      return wrap(retries < 3 ? retry() : undefined);
    }, { onError: assertUnreachable });
    queue.add("a");
    await time.tickAsync(1_000);
    assertEquals(tries, [[0, 0], [10, 1], [30, 2], [70, 3]]);
    const { errors, retries, processing } = queue.status();
    assertEquals([queue.retries("a"), errors, retries, processing, time.timers], [0, 0, 3, 0, 0]);
    queue.shutDown();
    await running;
  }
});

Deno.test("WorkQueue run forgets a key's failures and adds it after the delay when its worker returns requeueAfter()", async () => {
  using time = new FakeTime(0);
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  const results = [retry(), retry(), requeueAfter(500), requeueAfter(0), retry(), undefined];
  const tries: [number, number][] = [];
  const running = queue.run((_key, { retries }) => {
    tries.push([Date.now(), retries]);
    return results[tries.length - 1];
  });
  queue.add("a");
  await time.tickAsync(1_000);
  assertEquals(tries, [[0, 0], [10, 1], [30, 2], [530, 0], [530, 0], [540, 1]]);
  assertEquals([queue.status().errors, time.timers], [0, 0]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run keeps the failures of a key that its worker adds rate-limited, so that its waits grow", async () => {
  using time = new FakeTime(0);
  const queue = new WorkQueue({ rateLimiter: exponentialBackoff({ baseMs: 10 }) });
  const tries: [number, number][] = [];
  const running = queue.run((key, { retries }) => {
    tries.push([Date.now(), retries]);
    if (retries < 3) queue.addRateLimited(key);
  });
  queue.add("a");
  await time.tickAsync(1_000);
  assertEquals(tries, [[0, 0], [10, 1], [30, 2], [70, 3]]);
  assertEquals([queue.retries("a"), time.timers], [0, 0]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run leaves a key and its failures as they are when its worker returns SETTLED", async () => {
  using time = new FakeTime();
  const queue = new WorkQueue();
  queue.addRateLimited("a");
  let calls = 0;
  const running = queue.run(() => (calls++, SETTLED));
  await time.tickAsync(60_000);
  assertEquals([calls, queue.retries("a"), queue.status().retries, queue.length], [1, 1, 1, 0]);
  queue.shutDown();
  await running;
});

Deno.test("WorkQueue run adds no key again after shutdown, whatever its worker returns", async () => {
  for (const result of [retry(), requeueAfter(0), requeueAfter(10)]) {
    const queue = new WorkQueue();
    queue.add("a");
    queue.shutDown();
    await queue.run(() => result);
    const { errors, dropped, waiting, delayed } = queue.status();
    assertEquals({ errors, dropped, waiting, delayed }, { errors: 0, dropped: 1, waiting: 0, delayed: 0 });
  }
});

Deno.test("WorkQueue run treats any other result of a worker as a failure", async () => {
  for (const value of [1, "retry", {}, null]) {
    const queue = new WorkQueue();
    const messages: string[] = [];
    queue.add("a");
    queue.shutDown();
    await queue.run(() => value as unknown as ReconcileResult, {
      onError: (error) => void messages.push((error as Error).message),
    });
    const found = `found a value of type ${typeof value}`;
    assertEquals(messages, [`A worker must return nothing, retry() or requeueAfter(ms), ${found}`]);
  }
});

function assertUnreachable(error: unknown): never {
  throw error;
}

function bound<K>(limiter: RateLimiter<K>): RateLimiter<K> {
  return {
    when: (key) => limiter.when(key),
    forget: (key) => limiter.forget(key),
    retries: (key) => limiter.retries(key),
  };
}
