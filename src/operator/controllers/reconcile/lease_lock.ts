/**
 * One Lease as one process knows it, and the requests that acquire, renew and release it.
 *
 * {@linkcode LeaseLock} is the entry point. It makes one attempt at a time. `leader_elector.ts` decides when to try,
 * and does the work of a leader.
 *
 * @module
 */
import type { Abortable } from "../../../engine/api/call_options.ts";
import { sameValue } from "../../../engine/api/selector.ts";
import { isNotFound } from "../../../engine/api/status.ts";
import { monotonicMs, sleep } from "../../../engine/async/time.ts";
import type { Lease } from "../../../engine/kinds/coordination/v1.ts";
import { microTimestampNow } from "./objects.ts";

/** An elector's clock. If a test has several electors in one process, give each its own clock. */
export interface ElectionClock {
  /** Returns the time in milliseconds. It never runs backwards, and only differences have a meaning. */
  now(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as the signal aborts. */
  sleep(ms: number, options?: Abortable): Promise<void>;
}

/** The runtime's monotonic clock. */
export const monotonicElectionClock: ElectionClock = { now: monotonicMs, sleep };

/** The requests that an election sends. A `ResourceClient` for Leases has them. */
export interface LeaseClient {
  /** Reads the Lease. */
  get(name: string, options?: Abortable): Promise<Lease>;
  /** Creates the Lease. */
  create(draft: LeaseDraft, options?: Abortable): Promise<Lease>;
  /** Replaces the Lease, unless it has another version. */
  update(lease: Lease, options?: Abortable): Promise<Lease>;
}

/** A Lease to be created. */
export interface LeaseDraft extends Pick<Lease, "spec"> {
  /** Its name and labels. */
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** A lock's options with their defaults, see `LeaderElectorOptions`. */
interface LockOptions {
  readonly name: string;
  readonly identity: string;
  readonly leaseMs: number;
  readonly clock: ElectionClock;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The result of an attempt to acquire or renew a lease. */
export type LeaseAttempt =
  /** This process holds the lease. `sentMs` is just before the write: others count the duration from a later moment. */
  | { readonly type: "held"; readonly sentMs: number; readonly lease: Lease }
  /** Another process holds the lease, which has not expired. */
  | { readonly type: "taken"; readonly holder: string };

/**
 * One Lease as one process knows it, and the requests that acquire, renew and release it: client-go's
 * `tryAcquireOrRenew`.
 *
 * - Every write is refused by the server when the Lease has changed since it was read.
 * - A lease has expired when this process has seen it unchanged for its duration, by its own clock. Times that others
 *   wrote are not compared.
 */
export class LeaseLock {
  readonly #leases: LeaseClient;
  readonly #options: LockOptions;
  /** The Lease when it was last read or written. `undefined` before that, and after it was found deleted. */
  #lease: Lease | undefined;
  /** The spec when it was last read or written. `undefined` if and only if there was none yet. */
  spec: NonNullable<Lease["spec"]> | undefined;
  /** The time at which `spec` was first read or written. */
  #observedMs = 0;
  /**
   * True if this process has made itself the holder, or may have by a failed write, and has not read the Lease since.
   */
  #isUnsure = false;

  /** Makes no request yet. */
  constructor(leases: LeaseClient, options: LockOptions) {
    this.#leases = leases;
    this.#options = options;
  }

  /** The Lease's version when it was last read or written, or `undefined` before that. */
  get resourceVersion(): string | undefined {
    return this.#lease?.metadata.resourceVersion;
  }

  /** That Lease's uid, or `undefined` if the Lease was found deleted. */
  get uid(): string | undefined {
    return this.#lease?.metadata.uid;
  }

  /** True if this process knows that it is the holder, or may be by a write without a response. */
  get mayBeHeld(): boolean {
    return this.#isUnsure || this.#isHolder;
  }

  /**
   * Acquires the lease if it is free or expired, or renews it if this process holds it. Rejects when a request fails,
   * also with a conflict.
   *
   * The holder writes without a read. If that fails, it reads.
   */
  async tryAcquireOrRenew({ signal }: Abortable = {}): Promise<LeaseAttempt> {
    if (this.#isHolder && this.#lease !== undefined && !this.#isExpired) {
      try {
        return await this.#write(this.#lease, signal);
      } catch {
        // The read that follows shows the cause, or fails as well.
      }
    }
    const lease = await this.#read(signal);
    const { holderIdentity: holder } = this.spec ?? {};
    if (holder && !this.#isHolder && !this.#isExpired) return { type: "taken", holder };
    return await this.#write(lease, signal);
  }

  /**
   * Frees the lease if the server says that this process holds it. Returns true in that case. Rejects when a request
   * fails, also with a conflict.
   */
  async release({ signal }: Abortable = {}): Promise<boolean> {
    const lease = await this.#read(signal);
    if (lease === undefined || !this.#isHolder) return false;
    const now = microTimestampNow();
    // client-go's: a second is the shortest duration that a Lease may have.
    const freed = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    this.#observe(await this.#leases.update({ ...lease, spec: { ...lease.spec, ...freed } }, { signal }));
    return true;
  }

  get #isHolder(): boolean {
    return this.spec?.holderIdentity === this.#options.identity;
  }

  get #isExpired(): boolean {
    return this.#observedMs + (this.spec?.leaseDurationSeconds ?? 0) * 1_000 <= this.#options.clock.now();
  }

  /**
   * Reads the Lease. Returns `undefined` if there is none, but keeps the last spec: its holder may not have noticed
   * yet.
   */
  async #read(signal: AbortSignal | undefined): Promise<Lease | undefined> {
    try {
      const lease = await this.#leases.get(this.#options.name, { signal });
      this.#observe(lease);
      this.#isUnsure = false;
      return lease;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#lease = undefined;
    }
  }

  /**
   * Makes this process the holder. If it holds the lease already, the acquire time and the number of transitions stay.
   */
  async #write(before: Lease | undefined, signal: AbortSignal | undefined): Promise<LeaseAttempt> {
    const { name, identity, leaseMs, labels, clock } = this.#options;
    const now = microTimestampNow();
    const { leaseTransitions = 0, acquireTime = now } = this.spec ?? { leaseTransitions: -1 };
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: leaseMs / 1_000,
      leaseTransitions: this.#isHolder ? leaseTransitions : leaseTransitions + 1,
      acquireTime: this.#isHolder ? acquireTime : now,
      renewTime: now,
    };
    const sentMs = clock.now();
    this.#isUnsure = true;
    const lease = before === undefined
      ? await this.#leases.create({ metadata: { name, ...(labels && { labels }) }, spec }, { signal })
      : await this.#leases.update({
        ...before,
        metadata: { ...before.metadata, ...(labels && { labels: { ...before.metadata.labels, ...labels } }) },
        spec: { ...before.spec, ...spec },
      }, { signal });
    this.#observe(lease);
    return { type: "held", sentMs, lease };
  }

  #observe(lease: Lease): void {
    const { spec = {} } = lease;
    if (!sameValue(this.spec, spec)) this.#observedMs = this.#options.clock.now();
    this.spec = spec;
    this.#lease = lease;
  }
}
