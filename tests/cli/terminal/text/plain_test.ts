import { assertEquals } from "@std/assert";
import { plain } from "../../../../src/cli/terminal/text/plain.ts";

Deno.test("plain keeps ordinary text of any language", () => {
  assertEquals(plain("größe → 東京 🎉 a  b"), "größe → 東京 🎉 a  b");
});

Deno.test("plain joins several lines into one", () => {
  assertEquals(plain("  one\n  two \r\n\nthree\n"), "one two three");
});

Deno.test("plain removes all terminal control characters", () => {
  assertEquals(plain("a\x1b[2Jb\x07\x7f\x9bc\u202ed"), "a\\u001b[2Jb\\u0007\\u007f\\u009bc\\u202ed");
});
