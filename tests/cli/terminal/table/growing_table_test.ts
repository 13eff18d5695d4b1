import { assertEquals } from "@std/assert";
import { GrowingTable, tableLines } from "../../../../src/cli/terminal/table/growing_table.ts";

Deno.test("tableLines makes columns as wide as their widest cell", () => {
  assertEquals(tableLines([["A", "NAME", "AGE"], ["long", "x", "1s"], ["b", "", ""]]), [
    "A      NAME   AGE",
    "long   x      1s",
    "b",
  ]);
  assertEquals(tableLines([]), []);
});

Deno.test("GrowingTable widens columns as it meets wider cells", () => {
  const table = new GrowingTable();
  assertEquals(table.line(["a", "b"]), "a   b");
  assertEquals(table.line(["long", "b"]), "long   b");
  assertEquals(table.line(["a", "b"]), "a      b");
});
