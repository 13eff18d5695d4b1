import { assertEquals } from "@std/assert";
import { causesOf, errorLine } from "../../src/errors/error_line.ts";

Deno.test("errorLine joins the messages of an error and its causes, each once, on one line", () => {
  const root = new Error("disk\n full");
  const cases: [unknown, string][] = [
    [new Error("Cannot write", { cause: root }), "Cannot write: disk full"],
    [new Error("Cannot write: disk full", { cause: root }), "Cannot write: disk full"],
    [
      new Error("Cannot sync.", { cause: new Error("Cannot write", { cause: root }) }),
      "Cannot sync: Cannot write: disk full",
    ],
    [new RangeError(), "RangeError"],
    [new Error("failed", { cause: "a text" }), "failed: a text"],
    [new AggregateError([root, new Error("other")], "both"), "both: disk full"],
    [7, "7"],
    [Object.create(null), "a value that has no text"],
  ];
  for (const [error, line] of cases) assertEquals(errorLine(error), line);
});

Deno.test("errorLine leaves out a missing permission whose flag is named already", () => {
  const cause = new Error("Requires net access, run again with the --allow-net flag");
  cause.name = "NotCapable";
  assertEquals(errorLine(new Error("run with --allow-net=a:1", { cause })), "run with --allow-net=a:1");
  assertEquals(errorLine(new Error("Cannot reach a", { cause })), `Cannot reach a: ${cause.message}`);
});

Deno.test("causesOf ends where causes form a circle", () => {
  const a = new Error("a");
  const b = new Error("b", { cause: a });
  a.cause = b;
  assertEquals(causesOf(a), [a, b]);
  assertEquals(errorLine(a), "a: b");
});
