import { assertEquals, assertRejects } from "@std/assert";
import { PolledIterator } from "../../src/async/polled_iterator.ts";
import { CountedController } from "../support/listeners.ts";

const END = { done: true, value: undefined } as const;

/** Yields the numbers that were put into it. */
class Numbers extends PolledIterator<number> {
  readonly calls: string[] = [];
  readonly #values: number[] = [];

  put(value: number): void {
    this.#values.push(value);
    this.wake();
  }

  protected override poll(): number | undefined {
    return this.#values.shift();
  }

  protected override begin(): void {
    this.calls.push("begin");
    if (this.#values.includes(-1)) throw new Error("cannot begin");
  }

  protected override finish(): void {
    this.calls.push("finish");
  }
}

Deno.test("PolledIterator answers calls of next() in order, however many wait, and ends all of them", async () => {
  const numbers = new Numbers(undefined);
  const calls = [1, 2, 3, 4].map(() => numbers.next());
  await Promise.resolve();
  numbers.put(10);
  numbers.put(20);
  assertEquals(await calls[0], { done: false, value: 10 });
  assertEquals(await calls[1], { done: false, value: 20 });
  assertEquals(await numbers.return(), END);
  assertEquals(await Promise.all(calls.slice(2)), [END, END]);
  assertEquals(numbers.calls, ["begin", "finish"]);
});

Deno.test("PolledIterator ends without an error when one of its signals aborts, before or while it is read", async () => {
  for (const which of ["first", "second"]) {
    const [own, other] = [new CountedController(), new CountedController()];
    const numbers = [1, 2, 3].map(() => new Numbers(own.signal));
    for (const each of numbers) each.endWith(other.signal);
    numbers[0].put(1);
    assertEquals((await numbers[0].next()).value, 1);
    const waiting = numbers[1].next();
    await Promise.resolve();
    numbers[0].put(2); // is dropped
    assertEquals([own.listeners, other.listeners], [2, 2]);
    (which === "first" ? own : other).abort(new Error("enough"));
    assertEquals([await waiting, await numbers[0].next(), await numbers[2].next()], [END, END, END]);
    assertEquals([own.listeners, other.listeners], [0, 0]);
    assertEquals(numbers[2].calls, ["finish"]);
  }
});

Deno.test("PolledIterator rejects once with the failure that ends it, or with what its beginning throws", async () => {
  const numbers = new Numbers(undefined);
  const waiting = [numbers.next(), numbers.next()];
  await Promise.resolve();
  numbers.end({ error: new Error("lost") });
  await assertRejects(() => waiting[0], Error, "lost");
  assertEquals(await waiting[1], END);
  const other = new Numbers(undefined);
  other.put(-1);
  await assertRejects(() => other.next(), Error, "cannot begin");
  assertEquals([await other.next(), other.calls], [END, ["begin", "finish"]]);
});
