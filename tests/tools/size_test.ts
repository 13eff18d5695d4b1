import { assertEquals } from "@std/assert";
import {
  codeChanges,
  countLines,
  internalOptions,
  nameUses,
  repeatedGroups,
  trusted,
  usedByANeighbour,
} from "../../tools/code_size.ts";
import { crossings, raised } from "../../tools/crossings.ts";
import { AREAS, borrowed, headless, longSteps, problems } from "../../tools/layers.ts";
import { folderSizes, publishedFiles, urlsIn } from "../../tools/size.ts";
import { withoutDoor } from "../../tools/test_doors.ts";
import { summary } from "../../tools/tree.ts";
import { pages } from "../support/texts/pages.ts";

Deno.test("size reads the files from the output of a dry run", () => {
  const output = `Warning Publishing (of a library) may take long.
Simulating publish of @a/b@0.1.0 with files:
   file:///a%20b/LICENSE (344B)
   file:///a%20b/src/mod.ts (5.25KB)
Success Dry run complete
`;
  assertEquals(urlsIn(output), ["file:///a%20b/LICENSE", "file:///a%20b/src/mod.ts"]);
});

Deno.test("size adds up the files of each folder, those of src by room", () => {
  const files = [
    { path: "mod.ts", bytes: 10 },
    { path: "docs/a/b.md", bytes: 20 },
    { path: "src/cli/main.ts", bytes: 30 },
    { path: "src/cli/doctor/check.ts", bytes: 40 },
    { path: "src/engine/api/object.ts", bytes: 50 },
  ];
  assertEquals(folderSizes(files), [
    { folder: "src/engine/api", files: 1, bytes: 50 },
    { folder: "src/cli/doctor", files: 1, bytes: 40 },
    { folder: "src/cli", files: 1, bytes: 30 },
    { folder: "docs", files: 1, bytes: 20 },
    { folder: ".", files: 1, bytes: 10 },
  ]);
});

Deno.test("The package has its entry point, licence and docs, and no tests or tools", async () => {
  const files = await publishedFiles();
  const paths = new Set(files.map(({ path }) => path));
  for (const path of ["deno.json", "mod.ts", "src/cli/main.ts", "LICENSE", ...pages()]) {
    assertEquals([path, paths.has(path)], [path, true]);
  }
  assertEquals([...paths].filter((path) => !/^(?:src|docs)\/|^[^/]+$/.test(path)), []);
  assertEquals(files.filter(({ bytes }) => bytes === 0), []);
});

Deno.test("code has changed if a token has, not if a comment or the format has", () => {
  const before = [
    { path: "a.ts", text: "/** Adds. */\nexport const f = (a: number): string => `${a} // no comment`; // one\n" },
    { path: "b.ts", text: "export const b = [1, 2];\n" },
    { path: "c.ts", text: "export const c = 3;\n" },
    { path: "gone.ts", text: "" },
  ];
  const after = [
    {
      path: "a.ts",
      text: "// Other.\nexport const f = (\n  a: number,\n): string => `${a} // no comment`;\n/* end */\n",
    },
    { path: "b.ts", text: "export const b = [\n  1,\n  2,\n];\n" },
    { path: "c.ts", text: "export const c = 4;\n" },
    { path: "new.ts", text: "// nothing\n" },
  ];
  assertEquals(codeChanges(before, after), ["c.ts has changed", "gone.ts is gone", "new.ts is new"]);
  const text = "export const f = (a: number): string => `${a} // another text`;\n";
  assertEquals(codeChanges(before.slice(0, 1), [{ path: "a.ts", text }]), ["a.ts has changed"]);
  assertEquals(codeChanges(before, before), []);
});

Deno.test("a line with code and a comment is code, one of a text is code, and one of a comment alone is not", () => {
  const text = `/**
 * A comment.
 */
export const a = 1; // and a remark

// Another comment.
const text = \`
  // no comment

\`;
`;
  assertEquals(countLines({ path: "a.ts", text }), { code: 5, comment: 4, blank: 1 });
});

