import { Command, EnumType, ValidationError } from "@cliffy/command";
import { assertEquals, assertInstanceOf, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { program, watchCommand, wrong } from "./_program.ts";

Deno.test("ValidationError says which value is not of which type", async () => {
  const command = () =>
    new Command().noExit()
      .type("format", new EnumType(["json", "yaml", "name"]))
      .option("-o, --output <format:format>", "o")
      .option("--limit <n:integer>", "n")
      .option("--ratio <n:number>", "n")
      .option("--flag <b:boolean>", "b");
  assertEquals(await wrong(command, "--limit", "abc"), `Option "--limit" must be of type "integer", but got "abc".`);
  assertEquals(await wrong(command, "--limit", "1.5"), `Option "--limit" must be of type "integer", but got "1.5".`);
  assertEquals(await wrong(command, "--ratio", "x"), `Option "--ratio" must be of type "number", but got "x".`);
  assertEquals(
    await wrong(command, "-o", "xml"),
    `Option "--output" must be of type "format", but got "xml". Expected values: "json", "yaml", "name"`,
  );
  assertEquals(
    await wrong(command, "--flag=maybe"),
    `Option "--flag" must be of type "boolean", but got "maybe". Expected values: "true", "false", "1", "0"`,
  );
  const error = await assertRejects(() => command().parse(["--limit", "abc"]), ValidationError);
  assertInstanceOf(error.cause, Error);
  assertEquals(error.cause.constructor.name, "InvalidTypeError");
  assertEquals(error.cause.message, error.message);
});

Deno.test("ValidationError says what is missing", async () => {
  const command = () => watchCommand();
  assertEquals(await wrong(command), "Missing argument(s): resource");
  assertEquals(await wrong(command, "pods", "--selector"), `Missing value for option "--selector".`);
  const two = () => new Command().noExit().arguments("<a:string> <b:string>");
  assertEquals(await wrong(two), "Missing argument(s): a, b");
  assertEquals(await wrong(two, "1"), "Missing argument: b");
  const required = () => new Command().noExit().option("--req <r:string>", "r", { required: true });
  assertEquals(await wrong(required), `Missing required option "--req".`);
});

Deno.test("ValidationError says what is too much or unknown, and what may have been meant", async () => {
  const command = () => new Command().noExit().name("informer").option("--port <p:integer>", "p");
  assertEquals(await wrong(command, "--prot", "1"), `Unknown option "--prot". Did you mean option "--port"?`);
  assertEquals(await wrong(command, "x"), `No arguments allowed for command "informer".`);
  assertEquals(await wrong(command, "--help=x"), `Option "--help" doesn't take a value, but got "x".`);
  assertEquals(await wrong(() => new Command().noExit().arguments("<a:string>"), "1", "2"), "Too many arguments: 2");
  assertEquals(
    await wrong(command, "--port", "1", "--port", "2"),
    `Option "--port" can only occur once, but was found several times.`,
  );
});

Deno.test("ValidationError says which options do not go together", async () => {
  const command = () =>
    new Command().noExit()
      .option("--fake", "f", { conflicts: ["server"] })
      .option("--server", "s")
      .option("--token", "t", { depends: ["server"] })
      .option("--mix <m:string>", "m", { default: "all", conflicts: ["server"] });
  assertEquals(await wrong(command, "--fake", "--server"), `Option "--fake" conflicts with option "--server".`);
  assertEquals(await wrong(command, "--token"), `Option "--token" depends on option "--server".`);
  const { options } = await command().parse(["--server", "--token"]);
  assertEquals<unknown>(options, { server: true, token: true, mix: "all" });
  assertEquals(await wrong(command, "--server", "--help"), `Option "--help" cannot be combined with other options.`);
});

Deno.test("ValidationError has the exit code it was given", () => {
  const cause = new Error("why");
  const error = new ValidationError("no", { exitCode: 3, cause });
  assertEquals(error.exitCode, 3);
  assertStrictEquals(error.cause, cause);
  assertEquals(new ValidationError("no").exitCode, 2);
});

Deno.test("Command says which subcommand may have been meant", async () => {
  assertEquals(await wrong(program, "wacth"), `Unknown command "wacth". Did you mean command "watch"?`);
  assertEquals(await wrong(program, "secre"), `Unknown command "secre". Did you mean command "serve"?`);
  assertEquals(await wrong(program, "--local", "serve"), "Too many arguments: serve");
  assertEquals(await wrong(program, "serve", "x"), `No arguments allowed for command "informer serve".`);
});

Deno.test("Command refuses to be defined twice over", () => {
  assertThrows(() => new Command().option("--a", "a").option("--a", "a"), Error, "already registered");
  assertThrows(() => new Command().command("a").command("a"), Error, `Duplicate command name "a".`);
  assertThrows(() => new Command().command("a").alias("b").alias("b"), Error, `Duplicate command alias "b".`);
  assertThrows(
    () => new Command().type("a", new EnumType(["b"])).type("a", new EnumType(["c"])),
    Error,
    `Type with name "a" already exists.`,
  );
});
