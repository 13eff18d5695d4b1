import { Command, EnumType } from "@cliffy/command";
import { assert, assertEquals } from "@std/assert";
import { type ClusterNames, complete } from "../../src/cli/completions.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { ServerNames } from "../../src/cli/server_names.ts";
import { Terminal } from "../../src/cli/terminal/terminal.ts";
import { Namespace, Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, namespace, pod } from "../../src/testing/mod.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { deno } from "../support/processes/program.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { Captured, run } from "../support/processes/session.ts";

function namesFor(...words: string[]): ServerNames {
  const screen = { stdout: new Captured(), stderr: new Captured(), columns: () => 80, capable: false };
  return new ServerNames(words, new Terminal(() => {}, screen), new AbortController().signal);
}

Deno.test("ServerNames are those of the server and the namespace on the line", async () => {
  using server = new FakeApiServer({
    resources: [
      { group: "example.com", version: "v1", plural: "events", kind: "Event", scope: "Namespaced" },
      { group: "example.com", version: "v1beta1", plural: "betas", kind: "Beta", scope: "Namespaced" },
    ],
  });
  server.create(Namespace, namespace({ name: "shop" }));
  server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
  server.create(Pod, pod({ name: "db-0", namespace: "default" }));
  await using served = await serve(server);
  const names = namesFor("get", "--server", "=", served.url, "-n", "shop");
  assertEquals([await names.names("po"), await names.namespaces()], [["web-0"], ["shop"]]);
  assertEquals(await namesFor("get", "--server", served.url).names("pods"), ["db-0"]);
  const kinds = await names.kinds();
  assert(kinds.includes("pods") && kinds.includes("events.example.com") && kinds.includes("events"));
  assertEquals(kinds.filter((name) => /betas|deployments/.test(name)), ["betas", "deployments"]);
});

Deno.test("ServerNames are none without a server, or if the kind is unknown", async () => {
  assertEquals(await namesFor("get", "--server", "http://127.0.0.1:1").kinds(), []);
  assertEquals(await namesFor("get", "--kubeconfig", "/nonexistent/config").namespaces(), []);
  assertEquals(await namesFor("get", "--fake").names("podz"), []);
});

Deno.test("ServerNames has the contexts of the kubeconfig on the line, and none where it cannot be read", async () => {
  await using folder = new Folder();
  const kubeconfig = await writeKubeconfig(folder.file("config"), { server: "http://127.0.0.1:1" });
  assertEquals(await namesFor("get", "--kubeconfig", kubeconfig, "--context", "h").contexts(), ["home"]);
  folder.write("broken", "contexts: 1");
  assertEquals(await namesFor("get", "--kubeconfig", folder.file("broken")).contexts(), []);
  assertEquals(await namesFor("get", "--kubeconfig", folder.file("missing")).contexts(), []);
});

/** A line of flags, and what they change: a header of the requests, or what is offered. */
const CONNECTION_LINES: Readonly<Record<string, (served: Line) => readonly string[]>> = {
  "--kubeconfig": ({ kubeconfig }) => ["--kubeconfig", kubeconfig],
  "--context": ({ kubeconfig }) => ["--kubeconfig", kubeconfig, "--context", "home"],
  "--server": ({ url }) => ["--server", url],
  "--token-file": ({ url, token }) => ["--server", url, "--token-file", token],
  "--as": ({ url }) => ["--server", url, "--as", "ada"],
  "--as-group": ({ url }) => ["--server", url, "--as", "ada", "--as-group", "a", "--as-group", "b"],
  "--as-uid": ({ url }) => ["--server", url, "--as", "ada", "--as-uid", "7"],
  "-v, --verbose": ({ url }) => ["--server", url, "-v"],
  "--fake": () => ["--fake"],
  "--contexts": ({ kubeconfig }) => ["--kubeconfig", kubeconfig, "--contexts", "home,away"],
  "--all-contexts": ({ kubeconfig }) => ["--kubeconfig", kubeconfig, "--all-contexts"],
};

interface Line {
  readonly url: string;
  readonly kubeconfig: string;
  readonly token: string;
}

