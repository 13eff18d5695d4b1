import { Command, ValidationError } from "@cliffy/command";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { program, watchCommand, wrong } from "./_program.ts";

Deno.test("Command gives defaults to what is not given", async () => {
  const { options, args, literal } = await watchCommand().parse(["pods"]);
  assertEquals(options, { namespace: "default", color: true });
  assertEquals(args, ["pods"]);
  assertEquals(literal, []);
});

Deno.test("Command hands options and arguments to its action", async () => {
  const seen: unknown[] = [];
  await watchCommand(seen).parse(["pods", "a", "b", "-n", "shop"]);
  assertEquals(seen, [{ namespace: "shop", color: true }, "pods", ["a", "b"]]);
});

Deno.test("Command reads values after a space and after an equals sign", async () => {
  const read = async (...words: string[]): Promise<unknown> => (await watchCommand().parse(["pods", ...words])).options;
  const rest = { namespace: "default", color: true };
  assertEquals(await read("--limit", "5"), { ...rest, limit: 5 });
  assertEquals(await read("--limit=5"), { ...rest, limit: 5 });
  assertEquals(await read("-n=shop", "-A"), { ...rest, namespace: "shop", allNamespaces: true });
  assertEquals(await read("-l", "app=web"), { ...rest, selector: "app=web" });
  assertEquals(await read("--selector=app=web"), { ...rest, selector: "app=web" });
  assertEquals(await read("--selector", "--limit"), { ...rest, selector: "--limit" });
  assertEquals(await read("--labels", "a,b"), { ...rest, labels: ["a", "b"] });
  assertEquals(await read("--resync", "30s"), { ...rest, resync: 30_000 });
});

Deno.test("Command takes an option with an optional value for true without one", async () => {
  const once = async (...words: string[]): Promise<unknown> =>
    (await watchCommand().parse(["pods", ...words])).options.once;
  assertEquals(await once("--once"), true);
  assertEquals(await once("--once", "3"), 3);
  assertEquals(await once("--once=3"), 3);
  assertEquals(await once("--once", "-3"), -3);
  assertEquals(await once("--once", "--limit", "3"), true);
  assertEquals(await once(), undefined);
});

Deno.test("Command negates, and collects what may be given several times", async () => {
  const { options } = await watchCommand().parse(["pods", "--no-color", "-vvv", "-e", "a", "--header=b"]);
  assertEquals(options, { namespace: "default", color: false, verbose: [true, true, true], header: ["a", "b"] });
});

Deno.test("Command takes bundled flags apart, also where that is not meant", async () => {
  assertEquals((await watchCommand().parse(["pods", "-Av"])).options.allNamespaces, true);
  assertEquals(
    await wrong(() => new Command().noExit().option("-l, --selector <s:string>", "s"), "-lapp=x"),
    `Unknown option "-p". Did you mean option "-h"?`,
  );
  const numbered = new Command().noExit().option("-s, --size <n:number>", "n");
  assertEquals((await numbered.parse(["-s5"])).options.size, 5);
});

Deno.test("Command leaves an option out whose value is empty", async () => {
  assertEquals((await watchCommand().parse(["pods", "-l", ""])).options, { namespace: "default", color: true });
});

Deno.test("Command gives what follows two dashes as it is", async () => {
  const { args, literal } = await watchCommand().parse(["pods", "--", "-n", "x"]);
  assertEquals(args, ["pods"]);
  assertEquals(literal, ["-n", "x"]);
});

Deno.test("Command takes an unknown option for an argument while there is a place for one", async () => {
  assertEquals((await watchCommand().parse(["pods", "--bogus"])).args, ["pods", "--bogus"]);
});

Deno.test("Command nests options with dots in their names", async () => {
  const command = new Command().noExit().option("--tls.ca <file:string>", "c").option("--tls.key <file:string>", "k");
  const { options } = await command.parse(["--tls.ca", "a", "--tls.key", "b"]);
  assertEquals<unknown>(options, { tls: { ca: "a", key: "b" } });
});

Deno.test("Command gives an option that has only a short flag an empty key", async () => {
  assertEquals<unknown>((await new Command().noExit().option("-x", "x").parse(["-x"])).options, { "": true });
});

Deno.test("Command runs the subcommand that the words name, by name or alias, shown or hidden", async () => {
  const seen: unknown[] = [];
  await program(seen).parse(["watch", "pods", "--until-synced"]);
  assertEquals(seen.splice(0), ["watch", { output: "table", untilSynced: true }, "pods"]);
  await program(seen).parse(["w", "pods"]);
  assertEquals(seen.splice(0), ["watch", { output: "table" }, "pods"]);
  await program(seen).parse(["secret"]);
  assertEquals(seen, ["secret"]);
});

