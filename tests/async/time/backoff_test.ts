import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { backoffMs, type BackoffOptions, checkBackoff, unreachableBackoffMs } from "../../../src/async/time/backoff.ts";
import { fixedRandom } from "../../support/fixed_random.ts";

function waits(options: BackoffOptions, count: number): number[] {
  return Array.from({ length: count }, (_, failures) => backoffMs(failures, options));
}

Deno.test("backoffMs grows by its factor up to its longest wait", () => {
  assertEquals(waits({ initialMs: 10, maxMs: 100, factor: 2, jitter: 0 }, 6), [10, 20, 40, 80, 100, 100]);
});

Deno.test("backoffMs defaults to 0.8 s to 30 s with its jitter, and to at most 5 s while the server is unreachable", () => {
  for (const [random, share] of [[0, 1], [0.5, 1.5]]) {
    using _random = fixedRandom(random);
    const growing = [800, 1600, 3200, 6400, 12800, 15_000, 15_000];
    assertEquals(waits({}, 7), growing.map((ms) => ms * share));
    const unreachable = (options: BackoffOptions, count: number): number[] =>
      Array.from({ length: count }, (_, failures) => unreachableBackoffMs(failures, options) / share);
    assertEquals(unreachable({}, 12), [...Array(8).fill(500), 1000, 2000, 2500, 2500]);
    assertEquals(unreachable({ maxMs: 400, initialMs: 10 }, 9), [...Array(8).fill(10), 20]);
    assertEquals(unreachable({ maxMs: 400 }, 2), [200, 200]);
  }
});

Deno.test("backoffMs stays within its jitter and its longest wait, for any options and random numbers", () => {
  const options = fc.record({
    initialMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    maxMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.double({ min: 0, max: 3, noNaN: true }),
  });
  const luck = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 20 });
  fc.assert(fc.property(options, luck, (options, luck) => {
    const { initialMs, maxMs, factor, jitter } = options;
    luck.forEach((random, failures) => {
      using _random = fixedRandom(random);
      const base = Math.min(initialMs * factor ** failures, maxMs / (1 + jitter));
      const wait = backoffMs(failures, options);
      // Numbers near the smallest have no digits behind the first.
      const isAtMost = (a: number, b: number): boolean => a <= b * (1 + 1e-9) + 1e-300;
      assert(isAtMost(base, wait) && isAtMost(wait, base * (1 + jitter)), `${wait}`);
      assert(isAtMost(wait, maxMs), `${wait} is longer than the longest`);
    });
  }));
});

Deno.test("checkBackoff refuses options that are not valid waits", () => {
  const refused: [BackoffOptions, string][] = [
    [{ initialMs: -1 }, "initialMs"],
    [{ maxMs: NaN }, "maxMs"],
    [{ maxMs: Infinity }, "maxMs"],
    [{ factor: 0.5 }, "factor must be at least 1, found 0.5"],
    [{ jitter: -1 }, "jitter must be at least 0, found -1"],
  ];
  for (const [options, message] of refused) assertThrows(() => checkBackoff(options), RangeError, message);
  checkBackoff({ initialMs: 0, maxMs: 0, factor: 1, jitter: 0 });
});
