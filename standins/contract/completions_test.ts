import { Command } from "@cliffy/command";
import { CompletionsCommand } from "@cliffy/command/completions";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { program } from "./_program.ts";

/** What a program with completions prints. */
async function output(...words: string[]): Promise<string> {
  const { log } = console;
  const { writeSync } = Deno.stdout;
  let text = "";
  console.log = (...args: unknown[]) => text += `${args.join(" ")}\n`;
  Deno.stdout.writeSync = (bytes) => {
    text += new TextDecoder().decode(bytes);
    return bytes.length;
  };
  try {
    await program().command("completions", new CompletionsCommand()).reset().parse(words);
  } finally {
    console.log = log;
    Deno.stdout.writeSync = writeSync;
  }
  return text;
}

Deno.test("CompletionsCommand takes another name for the program", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    assert((await output("completions", shell, "--name", "inf")).includes("inf watch"));
  }
});

Deno.test("CompletionsCommand needs a name for the program", async () => {
  const nameless = new Command().noExit().command("completions", new CompletionsCommand()).reset();
  await assertRejects(() => nameless.parse(["completions", "bash"]), Error, "name");
});

Deno.test("CompletionsCommand's scripts name commands and options", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = await output("completions", shell);
    for (const text of ["watch", "serve", "output", "limit", "completions"]) {
      assert(script.includes(text), `no ${text} in ${script}`);
    }
  }
});

const mayRunBash = (await Deno.permissions.query({ name: "run", command: "bash" })).state === "granted";

/** What bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const script = `
informer() {
  case "$*" in
    "completions complete format watch") printf 'json\\ntable' ;;
  esac
}
source <(cat <<'SCRIPT'
${await output("completions", "bash")}
SCRIPT
)
function=$(complete -p informer | sed -e 's/.*-F \\([^ ]*\\) .*/\\1/')
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$function
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["--norc", "--noprofile", "-c", script, "bash", "informer", ...words],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim().split("\n").filter((line) => line !== "").sort();
}

Deno.test("CompletionsCommand's bash script completes commands", { ignore: !mayRunBash }, async () => {
  assertEquals(await offered("wa"), ["watch"]);
  assertEquals(await offered("se"), ["serve"]);
});

Deno.test("CompletionsCommand's bash script completes options", { ignore: !mayRunBash }, async () => {
  assertEquals(await offered("watch", "--ou"), ["--output"]);
  assertEquals(await offered("watch", "--l"), ["--limit"]);
});

Deno.test("CompletionsCommand's bash script completes values", { ignore: !mayRunBash }, async () => {
  assertEquals(await offered("watch", "-o", "js"), ["json"]);
  assertEquals(await offered("watch", "--output", ""), ["json", "table"]);
});
