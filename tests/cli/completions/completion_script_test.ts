// The scripts in the shells that are installed, with the command line as a program in PATH.
import { assertEquals } from "@std/assert";
import { Pod } from "../../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";
import { Folder, serve } from "../../support/serve.ts";
import { writeKubeconfig } from "../../support/host.ts";
import { run } from "../../support/session.ts";

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
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

for (const [shell, argsOf] of Object.entries(SHELLS)) {
  Deno.test(`informer completions ${shell} completes commands, contexts, kinds, namespaces and names in ${shell}`, {
    ignore: !await installed(shell),
  }, async () => {
    await using folder = new Folder();
    using server = new FakeApiServer();
    for (const name of ["web-0", "web-1"]) server.create(Pod, pod({ name, namespace: "shop" }));
    await using served = await serve(server);
    const main = new URL("../../../src/cli/main.ts", import.meta.url).pathname;
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
