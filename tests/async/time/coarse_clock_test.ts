import { assert, assertEquals } from "@std/assert";
import { CoarseClock } from "../../../src/async/time/coarse_clock.ts";
import { FakeTime } from "../../support/fake_time.ts";

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
