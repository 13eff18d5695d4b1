import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Demand } from "../../src/informer/demand.ts";
import { FakeTime } from "../support/fake_time.ts";

function noting(idleMs: number, forgetMs: number): { readonly demand: Demand; readonly calls: string[] } {
  const calls: string[] = [];
  const note = (call: string) => (): void => void calls.push(`${call} ${demand.state}`);
  const demand = new Demand({
    idleMs,
    forgetMs,
    onPause: note("pause"),
    onResume: note("resume"),
    onForget: note("forget"),
  });
  return { demand, calls };
}

Deno.test("Demand pauses idleMs after the last release, and forgets forgetMs later", () => {
  using time = new FakeTime();
  const { demand, calls } = noting(100, 50);
  const first = demand.acquire();
  const second = demand.acquire();
  first();
  first(); // only the first call counts
  time.tick(1_000);
  assertEquals([demand.state, calls], ["held", []]);
  second();
  time.tick(99);
  assertEquals([demand.state, calls], ["idle", []]);
  time.tick(1);
  assertEquals([demand.state, calls.splice(0)], ["paused", ["pause paused"]]);
  time.tick(49);
  assertEquals(demand.state, "paused");
  time.tick(1);
  assertEquals([demand.state, calls, time.timers], ["over", ["forget over"], 0]);
});

Deno.test("Demand that is acquired again before it pauses calls nothing, and after that resumes", () => {
  using time = new FakeTime();
  const { demand, calls } = noting(100, 50);
  demand.acquire()();
  time.tick(99);
  const second = demand.acquire();
  time.tick(1_000);
  assertEquals([demand.state, calls, time.timers], ["held", [], 0]);
  second();
  time.tick(149);
  demand.acquire();
  time.tick(1_000);
  assertEquals([demand.state, calls, time.timers], ["held", ["pause paused", "resume held"], 0]);
});

Deno.test("Demand without a holder yet does not pause, and one whose times are Infinity never does", () => {
  using time = new FakeTime();
  const { demand, calls } = noting(Infinity, 50);
  assertEquals([demand.state, time.timers], ["idle", 0]);
  demand.acquire()();
  assertEquals(time.timers, 0);
  const kept = noting(10, Infinity);
  kept.demand.acquire()();
  time.tick(1_000_000);
  assertEquals([calls, kept.calls, time.timers], [[], ["pause paused"], 0]);
});

Deno.test("Demand that was ended calls nothing when it is acquired and released", () => {
  using time = new FakeTime();
  const { demand, calls } = noting(100, 50);
  const release = demand.acquire();
  demand.end();
  release();
  demand.acquire()();
  time.tick(1_000);
  assertEquals([demand.state, calls, time.timers], ["over", [], 0]);
});

Deno.test("Demand is paused if and only if it has had no holder for idleMs, in any sequence", () => {
  const step = fc.oneof(fc.constant("acquire"), fc.constant("release"), fc.integer({ min: 0, max: 80 }));
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    using time = new FakeTime();
    const { demand, calls } = noting(100, 50);
    const releases: (() => void)[] = [];
    let freeMs: number | undefined;
    for (const step of steps) {
      if (demand.state === "over") break;
      if (step === "acquire") {
        releases.push(demand.acquire());
        freeMs = undefined;
      } else if (step === "release") {
        const release = releases.pop();
        release?.();
        if (release !== undefined && releases.length === 0) freeMs = 0;
      } else {
        time.tick(step as number);
        if (freeMs !== undefined) freeMs += step as number;
      }
      const expected = releases.length > 0
        ? "held"
        : freeMs === undefined || freeMs < 100
        ? "idle"
        : freeMs < 150
        ? "paused"
        : "over";
      assertEquals(demand.state, expected);
      assertEquals(time.timers, demand.state === "paused" || (demand.state === "idle" && freeMs !== undefined) ? 1 : 0);
    }
    const paused = calls.filter((call) => call.startsWith("pause")).length;
    const resumed = calls.filter((call) => call.startsWith("resume")).length;
    assertEquals(paused - resumed, demand.state === "paused" || demand.state === "over" ? 1 : 0);
  }));
});
