import { assertEquals, assertRejects } from "@std/assert";
import { checkOutputFile } from "../../src/cli/check_output_file.ts";
import { UsageError } from "../../src/cli/errors/usage_error.ts";
import { Folder } from "../support/serve.ts";

Deno.test("checkOutputFile refuses a path that cannot be written", async () => {
  await using folder = new Folder();
  const file = folder.write("file", "");
  const cases: [string, string][] = [
    [folder.file("no/cache.json"), `--cache: folder "${folder.file("no")}" does not exist; make it first`],
    [`${file}/cache.json`, `--cache: "${file}" is not a folder`],
    [folder.path, "is a folder; name a file"],
    ["/dev/null", "is a device or a pipe"],
    ["--timeout", `--cache needs a file, found "--timeout"`],
  ];
  for (const [path, message] of cases) {
    await assertRejects(() => checkOutputFile("--cache", path), UsageError, message, path);
  }
});

Deno.test("checkOutputFile does not change the folder or an existing file", async () => {
  await using folder = new Folder();
  const file = folder.write("cache.json", "[1]");
  await checkOutputFile("--cache", file);
  await checkOutputFile("--cache", folder.file("new.json"));
  assertEquals((await Array.fromAsync(Deno.readDir(folder.path))).map(({ name }) => name), ["cache.json"]);
  assertEquals(await Deno.readTextFile(file), "[1]");
});
