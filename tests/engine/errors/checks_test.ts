import { assertThrows } from "@std/assert";
import { checkCounts, checkDurations } from "../../../src/engine/errors/checks.ts";

Deno.test("a duration is at least 0 milliseconds, of any length, and Infinity unless it is forbidden", () => {
  checkDurations("wait", { firstMs: 0, secondMs: 0.5, thirdMs: 2 ** 40, fourthMs: Infinity, fifthMs: undefined });
  checkDurations("wait", { firstMs: 1, secondMs: Number.MAX_VALUE }, { min: 1, finite: true });
});

Deno.test("the error for a bad duration has its name, the value found and the values allowed", () => {
  for (const [found, shown] of [[-1, "-1"], [NaN, "NaN"], [-Infinity, "-Infinity"], ["5", '"5"'], [null, "null"]]) {
    assertThrows(
      () => checkDurations("wait", { firstMs: 1, secondMs: found as number }),
      RangeError,
      `Cannot wait: secondMs must be at least 0 milliseconds, or Infinity for never, but it is ${shown}`,
    );
  }
  for (const found of [0, Infinity]) {
    assertThrows(
      () => checkDurations("wait", { waitMs: found }, { min: 1, finite: true }),
      RangeError,
      `Cannot wait: waitMs must be at least 1 milliseconds and finite, but it is ${found}`,
    );
  }
});

Deno.test("checkCounts accepts whole numbers, and names the option and the value otherwise", () => {
  checkCounts("list", { limit: 0, pages: undefined, max: Number.MAX_SAFE_INTEGER });
  checkCounts("list", { limit: 3, max: Infinity }, { min: 3, infinite: true });
  const cases: [number | string, string][] = [[-1, "-1"], [1.5, "1.5"], [NaN, "NaN"], [Infinity, "Infinity"], [
    2 ** 53,
    "9007199254740992",
  ], ["5", '"5"']];
  for (const [value, found] of cases) {
    const message = `Cannot list: limit must be a whole number of at least 0, but it is ${found}`;
    assertThrows(() => checkCounts("list", { limit: value as number }), RangeError, message);
  }
  const message = "Cannot list: limit must be a whole number of at least 2, or Infinity for no limit, but it is 1";
  assertThrows(() => checkCounts("list", { limit: 1 }, { min: 2, infinite: true }), RangeError, message);
});
