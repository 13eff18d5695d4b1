import { assertEquals } from "@std/assert";
import { StateKeeper } from "../../../../src/engine/informer/sync/state_keeper.ts";
import type { AttemptHistory } from "../../../../src/engine/reflector/transition.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";

Deno.test("StateKeeper counts the time in a state from when that was entered, not from a repetition of it", () => {
  using time = new FakeTime();
  const state = new StateKeeper();
  time.tick(1_000);
  state.stopped();
  assertEquals(state.stateMs, 0);
  time.tick(500);
  state.stopped();
  assertEquals(state.stateMs, 500);
});

Deno.test("StateKeeper has no time of the next request once it is paused", () => {
  using _time = new FakeTime();
  const state = new StateKeeper();
  const next = { name: "listing", resourceVersion: "0", by: "pages", history: {} as AttemptHistory } as const;
  state.entered(next, false);
  state.entered({ name: "waiting", delayMs: 1_000, next, error: new Error("503") }, false);
  assertEquals(state.retryAt?.getTime(), Date.now() + 1_000);
  state.paused();
  assertEquals([state.state, state.retryAt], ["paused", undefined]);
});
