import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  defaultRateLimiter,
  exponentialBackoff,
  fastSlow,
  maxOf,
  type RateLimiter,
  tokenBucket,
  withMaxWait,
} from "../../../src/engine/workqueue/rate_limiter.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("exponentialBackoff doubles the wait of each key until it is forgotten [C126]", () => {
  const limiter = exponentialBackoff<string>({ baseMs: 1, maxMs: 1_000_000 });
  assertEquals(waits(limiter, "one", 5), [1, 2, 4, 8, 16]);
  assertEquals(limiter.retries("one"), 5);
  assertEquals(waits(limiter, "two", 2), [1, 2]);
  assertEquals([limiter.retries("two"), limiter.retries("three")], [2, 0]);
  limiter.forget("one");
  assertEquals([limiter.retries("one"), limiter.when("one"), limiter.when("two")], [0, 1, 4]);
});

Deno.test("exponentialBackoff never exceeds its longest wait, however many failures", () => {
  const limiter = exponentialBackoff<string>({ baseMs: 1, maxMs: 1_000 });
  const all = waits(limiter, "one", 2_000);
  assertEquals(all.slice(8, 12), [256, 512, 1_000, 1_000]);
  assertEquals(all.slice(10).every((wait) => wait === 1_000), true);
});

Deno.test("fastSlow changes from fast to slow after the given number of tries", () => {
  const limiter = fastSlow<string>({ fastMs: 5, slowMs: 10_000, maxFast: 3 });
  assertEquals(waits(limiter, "one", 5), [5, 5, 5, 10_000, 10_000]);
  assertEquals(waits(limiter, "two", 2), [5, 5]);
  assertEquals(limiter.retries("one"), 5);
  limiter.forget("one");
  assertEquals([limiter.retries("one"), limiter.when("one")], [0, 5]);
});

Deno.test("tokenBucket allows a burst, then a rate, for all keys together", () => {
  using time = new FakeTime();
  const limiter = tokenBucket<string>({ perSecond: 2, burst: 3 });
  assertEquals([...waits(limiter, "one", 2), ...waits(limiter, "two", 3)], [0, 0, 0, 500, 1_000]);
  time.tick(1_000); // two tokens, which were promised already
  assertEquals(limiter.when("one"), 500);
  limiter.forget("one");
  assertEquals([limiter.when("one"), limiter.retries("one")], [1_000, 0]);
  time.tick(60_000); // more than the bucket holds
  assertEquals(waits(limiter, "one", 4), [0, 0, 0, 500]);
});

Deno.test("tokenBucket uses the monotonic clock, whatever the time of day is set to", () => {
  using time = new FakeTime();
  const limiter = tokenBucket<string>({ perSecond: 1, burst: 1 });
  assertEquals(waits(limiter, "one", 2), [0, 1_000]);
  time.setClock(time.now + 3_600_000);
  assertEquals(limiter.when("one"), 2_000);
  time.setClock(time.now - 7_200_000);
  time.tick(1_000);
  assertEquals(limiter.when("one"), 2_000);
});

Deno.test("maxOf returns the longest wait, and every limiter counts", () => {
  const limiter = maxOf(
    fastSlow<string>({ fastMs: 5, slowMs: 3_000, maxFast: 3 }),
    exponentialBackoff<string>({ baseMs: 1, maxMs: 1_000_000 }),
  );
  assertEquals(waits(limiter, "one", 5), [5, 5, 5, 3_000, 3_000]);
  assertEquals(waits(limiter, "two", 2), [5, 5]);
  assertEquals([limiter.retries("one"), limiter.retries("two")], [5, 2]);
  limiter.forget("one");
  assertEquals([limiter.retries("one"), limiter.when("one")], [0, 5]);
});

Deno.test("maxOf reports the most retries of its limiters", () => {
  const limiter = maxOf(tokenBucket<string>(), exponentialBackoff<string>());
  limiter.when("one");
  assertEquals(limiter.retries("one"), 1);
});

Deno.test("withMaxWait caps the waits of a limiter, which still counts", () => {
  const limiter = withMaxWait(exponentialBackoff<string>({ baseMs: 1 }), 4);
  assertEquals(waits(limiter, "one", 5), [1, 2, 4, 4, 4]);
  assertEquals(limiter.retries("one"), 5);
  limiter.forget("one");
  assertEquals([limiter.retries("one"), limiter.when("one")], [0, 1]);
});

Deno.test("defaultRateLimiter is 5 ms to 1000 s per key, and 10 keys a second after the first 100", () => {
  using time = new FakeTime();
  const limiter = defaultRateLimiter<number>();
  assertEquals(waits(limiter, 0, 3), [5, 10, 20]);
  for (let key = 1; key <= 97; key++) assertEquals(limiter.when(key), 5);
  assertAlmostEquals(limiter.when(98), 100);
  assertAlmostEquals(limiter.when(99), 200);
  time.tick(60_000);
  for (let i = 0; i < 20; i++) limiter.when(0);
  assertEquals(limiter.when(0), 1_000_000);
});

Deno.test("rate limiters refuse invalid options, and name them", () => {
  assertThrows(() => exponentialBackoff({ baseMs: 0 }), RangeError, "baseMs must be positive, but it is 0");
  assertThrows(() => exponentialBackoff({ maxMs: 1 }), RangeError, "maxMs must be at least baseMs (5), but it is 1");
  assertThrows(() => exponentialBackoff({ maxMs: Infinity }), RangeError, "it is Infinity");
  assertThrows(
    () => fastSlow({ fastMs: -1, slowMs: 1, maxFast: 1 }),
    RangeError,
    "fastMs must be at least 0 milliseconds and finite, but it is -1",
  );
  assertThrows(
    () => fastSlow({ fastMs: 1, slowMs: NaN, maxFast: 1 }),
    RangeError,
    "slowMs must be at least 0 milliseconds and finite, but it is NaN",
  );
  assertThrows(
    () => fastSlow({ fastMs: 1, slowMs: 1, maxFast: 1.5 }),
    RangeError,
    "maxFast must be a whole number of at least 0, but it is 1.5",
  );
  assertThrows(() => tokenBucket({ perSecond: 0 }), RangeError, "perSecond must be positive, but it is 0");
  assertThrows(() => tokenBucket({ burst: 0 }), RangeError, "burst must be a whole number of at least 1, but it is 0");
  assertThrows(() => maxOf(), RangeError, "found no rate limiter");
  assertThrows(
    () => withMaxWait(tokenBucket(), -1),
    RangeError,
    "maxMs must be at least 0 milliseconds, or Infinity for never, but it is -1",
  );
});

function waits<K>(limiter: RateLimiter<K>, key: K, times: number): number[] {
  return Array.from({ length: times }, () => limiter.when(key));
}
