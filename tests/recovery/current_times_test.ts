import { assertEquals, assertRejects } from "@std/assert";
import { CurrentTimes } from "../support/recovery/current_times.ts";

Deno.test("CurrentTimes add up the time in which the cache's newest marker is at most a second old", () => {
  const currentTimes = new CurrentTimes();
  currentTimes.note(1_000, 1_010); // current from 1_010 to 2_000
  currentTimes.note(1_800, 1_900); // and on to 2_800
  currentTimes.note(3_000, 4_500); // stale when it arrives
  currentTimes.note(5_000, 5_200); // current from 5_200 to 6_000
  currentTimes.note(4_000, 5_900); // older than the one before
  assertEquals(currentTimes.share(1_000, 2_000), 0.99);
  assertEquals(currentTimes.share(2_300, 5_300), 0.2);
  assertEquals(currentTimes.longestStaleMs(1_000, 5_300), 2_400);
  assertEquals(currentTimes.longestStaleMs(5_300, 7_000), 1_000);
  assertEquals(currentTimes.longestStaleMs(1_100, 2_500), 0);
});

Deno.test("CurrentTimes wait for a period in which the cache is current without a gap", async () => {
  const currentTimes = new CurrentTimes();
  const { signal } = new AbortController();
  currentTimes.note(1_000, 1_010);
  const steady = currentTimes.steadyFrom(500, 1_500, signal);
  currentTimes.note(2_500, 2_510);
  currentTimes.note(3_000, 3_010);
  currentTimes.note(4_000, 4_000);
  currentTimes.note(4_100, 4_110);
  assertEquals(await steady, 2_510);
  assertEquals(await currentTimes.steadyFrom(3_000, 1_000, signal), 3_000);
  const stop = new AbortController();
  const never = currentTimes.steadyFrom(3_500, 1_000, stop.signal);
  stop.abort(new Error("enough"));
  await assertRejects(() => never, Error, "enough");
});
