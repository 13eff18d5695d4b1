import type { ElectionClock } from "./election_clock.ts";

/** The marks of a term of leadership, for systems that refuse the writes of earlier leaders. */
export interface FencingToken {
  /** The identity of the leader. */
  readonly holder: string;
  /**
   * The number of changes of the holder, as the Lease counts them. It is the same for two terms of one holder with no other in
   * between, and begins anew after the Lease was deleted: fence by `resourceVersion`.
   */
  readonly transitions: number;
  /** The version of the Lease that began the term. It alone grows with each term always: see `compareResourceVersions`. */
  readonly resourceVersion: string;
}

/** Leadership has ended while there was work to do: the lease was not renewed in time, or another process has it. */
export class LeadershipLostError extends Error {
  /** `"LeadershipLostError"`. */
  override readonly name = "LeadershipLostError";
}

/**
 * The work of a leader has not ended, and is not waited for any longer. Work that rejects with it keeps its elector from freeing
 * the lease, so that another process leads only when the lease has expired. The process should exit.
 */
export class UnfinishedWorkError extends Error {
  /** `"UnfinishedWorkError"`. */
  override readonly name = "UnfinishedWorkError";
}

/** One term of leadership, from the acquisition of the lease until it is lost or given up. */
export interface Leadership {
  /**
   * Aborts when leadership is lost, with a {@linkcode LeadershipLostError}; when the elector is stopped, with the reason of its
   * signal; and when the work has ended.
   */
  readonly signal: AbortSignal;
  /** Aborts when leadership is lost, and not when the elector is stopped: from then on another process may lead. */
  readonly lost: AbortSignal;
  /** The marks of this term. */
  readonly fencing: FencingToken;
  /**
   * True while no other elector can lead. It compares the clock, and so is right before `signal` has aborted after a pause of
   * the process; check it just before an action that two leaders must not do.
   */
  readonly isHeld: boolean;
  /** The time until leadership is lost, unless the lease is renewed before, in milliseconds; 0 when it is over. */
  readonly remainingMs: number;
}

/** A term as its elector sees it. */
export class LeadershipTerm implements Leadership {
  /** See {@linkcode Leadership.fencing}. */
  readonly fencing: FencingToken;
  readonly #clock: ElectionClock;
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  /** The time at which leadership is lost unless the lease is renewed. It only grows until the term ends. */
  #untilMs: number;

  /** Begins a term that lasts until `untilMs` of the clock. */
  constructor(fencing: FencingToken, untilMs: number, clock: ElectionClock) {
    this.fencing = fencing;
    this.#untilMs = untilMs;
    this.#clock = clock;
  }

  /** See {@linkcode Leadership.signal}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** See {@linkcode Leadership.lost}. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** See {@linkcode Leadership.isHeld}. */
  get isHeld(): boolean {
    return !this.#lost.signal.aborted && this.remainingMs > 0;
  }

  /** See {@linkcode Leadership.remainingMs}. */
  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.now());
  }

  /** Prolongs the term: the lease was renewed. */
  renewUntil(untilMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }

  /** Ends the term after its work has ended: the lease may be released. */
  end(): void {
    this.#untilMs = -Infinity;
    this.#controller.abort(new DOMException("The term of leadership is over", "AbortError"));
  }

  /** Ends the work of the term; the lease is kept until the work has ended. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Ends the term: the lease is lost. Only the first call counts. */
  lose(error: LeadershipLostError): void {
    this.#lost.abort(error);
    this.#controller.abort(error);
  }
}
