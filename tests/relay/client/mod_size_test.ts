import { assert, assertEquals } from "@std/assert";
import { brotliCompressSync } from "node:zlib";
import { RELAY_CLIENT_KB } from "../../support/texts/facts.ts";

const ENTRY = new URL("../../../src/relay/client/mod.ts", import.meta.url);

Deno.test(`the client of a relay has at most ${RELAY_CLIENT_KB} kB, minified and compressed`, async () => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--platform", "browser", ENTRY.href],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  // Brotli has one result on all machines; that of gzip depends on the processor.
  const { byteLength } = brotliCompressSync(stdout);
  assert(byteLength > 1_000 && byteLength <= RELAY_CLIENT_KB * 1_000, `it has ${byteLength} bytes`);
  assertEquals(/\bimport\b/.test(new TextDecoder().decode(stdout)), false);
});