Deno.test("names are followed to their users, through entry points and renamed imports", () => {
  const sources = [
    {
      path: "src/a/organ.ts",
      text: `export interface OrganOptions { size: number; onEnd(): void; read: () => void; }
export function organ(options: OrganOptions): void;
export function organ(): void {}
export class Public {}
export type Everywhere = string;
interface LocalContext { value: number }`,
    },
    {
      path: "src/a/owner.ts",
      text:
        `import { organ as make, type OrganOptions, type Everywhere } from "./organ.ts";\nimport { Public } from "./mod.ts";`,
    },
    { path: "src/a/mod.ts", text: `export { Public } from "./organ.ts";` },
    { path: "src/b/other.ts", text: `import type { Everywhere } from "../a/organ.ts";` },
  ];
  const uses = nameUses(sources);
  assertEquals(uses.map(({ name, users, isExported }) => `${isExported ? "" : "local "}${name}: ${users}`), [
    "OrganOptions: src/a/owner.ts",
    "organ: src/a/owner.ts",
    "Public: src/a/owner.ts",
    "Everywhere: src/a/owner.ts,src/b/other.ts",
    "local LocalContext: ",
  ]);
  const publicNames = new Set(["Public"]);
  assertEquals(usedByANeighbour(uses, publicNames).map(({ name }) => name), ["OrganOptions", "organ"]);
  assertEquals(internalOptions(uses, publicNames).map(({ name, members }) => [name, members]), [
    ["OrganOptions", { all: 3, callbacks: 2 }],
    ["LocalContext", { all: 1, callbacks: 0 }],
  ]);
});

Deno.test("layers allows one file to print, by console.warn alone", () => {
  const print = (path: string, call: string): string[] =>
    problems([{ path, text: `export class ConsoleReporter {}\n${call};\n`, imports: [] }]);
  assertEquals(print("engine/errors/errors.ts", `console.warn("x")`), []);
  assertEquals(print("engine/errors/errors.ts", `console.log("x")`).length, 1);
  assertEquals(print("engine/informer/console_reporter.ts", `console.warn("x")`).length, 1);
});

Deno.test("layers asks each file for a head, but for those that are generated", () => {
  const asked = (text: string, path = "engine/queue/delta_fifo.ts"): number => headless([{ path, text }]).length;
  assertEquals(asked(`/**\n * Orders changes.\n *\n * @module\n */\nimport "./a.ts";\n`), 0);
  assertEquals(asked(`/**\n * Orders changes.\n */\nimport "./a.ts";\n`), 1); // it is that of the first declaration
  assertEquals(asked(`/**\n * @module\n */\nimport "./a.ts";\n`), 1);
  assertEquals(asked(`import "./a.ts";\n/**\n * Orders changes.\n *\n * @module\n */\n`), 1);
  assertEquals(asked(`import "./a.ts";\n`, "engine/kinds/core/v1.ts"), 0);
});

Deno.test("layers refuses heads that speak of a folder, or name what does not exist", () => {
  const found = (words: string): string[] =>
    headless([{ path: "engine/queue/delta_fifo.ts", text: `/**\n * Orders changes. ${words}\n *\n * @module\n */\n` }]);
  assertEquals(found("See `queue/delta_fifo.ts`, `delta_fifo.ts` and `apps/v1`."), []);
  assertEquals(found("This folder is small."), [`src/engine/queue/delta_fifo.ts: its head speaks of "This folder"`]);
  assertEquals(found("See `queue/fifo.ts` and `client/fifo`."), [
    "src/engine/queue/delta_fifo.ts: its head names queue/fifo.ts, which does not exist",
    "src/engine/queue/delta_fifo.ts: its head names client/fifo, which does not exist",
  ]);
});

Deno.test("layers refuses an area that another one may not import, and READMEs of areas say what they may", () => {
  const found = (path: string, specifier: string): string[] => problems([{ path, text: "", imports: [specifier] }]);
  assertEquals(found("relay/server/a.ts", "../../engine/api/object.ts"), []);
  assertEquals(found("relay/server/a.ts", "../../host/connect/host.ts"), [
    `src/relay/server/a.ts: area "relay" imports area "host" by "../../host/connect/host.ts"`,
  ]);
  assertEquals(found("engine/store/a.ts", "../client/client.ts"), [
    `src/engine/store/a.ts: reaches up to "engine/client" by "../client/client.ts"`,
  ]);
  for (const [area, others] of Object.entries(AREAS)) {
    const sentence = /It may import [^.:]*/.exec(Deno.readTextFileSync(`src/${area}/README.md`))?.[0] ?? "";
    const named = Object.keys(AREAS).filter((name) => sentence.includes(`\`${name}\``));
    const all = sentence === "It may import all areas" ? others : named;
    assertEquals([area, sentence.length > 0, all], [area, true, others]);
  }
});

