import { Command, EnumType } from "@cliffy/command";
import { CompletionsCommand } from "@cliffy/command/completions";
import { assert, assertEquals, assertRejects } from "@std/assert";

// deno-lint-ignore no-explicit-any -- a command of any kind
function program(): Command<any> {
  return new Command().noExit().name("informer").version("1.0.0").description("Watches.")
    .globalType("format", new EnumType(["table", "json"]))
    .globalOption("--context <name:string:context>", "The context's name.")
    .globalComplete("context", () => ["kind", "minikube"])
    .command("watch <resource:string:resource>", "Runs informers.")
    .alias("w")
    .complete("resource", () => Promise.resolve(["pods", "nodes"]))
    .option("-o, --output <format:format>", "How it looks.")
    .option("--cache <path:file>", "Where it goes.")
    .option("--hidden-flag", "Not shown.", { hidden: true })
    .command("serve", "Serves: over HTTP.")
    .command("secret", "Not shown.")
    .hidden()
    .command("completions", new CompletionsCommand())
    .reset();
}

/** What the program prints. */
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
    await program().parse(words);
  } finally {
    console.log = log;
    Deno.stdout.writeSync = writeSync;
  }
  return text;
}

Deno.test("CompletionsCommand prints what the program suggests", async () => {
  assertEquals((await output("completions", "complete", "resource", "watch")).trim(), "pods\nnodes");
  assertEquals((await output("completions", "complete", "format")).trim(), "table\njson");
  assertEquals((await output("completions", "complete", "context", "serve")).trim(), "kind\nminikube");
  assertEquals((await output("completions", "complete", "nothing")).trim(), "");
  await assertRejects(() => output("completions", "complete", "format", "nowhere"), Error, `"nowhere"`);
});

Deno.test("CompletionsCommand takes another name for the program", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = await output("completions", shell, "--name", "inf");
    assert(script.includes("inf completions complete"));
    assert(!script.includes("informer completions complete"));
  }
});

Deno.test("CompletionsCommand needs a name for the program", async () => {
  const nameless = new Command().noExit().command("completions", new CompletionsCommand()).reset();
  await assertRejects(() => nameless.parse(["completions", "bash"]), Error, "name");
});

Deno.test("CompletionsCommand's scripts name commands and options that are shown", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = await output("completions", shell);
    for (const text of ["watch", "serve", "output", "cache", "context", "completions"]) {
      assert(script.includes(text), `no ${text} in ${script}`);
    }
    for (const text of ["secret", "hidden-flag"]) assert(!script.includes(text), `${text} in ${script}`);
  }
});

const mayRunBash = (await Deno.permissions.query({ name: "run", command: "bash" })).state === "granted";

/** What bash offers when the cursor is at the end of the words. */
async function offered(...words: string[]): Promise<string[]> {
  const script = `
informer() {
  case "$*" in
    "completions complete resource watch") printf 'pods\\nnodes' ;;
    "completions complete format watch") printf 'table\\njson' ;;
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
  assertEquals(await offered("watch", "--c"), ["--cache", "--context"]);
  assertEquals(await offered("serve", "--c"), ["--context"]);
});

Deno.test("CompletionsCommand's bash script completes values and arguments", { ignore: !mayRunBash }, async () => {
  assertEquals(await offered("watch", "po"), ["pods"]);
  assertEquals(await offered("watch", "no"), ["nodes"]);
  assertEquals(await offered("watch", "-o", "js"), ["json"]);
  assertEquals(await offered("watch", "--output", ""), ["json", "table"]);
});
