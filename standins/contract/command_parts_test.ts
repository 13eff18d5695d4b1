import { EnumType } from "@cliffy/command";
import { assert, assertEquals } from "@std/assert";
import { program } from "./_program.ts";

Deno.test("Command names its subcommands, with the first lines of their descriptions", () => {
  assertEquals(program().getCommands().map((command) => [command.getName(), command.getShortDescription()]), [
    ["watch", "Runs informers."],
    ["serve", "Serves."],
  ]);
});

Deno.test("Command names its options, and the types of their values", () => {
  const [watch] = program().getCommands();
  const options = watch.getOptions();
  const limit = options.find(({ flags }) => flags.includes("--limit"));
  assertEquals([limit?.flags, limit?.description], [["--limit"], "Limit."]);
  assertEquals(limit?.args.map(({ name, type }) => [name, type]), [["n", "integer"]]);
  assertEquals(options.find(({ flags }) => flags.includes("-n"))?.flags, ["-n", "--namespace"]);
  assertEquals(options.find(({ flags }) => flags.includes("-A"))?.args, []);
});

Deno.test("Command knows its types by their names", () => {
  const [watch] = program().getCommands();
  const handler = watch.getType("format")?.handler;
  assert(handler instanceof EnumType);
  assertEquals(handler.values(), ["json", "table"]);
  assertEquals(watch.getType("nothing"), undefined);
});
