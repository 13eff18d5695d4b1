import { assertEquals } from "@std/assert";
import { editDistance } from "../../src/api/edit_distance.ts";

Deno.test("editDistance counts insertions, deletions, replacements and swaps of neighbours", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["", "", 0],
    ["", "pods", 4],
    ["pods", "pods", 0],
    ["pod", "pods", 1],
    ["ppods", "pods", 1],
    ["pads", "pods", 1],
    ["opds", "pods", 1],
    ["opsd", "pods", 2],
    ["kitten", "sitting", 3],
  ];
  for (const [a, b, distance] of cases) {
    assertEquals([editDistance(a, b), editDistance(b, a)], [distance, distance], `${a} ${b}`);
  }
});
