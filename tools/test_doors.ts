/**
 * Finds tests whose file of `src` a reader cannot guess: {@linkcode withoutDoor} is the entry point. A test mirrors a
 * file, its name begins with the name of one, or with a subject that `tests/README.md` lists. What a test imports is
 * not read.
 *
 * @module
 */

/** The page that lists subjects, a line for each folder: "- `engine/kinds`: `kinds`, `drafts` (…)". */
export const SUBJECTS = "tests/README.md";

/** Folders of `tests` without a folder of `src`. Their tests are about several rooms, or about other programs. */
const SPANNING = new Set([
  "bench",
  "cluster",
  "conformance",
  "docs",
  "endurance",
  "node",
  "page",
  "recovery",
  "simulation",
  "support",
  "tools",
  "whole",
]);

/** The subjects of a page by folder, as its section "Subjects" has them. */
function subjectsOf(page: string): Map<string, readonly string[]> {
  const section = page.split(/^## /m).find((part) => part.startsWith("Subjects\n")) ?? "";
  return new Map([...section.matchAll(/^- `([\w/]+)`: (.*(?:\n {2}.*)*)/gm)].map(([, folder, line]) => {
    return [folder, [...line.replace(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g)].map(([, subject]) => subject)];
  }));
}

/**
 * What is wrong with the names of tests. Paths are relative to the root: those of files of `tests` and `src`; `page` is
 * the text of {@linkcode SUBJECTS}. A subject that no test needs is wrong, too.
 */
export function withoutDoor(paths: readonly string[], page: string): string[] {
  const files = new Set(paths);
  const subjects = subjectsOf(page);
  const needless = new Set([...subjects].flatMap(([folder, names]) => names.map((name) => `${folder}: ${name}`)));
  const found: string[] = [];
  for (const path of paths) {
    const [, folder, name] = /^tests\/(.+)\/(\w+)_test\.ts$/.exec(path) ?? [];
    if (folder === undefined || SPANNING.has(folder.split("/")[0])) continue;
    const words = name.split("_");
    const beginnings = words.map((_word, i) => words.slice(0, i + 1).join("_"));
    if (beginnings.some((it) => files.has(`src/${folder}/${it}.ts`))) continue;
    const subject = beginnings.find((it) => subjects.get(folder)?.includes(it));
    if (subject !== undefined) needless.delete(`${folder}: ${subject}`);
    else found.push(`${path}: mirrors no file of src/${folder}, and begins with no subject of ${SUBJECTS}`);
  }
  return [...found, ...[...needless].map((it) => `${SUBJECTS}: the subject "${it}" has no test that needs it`)];
}
