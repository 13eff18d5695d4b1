import { assert, assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStrictEquals } from "@std/assert";
import {
  abortReason,
  DerivedController,
  inTurn,
  isAbortOf,
  Latch,
  nextTurn,
  Pacer,
} from "../../../src/engine/async/signals.ts";
import { WaitError } from "../../../src/engine/informer/status.ts";
import { collectHeap } from "../../support/heap.ts";
import { CountedController } from "../../support/listeners.ts";
import { withoutImmediate } from "./_without_immediate.ts";

Deno.test("DerivedController aborts with its parent, for the same reason", () => {
  const parent = new AbortController();
  using derived = new DerivedController(parent.signal);
  assertEquals(derived.signal.aborted, false);
  const reason = new Error("over");
  parent.abort(reason);
  assertStrictEquals(derived.signal.reason, reason);
});

Deno.test("DerivedController is aborted from the start when its parent is, and adds no listener to it", () => {
  const parent = new CountedController();
  const reason = new Error("over before");
  parent.abort(reason);
  using derived = new DerivedController(parent.signal);
  assertStrictEquals(derived.signal.reason, reason);
  assertEquals(parent.listeners, 0);
});

Deno.test("DerivedController does not abort its parent, and keeps the first of several reasons", () => {
  const parent = new AbortController();
  using derived = new DerivedController(parent.signal);
  const reason = new Error("mine");
  derived.abort(reason);
  assertEquals(parent.signal.aborted, false);
  parent.abort(new Error("too late"));
  assertStrictEquals(derived.signal.reason, reason);
});

Deno.test("DerivedController leaves no listener on its parent once aborted or disposed", () => {
  const parent = new CountedController();
  const aborted = new DerivedController(parent.signal);
  assertEquals(parent.listeners, 1);
  aborted.abort();
  assertEquals(parent.listeners, 0);
  {
    using _derived = new DerivedController(parent.signal);
    assertEquals(parent.listeners, 1);
  }
  assertEquals(parent.listeners, 0);
  aborted[Symbol.dispose]();
  assertEquals([parent.listeners, parent.signal.aborted], [0, false]);
});

Deno.test("DerivedController aborts its signal on disposal, with or without a parent", () => {
  for (const parent of [undefined, new AbortController()]) {
    const derived = new DerivedController(parent?.signal);
    let aborts = 0;
    derived.signal.addEventListener("abort", () => aborts++);
    derived[Symbol.dispose]();
    derived[Symbol.dispose]();
    assertEquals(aborts, 1);
    assertInstanceOf(derived.signal.reason, DOMException);
    assertEquals(derived.signal.reason.name, "AbortError");
  }
});

Deno.test("DerivedController aborts with the first of several parents, and leaves no listener on any of them", () => {
  for (const when of ["before", "after"]) {
    const parents = [new CountedController(), new CountedController()];
    if (when === "before") parents[1].abort(new Error("second"));
    using derived = new DerivedController(undefined, ...parents.map(({ signal }) => signal));
    parents[1].abort(new Error("second"));
    parents[0].abort(new Error("too late"));
    assertEquals(derived.signal.reason.message, "second");
    assertEquals(parents.map(({ listeners }) => listeners), [0, 0]);
  }
});

Deno.test("DerivedController that is released lets go of its parent, and does not abort", () => {
  const parent = new CountedController();
  const controller = new DerivedController(parent.signal);
  controller.release();
  parent.abort();
  assertEquals([parent.listeners, controller.signal.aborted], [0, false]);
});

Deno.test("isAbortOf recognizes the reason of a signal, and errors that carry it, once the signal has aborted", () => {
  const stop = new AbortController();
  const reason = new Error("stop");
  const failure = { resource: "pods", state: "live", stateMs: 0 } as const;
  const errors = [
    reason,
    new WaitError("given up", { ...failure, reason }),
    new WaitError("given up", { ...failure, reason: new Error("stop") }),
    new WaitError("stopped", failure),
    new Error("stop"),
    { reason },
    undefined,
  ];
  assertEquals(errors.map((error) => isAbortOf(stop.signal, error)), errors.map(() => false));
  stop.abort(reason);
  assertEquals(errors.map((error) => isAbortOf(stop.signal, error)), [true, true, false, false, false, false, false]);
});

