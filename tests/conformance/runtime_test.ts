import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

Deno.test("the core follows a server with web standards alone, and without a permission [F40]", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-lock", "--no-prompt", fileURLToPath(new URL("./_bare.ts", import.meta.url))],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), { cached: 1_499, keys: 1_500 });
});
