/** Where a reflector is in its cycle. */
export type ReflectorPhase =
  | {
    /** It is getting the whole collection. */
    readonly name: "listing";
    /** Not older than this; `"0"`: any state the server has at hand; `""`: the newest. */
    readonly resourceVersion: string;
  }
  | {
    /** It follows the changes. */
    readonly name: "watching";
    /** After this version. */
    readonly resourceVersion: string;
    /** Whether the server has answered: until then the watch is only asked for. */
    readonly open: boolean;
  }
  | {
    /** It failed, and gives the server time. */
    readonly name: "waiting";
    /** For so long. */
    readonly delayMs: number;
    /** What comes then. */
    readonly next: ReflectorPhase;
    /** Why. */
    readonly error: unknown;
  }
  | {
    /** It was told to stop. */
    readonly name: "stopped";
  };

/**
 * What a failure means to a reflector; the border that decides is `classify()` in failure.ts.
 *
 * - `expired`: the version asked for is no longer in the server's history, or not yet.
 * - `throttled`: the server asks to be left alone.
 * - `unreachable`: nobody answers, or the answer broke off.
 * - `refused`: the server answers, and the answer is no, or is not to be understood.
 */
export type Failure = "expired" | "throttled" | "unreachable" | "refused";

/** How a phase ended. */
export type Outcome =
  | {
    /** The whole collection is in the store. */
    readonly type: "listed";
    /** At this version. */
    readonly resourceVersion: string;
  }
  | {
    /** The server ended the watch in good order. */
    readonly type: "ended";
    /** How far it came. */
    readonly resourceVersion: string;
    /** Whether it ended within a second, having said nothing, or as the one before: asking again at once would be a hurry. */
    readonly short: boolean;
    /** So many in a row ended at once, having said nothing, that the server may have forgotten the version without a word. */
    readonly stuck?: boolean;
  }
  | {
    /** It went wrong. */
    readonly type: "failed";
    /** In this way. */
    readonly failure: Failure;
    /** With this error. */
    readonly error: unknown;
    /** How far a watch had come; what a list was asked for. */
    readonly resourceVersion: string;
    /** The server asks for at least this long a wait. */
    readonly retryAfterMs?: number;
    /** The same happened before, and no watch has said anything in between. */
    readonly repeated?: boolean;
    /** The connection of a watch that had been open for a while: balancers cut what is quiet, and no wait need grow by that. */
    readonly cut?: boolean;
  }
  | {
    /** The wait is over. */
    readonly type: "elapsed";
  }
  | {
    /** It was told to stop. */
    readonly type: "stopped";
  };

/** Says that the server ends watches at once. */
export class ShortWatchError extends Error {
  /** `"ShortWatchError"`. */
  override readonly name = "ShortWatchError";
}

/**
 * What comes after `phase` when it ended like `outcome`: the whole protocol as a table.
 *
 * | in | outcome | next |
 * | --- | --- | --- |
 * | listing at v | listed at r | watching from r |
 * | listing at v ≠ "" | expired, or version too large | listing at "" at once |
 * | listing at "" | expired | wait, then listing at "" |
 * | listing at v | any other failure | wait, then listing at v |
 * | watching from r | ended in good order, last seen s | watching from s at once |
 * | watching from r | ended within a second, having said nothing or again | wait, then watching from s |
 * | watching from r | the same, many times in a row | wait, then listing at s |
 * | watching from r | expired | listing at s at once |
 * | watching from r | expired again, having said nothing in between | wait, then listing at s |
 * | watching from r | throttled, or unreachable (silence beyond the idle limit too) | wait, then watching from s |
 * | watching from r | any other failure | wait, then listing at s |
 * | waiting | elapsed | what it waited for |
 * | any | told to stop | stopped |
 *
 * A version that was never seen (`""` or `"0"`) leads to a list at `"0"`. `delay` is asked only where there is a wait;
 * what the server asks for lengthens it, never shortens it.
 */
export function transition(phase: ReflectorPhase, outcome: Outcome, delay: () => number): ReflectorPhase {
  if (outcome.type === "stopped" || phase.name === "stopped") return { name: "stopped" };
  switch (phase.name) {
    case "waiting":
      return outcome.type === "elapsed" ? phase.next : impossible(phase, outcome);
    case "listing":
      if (outcome.type === "listed") return watching(outcome.resourceVersion);
      if (outcome.type !== "failed") return impossible(phase, outcome);
      if (outcome.failure !== "expired") return wait(outcome, phase, delay);
      return phase.resourceVersion === "" ? wait(outcome, phase, delay) : { name: "listing", resourceVersion: "" };
    case "watching":
      if (outcome.type === "ended") {
        // mutant: short-watch-without-backoff
        if (!outcome.short) return watching(outcome.resourceVersion);
        const error = new ShortWatchError(
          "Cannot keep a watch: the server ends it within a second",
        );
        const next = outcome.stuck ? listing(outcome.resourceVersion) : watching(outcome.resourceVersion);
        return { name: "waiting", delayMs: delay(), next, error };
      }
      if (outcome.type !== "failed") return impossible(phase, outcome);
      return interrupted(outcome, delay);
    default:
      return phase satisfies never;
  }
}

/** What comes after a watch that failed. */
function interrupted(outcome: Outcome & { readonly type: "failed" }, delay: () => number): ReflectorPhase {
  const { failure, resourceVersion, repeated = false } = outcome;
  switch (failure) {
    case "expired":
      // mutant: expired-watches-again
      return repeated ? wait(outcome, listing(resourceVersion), delay) : listing(resourceVersion);
    case "throttled":
    case "unreachable":
      return wait(outcome, watching(resourceVersion), delay);
    case "refused":
      return wait(outcome, listing(resourceVersion), delay);
    default:
      return failure satisfies never;
  }
}

function listing(resourceVersion: string): ReflectorPhase {
  return { name: "listing", resourceVersion: resourceVersion || "0" };
}

function watching(resourceVersion: string): ReflectorPhase {
  return { name: "watching", resourceVersion, open: false };
}

function wait(
  outcome: { readonly error: unknown; readonly retryAfterMs?: number },
  next: ReflectorPhase,
  delay: () => number,
): ReflectorPhase {
  return { name: "waiting", delayMs: Math.max(delay(), outcome.retryAfterMs ?? 0), next, error: outcome.error };
}

function impossible(phase: ReflectorPhase, outcome: Outcome): never {
  throw new Error(`Cannot leave phase "${phase.name}" by outcome "${outcome.type}"`);
}
