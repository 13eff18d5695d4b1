import { type Client, compareResourceVersions } from "@kube/informer";
import type { Lease } from "@kube/informer/kinds/coordination/v1";
import { LeaderElector, type Leadership, LeadershipLostError } from "@kube/informer/reconcile";
import type { Abortable } from "../../src/api/options.ts";
import { UnreachableError } from "../../src/api/status.ts";
import type { ElectionClock, LeaseClient } from "../../src/reconcile/leader_elector.ts";
import { Random, seedGlobals } from "../../src/testing/random.ts";
import type { LeaseServer } from "./_lease_servers.ts";
import { SimulatedProcess, Timeline } from "./_timeline.ts";
import { FakeTime } from "../support/fake_time.ts";

/** A way in which an elector could be wrong, to show that histories find it. */
export interface ElectorBug {
  /** Replaces the clock of each elector. */
  readonly clock?: (clock: ElectionClock) => ElectionClock;
  /** Replaces a Lease that an elector sends. */
  readonly sent?: (lease: Lease) => Lease;
}

const LEASE_MS = 15_000;
const DEADLINE_MS = 10_000;
const RETRY_MS = 2_000;
/** Clocks go so much too slow or too fast at most; the bound of the docs is a ratio of 1.5. */
const RATES = [0.85, 1.2] as const;
/** The time in which two may lead after a change by hand: until the deadline on the slowest clock. */
const BY_HAND_MS = DEADLINE_MS / RATES[0];
const PERIOD_MS = 120_000;
/** Without faults somebody leads after this: a lease runs out on the slowest clock, and an attempt follows. */
const CALM_MS = LEASE_MS / RATES[0] + 2 * RETRY_MS * 2.2 / RATES[0] + 5_000;

/** One run of an elector in a process. */
interface Candidate {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly elector: LeaderElector;
  readonly stop: AbortController;
  leadership: Leadership | undefined;
  isOver: boolean;
}

/** Several electors on one Lease under random faults; `play` returns what went wrong. */
export class ElectionHistory {
  readonly #random: Random;
  readonly #server: LeaseServer;
  readonly #bug: ElectorBug;
  readonly #timeline: Timeline;
  readonly #candidates: Candidate[] = [];
  readonly #problems: string[] = [];
  readonly #time: FakeTime;
  /** The events so far, printed when a promise is broken. */
  readonly log: string[] = [];
  /** The terms in the order of their beginning. */
  terms = 0;
  #lastVersion = "0";
  #lastTransitions = -1;
  #byHandMs = -Infinity;
  #isCalm = false;
  /** The longest that a request or its answer takes on the way. */
  #latencyMs = 50;
  /** The candidates that cannot reach the server. */
  readonly #cutOff = new Set<string>();

  constructor(seed: number, server: LeaseServer, bug: ElectorBug = {}) {
    this.#random = new Random(seed);
    this.#server = server;
    this.#bug = bug;
    this.#time = new FakeTime();
    // The time of day is another one at each moment: none of it may matter.
    const jump = (): void => this.#time.setClock(Date.UTC(2020, 0, 1) + this.#random.below(2 ** 40));
    this.#timeline = new Timeline(jump, () => this.#check());
  }

  /** Plays the history to its end. */
  async play(): Promise<readonly string[]> {
    const seeded = seedGlobals(() => this.#random.next());
    try {
      const count = 2 + this.#random.below(3);
      for (let index = 0; index < count; index++) {
        this.#timeline.after(this.#random.below(5_000), () => this.#start());
      }
      for (let fault = 4 + this.#random.below(12); fault > 0; fault--) {
        this.#timeline.after(this.#random.below(PERIOD_MS), () => this.#fault());
      }
      await this.#timeline.pass(PERIOD_MS);
      await this.#calm();
      await this.#end();
    } finally {
      seeded[Symbol.dispose]();
      this.#time[Symbol.dispose]();
    }
    return this.#problems;
  }

  #say(line: string): void {
    this.log.push(`${(this.#timeline.nowMs / 1_000).toFixed(3)} ${line}`);
  }

