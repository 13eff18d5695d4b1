import { assert, assertEquals } from "@std/assert";
import { printedBy } from "../support/program.ts";

/** More than a gibibyte: twice what one string can hold. */
const BYTES = 1_100_000_000;

Deno.test("ResourceClient.listEntries reads a list of more than a gibibyte within a heap of 64 MB [F31]", {
  timeout: 600_000,
}, async () => {
  const program = new URL("./_large_list.ts", import.meta.url);
  const printed = await printedBy(program, [String(BYTES)], ["--v8-flags=--max-old-space-size=64"]);
  const { objects, heapMb, outsideMb } = printed as Record<string, number>;
  assertEquals(objects, Math.ceil(BYTES / 64_000));
  assert(heapMb + outsideMb < 100, `${heapMb} MB on the heap, ${outsideMb} MB outside it`);
});