for (const usage of Object.keys(COMMANDS.find(({ usage }) => usage.startsWith("get "))!.connection!)) {
  const [flag] = usage.split(" <");
  Deno.test(`ServerNames obeys ${flag}`, async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    server.create(Pod, pod({ name: "web-0", namespace: "default" }));
    await using served = await serve(server);
    const kubeconfig = await writeKubeconfig(folder.file("config"), { server: served.url });
    const config = JSON.parse(await Deno.readTextFile(kubeconfig));
    // The current context is of no use where another one is named.
    if (flag.startsWith("--context")) config["current-context"] = "none";
    folder.write("config", JSON.stringify(config));
    const line = CONNECTION_LINES[flag]({ url: served.url, kubeconfig, token: folder.write("token", "abc") });
    const screen = { stdout: new Captured(), stderr: new Captured(), columns: () => 80, capable: false };
    const names = new ServerNames(["get", ...line], new Terminal(() => {}, screen), new AbortController().signal);
    const found = await names.names("pods");
    assertEquals(found.includes("web-0"), flag !== "--fake");
    assertEquals(found.length > 0, true);
    const headers = server.requests.map(({ headers }) => headers);
    const sent = (name: string): (string | null)[] => [...new Set(headers.map((each) => each.get(name)))];
    if (flag === "--token-file") assertEquals(sent("authorization"), ["[redacted]"]);
    if (flag.startsWith("--as")) assertEquals(sent("impersonate-user"), ["ada"]);
    if (flag === "--as-group") assertEquals(sent("impersonate-group"), ["a, b"]);
    if (flag === "--as-uid") assertEquals(sent("impersonate-uid"), ["7"]);
    assertEquals(screen.stderr.text.includes("GET "), flag === "-v, --verbose");
  });
}

Deno.test("ServerNames acts as the user of --as, also where bash takes the line apart", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const user = "system:serviceaccount:shop:web";
  const line = [`--server=${served.url}`, `--as=${user}`];
  for (const words of [line, line.flatMap((word) => word.split(/([:=])/))]) {
    await namesFor("get", ...words).names("pods");
  }
  const lists = server.requests.filter(({ verb }) => verb === "list");
  assertEquals(lists.map(({ headers }) => headers.get("impersonate-user")), [user, user]);
});

const cluster: ClusterNames = {
  kinds: () => Promise.resolve(["deployments", "pods", "poddisruptionbudgets"]),
  contexts: () => Promise.resolve(["production", "staging"]),
  namespaces: () => Promise.resolve(["default", "shop"]),
  names: (kind) => Promise.resolve(["web-0", "web-1"].map((name) => kind.startsWith("po") ? name : `${kind}-${name}`)),
};

/** The words for a line; the word in question is behind the last blank. */
async function offered(line: string): Promise<string | readonly string[]> {
  const program = new Command().name("informer")
    .command("get <resources:string> [names...:string]", "Lists. Or gets.")
    .type("format", new EnumType(["json", "yaml"]))
    .option("-n, --namespace <namespace:string>", "In one namespace.")
    .option("-A, --all-namespaces", "In all.")
    .option("-o, --output <format:format>", "How to print.")
    .option("--kubeconfig <file:string>", "A file.")
    .option("--context <name:string>", "A context.")
    .option("--contexts <names:string>", "Contexts.")
    .reset()
    .command("wait <objects...:string>", "Waits.").option("--for <state:string>", "The state.")
    .option("--ready-if <expression:string>", "An expression.").reset()
    .command("logs [targets...:string]", "Prints.").reset()
    .command("demo", "Shows.").option("--for <duration:string>", "A time.").reset()
    .command("watch <resources...:string>", "Watches.").option("--cache <file:string>", "A file.").reset()
    .command("kinds", "Writes.").option("--file <file:string>", "A file.").option("--out <file:string>", "A file.")
    .option("--group <group:string>", "A group.").reset()
    .command("crds <files...:string>", "Prints.").option("--compare", "Compares.").reset()
    .command("completions <shell:string>", "Completes.").reset()
    .command("fake", "Serves.").reset();
  const found = await complete(program, line.split(" "), () => Promise.resolve(cluster));
  return found === "files" ? found : found.map(({ word }) => word);
}

Deno.test("complete offers commands and their flags", async () => {
  assertEquals(await offered(""), ["get", "wait", "logs", "demo", "watch", "kinds", "crds", "completions", "fake"]);
  assertEquals(await offered("w"), ["wait", "watch"]);
  assertEquals(await offered("get --n"), ["--namespace"]);
  assertEquals(await offered("get pods -"), [
    ...["-n", "--namespace", "-A", "--all-namespaces", "-o", "--output", "--kubeconfig", "--context", "--contexts"],
  ]);
  assertEquals([await offered("nothing "), await offered("fake ")], [[], []]);
});

Deno.test("complete offers the values of flags: formats, namespaces and files", async () => {
  assertEquals(await offered("get pods -o "), ["json", "yaml"]);
  assertEquals(await offered("get pods --output = y"), ["yaml"]);
  assertEquals(await offered("get -n s"), ["shop"]);
  assertEquals([await offered("get --kubeconfig "), await offered("watch --cache x")], ["files", "files"]);
  assertEquals([await offered("kinds --file c"), await offered("kinds --out "), await offered("kinds --group ")], [
    ...["files", "files"],
    [],
  ]);
  assertEquals([await offered("crds k"), await offered("crds --compare old.yaml ")], ["files", "files"]);
  assertEquals(await offered("get --context "), ["production", "staging"]);
  assertEquals(await offered("wait pods --for "), ["ready", "deleted", "condition="]);
  assertEquals(await offered("wait --for = r"), ["ready"]);
  assertEquals([await offered("wait --re"), await offered("wait pods --ready-if ")], [["--ready-if"], []]);
  assertEquals(await offered("demo --for "), []);
  assertEquals(await offered("get --context = s"), ["staging"]);
  assertEquals(await offered("get --contexts staging,p"), ["staging,production"]);
});