Deno.test("crossings are names that another area takes and no entry point exports; namespaces count as all names", () => {
  const modules = [
    { path: "engine/a.ts", text: "export const a = 1;\nexport function b(): void {}\nexport interface C {}\n" },
    { path: "engine/b.ts", text: `import { a } from "./a.ts";\n` },
    {
      path: "relay/a.ts",
      text: `import { a as x, type C } from "../engine/a.ts";\n// import { b } from "../engine/a.ts"`,
    },
    { path: "cli/a.ts", text: `import * as all from "../engine/a.ts";\n` },
    { path: "testing/a.ts", text: `const { b: c } = await import("../engine/a.ts");\n` },
    { path: "types.ts", text: `export type { C } from "./engine/a.ts";\n` },
  ];
  const found = crossings(modules, new Set(["C"]));
  assertEquals(found, [
    "cli < engine/a.ts a",
    "cli < engine/a.ts b",
    "relay < engine/a.ts a",
    "testing < engine/a.ts b",
  ]);
  assertEquals(raised(found, found), []);
  assertEquals(raised(found.with(2, "relay < engine/a.ts d"), found), []); // one for another
  assertEquals(raised(found.slice(1), found).length, 1);
});

Deno.test("tree shows the first clause of a head, at most eight words of it", () => {
  assertEquals(
    summary("/**\n * The queue between a reflector\n * and a store: DeltaFIFO.\n *\n */"),
    "The queue between a reflector and a store",
  );
  assertEquals(summary("/**\n * Histograms: counts by duration. More.\n */"), "Histograms: counts by duration");
  assertEquals(
    summary("/**\n * One two three four five six seven eight nine.\n */"),
    "One two three four five six seven eight …",
  );
  assertEquals(summary("export const a = 1;\n"), "");
});

Deno.test("layers names functions that are too long, also those in classes and variables", () => {
  const body = "{\n" + "  step();\n".repeat(58) + "}";
  const text = `/**\n * Comments\n * do not count.\n */\nfunction fits() ${body}\n` +
    `class Reader {\n  #read() {\n    run();\n  ${body.slice(2)}\n}\nconst run = () => {\n${body};\n};\n`;
  assertEquals(problems([{ path: "engine/errors/errors.ts", text, imports: [] }]), [
    "src/engine/errors/errors.ts: #read has 61 lines, at most 60; which are its steps?",
    "src/engine/errors/errors.ts: run has 62 lines, at most 60; which are its steps?",
  ]);
});

Deno.test("size counts casts and assertions, and no constant", () => {
  const text = "const a = b as string;\nconst c = [1] as const;\nd!.e = f![0]!;\n";
  assertEquals(trusted({ path: "a.ts", text }), { casts: 1, assertions: 3 });
});

Deno.test("layers refuses a literal that is spread into a literal, and no condition", () => {
  const lines = (line: string): string[] =>
    problems([{ path: "engine/errors/a.ts", text: `const a = {\n  ${line}\n};\n`, imports: [] }]);
  assertEquals(lines("...{ b, c },"), ["src/engine/errors/a.ts: spreads a literal; write its members"]);
  assertEquals(lines("...(b ? { c } : {}),"), []);
});

Deno.test("layers refuses to decide by the words of an error, unless a comment says whose words they are", () => {
  const lines = (...code: string[]): string[] =>
    problems([{ path: "engine/errors/a.ts", text: `${code.join("\n")}\n`, imports: [] }]);
  const found = (line: number): string[] => [
    `src/engine/errors/a.ts:${line}: compares the words of an error; compare its class or reason`,
  ];
  for (const call of [`.startsWith("Cannot ")`, `.includes("no")`, ".match(/no/)"]) {
    assertEquals(lines(`if (error.message${call}) return;`), found(1));
  }
  assertEquals(lines("const a = 1;", "if (/no such/i.test(error.cause.message)) return;"), found(2));
  assertEquals(lines("if (DEFECT.test(error.message)) return;"), found(1));
  assertEquals(lines(`return messageOf(error).includes("--allow-");`), found(1));
  assertEquals(lines("return DEFECT.test(messageOf(cause));"), found(1));
  assertEquals(lines("  // Words of Deno: it has no code.", "  if (DEFECT.test(error.message)) return;"), []);
  assertEquals(lines("// Words follow.", "if (DEFECT.test(error.message)) return;"), found(2));
  assertEquals(lines("text.includes(error.message);", "show(error.message);"), []);
});

