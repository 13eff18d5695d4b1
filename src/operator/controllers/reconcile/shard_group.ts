/**
 * Divides the hashes of objects among a group's processes. They need only Leases for this.
 *
 * {@linkcode ShardGroup} is the entry point. `group_leases.ts` has the plan, the steps for one range, and everything
 * that a process knows about the Leases. An elector keeps the process's own Lease.
 *
 * @module
 */

import type { Abortable } from "../../../engine/api/call_options.ts";
import {
  type HashRange,
  hashRange,
  mergedRanges,
  type ShardField,
  type ShardSource,
} from "../../../engine/api/shard.ts";
import { compareResourceVersions, isAlreadyExists, isConflict, isNotFound } from "../../../engine/api/status.ts";
import { copyOf } from "../../../engine/api/written.ts";
import { abortReason, callObserver, DerivedController } from "../../../engine/async/signals.ts";
import { type AccessRight, missingRights, rightsTo } from "../../../engine/client/access_reviews.ts";
import type { Client } from "../../../engine/client/client.ts";
import { internals } from "../../../engine/errors/internals.ts";
import { errorObserver } from "../../../engine/errors/errors.ts";
import { checkNames } from "../../../engine/errors/option_names.ts";
import { Lease } from "../../../engine/kinds/coordination/v1.ts";
import {
  GROUP_LABEL,
  type GroupLeaseClient,
  GroupLeases,
  type GroupMember,
  type LeaseFeed,
  leaseInformer,
  LEAVING_LABEL,
  planRanges,
  RANGE_COUNT,
  rangeStep,
} from "./group_leases.ts";
import { LeaderElector, type Leadership, LeadershipLostError, limitedBy, pauseOf } from "./leader_elector.ts";
import { type ElectionClock, monotonicElectionClock } from "./lease_lock.ts";
import { microTimestampNow } from "./objects.ts";

/** The options that exist. */
const GROUP_OPTIONS = "name by namespace identity leaseMs renewDeadlineMs renewMs onError clock";

/** Options for {@linkcode ShardGroup}. */
export interface ShardGroupOptions {
  /** The group's name, a DNS label, the same in all its processes. No other group in the namespace may have it. */
  readonly name: string;
  /** The field to hash, the same in all processes of the group. @default {"uid"} */
  readonly by?: Exclude<ShardField, "controller">;
  /** The Leases' namespace. By default the client's namespace. */
  readonly namespace?: string;
  /**
   * This process's identity: lower-case letters, digits, `-` and `.`. No other process may have it, nor an earlier
   * process whose requests may still be on their way. Usual is the pod's name with a random part. By default a random
   * UUID.
   */
  readonly identity?: string;
  /**
   * How long others wait after the last renewal that they have seen, in milliseconds. It must be full seconds.
   * @default {15_000}
   */
  readonly leaseMs?: number;
  /**
   * How long a process holds its ranges without a renewal of its Lease, in milliseconds. Then they are lost.
   * @default {10_000}
   */
  readonly renewDeadlineMs?: number;
  /** The time between renewals, in milliseconds. @default {5_000} */
  readonly renewMs?: number;
  /**
   * Receives the error when a request fails. The next attempt follows. By default each new cause is written to the
   * console in one line, and again at most once a minute.
   */
  readonly onError?: (error: unknown) => void;
  /** The clock, for tests. By default the runtime's monotonic clock. */
  readonly clock?: ElectionClock;
}

/** A snapshot of a {@linkcode ShardGroup}. */
export interface ShardGroupStatus {
  /**
   * The state.
   *
   * - `"stopped"`: it does not run.
   * - `"joining"`: its Lease is not written, or may not have been renewed in time.
   * - `"member"`: it may hold ranges.
   * - `"leaving"`: it gives its ranges away, to end.
   */
  readonly state: "stopped" | "joining" | "member" | "leaving";
  /** This process's identity. */
  readonly identity: string;
  /** The identities of all processes that have a Lease, including this one, sorted. */
  readonly members: readonly string[];
  /** The numbers of the ranges that this process holds. There are 64 ranges, which divide the hashes evenly. */
  readonly ranges: readonly number[];
  /** The number of ranges whose work this process ends, to give them away. */
  readonly releasing: number;
  /** The time since the last successful renewal was sent, in milliseconds, or `undefined` while it is no member. */
  readonly sinceRenewalMs: number | undefined;
  /** The error from the last attempt to renew its Lease, or `undefined` if it succeeded. */
  readonly lastError: unknown;
}

