import { assertEquals } from "@std/assert";
import { PassingMap } from "../../../src/engine/async/passing_map.ts";

Deno.test("a PassingMap has its values in the order in which they were set, also while some are deleted", () => {
  const map = new PassingMap<string, { readonly n: number }>();
  for (const [n, key] of ["a", "b", "c", "a"].entries()) map.set(key, { n });
  assertEquals([...map], [["b", { n: 1 }], ["c", { n: 2 }], ["a", { n: 3 }]]);
  assertEquals([map.size, map.get("a"), map.get("d")], [3, { n: 3 }, undefined]);
  assertEquals([map.delete("c"), map.delete("c"), map.get("c"), map.size], [true, false, undefined, 2]);
  const seen: number[] = [];
  for (const { n } of map.values()) {
    seen.push(n);
    map.delete("a");
  }
  assertEquals([seen, map.size], [[1], 1]);
});
