/** Where a reflector is in its cycle. */
export type ReflectorPhase = ListingPhase | WatchingPhase | WaitingPhase | StoppedPhase;

/** It lists the collection. */
export interface ListingPhase {
  /** Tells the phases apart. */
  readonly name: "listing";
  /** Not older than this; `"0"`: any state the server has at hand; `""`: the newest. */
  readonly resourceVersion: string;
  /** Whether the list comes over a watch (a streaming list) or in pages. */
  readonly by: "stream" | "pages";
  /** The attempts before it. */
  readonly history: AttemptHistory;
}

/** It watches for changes. */
export interface WatchingPhase {
  /** Tells the phases apart. */
  readonly name: "watching";
  /** The watch brings what comes after this version. */
  readonly resourceVersion: string;
  /** Whether the server has answered; until then the watch is only requested. */
  readonly open: boolean;
  /** The attempts before it. */
  readonly history: AttemptHistory;
}

/** It waits before its next request. */
export interface WaitingPhase {
  /** Tells the phases apart. */
  readonly name: "waiting";
  /** How long, in milliseconds. */
  readonly delayMs: number;
  /** What comes then. */
  readonly next: ListingPhase | WatchingPhase;
  /** Why; `undefined` when nothing went wrong, as when the server has ended a watch before its time. */
  readonly error: unknown;
}

/** It does not run. */
export interface StoppedPhase {
  /** Tells the phases apart. */
  readonly name: "stopped";
}

/** What a phase knows of the attempts before it, as far as later waits and requests depend on it. */
export interface AttemptHistory {
  /** Failures in a row. A watch that delivered something, or stayed open for 10 s, ends the row; a list does not. */
  readonly failures: number;
  /** Expired versions in a row. A watch that lasted 10 s ends the row. */
  readonly expirations: number;
  /** Watches in a row that the server ended within a second without an event. */
  readonly shortWatches: number;
  /** Streaming lists in a row that broke off. */
  readonly brokenStreams: number;
  /** Whether streaming lists are given up for as long as the reflector runs. */
  readonly pagesOnly: boolean;
}

/** The history at the beginning. */
export const NO_HISTORY: AttemptHistory = {
  failures: 0,
  expirations: 0,
  shortWatches: 0,
  brokenStreams: 0,
  pagesOnly: false,
};

/**
 * What a failure means to a reflector; `classify()` in failure.ts decides.
 *
 * - `expired`: the version asked for is no longer in the server's history, or not yet.
 * - `throttled`: the server asks for fewer requests.
 * - `unreachable`: the server does not answer, or the answer broke off.
 * - `refused`: the server answers with an error, or its answer cannot be decoded.
 */
export type Failure = "expired" | "throttled" | "unreachable" | "refused";

