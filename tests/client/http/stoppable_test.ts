import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { stoppable } from "../../../src/client/http/stoppable.ts";
import { CountingSignal } from "../../support/transport.ts";

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

Deno.test("stoppable answers those who ask before the last answer is there, one after the other", async () => {
  let asked = 0;
  const answers: ((result: IteratorResult<number, void>) => void)[] = [];
  const iterator = stoppable<number>(undefined, () => ({
    next: () => {
      asked++;
      return new Promise((resolve) => answers.push(resolve));
    },
    return: () => Promise.resolve(),
  }));
  const items = [iterator.next(), iterator.next(), iterator.next()];
  assertEquals(asked, 1, "a source is asked for one item at a time");
  answers[0]({ done: false, value: 1 });
  assertEquals(await items[0], { done: false, value: 1 });
  await Promise.resolve();
  assertEquals(asked, 2);
  answers[1]({ done: true, value: undefined });
  assertEquals(await items[1], { done: true, value: undefined });
  await new Promise((resolve) => setImmediate(resolve));
  answers[2]?.({ done: true, value: undefined });
  assertEquals(await items[2], { done: true, value: undefined });
});

Deno.test("stoppable does not end its source before the last answer is there", async () => {
  const steps: string[] = [];
  const iterator = stoppable<number>(undefined, (signal) => ({
    next: () =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          setImmediate(() => {
            steps.push("answered");
            reject(signal.reason);
          });
        });
      }),
    return: () => {
      steps.push("ended");
      return Promise.resolve();
    },
  }));
  const waiting = iterator.next();
  await iterator.return?.();
  assertEquals(await waiting, { done: true, value: undefined });
  assertEquals(steps, ["answered", "ended"]);
});
