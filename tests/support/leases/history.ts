import type { Client } from "@kube/informer";
import type { Lease } from "@kube/informer/kinds/coordination/v1";
import type { LeaderElectorOptions } from "@kube/informer/reconcile";
import type { Abortable } from "../../../src/engine/api/call_options.ts";
import { UnreachableError } from "../../../src/engine/api/status.ts";
import type { GroupLeaseClient } from "../../../src/operator/controllers/reconcile/group_leases.ts";
import type { ElectionClock } from "../../../src/operator/controllers/reconcile/lease_lock.ts";
import { Random, seedGlobals } from "../../../src/testing/fake/random.ts";
import { FakeTime } from "../times/fake_time.ts";
import type { LeaseServer } from "./servers.ts";
import { SimulatedProcess, Timeline } from "./timeline.ts";

/** A way in which an elector or a group could be wrong, to show that histories find it. */
export interface LeaseBug {
  /** Replaces the clock of each process. */
  readonly clock?: (clock: ElectionClock) => ElectionClock;
  /** Replaces a Lease that a process sends. */
  readonly sent?: (lease: Lease) => Lease;
  /** Ends a hook of a group before the work on its range has ended. */
  readonly skipsHooks?: boolean;
}

/** One process of a history. */
export interface Participant {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly stop: AbortController;
  /** True after its elector or group has ended. */
  isOver: boolean;
}

/** The options that all electors and groups of a history have. */
export type SharedOptions = Required<
  Pick<LeaderElectorOptions, "name" | "identity" | "leaseMs" | "renewDeadlineMs" | "clock" | "onError">
>;

/** The durations of Leases. */
export const [LEASE_MS, DEADLINE_MS] = [15_000, 10_000] as const;
/** Clocks go so much too slow or too fast at most; the bound of the docs is a ratio of 1.5. */
export const RATES = [0.85, 1.2] as const;
/** The time in which faults happen. */
export const PERIOD_MS = 90_000;
/** The earliest time of day. */
const START_MS = Date.UTC(2020, 0, 1);
/** The time in which two may hold a Lease after a change by hand: until the deadline on the slowest clock. */
const BY_HAND_MS = DEADLINE_MS / RATES[0];
/** The longest that a request, its answer or an event takes on the way, without a fault. */
const LATENCY_MS = 50;
const FAULTS = [
  "pause",
  "pause",
  "kill",
  "stop",
  "cut off",
  "cut off",
  "outage",
  "slow",
  "join",
  "touch",
  "by hand",
] as const;

/** Several processes that share Leases, under random faults; `play` returns what went wrong. */
export abstract class LeaseHistory<P extends Participant, S extends LeaseServer = LeaseServer> {
  protected readonly random: Random;
  protected readonly server: S;
  protected readonly bug: LeaseBug;
  protected readonly timeline: Timeline;
  protected readonly participants: P[] = [];
  protected readonly problems: string[] = [];
  protected isCalm = false;
  /** The longest that a request, its answer or an event takes on the way. */
  protected latencyMs = LATENCY_MS;
  /** The processes that cannot reach the server. */
  protected readonly cutOff = new Set<string>();
  /** The time of the last change by hand. */
  protected byHandMs = -Infinity;
  /** The events so far, printed when a promise is broken. */
  readonly log: string[] = [];
  readonly #time: FakeTime;

  constructor(seed: number, server: S, bug: LeaseBug = {}) {
    this.random = new Random(seed);
    this.server = server;
    this.bug = bug;
    this.#time = new FakeTime();
    // The time of day is another one at each moment: none of it may matter.
    const jump = (): void => this.#time.setClock(START_MS + this.random.below(2 ** 40));
    this.timeline = new Timeline(jump, () => {
      if (this.timeline.nowMs - this.byHandMs > BY_HAND_MS && this.haveNoticed()) this.check();
    });
  }

  /** The number of terms, or of moves of ranges: a history with few of them shows little. */
  abstract readonly acts: number;

