import { Command, ValidationError } from "@cliffy/command";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { program, wrong } from "./_program.ts";

const DEFAULTS = { namespace: "default", color: true, output: "table" };

/** The options and arguments that `watch` gets for these words. */
async function read(...words: string[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  await program(seen).parse(["watch", "pods", ...words]);
  return seen;
}

Deno.test("Command gives defaults to what is not given", async () => {
  assertEquals(await read(), [DEFAULTS, "pods", []]);
});

Deno.test("Command hands options and arguments to its action", async () => {
  assertEquals(await read("a", "b", "-n", "shop"), [{ ...DEFAULTS, namespace: "shop" }, "pods", ["a", "b"]]);
});

Deno.test("Command reads values after a space and after an equals sign", async () => {
  const options = async (...words: string[]): Promise<unknown> => (await read(...words))[0];
  assertEquals(await options("--limit", "5"), { ...DEFAULTS, limit: 5 });
  assertEquals(await options("--limit=5", "--rate=0.5"), { ...DEFAULTS, limit: 5, rate: 0.5 });
  assertEquals(await options("-n=shop", "-A"), { ...DEFAULTS, namespace: "shop", allNamespaces: true });
  assertEquals(await options("-l", "app=web"), { ...DEFAULTS, selector: "app=web" });
  assertEquals(await options("--selector=app=web"), { ...DEFAULTS, selector: "app=web" });
  assertEquals(await options("--selector", "--limit"), { ...DEFAULTS, selector: "--limit" });
  assertEquals(await options("-o", "json", "--no-color"), { ...DEFAULTS, output: "json", color: false });
});

Deno.test("Command collects the values of an option that may be given several times", async () => {
  const collecting = () => new Command().noExit().option("-g, --group <g:string>", "g", { collect: true });
  const { options } = await collecting().parse(["-g", "a", "--group", "b, c", "--group=d"]);
  assertEquals(options.group, ["a", "b, c", "d"]);
  assertEquals((await collecting().parse(["-g", "a"])).options, { group: ["a"] });
  assertEquals((await collecting().parse([])).options.group, undefined);
});

Deno.test("Command takes bundled flags apart, also where that is not meant", async () => {
  assertEquals((await read("-Al", "app"))[0], { ...DEFAULTS, allNamespaces: true, selector: "app" });
  assertEquals(
    await wrong(() => new Command().noExit().option("-l, --selector <s:string>", "s"), "-lapp=x"),
    `Unknown option "-p". Did you mean option "-h"?`,
  );
  const numbered = new Command().noExit().option("-s, --size <n:number>", "n");
  assertEquals((await numbered.parse(["-s5"])).options.size, 5);
});

Deno.test("Command leaves an option out whose value is empty", async () => {
  assertEquals((await read("-l", ""))[0], DEFAULTS);
});

Deno.test("Command gives what follows two dashes as it is", async () => {
  const { args, literal } = await new Command().noExit().option("-n <x:string>", "n").parse(["--", "-n", "x"]);
  assertEquals<unknown[]>(args, []);
  assertEquals(literal, ["-n", "x"]);
});

Deno.test("Command takes an unknown option for an argument while there is a place for one", async () => {
  assertEquals((await read("--bogus")).slice(1), ["pods", ["--bogus"]]);
});

Deno.test("Command resolves to the command that was run", async () => {
  const { cmd } = await program().parse(["watch", "pods"]);
  assertEquals(cmd.getName(), "watch");
  assertEquals(cmd.getPath(), "informer watch");
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

Deno.test("Command adds a subcommand that was put together elsewhere", async () => {
  const seen: unknown[] = [];
  const fake = new Command().description("Fakes.").option("--port <p:integer>", "Port.", { default: 0 })
    .action(({ port }) => {
      seen.push(port);
    });
  const root = new Command().noExit().name("informer").command("fake", fake).reset();
  await root.parse(["fake", "--port", "8"]);
  assertEquals(seen, [8]);
  assertEquals(fake.getPath(), "informer fake");
});
