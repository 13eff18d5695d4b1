import { assertEquals } from "@std/assert";
import { ScrollPosition } from "../../../../src/cli/terminal/page/scroll_position.ts";

Deno.test("ScrollPosition moves by rows, by pages and to both ends, and stays within the table", () => {
  const scroll = new ScrollPosition();
  const after = (key: string, count = 100): number => {
    scroll.press(key);
    return scroll.within(count, 10);
  };
  assertEquals(scroll.within(100, 10), 0);
  assertEquals([after("j"), after("\x1b[B"), after("k")], [1, 2, 1]);
  assertEquals([after(" "), after("\x1b[6~"), after("b")], [10, 19, 10]);
  assertEquals([after("G"), after("j"), after("g"), after("k")], [90, 90, 0, 0]);
  assertEquals(after("G"), 90);
  assertEquals([after("x", 50), after("x", 5)], [40, 0]);
});
