import { assert, assertEquals } from "@std/assert";
import { CoarseClock } from "../../../src/engine/async/coarse_clock.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("a coarse clock advances with time", () => {
  using time = new FakeTime();
  const clock = new CoarseClock();
  const startMs = clock.now();
  for (const [stepMs, sumMs] of [[0, 0], [1, 1], [20, 21], [21, 42], [86_400_000, 86_400_042]]) {
    time.tick(stepMs);
    assertEquals(clock.now() - startMs, sumMs);
  }
});

Deno.test("a change of the time of day moves a coarse clock by 20 ms at most, and never backwards", () => {
  using time = new FakeTime();
  const clock = new CoarseClock();
  for (const jumpMs of [-3_600_000, -1, 1, 20, 21, 3_600_000]) {
    const beforeMs = clock.now();
    time.setClock(time.now + jumpMs);
    const movedMs = clock.now() - beforeMs;
    assert(movedMs >= 0 && movedMs <= 20, `set by ${jumpMs} ms, moved by ${movedMs} ms`);
    time.tick(50); // the monotonic clock catches up
    clock.now();
  }
});

Deno.test("a coarse clock reads the time once in 8 readings of a burst, until the next await", async () => {
  using time = new FakeTime();
  const clock = new CoarseClock();
  const startMs = clock.now();
  for (let i = 0; i < 40; i++) clock.now();
  time.tick(1);
  const late = Array.from({ length: 8 }, () => clock.now() - startMs);
  assert(late.includes(1), `found ${late}`);
  assertEquals([late[0], late[7]], [0, 1]);

  for (let i = 0; i < 40; i++) clock.now();
  await Promise.resolve();
  time.tick(1);
  assertEquals(clock.now() - startMs, 2);
});

Deno.test("a coarse clock is exact for readings that an await separates, however many are equal", async () => {
  using time = new FakeTime();
  const clock = new CoarseClock();
  const startMs = clock.now();
  for (let round = 1; round <= 10; round++) {
    for (let i = 0; i < 50; i++) {
      await Promise.resolve();
      clock.now();
    }
    time.tick(1);
    assertEquals(clock.now() - startMs, round);
  }
});
