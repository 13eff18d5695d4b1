import { assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { lowerBound } from "../../../src/engine/api/lower_bound.ts";

Deno.test("lowerBound returns the number of values below a bound, from any index up to it", () => {
  fc.assert(fc.property(fc.array(fc.nat(20)), fc.nat(21), (values, bound) => {
    const sorted = values.sort((a, b) => a - b);
    const below = sorted.filter((value) => value < bound).length;
    for (let from = 0; from <= below; from++) {
      assertEquals(lowerBound(sorted.length, (at) => sorted[at] < bound, from), below);
    }
  }));
});
