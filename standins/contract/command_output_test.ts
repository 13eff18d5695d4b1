import { Command, ValidationError } from "@cliffy/command";
import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
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

  let options: unknown;
  const staying = await outcomeOf(async () => {
    ({ options } = await program().parse(["watch", "--help"]));
  });
  assertEquals(staying.exitCode, undefined);
  assertEquals(options, { help: true, output: "table" });
  assert(staying.out.includes("informer watch <resource>"));
});

Deno.test("Command prints its version, with its name for the long flag", async () => {
  assertEquals((await outcomeOf(() => program().parse(["-V"]))).out, "1.2.3\n");
  const { out } = await outcomeOf(() => program().parse(["--version"]));
  assert(out.startsWith("informer 1.2.3"));
});

Deno.test("Command's help lists what there is and leaves out what is hidden", () => {
  const help = plain(program().option("--unseen", "u", { hidden: true }).getHelp());
  for (
    const text of [
      "Usage:",
      "informer",
      "Version:",
      "1.2.3",
      "Description:",
      "Watches.",
      "-h, --help",
      "Show this help.",
      "-V, --version",
      "--context",
      "<name>",
      `Default: "table"`,
      `Values: "json", "table"`,
      "Commands:",
      "watch, w",
      "<resource>",
      "Runs informers.",
    ]
  ) {
    assert(help.includes(text), `no ${text} in ${help}`);
  }
  for (const text of ["secret", "--unseen", "For ever."]) assert(!help.includes(text), `${text} in ${help}`);
});

Deno.test("Command's help shows usage, examples, meta data, environment and hints", () => {
  const command = new Command().name("informer").usage("[flags]").meta("Source", "here")
    .example("All pods", "informer watch pods -A")
    .env("KUBECONFIG=<path:file>", "The configuration.")
    .option("--server <s:string>", "First.", { required: true, conflicts: ["fake"] })
    .option("--fake", "Second.", { depends: ["server"] })
    .arguments("<x:string>", ["The x."]);
  const help = plain(command.getHelp({ colors: false }));
  for (
    const text of [
      "informer [flags]",
      "Source: here",
      "All pods",
      "informer watch pods -A",
      "KUBECONFIG",
      "The configuration.",
      "required",
      "Conflicts: --fake",
      "Depends: --server",
      "The x.",
    ]
  ) {
    assert(help.includes(text), `no ${text} in ${help}`);
  }
});

Deno.test("Command prints the help it is given instead of its own", async () => {
  const { out } = await outcomeOf(() => new Command().noExit().name("informer").help("own words").parse(["--help"]));
  assertEquals(out, "own words\n");
});

Deno.test("Command tells the nearest handler of every error, then throws it", async () => {
  const seen: string[] = [];
  const root = new Command().throwErrors().name("informer")
    .error((error, cmd) => {
      seen.push(`${cmd.getName()}: ${error.message}`);
    })
    .command("fail", "f")
    .action(() => {
      throw new RangeError("from the action");
    })
    .reset();
  await assertRejects(() => root.parse(["fail"]), RangeError, "from the action");
  const error = await assertRejects(() => root.parse(["fail", "x"]), ValidationError);
  assertStrictEquals(error.cmd?.getHelp().includes("informer fail"), true);
  assertEquals(seen, ["fail: from the action", `fail: No arguments allowed for command "informer fail".`]);
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
