import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { INTRODUCED, introducedIn, minorOf } from "../../tools/introduced.ts";
import { figuresOf, textsIn } from "../../tools/prose.ts";
import { countsOf, TESTED } from "../../tools/versions.ts";
import {
  BANS,
  codeFindings,
  compareRatchet,
  figureTable,
  type Finding,
  isAllowed,
  pageFindings,
  STRICT_DOCSTRINGS,
  STRICT_PAGES,
} from "../../tools/words.ts";
import { Program } from "../support/program.ts";

/** `"3 alone"` for each finding. */
function lines(findings: readonly Finding[]): string[] {
  return findings.map(({ line, name }) => `${line} ${name}`);
}

function code(source: string): string[] {
  return lines(codeFindings("tests/a.ts", source));
}

function page(source: string): string[] {
  return lines(pageFindings("docs/a.md", source));
}

/** Sentences that break a rule, and the same said plainly. */
const SENTENCES: readonly (readonly [name: string, bad: readonly string[], good: readonly string[]])[] = [
  ["that of, those of", ["The address is that of a proxy.", "Those of a factory are defaults."], [
    "The address leads to a proxy.",
    "You know that often.",
  ]],
  ["those that", ["It reads those that match.", "Those which wait end."], ["It reads objects that match."]],
  ["one that", ["Pass one that works.", "Ones that fail are retried."], [
    "One of them waits.",
    "Pass a client that works.",
  ]],
  ["What …", ["What is written before the list is counted.", "It waits. What the server sends is parsed here."], [
    "What is an informer?",
    "It shows what is promised.",
    "See [What is promised](a.md), which is short.",
    "What a cache is, and when you need it.",
    "## What differs is listed",
  ]],
  ["so is", ["The first ends, and so does the second.", "So is its cache."], [
    "It is small, so it does not matter.",
    "It is small, so do not wait.",
    "If so, do nothing.",
  ]],
  ["Of …, Where …", ["Of two, the last wins.", "It ends. Where it fails, it retries.", "a: b; Where it is"], [
    "Of course it ends.",
    "Where does it run?",
    "It runs where you are.",
    "## Where it runs",
    "See [Where it runs](a.md).",
  ]],
  ["alone", ["It waits for the first alone."], ["It leaves the others alone.", "Let alone a cluster."]],
  ["behind", ["Behind the last event it ends.", "The cache is behind the server."], [
    "It runs behind the proxy and behind a firewall.",
  ]],
  ["as any other", ["It is a key as any other."], ["It is a key like any other."]],
  ["no more", ["It waits no more.", "no more of it"], ["No more than two.", "It accepts no more keys."]],
  ["one at least", ["Give one at least."], ["Give at least one."]],
  ["all the same", ["It ends all the same."], ["It ends anyway."]],
  ["anew", ["It lists anew."], ["It lists again."]],
  ["beside", ["Beside the cache, it has a queue."], ["Besides, it has a queue."]],
  ["allows to", ["It allows to choose.", "They enable to wait."], ["It allows you to choose.", "is allowed to choose"]],
];

Deno.test("each ban finds sentences that break it, and no plain ones", () => {
  assertEquals(SENTENCES.map(([name]) => name), BANS.map(({ name }) => name));
  for (const [name, bad, good] of SENTENCES) {
    for (const sentence of bad) assertEquals(page(`${sentence}\n`), [`1 ${name}`], sentence);
    for (const sentence of good) assertEquals(page(`${sentence}\n`), [], sentence);
  }
});

Deno.test("pageFindings reads paragraphs, lists, tables and headings, and nothing else", () => {
  const source = `# Anew

Read it
alone. <!-- alone --> \`alone\` <img alt="alone"> ![alone](alone.png) [a](alone.md "alone") https://a.test/alone

- **Of two**, one waits.
- It waits.
  1. Where it waits, nobody asks.

| Beside | b |
| ------ | - |
| no more | Where it ends, it |

\`\`\`ts
// alone
\`\`\`

    ~ anew
`;
  assertEquals(page(source), [
    "1 anew",
    "4 alone",
    "6 Of …, Where …",
    "8 Of …, Where …",
    "10 beside",
    "12 no more",
    "12 Of …, Where …",
    "18 anew",
  ]);
});

