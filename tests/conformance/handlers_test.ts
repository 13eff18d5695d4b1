import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

Deno.test("SharedIndexInformer keeps no memory of 5,000 handlers and streams that were added and removed [F20]", {
  timeout: 600_000,
}, async () => {
  // Together they hold 200 MB; the heap has room for a third of that.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--v8-flags=--max-old-space-size=64,--expose-gc",
      fileURLToPath(new URL("./_passing_handlers.ts", import.meta.url)),
      "5000",
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { handlers, grownBytes } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(handlers, 0);
  assert(grownBytes < 500_000, `the heap grew by ${grownBytes} bytes`);
});
