import { assert, assertEquals } from "@std/assert";
import { printedBy } from "../support/program.ts";

Deno.test("SharedIndexInformer keeps no memory of 5,000 handlers and streams that were added and removed [F20]", {
  timeout: 600_000,
}, async () => {
  // Together they hold 200 MB; the heap has room for a third of that.
  const program = new URL("./_passing_handlers.ts", import.meta.url);
  const printed = await printedBy(program, ["5000"], ["--v8-flags=--max-old-space-size=64,--expose-gc"]);
  const { handlers, grownBytes } = printed as Record<string, number>;
  assertEquals(handlers, 0);
  assert(grownBytes < 500_000, `the heap grew by ${grownBytes} bytes`);
});
