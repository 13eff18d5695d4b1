import { assert, assertEquals, assertMatch } from "@std/assert";
import { COMMANDS } from "../../src/cli/commands.ts";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { deno, fill, informer, outputOf, shell } from "../support/processes/program.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { Captured, run } from "../support/processes/session.ts";

/** Runs a command line that is wrong: nothing on standard output, and one line that matches. */
async function refused(code: number, message: RegExp, ...args: string[]): Promise<void> {
  const result = await run(...args);
  const about = args.join(" ");
  assertEquals([result.code, result.out, result.err.length], [code, [], 1], `${about}: ${result.err.join("\n")}`);
  assertMatch(result.err[0], message, about);
}

Deno.test("informer reports a usage error in one line, and exits with 2", async () => {
  const cases: [RegExp, ...string[]][] = [
    [/^error: no command given; try "informer watch pods --fake", or see informer --help$/],
    [/^error: Unknown command "wacth"; did you mean "watch"\? See informer --help$/, "wacth"],
    [/^error: Unknown command "wacth"; did you mean "watch"\?/, "wacth", "pods", "--kubeconfig", "f"],
    [/^error: Unknown command "frobnicate"; see informer --help$/, "frobnicate"],
    [/^error: Unknown command "describe"; use kubectl describe; see informer --help$/, "describe", "pod", "web-0"],
    [
      /^error: Unknown command "drain"; use kubectl drain, or drain\(\) of \.\/workloads in a program; see informer --help$/,
      ...["drain", "worker-1", "--force"],
    ],
    [/"shell" must be .* "bash", "fish", "zsh"/, "completions", "ksh"],
    [/^error: Missing argument\(s\): resources; see informer watch --help$/, "watch"],
    [/^error: Missing argument\(s\): resources; see informer get --help$/, "get"],
    [
      /^error: Unknown option "--prot"\. Did you mean option "--port"\? See informer fake --help$/,
      "fake",
      "--prot",
      "1",
    ],
    [/^error: Unknown option "--everything"; see informer fake --help$/, "fake", "--everything"],
    [/^error: There is no flag "--bogus"; see informer watch --help$/, "watch", "--bogus", "pods"],
    [/^error: There is no flag "--bogus"/, "watch", "pods", "--bogus"],
    [/^error: There is no flag "--bogus"; see informer get --help$/, "get", "pods", "--bogus"],
    [/^error: There is no flag "-p"; write a space before a value/, "watch", "pods", "-lapp=web"],
    [/There is no flag "--namespce"; did you mean "--namespace"\? See informer wait --help$/, ...[
      ...["wait", "pod/a", "--namespce", "shop"],
    ]],
    [/There is no flag "--kubecnfig=f"; did you mean "--kubeconfig"\? See informer get --help$/, ...[
      ...["get", "pods", "--kubecnfig=f"],
    ]],
    [
      /^error: "--output" must be one of "table", "wide", "json", "name", but got "zip"; see informer watch --help$/,
      ...[
        ...["watch", "pods", "-o", "zip"],
      ],
    ],
    [/"--output" must be one of .*, but got "yml"; did you mean "yaml"\? See informer get --help$/, ...[
      ...["get", "pods", "-o", "yml"],
    ]],
    [
      /"--streaming-list" must be .* "auto", "on", "off", but got "yes"; see informer watch/,
      "watch",
      "pods",
      "--streaming-list",
      "yes",
    ],
    [/-A and -n contradict each other/, "watch", "pods", "-A", "-n", "shop"],
    [/-n must name one namespace.*it is "Shop"/, "get", "pods", "-n", "Shop"],
    [/what follows "-n" is empty/, "watch", "pods", "-n", ""],
    [/--cache= is empty/, "watch", "pods", "--cache="],
    [
      /label selector "app=web,,x": found "," at character 9, expected a label key such as "app"/,
      "watch",
      "pods",
      "-l",
      "app=web,,x",
    ],
    [/label selector "app in": found its end/, "watch", "pods", "-l", "app in"],
    [/does not support --field-selector "a.b=c"/, "get", "pods", "--field-selector", "a.b=c", "--fake"],
    [/does not support --field-selector "a.b=c"/, "watch", "pods", "--field-selector", "a.b=c", "--fake"],
    [/^error: --cache: "\/" is a folder; name a file$/, "watch", "pods", "--fake", "--cache", "/"],
    [/field selector "spec": found "spec" at character 1/, "get", "pods", "--field-selector", "spec"],
    [/--timeout must be a duration such as "30s".*it is "3x"/, "watch", "pods", "--timeout", "3x"],
    [/--timeout must be longer than 0/, "watch", "pods", "--timeout", "0"],
    [/--resync must be at most "596h"/, "watch", "pods", "--resync", "1000h"],
    [/--until-synced ends before a resync/, "watch", "pods", "--until-synced", "--resync", "1s"],
    [
      /--cache: folder "\/nonexistent" does not exist; create it first$/,
      "watch",
      "pods",
      "--cache",
      "/nonexistent/c.json",
    ],
    [/--cache needs a file, but "--timeout" looks like a flag/, "watch", "pods", "--cache", "--timeout", "3s"],
    [/--fake needs no other server; leave out --server/, "get", "pods", "--fake", "--server", "http://127.0.0.1:8001"],
    [
      /--server must begin with "https:\/\/" or "http:\/\/", but it begins with "htp:\/\/"/,
      "get",
      "pods",
      "--server",
      "htp://x",
    ],
    [/a name selects one object; leave out -A$/, "get", "pods", "web-0", "-A"],
    [/"web-1" names no kind; write each object as kind\/name/, "get", "pod/web-0", "web-1"],
    [/the name in "pod\/" is empty/, "get", "pod/"],
    [/"\/web-0" names no kind/, "get", "/web-0"],
    [/"pod\/web-0\/log" is not the kind and the name/, "get", "pod/web-0/log"],
    [/name at least one resource/, "get", ","],
    [/^error: Missing argument\(s\): objects; see informer wait --help$/, "wait"],
    [/name objects, such as deploy\/web, or choose them with -l, --field-selector or --all$/, "wait", "pods"],
    [/a name selects one object; leave out --all$/, "wait", "pod/a", "--all"],
    [/a name selects one object; leave out -l and -A$/, "wait", "pod", "a", "-A", "-l", "app=web"],
    [/--timeout must be longer than 0$/, "wait", "pod/a", "--timeout", "0"],
    [
      /--for must be ready, deleted, condition=TYPE, .* PATH of a field, but it is "redy"$/,
      "wait",
      "pod/a",
      "--for",
      "redy",
    ],
    [/--for must be .* PATH=VALUE.* it is "jsonpath=\{.a\}=1"$/, "wait", "pod/a", "--for", "jsonpath={.a}=1"],
    [/--for must be .* it is "condition="$/, "wait", "pod/a", "--for", "condition="],
    [/--for must be .* it is "condition=A="$/, "wait", "pod/a", "--for", "condition=A="],
    [
      /the field path "{.status.phase}": found "{" at character 1/,
      "wait",
      "pod/a",
      "--for",
      "{.status.phase}=Running",
    ],
    [/"all" is a category, and its objects can only be listed; name the kind of web$/, "wait", "all/web", "--fake"],
    [/Cannot find a resource "podz": .*Did you mean "pods"/, "get", "podz", "--fake"],
    [/Cannot find a resource "deploymnts": .*Did you mean "deployments.apps"/, "watch", "deploymnts", "--fake"],
    [/name at least one resource/, "watch", ",", "--fake"],
    [/"--port" must be of type "integer", but got "abc"; see informer fake --help$/, "fake", "--port", "abc"],
    [/--port must be at most 65535, but it is 70000/, "fake", "--port", "70000"],
    [/--pods must be a number that is at least 0, but it is -1/, "fake", "--pods", "-1"],
    [/"--churn" must be of type "number", but got "fast"/, "fake", "--churn", "fast"],
    [/"--namespaces" must be .* "any", "real"/, "fake", "--namespaces", "some"],
    [/"--churn-mix" must be .* "update", "all"/, "fake", "--churn-mix", "some"],
    [/--churn-for needs --churn/, "fake", "--churn-for", "3s"],
    [/--kubeconfig needs a file, but "--pods" looks like a flag/, "fake", "--kubeconfig", "--pods"],
    [/--kubeconfig: folder "\/nonexistent" does not exist; create it first/, "fake", "--kubeconfig", "/nonexistent/k"],
    [/No arguments allowed for command "informer fake"/, "fake", "pods"],
    [/--churn must be a number that is at least 0/, "fake", "--churn", "-1"],
  ];
  for (const [message, ...args] of cases) await refused(2, message, ...args);
});

