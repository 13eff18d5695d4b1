/**
 * Elects a leader among several processes, with a Lease.
 *
 * {@linkcode LeaderElector} is the entry point. A leader counts its deadline from the moment it sent its last renewal,
 * on its own clock. Others count from the moment they saw that renewal, on their clocks. So times from different
 * machines are never compared.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { isAlreadyExists, isConflict } from "../../../engine/api/status.ts";
import { callObserver, DerivedController, isAbortOf } from "../../../engine/async/signals.ts";
import { type AccessRight, missingRights, rightsTo } from "../../../engine/client/access_reviews.ts";
import type { Client } from "../../../engine/client/client.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { checkDurations } from "../../../engine/errors/checks.ts";
import { errorObserver, messageOf } from "../../../engine/errors/errors.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import { Lease } from "../../../engine/kinds/coordination/v1.ts";
import { type ElectionClock, type LeaseAttempt, LeaseLock, monotonicElectionClock } from "./lease_lock.ts";

/** The options that exist. */
const ELECTOR_OPTIONS =
  "name namespace identity leaseMs renewDeadlineMs retryMs renewMs release labels onLeader onError clock";

/** Identifies a term of leadership. Pass it to other systems, so that they can refuse writes from earlier leaders. */
export interface FencingToken {
  /** The leader's identity. */
  readonly holder: string;
  /**
   * How often the holder has changed, as the Lease counts it. Two terms have the same number if nobody else led in
   * between, and it restarts when the Lease is deleted. So fence by `resourceVersion`.
   */
  readonly transitions: number;
  /**
   * The Lease's version at the start of the term. Only this always grows with each term. Compare it with
   * `compareResourceVersions`.
   */
  readonly resourceVersion: string;
}

/** Leadership has ended during the work: the lease was not renewed in time, or another process has it. */
export class LeadershipLostError extends Error {
  /** `"LeadershipLostError"`. */
  override readonly name = "LeadershipLostError";
}

/**
 * A leader's work has not ended, and nobody waits for it any longer. If your work rejects with this error, the elector
 * does not free the lease. Another process then leads only after the lease has expired. Exit the process.
 */
export class UnfinishedWorkError extends Error {
  /** `"UnfinishedWorkError"`. */
  override readonly name = "UnfinishedWorkError";
}

/** One term of leadership, from the acquired lease to its loss or release. */
export interface Leadership {
  /**
   * Aborts when you must stop working. The reason is a {@linkcode LeadershipLostError} if leadership is lost, or the
   * reason of the signal that stops the elector. It also aborts when the work has ended.
   */
  readonly signal: AbortSignal;
  /** Aborts only when leadership is lost, not when you stop the elector. From then on another process may lead. */
  readonly lost: AbortSignal;
  /** Identifies this term for other systems. */
  readonly fencing: FencingToken;
  /**
   * Returns true while no other elector can lead. Call it just before an action that two leaders must not do. It
   * compares the clock, so after a pause of the process it is right before `signal` has aborted. The client in a
   * reconcile calls it before each request.
   */
  readonly isHeld: () => boolean;
  /** Returns how long leadership lasts without another renewal, in milliseconds, or 0 when it has ended. */
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

