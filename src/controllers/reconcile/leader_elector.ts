/**
 * Elects one of several processes as leader, by a Lease.
 *
 * {@linkcode LeaderElector} is the entry point. The deadline of a leader counts from the sending of its last renewal,
 * on its own clock. Others count from the moment at which they saw the renewal, on theirs. So times of different
 * machines are never compared.
 *
 * @module
 */
import type { Abortable } from "../../api/options.ts";
import { isAlreadyExists, isConflict } from "../../api/status.ts";
import { checkDurations } from "../../async/checks.ts";
import { callObserver, DerivedController, isAbortOf } from "../../async/signals.ts";
import type { Client } from "../../client/client.ts";
import { errorObserver, messageOf } from "../../errors/errors.ts";
import { checkNames } from "../../errors/option_names.ts";
import { Lease } from "../../kinds/coordination/v1.ts";
import { type ElectionClock, type LeaseAttempt, LeaseLock, monotonicElectionClock } from "./lease_lock.ts";

/** The options that exist. */
const ELECTOR_OPTIONS =
  "name namespace identity leaseMs renewDeadlineMs retryMs renewMs release labels onLeader onError clock";

/** The marks of a term of leadership, for systems that refuse the writes of earlier leaders. */
export interface FencingToken {
  /** The identity of the leader. */
  readonly holder: string;
  /**
   * The number of changes of the holder, as the Lease counts them. It is the same for two terms of one holder with no
   * other in between, and begins anew after the Lease was deleted: fence by `resourceVersion`.
   */
  readonly transitions: number;
  /**
   * The version of the Lease that began the term. It alone grows with each term always: see `compareResourceVersions`.
   */
  readonly resourceVersion: string;
}

/** Leadership has ended while there was work to do: the lease was not renewed in time, or another process has it. */
export class LeadershipLostError extends Error {
  /** `"LeadershipLostError"`. */
  override readonly name = "LeadershipLostError";
}

/**
 * The work of a leader has not ended, and is not waited for any longer. Work that rejects with it keeps its elector
 * from freeing the lease, so that another process leads only when the lease has expired. The process should exit.
 */
export class UnfinishedWorkError extends Error {
  /** `"UnfinishedWorkError"`. */
  override readonly name = "UnfinishedWorkError";
}

/** One term of leadership, from the acquisition of the lease until it is lost or given up. */
export interface Leadership {
  /**
   * Aborts when leadership is lost, with a {@linkcode LeadershipLostError}; when the elector is stopped, with the
   * reason of its signal; and when the work has ended.
   */
  readonly signal: AbortSignal;
  /** Aborts when leadership is lost, and not when the elector is stopped: from then on another process may lead. */
  readonly lost: AbortSignal;
  /** The marks of this term. */
  readonly fencing: FencingToken;
  /**
   * Returns true while no other elector can lead. It compares the clock, and so is right before `signal` has aborted
   * after a pause of the process. Call it just before an action that two leaders must not do. The client of a reconcile
   * calls it before each request.
   */
  readonly isHeld: () => boolean;
  /**
   * Returns the time until leadership is lost, unless the lease is renewed before, in milliseconds; 0 when it is over.
   */
  readonly remainingMs: () => number;
}

/** A term as its elector sees it. */
class LeadershipTerm implements Leadership {
  /** See {@linkcode Leadership.fencing}. */
  readonly fencing: FencingToken;
  readonly #clock: ElectionClock;
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  /** See {@linkcode Leadership.signal}. */
  readonly signal: AbortSignal = this.#controller.signal;
  /** See {@linkcode Leadership.lost}. */
  readonly lost: AbortSignal = this.#lost.signal;
  /** The time at which leadership is lost unless the lease is renewed. It only grows until the term ends. */
  #untilMs: number;

  /** Begins a term that lasts until `untilMs` of the clock. */
  constructor(fencing: FencingToken, untilMs: number, clock: ElectionClock) {
    this.fencing = fencing;
    this.#untilMs = untilMs;
    this.#clock = clock;
  }

  /** See {@linkcode Leadership.isHeld}. A field, so that it can be taken out of the object. */
  readonly isHeld = (): boolean => !this.#lost.signal.aborted && this.remainingMs() > 0;

