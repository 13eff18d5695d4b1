import { assertEquals } from "@std/assert";

/** The pages for contributors, and the lines that each may have. */
const PAGES: readonly (readonly [page: string, lines: number])[] = [
  ["ARCHITECTURE.md", 120],
  ["CHANGELOG.md", 60],
  ["CONTRIBUTING.md", 160],
];

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}

Deno.test("pages: those for contributors are short, and name files, functions and types that exist", () => {
  const paths = ["bench", "docs", "page", "src", "standins", "tests", "tools"].flatMap(filesBelow);
  const code = paths.filter((path) => /\.tsx?$/.test(path) && path !== "tests/tools/pages_test.ts")
    .map((path) => Deno.readTextFileSync(path)).join("\n");
  const words = new Set(code.match(/#?[A-Za-z_]\w*/g));
  const wrong: string[] = [];
  for (const [page, most] of PAGES) {
    const text = Deno.readTextFileSync(page);
    const { length } = text.trimEnd().split("\n");
    if (length > most) wrong.push(`${page}: ${length} lines, at most ${most}`);
    if (text.split("\n").some((line) => line.length > 120)) wrong.push(`${page}: has a line above 120 columns`);
    if (page === "CHANGELOG.md") continue;
    for (const [, quoted] of text.matchAll(/`([^`\n]+)`/g)) {
      if (/^[\w./-]+\.(?:ts|md|json|yaml)$/.test(quoted)) {
        const isThere = quoted.includes("NAME") || paths.some((path) =>
          path.endsWith(`/${quoted}`) || path === quoted
        ) ||
          ["deno.json", "mod.ts"].includes(quoted);
        if (!isThere) wrong.push(`${page}: there is no file ${quoted}`);
      } else if (/^#?\w+(?:\.#?\w+)?(?:\(\))?$/.test(quoted)) {
        for (const word of quoted.match(/#?[A-Za-z_]\w*/g) ?? []) {
          if (!words.has(word)) wrong.push(`${page}: nothing has the name ${word}`);
        }
      }
    }
  }
  assertEquals(wrong, []);
});
