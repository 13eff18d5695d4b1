import { assert, assertEquals } from "@std/assert";
import { nextTurn } from "../../src/async/next_turn.ts";
import { withoutImmediate } from "./_without_immediate.ts";

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