/** Called for a range that is to be given away. The range is given away when the promise has resolved. */
export type ReleaseHook = (range: HashRange) => void | Promise<void>;

/** How long to wait before a failed write is tried again, in milliseconds. */
const RETRY_MS = 1_000;

/** The most writes about ranges at a time. */
const MAX_WRITES = 8;

/** How long each process leaves the process before it time to remove an expired Lease, in milliseconds. */
const TURN_MS = 100;

const NONE: readonly HashRange[] = [];

/** Ends a wait for the next change. The trace of a new error would cost more than the rest of a step. */
const changed = abortReason("The Leases of the group have changed");

/** This process's work on one range. */
class RangeWork {
  /** True while this process ends its work on the range. */
  isReleasing = false;
  /** The Lease's version at which the work had ended, or `""` before that. */
  releasedVersion = "";
  /** True while a write is on its way. */
  isWriting = false;
  /** The time from which another write may be sent. */
  retryAtMs = -Infinity;
}

/**
 * Divides work among several processes: each holds some of 64 hash ranges, and works on the objects whose hash is in
 * them. They need only Leases for this. Pass a group to reconcilers and to a `Manager` as `shards`.
 *
 * - **At most one process holds a range.** Each renews a Lease of its own. If it cannot, it has lost all ranges
 *   `renewDeadlineMs` after it sent the last successful renewal. Others wait `leaseMs` after they saw that renewal.
 *   Then they delete the Lease at that version, so the process can no longer renew it. So two never hold a range at the
 *   same time while their clock rates differ by less than `leaseMs / renewDeadlineMs` (1.5). Times of day are not
 *   compared.
 * - **Somebody deletes or edits a Lease.** Two processes may hold a range until its former holder notices. It notices a
 *   change to its own Lease at the latest at `renewDeadlineMs`, and to a range's Lease when its watch shows the change.
 * - **A range is given away** with one write that names the next holder, after this process has ended its work on it.
 * - **The shares** differ by at most one range. A process that joins receives its share, and nothing else moves. If a
 *   process leaves, its ranges are divided among the others.
 * - **Gaps.** After a crash, the process's ranges are held again within `leaseMs` + 2 s. After an orderly end it takes
 *   at most 2 s from the end of the work. After an outage of the API server, each process holds its earlier ranges.
 * - **Writes.** A process renews its Lease every `renewMs`, which is 12 times a minute. Each range that moves costs one
 *   write more, and a process that leaves costs two more.
 *
 * You need the rights to `get`, `list`, `watch`, `create`, `update` and `delete` Leases.
 *
 * See the guide: [Sharded controllers](../../../../docs/scale/sharded-controllers.md).
 *
 * @example
 * ```ts
 * import { Client } from "@kube/informer";
 * import { ShardGroup } from "@kube/informer/reconcile";
 * import { FakeApiServer } from "@kube/informer/testing";
 * import { assertEquals } from "@std/assert";
 *
 * using client = new Client({ server: "http://fake", transport: new FakeApiServer(), namespace: "shop" });
 * const group = new ShardGroup(client, { name: "crontabs", identity: "crontabs-0" });
 * const stop = new AbortController(); // by SIGTERM
 * using _ = group.onChange(() => {
 *   if (group.status().ranges.length === 64) stop.abort(); // alone, it holds all
 * });
 * await group.run({ signal: stop.signal });
 * assertEquals(group.ranges(), []);
 * ```
 */
