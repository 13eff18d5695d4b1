import { assertEquals, assertRejects } from "@std/assert";
import { Checkup, type CheckupLimits, type Finding } from "../../../../src/cli/doctor/checkup/checkup.ts";
import { StatusError } from "../../../../src/api/errors.ts";
import { FakeTime } from "../../../support/fake_time.ts";

const LIMITS: CheckupLimits = { stepMs: 3_000, pluginMs: 5_000, totalMs: 14_000 };
const OPTIONS = { late: "wait", advice: "correct it" };

function begin(signal: AbortSignal = new AbortController().signal): Checkup {
  return new Checkup(signal, LIMITS, () => {});
}

function found(status: Finding["status"], what = "something"): () => Promise<Finding> {
  return () => Promise.resolve({ status, what, remedy: "do this" });
}

/** A check that never ends, whatever its input. */
function silent(): Promise<Finding> {
  return new Promise(() => {});
}

Deno.test("Checkup records each finding, with a remedy for those that are not ok", async () => {
  const checkup = begin();
  assertEquals(await checkup.check("a", OPTIONS, found("ok")), true);
  assertEquals(await checkup.check("b", OPTIONS, found("warn")), true);
  assertEquals(await checkup.check("c", OPTIONS, found("fail")), false);
  assertEquals(checkup.steps.map(({ name, status, what, remedy }) => [name, status, what, remedy]), [
    ["a", "ok", "something", undefined],
    ["b", "warn", "something", "do this"],
    ["c", "fail", "something", "do this"],
  ]);
});

Deno.test("Checkup ends a check at its time limit even if the check ignores its signal", async () => {
  using time = new FakeTime();
  const checkup = begin();
  let given: AbortSignal | undefined;
  const checking = checkup.check("server", OPTIONS, (signal) => {
    given = signal;
    return silent();
  });
  await time.tickAsync(2_999);
  assertEquals([checkup.steps.length, given?.aborted], [0, false]);
  await time.tickAsync(1);
  assertEquals([await checking, given?.aborted], [false, true]);
  const [{ status, what, remedy }] = checkup.steps;
  assertEquals([status, what, remedy], ["fail", "no answer within 3 s", "wait"]);
});

Deno.test("Checkup records the finding that a check names for its own timeout", async () => {
  using time = new FakeTime();
  const checkup = begin();
  const late: Finding = { status: "skip", what: "none in 3 s" };
  const checking = checkup.check("bookmarks", { late, advice: "" }, silent);
  await time.tickAsync(3_000);
  assertEquals(await checking, true);
  assertEquals([checkup.steps[0].status, checkup.exitCode], ["skip", 0]);
});

Deno.test("Checkup ends at its total time limit, however many checks are slow, and names the checks that were not run", async () => {
  const limits = { stepMs: 100, pluginMs: 100, totalMs: 250 };
  const checkup = new Checkup(new AbortController().signal, limits, () => {});
  const startedAt = performance.now();
  for (let i = 1; i <= 6; i++) await checkup.check(`check ${i}`, OPTIONS, silent);
  const ms = performance.now() - startedAt;
  assertEquals(ms >= 240 && ms < 2_000, true, `it took ${ms} ms`);
  const said = checkup.steps.map(({ status, what }) => `${status}: ${what}`);
  assertEquals(said.slice(0, 2), Array(2).fill("fail: no answer within 0.1 s"));
  assertEquals(said.slice(-3), Array(3).fill("skip: not checked, 0.3 s are over"));
});

Deno.test("Checkup exits with 3 when a failure is about connections or rights, else with 1", async () => {
  const checkup = begin();
  assertEquals(checkup.exitCode, 0);
  await checkup.check("a", OPTIONS, found("warn"));
  assertEquals(checkup.exitCode, 0);
  await checkup.check("b", OPTIONS, found("fail"));
  assertEquals(checkup.exitCode, 1);
  const beside = checkup.beside();
  const status = { code: 403, reason: "Forbidden", message: "no" };
  await beside.check("c", OPTIONS, () => Promise.reject(new StatusError("Cannot list", status)));
  assertEquals(beside.steps[0].remedy, "ask for the right to do that");
  checkup.append(beside);
  assertEquals([checkup.exitCode, checkup.steps.map(({ name }) => name)], [3, ["a", "b", "c"]]);
});

Deno.test("Checkup redacts secrets and escapes control characters in all findings", async () => {
  const checkup = begin();
  checkup.hide("hunter2");
  const beside = checkup.beside();
  beside.hide("hunter2-and-more");
  await checkup.check("a", OPTIONS, () => Promise.reject(new Error('Cannot use "hunter2-and-more"\x1b[2J: hunter2')));
  assertEquals(checkup.steps[0].what, `Cannot use "[redacted]"\\u001b[2J: [redacted]`);
});

Deno.test("Checkup rejects with the reason of an interrupt, also while a check ignores its signal", async () => {
  const stop = new AbortController();
  const checkup = begin(stop.signal);
  const checking = checkup.check("a", OPTIONS, silent);
  const reason = new Error("Interrupted");
  stop.abort(reason);
  assertEquals(await assertRejects(() => checking), reason);
  assertEquals(await assertRejects(() => checkup.check("b", OPTIONS, found("ok"))), reason);
  assertEquals(checkup.steps, []);
});
