import { assertEquals, assertRejects } from "@std/assert";
import { StatusError } from "../../../src/engine/api/status.ts";
import { Checkup, type CheckupLimits, expiryOf, type Finding, span } from "../../../src/cli/doctor/checkup.ts";
import { termOfToken } from "../../../src/host/connect/kubeconfig/secrets.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { webToken } from "./_doctor.ts";

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
  assertEquals(
    checkup.steps.map(({ name, status, what, remedy }) => [name, status, what, remedy]),
    [["a", "ok", "something", undefined], ["b", "warn", "something", "do this"], ["c", "fail", "something", "do this"]],
  );
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
  assertEquals([status, what, remedy], ["fail", "no response within 3 s", "wait"]);
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
  using time = new FakeTime();
  const limits = { stepMs: 100, pluginMs: 100, totalMs: 250 };
  const checkup = new Checkup(new AbortController().signal, limits, () => {});
  const checking = (async () => {
    for (let i = 1; i <= 6; i++) await checkup.check(`check ${i}`, OPTIONS, silent);
  })();
  await time.tickAsync(250);
  await checking;
  const said = checkup.steps.map(({ status, what }) => `${status}: ${what}`);
  assertEquals(said.slice(0, 2), Array(2).fill("fail: no response within 0.1 s"));
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
  assertEquals(beside.steps[0].remedy, "ask for this permission");
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

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 1);

Deno.test("expiryOf fails what has expired or is not valid yet, and warns of what expires within a week", () => {
  const year = { fromMs: NOW - 300 * DAY };
  const cases: [Parameters<typeof expiryOf>[0], boolean, string, string][] = [
    [{ ...year, untilMs: NOW + 65 * DAY }, false, "ok", "until 2030-03-07 (65 days)"],
    [{ ...year, untilMs: NOW + 6 * DAY }, false, "warn", "until 2030-01-07 (6 days)"],
    [{ ...year, untilMs: NOW + 6 * DAY }, true, "ok", "until 2030-01-07 (6 days)"],
    [{ ...year, untilMs: NOW - 3 * DAY }, true, "fail", "expired 3 days ago, on 2029-12-29"],
    [{ untilMs: NOW }, false, "fail", "expired 0 s ago, on 2030-01-01"],
    [
      { fromMs: NOW + 5 * DAY, untilMs: NOW + 9 * DAY },
      false,
      "fail",
      "is valid only from 2030-01-06 on, in 5 days",
    ],
    // Another clock may be half a minute ahead.
    [{ fromMs: NOW + 30_000, untilMs: NOW + 99 * DAY }, false, "ok", "until 2030-04-10 (99 days)"],
    // What lives two days is well for most of them.
    [{ fromMs: NOW - DAY, untilMs: NOW + DAY }, false, "ok", "until 2030-01-02 (24 h)"],
  ];
  for (const [term, renews, status, words] of cases) {
    assertEquals(expiryOf(term, NOW, renews), { status: status as "ok", words });
  }
});

Deno.test("span prints a length of time in one unit", () => {
  const said = [59_000, 119_999, 120_000, 7_199_999, 7_200_000, 2 * DAY - 1, 2 * DAY, 3650 * DAY].map(span);
  assertEquals(said, ["59 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days", "3650 days"]);
});

Deno.test("termOfToken reads the expiry of a JSON Web Token, and is undefined for other tokens", () => {
  const at = Math.floor(Date.now() / 1_000) * 1_000;
  const term = termOfToken(webToken(-3_600_000, 3_600_000));
  assertEquals(Math.abs((term?.untilMs ?? 0) - at - 3_600_000) <= 2_000, true);
  assertEquals((term?.untilMs ?? 0) - (term?.fromMs ?? 0), 7_200_000);
  const others = ["", "abc", "a.b", "a.!.c", `a.${btoa("null")}.c`, `a.${btoa('{"exp":"soon"}')}.c`, "a.b.c.d"];
  assertEquals(others.map(termOfToken), others.map(() => undefined));
});
