import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { load } from "js-yaml";
import fc from "npm:fast-check@^4.10.2";
import type { KubernetesObject, ObjectMeta } from "../../../src/engine/api/object.ts";
import {
  asTable,
  defineResource,
  onlyMetadata,
  type Resource,
  type TableRow,
} from "../../../src/engine/api/resource.ts";
import {
  ageOf,
  FailureReporter,
  GrowingTable,
  objectIn,
  plain,
  qualifiedName,
  redactObject,
  rowCells,
  rowHeads,
  tableLines,
  Terminal,
} from "../../../src/cli/terminal/terminal.ts";
import { yamlText } from "../../../src/cli/terminal/yaml.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { ConfigMap, Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { NO_HISTORY, type ReflectorPhase } from "../../../src/engine/reflector/transition.ts";
import { Captured } from "../../support/processes/session.ts";

function listen(): { readonly reporter: FailureReporter; readonly said: string[] } {
  const said: string[] = [];
  return { reporter: new FailureReporter("pods", (line) => said.push(line)), said };
}

const LIVE: ReflectorPhase = {
  name: "watching",
  resourceVersion: "7",
  open: true,
  after: "pages",
  history: NO_HISTORY,
};

Deno.test("FailureReporter prints the same failure once until the informer is live again", () => {
  const { reporter, said } = listen();
  for (let i = 0; i < 3; i++) {
    reporter.report(new Error("no answer"), true);
    reporter.report(new Error("refused"), true);
  }
  reporter.onPhase(LIVE);
  reporter.onPhase(LIVE);
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
  reporter.onPhase(LIVE);
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
  assertEquals(err.text, "01234567…");
});

Deno.test("GrowingTable counts the cells that characters take, and cuts none in the middle", () => {
  const table = new GrowingTable();
  assertEquals(table.line(["日本語", "x"]), "日本語   x");
  assertEquals(table.line(["a", "x"]), "a        x");
  assertEquals(table.line(["e\u0301te\u0301", "x"]), "e\u0301te\u0301      x");
  assertEquals(table.line(["日本語", "x"], 9), "日本…   x");
  assertEquals(table.line(["日本語", "x"], 8), "日…    x");
  assertEquals(table.line(["🚀🚀🚀", "x"], 9), "🚀🚀…   x");
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

const Secret: Resource = defineResource({ group: "", version: "v1", plural: "secrets", kind: "Secret" });

function object(fields: Record<string, unknown>): KubernetesObject {
  return { metadata: { name: "web-0", namespace: "shop" }, ...fields } as never;
}

Deno.test("redactObject hides what Secrets hold and keeps their keys", () => {
  const secret = object({
    data: { password: "aHVudGVyMg==" },
    stringData: { token: "hunter2" },
    metadata: {
      name: "login",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "hunter2", team: "shop" },
    },
  });
  const shown = redactObject(secret, Secret, false);
  assertEquals(JSON.stringify(shown).includes("hunter2") || JSON.stringify(shown).includes("aHVudGVy"), false);
  assertEquals(shown as unknown, {
    data: { password: "[redacted]" },
    stringData: { token: "[redacted]" },
    metadata: {
      name: "login",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "[redacted]", team: "shop" },
    },
  });
  assertEquals(
    (secret as unknown as { data: unknown }).data,
    { password: "aHVudGVyMg==" },
    "the cache's own is untouched",
  );
});

Deno.test("redactObject leaves alone what is no Secret, and Secrets when asked to", () => {
  const secret = object({ data: { a: "b" } });
  assertStrictEquals(redactObject(secret, Secret, true), secret);
  assertStrictEquals(redactObject(secret, ConfigMap, false), secret);
  const other: Resource = { ...Secret, group: "example.com" };
  assertStrictEquals(redactObject(secret, other, false), secret);
});

Deno.test("redactObject hides the last applied state in a Secret's metadata alone", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "hunter2" };
  const shown = redactObject(object({ metadata: { name: "login", annotations } }), onlyMetadata(Secret), false);
  assertEquals(JSON.stringify(shown).includes("hunter2"), false);
});

Deno.test("tableLines makes columns as wide as their widest cell", () => {
  assertEquals(
    tableLines([["A", "NAME", "AGE"], ["long", "x", "1s"], ["b", "", ""]]),
    ["A      NAME   AGE", "long   x      1s", "b"],
  );
  assertEquals(tableLines([]), []);
});

Deno.test("GrowingTable widens columns as it meets wider cells", () => {
  const table = new GrowingTable();
  assertEquals(table.line(["a", "b"]), "a   b");
  assertEquals(table.line(["long", "b"]), "long   b");
  assertEquals(table.line(["a", "b"]), "a      b");
});

Deno.test("qualifiedName returns a name that kubectl accepts", () => {
  assertEquals(qualifiedName(Pod, "web-0"), "pod/web-0");
  assertEquals(qualifiedName(Deployment, "web"), "deployment.apps/web");
});

