import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

/** More than a gibibyte: twice what one string can hold. */
const BYTES = 1_100_000_000;

Deno.test("ResourceClient.listEntries reads a list of more than a gibibyte within a heap of 64 MB [F31]", {
  timeout: 600_000,
}, async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-lock",
      "--v8-flags=--max-old-space-size=64",
      fileURLToPath(new URL("./_large_list.ts", import.meta.url)),
      String(BYTES),
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { objects, heapMb, outsideMb } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(objects, Math.ceil(BYTES / 64_000));
  assert(heapMb + outsideMb < 100, `${heapMb} MB on the heap, ${outsideMb} MB outside it`);
});
