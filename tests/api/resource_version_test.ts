import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { compareResourceVersions, isOlder, isResourceVersion } from "../../src/api/resource_version.ts";

Deno.test("compareResourceVersions orders as numbers do, of any length", () => {
  const number = fc.oneof(fc.bigInt({ min: 0n, max: 2_000n }), fc.bigInt({ min: 0n, max: 10n ** 40n }));
  fc.assert(fc.property(number, number, (a, b) => {
    assertEquals(Math.sign(compareResourceVersions(`${a}`, `${b}`)), a < b ? -1 : a > b ? 1 : 0);
    assertEquals(isOlder(`${a}`, `${b}`), a < b);
  }));
});

Deno.test("compareResourceVersions distinguishes versions that are equal as JavaScript numbers", () => {
  assert(compareResourceVersions("9007199254740993", "9007199254740992") > 0);
  assert(compareResourceVersions("99999999999999999999", "100000000000000000000") < 0);
});

Deno.test("compareResourceVersions refuses versions that are not numbers, on either side", () => {
  for (const bad of ["", "01", "-1", "+1", "1.5", "1e3", " 1", "1\n", "0x1", "abc", "१"]) {
    assertFalse(isResourceVersion(bad), `isResourceVersion(${JSON.stringify(bad)})`);
    for (const [a, b] of [[bad, "1"], ["1", bad], [bad, bad]]) {
      const error = assertThrows(() => compareResourceVersions(a, b), RangeError);
      assertStringIncludes(error.message, `Cannot order resource version "${bad}"`);
      assertFalse(isOlder(a, b));
    }
  }
  assert(isResourceVersion("0"));
});
