import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import {
  backoffMs,
  type BackoffOptions,
  humanDuration,
  LongTimer,
  sleep,
  timedController,
  TimeLimit,
  unreachableBackoffMs,
} from "../../../src/engine/async/time.ts";
import { seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { CountedController } from "../../support/times/listeners.ts";

function waits(options: BackoffOptions, count: number): number[] {
  return Array.from({ length: count }, (_, failures) => backoffMs(failures, options));
}

Deno.test("backoffMs grows by its factor up to its longest wait", () => {
  assertEquals(waits({ initialMs: 10, maxMs: 100, factor: 2, jitter: 0 }, 6), [10, 20, 40, 80, 100, 100]);
});

Deno.test("backoffMs defaults to 0.8 s to 30 s with its jitter, and to at most 5 s while the server is unreachable", () => {
  for (const [random, share] of [[0, 1], [0.5, 1.5]]) {
    using _random = seedGlobals(() => random);
    const growing = [800, 1600, 3200, 6400, 12800, 15_000, 15_000];
    assertEquals(waits({}, 7), growing.map((ms) => ms * share));
    const unreachable = (options: BackoffOptions, count: number): number[] =>
      Array.from({ length: count }, (_, failures) => unreachableBackoffMs(failures, options) / share);
    assertEquals(unreachable({}, 12), [...Array(8).fill(500), 1000, 2000, 2500, 2500]);
    assertEquals(unreachable({ maxMs: 400, initialMs: 10 }, 9), [...Array(8).fill(10), 20]);
    assertEquals(unreachable({ maxMs: 400 }, 2), [200, 200]);
  }
});

Deno.test("backoffMs stays within its jitter and its longest wait, for any options and random numbers", () => {
  const options = fc.record({
    initialMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    maxMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    jitter: fc.double({ min: 0, max: 3, noNaN: true }),
  });
  const luck = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 20 });
  fc.assert(fc.property(options, luck, (options, luck) => {
    const { initialMs, maxMs, factor, jitter } = options;
    luck.forEach((random, failures) => {
      using _random = seedGlobals(() => random);
      const base = Math.min(initialMs * factor ** failures, maxMs / (1 + jitter));
      const wait = backoffMs(failures, options);
      // Numbers near the smallest have no digits behind the first.
      const isAtMost = (a: number, b: number): boolean => a <= b * (1 + 1e-9) + 1e-300;
      assert(isAtMost(base, wait) && isAtMost(wait, base * (1 + jitter)), `${wait}`);
      assert(isAtMost(wait, maxMs), `${wait} is longer than the longest`);
    });
  }));
});

const DAY_MS = 86_400_000;

Deno.test("a long timer fires once, after its delay, also when that is longer than the runtime's timers allow", async () => {
  using time = new FakeTime();
  let fired = 0;
  using timer = new LongTimer(() => fired++);
  for (const ms of [0, 0.5, 800, 2 ** 31 - 1, 2 ** 31, 100 * DAY_MS]) {
    fired = 0;
    timer.arm(ms);
    assertEquals([timer.isArmed, time.timers], [true, 1]);
    await time.tickAsync(Math.max(0, Math.ceil(ms) - 1));
    assertEquals(fired, ms === 0 ? 1 : 0);
    await time.tickAsync(1);
    assertEquals([fired, timer.isArmed, time.timers], [1, false, 0]);
    await time.tickAsync(200 * DAY_MS);
    assertEquals(fired, 1);
  }
});

Deno.test("a long timer armed with Infinity sets no timer, and clears the one before", () => {
  using time = new FakeTime();
  using timer = new LongTimer(() => {});
  timer.arm(Infinity);
  assertEquals([timer.isArmed, time.timers], [false, 0]);
  timer.arm(5);
  timer.arm(Infinity);
  assertEquals([timer.isArmed, time.timers], [false, 0]);
});

Deno.test("a long timer fires at the time that it was last armed for, and its callback may arm it again", async () => {
  using time = new FakeTime();
  const firedAt: number[] = [];
  const startMs = time.now;
  using timer = new LongTimer(() => {
    firedAt.push(time.now - startMs);
    if (firedAt.length < 3) timer.arm(30 * DAY_MS);
  });
  timer.arm(10);
  timer.arm(40 * DAY_MS);
  await time.tickAsync(365 * DAY_MS);
  assertEquals(firedAt, [40 * DAY_MS, 70 * DAY_MS, 100 * DAY_MS]);
  assertEquals(time.timers, 0);
});

Deno.test("a disposed long timer does not fire, and leaves no timer behind", async () => {
  using time = new FakeTime();
  let fired = 0;
  {
    using timer = new LongTimer(() => fired++);
    timer.arm(2 ** 31);
    await time.tickAsync(2 ** 31 - 1); // the second timer is armed
  }
  assertEquals(time.timers, 0);
  await time.tickAsync(DAY_MS);
  assertEquals(fired, 0);
});

Deno.test("a change of the time of day does not move a long timer", async () => {
  using time = new FakeTime();
  let fired = 0;
  using timer = new LongTimer(() => fired++);
  for (const jumpMs of [-100 * DAY_MS, 100 * DAY_MS]) {
    fired = 0;
    timer.arm(30 * DAY_MS);
    time.setClock(time.now + jumpMs);
    await time.tickAsync(30 * DAY_MS - 1);
    assertEquals(fired, 0);
    await time.tickAsync(1);
    assertEquals(fired, 1);
  }
});

Deno.test("sleep resolves after its time, not before, and leaves no listener behind", async () => {
  using time = new FakeTime();
  const stop = new CountedController();
  let awake = false;
  const slept = sleep(800, stop).then(() => awake = true);
  await time.tickAsync(799);
  assertEquals([awake, stop.listeners], [false, 1]);
  await time.tickAsync(1);
  assertEquals([awake, stop.listeners], [true, 0]);
  await slept;
});

