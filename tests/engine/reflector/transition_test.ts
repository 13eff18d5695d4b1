import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import { DecodeError, MemoryLimitError, UnreachableError } from "../../../src/engine/api/status.ts";
import {
  type AttemptHistory,
  classify,
  failed,
  type FailedOutcome,
  type Failure,
  firstPhase,
  type ListingPhase,
  NO_HISTORY,
  type Outcome,
  type PausedPhase,
  type ReflectorPhase,
  RequestRateError,
  ShortWatchError,
  transition,
  type TransitionRules,
  type WaitingPhase,
  type WatchFacts,
  type WatchingPhase,
} from "../../../src/engine/reflector/transition.ts";
import { expired, refused, TOO_LARGE } from "../../support/sources/fixtures.ts";

const error = new Error("it went wrong");
const FAILURES: readonly Failure[] = ["expired", "throttled", "unreachable", "full", "refused"];

type More = Partial<AttemptHistory>;

const listing = (resourceVersion: string, more: More = {}): ListingPhase => ({
  name: "listing",
  resourceVersion,
  by: more.pagesOnly === false ? "stream" : "pages",
  history: { ...NO_HISTORY, pagesOnly: true, ...more },
});
const streaming = (resourceVersion: string, more: More = {}) => listing(resourceVersion, { pagesOnly: false, ...more });
const watching = (resourceVersion: string, more: More = {}, open = false): WatchingPhase => ({
  name: "watching",
  resourceVersion,
  open,
  after: "watch",
  history: { ...NO_HISTORY, pagesOnly: true, ...more },
});
/** The watch after a list in pages. */
const listedInPages = (version: string, more: More = {}): WatchingPhase => ({
  ...watching(version, more),
  after: "pages",
});
const waiting = (next: ListingPhase | WatchingPhase, delayMs = 7): WaitingPhase => ({
  name: "waiting",
  delayMs,
  next,
  error,
});
/** A wait for which nothing went wrong. */
const pausing = (next: ListingPhase | WatchingPhase): WaitingPhase => ({ ...waiting(next), error: undefined });
const stopped: ReflectorPhase = { name: "stopped" };
const paused = (next: PausedPhase["next"]): PausedPhase => ({ name: "paused", next });

/** Rules whose waits say why they are there: `asked` has `"unreachable 2"`, `"reconnect"`. */
class NotingRules implements TransitionRules {
  readonly streamingList: TransitionRules["streamingList"];
  readonly asked: string[] = [];
  /** The wait of a request that would begin without one. */
  limitMs = 0;

  constructor(streamingList: TransitionRules["streamingList"] = "auto") {
    this.streamingList = streamingList;
  }

  reconnectMs(): number {
    this.asked.push("reconnect");
    return 7;
  }

  backOffMs(failure: Failure, attempt: number): number {
    this.asked.push(`${failure} ${attempt}`);
    return 7;
  }

  admitMs(): number {
    return this.limitMs;
  }
}

const LASTED: WatchFacts = { opened: true, delivered: true, lastedMs: 60_000, timeoutMs: 120_000 };
const REFUSED: WatchFacts = { opened: false, delivered: false, lastedMs: 5, timeoutMs: 120_000 };
const BRIEF: WatchFacts = { opened: true, delivered: false, lastedMs: 5, timeoutMs: 120_000 };
const QUIET: WatchFacts = { opened: true, delivered: false, lastedMs: 1_500, timeoutMs: 120_000 };

const failure = (kind: Failure, resourceVersion: string, more: Partial<FailedOutcome> = {}): FailedOutcome => ({
  type: "failed",
  failure: kind,
  error,
  resourceVersion,
  ...more,
});
const ended = (resourceVersion: string, watch: WatchFacts = { ...LASTED, lastedMs: 120_000 }): Outcome => ({
  type: "ended",
  resourceVersion,
  watch,
});
const listed = (resourceVersion: string): Outcome => ({ type: "listed", resourceVersion });
const relist: Outcome = { type: "relist" };
const pause = (resourceVersion: string, lastedMs = 0, watch?: WatchFacts): Outcome => ({
  type: "paused",
  resourceVersion,
  lastedMs,
  watch,
});