Deno.test("sentences have at most 35 words, of which code is one; items, cells and colons end them", () => {
  const words = (count: number): string => "word ".repeat(count).trim();
  assertEquals(page(`${words(35)}. ${words(36)}.\n`), ["1 long sentence"]);
  assertEquals(page(`\`${words(36)}\` ${words(34)}.\n`), []);
  assertEquals(page(`- ${words(30)}\n- ${words(30)}\n\n${words(30)}: ${words(30)}\n\n${words(30)}\n`), []);
  assertEquals(page(`| ${words(30)} | ${words(30)} |\n`), []);
  assertEquals(code(`/**\n * ${words(20)}\n * ${words(20)}\n */\n`), ["2 long sentence"]);
  assertEquals(code(`/**\n * ${words(20)}\n * @returns ${words(20)}\n */\n`), []);
});

Deno.test("codeFindings reads comments of both kinds, across lines, without their code", () => {
  const source = `
/**
 * The handler waits for all
 * the same. {@linkcode alone}, \`alone\`, https://a.test/alone
 *
 * \`\`\`ts
 * alone(); // alone
 * \`\`\`
 */
export const a = "alone"; // it alone
  // It is behind
  // the server.
/* lists anew */
const accept = "*/*", path = "a//alone";
`;
  assertEquals(code(source), ["3 all the same", "10 alone", "11 behind", "13 anew"]);
});

Deno.test("docstrings may begin with a question word, and use plain verbs", () => {
  const source = `/** What a handler receives. Whoever hears the whole story is told who goes on for good. */\n`;
  assertEquals(code(source), []);
});

Deno.test("texts of src are strict: messages of errors everywhere, and all texts of the command line", () => {
  const source = `
throw new RangeError(\`Cannot wait for \${name}: it \` + "lists " +
  "anew");
const text = "It lists these pods alone";
reject(new StatusError(wrong ? "one that is lost" : \`those of \${a ? "x" : "y"} alone\`));
`;
  const found = (path: string): string[] => lines(codeFindings(path, source));
  assertEquals(found("tests/a.ts"), []);
  const errors = ["3 anew", "5 one that", "5 that of, those of", "5 alone"];
  assertEquals(found("src/a.ts"), errors);
  assertEquals(found("src/cli/a.ts"), [errors[0], "4 alone", ...errors.slice(1)]);
  assert(codeFindings("src/cli/a.ts", source).every(({ strict }) => strict));
  const [{ text, offset }] = textsIn("const a = `It has ${b(1)} bytes.\\nOf these`;", true);
  assertEquals([text, offset], [" It has   CCCC  bytes.\n\nOf these ", 10]);
});

Deno.test("docstrings can be strict one by one, and other comments of the file are not", () => {
  const source = `
/** Reads it alone. @default {none} */
/**
 * Lists anew.
 *
 * @returns One that is new.
 */
// Internal alone.
`;
  const found = codeFindings("src/a.ts", source, (docstring) => docstring === "Lists anew.");
  assertEquals(found.filter(({ strict }) => strict).map(({ line, name }) => `${line} ${name}`), [
    "4 anew",
    "6 one that",
  ]);
  assertEquals(lines(found), ["2 alone", "4 anew", "6 one that", "8 alone"]);
});

Deno.test("wide lines of comments are found, unless they cannot be wrapped", () => {
  const words = "word ".repeat(24);
  const source = `
/** ${words}*/
/**
 * ${words}
 * - ${words}
 * ${"word ".repeat(23)}wo
 */
  // ${words}
const text = "${words}";
/**
 * | ${words}|
 * ${"word".repeat(30)}
 * - see https://informer.test/${"a".repeat(120)}
 * \`\`\`ts
 * ${words}
 * \`\`\`
 */
// deno-lint-ignore no-explicit-any -- ${words}
`;
  const wide = codeFindings("src/a.ts", source).filter(({ name }) => name === "wide line");
  assertEquals(wide.map(({ line, strict }) => [line, strict]), [[2, true], [4, true], [5, true], [8, true]]);
});

Deno.test("isAllowed compares the path and the words around a phrase", () => {
  const [finding] = codeFindings("src/a.ts", "// Bob alone waits");
  assertEquals(isAllowed(finding, { path: "src/a.ts", text: "Bob alone", reason: "" }), true);
  assertEquals(isAllowed(finding, { path: "src/b.ts", text: "Bob alone", reason: "" }), false);
  assertEquals(isAllowed(finding, { path: "src/a.ts", text: "Eve alone", reason: "" }), false);
});