Deno.test("layers allows helpers to their own folder, and those of tests/support to all", () => {
  const imports = (path: string, specifier: string): string[] => borrowed([{ path, imports: [specifier] }]);
  assertEquals(imports("tests/relay/server/a_test.ts", "./_a.ts"), []);
  assertEquals(imports("bench/limits/a.ts", "../_a.ts"), []);
  assertEquals(imports("bench/a.ts", "../tests/support/a.ts"), []);
  assertEquals(imports("tests/relay/server/a_test.ts", "../../engine/api/_a.ts"), [
    "tests/relay/server/a_test.ts: imports tests/engine/api/_a.ts, a helper of another folder; what is shared is in tests/support",
  ]);
  assertEquals(imports("tools/a.ts", "../tests/engine/api/a.ts"), [
    "tools/a.ts: imports tests/engine/api/a.ts; only tests/support is shared",
  ]);
});

Deno.test("layers bounds the named functions of tests, and not those that tests are", () => {
  const body = "{\n" + "  step();\n".repeat(99) + "}";
  const text = `Deno.test("a", () => ${body.replace("}", "  step();\n}")});\nfunction fits() ${body.slice(0, -11)}}\n` +
    `class Run {\n  #play() ${body}\n  play() {\n    one();\n  ${body.slice(2)}\n}\n`;
  assertEquals(longSteps([{ path: "tests/a.ts", text }]), [
    "tests/a.ts: #play has 101 lines, at most 100; which are its steps?",
    "tests/a.ts: play has 102 lines, at most 100; which are its steps?",
  ]);
});

Deno.test("layers asks each test to mirror a file, or to begin with the name of one or with a listed subject", () => {
  const sources = ["src/engine/queue/delta_fifo.ts", "src/cli/get.ts", "src/engine/kinds/core/v1.ts"];
  const page = (subjects: string): string =>
    `# Tests\n\n## Subjects\n\nText.\n\n${subjects}\n\n## Next\n\n- \`cli\`: \`x\`\n`;
  const found = (path: string, subjects = ""): string[] => withoutDoor([path, ...sources], page(subjects));
  for (
    const path of [
      "tests/engine/queue/delta_fifo_test.ts",
      "tests/engine/queue/delta_fifo_model_test.ts",
      "tests/cli/get_test.ts",
      "tests/public_api_test.ts",
      "tests/docs/pages_test.ts",
      "tests/simulation/histories/histories_test.ts",
      "tests/cli/_order.ts",
    ]
  ) assertEquals(found(path), []);
  for (const path of ["tests/engine/queue/fifo_test.ts", "tests/engine/queue/delta_test.ts", "tests/cli/x_test.ts"]) {
    const folder = path.slice("tests/".length, path.lastIndexOf("/"));
    assertEquals(found(path), [
      `${path}: mirrors no file of src/${folder}, and begins with no subject of tests/README.md`,
    ]);
  }
  const kinds = "- `engine/kinds`: `kinds` (all `files`,\n  once), `two_words`";
  assertEquals(
    withoutDoor(["tests/engine/kinds/kinds_test.ts", "tests/engine/kinds/two_words_of_test.ts"], page(kinds)),
    [],
  );
  assertEquals(withoutDoor(["tests/engine/kinds/kinds_test.ts"], page(kinds)), [
    'tests/README.md: the subject "engine/kinds: two_words" has no test that needs it',
  ]);
  assertEquals(found("tests/engine/kinds/files_test.ts", "- `engine/kinds`: (`files`)").length, 1);
});

Deno.test("repeated groups are found in regular expressions, and neither escapes nor sets of characters are groups", () => {
  const repeated = ["/(a)*/", "/(a)+/g", "/(?:a|b){2,}/", "/((a)b)*/", "/(\\))+/", "/([)])*/"];
  const others = ["/(a)?/", "/(a){2}/", "/\\(a\\)+/", "/[(a)]*/", "/a+b*/"];
  const text = [...repeated, ...others].map((pattern) => `use(${pattern});`).join("\n") + '\n"(a)*"; // (a)*';
  assertEquals(repeatedGroups({ path: "a.ts", text }), repeated);
});