/** What is known of a watch that is over. */
export interface WatchFacts {
  /** Whether the server answered. */
  readonly opened: boolean;
  /** Whether it brought a change or a bookmark. */
  readonly delivered: boolean;
  /** From the request to its end, in milliseconds. */
  readonly lastedMs: number;
  /** How long the server was asked to keep it open, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * How a streaming list failed, beside its error.
 *
 * - `unsupported`: the server does not know streaming lists.
 * - `endless`: it began, and then neither made progress nor ended.
 * - `short`: the server ended it within a second, without an object.
 * - `broken`: it began, and broke off before it was complete.
 */
export type StreamFailure = "unsupported" | "endless" | "short" | "broken";

/** How a phase ended. */
export type Outcome =
  | {
    /** The list is in the store. */
    readonly type: "listed";
    /** At this version. */
    readonly resourceVersion: string;
  }
  | {
    /** The server ended the watch without an error. */
    readonly type: "ended";
    /** The last version seen. */
    readonly resourceVersion: string;
    /** The watch. */
    readonly watch: WatchFacts;
  }
  | FailedOutcome
  | {
    /** A list was asked for by `Reflector.relist()`. */
    readonly type: "relist";
    /** Why. */
    readonly error: unknown;
  }
  | {
    /** The wait is over. */
    readonly type: "elapsed";
  }
  | {
    /** The reflector was stopped. */
    readonly type: "stopped";
  };

/** A list or a watch failed. */
export interface FailedOutcome {
  /** Tells the outcomes apart. */
  readonly type: "failed";
  /** What the failure means. */
  readonly failure: Failure;
  /** The error. */
  readonly error: unknown;
  /** The last version seen by a watch; the version that a list was asked for. */
  readonly resourceVersion: string;
  /** The server asks for at least this long a wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The watch that failed. */
  readonly watch?: WatchFacts;
  /** How a streaming list failed; `undefined` for other requests, and for one that did not begin. */
  readonly stream?: StreamFailure;
}

/** Reported when the server ends a watch within a second, without an event (client-go: `VeryShortWatchError`). */
export class ShortWatchError extends Error {
  /** `"ShortWatchError"`. */
  override readonly name = "ShortWatchError";
}

/** Reported when too many lists and watches in a row began without a wait; the next one rules. */
export class RequestRateError extends Error {
  /** `"RequestRateError"`. */
  override readonly name = "RequestRateError";
}

/** What a transition depends on beside phase and outcome. */
export interface TransitionRules {
  /** Whether lists come over a watch: `"on"` and `"off"` never change, `"auto"` falls back to pages. */
  readonly streamingList: "auto" | "on" | "off";
  /** After a lost connection, or a watch that the server ended before its time: spread, so that clients do not come at once. */
  reconnect(): number;
  /** After `attempt` (from 0) failures of a kind in a row. */
  backOff(failure: Failure, attempt: number): number;
}

/** A watch that was open for so long was healthy, whatever it brought: load balancers cut what is quiet. */
const HEALTHY_WATCH_MS = 10_000;

const SHORT_WATCH_MS = 1_000;

/** A server ends a watch by its own clock. */
const EARLY_END_MS = 1_000;

/** So many short watches in a row mean that the server may have forgotten the version without an error. */
const STUCK_AFTER_WATCHES = 8;

/** So many broken streaming lists in a row mean that something on the way does not let them through. */
const BROKEN_STREAMS = 2;

/**
 * The phase that follows `phase` when it ended with `outcome`. This is the protocol as a table; `v` is the version asked
 * for, `s` the last version seen.
 *
 * | in | outcome | next |
 * | --- | --- | --- |
 * | listing | listed at r | watching from r, at once |
 * | listing at v ≠ "" | expired, or version too large | listing at "", at once |
 * | listing at "" | expired | back off, then listing at "" |
 * | streaming list | refused, unsupported, endless, or ended within a second | listing in pages, at once |
 * | listing at v | any other failure | back off, then listing at v |
 * | watching | ended when its time was over | watching from s, at once |
 * | watching | ended before, within a second, without an event | back off, then watching from s |
 * | watching | the same for the eighth time in a row | back off, then listing at s |
 * | watching | ended before its time otherwise | spread, then watching from s |
 * | watching | connection lost that was open for a second or delivered | spread, then watching from s |
 * | watching | connection lost otherwise, or not made; throttled | back off, then watching from s |
 * | watching | expired, any other failure | back off, then listing at s |
 * | watching | a list was asked for | listing at "", at once |
 * | waiting | elapsed | what it waited for |
 * | any | stopped | stopped |
 *
 * A version that was never seen (`""` or `"0"`) leads to a list at `"0"`. Waits grow with the failures in a row, see
 * {@linkcode AttemptHistory}; what the server asks for by `Retry-After` lengthens a wait, and never shortens it.
 */
export function transition(phase: ReflectorPhase, outcome: Outcome, rules: TransitionRules): ReflectorPhase {
  if (outcome.type === "stopped" || phase.name === "stopped") return { name: "stopped" };
  switch (phase.name) {
    case "waiting":
      return outcome.type === "elapsed" ? phase.next : impossible(phase, outcome);
    case "listing":
      if (outcome.type === "listed") {
        const history = phase.by === "stream" ? { ...phase.history, brokenStreams: 0 } : phase.history;
        return watching(outcome.resourceVersion, history);
      }
      if (outcome.type !== "failed") return impossible(phase, outcome);
      return phase.by === "stream" ? afterStream(phase, outcome, rules) : afterList(phase, outcome, rules);
    case "watching":
      if (outcome.type === "ended") return afterEnd(phase, outcome, rules);
      if (outcome.type === "failed") return afterWatch(phase, outcome, rules);
      if (outcome.type === "relist") return listing("", phase.history);
      return impossible(phase, outcome);
    default:
      return phase satisfies never;
  }
}

/** The first phase: a list not older than `resourceVersion`. */
export function firstPhase(resourceVersion: string, rules: TransitionRules): ListingPhase {
  return relisting(resourceVersion, { ...NO_HISTORY, pagesOnly: rules.streamingList === "off" });
}

function afterList(phase: ListingPhase, outcome: FailedOutcome, rules: TransitionRules): ReflectorPhase {
  const { history, resourceVersion } = phase;
  if (outcome.failure === "expired" && resourceVersion !== "") return listing("", history);
  return backOff(outcome, listing(resourceVersion, history), rules);
}

function afterStream(phase: ListingPhase, outcome: FailedOutcome, rules: TransitionRules): ReflectorPhase {
  const { resourceVersion } = phase;
  if (rules.streamingList === "on") return afterList(phase, outcome, rules);
  const broken = outcome.stream === "broken" || outcome.stream === "short";
  const brokenStreams = phase.history.brokenStreams + (broken ? 1 : 0);
  const givenUp = outcome.stream === "unsupported" || outcome.stream === "endless" || brokenStreams >= BROKEN_STREAMS;
  const history = { ...phase.history, brokenStreams, pagesOnly: givenUp };
  const inPages = outcome.failure === "refused" || (outcome.stream !== undefined && outcome.stream !== "broken");
  if (inPages) return { ...listing(resourceVersion, history), by: "pages" };
  return afterList(listing(resourceVersion, history), outcome, rules);
}

function afterEnd(
  phase: WatchingPhase,
  outcome: Outcome & { readonly type: "ended" },
  rules: TransitionRules,
): ReflectorPhase {
  const { watch, resourceVersion } = outcome;
  const history = after(watch, phase.history);
  if (watch.lastedMs >= watch.timeoutMs - EARLY_END_MS && watch.lastedMs >= SHORT_WATCH_MS) {
    return watching(resourceVersion, history);
  }
  // mutant: short-watch-without-backoff
  if (watch.delivered || watch.lastedMs >= SHORT_WATCH_MS) {
    return wait(rules.reconnect(), watching(resourceVersion, history), undefined);
  }
  const shortWatches = history.shortWatches + 1;
  const isStuck = shortWatches >= STUCK_AFTER_WATCHES;
  const error = new ShortWatchError("Cannot keep a watch: the server ends it within a second, without an event");
  const next = { ...history, failures: history.failures + 1, shortWatches: isStuck ? 0 : shortWatches };
  return wait(
    rules.backOff("refused", history.failures),
    isStuck ? relisting(resourceVersion, next) : watching(resourceVersion, next),
    error,
  );
}

function afterWatch(phase: WatchingPhase, outcome: FailedOutcome, rules: TransitionRules): ReflectorPhase {
  const { failure, resourceVersion, watch, error } = outcome;
  const history = watch === undefined ? phase.history : after(watch, phase.history);
  switch (failure) {
    case "expired": {
      // That a version expires is no error, unless it happens again and again.
      const reported = history.expirations === 0 ? { ...outcome, error: undefined } : outcome;
      // mutant: expired-watches-again
      return backOff(reported, relisting(resourceVersion, history), rules);
    }
    case "unreachable":
    case "throttled":
      if (failure === "unreachable" && watch?.opened && (watch.delivered || watch.lastedMs >= SHORT_WATCH_MS)) {
        return wait(rules.reconnect(), watching(resourceVersion, history), error);
      }
      return backOff(outcome, watching(resourceVersion, history), rules);
    case "refused":
      return backOff(outcome, relisting(resourceVersion, history), rules);
    default:
      return failure satisfies never;
  }
}

/** The history after a watch, before its end is counted. */
function after(watch: WatchFacts, history: AttemptHistory): AttemptHistory {
  const lasted = watch.opened && watch.lastedMs >= HEALTHY_WATCH_MS;
  return {
    ...history,
    // mutant: backoff-never-resets
    failures: watch.delivered || lasted ? 0 : history.failures,
    // A list is what costs a server most: a watch that delivers before its version expires, again and again, is no health.
    expirations: lasted ? 0 : history.expirations,
    shortWatches: watch.delivered || watch.lastedMs >= SHORT_WATCH_MS ? 0 : history.shortWatches,
  };
}

function backOff(
  outcome: FailedOutcome,
  next: ListingPhase | WatchingPhase,
  rules: TransitionRules,
): WaitingPhase {
  const { history } = next;
  const { failure, retryAfterMs = 0, error } = outcome;
  const row = failure === "expired" ? "expirations" : "failures";
  const delayMs = Math.max(rules.backOff(failure, history[row]), retryAfterMs);
  return wait(delayMs, { ...next, history: { ...history, [row]: history[row] + 1 } }, error);
}

function listing(resourceVersion: string, history: AttemptHistory): ListingPhase {
  return { name: "listing", resourceVersion, by: history.pagesOnly ? "pages" : "stream", history };
}

function relisting(resourceVersion: string, history: AttemptHistory): ListingPhase {
  return listing(resourceVersion || "0", history);
}

function watching(resourceVersion: string, history: AttemptHistory): WatchingPhase {
  return { name: "watching", resourceVersion, open: false, history };
}

function wait(delayMs: number, next: ListingPhase | WatchingPhase, error: unknown): WaitingPhase {
  return { name: "waiting", delayMs, next, error };
}

function impossible(phase: ReflectorPhase, outcome: Outcome): never {
  throw new Error(`Cannot leave phase "${phase.name}" by outcome "${outcome.type}"`);
}
