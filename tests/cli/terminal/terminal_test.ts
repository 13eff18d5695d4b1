import { assert, assertEquals, assertRejects } from "@std/assert";
import { FailureReporter, plain, Terminal } from "../../../src/cli/terminal/terminal.ts";
import { Captured } from "../../support/session.ts";

function listen(): { readonly reporter: FailureReporter; readonly said: string[] } {
  const said: string[] = [];
  return { reporter: new FailureReporter("pods", (line) => said.push(line)), said };
}

Deno.test("FailureReporter prints the same failure once until the informer is live again", () => {
  const { reporter, said } = listen();
  for (let i = 0; i < 3; i++) {
    reporter.report(new Error("no answer"), true);
    reporter.report(new Error("refused"), true);
  }
  reporter.recovered();
  reporter.recovered();
  reporter.report(new Error("no answer"), true);
  assertEquals(said, [
    "pods: no answer; trying again",
    "pods: refused; trying again",
    "pods: live again",
    "pods: no answer; trying again",
  ]);
});

Deno.test('FailureReporter does not print "live again" after a failure that was not retried', () => {
  const { reporter, said } = listen();
  reporter.report(new Error("object a/b cannot be read", { cause: new Error("end of text") }), false);
  reporter.recovered();
  assertEquals(said, ["pods: object a/b cannot be read: end of text"]);
});

Deno.test("FailureReporter remembers at most 1,000 messages", () => {
  const { reporter, said } = listen();
  for (let i = 0; i < 1_001; i++) reporter.report(new Error(`object ${i}`), false);
  reporter.report(new Error("object 1000"), false);
  assertEquals(said.length, 1_001);
  reporter.report(new Error("object 0"), false);
  assertEquals(said.length, 1_002);
});

interface Made {
  readonly terminal: Terminal;
  readonly out: Captured;
  readonly err: Captured;
  readonly stopped: () => number;
}

function make(options: { readonly out?: Captured; readonly err?: Captured; readonly columns?: number } = {}): Made {
  const { out = new Captured(), err = new Captured(true), columns = 80 } = options;
  let stopped = 0;
  const screen = { stdout: out, stderr: err, columns: () => columns, capable: true };
  return { terminal: new Terminal(() => void stopped++, screen), out, err, stopped: () => stopped };
}

/** One screen for both outputs, and what a person sees on it in the end. */
function screenOf(text: string): string[] {
  const lines = [""];
  let column = 0;
  for (let at = 0; at < text.length; at++) {
    const last = lines.length - 1;
    if (text.startsWith("\x1b[2K", at)) {
      lines[last] = "";
      at += 3;
    } else if (text[at] === "\r") column = 0;
    else if (text[at] === "\n") {
      lines.push("");
      column = 0;
    } else {
      lines[last] = lines[last].slice(0, column).padEnd(column) + text[at] + lines[last].slice(column + 1);
      column++;
    }
  }
  return lines;
}

Deno.test("Terminal writes results to stdout and messages to stderr, in order", async () => {
  const { terminal, out, err } = make({ err: new Captured() });
  terminal.result("one");
  terminal.say("hello");
  terminal.result("two");
  await terminal.flush();
  assertEquals([out.text, err.text], ["one\ntwo\n", "hello\n"]);
});

Deno.test("Terminal shows no live line outside a terminal, or on one that cannot erase it", async () => {
  const err = new Captured(true);
  const dumb = new Terminal(() => {}, { stdout: new Captured(), stderr: err, columns: () => 80, capable: false });
  dumb.live("working");
  const piped = make({ err: new Captured() });
  piped.terminal.live("working");
  await piped.terminal.flush();
  assertEquals([dumb.interactive, err.text, piped.terminal.interactive, piped.err.text], [false, "", false, ""]);
});

Deno.test("Terminal erases the live line before it prints, and draws it again", async () => {
  const both = new Captured(true);
  const { terminal } = make({ out: both, err: both });
  terminal.live("live 1");
  terminal.result("a result");
  await Promise.resolve();
  await Promise.resolve();
  assertEquals(screenOf(both.text), ["a result", "live 1"]);
  terminal.say("a word");
  terminal.live("2");
  assertEquals(screenOf(both.text), ["a result", "a word", "2"]);
  terminal.result("the last");
  await terminal.flush();
  assertEquals(screenOf(both.text), ["a result", "a word", "the last", ""]);
});

Deno.test("Terminal cuts the live line to the width of the screen", () => {
  const { terminal, err } = make({ columns: 10 });
  terminal.live("0123456789abc");
  assertEquals(err.text, "012345678");
});

Deno.test("Terminal prints each message on one line, without control characters", () => {
  const { terminal, err } = make();
  terminal.say("warning: \x1b[31mred\n  and more");
  assertEquals(err.text, "warning: \\u001b[31mred and more\n");
});

Deno.test("Terminal stops the command when the reader of its results has gone", async () => {
  const { terminal, out, stopped } = make();
  out.failure = new Deno.errors.BrokenPipe("Broken pipe");
  terminal.result("one");
  await terminal.flush();
  terminal.result("two");
  await terminal.flush();
  assertEquals(stopped(), 1);
});

Deno.test("Terminal continues to print results when the reader of its messages has ended", async () => {
  const { terminal, out, err, stopped } = make();
  err.failure = new Deno.errors.BrokenPipe("Broken pipe");
  terminal.say("hello?");
  terminal.live("anybody?");
  terminal.result("one");
  await terminal.flush();
  assertEquals([out.text, stopped()], ["one\n", 0]);
});

Deno.test("Terminal stops the command when results cannot be written, and flush says why", async () => {
  const { terminal, out, stopped } = make();
  out.failure = new Error("No space left on device");
  terminal.result("one");
  const error = await assertRejects(() => terminal.flush(), Error, "Cannot write the results to standard output");
  assertEquals([(error.cause as Error).message, stopped()], ["No space left on device", 1]);
});

Deno.test("Terminal asks the command to wait for a slow reader, and no longer once it is ending", async () => {
  const { terminal, out } = make();
  const reader = Promise.withResolvers<void>();
  out.blocked = reader.promise;
  terminal.result("short");
  assertEquals(terminal.room, undefined);
  terminal.result("x".repeat(5_000_000));
  const { room } = terminal;
  assert(room !== undefined);
  terminal.unblock();
  await room;
  assertEquals(terminal.room, undefined);
  reader.resolve();
  await terminal.flush();
  assertEquals(out.text.length, 5_000_007);
});

Deno.test("Terminal has room again when everything has been read", async () => {
  const { terminal, out } = make();
  const reader = Promise.withResolvers<void>();
  out.blocked = reader.promise;
  terminal.result("x".repeat(5_000_000));
  const { room } = terminal;
  reader.resolve();
  await room;
  assertEquals([terminal.room, out.text.length], [undefined, 5_000_001]);
  await terminal.flush();
});

Deno.test("plain keeps ordinary text of any language", () => {
  assertEquals(plain("größe → 東京 🎉 a  b"), "größe → 東京 🎉 a  b");
});

Deno.test("plain joins several lines into one", () => {
  assertEquals(plain("  one\n  two \r\n\nthree\n"), "one two three");
});

Deno.test("plain removes all terminal control characters", () => {
  assertEquals(plain("a\x1b[2Jb\x07\x7f\x9bc\u202ed"), "a\\u001b[2Jb\\u0007\\u007f\\u009bc\\u202ed");
});
