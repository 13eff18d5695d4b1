import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Backoff, type BackoffOptions } from "../../src/timing/backoff.ts";
import { FakeTime } from "../_time.ts";
import { fixedRandom } from "./_random.ts";

function waits(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next());
}

Deno.test("Backoff grows by its factor up to its longest wait", () => {
  const backoff = new Backoff({ initialMs: 10, maxMs: 100, factor: 2, jitter: 0 });
  assertEquals(waits(backoff, 6), [10, 20, 40, 80, 100, 100]);
});

Deno.test("Backoff waits 0.8 s to 30 s, and up to as much again, unless told otherwise", () => {
  for (const [random, share] of [[0, 1], [0.5, 1.5]]) {
    using _random = fixedRandom(random);
    assertEquals(
      waits(new Backoff(), 8),
      [800, 1600, 3200, 6400, 12800, 25600, 30_000, 30_000].map((ms) => ms * share),
    );
  }
});

Deno.test("Backoff keeps within its jitter, whatever the options and the luck", () => {
  const options = fc.record({
    initialMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    maxMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.double({ min: 0, max: 3, noNaN: true }),
  });
  const luck = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 20 });
  fc.assert(fc.property(options, luck, (options, luck) => {
    const backoff = new Backoff(options);
    const { initialMs, maxMs, factor, jitter } = options;
    luck.forEach((random, attempt) => {
      using _random = fixedRandom(random);
      const base = Math.min(initialMs * factor ** attempt, maxMs);
      const wait = backoff.next();
      assertAlmostEquals(wait, base * (1 + jitter * random), 1e-9 * (1 + wait));
      assert(wait <= maxMs * (1 + jitter) * (1 + 1e-9), `${wait} is longer than the longest`);
    });
  }));
});

Deno.test("Backoff is reset by health, after resetMs of it, and not before", () => {
  using time = new FakeTime();
  const backoff = new Backoff({ initialMs: 10, maxMs: 1_000, jitter: 0, resetMs: 500 });
  assertEquals(waits(backoff, 3), [10, 20, 40]);
  backoff.healthy();
  time.tick(499);
  assertEquals(backoff.next(), 80);
  backoff.healthy();
  time.tick(500);
  assertEquals(waits(backoff, 2), [10, 20]);
});

Deno.test("Backoff counts health from its beginning, however often it is told", () => {
  using time = new FakeTime();
  const backoff = new Backoff({ initialMs: 10, jitter: 0, resetMs: 500 });
  assertEquals(waits(backoff, 2), [10, 20]);
  backoff.healthy();
  time.tick(300);
  backoff.healthy();
  time.tick(200);
  assertEquals(backoff.next(), 10);
});

Deno.test("Backoff is not reset by time that passes during an outage", () => {
  using time = new FakeTime();
  const backoff = new Backoff({ initialMs: 10, jitter: 0, resetMs: 500 });
  assertEquals(waits(backoff, 2), [10, 20]);
  time.tick(3_600_000);
  assertEquals(backoff.next(), 40);
  backoff.healthy();
  assertEquals(backoff.next(), 80, "an attempt ends the time of health");
  time.tick(3_600_000);
  assertEquals(backoff.next(), 160);
});

Deno.test("Backoff refuses options that are out of range, and names them", () => {
  for (const name of ["initialMs", "maxMs", "jitter", "resetMs"] as const) {
    for (const bad of [-1, NaN]) {
      assertThrows(
        () => new Backoff({ [name]: bad } as BackoffOptions),
        RangeError,
        `Cannot back off: ${name} must be at least 0, found ${bad}`,
      );
    }
  }
  assertThrows(() => new Backoff({ factor: 0.5 }), RangeError, "factor must be at least 1, found 0.5");
  assertEquals(waits(new Backoff({ initialMs: 0, jitter: 0, factor: 1 }), 2), [0, 0]);
});
