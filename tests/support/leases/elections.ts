import { type Client, compareResourceVersions } from "@kube/informer";
import type { Lease } from "@kube/informer/kinds/coordination/v1";
import { LeaderElector, type Leadership, LeadershipLostError } from "@kube/informer/reconcile";
import {
  LEASE_MS,
  type LeaseBug,
  LeaseHistory,
  type Participant,
  PERIOD_MS,
  RATES,
  type SharedOptions,
} from "./history.ts";
import { type LeaseServer, MemoryLeases } from "./servers.ts";

const RETRY_MS = 2_000;
/** Without faults somebody leads after this: a lease runs out on the slowest clock, and an attempt follows. */
const CALM_MS = LEASE_MS / RATES[0] + 2 * RETRY_MS * 2.2 / RATES[0] + 5_000;

/** One run of an elector in a process. */
interface Candidate extends Participant {
  leadership?: Leadership;
}

/** Several electors on one Lease. */
export class ElectionHistory extends LeaseHistory<Candidate> {
  acts = 0;
  #lastVersion = "0";
  #lastTransitions = -1;

  constructor(seed: number, bug?: LeaseBug, server: LeaseServer = new MemoryLeases()) {
    super(seed, server, bug);
  }

  protected override begin(
    candidate: Candidate,
    client: Client,
    options: SharedOptions,
  ): { readonly participant: Candidate; readonly ended: Promise<void> } {
    const elector = new LeaderElector(client, { ...options, retryMs: RETRY_MS });
    const work = (leadership: Leadership): Promise<void> => this.#work(candidate, leadership);
    const ended = elector.run(work, { signal: candidate.stop.signal }).catch((error) => {
      if (!(error instanceof LeadershipLostError) && error !== FAILED) throw error;
      this.say(`${candidate.name} ends: ${error}`);
    });
    return { participant: candidate, ended };
  }

  protected override holds({ leadership }: Candidate): boolean {
    return leadership?.isHeld() === true;
  }

  /**
   * By the clocks at most one candidate leads, paused or not, and at most one that is not paused has a signal not
   * aborted.
   */
  protected override check(): void {
    const holders = this.alive.filter((candidate) => this.holds(candidate));
    const working = this.alive.filter(({ process, leadership }) =>
      !process.isPaused && leadership?.signal.aborted === false
    );
    for (const leading of [holders, working]) {
      if (leading.length < 2) continue;
      this.problems.push(`${leading.map(({ name }) => name)} lead at ${this.timeline.nowMs}`);
    }
  }

  /** Somebody leads soon, and keeps leading. */
  protected override async calm(): Promise<void> {
    this.start();
    await this.timeline.pass(CALM_MS);
    const { length } = this.alive.filter((candidate) => this.holds(candidate));
    if (length !== 1) this.problems.push(`${length} lead in the end`);
  }

  protected override left(leases: readonly Lease[]): readonly Lease[] {
    return leases.filter(({ spec }) => spec?.holderIdentity !== "");
  }

  async #work(candidate: Candidate, leadership: Leadership): Promise<void> {
    const { name, process } = candidate;
    const { transitions, resourceVersion } = leadership.fencing;
    this.say(`${name} leads, ${transitions} transitions, version ${resourceVersion}`);
    this.acts++;
    if (compareResourceVersions(resourceVersion, this.#lastVersion) <= 0) {
      this.problems.push(`the version of ${name}'s term is not newer than ${this.#lastVersion}`);
    }
    if (this.byHandMs === -Infinity && transitions <= this.#lastTransitions) {
      this.problems.push(`${name}'s term has ${transitions} transitions, as an earlier one`);
    }
    this.#lastVersion = resourceVersion;
    this.#lastTransitions = transitions;
    candidate.leadership = leadership;
    try {
      // Most work until they are stopped; some end or fail by themselves.
      const chance = this.isCalm ? 1 : this.random.next();
      const ownMs = Math.min(this.random.below(40_000), (PERIOD_MS - this.timeline.nowMs) * RATES[0]);
      const own = process.clock.sleep(chance < 0.1 ? ownMs : 10 ** 9, { signal: leadership.signal });
      await own.catch(() => {});
      if (leadership.signal.aborted) await process.clock.sleep(this.random.below(4_000));
      else if (chance < 0.05) throw FAILED;
    } finally {
      this.say(`${name} has ended its work`);
    }
  }
}

/** The failure of a work. */
const FAILED = new Error("the work has failed");
