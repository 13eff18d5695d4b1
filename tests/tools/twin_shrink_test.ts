// The shrinker of `deno task twin`: requests and members that do not matter are left out.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { shrinkCase, smallerBodies } from "../support/twin/shrink_case.ts";
import type { Case, Step } from "../support/twin/step.ts";

function step(body: Step["body"]): Step {
  return { method: "POST", collection: "/c", object: "a", query: {}, body };
}

const CASE: Case = {
  seed: 7,
  kind: "Pod",
  steps: [
    step({ x: 1 }),
    step({
      kind: "Pod",
      metadata: { name: "a", labels: { a: "b" } },
      spec: { list: [{ bad: 1, good: 2 }, { good: 3 }] },
    }),
    step({ y: [1] }),
  ],
};

function isBad({ body }: Step): boolean {
  return JSON.stringify(body).includes('"bad"');
}

Deno.test("twin: a case shrinks to the request and the members that matter", async () => {
  const { steps, seen } = await shrinkCase(
    CASE,
    (steps) => Promise.resolve(steps.some(isBad) ? steps.length : undefined),
  );
  assertEquals(steps.map(({ body }) => body), [{ kind: "Pod", metadata: { name: "a" }, spec: { list: [{ bad: 1 }] } }]);
  assertEquals(seen, 1);
});

Deno.test("twin: a request that another needs stays", async () => {
  const needs = (steps: readonly Step[]): Promise<true | undefined> =>
    Promise.resolve(steps.length >= 2 && steps.some(isBad) ? true : undefined);
  const { steps } = await shrinkCase(CASE, needs);
  assertEquals(steps.length, 2);
  assert(isBad(steps[steps.length - 1]) || isBad(steps[0]));
});

Deno.test("twin: a case is played no more often than asked, and one that shows nothing is an error", async () => {
  let plays = 0;
  await shrinkCase(CASE, (steps) => Promise.resolve(++plays > 0 && steps.some(isBad) ? true : undefined), 12);
  assert(plays <= 12, String(plays));
  await assertRejects(() => shrinkCase(CASE, () => Promise.resolve(undefined)), Error, "seed 7");
});

Deno.test("twin: smaller bodies lack one member or element each, and keep kind and name", () => {
  const bodies = [...smallerBodies({ kind: "Pod", metadata: { name: "a" }, list: [{ b: 1 }] })];
  assertEquals(bodies, [
    { kind: "Pod", metadata: { name: "a" } },
    { kind: "Pod", metadata: { name: "a" }, list: [] },
    { kind: "Pod", metadata: { name: "a" }, list: [{}] },
  ]);
  assertEquals([...smallerBodies(undefined)], []);
});
