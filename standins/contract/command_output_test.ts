import { Command, ValidationError } from "@cliffy/command";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { outcomeOf, plain, program } from "./_program.ts";

Deno.test("Command shows its help when there are only subcommands and none is named", async () => {
  const { out, exitCode, error } = await outcomeOf(() =>
    new Command().name("informer").command("watch", "Runs.").reset().parse([])
  );
  assertEquals([exitCode, error], [0, undefined]);
  assert(out.includes("watch"));
});

Deno.test("Command prints help and message and exits with 2 when it is used wrongly", async () => {
  const { out, err, exitCode } = await outcomeOf(() =>
    new Command().name("informer").option("--port <p:integer>", "The port.").parse(["--port", "x"])
  );
  assertEquals(exitCode, 2);
  assert(out.includes("Usage:"));
  assert(out.includes("--port"));
  assert(!out.includes("error:"));
  assert(err.includes(`error: Option "--port" must be of type "integer", but got "x".`));
});

Deno.test("Command prints its help on demand, and exits unless told not to", async () => {
  const exiting = await outcomeOf(() => new Command().name("informer").option("--port <p>", "Port.").parse(["-h"]));
  assertEquals([exiting.exitCode, exiting.err], [0, ""]);
  assert(exiting.out.includes("--port"));

  const seen: unknown[] = [];
  const staying = await outcomeOf(() => program(seen).parse(["watch", "--help"]));
  assertEquals([staying.exitCode, seen], [undefined, []]);
  assert(staying.out.includes("informer watch <resource>"));
});

Deno.test("Command runs the action of its help option in place of printing and exiting", async () => {
  const seen: string[] = [];
  const { out, exitCode } = await outcomeOf(() =>
    new Command().name("informer").helpOption("-h, --help", "Show this help.", function (): void {
      seen.push(this.getPath(), plain(this.getHelp()).trim().split("\n")[0]);
    }).command("watch", "Runs.").action(() => void seen.push("run")).reset().parse(["watch", "--help"])
  );
  assertEquals([out, exitCode, seen], ["", undefined, ["informer watch", "Usage: informer watch"]]);
});

Deno.test("Command's help pads the cells of its tables, the last ones too", () => {
  const help = plain(
    new Command().name("i").version("1").command("watch", "Runs.").command("get <name>", "Gets once.").reset()
      .getHelp(),
  );
  const lines = help.trim().split("\n");
  assertEquals(lines.slice(0, 2), ["Usage:   i", "Version: 1"]);
  assert(lines.includes("  watch          - Runs.     "), help);
  assert(lines.includes("  get    <name>  - Gets once."), help);
  assert(lines.includes("  -h, --help     - Show this help.                            "), help);
});

Deno.test("Command prints its version, with its name for the long flag", async () => {
  assertEquals((await outcomeOf(() => program().parse(["-V"]))).out, "1.2.3\n");
  const { out } = await outcomeOf(() => program().parse(["--version"]));
  assert(out.startsWith("informer 1.2.3"));
});

Deno.test("Command's help lists commands, options, examples and hints", async () => {
  const root = plain(program().getHelp());
  const watch = (await outcomeOf(() => program().parse(["watch", "-h"]))).out;
  const texts = {
    [root]: ["Usage:", "informer", "Version:", "1.2.3", "Description:", "Watches.", "-h, --help", "Show this help."],
    [`${root} `]: ["-V, --version", "Examples:", "All pods", "informer watch pods -A", "Commands:", "Runs informers."],
    [watch]: ["<resource> [names...]", "-n, --namespace", "<ns>", `Default: "table"`, `Values: "json", "table"`],
  };
  for (const [help, parts] of Object.entries(texts)) {
    for (const text of parts) assert(help.includes(text), `no ${text} in ${help}`);
  }
  assert(!root.includes("For ever."), `a second line in ${root}`);
});

Deno.test("Command's help has a section for each group of options", () => {
  const grouped = () =>
    new Command().name("informer").option("--port <p:integer>", "The port.")
      .group("Connection").option("--server <url>", "The address.");
  const help = plain(grouped().getHelp());
  const [options, connection] = ["Options:", "Connection:"].map((label) => help.indexOf(label));
  assert(options > 0 && options < help.indexOf("--port") && help.indexOf("--port") < connection, help);
  assert(connection < help.indexOf("--server"), help);
});

Deno.test("Command's help has the groups of a subcommand that getCommands has returned", async () => {
  const main = new Command().noExit().name("informer").command("get", "Gets.");
  const [get] = main.getCommands();
  get.option("--port <p:integer>", "The port.").group("Connection").option("--server <url>", "The address.")
    .action(() => {});
  const { out } = await outcomeOf(() => main.reset().parse(["get", "--help"]));
  assert(/Options:.*--port.*Connection:.*--server/s.test(out), out);
});

Deno.test("Command throws other errors than wrong usage even when it may exit", async () => {
  const failure = new Error("no route");
  const { error, exitCode } = await outcomeOf(() =>
    new Command().action(() => {
      throw failure;
    }).parse([])
  );
  assertStrictEquals(error, failure);
  assertEquals(exitCode, undefined);
});

Deno.test("Command exits with the code of a ValidationError that an action throws", async () => {
  const { exitCode, err } = await outcomeOf(() =>
    new Command().name("informer").action(() => {
      throw new ValidationError("cannot connect", { exitCode: 3 });
    }).parse([])
  );
  assertEquals(exitCode, 3);
  assert(err.includes("error: cannot connect"));
});
