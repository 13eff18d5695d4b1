import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { stoppable } from "../../src/client/stoppable.ts";
import { CountingSignal } from "./_transport.ts";

Deno.test("stoppable begins with the first next, and ends with its source", async () => {
  let started = 0;
  const counting = new CountingSignal();
  const iterator = stoppable(counting.signal, async function* (): AsyncGenerator<number, void, undefined> {
    started++;
    yield await Promise.resolve(1);
  });
  assertEquals([started, counting.listeners], [0, 0]);
  assertEquals(await iterator.next(), { done: false, value: 1 });
  assertEquals([started, counting.listeners], [1, 1]);
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals([started, counting.listeners], [1, 0]);
});

Deno.test("stoppable never begins when it is left before", async () => {
  let started = 0;
  const iterator = stoppable(undefined, async function* (): AsyncGenerator<number, void, undefined> {
    started++;
    yield await Promise.resolve(1);
  });
  assertEquals(await iterator.return?.(), { done: true, value: undefined });
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(started, 0);
});

Deno.test("stoppable ends a waiting next when it is left", async () => {
  let reason: unknown;
  const iterator = stoppable<number>(undefined, async function* (signal): AsyncGenerator<number, void, undefined> {
    yield 1;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(reason = signal.reason)));
  });
  await iterator.next();
  const waiting = iterator.next();
  assertEquals(await iterator.return?.(), { done: true, value: undefined });
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals((reason as DOMException).name, "AbortError");
});

Deno.test("stoppable throws what its source throws, once, and lets go of the signal", async () => {
  const counting = new CountingSignal();
  const iterator = stoppable<number>(counting.signal, async function* (): AsyncGenerator<number, void, undefined> {
    yield 1;
    throw new Error("broken");
  });
  await iterator.next();
  await assertRejects(() => iterator.next(), Error, "broken");
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(counting.listeners, 0);
});

Deno.test("stoppable passes on what letting go throws, unless it was told to stop", async () => {
  const source = async function* (): AsyncGenerator<number, void, undefined> {
    try {
      yield await Promise.resolve(1);
    } finally {
      // deno-lint-ignore no-unsafe-finally -- what a body throws that is cancelled
      throw new Error("cannot let go");
    }
  };
  const left = stoppable(undefined, source);
  await left.next();
  await assertRejects(() => Promise.resolve(left.return?.()), Error, "cannot let go");
  const controller = new AbortController();
  const stopped = stoppable(controller.signal, source);
  await stopped.next();
  controller.abort();
  assertEquals(await stopped.return?.(), { done: true, value: undefined });
});

Deno.test("stoppable hands the parent's reason down", async () => {
  const reason = { because: "told to" };
  const iterator = stoppable<number>(
    AbortSignal.abort(reason),
    async function* (signal): AsyncGenerator<number, void, undefined> {
      signal.throwIfAborted();
      yield await Promise.resolve(1);
    },
  );
  assertStrictEquals(await iterator.next().then(() => undefined, (error) => error), reason);
});