  /** Ends the term's work. The lease is kept until the work has ended. */
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
  /** The Lease's name, the same in all processes that compete. The Lease is created if it does not exist. */
  readonly name: string;
  /** The Lease's namespace. By default the client's namespace. */
  readonly namespace?: string;
  /**
   * This process's identity. No other process may have it: otherwise both lead. Usual is the pod's name with a random
   * part. By default a random UUID.
   */
  readonly identity?: string;
  /**
   * How long others wait after the last renewal that they have seen, in milliseconds. It must be full seconds.
   * @default {15_000}
   */
  readonly leaseMs?: number;
  /** How long a leader leads without a renewal, in milliseconds. Then it stops. @default {10_000} */
  readonly renewDeadlineMs?: number;
  /**
   * The shortest time between attempts to acquire the lease, or to renew it after a failure, in milliseconds.
   * @default {2_000}
   */
  readonly retryMs?: number;
  /** The time from a renewal to the next one, in milliseconds, at least `retryMs`. By default the same as `retryMs`. */
  readonly renewMs?: number;
  /** Whether to free the lease when the work has ended, so that another process need not wait. @default {true} */
  readonly release?: boolean;
  /** Labels to set on the Lease. Other labels stay. @default {{}} */
  readonly labels?: Readonly<Record<string, string>>;
  /** Called with the identity of each new holder, which may be this process. It is `""` after a release. */
  readonly onLeader?: (holder: string) => void;
  /**
   * Receives the error when an attempt fails. The next attempt follows. It is not called if another process was faster
   * and has created or written the Lease. By default each new cause is written to the console in one line, and again at
   * most once a minute.
   */
  readonly onError?: (error: unknown) => void;
  /** The clock, for tests. By default the runtime's monotonic clock. */
  readonly clock?: ElectionClock;
}

/** A snapshot of a {@linkcode LeaderElector}. */
export interface LeaderElectorStatus {
  /**
   * The state.
   *
   * - `"stopped"`: it does not run.
   * - `"contending"`: it waits for the lease.
   * - `"leading"`: the work runs.
   * - `"ending"`: leadership is lost or given up, but the work or the release of the lease has not ended yet.
   */
  readonly state: "stopped" | "contending" | "leading" | "ending";
  /** This elector's identity. */
  readonly identity: string;
  /** The last known holder, `""` for none, or `undefined` before the Lease was read. */
  readonly holder: string | undefined;
  /** How often the holder has changed, or `undefined` before the Lease was read. */
  readonly transitions: number | undefined;
  /** The Lease's version when it was last read or written, or `undefined` if that has not happened yet. */
  readonly resourceVersion: string | undefined;
  /** That Lease's uid, or `undefined` if the Lease was not read yet or was found deleted. */
  readonly uid: string | undefined;
  /**
   * The time since the last successful renewal was sent, in milliseconds, or `undefined` while this process has no
   * term.
   */
  readonly sinceRenewalMs: number | undefined;
  /** The number of failed attempts that were reported. */
  readonly errors: number;
  /** The last attempt's error, or `undefined` if it succeeded. */
  readonly lastError: unknown;
}

/** How much longer than `retryMs` a wait before an attempt may be (client-go `JitterFactor`). */
const JITTER = 1.2;

/** How long a request may take. Renewals have half of the deadline, if that is more. */
const REQUEST_MS = 1_000;

/** A wait between attempts to release after a conflict, in milliseconds. */
const RELEASE_RETRY_MS = 100;

