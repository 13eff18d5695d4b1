/**
 * The phases of a reflector, and which phase follows: a pure function.
 *
 * `transition` is the entry point, and {@linkcode classify} gives an error its meaning. A phase holds every value that
 * the next one depends on. Waits grow only while the server sends nothing new. Nothing is requested or stored here;
 * `reflector.ts` performs the phases.
 *
 * @module
 */
import {
  isExpired,
  isThrottled,
  isTooLargeResourceVersion,
  MemoryLimitError,
  retryAfterMs,
  StatusError,
  UnreachableError,
} from "../api/status.ts";

/** A reflector's state. It holds every value that the next step depends on. */
export type ReflectorPhase = ListingPhase | WatchingPhase | WaitingPhase | PausedPhase | StoppedPhase;

/** The reflector is listing the collection. */
export interface ListingPhase {
  /** Always `"listing"`. */
  readonly name: "listing";
  /**
   * The list is at least as new as this version. `"0"` means any state that the server has at hand, and `""` the
   * newest.
   */
  readonly resourceVersion: string;
  /** `"stream"` for a streaming list (over a watch), or `"pages"`. */
  readonly by: "stream" | "pages";
  /** Earlier attempts. */
  readonly history: AttemptHistory;
}

/** The reflector is watching the collection. */
export interface WatchingPhase {
  /** Always `"watching"`. */
  readonly name: "watching";
  /** The watch delivers the changes after this version. */
  readonly resourceVersion: string;
  /** `true` as soon as the server has responded. */
  readonly open: boolean;
  /**
   * The request before this watch. After `"stream"`, the watch continues the streaming list's response. After `"pages"`
   * and `"watch"` it is a new request, and after `"watch"` it resumes.
   */
  readonly after: "stream" | "pages" | "watch";
  /** The reason given to `Reflector.relist()`. A list follows this watch. */
  readonly relist?: Error;
  /** Earlier attempts. */
  readonly history: AttemptHistory;
}

/** The reflector waits before its next request. */
export interface WaitingPhase {
  /** Always `"waiting"`. */
  readonly name: "waiting";
  /** The wait in milliseconds. */
  readonly delayMs: number;
  /** The phase after the wait. */
  readonly next: ListingPhase | WatchingPhase;
  /** Why it waits. `undefined` if nothing failed, for example if the server ended a watch early. */
  readonly error: unknown;
}

/** The reflector is paused: it sends no request until you resume it. */
export interface PausedPhase {
  /** Always `"paused"`. */
  readonly name: "paused";
  /** The phase after the pause. */
  readonly next: ListingPhase | WatchingPhase | WaitingPhase;
}

/** The reflector is not running. */
export interface StoppedPhase {
  /** Always `"stopped"`. */
  readonly name: "stopped";
}

/** Earlier attempts, which decide how long later waits are, and how the next list is requested. */
export interface AttemptHistory {
  /**
   * Failures in a row. A watch that delivered something, or stayed open for 10 s, resets the count. A list does not.
   */
  readonly failures: number;
  /** Expired versions in a row. A watch that stayed open for 10 s resets the count. */
  readonly expirations: number;
  /** Watches in a row that the server ended within a second, without an event. */
  readonly shortWatches: number;
  /** Streaming lists in a row that broke off. */
  readonly brokenStreams: number;
  /** `true` if the reflector requests only pages until its next run. */
  readonly pagesOnly: boolean;
}

/** The history before the first attempt. */
export const NO_HISTORY: AttemptHistory = {
  failures: 0,
  expirations: 0,
  shortWatches: 0,
  brokenStreams: 0,
  pagesOnly: false,
};

/**
 * The meaning of an error for a reflector, decided by `classify()`.
 *
 * - `expired`: the server no longer has the requested version, or does not have it yet.
 * - `throttled`: the server asks for fewer requests.
 * - `unreachable`: the server does not answer, or its answer broke off.
 * - `full`: the store takes no more.
 * - `refused`: the server answers with an error, or its answer cannot be decoded.
 */