const NOW = Date.parse("2026-06-01T12:00:00Z");
const metadata = { name: "web-0", namespace: "shop", creationTimestamp: "2026-06-01T11:55:00Z" };
const objectRowCells = { metadata } as KubernetesObject;

function row(cells: readonly unknown[], ...columns: readonly [name: string, priority: number][]): TableRow {
  return {
    metadata: objectRowCells.metadata,
    columns: columns.map(([name, priority]) => ({
      name,
      priority,
      type: "string",
      format: name === "Name" ? "name" : "",
      description: "",
    })),
    cells,
    object: objectRowCells,
  };
}

const pods = asTable(Pod);
const web = row(["web-0", "1/1", null, 3, "5s"], ["Name", 0], ["Ready", 0], ["Gates", 1], ["Restarts", 0], ["Age", 0]);

Deno.test("rowCells are the server's cells, those of the wide output only when it is asked for", () => {
  assertEquals(rowHeads(pods, web, { wide: false, namespaces: false }), ["NAME", "READY", "RESTARTS", "AGE"]);
  assertEquals(rowCells(pods, web, { wide: false, namespaces: false }), ["web-0", "1/1", "3", "5s"]);
  assertEquals(rowHeads(pods, web, { wide: true, namespaces: true })[0], "NAMESPACE");
  assertEquals(rowCells(pods, web, { wide: true, namespaces: true }), ["shop", "web-0", "1/1", "", "3", "5s"]);
});

Deno.test("rowCells name the kind where several are printed, and no namespace of a cluster-scoped object", () => {
  const style = { wide: false, namespaces: true, kinds: true };
  assertEquals(rowCells(pods, web, style).slice(0, 2), ["shop", "pod/web-0"]);
  assertEquals(rowCells(asTable(Node), web, style)[0], "node/web-0");
  assertEquals(rowHeads(asTable(Node), web, style)[0], "NAME");
});

Deno.test("rowCells count an age anew when the time is given", () => {
  assertEquals(rowCells(pods, web, { wide: false, namespaces: false, now: NOW }).at(-1), "5m");
});

Deno.test("rowCells show the first line of a cell, and let no object control the terminal", () => {
  const odd = row(["a\nb", "\x1b]0;pwned\x07", { a: 1 }], ["Name", 0], ["Ready", 0], ["Map", 0]);
  assertEquals(rowCells(pods, odd, { wide: false, namespaces: false }), ["a...", "\\u001b]0;pwned\\u0007", `{"a":1}`]);
});

Deno.test("rowCells of metadata are name and age", () => {
  const style = { wide: false, namespaces: true };
  assertEquals(rowHeads(onlyMetadata(Pod), objectRowCells, style), ["NAMESPACE", "NAME", "AGE"]);
  const { creationTimestamp: _, ...ageless } = objectRowCells.metadata;
  assertEquals(rowCells(onlyMetadata(Pod), { metadata: ageless as ObjectMeta }, style), ["shop", "web-0", "<unknown>"]);
});

Deno.test("objectIn returns the object of a row, and any other object as it is", () => {
  assertEquals([objectIn(pods, web), objectIn(Pod, objectRowCells)], [objectRowCells, objectRowCells]);
});

Deno.test("ageOf rounds down as kubectl does", () => {
  const now = Date.UTC(2026, 0, 10);
  const cases: [number, string][] = [
    [0, "0s"],
    [-5, "0s"],
    [119, "119s"],
    [120, "2m"],
    [125, "2m5s"],
    [7_200, "120m"],
    [28_800, "8h"],
    [172_799, "47h"],
    [172_800, "2d"],
  ];
  for (const [seconds, age] of cases) {
    assertEquals(ageOf(new Date(now - seconds * 1_000).toISOString(), now), age, String(seconds));
  }
  assertEquals(ageOf(undefined, now), "<unknown>");
  assertEquals(ageOf("yesterday", now), "<unknown>");
});

Deno.test("yamlText sorts keys, does not indent lists, and quotes what YAML would read as another type", () => {
  const value = { b: [{ z: 1, y: "1e3" }, "yes"], a: "0123", empty: [], text: "one\ntwo\n", control: "\x1b[31m" };
  assertEquals(yamlText(value).split("\n"), [
    `a: "0123"`,
    "b:",
    `- "y": "1e3"`,
    "  z: 1",
    `- "yes"`,
    `control: "\\e[31m"`,
    "empty: []",
    "text: |",
    "  one",
    "  two",
  ]);
});

Deno.test("yamlText of any JSON is read back as the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      const sent: unknown = JSON.parse(JSON.stringify(value)); // without -0, which JSON does not have
      assertEquals(load(yamlText(sent)), sent);
    }),
    { numRuns: 200 },
  );
});