Deno.test("the ratchet may fall, and never rises: a file without an entry has no finding", () => {
  const of = (path: string, count: number, strict = false): Finding[] =>
    Array.from({ length: count }, (_, line) => ({ path, line, name: "alone", text: "", instead: "", strict }));
  const findings = [of("a.ts", 2), of("b.ts", 3), of("new.ts", 1), of("strict.ts", 1, true), of("page.md", 1)].flat();
  const ratchet = { "a.ts": 5, "b.ts": 2, "clean.ts": 4, "other.ts": 1 };
  const { worse, lowered } = compareRatchet(ratchet, findings, ["a.ts", "b.ts", "clean.ts", "new.ts", "strict.ts"]);
  assertEquals([...worse].map(([path, { length }]) => [path, length]), [["b.ts", 3], ["new.ts", 1]]);
  assertEquals(lowered, { "a.ts": 2, "b.ts": 2, "other.ts": 1 });
});

Deno.test("figures are those of measure.py, with which other projects were compared", () => {
  const text = `---
title: of of
---
# The cache of an informer

You read pods from a cache, which \`informer.lister\` shows; it is a copy of the server's state. Those that were
deleted are gone. See [Read the cache](./read.md "of"), and that of another informer. What a handler receives is typed!

\`\`\`ts
const of = 1; // of; of; you
\`\`\`

- **Your writes** show at once: the lister returns them, where the watch has not delivered them yet. So do events.
- One of them waits for you. ![alt of](x.png) <b>Bold</b> text of it.

| you want | set |
| -------- | --- |
| the size of it | \`maxBytes\`; you |

<!-- of; you -->
The end of a page, isn't it; e.g. of yours.
`;
  const round = (texts: readonly string[]): unknown =>
    JSON.parse(JSON.stringify(figuresOf(texts)), (_, value) => typeof value === "number" ? +value.toFixed(1) : value);
  assertEquals(round([text]), {
    words: 79,
    tableWords: 9,
    p90: 17,
    of: 75.9,
    headless: 75.9,
    you: 38,
    semicolons: 25.3,
  });
  assertEquals(
    figureTable("page", [["a", ["You wait; it ends."]], ["b", ["You wait; it ends.", "One of two."]]]),
    `page  | words | in tables | p90 |    of | headless |   you |     ;
------|-------|-----------|-----|-------|----------|-------|------
a     |     4 |         0 |   4 |   0.0 |      0.0 | 250.0 | 250.0
b     |     7 |         0 |   4 | 142.9 |    142.9 | 142.9 | 142.9
total |     7 |         0 |   4 | 142.9 |    142.9 | 142.9 | 142.9`,
  );
});

Deno.test("deno task words ends with 2 for a wrong command line, and strict paths exist", async () => {
  const program = new Program("tools/words.ts", ["nowhere"], {}, ["-A", "--lock=tests/deno.lock"]);
  assertEquals([await program.code, program.err.text], [2, 'error: there is no "nowhere"\n']);
  for (const path of [...STRICT_PAGES, ...STRICT_DOCSTRINGS]) {
    const folder = path.slice(0, path.lastIndexOf("/") + 1) || ".";
    const name = path.slice(path.lastIndexOf("/") + 1);
    assert([...Deno.readDirSync(folder)].some((entry) => entry.name.startsWith(name)), path);
  }
});

Deno.test("src/engine/kinds is generated from the newest version that is tested", async () => {
  const text = await Deno.readTextFile(new URL("../../src/engine/kinds/core/v1.ts", import.meta.url));
  assertStringIncludes(text, ` from Kubernetes v${TESTED.at(-1)}.`);
});

Deno.test("the counts of a run are those of its last line", () => {
  const output = "ok | 1 passed | 0 failed (1s)\nmore\nFAILED | 101 passed (3 steps) | 2 failed | 1 ignored (4m2s)\n";
  assertEquals(countsOf(output), { passed: 101, failed: 2, ignored: 1 });
  assertEquals(countsOf("ok | 5 passed | 0 failed (1s)\n"), { passed: 5, failed: 0, ignored: 0 });
  assertEquals(countsOf("error: Module not found\n"), undefined);
});

Deno.test("a kind that is not recorded is as old as the oldest version that is tested", () => {
  assert(Object.values(INTRODUCED).every((minor) => minor > minorOf(`v${TESTED[0]}.0`)));
  const device = { group: "resource.k8s.io", version: "v1", kind: "DeviceClass" };
  assertEquals([introducedIn(device), introducedIn({ ...device, kind: "Unknown" })], [34, 32]);
  assertEquals([minorOf("v1.37.2"), minorOf("v1.33.1-gke.1000")], [37, 33]);
  assertThrows(() => minorOf("2.0"), Error, 'Cannot read the version "2.0": it is not v1.N.N');
});
