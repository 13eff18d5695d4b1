import { type Condition, findCondition, setCondition } from "@kube/informer/reconcile";
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { FakeTime } from "../../../support/times/fake_time.ts";

const START = "2026-01-01T00:00:00Z";

Deno.test("setCondition adds a condition with the present time, without fractions of seconds", () => {
  using time = new FakeTime();
  time.tick(999);
  const conditions = setCondition(undefined, { type: "Ready", status: "True", reason: "Done" });
  assertEquals(conditions, [
    { type: "Ready", status: "True", reason: "Done", message: "", lastTransitionTime: START },
  ]);
});

Deno.test("setCondition moves the transition time with the status alone", () => {
  using time = new FakeTime();
  const first = setCondition([], { type: "Ready", status: "False", reason: "Waiting", message: "for pods" });
  time.tick(60_000);
  const second = setCondition(first, { type: "Ready", status: "False", reason: "Stuck", observedGeneration: 2 });
  assertEquals(second, [{
    type: "Ready",
    status: "False",
    reason: "Stuck",
    message: "",
    observedGeneration: 2,
    lastTransitionTime: START,
  }]);
  const third = setCondition(second, { type: "Ready", status: "True", reason: "Done", observedGeneration: 2 });
  assertEquals(third[0].lastTransitionTime, "2026-01-01T00:01:00Z");
  const given = setCondition(third, { ...third[0], status: "Unknown", lastTransitionTime: START });
  assertEquals(given[0].lastTransitionTime, START);
});

Deno.test("setCondition keeps the place of a condition, and does not change the given list", () => {
  const lastTransitionTime = START;
  const before: readonly Condition[] = Object.freeze([
    Object.freeze({ type: "A", status: "True", reason: "R", message: "", lastTransitionTime }),
    Object.freeze({ type: "B", status: "True", reason: "R", message: "", lastTransitionTime }),
  ]);
  const after = setCondition(before, { type: "A", status: "False", reason: "R" });
  assertEquals(after.map(({ type, status }) => `${type}=${status}`), ["A=False", "B=True"]);
  assertEquals(findCondition(after, "B"), before[1]);
  assertEquals(findCondition(after, "C"), undefined);
});

Deno.test("setCondition returns the same list when nothing changes", () => {
  const draft = { type: "Ready", status: "True", reason: "Done", message: "all", observedGeneration: 1 } as const;
  const conditions = setCondition([], draft);
  assertStrictEquals(setCondition(conditions, draft), conditions);
  assertStrictEquals(setCondition(conditions, { ...draft, lastTransitionTime: START }), conditions);
});

Deno.test("setCondition refuses a condition that the server would refuse", () => {
  const draft = { type: "Ready", status: "True", reason: "Done" } as const;
  assertThrows(() => setCondition([], { ...draft, type: "" }), TypeError, "its type is empty");
  assertThrows(() => setCondition([], { ...draft, status: "yes" as "True" }), TypeError, 'it is "yes"');
  for (const reason of ["", "two words", "ends:"]) {
    assertThrows(() => setCondition([], { ...draft, reason }), TypeError, `it is ${JSON.stringify(reason)}`);
  }
});
