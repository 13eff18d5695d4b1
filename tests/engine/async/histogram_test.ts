import { assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { Histogram, sumOfDurations } from "../../../src/engine/async/histogram.ts";

Deno.test("Histogram counts durations up to each bound, which is part of its bucket, and longer ones in the count alone", () => {
  const histogram = new Histogram();
  const empty = histogram.durations;
  for (const ms of [0, 1, 1.5, 5, 300_000, 300_001]) histogram.add(ms);
  const { count, sumMs, maxMs, buckets } = histogram.durations;
  assertEquals([count, sumMs, maxMs], [6, 600_008.5, 300_001]);
  assertEquals(buckets.slice(0, 3), [{ upToMs: 1, count: 2 }, { upToMs: 5, count: 4 }, { upToMs: 10, count: 4 }]);
  assertEquals([buckets.length, buckets.at(-1)], [15, { upToMs: 300_000, count: 5 }]);
  assertEquals([empty.count, empty.buckets.some((it) => it.count > 0)], [0, false]);
});

Deno.test("sumOfDurations is what one histogram of all durations would have", () => {
  fc.assert(fc.property(fc.array(fc.array(fc.nat(400_000)), { minLength: 1 }), (parts) => {
    const of = (all: readonly number[]): Histogram => {
      const histogram = new Histogram();
      for (const ms of all) histogram.add(ms);
      return histogram;
    };
    assertEquals(sumOfDurations(parts.map((part) => of(part).durations)), of(parts.flat()).durations);
  }));
});