/** In, outcome, next, and which wait was asked for. */
const TABLE: readonly (readonly [ReflectorPhase, Outcome, ReflectorPhase, string?])[] = [
  [listing("0"), listed("5"), listedInPages("5")],
  [listing(""), listed("5"), listedInPages("5")],
  [listing("9", { failures: 3 }), listed("5"), listedInPages("5", { failures: 3 })],
  [streaming("0", { brokenStreams: 1 }), listed("5"), { ...watching("5", { pagesOnly: false }), after: "stream" }],
  [listing("0"), failure("expired", "0"), listing("")],
  [listing("9"), failure("expired", "9"), listing("")],
  [listing(""), failure("expired", ""), waiting(listing("", { expirations: 1 })), "expired 0"],
  ...["0", "9", ""].flatMap((version) =>
    (["throttled", "unreachable", "full", "refused"] as const).flatMap((kind) =>
      [0, 4].map((failures) =>
        [
          listing(version, { failures }),
          failure(kind, version),
          waiting(listing(version, { failures: failures + 1 })),
          `${kind} ${failures}`,
        ] as const
      )
    )
  ),
  // Streaming lists.
  [streaming("9"), failure("expired", "9"), streaming("")],
  [streaming("9"), failure("unreachable", "9"), waiting(streaming("9", { failures: 1 })), "unreachable 0"],
  [streaming("9"), failure("throttled", "9"), waiting(streaming("9", { failures: 1 })), "throttled 0"],
  [streaming("9"), failure("full", "9"), waiting(streaming("9", { failures: 1 })), "full 0"],
  [streaming("9"), failure("refused", "9"), { ...streaming("9"), by: "pages" }],
  [{ ...streaming("9"), by: "pages" }, failure("refused", "9"), waiting(streaming("9", { failures: 1 })), "refused 0"],
  [streaming("9"), failure("refused", "9", { stream: "unsupported" }), listing("9")],
  [streaming("9"), failure("unreachable", "9", { stream: "endless" }), listing("9")],
  [streaming("9"), failure("unreachable", "9", { stream: "short" }), {
    ...streaming("9", { brokenStreams: 1 }),
    by: "pages",
  }],
  [
    streaming("9"),
    failure("unreachable", "9", { stream: "broken" }),
    waiting(streaming("9", { brokenStreams: 1, failures: 1 })),
    "unreachable 0",
  ],
  [
    streaming("9", { brokenStreams: 1 }),
    failure("unreachable", "9", { stream: "broken" }),
    waiting(listing("9", { brokenStreams: 2, failures: 1 })),
    "unreachable 0",
  ],
  // Watches that the server ended.
  [watching("5"), ended("8"), watching("8")],
  [watching("5"), ended("8", { ...LASTED, lastedMs: 119_000 }), watching("8")],
  [watching("5"), ended("8", { ...LASTED, lastedMs: 118_999 }), pausing(watching("8")), "reconnect"],
  [watching("5"), ended("8", { ...BRIEF, delivered: true }), pausing(watching("8")), "reconnect"],
  [
    watching("5", { failures: 2 }),
    ended("8", QUIET),
    pausing(watching("8", { failures: 2 })),
    "reconnect",
  ],
  [watching("5", { failures: 2, expirations: 2, shortWatches: 2 }), ended("8"), watching("8")],
  // Watches that failed.
  [watching("5"), failure("unreachable", "8", { watch: LASTED }), waiting(watching("8")), "reconnect"],
  [watching("5"), failure("unreachable", "8", { watch: QUIET }), waiting(watching("8")), "reconnect"],
  [
    watching("5", { failures: 5 }),
    failure("unreachable", "8", { watch: { ...BRIEF, delivered: true } }),
    waiting(watching("8")),
    "reconnect",
  ],
  ...[BRIEF, REFUSED].map((watch) =>
    [
      watching("5", { failures: 2 }),
      failure("unreachable", "8", { watch }),
      waiting(watching("8", { failures: 3 })),
      "unreachable 2",
    ] as const
  ),
  [
    watching("5", { failures: 2 }),
    failure("throttled", "8", { watch: REFUSED }),
    waiting(watching("8", { failures: 3 })),
    "throttled 2",
  ],
  [
    watching("5", { failures: 2 }),
    failure("throttled", "8", { watch: LASTED }),
    waiting(watching("8", { failures: 1 })),
    "throttled 0",
  ],
  [watching("5"), failure("full", "8", { watch: BRIEF }), waiting(listing("8", { failures: 1 })), "full 0"],
  [watching("5"), failure("refused", "8", { watch: BRIEF }), waiting(listing("8", { failures: 1 })), "refused 0"],
  [watching("5"), failure("refused", "", { watch: BRIEF }), waiting(listing("0", { failures: 1 })), "refused 0"],
  [watching("5"), failure("expired", "8", { watch: REFUSED }), pausing(listing("8", { expirations: 1 })), "expired 0"],
  [watching("5"), failure("expired", "", { watch: REFUSED }), pausing(listing("0", { expirations: 1 })), "expired 0"],
  [
    watching("5", { expirations: 1 }),
    failure("expired", "8", { watch: { ...LASTED, lastedMs: 9_999 } }),
    waiting(listing("8", { expirations: 2 })),
    "expired 1",
  ],
  [
    watching("5", { expirations: 1 }),
    failure("expired", "8", { watch: { ...LASTED, lastedMs: 10_000 } }),
    pausing(listing("8", { expirations: 1 })),
    "expired 0",
  ],
  [watching("5", { failures: 1 }, true), relist, listing("", { failures: 1 })],
  [waiting(listing("")), { type: "elapsed" }, listing("")],
  [waiting(watching("5")), { type: "elapsed" }, watching("5")],
  // Pauses.
  [listing("0"), pause(""), paused(listing("0"))],
  [streaming("9", { failures: 2 }), pause("9"), paused(streaming("9", { failures: 2 }))],
  [{ ...listedInPages("5"), after: "stream" }, pause("5"), paused(watching("5"))],
  [watching("5", { failures: 2 }, true), pause("8", 60_000, LASTED), paused(watching("8"))],
  [watching("5", { failures: 2 }, true), pause("8", 5, BRIEF), paused(watching("8", { failures: 2 }))],
  [{ ...watching("5"), relist: error }, pause("8"), paused(listing(""))],
  [waiting(watching("5")), pause("5", 3), paused(waiting(watching("5"), 4))],
  [waiting(watching("5")), pause("5", 9), paused(waiting(watching("5"), 0))],
  [paused(listing("")), { type: "resumed" }, listing("")],
  [paused(watching("8")), { type: "resumed" }, watching("8")],
  [paused(waiting(watching("5"), 4)), { type: "resumed" }, waiting(watching("5"), 4)],
];

