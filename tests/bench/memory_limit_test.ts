import { assertEquals, assertRejects } from "@std/assert";
import { smallest } from "../../bench/peers/memory_limit.ts";

/** A job that fails below a limit. */
function needing(mb: number): (limitMb: number) => Promise<{ failure?: string; peakRssMb: number; syncMs: number }> {
  return (limitMb) => Promise.resolve({ peakRssMb: mb, syncMs: 1, ...limitMb < mb ? { failure: "too much" } : {} });
}

Deno.test("memory limit: the smallest one is found within a step of 5 %", async () => {
  for (const mb of [64, 65, 333, 1_000, 8_000]) {
    const { limitMb } = await smallest(needing(mb), 2);
    assertEquals(
      [limitMb >= mb, limitMb <= Math.max(64, mb * 1.06)],
      [true, true],
      `${mb} MB were found as ${limitMb}`,
    );
  }
});

Deno.test("memory limit: a limit under which a later run fails is not the one", async () => {
  const steady = await smallest(needing(500), 3);
  let runs = 0;
  const { limitMb } = await smallest((limitMb) => {
    const isLater = limitMb === steady.limitMb && ++runs === 3;
    return isLater ? Promise.resolve({ failure: "now and then", peakRssMb: 1, syncMs: 1 }) : needing(500)(limitMb);
  }, 3);
  assertEquals(Math.round(limitMb / steady.limitMb * 100), 105);
});

Deno.test("memory limit: a job that always fails has none", async () => {
  await assertRejects(() => smallest(needing(1e9), 1), Error, "Cannot find a limit: the job fails under each");
});
