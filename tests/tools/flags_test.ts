import { assertEquals, assertThrows } from "@std/assert";
import { choice, count, helpOf, list, parseFlags, type Program, text, toggle } from "../../tools/flags.ts";
import { deno } from "../support/processes/program.ts";

const FLAGS = {
  seeds: count("number of seeds", 50),
  server: choice(["fake", "cluster"], "the server", "fake"),
  only: list("IDS", "cases", ["a", "b", "c"]),
  file: text("FILE", "a path"),
  check: toggle("writes nothing"),
};
const PROGRAM: Program<typeof FLAGS> = { task: "demo", summary: "Measures.", flags: FLAGS, examples: ["--seeds 3"] };

function messageOf(...args: string[]): string {
  return assertThrows(() => parseFlags(PROGRAM, args), TypeError).message;
}

Deno.test("flags: those that are not given have their defaults", () => {
  const expected = { seeds: 50, server: "fake" as const, only: undefined, file: undefined, check: false, rest: [] };
  assertEquals(parseFlags(PROGRAM, []), expected);
});

Deno.test("flags: a value follows as the next argument or behind =, and lists add up", () => {
  const args = "--seeds 3 --server=cluster --only a,b --check --file=x=y --only c".split(" ");
  const expected = { seeds: 3, server: "cluster" as const, only: ["a", "b", "c"], file: "x=y", check: true, rest: [] };
  assertEquals(parseFlags(PROGRAM, args), expected);
});

Deno.test("flags: other arguments are accepted by a program that names them, dashes by none", () => {
  const program = { ...PROGRAM, rest: ["PATH…", "folders"] } as const;
  assertEquals(parseFlags(program, ["src", "--check", "bench"]).rest, ["src", "bench"]);
  assertThrows(() => parseFlags(program, ["-x"]), TypeError, `cannot read "-x"`);
  assertEquals(messageOf("src").split(";")[0], `cannot read "src"`);
});

Deno.test("flags: an argument that is no flag is named, with the flags that there are", () => {
  const flags = "--seeds N, --server fake|cluster, --only IDS, --file FILE, --check, --help";
  assertEquals(messageOf("--check", "--seds", "3"), `cannot read "--seds"; there are ${flags}`);
  assertEquals(messageOf("--toString"), `cannot read "--toString"; there are ${flags}`);
  const none = { ...PROGRAM, flags: {} };
  assertThrows(() => parseFlags(none, ["--x"]), TypeError, `cannot read "--x"; there is only --help`);
});

Deno.test("flags: a value that cannot be read is named, with what is expected", () => {
  for (const value of ["0", "-1", "1.5", "three", "1e400"]) {
    assertEquals(messageOf("--seeds", value), `cannot read "--seeds ${value}"; it must be a positive integer`);
  }
  assertEquals(messageOf("--server", "real"), `cannot read "--server real"; there are fake, cluster`);
  assertEquals(messageOf("--only", "a,d"), `cannot read "--only a,d"; there are a, b, c`);
  assertEquals(messageOf("--check=no"), `cannot read "--check no"; it has no value`);
});

Deno.test("flags: a missing value is an error, also where the next argument is a flag", () => {
  assertEquals(messageOf("--file"), `cannot read "--file"; it needs a value: --file FILE`);
  assertEquals(messageOf("--file", "--check"), `cannot read "--file"; it needs a value: --file FILE`);
  assertEquals(messageOf("--file="), `cannot read "--file"; it needs a value: --file FILE`);
});

Deno.test("flags: the help has the flags with their defaults, the examples and the exit codes", () => {
  assertEquals(
    helpOf({ ...PROGRAM, rest: ["PATH…", "folders\nand files"] }),
    `Measures.

Usage: deno task demo [flags] [PATH…]
  PATH…                  folders
                         and files
  --seeds N              number of seeds; default 50
  --server fake|cluster  the server; default fake
  --only IDS             cases
  --file FILE            a path
  --check                writes nothing
  --help                 prints this

Examples:
  deno task demo --seeds 3

Exits with 1 when it fails, with 2 when the command line is wrong.`,
  );
});

const { tasks } = JSON.parse(await Deno.readTextFile("deno.json")) as {
  tasks: Record<string, { readonly command: string }>;
};
const MODES: Record<string, readonly string[]> = {
  "bench:peers": ["", "--against HEAD", "--reconcile 1", "--report"],
  "test:jsr": ["--write-only"], // all else goes to `deno test`
};

async function run(command: string, ...args: string[]): Promise<readonly [number, string, string]> {
  const all = [...command.split(" ").slice(1), ...args].filter((arg) => arg !== "");
  const { code, out, err } = await deno(all);
  return [code, out, err];
}

for (const [task, { command }] of Object.entries(tasks)) {
  if (!/^deno run .*(tools|bench)\/\S+$/.test(command)) continue;
  for (const mode of MODES[task] ?? [""]) {
    Deno.test(`${`deno task ${task} ${mode}`.trim()} prints its help`, async () => {
      const [code, help, complaint] = await run(command, ...mode.split(" "), "--help");
      assertEquals([code, help.includes(`\nUsage: deno task ${task}`), complaint], [0, true, ""]);
    });
  }
}

Deno.test("a program refuses a wrong flag in one line", async () => {
  const [code, output, error] = await run(tasks.size.command, "--no-such-flag");
  assertEquals([code, output], [2, ""]);
  assertEquals(/^error: cannot read "--no-such-flag"; there [^\n]*--help\n$/.test(error), true, error);
});