Deno.test("transition leads from each phase, by each outcome, to the next phase", () => {
  for (const [phase, outcome, next, asked] of TABLE) {
    const rules = new NotingRules();
    const what = `${JSON.stringify(phase)} by ${JSON.stringify(outcome)}`;
    assertEquals(transition(phase, outcome, rules), next, what);
    assertEquals(rules.asked, asked === undefined ? [] : [asked], what);
  }
});

Deno.test("transition never lists in pages when streaming lists are required, whatever happens to them", () => {
  for (const stream of [undefined, "unsupported", "endless", "short", "broken"] as const) {
    for (const kind of ["refused", "unreachable"] as const) {
      const next = transition(streaming("9"), failure(kind, "9", { stream }), new NotingRules("on"));
      assertEquals(next, waiting(streaming("9", { failures: 1 })), `${stream} ${kind}`);
    }
  }
});

Deno.test("transition lists the newest state after the server has refused a version as malformed", () => {
  for (const [version, next] of [["x", ""], ["9", ""], ["0", "0"], ["", ""]]) {
    const outcome = failure("refused", version, { error: refused(400) });
    const phase = transition(listing(version), outcome, new NotingRules());
    assertEquals(phase.name === "waiting" && phase.next.resourceVersion, next, version);
  }
});

Deno.test("transition backs off between watches that end within a second without an event, and lists after eight of them", () => {
  let phase = watching("5");
  const rules = new NotingRules();
  for (let attempt = 0; attempt < 16; attempt++) {
    const next = transition(phase, ended("8", BRIEF), rules);
    if (next.name !== "waiting") throw new Error(`is ${next.name}`);
    assertInstanceOf(next.error, ShortWatchError);
    assertEquals(next.next.name, attempt % 8 === 7 ? "listing" : "watching", `attempt ${attempt}`);
    assertEquals(next.next.resourceVersion, "8");
    phase = watching("8", next.next.history);
  }
  assertEquals(rules.asked, Array.from({ length: 16 }, (_, attempt) => `refused ${attempt}`));
  const delivered = transition(watching("8", { shortWatches: 7 }), ended("8", { ...BRIEF, delivered: true }), rules);
  assertEquals(delivered, pausing(watching("8")));
});

