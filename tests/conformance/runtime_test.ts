import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { deno } from "../support/program.ts";

Deno.test("the core follows a server with web standards alone, and without a permission [F40]", async () => {
  const program = fileURLToPath(new URL("./_bare.ts", import.meta.url));
  const { code, out, err } = await deno(["run", "--quiet", "--no-lock", "--no-prompt", program]);
  assertEquals([code, err, JSON.parse(out)], [0, "", { cached: 1_499, keys: 1_500 }]);
});
