import { assertEquals } from "@std/assert";
import { ByteBudget, type Evictable } from "../../../src/relay/server/budget.ts";

/** Keeps parts of given lengths, and drops the oldest. */
class Parts implements Evictable {
  readonly parts: number[] = [];
  readonly #budget: ByteBudget;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.parts.reduce((sum, it) => sum + it, 0);
  }

  shrink(): void {
    this.parts.shift();
  }

  add(bytes: number): void {
    this.parts.push(bytes);
    this.#budget.keep(this, bytes);
  }
}

Deno.test("keepers have a quarter of the budget, and the one with the most drops some", () => {
  const budget = new ByteBudget(400);
  const [one, two] = [new Parts(budget), new Parts(budget)];
  for (const bytes of [30, 30]) one.add(bytes);
  two.add(40);
  assertEquals([one.parts, two.parts, budget.bytes], [[30, 30], [40], 100]);
  two.add(1);
  assertEquals([one.parts, two.parts, budget.bytes], [[30], [40, 1], 71]);
  two.add(500); // more than there is for all
  assertEquals([one.parts, two.parts, budget.bytes], [[30], [], 30]);
  budget.drop(one);
  budget.drop(one);
  assertEquals(budget.bytes, 0);
});

Deno.test("holds have three quarters of the budget: the oldest that can be is given up, or the next one is refused", () => {
  const budget = new ByteBudget(400);
  const given: number[] = [];
  const hold = (bytes: number, index?: number): Disposable | undefined => {
    const held = budget.hold(
      bytes,
      index === undefined ? undefined : () => {
        given.push(index);
        held![Symbol.dispose]();
      },
    );
    return held;
  };
  const fixed = hold(100)!;
  hold(100, 1);
  hold(100, 2);
  assertEquals([given, budget.bytes], [[], 300]);
  hold(1, 3);
  assertEquals([given, budget.bytes], [[1], 201]);
  assertEquals([hold(201), given, budget.bytes], [undefined, [1, 2, 3], 100]);
  assertEquals(hold(200) === undefined, false);
  fixed[Symbol.dispose]();
  fixed[Symbol.dispose]();
  assertEquals(budget.bytes, 200);
});

Deno.test("one hold has what it needs, and one that grows gives up the oldest, or itself", () => {
  const budget = new ByteBudget(400);
  let isGiven = false;
  const large = budget.hold(1_000, () => {
    isGiven = true;
    large[Symbol.dispose]();
  })!;
  assertEquals([budget.bytes, isGiven], [1_000, false]);
  const other = budget.hold(10)!;
  assertEquals([budget.bytes, isGiven], [10, true]);
  other.resize(1_000); // cannot be given up
  assertEquals(budget.bytes, 1_000);
});
