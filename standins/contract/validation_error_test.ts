import { Command, EnumType, ValidationError } from "@cliffy/command";
import { assertEquals, assertInstanceOf, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { program, wrong } from "./_program.ts";

Deno.test("ValidationError says which value is not of which type", async () => {
  const of = (...words: string[]): Promise<string> => wrong(program, "watch", "pods", ...words);
  assertEquals(await of("--limit", "abc"), `Option "--limit" must be of type "integer", but got "abc".`);
  assertEquals(await of("--limit", "1.5"), `Option "--limit" must be of type "integer", but got "1.5".`);
  assertEquals(await of("--rate", "x"), `Option "--rate" must be of type "number", but got "x".`);
  assertEquals(
    await of("-o", "xml"),
    `Option "--output" must be of type "format", but got "xml". Expected values: "json", "table"`,
  );
  const error = await assertRejects(() => program().parse(["watch", "pods", "--limit", "abc"]), ValidationError);
  assertInstanceOf(error.cause, Error);
  assertEquals(error.cause.constructor.name, "InvalidTypeError");
  assertEquals(error.cause.message, error.message);
});

Deno.test("ValidationError says what is missing", async () => {
  assertEquals(await wrong(program, "watch"), "Missing argument(s): resource");
  assertEquals(await wrong(program, "watch", "pods", "--selector"), `Missing value for option "--selector".`);
  const two = () => new Command().noExit().command("two <a:string> <b:string>", "t").reset();
  assertEquals(await wrong(two, "two"), "Missing argument(s): a, b");
  assertEquals(await wrong(two, "two", "1"), "Missing argument: b");
});

Deno.test("ValidationError says what is too much or unknown, and what may have been meant", async () => {
  const command = () => new Command().noExit().name("informer").option("--port <p:integer>", "p");
  assertEquals(await wrong(command, "--prot", "1"), `Unknown option "--prot". Did you mean option "--port"?`);
  assertEquals(await wrong(command, "x"), `No arguments allowed for command "informer".`);
  assertEquals(await wrong(command, "--help=x"), `Option "--help" doesn't take a value, but got "x".`);
  const one = () => new Command().noExit().command("one <a:string>", "o").reset();
  assertEquals(await wrong(one, "one", "1", "2"), "Too many arguments: 2");
  assertEquals(
    await wrong(command, "--port", "1", "--port", "2"),
    `Option "--port" can only occur once, but was found several times.`,
  );
  assertEquals(await wrong(command, "--port", "1", "--help"), `Option "--help" cannot be combined with other options.`);
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
  assertEquals(await wrong(program, "serve", "x"), `No arguments allowed for command "informer serve".`);
  const flagged = () => program().option("--local", "l");
  assertEquals(await wrong(flagged, "--local", "serve"), "Too many arguments: serve");
});

Deno.test("Command refuses to be defined twice over", () => {
  assertThrows(() => new Command().option("--a", "a").option("--a", "a"), Error, "already registered");
  assertThrows(() => new Command().command("a").command("a"), Error, `Duplicate command name "a".`);
  assertThrows(
    () => new Command().type("a", new EnumType(["b"])).type("a", new EnumType(["c"])),
    Error,
    `Type with name "a" already exists.`,
  );
});