Deno.test("Command takes global options before and after the subcommand", async () => {
  const seen: unknown[] = [];
  await program(seen).parse(["--context", "a", "serve", "-o", "json"]);
  await program(seen).parse(["serve", "--context=a", "--output", "json"]);
  const options = { context: "a", output: "json" };
  assertEquals(seen, ["serve", options, "serve", options]);
});

Deno.test("Command keeps options to itself that are not global", async () => {
  assertEquals(await wrong(program, "serve", "--local"), `Unknown option "--local". Did you mean option "--help"?`);
});

Deno.test("Command resolves to the command that was run", async () => {
  const { cmd, options, args } = await program().parse(["watch", "pods"]);
  assertEquals(cmd.getName(), "watch");
  assertEquals(cmd.getPath(), "informer watch");
  assertEquals(options, { output: "table" });
  assertEquals(args, ["pods"]);
});

Deno.test("Command waits for its action", async () => {
  let done = false;
  await new Command().noExit().action(async () => {
    await Promise.resolve();
    done = true;
  }).parse([]);
  assert(done);
});

Deno.test("Command lets calls after command speak of the subcommand until reset", async () => {
  const seen: string[] = [];
  const root = new Command().throwErrors().name("informer").action(() => {
    seen.push("root");
  });
  await root.command("sub", "s").option("--flag", "f").action(() => {
    seen.push("sub");
  }).reset().option("--top", "t").parse(["--top"]);
  assertEquals(seen, ["root"]);
  await root.parse(["sub", "--flag"]);
  assertEquals(seen, ["root", "sub"]);
  await assertRejects(() => root.parse(["sub", "--top"]), ValidationError, `Unknown option "--top"`);
});

Deno.test("Command runs the default subcommand when nothing is given", async () => {
  const seen: string[] = [];
  const root = () =>
    new Command().noExit().name("informer").default("watch").command("watch", "w").action(() => {
      seen.push("watch");
    }).reset();
  await root().parse([]);
  assertEquals(seen, ["watch"]);
});

Deno.test("Command adds a subcommand that was put together elsewhere", async () => {
  const seen: unknown[] = [];
  const fake = new Command().description("Fakes.").option("--port <p:integer>", "Port.", { default: 0 })
    .action(({ port }) => {
      seen.push(port);
    });
  const root = new Command().noExit().name("informer").globalOption("--debug", "d").command("fake", fake)
    .alias("f").reset();
  await root.parse(["f", "--port", "8", "--debug"]);
  assertEquals(seen, [8]);
  assertEquals(fake.getPath(), "informer fake");
});

const mayReadEnv = (await Deno.permissions.query({ name: "env" })).state === "granted";

Deno.test("Command reads the environment: after flags, before defaults", { ignore: !mayReadEnv }, async () => {
  const command = () =>
    new Command().noExit().name("informer")
      .globalEnv("INFORMER_CONTRACT_NAME_SPACE=<ns:string>", "n", { prefix: "INFORMER_CONTRACT_" })
      .env("INFORMERCONTRACTLIMIT=<n:integer>", "l", { value: (limit: number) => limit + 1 })
      .option("--name-space <ns:string>", "n", { default: "default" })
      .action(() => {});
  const read = async (...words: string[]): Promise<unknown> => (await command().parse(words)).options;
  try {
    assertEquals(await read(), { nameSpace: "default" });
    Deno.env.set("INFORMER_CONTRACT_NAME_SPACE", "env");
    Deno.env.set("INFORMERCONTRACTLIMIT", "4");
    assertEquals(await read(), { nameSpace: "env", informercontractlimit: 5 });
    assertEquals(await read("--name-space", "flag"), { nameSpace: "flag", informercontractlimit: 5 });
    Deno.env.set("INFORMERCONTRACTLIMIT", "x");
    assertEquals(
      await wrong(command),
      `Environment variable "INFORMERCONTRACTLIMIT" must be of type "integer", but got "x".`,
    );
  } finally {
    Deno.env.delete("INFORMER_CONTRACT_NAME_SPACE");
    Deno.env.delete("INFORMERCONTRACTLIMIT");
  }
});

Deno.test("Command skips the environment where it may not read it", { permissions: { env: false } }, async () => {
  const { options } = await new Command().noExit().env("HOME=<h:string>", "h").parse([]);
  assertEquals(options, {});
});
