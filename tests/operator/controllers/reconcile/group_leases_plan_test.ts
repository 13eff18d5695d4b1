import { assert, assertEquals } from "@std/assert";
import { planRanges, rangeStep } from "../../../../src/operator/controllers/reconcile/group_leases.ts";
import { Random } from "../../../../src/testing/fake/random.ts";

const NOBODY: readonly undefined[] = Array(64).fill(undefined);

function shares(members: readonly string[], plan: readonly (string | undefined)[]): number[] {
  return members.map((member) => plan.filter((holder) => holder === member).length);
}

function moves(before: readonly (string | undefined)[], after: readonly (string | undefined)[]): number {
  return before.filter((holder, range) => holder !== after[range]).length;
}

Deno.test("planRanges gives 3 to 20 members at most 1.25 of the mean, through joins and leaves, and moves few", () => {
  const random = new Random(7);
  let members = ["m0"];
  let plan = planRanges(members, NOBODY);
  let largest = 0;
  for (let next = 1; next < 4_000; next++) {
    const before = plan;
    if (members.length < 3 || (members.length < 20 && random.next() < 0.5)) {
      const joined = `m${next * 7919 % 10_007}`;
      members = [...members, joined];
      plan = planRanges(members, before);
      assert(moves(before, plan) <= Math.ceil(64 / members.length), `${moves(before, plan)} moves`);
      assert(before.every((holder, range) => plan[range] === holder || plan[range] === joined), "others moved");
    } else {
      const left = random.pick(members);
      members = members.filter((member) => member !== left);
      plan = planRanges(members, before);
      assert(before.every((holder, range) => holder === left || plan[range] === holder), "others moved");
    }
    const each = shares(members, plan);
    assert(Math.max(...each) - Math.min(...each) <= 1, `${each}`);
    if (members.length >= 3) largest = Math.max(largest, Math.max(...each) * members.length / 64);
    assertEquals(planRanges(members.toReversed(), plan), plan);
  }
  assertEquals(largest, 1.25);
});

Deno.test("planRanges stays the same while parts of it are carried out, in any order", () => {
  const random = new Random(3);
  for (let round = 0; round < 2_000; round++) {
    const members = Array.from({ length: 1 + random.below(9) }, (_, index) => `m${index}`);
    let holders = NOBODY.map(() => random.next() < 0.1 ? undefined : `m${random.below(1 + random.below(10))}`);
    const plan = planRanges(members, holders);
    for (let part = 0; part < 4; part++) {
      holders = holders.map((holder, range) => random.next() < 0.4 ? plan[range] : holder);
      assertEquals(planRanges(members, holders), plan);
    }
  }
});

Deno.test("planRanges moves 105 ranges in a rolling update of five in which each new process starts before an old one ends", () => {
  let members = ["a0", "a1", "a2", "a3", "a4"];
  let plan = planRanges(members, NOBODY);
  let surge = 0;
  for (let index = 0; index < 5; index++) {
    for (const next of [[...members, `b${index}`], [...members.slice(1), `b${index}`]]) {
      const after = planRanges(next, plan);
      surge += moves(plan, after);
      [members, plan] = [next, after];
    }
  }
  assertEquals(surge, 105);
});

Deno.test("planRanges names nobody without members", () => {
  assertEquals(planRanges([], ["gone", undefined]), [undefined, undefined]);
});

Deno.test("rangeStep has a step for each state of a range", () => {
  const steps = (["me", "other", "gone"] as const).map((holder) =>
    (["me", "other", "nobody"] as const).map((target) =>
      [false, true].map((isReleased) => rangeStep(holder, target, isReleased))
    )
  );
  assertEquals(steps, [
    [["hold", "write"], ["release", "write"], ["release", "leave"]],
    [["leave", "leave"], ["leave", "leave"], ["leave", "leave"]],
    [["write", "write"], ["leave", "leave"], ["leave", "leave"]],
  ]);
});