Deno.test("complete offers kinds, several by commas", async () => {
  assertEquals(await offered("get po"), ["pods", "poddisruptionbudgets"]);
  assertEquals(await offered("get pods,dep"), ["pods,deployments"]);
  assertEquals(await offered("watch pods dep"), ["deployments"]);
  assertEquals(await offered("get -A d"), ["deployments"]);
});

Deno.test("complete offers the names of objects, behind a kind or a slash", async () => {
  assertEquals(await offered("get pods "), ["web-0", "web-1"]);
  assertEquals(await offered("get -n shop pods -o json web-1"), ["web-1"]);
  assertEquals(await offered("get pods web-0 "), ["web-1"]);
  assertEquals([await offered("wait po/"), await offered("wait po web-0 ")], [["po/web-0", "po/web-1"], ["web-1"]]);
  assertEquals(await offered("get pod/"), ["pod/web-0", "pod/web-1"]);
  assertEquals(await offered("get pod/web-0 deploy/d"), ["deploy/deploy-web-0", "deploy/deploy-web-1"]);
  assertEquals(await offered("get pod/web-0 w"), []);
  assertEquals([await offered("logs "), await offered("logs web-0 ")], [["web-0", "web-1"], ["web-1"]]);
  assertEquals(await offered("logs deploy/d"), ["deploy/deploy-web-0", "deploy/deploy-web-1"]);
});

Deno.test("complete offers shells", async () => {
  assertEquals(await offered("completions "), ["bash", "fish", "zsh"]);
});

// The scripts in the shells that are installed, with the command line as a program in PATH.

/** The command of each shell that prints the words that it would offer for the last of `"$@"`, one on a line. */
const SHELLS: Readonly<Record<string, (script: string, words: readonly string[]) => string[]>> = {
  bash: (script, words) => [
    ...["--norc", "--noprofile", "-c"],
    `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _informer 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ...["bash", "informer", ...words],
  ],
  zsh: (script, words) => [
    ...["-f", "-c"],
    `compdef() { :; }; _files() { print FILES; }; _describe() { local each; for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done; }
source ${script}; words=("$@"); CURRENT=$#; _informer`,
    ...["zsh", "informer", ...words],
  ],
  fish: (script, words) => [
    "--no-config",
    "-c",
    `source ${script}; complete -C ${JSON.stringify(`informer ${words.join(" ")}`)} | string split -f1 \\t`,
  ],
};

async function installed(shell: string): Promise<boolean> {
  try {
    return (await new Deno.Command(shell, { args: ["--version"], stdout: "null", stderr: "null" }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Returns the folder of Deno's packages, which does not depend on the home folder of a test. */
async function packagesFolder(): Promise<string> {
  return JSON.parse((await deno(["info", "--json"])).out).denoDir;
}

for (const [shell, argsOf] of Object.entries(SHELLS)) {
  Deno.test(`informer completions ${shell} completes commands, contexts, kinds, namespaces and names in ${shell}`, {
    ignore: !await installed(shell),
  }, async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    for (const name of ["web-0", "web-1"]) server.create(Pod, pod({ name, namespace: "shop" }));
    await using served = await serve(server);
    const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
    const program = folder.write("informer", `#!/bin/sh\nexec '${Deno.execPath()}' run -A --no-check '${main}' "$@"\n`);
    await Deno.chmod(program, 0o755);
    const script = folder.write("script", `${(await run("completions", shell)).out.join("\n")}\n`);
    const offered = async (...words: string[]): Promise<string[]> => {
      const { stdout } = await new Deno.Command(shell, {
        args: argsOf(script, words),
        env: {
          ...{ PATH: `${folder.path}:${Deno.env.get("PATH")}`, DENO_DIR: await packagesFolder() },
          ...{ HOME: folder.path, XDG_DATA_HOME: folder.path },
        },
        stdin: "null",
        stderr: "null",
      }).output();
      return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "").sort();
    };
    const at = ["--server", served.url];
    assertEquals(await offered("wat"), ["watch"]);
    assertEquals(await offered("get", ...at, "conf"), ["configmaps"]);
    assertEquals(await offered("get", ...at, "-n", "shop", "pods", ""), ["web-0", "web-1"]);
    assertEquals(await offered("get", ...at, "-n", "shop", "pod/web-1"), ["pod/web-1"]);
    assertEquals(await offered("get", "pods", "-o", "y"), ["yaml"]);
    const kubeconfig = await writeKubeconfig(folder.file("config"), { server: served.url });
    assertEquals(await offered("get", "--kubeconfig", kubeconfig, "--context", ""), ["home"]);
    assertEquals(await offered("get", "--server", "http://127.0.0.1:1", ""), [], "nothing without a server");
  });
}