  /** Starts a process whose identity nobody had before. */
  #start(): void {
    const name = `e${this.#candidates.length}`;
    const [slowest, fastest] = RATES;
    const rate = slowest + this.#random.next() * (fastest - slowest);
    const process = new SimulatedProcess(this.#timeline, rate, this.#random.below(1_000_000));
    const leases = this.#leasesOf(name, process);
    const client = { namespace: "shop", resource: () => leases } as unknown as Client;
    const clock = this.#bug.clock?.(process.clock) ?? process.clock;
    const options = { name: "it", identity: name, leaseMs: LEASE_MS, renewDeadlineMs: DEADLINE_MS, retryMs: RETRY_MS };
    const elector = new LeaderElector(client, { ...options, clock });
    const stop = new AbortController();
    const candidate: Candidate = { name, process, elector, stop, leadership: undefined, isOver: false };
    this.#candidates.push(candidate);
    this.#say(`${name} starts, its clock at ${rate.toFixed(2)}`);
    const again = (): void => {
      candidate.isOver = true;
      if (!stop.signal.aborted) {
        this.#timeline.after(this.#random.below(3_000), () => this.#startAgain());
      }
    };
    elector.run((leadership) => this.#work(candidate, leadership), { signal: stop.signal }).then(again, (error) => {
      if (!(error instanceof LeadershipLostError) && error !== FAILED) this.#problems.push(`${name} failed: ${error}`);
      this.#say(`${name} ends: ${error}`);
      again();
    });
  }

  #startAgain(): void {
    if (!this.#isCalm) this.#start();
  }

  async #work(candidate: Candidate, leadership: Leadership): Promise<void> {
    const { name, process } = candidate;
    const { transitions, resourceVersion } = leadership.fencing;
    this.#say(`${name} leads, ${transitions} transitions, version ${resourceVersion}`);
    this.terms++;
    if (compareResourceVersions(resourceVersion, this.#lastVersion) <= 0) {
      this.#problems.push(`the version of ${name}'s term is not newer than ${this.#lastVersion}`);
    }
    if (this.#byHandMs === -Infinity && transitions <= this.#lastTransitions) {
      this.#problems.push(`${name}'s term has ${transitions} transitions, as an earlier one`);
    }
    this.#lastVersion = resourceVersion;
    this.#lastTransitions = transitions;
    candidate.leadership = leadership;
    try {
      // Most work until they are stopped; some end or fail by themselves.
      const chance = this.#isCalm ? 1 : this.#random.next();
      const ownMs = Math.min(this.#random.below(40_000), (PERIOD_MS - this.#timeline.nowMs) * RATES[0]);
      const own = process.clock.sleep(chance < 0.1 ? ownMs : 10 ** 9, { signal: leadership.signal });
      await own.catch(() => {});
      if (leadership.signal.aborted) await process.clock.sleep(this.#random.below(4_000));
      else if (chance < 0.05) throw FAILED;
    } finally {
      this.#say(`${name} has ended its work`);
    }
  }

  #fault(): void {
    const alive = this.#candidates.filter(({ process, isOver }) => !process.isDead && !isOver);
    if (alive.length === 0) return;
    const leading = alive.filter(({ leadership }) => leadership?.isHeld);
    const { name, process, stop } = this.#random.pick(
      leading.length > 0 && this.#random.next() < 0.6 ? leading : alive,
    );
    const forMs = this.#random.below(40_000);
    const kind = this.#random.pick(["pause", "pause", "kill", "stop", "cut off", "cut off", "slow", "delete", "steal"]);
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
    } else if (kind === "cut off") {
      this.#cutOff.add(name);
      this.#timeline.after(forMs, () => void this.#cutOff.delete(name));
    } else if (kind === "slow") {
      this.#latencyMs = 50 + this.#random.below(12_000);
      this.#timeline.after(forMs, () => void (this.#latencyMs = 50));
    } else if (this.#random.next() < 0.3) { // by hand: seldom, so that most histories have the strict promise
      this.#byHandMs = this.#timeline.nowMs;
      if (kind === "delete") this.#server.remove();
      else this.#server.steal("somebody");
    }
  }

  /**
   * By the clocks at most one candidate leads, paused or not, and at most one that is not paused has a signal not
   * aborted.
   */
  #check(): void {
    if (this.#timeline.nowMs - this.#byHandMs <= BY_HAND_MS) return;
    const alive = this.#candidates.filter(({ process, isOver }) => !process.isDead && !isOver);
    const holders = alive.filter(({ leadership }) => leadership?.isHeld).map(({ name }) => name);
    const working = alive.filter(({ process, leadership }) =>
      !process.isPaused && leadership && !leadership.signal.aborted
    );
    if (holders.length > 1) this.#problems.push(`${holders} hold the lease at ${this.#timeline.nowMs}`);
    if (working.length > 1) {
      this.#problems.push(`${working.map(({ name }) => name)} lead at ${this.#timeline.nowMs}`);
    }
  }

  /** Without faults somebody leads soon, and keeps leading. */
  async #calm(): Promise<void> {
    this.#isCalm = true;
    this.#cutOff.clear();
    this.#latencyMs = 50;
    for (const { process } of this.#candidates) process.resume();
    this.#start();
    this.#say("calm");
    await this.#timeline.pass(CALM_MS);
    const leads = this.#candidates.filter(({ leadership, process }) => leadership?.isHeld && !process.isDead);
    if (leads.length !== 1) this.#problems.push(`${leads.length} lead in the end`);
  }

  /** After a stop no work is in progress, and the lease is free. */
  async #end(): Promise<void> {
    for (const { stop } of this.#candidates) stop.abort(new Error("the end"));
    await this.#timeline.pass(30_000);
    for (const { name, process, isOver, elector } of this.#candidates) {
      if (!isOver && !process.isDead) this.#problems.push(`${name} does not end: ${JSON.stringify(elector.status())}`);
    }
    const holder = this.#server.lease?.spec?.holderIdentity;
    if (holder !== "") this.#problems.push(`"${holder}" holds the lease after the end`);
  }

  #leasesOf(name: string, process: SimulatedProcess): LeaseClient {
    const sent = this.#bug.sent ?? ((lease: Lease) => lease);
    return {
      get: (lease, options) => this.#request(name, process, () => this.#server.get(lease), options),
      create: (lease, options) =>
        this.#request(name, process, () => this.#server.create(sent(lease as Lease)), options),
      update: (lease, options) => this.#request(name, process, () => this.#server.update(sent(lease)), options),
    };
  }

  /**
   * A request on its way: it may be late or lost, or its answer may be, and it is performed though nobody waits any
   * more.
   */
  #request(
    name: string,
    process: SimulatedProcess,
    perform: () => Promise<Lease>,
    { signal }: Abortable = {},
  ): Promise<Lease> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal!.reason);
      signal?.addEventListener("abort", stop, { once: true });
      const settle = (callback: () => void): void => {
        this.#timeline.after(this.#random.next() * this.#latencyMs, () => {
          if (!this.#isLost(name)) process.run(callback);
        });
      };
      const refuse = (): void => reject(new UnreachableError("the server cannot be reached"));
      // Half of those that are cut off notice; the others wait for an answer.
      if (this.#cutOff.has(name) && this.#random.next() < 0.5) return settle(refuse);
      this.#timeline.after(this.#random.next() * this.#latencyMs, async () => {
        if (this.#isLost(name)) return;
        try {
          const lease = await perform();
          settle(() => resolve(lease));
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

/** The failure of a work. */
const FAILED = new Error("the work has failed");
