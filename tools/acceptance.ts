/**
 * Holds `tests/acceptance.md` to the tests: each of the 159 cases is a test whose name begins with its number, or is
 * explained, or waits for a folder that does not exist yet.
 *
 * @module
 */
import { join } from "node:path";

const CASES = 159;
const root = join(import.meta.dirname!, "..");

/** The numbers that tests carry, and in which files. */
function tested(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const walk = (folder: string): void => {
    for (const entry of Deno.readDirSync(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory) walk(path);
      else if (entry.name.endsWith("_test.ts")) {
        for (const match of Deno.readTextFileSync(path).matchAll(/["'`](C[0-9]{3}) /g)) {
          found.set(match[1], [...found.get(match[1]) ?? [], path.slice(root.length + 1)]);
        }
      }
    }
  };
  walk(join(root, "tests"));
  return found;
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

const tests = tested();
const problems: string[] = [];
const count = { covered: 0, explained: 0, later: 0 };
const listed = new Set<string>();
for (const line of Deno.readTextFileSync(join(root, "tests/acceptance.md")).split("\n")) {
  const cells = /^\| (C[0-9]{3}) +\| (.+?) +\| (.+?) +\|$/.exec(line);
  if (cells === null) continue;
  const [, number, , how] = cells;
  if (listed.has(number)) problems.push(`${number} is listed twice`);
  listed.add(number);
  const where = tests.get(number) ?? [];
  if (how === "test") {
    count.covered++;
    if (where.length === 0) problems.push(`${number} is said to be a test, and no test carries it`);
    if (where.length > 1) problems.push(`${number} is carried by ${where.length} tests: ${where.join(", ")}`);
  } else if (how.startsWith("explained: ")) {
    count.explained++;
    if (where.length > 0) problems.push(`${number} is explained, and is a test too: ${where.join(", ")}`);
  } else if (how.startsWith("later: ")) {
    count.later++;
    const folder = how.slice("later: ".length);
    if (exists(folder)) problems.push(`${number} waits for ${folder}, which exists`);
    if (where.length > 0) problems.push(`${number} waits, and is a test: ${where.join(", ")}`);
  } else {
    problems.push(`${number}: "${how}" is neither "test" nor "explained: …" nor "later: …"`);
  }
}
const missing: string[] = [];
for (let i = 1; i <= CASES; i++) {
  const number = `C${String(i).padStart(3, "0")}`;
  if (!listed.has(number)) missing.push(number);
}
for (const number of tests.keys()) if (!listed.has(number)) problems.push(`${number} is a test, and is not listed`);
for (const number of missing) problems.push(`${number} is missing`);
for (const problem of problems) console.error(problem);
console.log(`covered ${count.covered}, explained ${count.explained}, later ${count.later}, missing ${missing.length}`);
Deno.exit(problems.length === 0 ? 0 : 1);
