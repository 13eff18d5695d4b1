import { assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { DecodeError, UnreachableError } from "../../src/api/errors.ts";
import { classify, failed } from "../../src/reflector/failure.ts";
import {
  type Failure,
  type Outcome,
  type ReflectorPhase,
  ShortWatchError,
  transition,
} from "../../src/reflector/phase.ts";
import { expired, refused, TOO_LARGE } from "../_fixtures.ts";

const error = new Error("it went wrong");
const FAILURES: readonly Failure[] = ["expired", "throttled", "unreachable", "refused"];

const listing = (resourceVersion: string): ReflectorPhase => ({ name: "listing", resourceVersion });
const watching = (resourceVersion: string, open = false): ReflectorPhase => ({
  name: "watching",
  resourceVersion,
  open,
});
const waiting = (next: ReflectorPhase, delayMs = 7): ReflectorPhase => ({ name: "waiting", delayMs, next, error });
const stopped: ReflectorPhase = { name: "stopped" };

const failure = (
  failure: Failure,
  resourceVersion: string,
  more: { retryAfterMs?: number; repeated?: boolean; cut?: boolean } = {},
) => ({ type: "failed", failure, error, resourceVersion, ...more }) as Outcome;
const ended = (resourceVersion: string, short = false): Outcome => ({ type: "ended", resourceVersion, short });
const listed = (resourceVersion: string): Outcome => ({ type: "listed", resourceVersion });

/** In, outcome, next, and how often a delay was asked for. */
const TABLE: readonly (readonly [ReflectorPhase, Outcome, ReflectorPhase, number])[] = [
  [listing("0"), listed("5"), watching("5"), 0],
  [listing(""), listed("5"), watching("5"), 0],
  [listing("9"), listed("5"), watching("5"), 0],
  [listing("0"), failure("expired", "0"), listing(""), 0],
  [listing("9"), failure("expired", "9"), listing(""), 0],
  [listing(""), failure("expired", ""), waiting(listing("")), 1],
  ...(["0", "9", ""].flatMap((version) =>
    (["throttled", "unreachable", "refused"] as const).map((kind) =>
      [listing(version), failure(kind, version), waiting(listing(version)), 1] as const
    )
  )),
  ...([true, false].flatMap((open) => [
    [watching("5", open), ended("8"), watching("8"), 0] as const,
    [watching("5", open), failure("expired", "8"), listing("8"), 0] as const,
    [watching("5", open), failure("expired", ""), listing("0"), 0] as const,
    [watching("5", open), failure("expired", "8", { repeated: true }), waiting(listing("8")), 1] as const,
    [watching("5", open), failure("throttled", "8"), waiting(watching("8")), 1] as const,
    [watching("5", open), failure("unreachable", "8"), waiting(watching("8")), 1] as const,
    [watching("5", open), failure("unreachable", "8", { cut: true }), waiting(watching("8")), 1] as const,
    [watching("5", open), failure("refused", "8"), waiting(listing("8")), 1] as const,
    [watching("5", open), failure("refused", ""), waiting(listing("0")), 1] as const,
  ])),
  [waiting(listing("")), { type: "elapsed" }, listing(""), 0],
  [waiting(watching("5")), { type: "elapsed" }, watching("5"), 0],
];

Deno.test("transition leads from each phase, by each way it can end, to the next", () => {
  for (const [phase, outcome, next, delays] of TABLE) {
    let asked = 0;
    const actual = transition(phase, outcome, () => (asked++, 7));
    const what = `${JSON.stringify(phase)} by ${JSON.stringify(outcome)}`;
    assertEquals(actual, next, what);
    assertEquals(asked, delays, what);
  }
});

Deno.test("transition makes a pause between watches that end within a second having said nothing", () => {
  const next = transition(watching("5", true), ended("8", true), () => 7);
  if (next.name !== "waiting") throw new Error(`is ${next.name}`);
  assertEquals([next.delayMs, next.next], [7, watching("8")]);
  assertInstanceOf(next.error, ShortWatchError);
});

Deno.test("transition lists after a pause when watches have ended at once many times in a row", () => {
  for (const [version, listed] of [["8", "8"], ["", "0"]]) {
    const next = transition(
      watching("5", true),
      { type: "ended", resourceVersion: version, short: true, stuck: true },
      () => 7,
    );
    if (next.name !== "waiting") throw new Error(`is ${next.name}`);
    assertEquals([next.delayMs, next.next], [7, listing(listed)]);
    assertInstanceOf(next.error, ShortWatchError);
  }
});

Deno.test("transition waits longer when the server asks for it, and never shorter", () => {
  for (const phase of [listing("9"), watching("9")]) {
    for (const [retryAfterMs, delayMs] of [[3, 7], [7, 7], [90_000, 90_000]]) {
      const next = transition(phase, failure("throttled", "9", { retryAfterMs }), () => 7);
      assertEquals(next, waiting(phase, delayMs));
    }
  }
});

Deno.test("transition stops from everywhere, and stays stopped", () => {
  const phases = [listing("0"), watching("5"), watching("5", true), waiting(listing("0")), stopped];
  const outcomes: Outcome[] = [listed("1"), ended("1"), failure("refused", "1"), { type: "elapsed" }, {
    type: "stopped",
  }];
  for (const phase of phases) assertEquals(transition(phase, { type: "stopped" }, () => 7), stopped);
  for (const outcome of outcomes) assertEquals(transition(stopped, outcome, () => 7), stopped);
});

Deno.test("transition refuses an outcome that a phase can not have", () => {
  const impossible: readonly (readonly [ReflectorPhase, Outcome])[] = [
    [listing("0"), ended("5")],
    [listing("0"), { type: "elapsed" }],
    [watching("5"), listed("5")],
    [watching("5"), { type: "elapsed" }],
    [waiting(listing("0")), listed("5")],
    [waiting(listing("0")), ended("5")],
    ...FAILURES.map((kind) => [waiting(listing("0")), failure(kind, "5")] as const),
  ];
  for (const [phase, outcome] of impossible) {
    const message = `Cannot leave phase "${phase.name}" by outcome "${outcome.type}"`;
    assertThrows(() => transition(phase, outcome, () => 7), Error, message);
  }
});

Deno.test("classify knows the four kinds of failure [F05]", () => {
  const kinds: readonly (readonly [unknown, Failure])[] = [
    [expired(), "expired"],
    [refused(410), "expired"],
    [refused(410, { reason: "Whatever" }), "expired"],
    [refused(500, { reason: "Expired" }), "expired"],
    [refused(500, { reason: "Gone" }), "expired"],
    ...Object.values(TOO_LARGE).map((make) => [make(), "expired"] as const),
    [refused(429), "throttled"],
    [refused(429, { reason: "Whatever" }), "throttled"],
    [refused(503), "throttled"],
    [new UnreachableError("gone"), "unreachable"],
    ...[400, 401, 403, 404, 422, 500, 504].map((code) => [refused(code), "refused"] as const),
    [new DecodeError("what is this"), "refused"],
    [new TypeError("a defect"), "refused"],
    ["thrown text", "refused"],
    [undefined, "refused"],
  ];
  for (const [cause, kind] of kinds) assertEquals(classify(cause), kind, String(cause));
});

Deno.test("failed carries how long the server asks to be left alone, if it asks", () => {
  const asks = refused(429, { retryAfterSeconds: 3 });
  assertEquals(failed(asks, "5"), {
    type: "failed",
    failure: "throttled",
    error: asks,
    resourceVersion: "5",
    retryAfterMs: 3_000,
  });
  assertEquals("retryAfterMs" in failed(refused(429), "5"), false);
});