export type Failure = "expired" | "throttled" | "unreachable" | "full" | "refused";

/** Facts about a watch that has ended. */
export interface WatchFacts {
  /** True if the server answered. */
  readonly opened: boolean;
  /** True if the watch delivered a change or a bookmark. */
  readonly delivered: boolean;
  /** From the request to the end of the watch, in milliseconds. */
  readonly lastedMs: number;
  /** The duration that was requested, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The way in which a streaming list failed, beside its error.
 *
 * - `unsupported`: the server does not know streaming lists, or no tables in them.
 * - `endless`: the list began, and then neither made progress nor ended.
 * - `short`: the server ended it within a second, without an object.
 * - `broken`: the list began, and broke off before it was complete.
 */
export type StreamFailure = "unsupported" | "endless" | "short" | "broken";

/** The way in which a phase ended. */
export type Outcome =
  | {
    /** The list is in the store. */
    readonly type: "listed";
    /** The version of the list. */
    readonly resourceVersion: string;
  }
  | {
    /** The server ended the watch without an error, or its client ended it to renew it. */
    readonly type: "ended";
    /** The last version that the store has. */
    readonly resourceVersion: string;
    /** Facts about the watch. */
    readonly watch: WatchFacts;
    /** The reason for which the client ended it, if it did. */
    readonly renewal?: Error;
  }
  | FailedOutcome
  | {
    /** `Reflector.relist()` ended the watch. */
    readonly type: "relist";
  }
  | {
    /** The wait is over. */
    readonly type: "elapsed";
  }
  | PausedOutcome
  | {
    /** The pause is over. */
    readonly type: "resumed";
  }
  | {
    /** The reflector was stopped. */
    readonly type: "stopped";
  };

/** The reflector was paused. */
interface PausedOutcome {
  /** Discriminates the outcomes. */
  readonly type: "paused";
  /** The last version that the store has. */
  readonly resourceVersion: string;
  /** The time that the phase lasted, in milliseconds. */
  readonly lastedMs: number;
  /** Facts about the watch that was ended. */
  readonly watch?: WatchFacts;
}

/** A list or a watch failed. */
export interface FailedOutcome {
  /** Discriminates the outcomes. */
  readonly type: "failed";
  /** The meaning of the error. */
  readonly failure: Failure;
  /** The error. */
  readonly error: unknown;
  /** After a watch, the last version that the store has; after a list, the version that was requested. */
  readonly resourceVersion: string;
  /** The shortest wait that the server asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Facts about the watch that failed. */
  readonly watch?: WatchFacts;
  /** The way in which a streaming list failed; `undefined` for other requests, and for one that did not begin. */
  readonly stream?: StreamFailure;
}

/**
 * The server ended a watch within a second, without an event (client-go: `VeryShortWatchError`). Reported to `onError`.
 */
export class ShortWatchError extends Error {
  /** `"ShortWatchError"`. */
  override readonly name = "ShortWatchError";
}

/** Too many lists and watches in a row started without a wait, so the next one is delayed. Reported to `onError`. */
export class RequestRateError extends Error {
  /** `"RequestRateError"`. */
  override readonly name = "RequestRateError";
}

/** The options, random waits and rate limit that a transition depends on beside phase and outcome. */
export interface TransitionRules {
  /** `"on"` lists by streams and `"off"` in pages; `"auto"` begins with streams and falls back to pages. */
  readonly streamingList: "auto" | "on" | "off";
  /**
   * The random wait after a lost connection, or after a watch that the server ended before its time, in milliseconds.
   */
  reconnectMs(): number;
  /** The wait after `attempt` (from 0) failures of a kind in a row, in milliseconds. */
  backOffMs(failure: Failure, attempt: number): number;
  /** Admits a request that would begin without a wait: 0, or the wait before another try, in milliseconds. */
  admitMs(): number;
}

/** A watch that stayed open this long was healthy, even without an event: load balancers cut idle connections. */
const HEALTHY_WATCH_MS = 10_000;

/** A watch without an event that ended earlier was too short to resume without a back-off. */
const SHORT_WATCH_MS = 1_000;

/** A server ends a watch by its own clock: one that ended this little before its time ended in time. */
const EARLY_END_MS = 1_000;

/** After this many short watches in a row, the server may have expired the version without an error. */
const STUCK_AFTER_WATCHES = 8;

/** After this many broken streaming lists in a row, a proxy on the way probably does not pass them. */
const BROKEN_STREAMS = 2;

/**
 * Returns the phase that follows `phase` when that ended with `outcome`. This is the protocol as a table; `v` is the
 * requested version, `s` the last version that the store has.
 *
 * | in | outcome | next |
 * | --- | --- | --- |
 * | listing | listed at r | watching from r, at once |
 * | listing at v ≠ "" | expired, or version too large | listing at "", at once |
 * | listing at "" | expired | back off, then listing at "" |
 * | streaming list | refused, unsupported, endless, or ended within a second | listing in pages, at once |
 * | listing at v ≠ "0" | refused with 400 | back off, then listing at "" |
 * | listing at v | any other failure | back off, then listing at v |
 * | watching | ended by the client, to renew it | a wait of no time, then watching from s |
 * | watching | ended when its time was over | watching from s, at once |
 * | watching | ended before, within a second, without an event | back off, then watching from s |
 * | watching | the same for the eighth time in a row | back off, then listing at s |
 * | watching | ended before its time otherwise | reconnect wait, then watching from s |
 * | watching | connection lost that was open for a second or delivered | reconnect wait, then watching from s |
 * | watching | connection lost otherwise, or not made; throttled | back off, then watching from s |
 * | watching | expired, any other failure | back off, then listing at s |
 * | listing, watching | the store is full | the same as after any other failure, behind a wait for room |
 * | watching | relist | listing at "", at once |
 * | waiting | elapsed | the phase that it waited for; listing at "" where a relist was requested |
 * | listing at v | paused | paused, later listing at v |
 * | watching | paused | paused, later watching from s; listing at "" where a relist was requested |
 * | waiting | paused | paused, later the rest of the wait |
 * | paused | resumed | the phase that was paused, at once; listing at "" where a relist was requested |
 * | any | stopped | stopped |
 *
 * If the store has no version yet (`""` or `"0"`), the list is at `"0"`. Waits grow with the failures in a row, see
 * {@linkcode AttemptHistory}; `Retry-After` lengthens a wait, and never shortens it. A request that would begin without
 * a wait is delayed where {@linkcode TransitionRules.admitMs} says so.
 */
export function transition(phase: ReflectorPhase, outcome: Outcome, rules: TransitionRules): ReflectorPhase {
  return admitted(phase, outcome, successor(phase, outcome, rules), rules);
}

/** Returns the first phase: a list not older than `resourceVersion`. */
export function firstPhase(resourceVersion: string, rules: TransitionRules): ListingPhase {
  return relisting(resourceVersion, { ...NO_HISTORY, pagesOnly: rules.streamingList === "off" });
}

/** Returns the first phase of a reflector whose store has everything up to `resourceVersion`: a watch from there. */
export function resumedPhase(resourceVersion: string, rules: TransitionRules): WatchingPhase {
  return watching(resourceVersion, { ...NO_HISTORY, pagesOnly: rules.streamingList === "off" });
}

/** Returns `phase` with a list of the newest state as its next request, unless it is a list or has none. */
export function withRelist(phase: ReflectorPhase, reason: Error): ReflectorPhase {
  switch (phase.name) {
    case "watching":
      return { ...phase, relist: reason };
    case "waiting":
      return { ...phase, next: toNewest(phase.next) };
    case "paused": {
      const { next } = phase;
      return { ...phase, next: next.name === "waiting" ? { ...next, next: toNewest(next.next) } : toNewest(next) };
    }
    default:
      return phase;
  }
}

/** Returns the phase as a list of the newest state. */
export function toNewest(next: ListingPhase | WatchingPhase): ListingPhase {
  return next.name === "listing" ? { ...next, resourceVersion: "" } : listing("", next.history);
}

/** Returns `next`, or a wait before it where its request would begin without one and there were too many of those. */
function admitted(
  phase: ReflectorPhase,
  outcome: Outcome,
  next: ReflectorPhase,
  rules: TransitionRules,
): ReflectorPhase {
  const isRequest = next.name === "listing" || (next.name === "watching" && next.after !== "stream");
  if (!isRequest) return next;
  if (phase.name === "waiting" && phase.delayMs > 0 && !(phase.error instanceof RequestRateError)) return next;
  const delayMs = rules.admitMs();
  if (delayMs === 0) return next;
  const error = new RequestRateError(
    `Cannot ${
      next.name === "listing" ? "list" : "watch"
    } immediately: too many lists and watches began in a row without a wait`,
    outcome.type === "failed" ? { cause: outcome.error } : {},
  );
  return wait(delayMs, next, error);
}

function successor(phase: ReflectorPhase, outcome: Outcome, rules: TransitionRules): ReflectorPhase {
  if (outcome.type === "stopped" || phase.name === "stopped") return { name: "stopped" };
  if (outcome.type === "paused" && phase.name !== "paused") {
    return { name: "paused", next: interrupted(phase, outcome) };
  }
  switch (phase.name) {
    case "paused":
      return outcome.type === "resumed" ? phase.next : impossible(phase, outcome);
    case "waiting":
      return outcome.type === "elapsed" ? phase.next : impossible(phase, outcome);
    case "listing":
      if (outcome.type === "listed") {
        const history = phase.by === "stream" ? { ...phase.history, brokenStreams: 0 } : phase.history;
        return { ...watching(outcome.resourceVersion, history), after: phase.by };
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

/** Returns the phase that follows a pause of `phase`. */
function interrupted(phase: PausedPhase["next"], outcome: PausedOutcome): PausedPhase["next"] {
  const { resourceVersion, watch, lastedMs } = outcome;
  switch (phase.name) {
    case "listing":
      return phase;
    case "watching": {
      const history = watch === undefined ? phase.history : after(watch, phase.history);
      return phase.relist === undefined ? watching(resourceVersion, history) : listing("", history);
    }
    case "waiting":
      return { ...phase, delayMs: Math.max(0, phase.delayMs - lastedMs) };
    default:
      return phase satisfies never;
  }
}

function afterList(phase: ListingPhase, outcome: FailedOutcome, rules: TransitionRules): ReflectorPhase {
  const { history, resourceVersion } = phase;
  const { failure, error } = outcome;
  if (failure === "expired" && resourceVersion !== "") return listing("", history);
  // The server may refuse the version itself: the version of an odd event may be no number.
  const isBad = error instanceof StatusError && error.status.code === 400 && resourceVersion !== "0";
  return backOff(outcome, listing(isBad ? "" : resourceVersion, history), rules);
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
  const { watch, resourceVersion, renewal } = outcome;
  const history = after(watch, phase.history);
  // A wait, so that the state is not live meanwhile. The client has chosen the moment.
  if (renewal !== undefined) return wait(0, watching(resourceVersion, history), undefined);
  if (watch.lastedMs >= watch.timeoutMs - EARLY_END_MS && watch.lastedMs >= SHORT_WATCH_MS) {
    return watching(resourceVersion, history);
  }
  if (watch.delivered || watch.lastedMs >= SHORT_WATCH_MS) {
    return wait(rules.reconnectMs(), watching(resourceVersion, history), undefined);
  }
  const shortWatches = history.shortWatches + 1;
  const isStuck = shortWatches >= STUCK_AFTER_WATCHES;
  const error = new ShortWatchError(
    "Cannot keep a watch open: the server ends each watch within a second, without an event",
  );
  const next = { ...history, failures: history.failures + 1, shortWatches: isStuck ? 0 : shortWatches };
  return wait(
    rules.backOffMs("refused", history.failures),
    isStuck ? relisting(resourceVersion, next) : watching(resourceVersion, next),
    error,
  );
}

function afterWatch(phase: WatchingPhase, outcome: FailedOutcome, rules: TransitionRules): ReflectorPhase {
  const { failure, resourceVersion, watch, error } = outcome;
  const history = watch === undefined ? phase.history : after(watch, phase.history);
  switch (failure) {
    case "expired": {
      // A single expired version is no error; several in a row are.
      const reported = history.expirations === 0 ? { ...outcome, error: undefined } : outcome;
      return backOff(reported, relisting(resourceVersion, history), rules);
    }
    case "unreachable":
    case "throttled":
      if (failure === "unreachable" && watch?.opened && (watch.delivered || watch.lastedMs >= SHORT_WATCH_MS)) {
        return wait(rules.reconnectMs(), watching(resourceVersion, history), error);
      }
      return backOff(outcome, watching(resourceVersion, history), rules);
    case "full":
    case "refused":
      return backOff(outcome, relisting(resourceVersion, history), rules);
    default:
      return failure satisfies never;
  }
}

/** Returns the history after a watch, before the outcome of the watch is counted. */
function after(watch: WatchFacts, history: AttemptHistory): AttemptHistory {
  const lasted = watch.opened && watch.lastedMs >= HEALTHY_WATCH_MS;
  return {
    ...history,
    failures: watch.delivered || lasted ? 0 : history.failures,
    // Lists cost a server most: a watch that delivers and then expires, again and again, is not healthy.
    expirations: lasted ? 0 : history.expirations,
    shortWatches: watch.delivered || watch.lastedMs >= SHORT_WATCH_MS ? 0 : history.shortWatches,
  };
}

function backOff(outcome: FailedOutcome, next: ListingPhase | WatchingPhase, rules: TransitionRules): WaitingPhase {
  const { history } = next;
  const { failure, retryAfterMs = 0, error } = outcome;
  const row = failure === "expired" ? "expirations" : "failures";
  const delayMs = Math.max(rules.backOffMs(failure, history[row]), retryAfterMs);
  return wait(delayMs, { ...next, history: { ...history, [row]: history[row] + 1 } }, error);
}

function listing(resourceVersion: string, history: AttemptHistory): ListingPhase {
  return { name: "listing", resourceVersion, by: history.pagesOnly ? "pages" : "stream", history };
}

function relisting(resourceVersion: string, history: AttemptHistory): ListingPhase {
  return listing(resourceVersion || "0", history);
}

function watching(resourceVersion: string, history: AttemptHistory): WatchingPhase {
  return { name: "watching", resourceVersion, open: false, after: "watch", history };
}

function wait(delayMs: number, next: ListingPhase | WatchingPhase, error: unknown): WaitingPhase {
  return { name: "waiting", delayMs, next, error };
}

function impossible(phase: ReflectorPhase, outcome: Outcome): never {
  throw new Error(`Cannot leave phase "${phase.name}" by outcome "${outcome.type}"`);
}

/**
 * Returns the meaning of an error for a reflector. `streamFailureOf` adds how a streaming list failed, and an expired
 * list of arriving parts of a shard counts as unreachable.
 */
export function classify(error: unknown): Failure {
  if (isExpired(error) || isTooLargeResourceVersion(error)) return "expired";
  if (isThrottled(error)) return "throttled";
  if (error instanceof UnreachableError) return "unreachable";
  return error instanceof MemoryLimitError ? "full" : "refused";
}

/** Returns the outcome of a phase that ended with `error`. */
export function failed(error: unknown, resourceVersion: string): FailedOutcome {
  const askedMs = error instanceof StatusError ? retryAfterMs(error.status) : undefined;
  return {
    type: "failed",
    failure: classify(error),
    error,
    resourceVersion,
    ...(askedMs === undefined ? {} : { retryAfterMs: askedMs }),
  };
}
