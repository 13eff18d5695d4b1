import { assertEquals } from "@std/assert";
import { IdleTurns, inputArrived } from "../../../src/engine/async/idle_turns.ts";
import { deno, outputOf } from "../../support/processes/program.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

/** Idle work, and the times of its steps. */
class Work implements Disposable {
  readonly time = new FakeTime();
  readonly begun = Date.now();
  /** When each step was, in milliseconds since the beginning. */
  readonly at: number[] = [];
  /** The number of steps that there are. */
  left: number;
  readonly turns: IdleTurns = new IdleTurns(() => {
    this.at.push(Date.now() - this.begun);
    return --this.left > 0;
  });

  constructor(steps: number) {
    this.left = steps;
  }

  /** Lets time pass, with input each `ms` milliseconds. */
  async read(times: number, ms: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      await this.time.tickAsync(ms);
      inputArrived();
    }
  }

  [Symbol.dispose](): void {
    this.turns[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}

Deno.test("IdleTurns does its first step 204 ms after it was woken, and each next one 4 ms later", async () => {
  using work = new Work(3);
  await work.time.tickAsync(1_000);
  assertEquals(work.at, [], "nothing was to do");
  work.turns.wake();
  await work.time.tickAsync(203);
  assertEquals(work.at, []);
  await work.time.tickAsync(1);
  assertEquals(work.at, [1_204]);
  await work.time.tickAsync(10_000);
  assertEquals([work.at, work.time.timers], [[1_204, 1_208, 1_212], 0]);
});

Deno.test("IdleTurns that is woken again before its step, or between steps, does nothing sooner or twice", async () => {
  using work = new Work(2);
  work.turns.wake();
  await work.time.tickAsync(150);
  work.turns.wake();
  assertEquals(work.time.timers, 1);
  await work.time.tickAsync(54);
  assertEquals(work.at, [204]);
  work.turns.wake();
  await work.time.tickAsync(1_000);
  assertEquals(work.at, [204, 208]);
});

Deno.test("IdleTurns that is woken after its last step waits as at first", async () => {
  using work = new Work(1);
  work.turns.wake();
  await work.time.tickAsync(1_000);
  work.left = 1;
  work.turns.wake();
  await work.time.tickAsync(1_000);
  assertEquals(work.at, [204, 1_204]);
});

Deno.test("IdleTurns that is woken by its own step, which had no more, waits as at first", async () => {
  using time = new FakeTime();
  const at: number[] = [];
  const begun = Date.now();
  using turns: IdleTurns = new IdleTurns(() => {
    if (at.push(Date.now() - begun) === 1) turns.wake();
    return false;
  });
  turns.wake();
  await time.tickAsync(1_000);
  assertEquals([at, time.timers], [[204, 408], 0]);
});

Deno.test("Input within the 4 ms before a step postpones it by 204 ms, and input before them does not", async () => {
  using work = new Work(3);
  work.turns.wake();
  await work.read(20, 10); // until 200 ms: the last one is before the quiet time
  await work.time.tickAsync(2);
  inputArrived();
  await work.time.tickAsync(205);
  assertEquals(work.at, [], "it waits again from 204 ms on");
  await work.time.tickAsync(1);
  assertEquals(work.at, [408]);
  inputArrived();
  await work.time.tickAsync(207);
  assertEquals(work.at, [408], "input between two steps");
  await work.time.tickAsync(1);
  assertEquals(work.at, [408, 616]);
});

Deno.test("IdleTurns does no step while input arrives each 3 ms, and goes on when it ends", async () => {
  using work = new Work(2);
  work.turns.wake();
  await work.read(1_000, 3);
  assertEquals([work.at, work.time.timers], [[], 1]);
  await work.time.tickAsync(1_000);
  const [first, second] = work.at;
  assertEquals([first > 3_000 && first <= 3_208, second - first], [true, 4]);
});

Deno.test("IdleTurns does nothing after its disposal, before its first step, between steps, and when it is woken", async () => {
  for (const ms of [0, 202, 204, 206]) {
    using work = new Work(100);
    work.turns.wake();
    await work.time.tickAsync(ms);
    work.turns[Symbol.dispose]();
    const done = work.at.length;
    work.turns.wake();
    await work.time.tickAsync(10_000);
    assertEquals([done, work.at.length, work.time.timers], [ms < 204 ? 0 : 1, done, 0], `after ${ms} ms`);
  }
});

Deno.test("A step that disposes its IdleTurns is the last one", async () => {
  using time = new FakeTime();
  let steps = 0;
  const turns: IdleTurns = new IdleTurns(() => {
    turns[Symbol.dispose]();
    return ++steps < 10;
  });
  turns.wake();
  await time.tickAsync(1_000);
  assertEquals([steps, time.timers], [1, 0]);
});

Deno.test("A step that wakes its IdleTurns has one next step", async () => {
  using time = new FakeTime();
  let steps = 0;
  using turns: IdleTurns = new IdleTurns(() => {
    turns.wake();
    return ++steps < 3;
  });
  turns.wake();
  await time.tickAsync(204);
  assertEquals([steps, time.timers], [1, 1]);
  await time.tickAsync(8);
  assertEquals([steps, time.timers], [3, 1]);
});

const PROGRAM = new URL("_pending_idle_work.ts", import.meta.url).pathname;

Deno.test("Deno ends although idle work is pending", async () => {
  assertEquals(await deno(["run", "--quiet", "--no-lock", PROGRAM]), { code: 0, out: "waits\n", err: "" });
});

const node = await outputOf("node", ["--version"]).catch(() => undefined);

Deno.test({
  name: "Node ends although idle work is pending",
  ignore: node === undefined || !navigator.userAgent.startsWith("Deno"), // Deno bundles the program
  fn: async () => {
    const bundled = await Deno.makeTempFile({ suffix: ".mjs" });
    try {
      await deno(["bundle", "--quiet", "--no-lock", "--platform=browser", "--output", bundled, PROGRAM]);
      assertEquals(await outputOf("node", [bundled]), { code: 0, out: "waits\n", err: "" });
    } finally {
      await Deno.remove(bundled);
    }
  },
});
