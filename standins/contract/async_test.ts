import { abortable } from "@std/async/abortable";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { pooledMap } from "@std/async/pool";
import * as everything from "@std/async";
import { assert, assertEquals, assertInstanceOf, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { mock } from "node:test";

/** Fakes `setTimeout`, `clearTimeout` and `Date` until disposed. */
function fakeTime(): Disposable & { tick(ms: number): Promise<void> } {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  return {
    /** Moves the time on, then lets everything run that was waiting for it. */
    async tick(ms: number): Promise<void> {
      mock.timers.tick(ms);
      await settle();
    },
    [Symbol.dispose](): void {
      mock.timers.reset();
    },
  };
}

/** Lets promises that are ready call whoever waits for them. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await null;
}

/** What becomes of a promise, to be looked at without waiting. */
function watch<T>(promise: Promise<T>): { state: "pending" | "resolved" | "rejected"; value?: T; reason?: unknown } {
  const seen: ReturnType<typeof watch<T>> = { state: "pending" };
  promise.then(
    (value) => Object.assign(seen, { state: "resolved", value }),
    (reason) => Object.assign(seen, { state: "rejected", reason }),
  );
  return seen;
}

/** A signal that counts who listens to it. */
function countedSignal(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]): void => {
    count++;
    Reflect.apply(addEventListener, signal, args);
  };
  signal.removeEventListener = (...args: unknown[]): void => {
    count--;
    Reflect.apply(removeEventListener, signal, args);
  };
  return { controller, listeners: () => count };
}

Deno.test("async's main entry has everything the others have", () => {
  assertStrictEquals(everything.abortable, abortable);
  assertStrictEquals(everything.deadline, deadline);
  assertStrictEquals(everything.delay, delay);
  assertStrictEquals(everything.pooledMap, pooledMap);
});

Deno.test("delay resolves when its time has come and not before", async () => {
  using time = fakeTime();
  const waiting = watch(delay(100));
  await time.tick(99);
  assertEquals(waiting.state, "pending");
  await time.tick(1);
  assertEquals(waiting, { state: "resolved", value: undefined });
});

Deno.test("delay rejects with the reason and leaves no timer and no listener", async () => {
  const { controller, listeners } = countedSignal();
  const reason = new Error("enough");
  const waiting = delay(1_000_000, { signal: controller.signal });
  assertEquals(listeners(), 1);
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => waiting), reason);
});

Deno.test("delay stops listening when its time has come", async () => {
  const { controller, listeners } = countedSignal();
  await delay(0, { signal: controller.signal });
  assertEquals(listeners(), 0);
});

Deno.test("delay rejects at once when the signal is aborted already", async () => {
  const error = await assertRejects(() => delay(1_000_000, { signal: AbortSignal.abort() }), DOMException);
  assertEquals(error.name, "AbortError");
});

Deno.test("delay takes what is negative or not a number for zero", async () => {
  using time = fakeTime();
  const waiting = [watch(delay(-5)), watch(delay(NaN))];
  await time.tick(1);
  assertEquals(waiting.map(({ state }) => state), ["resolved", "resolved"]);
});

Deno.test("delay can be longer than one timer", async () => {
  using time = fakeTime();
  const waiting = watch(delay(2 ** 31 + 1_000));
  await time.tick(2 ** 31 - 1);
  assertEquals(waiting.state, "pending");
  await time.tick(1_000);
  assertEquals(waiting.state, "pending");
  await time.tick(1);
  assertEquals(waiting.state, "resolved");
});

Deno.test("delay that is not persistent still resolves while something else keeps the process alive", async () => {
  const short = delay(1, { persistent: false });
  await Promise.all([short, delay(5)]);
});

Deno.test("abortable gives the promise's own outcome and stops listening", async () => {
  const { controller, listeners } = countedSignal();
  assertEquals(await abortable(Promise.resolve(7), controller.signal), 7);
  const failure = new Error("own");
  assertStrictEquals(await assertRejects(() => abortable(Promise.reject(failure), controller.signal)), failure);
  assertEquals(listeners(), 0);
});

