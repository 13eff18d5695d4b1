import { assertEquals, assertRejects } from "@std/assert";
import { Currency } from "./_currency.ts";

Deno.test("Currency adds up the time in which the cache's newest marker is at most a second old", () => {
  const currency = new Currency();
  currency.note(1_000, 1_010); // current from 1_010 to 2_000
  currency.note(1_800, 1_900); // and on to 2_800
  currency.note(3_000, 4_500); // stale when it arrives
  currency.note(5_000, 5_200); // current from 5_200 to 6_000
  currency.note(4_000, 5_900); // older than the one before
  assertEquals(currency.share(1_000, 2_000), 0.99);
  assertEquals(currency.share(2_300, 5_300), 0.2);
  assertEquals(currency.longestStaleMs(1_000, 5_300), 2_400);
  assertEquals(currency.longestStaleMs(5_300, 7_000), 1_000);
  assertEquals(currency.longestStaleMs(1_100, 2_500), 0);
});

Deno.test("Currency waits for a period in which the cache is current without a gap", async () => {
  const currency = new Currency();
  const { signal } = new AbortController();
  currency.note(1_000, 1_010);
  const steady = currency.steadyFrom(500, 1_500, signal);
  currency.note(2_500, 2_510);
  currency.note(3_000, 3_010);
  currency.note(4_000, 4_000);
  currency.note(4_100, 4_110);
  assertEquals(await steady, 2_510);
  assertEquals(await currency.steadyFrom(3_000, 1_000, signal), 3_000);
  const stop = new AbortController();
  const never = currency.steadyFrom(3_500, 1_000, stop.signal);
  stop.abort(new Error("enough"));
  await assertRejects(() => never, Error, "enough");
});
