import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Pod } from "../../src/kinds/core/v1.ts";
import { fill, informer, shell } from "../support/program.ts";
import { Folder } from "../support/serve.ts";
import { Captured, json, run } from "../support/session.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };
const UNIX = { ignore: Deno.build.os === "windows" };

Deno.test("informer fake, watch and get agree on every pod while pods change", UNIX, async () => {
  for (const mix of ["update", "all"]) {
    // On a machine under load the changes may have ended before the watch begins.
    assert(await agreeWhileChanging(mix, 1.5) || await agreeWhileChanging(mix, 15), `no changes were seen: ${mix}`);
  }
});

/** Compares the three after changes; returns true if the watch has seen the changes that `mix` makes. */
async function agreeWhileChanging(mix: string, seconds: number): Promise<boolean> {
  await using folder = new Folder();
  const [kubeconfig, cache] = [folder.file("kubeconfig"), folder.file("cache.json")];
  const churn = ["--churn", "200", "--churn-mix", mix, "--churn-for", `${seconds}s`];
  await using fake = informer("fake", "--port", "0", "--pods", "300", ...churn, "--kubeconfig", kubeconfig);
  await fake.out.line(/^http:\/\/127\.0\.0\.1:\d+$/);
  const args = ["pods", "-A", "-o", "json", "--kubeconfig", kubeconfig];
  await using watch = informer("watch", ...args, "--no-object", "--cache", cache);
  await watch.out.line(/"synced"/);
  // When the changes have ended, a list at two times is the same.
  const list = async (): Promise<{ items: Pod[]; metadata: { resourceVersion: string } }> => {
    const { code, out, err } = await run("get", ...args);
    assertEquals([code, err], [0, []]);
    return JSON.parse(out.join("\n"));
  };
  let [before, after] = [await list(), await list()];
  while (before.metadata.resourceVersion !== after.metadata.resourceVersion) [before, after] = [after, await list()];
  const last = after.metadata.resourceVersion;
  await watch.out.until((lines) => lines.some((line) => line.includes(`"resourceVersion":"${last}"`)));
  watch.kill("SIGINT");
  assertEquals([await watch.code, watch.err.text], [0, ""]);
  fake.kill("SIGTERM");
  assertEquals(await fake.code, 0);

  const events = json(watch.out.lines);
  assertEquals(events.filter(({ type }) => type === "synced").length, 1);
  const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
  const saved = new Map((JSON.parse(await Deno.readTextFile(cache)) as Pod[]).map((each) => [keyOf(each), each]));
  assertEquals([...saved.keys()].sort(), after.items.map(keyOf).sort());
  for (const item of after.items) assertEquals(saved.get(keyOf(item)), item);
  const types = new Set(events.map(({ type }) => type));
  return types.has("updated") && types.has("deleted") === (mix === "all");
}

Deno.test(
  "informer watch survives a restart of the server, prints little about it, and is live again afterwards",
  UNIX,
  async () => {
    await using folder = new Folder();
    const kubeconfig = folder.file("kubeconfig");
    const first = informer("fake", "--pods", "20", "--kubeconfig", kubeconfig);
    await first.out.line(/^http/);
    const port = first.out.lines[0].split(":")[2];
    await using watch = informer("watch", "pods", "-A", "-o", "json", "--no-object", "--kubeconfig", kubeconfig);
    await watch.out.line(/"synced","objects":20/);
    first.kill("SIGKILL");
    await first.code;
    await watch.err.line(/^pods: Cannot reach .*refused.*; trying again$/);
    await using _second = informer("fake", "--port", port, "--pods", "20", "--churn", "50");
    await watch.err.line(/^pods: live again$/);
    await watch.out.line(/"type":"updated"/);
    watch.kill("SIGTERM");
    assertEquals(await watch.code, 0);
    assertEquals(new Set(watch.err.lines).size, watch.err.lines.length, watch.err.text);
    assert(watch.err.lines.length <= 4, watch.err.text);
    assertEquals(json(watch.out.lines).filter(({ type }) => type === "synced").length, 1);
  },
);

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
  for (const command of ["watch", "get", "fake", "demo", "completions"]) assert(all.includes(command), command);
  for (const flag of ["--resync", "--metadata-only", "--streaming-list", "--until-synced", "--timeout", "--cache"]) {
    assert(watch.includes(flag), flag);
  }
  for (const flag of ["--port", "--pods", "--churn", "--churn-mix", "--churn-for", "--seed", "--kubeconfig"]) {
    assert(fake.includes(flag), flag);
  }
  await help("get");
  await help("demo");
  const { code, out } = await shell("informer --version; informer -V; informer --help | tail -1");
  assertEquals(code, 0);
  assertMatch(out, /^informer \d+\.\d+\.\d+\n\d+\.\d+\.\d+\n.*\n$/);
  // deno-lint-ignore no-control-regex -- colours
  assertEquals(/\x1b/.test(out), false, "no colours in a pipe");
});

Deno.test("informer completions prints completions for each shell", UNIX, async () => {
  for (const name of ["bash", "zsh", "fish"]) {
    const { code, out } = await run("completions", name);
    assertEquals([code, out.join("\n").includes("informer completions complete")], [0, true], name);
  }
  assertEquals((await shell("informer completions bash | bash -n")).code, 0);
});

Deno.test("informer fake reports in one line that a port is taken, and exits with 1", UNIX, async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  await using fake = informer("fake", "--port", String(port));
  assertEquals([await fake.code, fake.out.text, fake.err.lines.length], [1, "", 1]);
  assertMatch(fake.err.text, new RegExp(`^error: port ${port} is taken; choose another, or 0 for any free one`));
});

Deno.test("informer demo prints a summary outside a terminal, and exits with 0", UNIX, async () => {
  await using demo = informer("demo", "--pods", "200", "--churn", "100", "--for", "500ms");
  assertEquals([await demo.code, demo.err.lines.length], [0, 2], demo.err.text);
  const summary = demo.out.lines;
  assertMatch(summary[0], /^objects +(\d+) cached, \1 on the server$/);
  assertMatch(summary[1], /^events +\d+ changes; delivered \d+ added, \d+ updated, \d+ deleted$/);
  assertMatch(summary[2], /^requests +\d+ lists, \d+ watches, 0 errors$/);
  assertEquals(summary.at(-1), "equal     yes: the cache equals the server");
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