export class ShardGroup implements ShardSource {
  /** See {@linkcode ShardGroupOptions.name}. */
  readonly name: string;
  /** See {@linkcode ShardGroupOptions.by}. */
  readonly by: Exclude<ShardField, "controller">;
  readonly #leaseMs: number;
  readonly #requestMs: number;
  readonly #clock: ElectionClock;
  readonly #requests: GroupLeaseClient;
  readonly #feed: LeaseFeed;
  readonly #elector: LeaderElector;
  readonly #report: (error: unknown) => void;
  readonly #listeners = new Set<() => void>();
  readonly #hooks = new Set<ReleaseHook>();
  readonly #work: readonly RangeWork[] = Array.from({ length: RANGE_COUNT }, () => new RangeWork());
  /** See {@linkcode ShardGroupStatus.state}. */
  #state: ShardGroupStatus["state"] = "stopped";
  /** Everything that this process knows about the group's Leases. */
  readonly #leases: GroupLeases;
  /** Returns the rights that it needs and lacks. @internal */
  readonly [internals]: (wait: Abortable) => Promise<AccessRight[]>;
  /** The present term of the Lease of this process. */
  #term: Leadership | undefined;
  /** The time at which it began: others may not have been able to renew theirs before. */
  #sinceMs = 0;
  /** The numbers of the ranges that are held while the term is. */
  #held: readonly number[] = [];
  /** The same as hash ranges. Another array after each change. */
  #ranges: readonly HashRange[] = NONE;
  /** The uids of Leases that are being deleted. */
  readonly #deleting = new Set<string>();
  /** The number of writes about ranges on their way. */
  #writes = 0;
  /** Requests that nothing waits for until the end. */
  readonly #requested = new Set<Promise<void>>();
  /** Ends with the run, which happens once. */
  readonly #job = new DerivedController();
  #hasRun = false;
  /** `true` if the work on a range could not be ended. The process's Lease is left to expire then. */
  #hasUnfinished = false;
  /** Ends the wait for the next change, or `undefined` while nothing waits. */
  #wake: (() => void) | undefined;
  /** Set by a change that was not handled yet. */
  #hasChanged = false;

