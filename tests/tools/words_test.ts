import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { INTRODUCED, introducedIn, minorOf } from "../../tools/introduced.ts";
import { countsOf, TESTED } from "../../tools/versions.ts";
import { BANS, findingsIn } from "../../tools/words.ts";
import { Program } from "../support/processes/program.ts";

/** `"3 alone"` for each finding, and for each that users read `"3 alone!"`. */
function found(path: string, source: string, users?: ReadonlySet<string>): string[] {
  return findingsIn(path, source, users).map(([line, phrase, , strict]) => `${line} ${phrase}${strict ? "!" : ""}`);
}

/** For each ban: sentences that break it, with the phrase in brackets, and the same said plainly. */
const SENTENCES: readonly (readonly [bad: readonly string[], good: readonly string[]])[] = [
  [["The address is [that of] a proxy.", "[Those of] a factory are defaults."], ["You know that often."]],
  [["It reads [those that] match.", "[Those which] wait end."], ["It reads objects that match."]],
  [["Pass [one that] works.", "[Ones that] fail are retried."], ["One of them waits.", "Pass a client that works."]],
  [["[What is written before the list is] counted.", "It waits. [What the server sends is] parsed here."], [
    "What is an informer?",
    "See [What is promised](a.md), which is short.",
    "What a cache is, and when you need it.",
    "## What differs is listed",
  ]],
  [["The first ends[, and so does] the second.", "[So is] its cache."], ["It is small, so it does not matter."]],
  [["[Of] two, the last wins.", "It ends. [Where] it fails, it retries."], [
    "Of course it ends.",
    "Where does it run?",
  ]],
  [["It waits for the first [alone]."], ["It leaves the others alone."]],
  [["[Behind the] last event it ends."], ["It runs behind the proxy and behind a firewall."]],
  [["It is a key [as any other]."], ["It is a key like any other."]],
  [["It waits [no more]."], ["No more than two.", "It accepts no more keys."]],
  [["Give [one at least]."], ["Give at least one."]],
  [["It ends [all the same]."], ["It ends anyway."]],
  [["It lists [anew]."], ["It lists again."]],
  [["[Beside] the cache, it has a queue."], ["Besides, it has a queue."]],
  [["It [allows to] choose."], ["It allows you to choose."]],
];

Deno.test("words: each ban finds sentences that break it, and no plain ones", () => {
  for (const [i, [bad, good]] of SENTENCES.entries()) {
    for (const sentence of bad) {
      const [, phrase] = /\[(.*?)\]/.exec(sentence)!;
      const plain = sentence.replace(/\[(.*?)\]/, "$1");
      assertEquals(found("docs/a.md", plain), [`1 ${phrase}!`], sentence);
      assertEquals(findingsIn("docs/a.md", plain)[0][2], BANS[i][1], sentence);
    }
    for (const sentence of good) assertEquals(found("docs/a.md", sentence), [], sentence);
  }
  assertEquals(SENTENCES.length, BANS.length);
});

Deno.test("words: of a page, paragraphs, lists, tables and headings are read, and nothing else", () => {
  const source = `# Anew

Read it
alone. <!-- alone --> \`alone\` <img alt="alone"> ![alone](alone.png) [a](alone.md "alone") https://a.test/alone

- **Of two**, one waits. It ends all
  the same.

| Beside | b |
| ------ | - |
| no more | Where it ends, it |

\`\`\`ts
// alone
\`\`\`
`;
  const phrases = ["1 Anew", "4 alone", "6 Of", "6 all the same", "9 Beside", "11 no more", "11 Where"];
  assertEquals(found("docs/a.md", source), phrases.map((phrase) => `${phrase}!`));
  assertEquals(found("bench/a.md", source), phrases);
});

Deno.test("words: sentences have at most 35 words, of which code is one; items, cells and colons end them", () => {
  const words = (count: number): string => "isn't ".repeat(count).trim();
  const isLong = (path: string, source: string): boolean => findingsIn(path, source).length === 1;
  const rows: readonly (readonly [path: string, source: string, isLong: boolean])[] = [
    ["docs/a.md", `${words(35)}. ${words(36)}.\n`, true],
    ["docs/a.md", `\`${words(36)}\` ${words(34)}.\n`, false],
    ["docs/a.md", `- ${words(30)}\n- ${words(30)}\n\n${words(30)}: ${words(30)}\n\n${words(30)}\n`, false],
    ["docs/a.md", `| ${words(30)} | ${words(30)} |\n`, false],
    ["src/a.ts", `/**\n * ${words(18)}\n * ${words(18)}\n */\n`, true],
    ["src/a.ts", `/**\n * ${words(18)}\n * @returns ${words(18)}\n */\n`, false],
    ["src/cli/a.ts", `const a = "${words(36)}";\n`, false],
  ];
  for (const [path, source, expected] of rows) assertEquals(isLong(path, source), expected, source);
});

Deno.test("words: comments of both kinds are read, without code; those of public names are for users", () => {
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
/**
 * Lists anew.
 *
 * @returns One that is new.
 */
const accept = "*/*", path = "a//alone";
`;
  const users = new Set(["Lists anew."]);
  const all = ["3 all the same", "10 alone", "11 behind the", "14 anew!", "16 One that!"];
  assertEquals(found("src/a.ts", source, users), all);
});

Deno.test("words: messages of errors of src are read, and all texts of the command line", () => {
  const source = `
throw new RangeError(\`Cannot wait for \${name}: it \` + "lists those " +
  "that wait");
const text = "It lists these pods alone";
reject(new StatusError(wrong ? "one that is lost" : \`those of \${a ? "x" : "y"} alone\`));
`;
  const errors = ["2 those that!", "5 one that!", "5 those of!", "5 alone!"];
  assertEquals(found("tests/a.ts", source), []);
  assertEquals(found("src/a.ts", source), errors);
  assertEquals(found("src/cli/a.ts", source), [errors[0], "4 alone!", ...errors.slice(1)]);
});

Deno.test("words: wide lines of comments are found, unless they cannot be wrapped", () => {
  const words = "word ".repeat(24);
  const lines = [
    `/** ${words}*/`,
    `/**\n * - ${words}\n * ${"word ".repeat(23)}wo\n */`,
    `  // ${words}`,
    `const text = "${words}";`,
    `/**\n * | ${words}|\n * ${"word".repeat(30)}\n * - see https://informer.test/${"a".repeat(120)}\n */`,
    `/**\n * \`\`\`ts\n * ${words}\n * \`\`\`\n */`,
    `// deno-lint-ignore no-explicit-any -- ${words}`,
  ];
  const wide = lines.map((source) => findingsIn("src/a.ts", source).filter(([, , instead]) => instead === "two lines"));
  assertEquals(wide.map((found) => found.map(([line]) => line)), [[1], [2], [1], [], [], [], []]);
});

Deno.test("deno task words lists what a path has, and ends with 1; with 2 for a wrong command line", async () => {
  const run = async (path: string): Promise<readonly [number, string]> => {
    const program = new Program("tools/words.ts", [path], {}, ["-A", "--lock=tests/deno.lock"]);
    return [await program.code, program.err.text];
  };
  assertEquals(await run("nowhere"), [2, 'error: there is no "nowhere"\n']);
  const [code, findings] = await run("tests/conformance/acceptance.md");
  assertEquals([code, findings.split("\n")[0].startsWith("tests/conformance/acceptance.md:")], [1, true]);
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
