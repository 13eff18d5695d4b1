import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { StatusError, UnreachableError } from "../../../src/engine/api/status.ts";
import { causesOf, ConsoleReporter, errorLine, errorObserver } from "../../../src/engine/errors/errors.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("ConsoleReporter writes each new cause once, and again after a minute with the number of repeats", async () => {
  using time = new FakeTime();
  using warnings = new Warnings();
  const reporter = new ConsoleReporter();
  const report = (verb: string): void =>
    reporter.report(`informer of "pods"`, new UnreachableError(`Cannot reach "http://a" to ${verb} "pods": refused`));
  report("list");
  assertEquals(warnings.take(), [`informer of "pods": Cannot reach "http://a" to list "pods": refused`]);
  for (const verb of ["watch", "list", "list"]) report(verb);
  await time.tickAsync(59_999);
  report("list");
  assertEquals(warnings.take(), []);
  await time.tickAsync(1);
  report("watch");
  assertEquals(warnings.take(), [
    `informer of "pods": Cannot reach "http://a" to watch "pods": refused (4 more times since the last line)`,
  ]);
  reporter.report("x", new StatusError(`Cannot list "pods": 403`, { code: 403, reason: "Forbidden", message: "" }));
  assertEquals(warnings.take(), [`x: Cannot list "pods": 403`]);
});

Deno.test("ConsoleReporter takes errors about different objects for one cause where their last cause is the same", () => {
  using warnings = new Warnings();
  const reporter = new ConsoleReporter();
  for (const name of ["a", "b"]) {
    reporter.report("pods", new Error(`Handler failed on "${name}"`, { cause: new TypeError("boom") }));
  }
  reporter.report("pods", new Error(`Handler failed on "c"`, { cause: new RangeError("boom") }));
  for (const key of ["a/x", "a/y"]) reporter.report("queue", new Error(`bug of ${key}, that is ${key.slice(2)}`), key);
  assertEquals(warnings.lines.splice(2), ["queue: bug of a/x, that is x"]);
  assertEquals(warnings.lines, [`pods: Handler failed on "a": boom`, `pods: Handler failed on "c": boom`]);
});

Deno.test("ConsoleReporter writes at most 20 lines a minute, and then how many it left out", async () => {
  using time = new FakeTime();
  using warnings = new Warnings();
  const reporter = new ConsoleReporter();
  for (let i = 0; i < 1_000; i++) reporter.report("queue", new Error(`bug ${i}`));
  assertEquals(warnings.take().length, 20);
  await time.tickAsync(60_000);
  reporter.report("queue", new Error("another"));
  assertEquals(warnings.take(), ["queue: another (980 errors of other causes were left out)"]);
});

Deno.test("ConsoleReporter writes one line, without control characters and secrets, of bounded length", () => {
  using warnings = new Warnings();
  const reporter = new ConsoleReporter();
  reporter.report("queue", new Error("a\nb\x1b[31m\x07 authorization: Bearer abcdefgh0123 https://ada:hunter2@host"));
  reporter.report("queue", new Error("x".repeat(10_000)));
  const [secret, long] = warnings.lines;
  assertEquals(secret, "queue: a b authorization: Bearer [redacted] https://ada:[redacted]@host");
  assert(long.length <= 601 && long.endsWith("…"), String(long.length));
});

Deno.test("ConsoleReporter arms no timer", () => {
  using time = new FakeTime();
  using _warnings = new Warnings();
  new ConsoleReporter().report("queue", new Error("x"));
  assertEquals(time.timers ?? 0, 0);
});

Deno.test("errorLine joins the messages of an error and its causes, each once, on one line", () => {
  const root = new Error("disk\n full");
  const cases: [unknown, string][] = [
    [new Error("Cannot write", { cause: root }), "Cannot write: disk full"],
    [new Error("Cannot write: disk full", { cause: root }), "Cannot write: disk full"],
    [
      new Error("Cannot sync.", { cause: new Error("Cannot write", { cause: root }) }),
      "Cannot sync: Cannot write: disk full",
    ],
    [new Error("Cannot watch. Grant list", { cause: root }), "Cannot watch. Grant list (disk full)"],
    [
      new Error(`Cannot find "podz". Did you mean "pods"?`, { cause: root }),
      'Cannot find "podz". Did you mean "pods"? (disk full)',
    ],
    [new RangeError(), "RangeError"],
    [new Error("failed", { cause: "a text" }), "failed: a text"],
    [new AggregateError([root, new Error("other")], "both"), "both: disk full"],
    [7, "7"],
    [Object.create(null), "a value that has no text"],
  ];
  for (const [error, line] of cases) assertEquals(errorLine(error), line);
});

Deno.test("errorObserver says what to do after a change to a frozen object", () => {
  const told: unknown[] = [];
  const observe = errorObserver((error) => told.push(error), () => "");
  const frozen: Record<string, unknown> = Object.freeze({ a: 1 });
  const changes = [() => void (frozen.a = 2), () => void (frozen.b = 2), () => void delete frozen.a];
  const errors = [
    ...changes.map((change) => assertThrows(change, TypeError)),
    ...["Attempted to assign to readonly property.", "Unable to delete property."].map((text) => new TypeError(text)), // Bun
    new Error("Cannot reconcile", { cause: assertThrows(changes[0], TypeError) }),
  ];
  for (const error of errors) {
    observe(error);
    const remedy = told.pop() as Error;
    assertEquals(remedy.cause, error);
    assertMatch(
      errorLine(remedy),
      /^Cannot change an object of a cache: it is frozen. Change a copy .* copyOf\(\) \(.+\)$/,
    );
  }
  const other = new TypeError("x is not a function");
  observe(other);
  assertEquals(told, [other]);
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