Deno.test("transition waits longer when the server asks for it, never shorter", () => {
  for (const phase of [listing("9"), watching("9")]) {
    for (const [retryAfterMs, delayMs] of [[3, 7], [7, 7], [90_000, 90_000]]) {
      const next = transition(phase, failure("throttled", "9", { retryAfterMs }), new NotingRules());
      assertEquals(next, waiting({ ...phase, history: { ...phase.history, failures: 1 } }, delayMs));
    }
  }
});

Deno.test("transition delays a request that would start without a wait only where the rules say so", () => {
  const rules = new NotingRules();
  rules.limitMs = 500;
  const next = transition(listing("0"), listed("5"), rules);
  assert(next.name === "waiting" && next.error instanceof RequestRateError);
  assertEquals([next.delayMs, next.next], [500, listedInPages("5")]);
  const again = transition(next, { type: "elapsed" }, rules);
  assert(again.name === "waiting" && again.error instanceof RequestRateError);
  assertEquals(again.next, next.next);
  rules.limitMs = 0;
  assertEquals(transition(next, { type: "elapsed" }, rules), next.next);
  rules.limitMs = 500;
  // A watch that reads on from a streaming list is no request; a request after a wait has waited.
  assertEquals(transition(streaming("0"), listed("5"), rules).name, "watching");
  assertEquals(transition(waiting(listing("0")), { type: "elapsed" }, rules), listing("0"));
  assertEquals(transition(waiting(watching("5"), 0), { type: "elapsed" }, rules).name, "waiting");
  assertEquals(transition(paused(watching("5")), { type: "resumed" }, rules).name, "waiting");
  const failed = transition(listing("9"), failure("expired", "9"), rules);
  assert(failed.name === "waiting" && failed.error instanceof RequestRateError);
  assertEquals([failed.next, failed.error.cause], [listing(""), error]);
});

Deno.test("transition goes from every phase to stopped, and stays there", () => {
  const phases = [
    listing("0"),
    watching("5"),
    watching("5", {}, true),
    waiting(listing("0")),
    paused(listing("0")),
    stopped,
  ];
  const outcomes: Outcome[] = [listed("1"), ended("1"), failure("refused", "1"), { type: "elapsed" }, relist];
  for (const phase of phases) assertEquals(transition(phase, { type: "stopped" }, new NotingRules()), stopped);
  for (const outcome of outcomes) assertEquals(transition(stopped, outcome, new NotingRules()), stopped);
});