Deno.test("informer reports a kubeconfig error in one line, and exits with 3, or with 2 for a missing file or context", async () => {
  await using folder = new Folder();
  const config = (fields: Record<string, unknown>): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "farm", cluster: { server: "http://127.0.0.1:8001" } }],
      contexts: [{ name: "home", context: { cluster: "farm" } }],
      ...fields,
    });
  const empty = folder.write("empty", "");
  const malformed = folder.write("malformed", "clusters: [{");
  const contextless = folder.write("contextless", config({}));
  const unknown = folder.write(
    "unknown",
    config({ "current-context": "home", clusters: [{ name: "farm", cluster: { server: "http://x", sever: "y" } }] }),
  );
  const authorityless = await writeKubeconfig(folder.file("authorityless"), {
    ...{ server: "https://127.0.0.1:1", "certificate-authority": folder.file("nosuch.crt") },
  });
  const cases: [RegExp, ...string[]][] = [
    [/it has no clusters, contexts or users\. Correct it/, "--kubeconfig", empty],
    [/it is neither YAML nor JSON: .* at line 1, column \d+\. Correct it/, "--kubeconfig", malformed],
    [/cluster "farm" of kubeconfig .*: field "sever" is not known/, "--kubeconfig", unknown],
    [/certificate-authority" names .*: there is no such file\. Correct it/, "--kubeconfig", authorityless],
  ];
  for (const [message, ...args] of cases) {
    await refused(3, message, "get", "pods", ...args);
    await refused(3, message, "watch", "pods", ...args);
  }
  const choices: [RegExp, ...string[]][] = [
    [
      /there is no such file\. Correct it, or choose another one with --kubeconfig/,
      "--kubeconfig",
      folder.file("missing"),
    ],
    [
      /--token-file names .*: there is no such file$/,
      "--server",
      "https://127.0.0.1:8001",
      "--token-file",
      folder.file("t"),
    ],
    [/"current-context" is missing: set it, or pass --context; the contexts are "home"$/, "--kubeconfig", contextless],
    [/context "away", which does not exist: the contexts are "home"/, "--kubeconfig", contextless, "--context", "away"],
  ];
  for (const [message, ...args] of choices) {
    await refused(2, message, "get", "pods", ...args);
    await refused(2, message, "watch", "pods", ...args);
  }
});