  /** Makes the elector or the group of a process, and runs it; the promise settles when it has ended. */
  protected abstract begin(
    own: Participant,
    client: Client,
    options: SharedOptions,
  ): { readonly participant: P; readonly ended: Promise<void> };

  /** True if a process holds what others want. */
  protected abstract holds(participant: P): boolean;

  /** Looks for two that hold the same, after each moment that is not too close to a change by hand. */
  protected abstract check(): void;

  /** Without faults, all is held soon. */
  protected abstract calm(): Promise<void>;

  /** All processes have ended: returns the Leases that are not as they should be then. */
  protected abstract left(leases: readonly Lease[]): readonly Lease[];

  /** Somebody changes a Lease by hand. */
  protected changing(): void {
    this.byHandMs = this.timeline.nowMs;
  }

  /** True if a change by hand is known to all that learn of it by their watch alone. */
  protected haveNoticed(): boolean {
    return true;
  }

  /** The server can be reached again. */
  protected reconnected(): void {}

  /** Plays the history to its end. */
  async play(): Promise<readonly string[]> {
    const seeded = seedGlobals(() => this.random.next());
    try {
      for (let count = 2 + this.random.below(4); count > 0; count--) {
        this.timeline.after(this.random.below(10_000), () => this.start());
      }
      for (let fault = 3 + this.random.below(10); fault > 0; fault--) {
        this.timeline.after(this.random.below(PERIOD_MS), () => this.#fault());
      }
      await this.timeline.pass(PERIOD_MS);
      if (this.problems.length === 0) await this.#settle();
      if (this.problems.length === 0) await this.#end();
    } finally {
      seeded[Symbol.dispose]();
      this.#time[Symbol.dispose]();
    }
    return this.problems;
  }

  /** The processes that run. */
  protected get alive(): P[] {
    return this.participants.filter(({ process, isOver }) => !process.isDead && !isOver);
  }

  protected say(line: string): void {
    this.log.push(`${(this.timeline.nowMs / 1_000).toFixed(3)} ${line}`);
  }

  /** Starts a process whose identity nobody had before. */
  protected start(): void {
    const name = `e${this.participants.length}`;
    const [slowest, fastest] = RATES;
    const rate = slowest + this.random.next() * (fastest - slowest);
    const process = new SimulatedProcess(this.timeline, rate, this.random.below(1_000_000));
    const client = { namespace: "shop", resource: () => this.#leasesOf(name, process) } as unknown as Client;
    const clock = this.bug.clock?.(process.clock) ?? process.clock;
    this.say(`${name} starts, its clock at ${rate.toFixed(2)}`);
    const { participant, ended } = this.begin(
      { name, process, stop: new AbortController(), isOver: false },
      client,
      { name: "it", identity: name, leaseMs: LEASE_MS, renewDeadlineMs: DEADLINE_MS, clock, onError: () => {} },
    );
    this.participants.push(participant);
    ended.catch((error) => void this.problems.push(`${name} failed: ${error}`)).then(() => {
      participant.isOver = true;
      this.say(`${name} has ended`);
      if (!participant.stop.signal.aborted) this.#startAgain(this.random.below(3_000));
    });
  }

  #startAgain(afterMs: number): void {
    this.timeline.after(afterMs, () => {
      if (!this.isCalm) this.start();
    });
  }

  async #fault(): Promise<void> {
    const { alive } = this;
    if (alive.length === 0) return;
    const holding = alive.filter((participant) => this.holds(participant));
    const { name, process, stop } = this.random.pick(holding.length > 0 && this.random.next() < 0.6 ? holding : alive);
    const forMs = this.random.below(40_000);
    const kind = this.random.pick(FAULTS);
    this.say(`${kind} ${name}, for ${forMs} ms`);
    if (kind === "pause") {
      process.pause();
      this.timeline.after(forMs, () => process.resume());
    } else if (kind === "kill") {
      process.kill();
      this.#startAgain(forMs);
    } else if (kind === "stop") {
      process.run(() => stop.abort(new Error("stopped")));
      this.#startAgain(forMs);
    } else if (kind === "cut off" || kind === "outage") {
      const names = kind === "outage" ? this.participants.map(({ name }) => name) : [name];
      for (const name of names) this.cutOff.add(name);
      this.timeline.after(forMs, () => {
        for (const name of names) this.cutOff.delete(name);
        this.reconnected();
      });
    } else if (kind === "slow") {
      this.latencyMs = LATENCY_MS + this.random.below(12_000);
      this.timeline.after(forMs, () => void (this.latencyMs = LATENCY_MS));
    } else if (kind === "join") this.#startAgain(0);
    else await this.#edit(kind);
  }

