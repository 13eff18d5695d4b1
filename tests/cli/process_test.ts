import { assert, assertEquals, assertMatch } from "@std/assert";
import { fill, informer, shell } from "../support/program.ts";
import { Captured, run } from "../support/session.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };
const UNIX = { ignore: Deno.build.os === "windows" };

Deno.test("informer exits cleanly when the reader of its output has gone", UNIX, async () => {
  const head = await shell("informer watch pods -A --fake -o name | head -1");
  assertEquals([head.code, head.out.split("\n").length, head.err.includes("error")], [0, 2, false]);
  const get = await shell("informer get pods -A --fake -o json | head -c 5");
  assertEquals([get.code, get.out, get.err], [0, `{"api`, ""]);
});

Deno.test("informer exits with 1 when its output cannot be written", LINUX, async () => {
  const full = await shell("informer get pods -A --fake -o json > /dev/full");
  assertEquals(full.code, 1);
  assertMatch(full.err, /^error: Cannot write the results to standard output: No space left on device.*\n$/);
});

Deno.test("informer answers --help with examples for every command, and --version", UNIX, async () => {
  const help = async (...command: string[]): Promise<string> => {
    const { log } = console;
    const lines: unknown[] = [];
    console.log = (line: unknown): void => void lines.push(line);
    const { code, err } = await run(...command, "--help").finally(() => console.log = log);
    assertEquals([code, err], [0, []]);
    assertMatch(lines.join("\n"), /Examples:\n\n.*informer /s);
    return lines.join("\n");
  };
  const [all, watch, fake] = [await help(), await help("watch"), await help("fake")];
  for (const command of ["watch", "get", "dashboard", "alerts", "fake", "demo", "completions"]) {
    assert(all.includes(command), command);
  }
  for (const flag of ["--resync", "--metadata-only", "--streaming-list", "--until-synced", "--timeout", "--cache"]) {
    assert(watch.includes(flag), flag);
  }
  const ofFake = [
    "--port",
    "--pods",
    "--churn",
    "--churn-mix",
    "--churn-for",
    "--seed",
    "--namespaces",
    "--kubeconfig",
  ];
  for (const flag of ofFake) assert(fake.includes(flag), flag);
  for (const command of ["get", "demo", "dashboard", "alerts"]) await help(command);
  const { code, out } = await shell("informer --version; informer -V; informer --help | tail -1");
  assertEquals(code, 0);
  assertMatch(out, /^informer \d+\.\d+\.\d+\n\d+\.\d+\.\d+\n.*\n$/);
  // deno-lint-ignore no-control-regex -- colours
  assertEquals(/\x1b/.test(out), false, "no colours in a pipe");
});

Deno.test("informer fake reports in one line that a port is taken, and exits with 1", UNIX, async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  await using fake = informer("fake", "--port", String(port));
  assertEquals([await fake.code, fake.out.text, fake.err.lines.length], [1, "", 1]);
  assertMatch(fake.err.text, new RegExp(`^error: port ${port} is taken; choose another, or 0 for any free one`));
});

Deno.test("informer watch restores the terminal after Ctrl-C", LINUX, async () => {
  // `script` of util-linux gives it a terminal, and types there what it is sent.
  const command =
    `stty cols 60 && exec "${Deno.execPath()}" run --quiet -A src/cli/main.ts watch pods -A --no-object --fake`;
  const child = new Deno.Command("script", {
    args: ["-qec", command, "/dev/null"],
    cwd: new URL("../../", import.meta.url),
    env: { CI: "", TERM: "xterm", SHELL: "/bin/sh" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const screen = new Captured();
  const reading = fill(screen, child.stdout);
  const keyboard = child.stdin.getWriter();
  await screen.until(() => /live, \d+ objects/.test(screen.text));
  await keyboard.write(new TextEncoder().encode("\x03"));
  assertEquals((await child.status).code, 0);
  await keyboard.close();
  await reading;
  assertMatch(screen.text, /synced 100 pods at version \d+\r\n/);
  // Each live line fits, and the last is taken away: nothing stands behind it.
  for (const [, line] of screen.text.matchAll(/(pods: live[^\r\n]*)/g)) assert(line.length <= 61, line);
  assert(screen.text.endsWith("\r\x1b[2K"), JSON.stringify(screen.text.slice(-200)));
});
