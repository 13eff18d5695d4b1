import { join, relative } from "node:path";
import { FAILED } from "./first_failure.ts";
import { count, list, readFlags, text, toggle } from "./flags.ts";
import { LINE_SURVIVORS } from "./line_survivors.ts";
import { type Place, placeOf } from "./places.ts";
import { type Statement, statementsIn, without } from "./statements.ts";
import { TypeChecker } from "./type_checker.ts";

const PROGRAM = {
  task: "mutants --lines",
  summary: `Deletes one statement of the sources at a time and runs tests until one of them fails.

For each statement that the sources compile without: first the tests of its folder, then, if they all pass, 200 random
histories. A run that takes four times as long as without the change has exceeded its deadline. That counts as caught, and
so does a crash. Prints the statements that no test noticed. tools/line_survivors.ts names the statements whose deletion is
harmless, with the reason.

Outcomes are kept in .line_mutants.jsonl by the function that a statement is in, whichever file that is in: a statement of
an unchanged function is not run again, unless it survived and its tests have changed. Remove the file to run everything.`,
  flags: {
    lines: toggle("chooses this program"),
    only: list("PATH,…", `files or folders; default\n${hotFolders().join(", ")}`),
    tests: list(
      "PATH,…",
      "test files or folders that run alone; a run without this flag repeats what they do not catch",
    ),
    since: text("COMMIT", "leave out functions that this commit has with the same text, in any file"),
    jobs: count("number of processes at once", 2),
  },
  examples: [
    "--only src/engine/queue",
    "--only src/engine/store --tests tests/engine/store/indexer_test.ts",
    "--since HEAD~5",
    "--only src/engine/store/indexer.ts,src/engine/queue/delta_fifo.ts --jobs 1",
  ],
  exits: "Exits with 1 when an unexplained statement survives, with 2 when it cannot run.",
};

/** The outcome of a mutant. */
type Outcome = "tests" | "histories" | "crash" | "deadline" | "survives" | "does not compile";

/** A source without one of its statements. */
interface LineMutant {
  /** Path of the source, relative to the root. */
  readonly file: string;
  /** The source as it is. */
  readonly text: string;
  /** The deleted statement. */
  readonly statement: Statement;
  /** The reason for which its deletion is harmless, if `tools/line_survivors.ts` has one. */
  readonly reason: string | undefined;
  /** The same for as long as its function is. */
  readonly key: string;
  /** The same for as long as its tests are. */
  readonly tests: string;
}

/** A command line of this Deno, whose deadline follows from the time that it takes when nothing is deleted. */
interface Check {
  readonly name: "tests" | "histories";
  readonly args: readonly string[];
  /** The exit code of a failure. Any other one but 0 means that the process crashed. */
  readonly failed: number;
  readonly baseline: () => Promise<number>;
}

const ROOT = join(import.meta.dirname!, "..");
const STATE = join(ROOT, ".line_mutants.jsonl");
const COPIED = ["deno.json", "deno.lock", "mod.ts", "src", "standins", "tests", "tools"];
/** A mutant that grows without end must not use up the machine's memory before its deadline. */
const DENO_FLAGS = ["-A", "--no-check", "--lock=tests/deno.lock", "--v8-flags=--max-old-space-size=1024"];
const HISTORIES = 200;
const DEADLINE_FACTOR = 4;
const LEAST_DEADLINE_MS = 5_000;
const REPORT_EVERY = 25;

function hotFolders(): string[] {
  return ["reflector", "queue", "store", "informer", "workqueue", "async", "client"].map((name) => `src/${name}`);
}

/** Does what the command line asks for. Returns the exit code. */
export async function lineMutants(): Promise<number> {
  const { only = hotFolders(), tests, since, jobs } = readFlags(PROGRAM);
  const files = only.flatMap((path) => sourcesIn(relative(ROOT, join(ROOT, path))));
  const before = since === undefined ? new Set() : await keysOf(since);
  const problems = LINE_SURVIVORS.flatMap(({ lines }) => lines).map(([file, line]) => placeIn(file, line))
    .filter((place) => typeof place === "string");
  for (const problem of problems) console.log(problem);
  const mutants = (await Promise.all(files.map((file) => mutantsOf(file, tests)))).flat().filter(({ key }) =>
    !before.has(key)
  );
  const outcomes = await run(mutants, files, jobs, tests);
  const count = (outcome: Outcome): number => [...outcomes.values()].filter((found) => found === outcome).length;
  const survivors = mutants.filter(({ key }) => outcomes.get(key) === "survives");
  const unexplained = survivors.filter(({ reason }) => reason === undefined);
  const caught = (["tests", "histories", "crash", "deadline"] as const)
    .map((outcome) => `${count(outcome)} (${outcome})`).join(", ");
  console.log(
    `${mutants.length} statements: ${count("does not compile")} are needed to compile; caught: ${caught}; ` +
      `${survivors.length} survive, ${unexplained.length} of them unexplained`,
  );
  return unexplained.length + problems.length === 0 ? 0 : 1;
}

