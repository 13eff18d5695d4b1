/**
 * The cost of sharing parts with the version before, where members and elements move in the worst ways: 20 pairs of
 * versions, each over JSON.parse of the same texts. The accepted ratio is 4.
 */
import { SharedParts } from "../src/engine/entry/shared_parts.ts";
import { MOVED } from "../tests/support/sources/moved_parts.ts";

const RUNS = { warmup: 3, n: 15 };
const VERSIONS = 8;

for (const [what, textOf] of Object.entries(MOVED)) {
  const texts = Array.from({ length: VERSIONS }, (_, version) => textOf(version));
  Deno.bench({
    ...RUNS,
    name: "JSON.parse",
    group: what,
    baseline: true,
    fn: () => {
      for (const text of texts) JSON.parse(text);
    },
  });
  const parts = new SharedParts(() => true);
  Deno.bench({
    ...RUNS,
    name: "SharedParts",
    group: what,
    fn: () => {
      for (const text of texts) {
        const object: object = parts.parse("shop/cart-0", "u-1", text) ?? JSON.parse(text);
        parts.keep("shop/cart-0", "u-1", text, text, object);
      }
    },
  });
}
