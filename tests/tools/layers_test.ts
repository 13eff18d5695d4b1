import { assertEquals } from "@std/assert";
import { problems } from "../../tools/layers.ts";

Deno.test("layers allows one file to print, by console.warn alone", () => {
  const print = (path: string, call: string): string[] =>
    problems([{ path, text: `export class ConsoleReporter {}\n${call};\n`, imports: [] }]);
  assertEquals(print("errors/errors.ts", `console.warn("x")`), []);
  assertEquals(print("errors/errors.ts", `console.log("x")`).length, 1);
  assertEquals(print("informer/console_reporter.ts", `console.warn("x")`).length, 1);
});