/**
 * Elects one leader among several processes, with a Lease. The algorithm and the defaults are client-go's
 * (`tools/leaderelection`).
 *
 * - **At most one process leads.** A leader that cannot renew the lease stops `renewDeadlineMs` after it sent the last
 *   successful renewal. Others wait `leaseMs` after they saw that renewal. So two never lead at the same time while
 *   their clock rates differ by less than `leaseMs / renewDeadlineMs` (1.5). Times of day are written but never
 *   compared, so they may differ and jump.
 * - **A paused process** (SIGSTOP, a blocked event loop) may be in the middle of an action while another leads. Its
 *   `Leadership.isHeld()` is false from the first instruction after the pause, and `signal` aborts in the first turn of
 *   the event loop. A suspended machine stops the clock too. For that case, and for long actions, pass the fencing
 *   token to the other system.
 * - **Somebody deletes or edits the Lease.** The leader notices at its next renewal, at the latest at
 *   `renewDeadlineMs`. Until then two may lead, if another process acquires the lease. A leader that sees another
 *   holder stops immediately. A deleted Lease is created again, but an elector that has seen another holder first waits
 *   until that holder's lease would have expired.
 * - **The lease is kept until your work has ended.** After a stop it is renewed while the work winds down, and then
 *   released. client-go releases it before.
 *
 * See the guide: [Run a controller](../../../../docs/controllers/run.md). A `Manager` runs an elector for you.
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
  /** Returns the rights that it needs and lacks. @internal */
  readonly [internals]: (wait: Abortable) => Promise<AccessRight[]>;
  readonly #description: string;
  readonly #onLeader: LeaderElectorOptions["onLeader"];
  /** See {@linkcode LeaderElectorStatus.state}. */
  #state: LeaderElectorStatus["state"] = "stopped";
  /** When the last successful write of the lease was sent, or `undefined` while there is no term. */
  #renewedMs: number | undefined;
  /** The holder that `onLeader` was last called with. */
  #reported: string | undefined;
  /** See {@linkcode LeaderElectorStatus.errors}. */
  #errors = 0;
  #lastError: unknown;
  readonly #report: (error: unknown) => void;

  /**
   * Creates an elector. It sends no request yet.
   *
   * @throws {TypeError} if the name or the identity is empty, or there is no namespace.
   * @throws {RangeError} if `leaseMs` is not in full seconds. Also, `leaseMs` must be more than `renewDeadlineMs`, and
   * `renewDeadlineMs` more than 1.2 times `retryMs`, as in client-go.
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
    const rights = [...rightsTo("get update", Lease, [namespace], name), ...rightsTo("create", Lease, [namespace])];
    this[internals] = (wait) => missingRights(client, rights, wait);
    this.#lock = new LeaseLock(client.resource(Lease, { namespace }), { name, identity, leaseMs, labels, clock });
  }

  /** This elector's identity. */
  get identity(): string {
    return this.#options.identity;
  }

  /**
   * Waits for the lease, calls `work` while this process leads, and settles when the work has ended.
   *
   * - It resolves when the signal aborts or `work` returns. By then the lease has been released, unless the server did
   *   not respond within `renewDeadlineMs`.
   * - It rejects with a {@linkcode LeadershipLostError} if leadership was lost, after `work` has ended. Most programs
   *   exit then. If you call `run` again, it waits for the lease again.
   * - It rejects with any other error from `work`, after the lease has been released. After an
   *   {@linkcode UnfinishedWorkError} the lease is not released.
   * - If `work` does not end when its signal aborts, `run` waits, and renews the lease as long as possible. After a
   *   loss, {@linkcode check} reports this.
   *
   * @throws {Error} if it is already running.
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

  /** Returns a snapshot of the elector's state. */
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
   * Checks that the work has ended if leadership was lost. Call it in a liveness probe (client-go `Check`). A process
   * that does not lead is healthy.
   *
   * @param toleranceMs How long the work may go on after the lease has expired, in milliseconds.
   * @throws {Error} if the work goes on for longer. Restart the process then.
   */
  check(toleranceMs = 0): void {
    const { sinceRenewalMs = 0 } = this.status();
    if (sinceRenewalMs <= this.#options.leaseMs + toleranceMs) return;
    throw new Error(
      `Cannot confirm leadership: the last renewal of ${this.#description} was ${Math.round(sinceRenewalMs)} ms ago, ` +
        `and the work has not ended. Restart the process`,
    );
  }

  /** Tries until this process holds the lease. Returns `undefined` when the signal aborts. */
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

  /** Makes an attempt. Returns `undefined` if it failed or the signal has aborted. */
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

  /** Calls `onLeader` if the holder has changed. */
  #seen(): void {
    const { holder } = this.status();
    if (holder === undefined || holder === this.#reported) return;
    this.#reported = holder;
    callObserver(() => this.#onLeader?.(holder));
  }

  /** Calls `request` with a signal that aborts with `signal`, and after `ms`. */
  #limited<R>(ms: number, signal: AbortSignal | undefined, request: (options: Abortable) => Promise<R>): Promise<R> {
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
