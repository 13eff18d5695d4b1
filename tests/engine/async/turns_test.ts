import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { Latch } from "../../../src/engine/async/signals.ts";
import { inTurn, nextTurn, Pacer } from "../../../src/engine/async/turns.ts";
import { withoutImmediate } from "./_without_immediate.ts";

Deno.test("inTurn runs jobs of one object one at a time, in their order, and those of others at once", async () => {
  const [shared, other] = [{}, {}];
  const log: string[] = [];
  const gate = new Latch();
  const job = (name: string) => async (): Promise<string> => {
    log.push(`begin ${name}`);
    await gate.wait();
    log.push(`end ${name}`);
    return name;
  };
  const all = [inTurn(shared, job("a")), inTurn(shared, job("b")), inTurn(other, job("c"))];
  await Promise.resolve();
  assertEquals(log, ["begin a", "begin c"]);
  gate.open();
  assertEquals(await Promise.all(all), ["a", "b", "c"]);
  assertEquals(log.indexOf("begin b") > log.indexOf("end a"), true);
});

Deno.test("inTurn continues after a job that fails", async () => {
  const shared = {};
  const failed = assertRejects(() => inTurn(shared, () => Promise.reject(new Error("no"))), Error, "no");
  assertEquals(await inTurn(shared, () => Promise.resolve(1)), 1);
  await failed;
});

Deno.test("inTurn leaves out a job whose signal aborts while it waits, and keeps later ones behind earlier ones", async () => {
  const shared = {};
  const gate = new Latch();
  const stop = new AbortController();
  let isOver = false;
  const first = inTurn(shared, async () => {
    await gate.wait();
    isOver = true;
  });
  const second = assertRejects(
    () => inTurn(shared, () => Promise.reject(new Error("it was called")), { signal: stop.signal }),
    Error,
    "enough",
  );
  const third = inTurn(shared, () => Promise.resolve(isOver));
  stop.abort(new Error("enough"));
  await second;
  gate.open();
  await first;
  assertEquals(await third, true);
});

for (const [name, load] of [["", () => ({ nextTurn })], [" without setImmediate", withoutImmediate]] as const) {
  Deno.test(`nextTurn${name} resolves after microtasks`, async () => {
    const { nextTurn } = await load();
    const seen: string[] = [];
    const turn = nextTurn().then(() => seen.push("turn"));
    let promise = Promise.resolve();
    for (let i = 0; i < 100; i++) promise = promise.then(() => void seen.push("promise"));
    await turn;
    assertEquals(seen, [...Array(100).fill("promise"), "turn"]);
  });

  Deno.test(`nextTurn${name} resolves for all callers, in order, and when called again`, async () => {
    const { nextTurn } = await load();
    const seen: number[] = [];
    await Promise.all([1, 2, 3].map((n) => nextTurn().then(() => void seen.push(n))));
    await nextTurn().then(() => nextTurn()).then(() => void seen.push(4));
    assertEquals(seen, [1, 2, 3, 4]);
  });

  Deno.test(`nextTurn${name} lets timers fire`, async () => {
    const { nextTurn } = await load();
    let fired = false;
    setTimeout(() => fired = true, 0);
    let turns = 0;
    while (!fired && turns < 1_000_000) {
      await nextTurn();
      turns++;
    }
    assert(fired);
  });
}

type PacerLike = Pick<Pacer, "turn" | "turns">;

/** Pacers that schedule their turns as they do where there is no `setImmediate`. */
async function pacerWithoutImmediate(): Promise<
  { readonly Pacer: new (budgetMs?: number, every?: number) => PacerLike }
> {
  const { scheduleTurn } = await withoutImmediate();
  return {
    Pacer: class extends Pacer {
      constructor(budgetMs?: number, every?: number) {
        super(budgetMs, every, scheduleTurn);
      }
    },
  };
}

/** Makes `performance.now()` say what a test says. */
class FakeClock implements Disposable {
  readonly #real = performance.now;
  /** The number of reads. */
  looks = 0;
  #now = 1_000;

  constructor() {
    performance.now = (): number => {
      this.looks++;
      return this.#now;
    };
  }

  goesOn(ms: number): void {
    this.#now += ms;
  }

  [Symbol.dispose](): void {
    performance.now = this.#real;
  }
}

Deno.test("Pacer reads the clock only every few steps", () => {
  using clock = new FakeClock();
  const pacer = new Pacer(5, 4);
  const before = clock.looks;
  for (let i = 0; i < 11; i++) assertFalse(pacer.step());
  assertEquals(clock.looks - before, 2);
  clock.goesOn(5);
  assert(pacer.step());
});