Deno.test("sleep rejects with the reason as soon as its signal aborts, and clears its timer", async () => {
  using time = new FakeTime();
  const stop = new AbortController();
  const slept = sleep(800, stop);
  assertEquals(time.timers, 1);
  stop.abort(new Error("get up"));
  await assertRejects(() => slept, Error, "get up");
  assertEquals(time.timers, 0);
  await assertRejects(() => sleep(800, stop), Error, "get up");
  assertEquals(time.timers, 0);
});

Deno.test("sleep may be longer than the runtime's timers allow, and ignores changes of the time of day", async () => {
  using time = new FakeTime();
  const ms = 60 * 86_400_000;
  for (const jumpMs of [0, ms, -ms]) {
    const stop = new CountedController();
    let awake = false;
    const slept = sleep(ms, stop).then(() => awake = true);
    await time.tickAsync(1);
    time.setClock(time.now + jumpMs);
    await time.tickAsync(ms - 2);
    assertEquals([awake, stop.listeners], [false, 1]);
    await time.tickAsync(1);
    assertEquals([awake, stop.listeners, time.timers], [true, 0, 0]);
    await slept;
  }
});

Deno.test("a sleep of Infinity ends with its signal", async () => {
  using time = new FakeTime();
  const stop = new AbortController();
  const slept = sleep(Infinity, stop);
  slept.catch(() => {}); // it rejects before the test waits for it
  await time.tickAsync(2 ** 33);
  stop.abort(new Error("get up"));
  await assertRejects(() => slept, Error, "get up");
  assertEquals(time.timers, 0);
});

/** A limit under fake time, and the times at which it expired, in milliseconds from its start. */
function limitOf(time: FakeTime, ms: number): { readonly limit: TimeLimit; readonly expired: number[] } {
  const startMs = time.now;
  const expired: number[] = [];
  return { limit: new TimeLimit(() => expired.push(time.now - startMs), ms), expired };
}

Deno.test("TimeLimit expires once, after its time, and uses one timer until then", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  assertEquals([time.timers, limit.leftMs], [1, 100]);
  await time.tickAsync(99);
  assertEquals(expired, []);
  await time.tickAsync(500);
  assertEquals([expired, time.timers], [[100], 0]);
  using _never = limitOf(time, Infinity).limit;
  assertEquals(time.timers, 0);
});

Deno.test("TimeLimit that is extended or shortened expires at its new time", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  await time.tickAsync(60);
  limit.set(100);
  await time.tickAsync(99);
  assertEquals(expired, []);
  limit.set(50);
  limit.set(10);
  await time.tickAsync(10);
  assertEquals([expired, time.timers], [[169], 0]);
  limit.set(20); // begins anew
  await time.tickAsync(20);
  assertEquals([expired, time.timers], [[169, 189], 0]);
});

Deno.test("TimeLimit that is disposed does not expire", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  limit[Symbol.dispose]();
  assertEquals(time.timers, 0);
  await time.tickAsync(200);
  assertEquals(expired, []);
});

Deno.test("TimeLimit counts pauses, but leaves a minimum of time after each", async () => {
  const cases: readonly (readonly [paused: number, expires: number])[] = [[20, 100], [50, 100], [70, 100], [75, 105], [
    500,
    530,
  ]];
  for (const [pausedMs, expiresMs] of cases) {
    using time = new FakeTime();
    const { limit, expired } = limitOf(time, 100);
    limit.pause();
    assertEquals(time.timers, 0);
    await time.tickAsync(pausedMs);
    limit.resume(30);
    await time.tickAsync(1_000);
    assertEquals([expired, time.timers], [[expiresMs], 0], `paused for ${pausedMs} ms`);
  }
});

Deno.test("TimeLimit is not extended by many short pauses", async () => {
  using time = new FakeTime();
  const { limit, expired } = limitOf(time, 100);
  while (expired.length === 0 && limit.leftMs > -1_000) {
    limit.pause();
    limit.resume(30);
    await time.tickAsync(5);
  }
  assertEquals(expired, [100]);
});

Deno.test("humanDuration is less precise for longer times", () => {
  const seconds = [
    -5,
    -1,
    0,
    119,
    125,
    600,
    10_799,
    10_800,
    11_100,
    28_800,
    180_000,
    700_000,
    63_071_999,
    63_072_000,
    3e8,
  ];
  assertEquals(
    seconds.map((count) => humanDuration(count * 1_000)),
    ["<invalid>", "0s", "0s", "119s", "2m5s", "10m", "179m", "3h", "3h5m", "8h", "2d2h", "8d", "729d", "2y", "9y"],
  );
});

Deno.test("a timed controller aborts after its time, or with a parent, and leaves no timer and no listener", () => {
  using time = new FakeTime();
  const parent = new CountedController();
  {
    using late = timedController(1_000, "no answer", parent.signal);
    time.tick(999);
    assertEquals(late.signal.aborted, false);
    time.tick(1);
    assertEquals([late.signal.reason.name, late.signal.reason.message], ["TimeoutError", "no answer"]);
  }
  const left = timedController(1_000, "no answer", parent.signal);
  left[Symbol.dispose]();
  assertEquals([time.timers, parent.listeners], [0, 0]);
  const followed = timedController(1_000, "no answer", parent.signal);
  parent.abort("stop");
  assertEquals([followed.signal.reason, time.timers], ["stop", 0]);
  assertEquals([timedController(1_000, "no answer", parent.signal).signal.reason, time.timers], ["stop", 0]);
});