/** The TypeScript files at a path, relative to the root. */
function sourcesIn(path: string): string[] {
  if (Deno.statSync(join(ROOT, path)).isFile) return [path];
  return [...Deno.readDirSync(join(ROOT, path))].flatMap((entry) => {
    const child = join(path, entry.name);
    return entry.isDirectory || entry.name.endsWith(".ts") ? sourcesIn(child) : [];
  }).sort();
}

function placeIn(file: string, line: string): Place | string {
  return placeOf(file, exists(file) ? Deno.readTextFileSync(join(ROOT, file)) : "", line);
}

/** Returns the reason for a statement that begins on a line of `tools/line_survivors.ts`. */
function reasonOf(file: string, { start }: Statement): string | undefined {
  return LINE_SURVIVORS.find(({ lines }) =>
    lines.some(([path, line]) => {
      const place = path === file ? placeIn(file, line) : "";
      return typeof place !== "string" && place.start <= start && start < place.end;
    })
  )?.reason;
}

async function mutantsOf(file: string, alone: readonly string[] | undefined): Promise<LineMutant[]> {
  const text = await Deno.readTextFile(join(ROOT, file));
  const paths = (alone ?? [testFolderOf(file), "tests/support/histories", "tests/simulation/histories"].filter(exists))
    .flatMap(sourcesIn);
  const tests = await sha256((await Promise.all(paths.map((path) => Deno.readTextFile(join(ROOT, path))))).join("\0"));
  return await Promise.all(
    statementsIn(text).map(async (statement) => {
      return { file, text, statement, reason: reasonOf(file, statement), key: await keyOf(file, statement), tests };
    }),
  );
}

async function keyOf(file: string, { owner, start, end }: Statement): Promise<string> {
  const hash = await sha256([testFolderOf(file), owner.name, owner.text].join("\0"));
  return `${hash} ${start - owner.start}-${end - owner.start}`;
}

/** The keys of all statements that a commit has. */
async function keysOf(commit: string): Promise<Set<string>> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["grep", "--no-color", "-z", "-e", "", commit, "--", "src/*.ts"],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(`Cannot read ${commit}: ${new TextDecoder().decode(stderr).trim()}`);
  // Each line is COMMIT:PATH, NUL, and the line's text.
  const texts = new Map<string, string[]>();
  for (const line of new TextDecoder().decode(stdout).split("\n")) {
    const [place, text] = line.split("\0");
    if (text === undefined) continue;
    const path = place.slice(place.indexOf(":") + 1);
    texts.set(path, [...(texts.get(path) ?? []), text]);
  }
  const keys = [...texts].map(([path, lines]) => {
    return Promise.all(statementsIn(lines.join("\n")).map((statement) => keyOf(path, statement)));
  });
  return new Set((await Promise.all(keys)).flat());
}

function testFolderOf(file: string): string {
  return join("tests", file.split("/")[1]);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(join(ROOT, path));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return digest.toHex().slice(0, 16);
}

/** Finds the outcome of each mutant by its key. */
async function run(
  mutants: readonly LineMutant[],
  files: readonly string[],
  jobs: number,
  tests: readonly string[] | undefined,
): Promise<Map<string, Outcome>> {
  const known = await readState();
  const outcomes = new Map<string, Outcome>();
  for (const mutant of mutants) {
    const { outcome, tests } = known.get(mutant.key) ?? {};
    if (outcome === undefined || (outcome === "survives" && tests !== mutant.tests)) continue;
    outcomes.set(mutant.key, outcome);
    printSurvivor(mutant, outcome);
  }
  const waiting = mutants.filter(({ key }) => !outcomes.has(key));
  console.error(`${mutants.length} statements in ${files.length} files, ${waiting.length} of them to run`);
  if (waiting.length === 0) return outcomes;

  const folder = await Deno.makeTempDir({ prefix: "line-mutants-" });
  const interrupt = (): void => {
    Deno.removeSync(folder, { recursive: true });
    Deno.exit(130);
  };
  Deno.addSignalListener("SIGINT", interrupt);
  try {
    const unchanged = await copyProject(join(folder, "unchanged"));
    const copies = await Promise.all(Array.from({ length: jobs }, (_, job) => copyProject(join(folder, String(job)))));
    const types = new TypeChecker(ROOT, files.map((file) => join(ROOT, file)));
    const checksOf = checksIn(unchanged, tests);
    const startedAt = performance.now();
    const queue = waiting.values();
    let done = 0;
    await Promise.all(copies.map(async (copy) => {
      for (const mutant of queue) {
        const outcome = await outcomeOf(mutant, copy, types, checksOf(mutant.file));
        outcomes.set(mutant.key, outcome);
        await Deno.writeTextFile(STATE, `${JSON.stringify([mutant.key, outcome, mutant.tests])}\n`, { append: true });
        printSurvivor(mutant, outcome);
        if (++done % REPORT_EVERY !== 0) continue;
        const minutesLeft = (performance.now() - startedAt) / done * (waiting.length - done) / 60_000;
        console.error(`${done} of ${waiting.length}, now at ${mutant.file}; ${minutesLeft.toFixed(0)} minutes left`);
      }
    }));
  } finally {
    Deno.removeSignalListener("SIGINT", interrupt);
    await Deno.remove(folder, { recursive: true });
  }
  return outcomes;
}

