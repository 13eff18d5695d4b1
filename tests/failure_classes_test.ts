import { assertEquals } from "@std/assert";

const CLASSES = 40;

/** What is asked of the repository. */
interface Repository {
  /** The text of a file; undefined when there is none. */
  readonly text: (path: string) => string | undefined;
  /** Whether there is a file or folder. */
  readonly has: (path: string) => boolean;
}

/** The names of the tests in a file, `…` for what is filled in when it runs. */
function testsIn(text: string): Set<string> {
  const name =
    /\bDeno\.test\(\s*(?:\{\s*name:\s*)?(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g;
  return new Set([...text.matchAll(name)].map(([, double, single, template]) => {
    return (double ?? single ?? template.replaceAll(/\$\{[^}]*\}/g, "…")).replaceAll(/\\(.)/g, "$1");
  }));
}

/** Everything that is wrong with a page of failure classes. */
function problems(page: string, repository: Repository): string[] {
  const found: string[] = [];
  const numbers: string[] = [];
  for (const line of page.split("\n")) {
    const cells = /^\| (F[0-9]{2}) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/.exec(line);
    if (cells === null) {
      if (/^\| *F[0-9]/.test(line)) found.push(`is not a row of four cells: ${line}`);
      continue;
    }
    const [, number, , , proof] = cells;
    numbers.push(number);
    for (const part of proof.split("; `").map((part, i) => i === 0 ? part : `\`${part}`)) {
      const later = /^`later: (src\/[a-z]+)`$/.exec(part);
      const test = /^`([^`]+)` in `(tests\/[^`]+_test\.ts)`$/.exec(part);
      if (later !== null) {
        if (repository.has(later[1])) found.push(`${number} waits for ${later[1]}, which exists`);
      } else if (test !== null) {
        const text = repository.text(test[2]);
        if (text === undefined) found.push(`${number} names ${test[2]}, which does not exist`);
        else if (!testsIn(text).has(test[1])) found.push(`${number}: ${test[2]} has no test "${test[1]}"`);
      } else {
        found.push(`${number}: "${part}" is neither a test in a file nor a folder that is waited for`);
      }
    }
  }
  const expected = Array.from({ length: CLASSES }, (_, i) => `F${String(i + 1).padStart(2, "0")}`);
  for (const number of expected) if (!numbers.includes(number)) found.push(`${number} is missing`);
  numbers.forEach((number, i) => {
    if (!expected.includes(number)) found.push(`${number} is none of the ${CLASSES}`);
    if (numbers.indexOf(number) !== i) found.push(`${number} is there twice`);
  });
  return found;
}

function read(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(new URL(`../${path}`, import.meta.url));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(`../${path}`, import.meta.url));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("failure_classes.md has all forty, and every proof it names is there", () => {
  assertEquals(problems(read("tests/failure_classes.md")!, { text: read, has: exists }), []);
});

Deno.test("failure_classes.md is held to the tests: a proof that is not there is found", () => {
  const repository: Repository = {
    text: (path) =>
      path === "tests/a_test.ts"
        ? 'Deno.test("one", () => {});\nDeno.test(`two ${kinds[0]} of it`, () => {});\nDeno.test({\n  name: "th\\"ree",'
        : undefined,
    has: (path) => path === "src/here",
  };
  const row = (number: number, proof: string): string =>
    `| F${String(number).padStart(2, "0")} | goes wrong | we do | ${proof} |`;
  const proofs = [
    "`one` in `tests/a_test.ts`",
    "`two … of it` in `tests/a_test.ts`; `later: src/there`",
    '`th"ree` in `tests/a_test.ts`',
    "`four` in `tests/a_test.ts`",
    "`one` in `tests/b_test.ts`; `two` in `tests/a_test.ts`",
    "`later: src/here`",
    "trust us",
  ];
  const rest = Array.from({ length: 31 }, (_, i) => row(i + 8, proofs[0]));
  const page = [
    ...proofs.map((proof, i) => row(i + 1, proof)),
    ...rest,
    row(38, proofs[0]),
    row(41, proofs[0]),
    "| F39 |",
  ];
  assertEquals(problems(page.join("\n"), repository).sort(), [
    'F04: tests/a_test.ts has no test "four"',
    "F05 names tests/b_test.ts, which does not exist",
    'F05: tests/a_test.ts has no test "two"',
    "F06 waits for src/here, which exists",
    'F07: "trust us" is neither a test in a file nor a folder that is waited for',
    "F38 is there twice",
    "F39 is missing",
    "F40 is missing",
    "F41 is none of the 40",
    "is not a row of four cells: | F39 |",
  ]);
});
