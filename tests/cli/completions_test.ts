import { Command, EnumType } from "@cliffy/command";
import { assertEquals } from "@std/assert";
import { complete } from "../../src/cli/completions.ts";
import { deno } from "../support/processes/program.ts";
import { Folder } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";

/** The words for a line; the word in question is behind the last blank. */
function offered(line: string): string | readonly string[] {
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
    .command("record", "Records.").option("--timeout <duration:string>", "A time.").reset()
    .command("watch <resources...:string>", "Watches.").option("--cache <file:string>", "A file.").reset()
    .command("kinds", "Writes.").option("--file <file:string>", "A file.").option("--out <file:string>", "A file.")
    .option("--group <group:string>", "A group.").reset()
    .command("crds <files...:string>", "Prints.").option("--compare", "Compares.").reset()
    .command("completions <shell:string>", "Completes.").reset()
    .command("fake", "Serves.").reset();
  const found = complete(program, line.split(" "));
  return found === "files" ? found : found.map(({ word }) => word);
}

Deno.test("complete offers commands and their flags", () => {
  assertEquals(offered(""), ["get", "wait", "logs", "record", "watch", "kinds", "crds", "completions", "fake"]);
  assertEquals(offered("w"), ["wait", "watch"]);
  assertEquals(offered("get --n"), ["--namespace"]);
  assertEquals(offered("get pods -"), [
    ...["-n", "--namespace", "-A", "--all-namespaces", "-o", "--output", "--kubeconfig", "--context", "--contexts"],
  ]);
  assertEquals([offered("nothing "), offered("fake ")], [[], []]);
});

Deno.test("complete offers the values of flags: formats and files", () => {
  assertEquals(offered("get pods -o "), ["json", "yaml"]);
  assertEquals(offered("get pods --output = y"), ["yaml"]);
  assertEquals([offered("get --kubeconfig "), offered("watch --cache x")], ["files", "files"]);
  assertEquals([offered("kinds --file c"), offered("kinds --out "), offered("kinds --group ")], [
    ...["files", "files"],
    [],
  ]);
  assertEquals([offered("crds k"), offered("crds --compare old.yaml ")], ["files", "files"]);
  assertEquals(offered("wait pods --for "), ["ready", "deleted", "condition="]);
  assertEquals(offered("wait --for = r"), ["ready"]);
  assertEquals([offered("wait --re"), offered("wait pods --ready-if ")], [["--ready-if"], []]);
  assertEquals(offered("record --timeout "), []);
});

Deno.test("complete offers shells", () => {
  assertEquals(offered("completions "), ["bash", "fish", "zsh"]);
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
  Deno.test(`informer completions ${shell} completes commands and values in ${shell}`, {
    ignore: !await installed(shell),
  }, async () => {
    await using folder = new Folder();
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
    assertEquals(await offered("wat"), ["watch"]);
    assertEquals(await offered("get", "pods", "-o", "y"), ["yaml"]);
    assertEquals(await offered("get", "pods", ""), []);
  });
}