  /**
   * Creates a group. It sends no request yet. Tests may pass the `feed` with the Leases.
   *
   * @throws {TypeError} if the name or the identity cannot be part of a Lease's name, or there is no namespace.
   * @throws {RangeError} the same errors as {@linkcode LeaderElector} for these durations.
   */
  constructor(client: Pick<Client, "resource" | "namespace">, options: ShardGroupOptions, feed?: LeaseFeed) {
    checkNames("create a shard group", options, GROUP_OPTIONS);
    const { name, by = "uid", namespace = client.namespace, identity = crypto.randomUUID() } = options;
    const { leaseMs = 15_000, renewDeadlineMs = 10_000, renewMs = 5_000, clock = monotonicElectionClock } = options;
    checkName("name", name, /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    checkName("identity", identity, /^[a-z0-9]([-a-z0-9.]{0,150}[a-z0-9])?$/);
    const onError = this.#report = errorObserver(options.onError, () => `shard group "${name}"`);
    this.name = name;
    this.by = by;
    const labels = { [GROUP_LABEL]: name };
    const retryMs = Math.min(RETRY_MS, renewMs);
    this.#elector = new LeaderElector(client, {
      name: `${name}-member-${identity}`,
      namespace,
      identity,
      labels,
      release: false,
      onError,
      clock,
      leaseMs,
      renewDeadlineMs,
      renewMs,
      retryMs,
    });
    this.#leaseMs = leaseMs;
    this.#requestMs = (renewDeadlineMs - renewMs) / 2;
    this.#clock = clock;
    const rights = rightsTo("get list watch create update delete", Lease, [namespace]);
    this[internals] = (wait) => missingRights(client, rights, wait);
    this.#requests = client.resource(Lease, { namespace });
    this.#feed = feed ?? leaseInformer(client, { namespace, name, onError: options.onError });
    this.#leases = new GroupLeases(name, () => clock.now(), () => this.#change());
  }

  /**
   * Returns the ranges that this process holds now. You get another array after each change. It compares the clock, so
   * it is right immediately after a pause.
   */
  ranges(): readonly HashRange[] {
    return this.#term?.isHeld() === true ? this.#ranges : NONE;
  }

  /**
   * Returns the ranges that this process is about to give away, and that no other process holds yet. Their release
   * hooks are running.
   */
  releasing(): readonly HashRange[] {
    return this.#term?.isHeld() === true ? rangesOf(this.#releasing) : NONE;
  }

  /** See {@linkcode ShardSource.onChange}. */
  onChange(listener: () => void): Disposable {
    return added(this.#listeners, listener);
  }

  /**
   * Calls `hook` for each range that is to be given away, after {@linkcode ranges} has changed. The hook must resolve
   * when no work on the range is running. If it rejects, this process no longer gives the range away, and its Lease is
   * left to expire in the end. For lost ranges no hook is called, because others hold them already.
   */
  onRelease(hook: ReleaseHook): Disposable {
    return added(this.#hooks, hook);
  }

  /** Returns a snapshot of the group's state. */
  status(): ShardGroupStatus {
    const isHeld = this.#term?.isHeld() === true;
    const { sinceRenewalMs, lastError } = this.#elector.status();
    const members = new Set(Array.from(this.#leases.members.values(), ({ identity }) => identity));
    return {
      state: this.#state === "member" && !isHeld ? "joining" : this.#state,
      identity: this.#elector.identity,
      members: [...members].sort(),
      ranges: isHeld ? this.#held : [],
      releasing: this.#releasing.length,
      sinceRenewalMs,
      lastError,
    };
  }

  /**
   * Joins the group, and holds ranges until the signal aborts. Then it gives them away, and resolves. If the process
   * loses its ranges, it joins again: this is no failure. A group runs only once.
   *
   * @throws {Error} if it is running or has run.
   */
  async run(options: Abortable = {}): Promise<void> {
    checkNames(`run shard group "${this.name}"`, options, "signal");
    const { signal } = options;
    if (this.#hasRun) throw new Error(`Cannot run shard group "${this.name}": a group can run only once`);
    this.#hasRun = true;
    this.#state = "joining";
    const followed = this.#feed(this.#leases, { signal: this.#job.signal });
    try {
      await this.#stayMember(signal);
      if (!this.#hasUnfinished && !this.#work.some(({ isReleasing }) => isReleasing)) await this.#deleteOwn();
    } finally {
      this.#state = "stopped";
      this.#job.abort(new DOMException(`Shard group "${this.name}" has ended`, "AbortError"));
      await Promise.all([followed, ...this.#requested]);
    }
  }

  /** The numbers of the ranges whose work is being ended. */
  get #releasing(): readonly number[] {
    return [...this.#work.keys()].filter((range) => this.#work[range].isReleasing);
  }

  /** Is a member of the group until the signal aborts. */
  async #stayMember(signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted) {
      try {
        await this.#elector.run((term) => this.#act(term), { signal });
      } catch (error) {
        if (!(error instanceof LeadershipLostError)) throw error;
        this.#state = "joining";
      }
    }
  }

  /** Takes and gives ranges until the term is lost, or the process leaves and has given all. */
  async #act(term: Leadership): Promise<void> {
    this.#term = term;
    this.#sinceMs = this.#clock.now();
    this.#state = "member";
    const change = (): void => this.#change();
    term.signal.addEventListener("abort", change);
    term.lost.addEventListener("abort", change);
    let marking: Promise<void> | undefined;
    try {
      while (!term.lost.aborted) {
        if (term.signal.aborted) marking ??= this.#markLeaving(term);
        this.#hasChanged = false;
        const dueMs = this.#step();
        if (this.#isLeaving && this.#isDone()) return;
        if (!this.#hasChanged) await this.#waitUntil(dueMs, term.lost);
      }
    } finally {
      term.signal.removeEventListener("abort", change);
      term.lost.removeEventListener("abort", change);
      await marking;
      this.#term = undefined;
      this.#publish([], this.#releasing.length > 0); // which are lost, too
    }
  }

  /** Marks this process's Lease: it takes no more ranges. Then it gives its ranges away. */
  async #markLeaving(term: Leadership): Promise<void> {
    while (!term.lost.aborted) {
      try {
        await this.#limited(term.lost, async (limit) => {
          const lease = copyOf(await this.#requests.get(`${this.name}-member-${this.#elector.identity}`, limit));
          const { metadata } = lease;
          const labels = { ...metadata.labels, [LEAVING_LABEL]: "true" };
          await this.#requests.update({ ...lease, metadata: { ...metadata, labels } }, limit);
        });
        break;
      } catch (error) {
        if (term.lost.aborted) return;
        this.#failed(error);
        await pauseOf(this.#clock, isConflict(error) ? 0 : RETRY_MS, term.lost);
      }
    }
    this.#state = "leaving";
    this.#change();
  }

  get #isLeaving(): boolean {
    return this.#state === "leaving";
  }

  /** Does the next steps, and returns the time at which more may be due. */
  #step(): number {
    const me = this.#leases.members.get(this.#elector.status().uid ?? "");
    if (me === undefined || !this.#leases.hasSynced || !this.#term?.isHeld()) {
      this.#publish([]);
      // The elector may learn the uid of a new Lease after the informer has passed it on.
      return this.#clock.now() + RETRY_MS;
    }
    let dueMs = this.#removeExpired(me);
    const staying = [...this.#leases.members.values()].filter((member) =>
      !member.isLeaving && !(member === me && this.#isLeaving)
    );
    const holders = this.#work.map((_, range) => this.#leases.holderOf(range));
    const plan = planRanges(staying.map(({ uid }) => uid), holders);
    const held: number[] = [];
    const released: number[] = [];
    for (const [range, work] of this.#work.entries()) {
      if (work.isReleasing) continue;
      const holder = holders[range] === undefined ? "gone" : holders[range] === me.uid ? "me" : "other";
      const target = plan[range] === undefined ? "nobody" : plan[range] === me.uid ? "me" : "other";
      const step = rangeStep(holder, target, this.#isReleased(range));
      if (step === "hold") held.push(range);
      else if (step === "release") released.push(range);
      else if (step === "write" && !work.isWriting && this.#writes < MAX_WRITES) {
        if (work.retryAtMs <= this.#clock.now()) {
          this.#keep(this.#write(range, this.#leases.members.get(plan[range]!)!));
        } else dueMs = Math.min(dueMs, work.retryAtMs);
      }
    }
    for (const range of released) this.#work[range].isReleasing = true;
    this.#publish(held);
    for (const range of released) this.#release(range);
    return dueMs;
  }

  /** Returns `true` if this process has ended its work on a range since its Lease was written. */
  #isReleased(range: number): boolean {
    const { releasedVersion } = this.#work[range];
    const { resourceVersion = "0" } = this.#leases.ranges[range]?.metadata ?? {};
    return releasedVersion !== "" && compareResourceVersions(resourceVersion, releasedVersion) <= 0;
  }

  /** Returns `true` when nothing is left to be given away. Before the Leases are known, nothing was held. */
  #isDone(): boolean {
    if (!this.#leases.hasSynced) return true;
    const me = this.#elector.status().uid;
    const hasOthers = [...this.#leases.members.values()].some(({ uid, isLeaving }) => uid !== me && !isLeaving);
    return this.#work.every(({ isReleasing, isWriting }, range) =>
      this.#hasUnfinished || (!isReleasing && !isWriting &&
        (this.#leases.holderOf(range) !== me || (this.#isReleased(range) && !hasOthers)))
    );
  }

  /** Ends the work on a range. */
  async #release(range: number): Promise<void> {
    const work = this.#work[range];
    try {
      await Promise.all(Array.from(this.#hooks, (hook) => hook(hashRange(range, RANGE_COUNT))));
    } catch (error) {
      this.#hasUnfinished = true;
      this.#failed(error);
      this.#change();
      return;
    }
    work.isReleasing = false;
    work.releasedVersion = this.#leases.ranges[range]?.metadata.resourceVersion ?? "";
    this.#change();
  }

  /** Makes a member the holder of a range, unless its Lease has changed. */
  async #write(range: number, holder: GroupMember): Promise<void> {
    const work = this.#work[range];
    const before = this.#leases.ranges[range];
    const spec = {
      ...before?.spec,
      holderIdentity: this.#leases.holderIdentity(holder),
      acquireTime: microTimestampNow(),
      leaseTransitions: (before?.spec?.leaseTransitions ?? -1) + 1,
    };
    const metadata = { name: this.#leases.rangeName(range), labels: { [GROUP_LABEL]: this.name } };
    work.isWriting = true;
    this.#writes++;
    try {
      const written = await this.#limited(
        undefined,
        (limit) =>
          before === undefined
            ? this.#requests.create({ metadata, spec }, limit)
            : this.#requests.update({ ...before, spec }, limit),
      );
      this.#leases.seen(written);
    } catch (error) {
      // The watch brings the other process's write.
      work.retryAtMs = this.#clock.now() + RETRY_MS;
      this.#failed(error);
    } finally {
      work.isWriting = false;
      this.#writes--;
      this.#change();
    }
  }

  /**
   * Deletes the Leases of processes that have not renewed them in time. Returns the time at which the next one expires.
   * The processes take turns, so only one of them sends the request.
   */
  #removeExpired(me: GroupMember): number {
    const nowMs = this.#clock.now();
    const dueOf = ({ observedMs, lease }: GroupMember): number =>
      Math.max(observedMs, this.#sinceMs) + (lease.spec?.leaseDurationSeconds ?? this.#leaseMs / 1_000) * 1_000;
    const others = [...this.#leases.members.values()].filter((member) => member !== me);
    const before = others.filter((member) => dueOf(member) > nowMs && member.uid < me.uid).length;
    let nextMs = Infinity;
    for (const member of others) {
      const dueMs = dueOf(member) + Math.min(before, 10) * TURN_MS;
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
      else if (!this.#deleting.has(member.uid)) this.#keep(this.#remove(member));
    }
    return nextMs;
  }

  async #remove({ uid, lease }: GroupMember): Promise<void> {
    this.#deleting.add(uid);
    try {
      await this.#delete(lease.metadata.name, { uid, resourceVersion: lease.metadata.resourceVersion });
      this.#leases.gone(lease);
    } catch (error) {
      this.#failed(error);
      await pauseOf(this.#clock, RETRY_MS, this.#job.signal);
    } finally {
      this.#deleting.delete(uid);
      this.#change();
    }
  }

  /** Deletes this process's Lease. It holds no range then. */
  async #deleteOwn(): Promise<void> {
    const { uid } = this.#elector.status();
    if (uid === undefined) return;
    try {
      await this.#delete(`${this.name}-member-${this.#elector.identity}`, { uid });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Deletes a Lease. It is no error if the Lease is gone already. */
  async #delete(
    name: string,
    preconditions: { readonly uid: string; readonly resourceVersion?: string },
  ): Promise<void> {
    try {
      await this.#limited(this.#job.signal, (limit) => this.#requests.delete(name, { ...limit, preconditions }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Calls the listeners if other ranges are held or released than before. */
  #publish(held: readonly number[], hasLost = false): void {
    const isSame = held.length === this.#held.length && held.every((range, index) => range === this.#held[index]);
    if (isSame && !hasLost) return;
    this.#held = held;
    this.#ranges = rangesOf(held);
    for (const listener of this.#listeners) callObserver(listener);
  }

  #change(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  /** Waits for a change, for `dueMs` of the clock, or until the signal aborts. */
  async #waitUntil(dueMs: number, signal: AbortSignal): Promise<void> {
    const waiting = new DerivedController(signal);
    this.#wake = () => waiting.abort(changed());
    try {
      await pauseOf(this.#clock, Math.max(0, dueMs - this.#clock.now()), waiting.signal);
    } finally {
      waiting.release();
      this.#wake = undefined;
    }
  }

  #limited<R>(signal: AbortSignal | undefined, request: (options: Abortable) => Promise<R>): Promise<R> {
    return limitedBy(this.#clock, this.#requestMs, `Leases of shard group "${this.name}"`, signal, request);
  }

  /** Keeps the promise of requests until they have ended. */
  #keep(requests: Promise<void>): void {
    this.#requested.add(requests);
    requests.then(() => this.#requested.delete(requests));
  }

  /** Reports an error of a request, unless another process was faster, or the run has ended. */
  #failed(error: unknown): void {
    if (this.#job.signal.aborted) return;
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return;
    this.#report(error);
  }
}

function rangesOf(numbers: readonly number[]): readonly HashRange[] {
  return mergedRanges(numbers.map((range) => hashRange(range, RANGE_COUNT)));
}

function added<I>(set: Set<I>, item: I): Disposable {
  set.add(item);
  return { [Symbol.dispose]: () => void set.delete(item) };
}

function checkName(field: string, value: string, form: RegExp): void {
  if (typeof value === "string" && form.test(value)) return;
  throw new TypeError(
    `Cannot create a shard group: ${field} must be usable in names of Leases (lower-case letters, digits and "-"), ` +
      `but it is ${JSON.stringify(value)}`,
  );
}
