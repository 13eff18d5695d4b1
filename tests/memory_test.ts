import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

const CHANGES = 2_000_000;

Deno.test("SharedIndexInformer keeps nothing of two million changes but the last of each object", async () => {
  // A heap that has room for the cache and what is on its way, and for nothing that grows: 2,000,000 events of even
  // 50 bytes each, kept anywhere, are more than all of it.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--v8-flags=--max-old-space-size=64,--expose-gc",
      fileURLToPath(new URL("./_two_million_changes.ts", import.meta.url)),
      String(CHANGES),
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  const said = new TextDecoder().decode(stderr);
  assertEquals(code, 0, said);
  const { told, objects, beforeBytes, afterBytes } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(told, { updated: CHANGES * 0.9, added: CHANGES * 0.05, deleted: CHANGES * 0.05 });
  assertEquals(objects, 1_000);
  assert(
    afterBytes - beforeBytes < 2_000_000,
    `the heap grew from ${beforeBytes} to ${afterBytes} bytes between the first tenth of the changes and the last`,
  );
});
