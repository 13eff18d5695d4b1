import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { INTRODUCED, introducedIn, minorOf } from "../../tools/introduced.ts";
import { countsOf, TESTED } from "../../tools/versions.ts";
import { type Finding, isAllowed, wideLinesIn, wordsIn } from "../../tools/words.ts";

/** `"3 told"` for each finding in a source. */
function found(source: string): string[] {
  return wordsIn("src/a.ts", source).map(({ line, name }) => `${line} ${name}`);
}

Deno.test("wordsIn finds phrases in comments of both kinds, also across lines", () => {
  const source = `
/**
 * A handler that goes
 * on after each event.
 */
export const a = 1; // is told later
  // The reader in a
  // hurry: those who wait.
/* stories of a new whole, for whoever reads */
`;
  assertEquals(found(source), ["3 going on", "6 told", "8 hurry", "8 who", "9 story", "9 the whole", "9 who"]);
});

Deno.test("wordsIn finds docstrings that begin with a question word, once", () => {
  const source = `
/** What a handler receives. */
/**
 * Who reads.
 */
// What is left: a plain comment may ask.
/** Whatever the server sends. */
/** The object, and what it holds. */
`;
  assertEquals(found(source), ["2 What/How/Who …", "4 What/How/Who …"]);
});

Deno.test("wordsIn ignores code, strings, examples and other senses", () => {
  const source = `
/**
 * Calls \`tell()\`, {@linkcode Story} and https://story.test/told.
 *
 * \`\`\`ts
 * told.push("story"); // told
 * \`\`\`
 */
const text = "is told", accept = "*/*", path = "a//told";
/** The whole list is read; two keys are hard to tell from each other, and easy to tell apart. */
/** For users who write controllers. Whose turn it is does not matter. */
/** Stays whole, as a whole. */
`;
  assertEquals(found(source), ["10 tell"]);
});

Deno.test("isAllowed compares the path and the words around a phrase", () => {
  const [finding]: Finding[] = wordsIn("src/a.ts", "// Bob told Alice");
  assertEquals(isAllowed(finding, { path: "src/a.ts", text: "Bob told", reason: "" }), true);
  assertEquals(isAllowed(finding, { path: "src/b.ts", text: "Bob told", reason: "" }), false);
  assertEquals(isAllowed(finding, { path: "src/a.ts", text: "Eve told", reason: "" }), false);
});

Deno.test("wideLinesIn finds lines of comments beyond 120 columns that could be wrapped", () => {
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
`;
  assertEquals(wideLinesIn("src/a.ts", source).map(({ line }) => line), [2, 4, 5, 8]);
});

Deno.test("wideLinesIn leaves out lines of comments that cannot be wrapped", () => {
  const words = "word ".repeat(24);
  const source = `
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
  assertEquals(wideLinesIn("src/a.ts", source), []);
});

Deno.test("README names the versions that are tested, and the newest is that of src/kinds", async () => {
  const text = (path: string): Promise<string> => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const last = TESTED.at(-1)!;
  assertStringIncludes(await text("README.md"), `kube-apiserver ${TESTED.slice(0, -1).join(", ")} and ${last}.`);
  assertStringIncludes(await text("src/kinds/core/v1.ts"), ` from Kubernetes v${last}.`);
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
