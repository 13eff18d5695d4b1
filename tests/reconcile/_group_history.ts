import type { Client } from "@kube/informer";
import type { Lease } from "@kube/informer/kinds/coordination/v1";
import { ShardGroup } from "@kube/informer/reconcile";
import type { Abortable } from "../../src/api/options.ts";
import { UnreachableError } from "../../src/api/status.ts";
import type { GroupLeaseClient, GroupLeases, LeaseFeed } from "../../src/reconcile/group_leases.ts";
import type { ElectionClock, LeaseDraft } from "../../src/reconcile/leader_elector.ts";
import { Random, seedGlobals } from "../../src/testing/random.ts";
import { FakeTime } from "../support/fake_time.ts";
import { refused } from "../support/fixtures.ts";
import { SimulatedProcess, Timeline } from "./_timeline.ts";

/** A way in which a group could be wrong, to show that histories find it. */
export interface GroupBug {
  /** Replaces the clock of each process. */
  readonly clock?: (clock: ElectionClock) => ElectionClock;
  /** Replaces a Lease that a process sends. */
  readonly sent?: (lease: Lease) => Lease;
  /** Calls no hook before a range is given away. */
  readonly skipsHooks?: boolean;
}

const [LEASE_MS, DEADLINE_MS, RENEW_MS] = [15_000, 10_000, 5_000];
/** Clocks go so much too slow or too fast at most; the bound of the docs is a ratio of 1.5. */
const RATES = [0.85, 1.2] as const;
/** The time in which two may hold a range after a change by hand: until the deadline on the slowest clock. */
const BY_HAND_MS = DEADLINE_MS / RATES[0];
const PERIOD_MS = 90_000;
/** A range is held again so long after its holder has crashed, by the slowest clock. */
const CRASH_MS = (LEASE_MS + 2_000) / RATES[0];

/** The Leases of a group, and every change of them in order. */
class MemoryLeases {
  readonly leases = new Map<string, Lease>();
  readonly log: { readonly type: "seen" | "gone"; readonly lease: Lease }[] = [];
  readonly watching = new Set<() => void>();
  #revision = 0;

  get(name: string): Lease {
    const lease = this.leases.get(name);
    if (lease === undefined) throw refused(404);
    return lease;
  }

  create(draft: LeaseDraft): Lease {
    if (this.leases.has(draft.metadata.name)) throw refused(409, { reason: "AlreadyExists" });
    const metadata = { ...draft.metadata, uid: `u${this.#revision}` } as Lease["metadata"];
    return this.store({ ...draft, metadata });
  }

  update(lease: Lease): Lease {
    const { resourceVersion, uid } = this.get(lease.metadata.name).metadata;
    if (lease.metadata.uid !== uid) throw refused(409);
    if (lease.metadata.resourceVersion !== "" && lease.metadata.resourceVersion !== resourceVersion) throw refused(409);
    return this.store(lease);
  }

  delete(name: string, { uid, resourceVersion }: { readonly uid?: string; readonly resourceVersion?: string }): void {
    const { metadata } = this.get(name);
    if (uid !== undefined && uid !== metadata.uid) throw refused(409);
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) throw refused(409);
    const lease = this.store(this.get(name), "gone");
    this.leases.delete(lease.metadata.name);
  }

  store(lease: Omit<Lease, "metadata"> & Pick<Lease, "metadata">, type: "seen" | "gone" = "seen"): Lease {
    const stored = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#revision) } } as Lease;
    this.leases.set(lease.metadata.name, stored);
    this.log.push({ type, lease: stored });
    for (const changed of this.watching) changed();
    return stored;
  }
}

/** One process of the group. */
interface Member {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly group: ShardGroup;
  readonly stop: AbortController;
  /** The ranges whose work ends, by their starts. */
  readonly ending: Set<number>;
  isOver: boolean;
}

