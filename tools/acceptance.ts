/**
 * Checks the project's lists against its tests and sources:
 *
 * - Each acceptance case of `tests/conformance/acceptance.md` is covered by one test, is explained, or waits for a
 *   folder that does not exist yet.
 * - Each failure class of `tests/conformance/failure_classes.md` is covered by tests, waits for such a folder, or both.
 * - The line of each mutant of `tools/mutants_list.ts` is in its file exactly once, and its edit changes it.
 *
 * A test covers the ids in brackets at the end of its name: `Deno.test("Lister lists pods [C109] [F07]", …)`.
 *
 * @module
 */
import { join } from "node:path";
import { readFlags } from "./flags.ts";
import { MUTANTS } from "./mutants_list.ts";
import { edited } from "./places.ts";

interface List {
  readonly page: string;
  readonly letter: string;
  readonly count: number;
  /** The number of tests that may cover one id. */
  readonly most: number;
}

const LISTS: readonly List[] = [
  { page: "tests/conformance/acceptance.md", letter: "C", count: 159, most: 1 },
  { page: "tests/conformance/failure_classes.md", letter: "F", count: 40, most: Infinity },
];
readFlags({
  task: "acceptance",
  summary:
    "Checks the acceptance cases, failure classes and mutants against the tests and sources that carry their ids.",
  flags: {},
  exits: "Exits with 1 when they do not fit together, with 2 when the command line is wrong.",
});
const root = join(import.meta.dirname!, "..");
const problems: string[] = [];

/** The paths of all files below a folder whose name ends so. */
function filesIn(folder: string, end: string): string[] {
  return [...Deno.readDirSync(join(root, folder))].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? filesIn(path, end) : name.endsWith(end) ? [path] : [];
  });
}

function read(path: string): string {
  return Deno.readTextFileSync(join(root, path));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(join(root, path));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The names of the tests and steps that a file declares, as they are written there. */
function namesIn(text: string): string[] {
  const declared =
    /^[^"'`/*\n]*(?:\bDeno\.test|\.step|\.anywhere|\.withPlane)\(\s*(?:\{\s*name:\s*)?(["'`])(.*?)\1[,\s]/gm;
  return [...text.matchAll(declared)].map(([, , name]) => name);
}

/** The files of the tests that cover an id, one entry per test. */
function coverage(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of filesIn("tests", "_test.ts")) {
    for (const name of namesIn(read(path))) {
      const [ids] = /(?: \[[CF][0-9]+\])*$/.exec(name)!;
      for (const [id] of ids.matchAll(/[CF][0-9]+/g)) found.set(id, [...found.get(id) ?? [], path]);
    }
  }
  return found;
}

/** Checks a list against the tests, and returns how many of its ids are covered, explained, waiting or missing. */
function check({ page, letter, count, most }: List, tests: ReadonlyMap<string, string[]>): string {
  const number = { covered: 0, explained: 0, later: 0, missing: 0 };
  const digits = String(count).length;
  const ids = new Set(Array.from({ length: count }, (_, i) => letter + String(i + 1).padStart(digits, "0")));
  const listed = new Set<string>();
  for (const line of read(page).split("\n")) {
    const [, id, how] = new RegExp(`^\\| (${letter}[0-9]+) +\\|.* \\| +(\\S.*?) +\\|$`).exec(line) ?? [];
    if (id === undefined) {
      if (line.startsWith(`| ${letter}`)) problems.push(`${page}: is not a row of the table: ${line}`);
      continue;
    }
    if (!ids.has(id)) problems.push(`${id} is none of the ${count} of ${page}`);
    if (listed.has(id)) problems.push(`${id} is listed twice`);
    listed.add(id);
    const where = tests.get(id) ?? [];
    const [, test, folder] = /^(test)?(?:(?:^|; )later: (src\/[a-z]+))?$/.exec(how) ?? [];
    if (test === undefined && folder === undefined) {
      if (how.startsWith("explained: ")) number.explained++;
      else problems.push(`${id}: "${how}" is neither "test" nor "explained: …" nor "later: src/…"`);
    }
    if (folder !== undefined) {
      number.later++;
      if (exists(folder)) problems.push(`${id} waits for ${folder}, which exists`);
    }
    if (test === undefined && where.length > 0) problems.push(`${id} is "${how}", and has a test: ${where.join(", ")}`);
    if (test !== undefined) {
      number.covered++;
      if (where.length === 0) problems.push(`${id} is said to be a test, and no test's name ends with it`);
      if (where.length > most) problems.push(`${id} is covered by ${where.length} tests: ${where.join(", ")}`);
    }
  }
  for (const id of tests.keys()) {
    if (id.startsWith(letter) && !listed.has(id)) problems.push(`${id} ends a test's name, and is not listed`);
  }
  for (const id of ids) {
    if (listed.has(id)) continue;
    problems.push(`${id} is missing`);
    number.missing++;
  }
  const { covered, explained, later, missing } = number;
  return `${page}: covered ${covered}, explained ${explained}, later ${later}, missing ${missing}`;
}

const tests = coverage();
const lines = LISTS.map((list) => check(list, tests));

for (const mutant of MUTANTS) {
  const result = edited(exists(mutant.file) ? read(mutant.file) : "", mutant);
  if (typeof result === "string") problems.push(result);
}
const mutants = new Set(MUTANTS.map(({ id }) => id));
if (mutants.size !== MUTANTS.length) problems.push("an id of tools/mutants_list.ts is there twice");

for (const problem of problems) console.error(problem);
for (const line of lines) console.log(line);
console.log(`tools/mutants_list.ts: ${MUTANTS.length} mutants`);
Deno.exit(problems.length === 0 ? 0 : 1);
