import { assertEquals, assertThrows } from "@std/assert";
import { requeueAfter } from "../../../src/engine/workqueue/work_item.ts";
import { WorkQueue } from "../../../src/engine/workqueue/work_queue.ts";

Deno.test("requeueAfter takes a time that has passed as 0, and refuses what is no duration", () => {
  assertEquals([-1, -Infinity, -0, 7].map((ms) => requeueAfter(ms).afterMs), [0, 0, 0, 7]);
  for (const ms of [NaN, Infinity, "5", "-5"] as number[]) {
    const found = typeof ms === "string" ? JSON.stringify(ms) : String(ms);
    assertThrows(
      () => requeueAfter(ms),
      RangeError,
      `ms must be at least 0 milliseconds and finite, but it is ${found}`,
    );
  }
  assertThrows(() => requeueAfter(undefined as unknown as number), RangeError, "it is NaN");
});

Deno.test("WorkItem is done at the end of a using block, even when that throws", () => {
  const queue = new WorkQueue();
  queue.add("a");
  assertThrows(
    () => {
      using item = queue.tryGet()!;
      throw new Error(item.key);
    },
    Error,
    "a",
  );
  assertEquals(queue.status().processing, 0);
});