Deno.test("Pacer step is true when the time budget of a turn is used up, and the budget is renewed", async () => {
  using clock = new FakeClock();
  const pacer = new Pacer(5, 1);
  clock.goesOn(4.9);
  assertFalse(pacer.step());
  clock.goesOn(0.1);
  assert(pacer.step());
  assert(pacer.step(), "until it has given way");
  assertEquals(pacer.turns, 0);
  await pacer.turn();
  assertEquals(pacer.turns, 1);
  assertFalse(pacer.step());
  clock.goesOn(5);
  assert(pacer.step());
});

Deno.test("Pacer turn also resets the count of steps", async () => {
  const pacer = new Pacer(0, 2);
  assertFalse(pacer.step());
  await pacer.turn();
  assertFalse(pacer.step());
  assert(pacer.step());
});

for (const [name, load] of [["", () => ({ Pacer })], [" without setImmediate", pacerWithoutImmediate]] as const) {
  Deno.test(`Pacer${name} turn waits for the next turn`, async () => {
    const { Pacer } = await load();
    let turned = false;
    const turn = new Pacer().turn().then(() => turned = true);
    for (let i = 0; i < 10; i++) await Promise.resolve();
    assertFalse(turned);
    await turn;
  });

  Deno.test(`Pacer${name} resumes waiting callers in order, and in a later turn when one has used up its budget`, async () => {
    const { Pacer } = await load();
    using clock = new FakeClock();
    const pacer = new Pacer(5, 1);
    const seen: string[] = [];
    /** Works for so long in each turn until it has worked three times. */
    const worker = async (name: string, ms: number): Promise<void> => {
      for (let i = 0; i < 3; i++) {
        await pacer.turn();
        seen.push(`${name} in ${pacer.turns}`);
        clock.goesOn(ms);
      }
    };
    await Promise.all([worker("a", 5), worker("b", 2), worker("c", 3), worker("d", 0)]);
    assertEquals(seen, [
      "a in 1",
      "b in 2",
      "c in 3",
      "d in 4",
      "a in 5",
      "b in 6",
      "c in 7",
      "d in 8",
      "a in 9",
      "b in 10",
      "c in 10",
      "d in 11",
    ]);
  });

  Deno.test(`Pacer${name} resumes as many callers in one turn as its budget allows`, async () => {
    const { Pacer } = await load();
    using clock = new FakeClock();
    const pacer = new Pacer(5, 1);
    const seen: number[][] = [];
    await Promise.all(Array.from({ length: 7 }, async (_, i) => {
      await pacer.turn();
      (seen[pacer.turns] ??= []).push(i);
      clock.goesOn(2);
    }));
    assertEquals(seen.slice(1), [[0, 1, 2], [3, 4, 5], [6]]);
  });

  Deno.test(`Pacer${name} lets timers fire between two waiting callers`, async () => {
    const { Pacer } = await load();
    const pacer = new Pacer(0, 1);
    let fired = false;
    setTimeout(() => fired = true, 0);
    let turns = 0;
    const worker = async (): Promise<void> => {
      while (!fired && turns < 1_000_000) {
        await pacer.turn();
        turns++;
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    assert(fired);
  });
}

Deno.test("Pacer onTurn does not call a callback that was withdrawn, and calls those after it", async () => {
  const pacer = new Pacer(5, 1);
  const seen: string[] = [];
  const leave = ["a", "b", "c"].map((name) => pacer.onTurn(() => seen.push(name)));
  leave[0]();
  leave[1]();
  await pacer.turn();
  assertEquals([seen, pacer.turns], [["c"], 1]);
  pacer.onTurn(() => seen.push("d"))();
  await pacer.turn();
  assertEquals([seen, pacer.turns], [["c"], 2]);
});

Deno.test("Pacer onTurn calls a callback that was added after a turn whose callbacks had all been withdrawn", async () => {
  const pacer = new Pacer(5, 1);
  pacer.onTurn(() => {})();
  await nextTurn();
  assertEquals(pacer.turns, 1);
  await pacer.turn();
  assertEquals(pacer.turns, 2);
});

Deno.test("Pacer makes a caller wait in a turn whose budget another caller has used up", async () => {
  using clock = new FakeClock();
  const pacer = new Pacer(5, 64);
  clock.goesOn(5);
  for (let i = 0; i < 63; i++) assertFalse(pacer.step());
  assert(pacer.step());
  const turn = pacer.turn();
  assert(pacer.step(), "at once, not after 64 steps of its own");
  await turn;
  assertFalse(pacer.step());
});