async function readState(): Promise<Map<string, { readonly outcome: Outcome; readonly tests: string }>> {
  if (!exists(relative(ROOT, STATE))) return new Map();
  const lines = (await Deno.readTextFile(STATE)).trim().split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => {
    const [key, outcome, tests] = JSON.parse(line) as [string, Outcome, string];
    return [key, { outcome, tests }];
  }));
}

function printSurvivor(mutant: LineMutant, outcome: Outcome): void {
  const { file, reason, statement: { line, summary } } = mutant;
  if (outcome === "survives") {
    console.log(`${file}:${line}: ${summary}${reason === undefined ? "" : ` (${reason})`}`);
  } else if (reason !== undefined) {
    console.log(`${file}:${line}: in tools/line_survivors.ts, but caught: ${outcome}`);
  }
}

async function copyProject(folder: string): Promise<string> {
  await Deno.mkdir(folder);
  const { success } = await new Deno.Command("cp", { args: ["-r", ...COPIED.map((part) => join(ROOT, part)), folder] })
    .output();
  if (!success) throw new Error(`Cannot copy the project to ${folder}`);
  return folder;
}

/** The checks of a source, cheapest first. Each is timed in an unchanged copy when it is first needed. */
function checksIn(unchanged: string, alone: readonly string[] | undefined): (file: string) => readonly Check[] {
  const checks = new Map<string, Check>();
  const check = (name: Check["name"], failed: number, args: readonly string[]): Check => {
    const id = args.join(" ");
    let found = checks.get(id);
    if (found !== undefined) return found;
    let baseline: Promise<number> | undefined;
    found = { name, args, failed, baseline: () => baseline ??= timed(unchanged, args) };
    checks.set(id, found);
    return found;
  };
  const histories = check("histories", FAILED, ["run", ...DENO_FLAGS, "tools/first_failure.ts", String(HISTORIES)]);
  const testsIn = (paths: readonly string[]): Check =>
    check("tests", 1, ["test", ...DENO_FLAGS, "--quiet", "--fail-fast", ...paths]);
  return (file) => {
    if (alone !== undefined) return [testsIn(alone)];
    const tests = testFolderOf(file);
    return exists(tests) ? [testsIn([tests]), histories] : [histories];
  };
}

/** Milliseconds that a check takes without a change. @throws {Error} when it fails. */
async function timed(copy: string, args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  if (await exitCode(copy, args) !== 0) {
    throw new Error(`Cannot test mutants: "deno ${args.join(" ")}" fails without a change`);
  }
  return performance.now() - startedAt;
}

async function outcomeOf(
  { file, text, statement }: LineMutant,
  copy: string,
  types: TypeChecker,
  checks: readonly Check[],
): Promise<Outcome> {
  const mutated = without(text, statement);
  if (!types.compiles(join(ROOT, file), mutated)) return "does not compile";
  for (const { name, args, failed, baseline } of checks) {
    const deadlineMs = Math.max(LEAST_DEADLINE_MS, DEADLINE_FACTOR * await baseline());
    await Deno.writeTextFile(join(copy, file), mutated);
    const code = await exitCode(copy, args, deadlineMs);
    await Deno.writeTextFile(join(copy, file), text);
    if (code === undefined) return "deadline";
    if (code !== 0) return code === failed ? name : "crash";
  }
  return "survives";
}

/** The exit code of a command line of this Deno; `undefined` when it exceeds its deadline. */
async function exitCode(copy: string, args: readonly string[], deadlineMs?: number): Promise<number | undefined> {
  const child = new Deno.Command(Deno.execPath(), { args: [...args], cwd: copy, stdout: "null", stderr: "null" })
    .spawn();
  let exceeded = false;
  const timer = deadlineMs === undefined ? undefined : setTimeout(() => {
    exceeded = true;
    child.kill("SIGKILL");
  }, deadlineMs);
  const { code } = await child.status;
  clearTimeout(timer);
  return exceeded ? undefined : code;
}