  /** See {@linkcode Leadership.remainingMs}. */
  readonly remainingMs = (): number => Math.max(0, this.#untilMs - this.#clock.now());

  /** Prolongs the term, unless it is over: the lease was renewed. */
  renewUntil(untilMs: number): void {
    if (this.isHeld()) this.#untilMs = Math.max(this.#untilMs, untilMs);
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

/** Options for {@linkcode LeaderElector}. */
export interface LeaderElectorOptions {
  /** The name of the Lease; all processes that compete have the same. It is created when it does not exist. */
  readonly name: string;
  /** The namespace of the Lease. @default {the client's} */
  readonly namespace?: string;
  /**
   * The identity of this process, which no other process may have: two processes of one identity both lead. The name of
   * the pod and a random part are usual. @default {a random UUID}
   */
  readonly identity?: string;
  /**
   * The time that others wait after the last renewal they have seen, in milliseconds; full seconds.
   *
   * @default {15_000}
   */
  readonly leaseMs?: number;
  /** The time after which a leader that could not renew the lease stops leading, in milliseconds. @default {10_000} */
  readonly renewDeadlineMs?: number;
  /** The shortest time between attempts, to acquire or to renew after a failure, in milliseconds. @default {2_000} */
  readonly retryMs?: number;
  /** The time from a renewal to the next one, in milliseconds; at least `retryMs`. @default {`retryMs`} */
  readonly renewMs?: number;
  /** Frees the lease when the work has ended, so that another process need not wait. @default {true} */
  readonly release?: boolean;
  /** Labels of the Lease; others that it has stay. @default {none} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Called with the identity of each new holder that is seen, this process too; `""` after a release. */
  readonly onLeader?: (holder: string) => void;
  /**
   * Called with each error of an attempt, after which the next one follows; not when another process has written the
   * Lease, or created it, in between.
   *
   * @default {each new cause is written to the console, in one line, and again at most once a minute}
   */
  readonly onError?: (error: unknown) => void;
  /** The clock, for tests. @default {the monotonic clock of the runtime} */
  readonly clock?: ElectionClock;
}

/** The state of a {@linkcode LeaderElector}. */
export interface LeaderElectorStatus {
  /**
   * `"stopped"`: does not run. `"contending"`: waits for the lease. `"leading"`: the work runs. `"ending"`: leadership
   * is lost or given up, and the work or the release of the lease has not ended yet.
   */
  readonly state: "stopped" | "contending" | "leading" | "ending";
  /** The identity of this elector. */
  readonly identity: string;
  /** The holder last seen, `""` for none; `undefined` before the Lease was read. */
  readonly holder: string | undefined;
  /** The number of changes of the holder; `undefined` before the Lease was read. */
  readonly transitions: number | undefined;
  /** The version of the Lease last read or written; `undefined` before that. */
  readonly resourceVersion: string | undefined;
  /** The uid of that Lease; `undefined` when it was found deleted too. */
  readonly uid: string | undefined;
  /** The time since the last successful renewal was sent, in milliseconds; `undefined` without a term. */
  readonly sinceRenewalMs: number | undefined;
  /** The number of attempts that have failed and were reported. */
  readonly errors: number;
  /** The error of the last attempt; `undefined` when it succeeded. */
  readonly lastError: unknown;
}

/** The most by which a wait before an attempt is longer than `retryMs` (client-go `JitterFactor`). */
const JITTER = 1.2;

/** The longest time that a request may take; renewals have half of the deadline, if that is more. */
const REQUEST_MS = 1_000;

/** A wait between attempts to release after a conflict, in milliseconds. */
const RELEASE_RETRY_MS = 100;

/**
 * Elects one of several processes as leader, by a Lease. The algorithm is client-go's (`tools/leaderelection`), the
 * defaults too.
 *
 * - **At most one leads.** A leader that cannot renew the lease stops at `renewDeadlineMs` after it sent the last
 *   successful renewal; others wait `leaseMs` after they saw it. So no two lead at a time while the rates of their
 *   clocks differ by less than `leaseMs / renewDeadlineMs` (1.5). Times of day may differ and jump: they are written,
 *   and never compared.
 * - **A paused process** (SIGSTOP, a blocked event loop) may be in the middle of an action while another leads. Its
 *   `Leadership.isHeld()` is false from the first instruction after the pause; `signal` aborts in the first turn of its
 *   event loop. A suspended machine stops the clock too: there, and where an action takes long, pass the fencing token
 *   on.
 * - **A Lease that somebody deletes or edits**: the leader notices at its next renewal, at the latest at
 *   `renewDeadlineMs`. Until then two may lead, if another process acquires the lease meanwhile. A deleted one is
 *   created again; an elector that has seen another holder waits until that would have expired. A leader that sees
 *   another holder stops at once.
 * - **The lease is kept until the work has ended**: after a stop it is renewed while the work winds down, and released
 *   then. client-go releases it before.
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { LeaderElector } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer(), namespace: "shop" });
 * const elector = new LeaderElector(client, { name: "crontabs", identity: "crontabs-0" });
 * const stop = new AbortController(); // by SIGTERM
 * await elector.run(async ({ signal, fencing }) => {
 *   assertEquals(fencing.holder, "crontabs-0");
 *   stop.abort();
 *   await new Promise((resolve) => signal.aborted ? resolve(0) : signal.addEventListener("abort", resolve));
 * }, { signal: stop.signal });
 * assertEquals(elector.status().holder, ""); // released
 * ```
 */
export class LeaderElector {
  readonly #options: Required<
    Pick<LeaderElectorOptions, "identity" | "leaseMs" | "renewDeadlineMs" | "retryMs" | "renewMs">
  >;
  readonly #release: boolean;
  readonly #requestMs: number;
  readonly #clock: ElectionClock;
  readonly #lock: LeaseLock;
  readonly #description: string;
  readonly #onLeader: LeaderElectorOptions["onLeader"];
  /** See {@linkcode LeaderElectorStatus.state}. */
  #state: LeaderElectorStatus["state"] = "stopped";
  /** The time just before the last successful write of the lease was sent; `undefined` while there is no term. */
  #renewedMs: number | undefined;
  /** The holder that `onLeader` was last called with. */
  #reported: string | undefined;
  /** See {@linkcode LeaderElectorStatus.errors}. */
  #errors = 0;
  #lastError: unknown;
  readonly #report: (error: unknown) => void;

  /**
   * Makes no request yet.
   *
   * @throws {TypeError} when the name or the identity is empty, or there is no namespace.
   * @throws {RangeError} when `leaseMs` is not a number of full seconds, and unless `leaseMs` is more than
   * `renewDeadlineMs` and that more than 1.2 times `retryMs`, as client-go demands.
   */
  constructor(client: Pick<Client, "resource" | "namespace">, options: LeaderElectorOptions) {
    checkNames("create a leader elector", options, ELECTOR_OPTIONS);
    const { name, namespace = client.namespace, identity = crypto.randomUUID(), labels, release = true } = options;
    const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000, clock = monotonicElectionClock } = options;
    const { renewMs = retryMs } = options;
    for (const [field, value] of Object.entries({ name, namespace, identity })) {
      if (typeof value !== "string" || value === "") {
        throw new TypeError(
          `Cannot elect a leader: ${field} must be a non-empty string, but it is ${JSON.stringify(value)}`,
        );
      }
    }
    checkDurations("elect a leader", { leaseMs, renewDeadlineMs, retryMs, renewMs }, { min: 1, finite: true });
    const check = (field: string, value: number, isValid: boolean, rule: string): void => {
      if (!isValid) throw new RangeError(`Cannot elect a leader: ${field} must be ${rule}, but it is ${value}`);
    };
    check("leaseMs", leaseMs, leaseMs % 1_000 === 0, "whole seconds, because a Lease stores seconds");
    check("leaseMs", leaseMs, leaseMs > renewDeadlineMs, `more than renewDeadlineMs (${renewDeadlineMs})`);
    const shortestMs = JITTER * retryMs;
    const rule = `more than ${JITTER} times retryMs (${retryMs})`;
    check("renewDeadlineMs", renewDeadlineMs, renewDeadlineMs > shortestMs, rule);
    const range = `from retryMs (${retryMs}) to less than renewDeadlineMs (${renewDeadlineMs})`;
    check("renewMs", renewMs, renewMs >= retryMs && renewMs < renewDeadlineMs, range);
    this.#options = { identity, leaseMs, renewDeadlineMs, retryMs, renewMs };
    this.#release = release;
    // After an answer that is lost there is time for a second request.
    const shareMs = renewMs === retryMs ? renewDeadlineMs / 2 : (renewDeadlineMs - renewMs) / 2;
    this.#requestMs = Math.min(Math.max(REQUEST_MS, shareMs), renewDeadlineMs);
    this.#clock = clock;
    this.#description = `lease "${namespace}/${name}"`;
    this.#onLeader = options.onLeader;
    this.#report = errorObserver(options.onError, () => `elector of ${this.#description}`);
    this.#lock = new LeaseLock(client.resource(Lease, { namespace }), { name, identity, leaseMs, labels, clock });
  }

  /** The identity of this elector. */
  get identity(): string {
    return this.#options.identity;
  }

  /**
   * Waits for the lease, does `work` while this process leads, and settles when the work has ended.
   *
   * - Resolves when the signal aborts, or `work` returns; the lease has been released then, unless the server did not
   *   answer within `renewDeadlineMs`.
   * - Rejects with a {@linkcode LeadershipLostError} when leadership was lost, after `work` has ended. Most programs
   *   exit then; calling `run` again waits for the lease again.
   * - Rejects with any other error of `work`, after the lease has been released; it is not released after an
   *   {@linkcode UnfinishedWorkError}.
   * - A `work` that does not end when its signal aborts keeps `run` waiting, and the lease is renewed as long as that
   *   succeeds: {@linkcode check} reports it after a loss.
   *
   * @throws {Error} when it runs already.
   */
  async run(work: (leadership: Leadership) => void | Promise<void>, options: Abortable = {}): Promise<void> {
    checkNames(`run the elector of ${this.#description}`, options, "signal");
    const { signal } = options;
    if (this.#state !== "stopped") {
      throw new Error(`Cannot run the elector of ${this.#description}: it is already running`);
    }
    this.#state = "contending";
    try {
      const term = await this.#acquire(signal);
      if (term !== undefined) await this.#lead(term, work, signal);
      else if (this.#lock.mayBeHeld) await this.#giveUp();
    } finally {
      this.#renewedMs = undefined;
      this.#state = "stopped";
    }
  }

  /** The state at present. */
  status(): LeaderElectorStatus {
    const { spec } = this.#lock;
    return {
      state: this.#state,
      identity: this.identity,
      holder: spec && (spec.holderIdentity ?? ""),
      transitions: spec && (spec.leaseTransitions ?? 0),
      resourceVersion: this.#lock.resourceVersion,
      uid: this.#lock.uid,
      sinceRenewalMs: this.#renewedMs === undefined ? undefined : this.#clock.now() - this.#renewedMs,
      errors: this.#errors,
      lastError: this.#lastError,
    };
  }

  /**
   * Checks that this process does not work on a lease that expired more than `toleranceMs` ago: the work did not end
   * when leadership was lost. A process that does not lead is healthy. (client-go `Check`.)
   *
   * @throws {Error} when it does; a liveness probe should fail then.
   */
  check(toleranceMs = 0): void {
    const { sinceRenewalMs = 0 } = this.status();
    if (sinceRenewalMs <= this.#options.leaseMs + toleranceMs) return;
    throw new Error(
      `Cannot confirm leadership: the last renewal of ${this.#description} was ${
        Math.round(sinceRenewalMs)
      } ms ago, and ` +
        `the work has not ended. Restart the process`,
    );
  }

  /** Tries until this process holds the lease; `undefined` when the signal aborts. */
  async #acquire(signal: AbortSignal | undefined): Promise<LeadershipTerm | undefined> {
    while (!signal?.aborted) {
      const attempt = await this.#attempt(signal);
      if (attempt?.type === "held") {
        const { metadata, spec } = attempt.lease;
        const { resourceVersion } = metadata;
        const fencing = { holder: this.identity, transitions: spec?.leaseTransitions ?? 0, resourceVersion };
        const term = new LeadershipTerm(fencing, attempt.sentMs + this.#options.renewDeadlineMs, this.#clock);
        // After a pause of the process the answer may be too old to begin with.
        if (term.isHeld() && !signal?.aborted) {
          this.#renewedMs = attempt.sentMs;
          return term;
        }
      }
      await this.#pause(this.#options.retryMs * (1 + Math.random() * JITTER), signal);
    }
  }

  /** Does the work of a term, and keeps the lease until it has ended. */
  async #lead(
    term: LeadershipTerm,
    work: (leadership: Leadership) => void | Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    this.#state = "leading";
    const stop = (): void => {
      this.#state = "ending";
      term.stop(signal!.reason);
    };
    if (signal?.aborted) stop(); // since the acquisition
    else signal?.addEventListener("abort", stop, { once: true });
    using keeping = new DerivedController(term.lost);
    const kept = Promise.all([this.#watchDeadline(term, keeping.signal), this.#renew(term, keeping.signal)]);
    let hasEnded = true;
    try {
      await work(term);
    } catch (error) {
      hasEnded = !(error instanceof UnfinishedWorkError);
      // The work may end by its signal; any other error is the caller's.
      if (!isAbortOf(term.signal, error)) throw error;
    } finally {
      this.#state = "ending";
      signal?.removeEventListener("abort", stop);
      keeping.abort();
      await kept;
      // After a pause of the process, the work may end before the timer of the deadline.
      if (!term.lost.aborted && !term.isHeld()) this.#expire(term);
      term.end();
      if (hasEnded && !term.lost.aborted) await this.#giveUp();
    }
    if (term.lost.aborted) throw term.lost.reason;
  }

  /** Renews the lease until the signal aborts or the lease is lost. */
  async #renew(term: LeadershipTerm, signal: AbortSignal): Promise<void> {
    for (let attempt: LeaseAttempt | undefined, isFirst = true;; isFirst = false) {
      const { renewMs, retryMs } = this.#options;
      await this.#pause(isFirst || attempt?.type === "held" ? renewMs : retryMs, signal);
      // After a pause of the process this timer may be the first, and the term over.
      if (signal.aborted || !term.isHeld()) return;
      attempt = await this.#attempt(signal);
      if (attempt?.type === "held") {
        term.renewUntil(attempt.sentMs + this.#options.renewDeadlineMs);
        this.#renewedMs = attempt.sentMs;
      } else if (attempt?.type === "taken") {
        this.#lose(term, `"${attempt.holder}" holds it`);
      }
    }
  }

  /** Ends the term at its deadline, unless the signal aborts before. */
  async #watchDeadline(term: LeadershipTerm, signal: AbortSignal): Promise<void> {
    for (let leftMs; (leftMs = term.remainingMs()) > 0;) {
      await this.#pause(leftMs, signal);
      if (signal.aborted) return;
    }
    this.#expire(term);
  }

  #expire(term: LeadershipTerm): void {
    const reason = this.#lastError === undefined ? "" : `. The last attempt failed: ${messageOf(this.#lastError)}`;
    this.#lose(term, `it was not renewed for ${this.#options.renewDeadlineMs} ms${reason}`);
  }

  #lose(term: LeadershipTerm, reason: string): void {
    this.#state = "ending";
    const error = new LeadershipLostError(`Lost ${this.#description}: ${reason}`, { cause: this.#lastError });
    term.lose(error);
  }

  /** Makes an attempt; `undefined` when it failed, or the signal has aborted. */
  async #attempt(signal: AbortSignal | undefined): Promise<LeaseAttempt | undefined> {
    try {
      const attempt = await this.#limited(this.#requestMs, signal, (limit) => this.#lock.tryAcquireOrRenew(limit));
      this.#lastError = undefined;
      return attempt;
    } catch (error) {
      if (signal?.aborted) return undefined;
      this.#failed(error);
    } finally {
      this.#seen();
    }
  }

  /** Frees the lease if this process holds it, within `renewDeadlineMs`. */
  async #giveUp(): Promise<void> {
    if (!this.#release) return;
    const untilMs = this.#clock.now() + this.#options.renewDeadlineMs;
    for (let leftMs; (leftMs = untilMs - this.#clock.now()) > 0;) {
      try {
        await this.#limited(leftMs, undefined, (limit) => this.#lock.release(limit));
        this.#seen();
        return;
      } catch (error) {
        // A renewal whose answer was not awaited may have been written in between.
        if (!isConflict(error)) return this.#failed(error);
      }
      await this.#pause(RELEASE_RETRY_MS, undefined);
    }
  }

  #failed(error: unknown): void {
    this.#lastError = error;
    // Another process was faster: the next attempt reads what it has written.
    if (isConflict(error) || isAlreadyExists(error)) return;
    this.#errors++;
    this.#report(error);
  }

  /** Calls `onLeader` when the holder that was seen is another one. */
  #seen(): void {
    const { holder } = this.status();
    if (holder === undefined || holder === this.#reported) return;
    this.#reported = holder;
    callObserver(() => this.#onLeader?.(holder));
  }

  /** Calls `request` with a signal that aborts with `signal`, and after `ms`. */
  #limited<R>(
    ms: number,
    signal: AbortSignal | undefined,
    request: (options: Abortable) => Promise<R>,
  ): Promise<R> {
    return limitedBy(this.#clock, ms, this.#description, signal, request);
  }

  /** Waits, or until the signal aborts. */
  #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return pauseOf(this.#clock, ms, signal);
  }
}

/** Calls `request`, about `what`, with a signal that aborts with `signal`, and after `ms` of the clock. */
export async function limitedBy<R>(
  clock: ElectionClock,
  ms: number,
  what: string,
  signal: AbortSignal | undefined,
  request: (options: Abortable) => Promise<R>,
): Promise<R> {
  using limit = new DerivedController(signal);
  const over = (): void => limit.abort(new Error(`No response about ${what} within ${ms} ms`));
  // The sleep rejects when the request has ended first.
  clock.sleep(ms, { signal: limit.signal }).then(over, () => {});
  return await request({ signal: limit.signal });
}

/** Waits by the clock, or until the signal aborts. */
export async function pauseOf(clock: ElectionClock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
