import { assertEquals } from "@std/assert";
import { borrowed, problems } from "../../tools/layers.ts";

Deno.test("layers allows one file to print, by console.warn alone", () => {
  const print = (path: string, call: string): string[] =>
    problems([{ path, text: `export class ConsoleReporter {}\n${call};\n`, imports: [] }]);
  assertEquals(print("errors/errors.ts", `console.warn("x")`), []);
  assertEquals(print("errors/errors.ts", `console.log("x")`).length, 1);
  assertEquals(print("informer/console_reporter.ts", `console.warn("x")`).length, 1);
});

Deno.test("layers names functions that are too long, also those in classes and variables", () => {
  const body = "{\n" + "  step();\n".repeat(58) + "}";
  const text = `/**\n * Comments\n * do not count.\n */\nfunction fits() ${body}\n` +
    `class Reader {\n  #read() {\n    run();\n  ${body.slice(2)}\n}\nconst run = () => {\n${body};\n};\n`;
  assertEquals(problems([{ path: "errors/errors.ts", text, imports: [] }]), [
    "src/errors/errors.ts: #read has 61 lines, at most 60; which are its steps?",
    "src/errors/errors.ts: run has 62 lines, at most 60; which are its steps?",
  ]);
});

Deno.test("layers allows helpers to their own folder, and those of tests/support to all", () => {
  const imports = (path: string, specifier: string): string[] => borrowed([{ path, imports: [specifier] }]);
  assertEquals(imports("tests/edge/a_test.ts", "./_a.ts"), []);
  assertEquals(imports("bench/limits/a.ts", "../_a.ts"), []);
  assertEquals(imports("bench/a.ts", "../tests/support/a.ts"), []);
  assertEquals(imports("tests/edge/a_test.ts", "../api/_a.ts"), [
    "tests/edge/a_test.ts: imports tests/api/_a.ts, a helper of another folder; what is shared is in tests/support",
  ]);
  assertEquals(imports("tools/a.ts", "../tests/api/a.ts"), [
    "tools/a.ts: imports tests/api/a.ts; only tests/support is shared",
  ]);
});