Deno.test("transition refuses an outcome that its phase cannot have", () => {
  const impossible: readonly (readonly [ReflectorPhase, Outcome])[] = [
    [listing("0"), ended("5")],
    [listing("0"), relist],
    [listing("0"), { type: "elapsed" }],
    [watching("5"), listed("5")],
    [watching("5"), { type: "elapsed" }],
    [waiting(listing("0")), listed("5")],
    [waiting(listing("0")), relist],
    [waiting(listing("0")), ended("5")],
    [watching("5"), { type: "resumed" }],
    [paused(watching("5")), pause("5")],
    [paused(watching("5")), { type: "elapsed" }],
    ...FAILURES.map((kind) => [waiting(listing("0")), failure(kind, "5")] as const),
  ];
  for (const [phase, outcome] of impossible) {
    const message = `Cannot leave phase "${phase.name}" by outcome "${outcome.type}"`;
    assertThrows(() => transition(phase, outcome, new NotingRules()), Error, message);
  }
});

Deno.test("transition starts at most six requests in a row without a wait, unless a watch lasts its time", () => {
  const facts = fc.record({
    opened: fc.boolean(),
    delivered: fc.boolean(),
    lastedMs: fc.constantFrom(0, 500, 1_000, 5_000, 20_000, 119_500, 121_000),
    timeoutMs: fc.constant(120_000),
  }).map((watch) => watch.opened ? watch : { ...watch, delivered: false });
  const failures = fc.constantFrom(...FAILURES);
  const streams = fc.constantFrom(undefined, "unsupported", "endless", "short", "broken" as const);
  const step = fc.record({ ok: fc.boolean(), kind: failures, watch: facts, stream: streams });
  fc.assert(
    fc.property(fc.constantFrom("auto", "on", "off" as const), fc.array(step, { maxLength: 60 }), (mode, steps) => {
      const rules = new NotingRules(mode);
      let phase: ReflectorPhase = firstPhase("", rules);
      let unwaited = 0;
      for (const { ok, kind, watch, stream } of steps) {
        if (phase.name === "waiting") {
          unwaited = 0;
          phase = transition(phase, { type: "elapsed" }, rules);
          continue;
        }
        unwaited++;
        assert(unwaited <= 6, `request ${unwaited} in a row without a wait: ${JSON.stringify(phase)}`);
        const isWatch: boolean = phase.name === "watching";
        if (ok && (!isWatch || watch.lastedMs >= 119_000)) unwaited = isWatch ? 0 : unwaited;
        const outcome: Outcome = isWatch
          ? ok ? ended("7", watch) : failure(kind, "7", { watch })
          : ok
          ? listed("7")
          : failure(kind, "7", phase.name === "listing" && phase.by === "stream" ? { stream } : {});
        phase = transition(phase, outcome, rules);
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("classify distinguishes the five kinds of failure", () => {
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
    [new MemoryLimitError("too much", { resource: "pods", total: 2, maxBytes: 1 }), "full"],
    [new DecodeError("what is this"), "refused"],
    [new TypeError("a defect"), "refused"],
    ["thrown text", "refused"],
    [undefined, "refused"],
  ];
  for (const [cause, kind] of kinds) assertEquals(classify(cause), kind, String(cause));
});

Deno.test("failed has the wait that the server asks for, if any, up to five minutes", () => {
  const asks = refused(429, { retryAfterSeconds: 3 });
  assertEquals(
    failed(asks, "5"),
    { type: "failed", failure: "throttled", error: asks, resourceVersion: "5", retryAfterMs: 3_000 },
  );
  assertEquals("retryAfterMs" in failed(refused(429), "5"), false);
  assertEquals(failed(refused(503, { retryAfterSeconds: 86_400 }), "5").retryAfterMs, 300_000);
});
