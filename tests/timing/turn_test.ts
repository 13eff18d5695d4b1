import { assert, assertEquals, assertFalse } from "@std/assert";
import type { nextTurn as NextTurn } from "../../src/timing/turn.ts";
import { nextTurn, Pacer } from "../../src/timing/turn.ts";

/** The module as it is where there is no `setImmediate`. */
async function withoutImmediate(): Promise<{ readonly nextTurn: typeof NextTurn }> {
  const real = Object.getOwnPropertyDescriptor(globalThis, "setImmediate")!;
  Reflect.deleteProperty(globalThis, "setImmediate");
  try {
    return await import("../../src/timing/turn.ts?without-setImmediate");
  } finally {
    Object.defineProperty(globalThis, "setImmediate", real);
  }
}

for (const [name, load] of [["", () => ({ nextTurn })], [" without setImmediate", withoutImmediate]] as const) {
  Deno.test(`nextTurn${name} comes after promises`, async () => {
    const { nextTurn } = await load();
    const seen: string[] = [];
    const turn = nextTurn().then(() => seen.push("turn"));
    let promise = Promise.resolve();
    for (let i = 0; i < 100; i++) promise = promise.then(() => void seen.push("promise"));
    await turn;
    assertEquals(seen, [...Array(100).fill("promise"), "turn"]);
  });

  Deno.test(`nextTurn${name} resolves for all who ask, in order, and when asked again`, async () => {
    const { nextTurn } = await load();
    const seen: number[] = [];
    await Promise.all([1, 2, 3].map((n) => nextTurn().then(() => void seen.push(n))));
    await nextTurn().then(() => nextTurn()).then(() => void seen.push(4));
    assertEquals(seen, [1, 2, 3, 4]);
  });

  Deno.test(`nextTurn${name} lets timers have their turn`, async () => {
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

Deno.test("Pacer looks at the clock only every few steps", () => {
  const eager = new Pacer(0, 4);
  assertEquals(Array.from({ length: 9 }, () => eager.step()), [
    false,
    false,
    false,
    true,
    false,
    false,
    false,
    true,
    false,
  ]);
});

Deno.test("Pacer gives way when its budget is used up, and then starts anew", async () => {
  const real = performance.now;
  let now = 1_000;
  performance.now = (): number => now;
  try {
    const pacer = new Pacer(5, 1);
    now += 4.9;
    assertFalse(pacer.step());
    now += 0.1;
    assert(pacer.step());
    assert(pacer.step(), "until it has given way");
    await pacer.turn();
    assertFalse(pacer.step());
    now += 5;
    assert(pacer.step());
    pacer.reset();
    assertFalse(pacer.step());
  } finally {
    performance.now = real;
  }
});

Deno.test("Pacer reset also forgets the steps it has counted", () => {
  const pacer = new Pacer(0, 2);
  assertFalse(pacer.step());
  pacer.reset();
  assertFalse(pacer.step());
  assert(pacer.step());
});

Deno.test("Pacer turn waits for the next turn", async () => {
  let turned = false;
  const turn = new Pacer().turn().then(() => turned = true);
  for (let i = 0; i < 10; i++) await Promise.resolve();
  assertFalse(turned);
  await turn;
});
