import { assertEquals } from "@std/assert";
import { RecentCount } from "../../../src/engine/async/rates.ts";
import { FakeTime } from "../../../src/testing/mod.ts";

Deno.test("RecentCount.waitMs says when fewer than max events are in the window, also for more events than max", () => {
  using time = new FakeTime();
  const recent = new RecentCount(1_000);
  assertEquals(recent.waitMs(1), 0);
  recent.add();
  time.tick(300);
  recent.add();
  assertEquals([recent.waitMs(1), recent.waitMs(2), recent.waitMs(3)], [1_000, 700, 0]);
  time.tick(700);
  assertEquals([recent.count, recent.waitMs(2), recent.waitMs(1)], [1, 0, 300]);
});
