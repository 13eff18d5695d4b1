import { type ArgumentValue, Command, EnumType, Type, ValidationError } from "@cliffy/command";
import { assertEquals } from "@std/assert";
import { sameType, wrong } from "./_program.ts";

Deno.test("Command reads several values of one option", async () => {
  const { options } = await new Command().noExit().option("--range <from:number> [to:number]", "r")
    .parse(["--range", "1", "2"]);
  sameType<typeof options, { range?: [number, number?] }>(true);
  assertEquals(options.range, [1, 2]);
});

Deno.test("Command reads types that are functions or classes of one's own", async () => {
  class Duration extends Type<number> {
    override parse({ label, name, value }: ArgumentValue): number {
      const seconds = /^(\d+)s$/.exec(value)?.[1];
      if (seconds === undefined) throw new ValidationError(`${label} "${name}" must be like 30s, but got "${value}"`);
      return Number(seconds) * 1000;
    }
  }
  const command = () =>
    new Command().noExit()
      .type("duration", new Duration())
      .type("upper", ({ value }: ArgumentValue) => value.toUpperCase())
      .option("--resync <d:duration>", "d")
      .option("--name <n:upper>", "n");
  const { options } = await command().parse(["--resync", "30s", "--name", "a"]);
  sameType<typeof options, { resync?: number; name?: string }>(true);
  assertEquals(options, { resync: 30_000, name: "A" });
  assertEquals(await wrong(command, "--resync", "x"), `Option "--resync" must be like 30s, but got "x"`);
});

Deno.test("EnumType keeps the values it was given", () => {
  const type = new EnumType([1, 2]);
  assertEquals(type.parse({ label: "Option", name: "--size", type: "size", value: "2" }), 2);
  assertEquals(type.values(), [1, 2]);
  assertEquals(type.complete(), [1, 2]);
});

Deno.test("Command infers the types of options and arguments from their text", async () => {
  const command = new Command().noExit()
    .type("size", new EnumType(["small", "large"]))
    .globalOption("--context <name:string>", "c")
    .option("-n, --namespace <ns:string>", "n", { default: "default" })
    .option("--limit <n:integer>", "n")
    .option("--once [n:number]", "o")
    .option("--no-color", "c")
    .option("--all-namespaces", "a")
    .option("--labels <l:string[]>", "l")
    .option("--header <h:string>", "h", { collect: true })
    .option("--size <s:size>", "s", { required: true })
    .option("--resync <d:string>", "d", { value: (text: string) => Number(text) })
    .arguments("<resource:string> [count:number] [rest...:string]")
    .action((options, resource, count, ...rest) => {
      sameType<typeof resource, string>(true);
      sameType<typeof count, number | undefined>(true);
      sameType<typeof rest, string[]>(true);
      sameType<typeof options.namespace, string>(true);
      sameType<typeof options.limit, number | undefined>(true);
      sameType<typeof options.once, number | true | undefined>(true);
      sameType<typeof options.color, boolean>(true);
      sameType<typeof options.allNamespaces, true | undefined>(true);
      sameType<typeof options.labels, string[] | undefined>(true);
      sameType<typeof options.header, string[] | undefined>(true);
      sameType<typeof options.size, "small" | "large">(true);
      sameType<typeof options.resync, number | undefined>(true);
      sameType<typeof options.context, string | undefined>(true);
      // @ts-expect-error no such option
      assertEquals(options.unknown, undefined);
    });
  const { options, args } = await command.parse(["pods", "--size", "small"]);
  assertEquals(options.namespace, "default");
  assertEquals(args, ["pods"]);
});

Deno.test("Command infers what subcommands inherit", async () => {
  const seen: unknown[] = [];
  await new Command().noExit().name("informer")
    .globalType("format", new EnumType(["json", "table"]))
    .globalOption("--output <f:format>", "o", { default: "table" })
    .globalEnv("INFORMER_CONTRACT_NAMESPACE=<ns:string>", "n", { prefix: "INFORMER_CONTRACT_" })
    .option("--local", "l")
    .command("get <resource:string> [name:string]", "g")
    .option("--as <f:format>", "a")
    .action((options, resource, name) => {
      sameType<typeof options.output, "json" | "table">(true);
      sameType<typeof options.as, "json" | "table" | undefined>(true);
      sameType<typeof options.namespace, string | undefined>(true);
      sameType<typeof resource, string>(true);
      sameType<typeof name, string | undefined>(true);
      // @ts-expect-error not shared with subcommands
      seen.push(options.local);
      seen.push(options.output, resource, name);
    })
    .parse(["get", "pods"]);
  assertEquals(seen, [undefined, "table", "pods", undefined]);
});