Deno.test("abortable rejects with the reason while the promise goes on", async () => {
  const { controller, listeners } = countedSignal();
  const { promise, resolve } = Promise.withResolvers<number>();
  const reason = new Error("enough");
  const waiting = abortable(promise, controller.signal);
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => waiting), reason);
  assertEquals(listeners(), 0);
  resolve(1);
  assertEquals(await promise, 1);
});

Deno.test("abortable rejects when the signal is aborted already, even if the promise is ready", async () => {
  const reason = new Error("before");
  assertStrictEquals(await assertRejects(() => abortable(Promise.resolve(1), AbortSignal.abort(reason))), reason);
});

Deno.test("deadline gives the promise's own outcome", async () => {
  assertEquals(await deadline(Promise.resolve(7), 1_000_000), 7);
  await assertRejects(() => deadline(Promise.reject(new RangeError("own")), 1_000_000), RangeError, "own");
});

Deno.test("deadline rejects with a TimeoutError", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const error = await assertRejects(() => deadline(promise, 1), DOMException);
  assertEquals(error.name, "TimeoutError");
  resolve();
});

Deno.test("deadline rejects with the reason of its signal", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const controller = new AbortController();
  const reason = new Error("enough");
  const waiting = deadline(promise, Number.MAX_SAFE_INTEGER, { signal: controller.signal });
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => waiting), reason);
  resolve();
});

Deno.test("pooledMap yields in the order of the items, whatever is ready first", async () => {
  const slots = new Map<number, PromiseWithResolvers<string>>();
  const started: number[] = [];
  const results = pooledMap(2, [1, 2, 3], (item) => {
    started.push(item);
    const slot = Promise.withResolvers<string>();
    slots.set(item, slot);
    return slot.promise;
  });
  await settle();
  assertEquals(started, [1, 2]);
  slots.get(2)!.resolve("two");
  await settle();
  assertEquals(started, [1, 2, 3]);
  slots.get(3)!.resolve("three");
  slots.get(1)!.resolve("one");
  assertEquals(await Array.fromAsync(results), ["one", "two", "three"]);
});

Deno.test("pooledMap takes an async source", async () => {
  async function* source(): AsyncGenerator<number> {
    for (const item of [1, 2, 3, 4]) {
      await null;
      yield item;
    }
  }
  assertEquals(await Array.fromAsync(pooledMap(3, source(), (item) => Promise.resolve(item * 2))), [2, 4, 6, 8]);
  assertEquals(await Array.fromAsync(pooledMap(1, [], () => Promise.resolve(1))), []);
});

Deno.test("pooledMap lets the calls under way end, begins no further one, and throws all failures", async () => {
  const first = Promise.withResolvers<string>();
  const failure = new Error("second");
  const started: number[] = [];
  const results = pooledMap(2, [1, 2, 3, 4], (item) => {
    started.push(item);
    return item === 1 ? first.promise : Promise.reject(failure);
  });
  await settle();
  first.resolve("one");
  const yielded: string[] = [];
  const error = await assertRejects(async () => {
    for await (const result of results) yielded.push(result);
  }, AggregateError);
  assertEquals(error.message, "Cannot complete the mapping as an error was thrown from an item");
  assertEquals(error.errors.length, 1);
  assertStrictEquals(error.errors[0], failure);
  assertEquals(yielded, ["one"]);
  assertEquals(started, [1, 2]);
});

Deno.test("pooledMap takes a function that throws for one whose promise is rejected", async () => {
  const error = await assertRejects(
    () =>
      Array.fromAsync(pooledMap(1, [1], (): Promise<number> => {
        throw new RangeError("at once");
      })),
    AggregateError,
  );
  assertInstanceOf(error.errors[0], RangeError);
});

Deno.test("pooledMap refuses a limit that is not a positive integer", () => {
  for (const limit of [0, -1, 1.5, NaN]) {
    assertThrows(() => pooledMap(limit, [1], (item) => Promise.resolve(item)), RangeError, "poolLimit");
  }
  assert(Symbol.asyncIterator in pooledMap(1, [], () => Promise.resolve(1)));
});