// What is wrong outside of the program: one line on standard error each, and nothing on standard output.

/** Runs get and watch, which end with this code and a line that matches. */
async function ends(code: number, message: RegExp, ...args: string[]): Promise<void> {
  for (const command of ["get", "watch"]) {
    const result = await run(command, ...args);
    const about = `${command} ${args.join(" ")}: ${result.err.join("\n")}`;
    assertEquals([result.code, result.out, result.err.length], [code, [], 1], about);
    assertMatch(result.err[0], message, about);
  }
}

/** A server that gives this answer to everything. */
function serveAnswer(answer: () => Response): { readonly url: string } & AsyncDisposable {
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return { url: `http://127.0.0.1:${http.addr.port}`, [Symbol.asyncDispose]: () => http.shutdown() };
}

function textOf(text: string, status: number, type: string): () => Response {
  return () => new Response(text, { status, headers: { "content-type": type } });
}

Deno.test("a server that is not there ends get and watch with 3", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  await ends(
    3,
    /refused.*\. Check the address, and whether the server is running$/,
    "pods",
    "--server",
    `http://127.0.0.1:${port}`,
  );
});

Deno.test("a port on which something else answers ends get and watch with 3", async () => {
  await using web = serveAnswer(textOf("404 page not found", 404, "text/plain"));
  await ends(3, /404.*\. Check that the address belongs to an API server$/, "pods", "--server", web.url);
  await using broken = serveAnswer(textOf("<html>no</html>", 502, "text/html"));
  await ends(3, /502.*\. Check that the address belongs to an API server$/, "pods", "--server", broken.url);
  await using api = serveAnswer(() => Response.json({ hello: 1 }));
  await ends(
    3,
    /the server lists none\. Check that the address belongs to an API server$/,
    "pods",
    "--server",
    api.url,
  );
});

