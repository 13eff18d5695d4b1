import { assertAlmostEquals, assertEquals } from "@std/assert";
import { median, medianInterval } from "../../bench/statistics.ts";

Deno.test("statistics: the median of an even number of values is the mean of the two in the middle", () => {
  assertEquals(median([4, 1, 3]), 3);
  assertEquals(median([4, 1, 3, 2]), 2.5);
  assertEquals(median([]), NaN);
});

Deno.test("statistics: the interval of the median is the narrowest pair of order statistics with the confidence", () => {
  // Of five values the smallest and the largest miss the median with 2 in 32.
  assertEquals(medianInterval([5, 3, 1, 2, 4], 0.9), { from: 1, to: 5, confidence: 0.9375 });
  // Of 15, the 4th and the 12th miss it with 2 * (1 + 15 + 105 + 455) in 2 ** 15; the 5th and the 11th with 11.8 %.
  const values = Array.from({ length: 15 }, (_, index) => index + 1);
  const interval = medianInterval(values, 0.9)!;
  assertEquals([interval.from, interval.to], [4, 12]);
  assertAlmostEquals(interval.confidence, 1 - 2 * 576 / 2 ** 15, 1e-12);
  assertEquals(medianInterval(values, 0.88)!.from, 5);
});

Deno.test("statistics: too few values have no interval of the median", () => {
  assertEquals(medianInterval([1, 2, 3, 4], 0.9), undefined);
  assertEquals(medianInterval([], 0.9), undefined);
});
