/** The state of a reflector. It holds every value of the reflector that the next transition depends on. */
export type ReflectorPhase = ListingPhase | WatchingPhase | WaitingPhase | PausedPhase | StoppedPhase;

/** The reflector lists the collection. */
export interface ListingPhase {
  /** Discriminates the phases. */
  readonly name: "listing";
  /** The list is not older than this version; `"0"`: any state that the server has at hand; `""`: the newest. */
  readonly resourceVersion: string;
  /** The list arrives over a watch (a streaming list) or in pages. */
  readonly by: "stream" | "pages";
  /** The attempts before this one. */
  readonly history: AttemptHistory;
}

/** The reflector watches the collection. */
export interface WatchingPhase {
  /** Discriminates the phases. */
  readonly name: "watching";
  /** The watch delivers changes after this version. */
  readonly resourceVersion: string;
  /** True as soon as the server has answered the request. */
  readonly open: boolean;
  /**
   * The request before it. After `"stream"`, a complete streaming list, the watch reads on from the same response; after
   * `"pages"` and `"watch"` it is a request of its own, and after `"watch"` it resumes.
   */
  readonly after: "stream" | "pages" | "watch";
  /** The reason given to `Reflector.relist()`; a list follows this watch. */
  readonly relist?: Error;
  /** The attempts before this one. */
  readonly history: AttemptHistory;
}

/** The reflector waits before its next request. */
export interface WaitingPhase {
  /** Discriminates the phases. */
  readonly name: "waiting";
  /** The wait, in milliseconds. */
  readonly delayMs: number;
  /** The phase that follows the wait. */
  readonly next: ListingPhase | WatchingPhase;
  /** The reason for the wait; `undefined` where nothing failed, as when the server ended a watch before its time. */
  readonly error: unknown;
}

/** The reflector sends no request and waits for nothing until it is resumed. */
export interface PausedPhase {
  /** Discriminates the phases. */
  readonly name: "paused";
  /** The phase that follows when the reflector is resumed. */
  readonly next: ListingPhase | WatchingPhase | WaitingPhase;
}

/** The reflector does not run. */
export interface StoppedPhase {
  /** Discriminates the phases. */
  readonly name: "stopped";
}

/** Counts of earlier attempts, on which later waits and requests depend. */
export interface AttemptHistory {
  /** Failures in a row. A watch that delivered something, or stayed open for 10 s, ends the row; a list does not. */
  readonly failures: number;
  /** Expired versions in a row. A watch that lasted 10 s ends the row. */
  readonly expirations: number;
  /** Watches in a row that the server ended within a second without an event. */
  readonly shortWatches: number;
  /** Streaming lists in a row that broke off. */
  readonly brokenStreams: number;
  /** True when streaming lists are given up until the reflector is run again. */
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
 * - `refused`: the server answers with an error, or its answer cannot be decoded.
 */
export type Failure = "expired" | "throttled" | "unreachable" | "refused";

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
 * - `unsupported`: the server does not know streaming lists.
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
export interface PausedOutcome {
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
