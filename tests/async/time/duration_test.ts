import { assertThrows } from "@std/assert";
import { checkDurations } from "../../../src/async/time/duration.ts";

Deno.test("a duration is at least 0 milliseconds, of any length, and Infinity unless it is forbidden", () => {
  checkDurations("wait", { firstMs: 0, secondMs: 0.5, thirdMs: 2 ** 40, fourthMs: Infinity, fifthMs: undefined });
  checkDurations("wait", { firstMs: 1, secondMs: Number.MAX_VALUE }, { min: 1, finite: true });
});

Deno.test("the error for a bad duration has its name, the value found and the values allowed", () => {
  for (const [found, shown] of [[-1, "-1"], [NaN, "NaN"], [-Infinity, "-Infinity"], ["5", '"5"'], [null, "null"]]) {
    assertThrows(
      () => checkDurations("wait", { firstMs: 1, secondMs: found as number }),
      RangeError,
      `Cannot wait: secondMs must be at least 0 milliseconds, or Infinity for never, found ${shown}`,
    );
  }
  for (const found of [0, Infinity]) {
    assertThrows(
      () => checkDurations("wait", { waitMs: found }, { min: 1, finite: true }),
      RangeError,
      `Cannot wait: waitMs must be at least 1 milliseconds and finite, found ${found}`,
    );
  }
});