Deno.test("HTML from a proxy ends get and watch with 3", async () => {
  await using proxy = serveAnswer(textOf("<html>Please log in</html>", 200, "text/html"));
  await ends(3, /is "text\/html" instead of JSON.*not a proxy or a login page$/, "pods", "--server", proxy.url);
});

Deno.test("a namespace without objects is reported in one line, with exit code 0", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const got = await run("get", "pods", "-n", "shop", "--server", served.url);
  assertEquals([got.code, got.out, got.err], [0, [], ["no pods found in namespace shop"]]);
  const watched = await run("watch", "pods", "-n", "shop", "--until-synced", "--server", served.url);
  assertEquals([watched.code, watched.out, watched.err], [0, [], ["no pods found in namespace shop"]]);
});

Deno.test("a missing permission of Deno is reported in one line that names the flag, with exit code 3", async () => {
  await using folder = new Folder();
  const kubeconfig = await writeKubeconfig(folder.file("config"), { server: "http://127.0.0.1:9" });
  const informer = async (...flags: string[]): Promise<[number, string, string]> => {
    const args = ["src/cli/main.ts", "get", "po", "--kubeconfig", kubeconfig];
    const { code, out, err } = await deno(["run", "--quiet", "--no-prompt", "--no-check", ...flags, ...args]);
    return [code, out, err];
  };
  const read = `--allow-read=${kubeconfig}`;
  assertEquals(
    await informer(),
    [3, "", `error: Cannot use kubeconfig "${kubeconfig}": this program may not read it, run it with ${read}\n`],
  );
  assertEquals(await informer(read), [
    3,
    "",
    `error: Cannot reach "http://127.0.0.1:9" to discover "/api": missing permission: run this program with --allow-net=127.0.0.1:9\n`,
  ]);
});

const LINUX = { ignore: Deno.build.os !== "linux" };
const UNIX = { ignore: Deno.build.os === "windows" };

Deno.test("informer exits cleanly when the reader of its output has gone", UNIX, async () => {
  const head = await shell("informer watch pods -A --fake -o name | head -1");
  assertEquals([head.code, head.out.split("\n").length, head.err.includes("error")], [0, 2, false]);
  const get = await shell("informer get pods -A --fake -o json | head -c 5");
  assertEquals([get.code, get.out, get.err], [0, `{"api`, ""]);
});

Deno.test("informer shows no live line on a terminal on which the reader of its output prints", LINUX, async () => {
  const flags = "-A --fake --no-object -o json --timeout 2s";
  const command = `${Deno.execPath()} run --quiet -A src/cli/main.ts watch pods ${flags} | cat`;
  // It makes a terminal of standard error.
  const { out } = await outputOf("script", ["-qec", `env -u CI TERM=xterm ${command}`, "/dev/null"]);
  assertMatch(out, /^\{"type":"synced".*\}\r$/m);
  assertEquals(out.match(/pods: .*/)?.[0], undefined);
});

Deno.test("informer exits with 1 when its output cannot be written", LINUX, async () => {
  const full = await shell("informer get pods -A --fake -o json > /dev/full");
  assertEquals(full.code, 1);
  assertMatch(full.err, /^error: Cannot write the results to standard output: No space left on device.*\n$/);
});

Deno.test("informer answers --help with examples for every command, and --version", UNIX, async () => {
  const help = async (...command: string[]): Promise<string> => {
    const { code, out, err } = await run(...command, "--help");
    assertEquals([code, err], [0, []]);
    assertMatch(out.join("\n"), /Examples:\n\n.*informer /s);
    assertEquals(out.filter((line) => line.endsWith(" ")), [], "blanks at the end");
    return out.join("\n");
  };
  const [all, watch, fake] = [await help(), await help("watch"), await help("fake")];
  for (const { usage, summary } of COMMANDS) {
    const [name] = usage.split(" ");
    assertMatch(all, new RegExp(`^ +${name} .*${summary}$`, "m"));
  }
  assert(all.trim().split("\n").length <= 40, "the list of commands fits on a screen");
  assertMatch(watch, /Options:.*--resync.*Connection:.*--kubeconfig.*Examples:/s);
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
  for (const command of ["get", "dashboard", "alerts"]) await help(command);
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
  assertMatch(fake.err.text, new RegExp(`^error: Cannot listen on port ${port}: it is in use. Choose another port`));
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