/** Several processes of a group under random faults; `play` returns what went wrong. */
export class GroupHistory {
  readonly #random: Random;
  readonly #server = new MemoryLeases();
  readonly #bug: GroupBug;
  readonly #timeline: Timeline;
  readonly #members: Member[] = [];
  readonly #problems: string[] = [];
  readonly #time: FakeTime;
  /** The events so far, printed when a promise is broken. */
  readonly log: string[] = [];
  #byHandMs = -Infinity;
  #isCalm = false;
  /** The longest that a request, its answer or an event takes on the way. */
  #latencyMs = 50;
  /** The processes that cannot reach the server. */
  readonly #cutOff = new Set<string>();

  constructor(seed: number, bug: GroupBug = {}) {
    this.#random = new Random(seed);
    this.#bug = bug;
    this.#time = new FakeTime();
    // The time of day is another one at each moment: none of it may matter.
    const jump = (): void => this.#time.setClock(Date.UTC(2020, 0, 1) + this.#random.below(2 ** 40));
    this.#timeline = new Timeline(jump, () => this.#check());
  }

  /** The number of changes of Leases of ranges. */
  get moves(): number {
    return this.#server.log.filter(({ lease }) => lease.metadata.name.includes("-range-")).length;
  }

  /** Plays the history to its end. */
  async play(): Promise<readonly string[]> {
    const seeded = seedGlobals(() => this.#random.next());
    try {
      for (let count = 2 + this.#random.below(4); count > 0; count--) {
        this.#timeline.after(this.#random.below(20_000), () => this.#start());
      }
      for (let fault = 3 + this.#random.below(8); fault > 0; fault--) {
        this.#timeline.after(this.#random.below(PERIOD_MS), () => this.#fault());
      }
      await this.#timeline.pass(PERIOD_MS);
      if (this.#problems.length === 0) await this.#calm();
      if (this.#problems.length === 0) await this.#end();
    } finally {
      seeded[Symbol.dispose]();
      this.#time[Symbol.dispose]();
    }
    return this.#problems;
  }

  get #alive(): Member[] {
    return this.#members.filter(({ process, isOver }) => !process.isDead && !isOver);
  }

  #say(line: string): void {
    this.log.push(`${(this.#timeline.nowMs / 1_000).toFixed(3)} ${line}`);
  }

  /** Starts a process whose identity nobody had before. */
  #start(): void {
    const name = `e${this.#members.length}`;
    const [slowest, fastest] = RATES;
    const rate = slowest + this.#random.next() * (fastest - slowest);
    const process = new SimulatedProcess(this.#timeline, rate, this.#random.below(1_000_000));
    const client = { namespace: "shop", resource: () => this.#leasesOf(name, process) } as unknown as Client;
    const clock = this.#bug.clock?.(process.clock) ?? process.clock;
    const durations = { leaseMs: LEASE_MS, renewDeadlineMs: DEADLINE_MS, renewMs: RENEW_MS };
    const options = { name: "it", identity: name, ...durations, clock, onError: () => {} };
    const group = new ShardGroup(client, options, this.#feedOf(name, process));
    const member = { name, process, group, stop: new AbortController(), ending: new Set<number>(), isOver: false };
    this.#members.push(member);
    this.#say(`${name} starts, its clock at ${rate.toFixed(2)}`);
    group.onChange(() => this.#say(`${name} holds ${group.status().ranges}`));
    group.onRelease(async ({ start }) => {
      const range = Number(start >> 58n);
      member.ending.add(range);
      const ended = process.clock.sleep(this.#isCalm ? 100 : this.#random.below(4_000));
      const end = ended.then(() => void member.ending.delete(range));
      if (!this.#bug.skipsHooks) await end;
    });
    group.run({ signal: member.stop.signal }).catch((error) => void this.#problems.push(`${name} failed: ${error}`))
      .then(() => {
        member.isOver = true;
        this.#say(`${name} has ended`);
      });
  }

  #startAgain(): void {
    if (!this.#isCalm) this.#start();
  }

  #fault(): void {
    if (this.#alive.length === 0) return;
    const { name, process, stop } = this.#random.pick(this.#alive);
    const forMs = this.#random.below(40_000);
    const kind = this.#random.pick(
      ["pause", "pause", "kill", "stop", "cut off", "cut off", "outage", "slow", "join", "touch", "by hand"] as const,
    );
    this.#say(`${kind} ${name}, for ${forMs} ms`);
    if (kind === "pause") {
      process.pause();
      this.#timeline.after(forMs, () => process.resume());
    } else if (kind === "kill") {
      process.kill();
      this.#timeline.after(forMs, () => this.#startAgain());
    } else if (kind === "stop") {
      process.run(() => stop.abort(new Error("stopped")));
      this.#timeline.after(forMs, () => this.#startAgain());
    } else if (kind === "cut off" || kind === "outage") {
      const names = kind === "outage" ? this.#members.map(({ name }) => name) : [name];
      for (const name of names) this.#cutOff.add(name);
      this.#timeline.after(forMs, () => {
        for (const name of names) this.#cutOff.delete(name);
        for (const changed of this.#server.watching) changed();
      });
    } else if (kind === "slow") {
      this.#latencyMs = 50 + this.#random.below(12_000);
      this.#timeline.after(forMs, () => void (this.#latencyMs = 50));
    } else if (kind === "join") this.#startAgain();
    else this.#edit(kind);
  }

  /** Changes a Lease by hand: something that does not matter, or its holder, or it is deleted. */
  #edit(kind: "touch" | "by hand"): void {
    const leases = [...this.#server.leases.values()];
    if (leases.length === 0) return;
    const lease = this.#random.pick(leases);
    if (kind === "touch") {
      this.#server.store({ ...lease, metadata: { ...lease.metadata, annotations: { seen: "yes" } } });
    } else if (this.#random.next() < 0.4) { // seldom, so that most histories have the strict promise
      this.#byHandMs = this.#timeline.nowMs;
      if (this.#random.next() < 0.5) this.#server.delete(lease.metadata.name, {});
      else this.#server.store({ ...lease, spec: { ...lease.spec, holderIdentity: this.#random.pick(["", "me_1"]) } });
    }
  }

  /** By the clocks at most one process has work on a range, paused or not. */
  #check(): void {
    if (this.#timeline.nowMs - this.#byHandMs <= BY_HAND_MS) return;
    const holders: (string | undefined)[] = [];
    for (const { name, group, ending } of this.#alive) {
      const { ranges, sinceRenewalMs = Infinity } = group.status();
      for (const range of sinceRenewalMs < DEADLINE_MS ? [...ranges, ...ending] : ranges) {
        if (holders[range] !== undefined && holders[range] !== name) {
          this.#problems.push(`${holders[range]} and ${name} hold ${range} at ${this.#timeline.nowMs}`);
        }
        holders[range] = name;
      }
    }
  }

  /** Without faults every range is held soon, in even shares, and again after a crash and a stop. */
  async #calm(): Promise<void> {
    this.#isCalm = true;
    this.#cutOff.clear();
    this.#latencyMs = 50;
    for (const { process } of this.#members) process.resume();
    for (let count = 3; count > 0; count--) this.#start();
    for (const changed of this.#server.watching) changed();
    this.#say("calm");
    await this.#timeline.pass(LEASE_MS / RATES[0] + 30_000);
    this.#expectAll("in the end");
    const [crashed, stopped] = this.#alive;
    crashed.process.kill();
    this.#say(`${crashed.name} crashes`);
    await this.#timeline.pass(CRASH_MS);
    this.#expectAll(`after ${crashed.name} has crashed`);
    if (stopped.stop.signal.aborted) return;
    stopped.stop.abort(new Error("stopped"));
    this.#say(`${stopped.name} stops`);
    await this.#timeline.pass(2_000 + 100 / RATES[0]);
    this.#expectAll(`after ${stopped.name} was stopped`);
  }

  #expectAll(when: string): void {
    const alive = this.#alive.filter(({ stop }) => !stop.signal.aborted);
    const shares = alive.map(({ group }) => group.status().ranges.length);
    const held = new Set(alive.flatMap(({ group }) => group.status().ranges));
    if (held.size !== 64) this.#problems.push(`${held.size} ranges are held ${when}`);
    if (Math.max(...shares) - Math.min(...shares) > 1) this.#problems.push(`the shares are ${shares} ${when}`);
    const named = [...this.#server.leases.keys()].filter((name) => name.includes("-member-"));
    if (named.length !== alive.length) this.#problems.push(`the Leases are of ${named} ${when}`);
  }

  /** After a stop no Lease of a process is left. */
  async #end(): Promise<void> {
    for (const { stop } of this.#members) stop.abort(new Error("the end"));
    await this.#timeline.pass(30_000);
    for (const { name, group } of this.#alive) {
      this.#problems.push(`${name} does not end: ${JSON.stringify(group.status())}`);
    }
    const left = [...this.#server.leases.keys()].filter((name) => name.includes("-member-"));
    if (left.length > 0) this.#problems.push(`${left} are left`);
  }

  /** A watch of all changes in order, late by the latency; one that is cut off resumes. */
  #feedOf(name: string, process: SimulatedProcess): LeaseFeed {
    return {
      follow: (leases: GroupLeases, { signal }) => {
        let next = 0;
        const changed = (): void => {
          const upTo = this.#server.log.length;
          this.#timeline.after(this.#random.next() * this.#latencyMs, () => {
            if (this.#cutOff.has(name)) return;
            process.run(() => {
              for (; next < upTo && !signal.aborted; next++) {
                const { type, lease } = this.#server.log[next];
                leases[type](lease);
              }
              if (!leases.hasSynced) leases.synced();
            });
          });
        };
        this.#server.watching.add(changed);
        changed();
        return new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => {
            this.#server.watching.delete(changed);
            resolve();
          }, { once: true });
        });
      },
    };
  }

  #leasesOf(name: string, process: SimulatedProcess): GroupLeaseClient {
    const sent = this.#bug.sent ?? ((lease: Lease) => lease);
    const server = this.#server;
    return {
      get: (lease, options) => this.#request(name, process, () => server.get(lease), options),
      create: (lease, options) => this.#request(name, process, () => server.create(sent(lease as Lease)), options),
      update: (lease, options) => this.#request(name, process, () => server.update(sent(lease)), options),
      delete: (lease, options) =>
        this.#request(name, process, () => server.delete(lease, options.preconditions), options),
    };
  }

  /**
   * A request on its way: it may be late or lost, or its answer may be, and it is performed though nobody waits any
   * more.
   */
  #request<R>(name: string, process: SimulatedProcess, perform: () => R, { signal }: Abortable = {}): Promise<R> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal!.reason), { once: true });
      const settle = (callback: () => void): void => {
        this.#timeline.after(this.#random.next() * this.#latencyMs, () => {
          if (!this.#isLost(name)) process.run(callback);
        });
      };
      // Half of those that are cut off notice; the others wait for an answer.
      if (this.#cutOff.has(name) && this.#random.next() < 0.5) {
        return settle(() => reject(new UnreachableError("the server cannot be reached")));
      }
      this.#timeline.after(this.#random.next() * this.#latencyMs, () => {
        if (this.#isLost(name)) return;
        try {
          const answer = perform();
          settle(() => resolve(answer));
        } catch (error) {
          settle(() => reject(error));
        }
      });
    });
  }

  #isLost(name: string): boolean {
    return this.#cutOff.has(name) || (!this.#isCalm && this.#random.next() < 0.01);
  }
}
