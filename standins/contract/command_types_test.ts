import { Command, EnumType } from "@cliffy/command";
import { assertEquals } from "@std/assert";
import { sameType } from "./_program.ts";

Deno.test("EnumType keeps the values it was given", () => {
  const type = new EnumType([1, 2]);
  assertEquals(type.parse({ label: "Option", name: "--size", type: "size", value: "2" }), 2);
  assertEquals(type.values(), [1, 2]);
});

Deno.test("Command gives its action no options while its type declares none", async () => {
  const seen: unknown[] = [];
  const [usage, flag]: string[] = ["get <resource:string>", "--flag"];
  const program = new Command().noExit().name("informer");
  const get = program.command(usage);
  get.option(flag, "f"); // what this returns is not kept, so that the type of `get` stays
  // @ts-expect-error options are `void`
  get.action((options: object) => seen.push(options));
  get.action((options, ...args: string[]) => {
    sameType<typeof options, void>(true);
    seen.push(options, args);
  });
  await program.reset().parse(["get", "pods"]);
  assertEquals(seen, [{}, ["pods"]]);
  await get.parse(["get", "pods", "--flag"]);
  assertEquals(seen.slice(2), [{ flag: true }, ["pods"]]);
});

Deno.test("Command infers the types of options and arguments from their text", async () => {
  const seen: unknown[] = [];
  await new Command().noExit().name("informer")
    .command("get <resource:string> [count:number] [rest...:string]", "g")
    .type("size", new EnumType(["small", "large"]))
    .option("-n, --namespace <ns:string>", "n", { default: "default" })
    .option("--limit <n:integer>", "n")
    .option("--rate <n:number>", "r", { default: 0 })
    .option("--no-color", "c")
    .option("--all-namespaces", "a")
    .option("--group <g:string>", "g", { collect: true })
    .option("--size <s:size>", "s", { default: "small" as const })
    .action((options, resource, count, ...rest) => {
      sameType<typeof resource, string>(true);
      sameType<typeof count, number | undefined>(true);
      sameType<typeof rest, string[]>(true);
      sameType<typeof options.namespace, string>(true);
      sameType<typeof options.limit, number | undefined>(true);
      sameType<typeof options.rate, number>(true);
      sameType<typeof options.color, boolean>(true);
      sameType<typeof options.allNamespaces, true | undefined>(true);
      sameType<typeof options.group, string[] | undefined>(true);
      sameType<typeof options.size, "small" | "large">(true);
      // @ts-expect-error no such option
      seen.push(options.unknown);
      seen.push(options.namespace, resource, count, rest);
    })
    .reset()
    .parse(["get", "pods", "2", "a"]);
  assertEquals(seen, [undefined, "default", "pods", 2, ["a"]]);
});