Deno.test("Latch open resolves all waits, pending and later ones", async () => {
  const latch = new Latch();
  assertFalse(latch.isOpen);
  const waits = [latch.wait(), latch.wait()];
  latch.open();
  assert(latch.isOpen);
  await Promise.all([...waits, latch.wait()]);
});

Deno.test("Latch fail rejects all waits, pending and later ones, with one error", async () => {
  const latch = new Latch();
  const wait = latch.wait();
  const error = new Error("will not happen");
  latch.fail(error);
  assertFalse(latch.isOpen);
  assertEquals(await Promise.allSettled([wait, latch.wait()]), [
    { status: "rejected", reason: error },
    { status: "rejected", reason: error },
  ]);
});

Deno.test("Latch counts only the first of open and fail", async () => {
  const opened = new Latch();
  opened.open();
  opened.fail(new Error("too late"));
  await opened.wait();
  assert(opened.isOpen);
  const failed = new Latch();
  failed.fail(undefined);
  failed.open();
  assertFalse(failed.isOpen);
  assertEquals(await Promise.allSettled([failed.wait()]), [{ status: "rejected", reason: undefined }]);
});

Deno.test("Latch notify settles pending waits only; the latch may still open", async () => {
  const latch = new Latch();
  const wait = latch.wait();
  latch.notify(new Error("for a reason"));
  await assertRejects(() => wait, Error, "for a reason");
  const resolved = latch.wait();
  latch.notify();
  await resolved;
  const next = latch.wait();
  latch.open();
  await next;
});

Deno.test("Latch wait rejects with the reason of its signal, and leaves no listener behind", async (t) => {
  await t.step("aborted before", async () => {
    const stop = new CountedController();
    stop.abort(new Error("before"));
    await assertRejects(() => new Latch().wait(stop), Error, "before");
    assertEquals(stop.listeners, 0);
  });
  await t.step("aborted while it waits; the others still wait", async () => {
    const latch = new Latch();
    const stop = new AbortController();
    const [stopped, other] = [latch.wait(stop), latch.wait()];
    stop.abort(new Error("meanwhile"));
    await assertRejects(() => stopped, Error, "meanwhile");
    latch.open();
    await other;
  });
  for (const end of ["open", "fail", "notify"] as const) {
    await t.step(`${end}, then aborted`, async () => {
      const latch = new Latch();
      const stop = new CountedController();
      const wait = latch.wait(stop);
      assertEquals(stop.listeners, 1);
      latch[end](new Error(end));
      assertEquals(stop.listeners, 0);
      stop.abort(new Error("too late"));
      const [outcome] = await Promise.allSettled([wait]);
      assertEquals(
        outcome.status === "rejected" ? outcome.reason.message : outcome.status,
        {
          open: "fulfilled",
          fail: "fail",
          notify: "notify",
        }[end],
      );
    });
  }
  await t.step("open before: an aborted signal changes nothing", async () => {
    const latch = new Latch();
    latch.open();
    await latch.wait({ signal: AbortSignal.abort() });
  });
});

Deno.test("Latch keeps no reference to a wait that has ended", async (t) => {
  for (const end of ["open", "fail", "notify", "abort"] as const) {
    await t.step(end, async () => {
      const latch = new Latch();
      const stop = new AbortController();
      const wait = (): WeakRef<Promise<unknown>> => {
        const waited = latch.wait(stop);
        waited.catch(() => {});
        return new WeakRef(waited);
      };
      const waited = wait();
      await collectHeap();
      assert(waited.deref() !== undefined, "while it waits");
      if (end === "abort") stop.abort();
      else latch[end](new Error(end));
      await collectHeap();
      assertEquals([waited.deref(), latch.isOpen], [undefined, end === "open"]);
    });
  }
});

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

Deno.test("abortReason creates one AbortError, which a signal that aborted with it has", () => {
  const paused = abortReason("The reflector was paused");
  assertEquals([paused().name, paused().message], ["AbortError", "The reflector was paused"]);
  assertStrictEquals(AbortSignal.abort(paused()).reason, paused());
});