  /** Changes a Lease by hand: something that does not matter, or its holder, or it is deleted. */
  async #edit(kind: "touch" | "by hand"): Promise<void> {
    const { items } = await this.server.list();
    if (items.length === 0) return;
    const lease = this.random.pick(items);
    const { name, uid } = lease.metadata;
    if (kind === "touch") {
      await this.server.update({ ...lease, metadata: { ...lease.metadata, annotations: { seen: "yes" } } });
    } else if (this.random.next() < 0.4) { // seldom, so that most histories have the strict promise
      this.changing();
      if (this.random.next() < 0.5) await this.server.delete(name, { preconditions: { uid } });
      else {await this.server.update({
          ...lease,
          spec: { ...lease.spec, holderIdentity: this.random.pick(["", "me_1"]) },
        });}
    }
  }

  async #settle(): Promise<void> {
    this.isCalm = true;
    this.cutOff.clear();
    this.latencyMs = LATENCY_MS;
    for (const { process } of this.participants) process.resume();
    this.reconnected();
    this.say("calm");
    await this.calm();
  }

  /** After a stop no work is in progress, and the Leases are free. */
  async #end(): Promise<void> {
    for (const { stop } of this.participants) stop.abort(new Error("the end"));
    await this.timeline.pass(30_000);
    for (const { name } of this.alive) this.problems.push(`${name} does not end`);
    const left = this.left((await this.server.list()).items);
    if (left.length > 0) this.problems.push(`Leases are left: ${JSON.stringify(left)}`);
  }

  #leasesOf(name: string, process: SimulatedProcess): GroupLeaseClient {
    const { server, bug: { sent = (lease: Lease): Lease => lease } } = this;
    return {
      get: (lease, options) => this.#request(name, process, () => server.get(lease), options),
      create: (lease, options) => this.#request(name, process, () => server.create(sent(lease as Lease)), options),
      update: (lease, options) => this.#request(name, process, () => server.update(sent(lease)), options),
      delete: (lease, options) => this.#request(name, process, () => server.delete(lease, options), options),
    };
  }

  /**
   * A request on its way: it may be late or lost, or its answer may be, and it is performed though nobody waits any
   * more.
   */
  #request<R>(
    name: string,
    process: SimulatedProcess,
    perform: () => R | Promise<R>,
    { signal }: Abortable = {},
  ): Promise<R> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal!.reason), { once: true });
      const settle = (callback: () => void): void => {
        this.timeline.after(this.random.next() * this.latencyMs, () => {
          if (!this.#isLost(name)) process.run(callback);
        });
      };
      // Half of those that are cut off notice; the others wait for an answer.
      if (this.cutOff.has(name) && this.random.next() < 0.5) {
        return settle(() => reject(new UnreachableError("the server cannot be reached")));
      }
      this.timeline.after(this.random.next() * this.latencyMs, async () => {
        if (this.#isLost(name)) return;
        try {
          const answer = await perform();
          settle(() => resolve(answer));
        } catch (error) {
          settle(() => reject(error));
        }
      });
    });
  }

  #isLost(name: string): boolean {
    return this.cutOff.has(name) || (!this.isCalm && this.random.next() < 0.01);
  }
}
