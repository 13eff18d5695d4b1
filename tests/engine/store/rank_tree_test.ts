import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { RankTree } from "../../../src/engine/store/rank_tree.ts";

/** A step: a number that is added if it is not there, otherwise removed. */
const STEPS = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 300 });

Deno.test("a rank tree has the ranks, positions and parts of the sorted values, whatever is added and removed", () => {
  fc.assert(fc.property(STEPS, fc.nat(70), fc.nat(70), (steps, from, length) => {
    const tree = new RankTree<number>((a, b) => a - b);
    const values = new Set<number>();
    for (const value of steps) {
      if (values.delete(value)) tree.delete(value);
      else {
        values.add(value);
        tree.add(value);
      }
      const sorted = [...values].sort((a, b) => a - b);
      assertEquals(tree.size, sorted.length);
      assertEquals(tree.slice(0, Infinity), sorted);
      assertEquals(tree.slice(from, from + length), sorted.slice(from, from + length));
      assertEquals([tree.at(-1), tree.at(from), tree.at(Infinity)], [undefined, sorted[from], undefined]);
      assertEquals(tree.rankOf(value), sorted.filter((other) => other < value).length);
    }
  }));
});

Deno.test("a rank tree replaces the value that compares as equal, and no other", () => {
  const tree = new RankTree<{ readonly at: number; readonly text: string }>((a, b) => a.at - b.at);
  for (const at of [3, 1, 2]) tree.add({ at, text: "old" });
  assertEquals(tree.replace({ at: 2, text: "new" }), true);
  assertEquals(tree.replace({ at: 4, text: "new" }), false);
  assertEquals(tree.slice(0, 9).map(({ at, text }) => `${at} ${text}`), ["1 old", "2 new", "3 old"]);
});

Deno.test("a rank tree compares a few dozen times per change of 50,000 values, in orders that would unbalance it", () => {
  let compared = 0;
  const count = 50_000;
  const orders: Record<string, (i: number) => number> = {
    "ascending": (i) => i,
    "from both ends": (i) => i % 2 === 0 ? i : 2 * count - i,
    "from the middle": (i) => i % 2 === 0 ? i : -i,
  };
  for (const [name, valueAt] of Object.entries(orders)) {
    const tree = new RankTree<number>((a, b) => {
      compared++;
      return a - b;
    });
    let most = 0;
    const change = (run: () => void): void => {
      compared = 0;
      run();
      most = Math.max(most, compared);
    };
    for (let i = 0; i < count; i++) change(() => tree.add(valueAt(i)));
    for (let i = 0; i < count * 0.8; i++) change(() => tree.delete(valueAt(i)));
    assert(most <= 30, `${name}: a change took ${most} comparisons`); // log2(50,000) is 15.6
  }
});
