import { assert, assertEquals } from "@std/assert";

const ENTRY = new URL("../../src/subscribe/mod.ts", import.meta.url);

Deno.test("the client of a relay has at most 8 kB, minified and compressed", async () => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--platform", "browser", ENTRY.href],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const compressed = new Blob([stdout]).stream().pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(compressed).arrayBuffer();
  assert(byteLength > 1_000 && byteLength <= 8_192, `it has ${byteLength} bytes`);
  assertEquals(/\bimport\b/.test(new TextDecoder().decode(stdout)), false);
});
