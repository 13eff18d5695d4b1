import { messageOf } from "../../errors/error_line.ts";
import type { FakeTime } from "../../testing/fake_time.ts";
import type { PerturbOptions, Statement } from "../plan/options.ts";
import { type Cluster, isAuxiliary } from "./cluster.ts";
import type { TrialRecord } from "./trial_record.ts";

/** The subjects of {@linkcode TrialChecks}. */
export interface TrialSubjects<World> {
  /** The objects. */
  readonly cluster: Cluster;
  /** The systems outside of the cluster. */
  readonly world: World;
  /** The time that passes while the controller converges. */
  readonly time: FakeTime;
  /** Receives failures. */
  readonly record: TrialRecord;
}

/** Checks what the options of a trial state, and the number of writes. */
export class TrialChecks<World> {
  readonly #options: PerturbOptions<World>;
  readonly #subjects: TrialSubjects<World>;
  #writes = 0;
  /** Writes that are not of leases and events. */
  #counted = 0;

  /** Checks nothing yet. */
  constructor(options: PerturbOptions<World>, subjects: TrialSubjects<World>) {
    this.#options = options;
    this.#subjects = subjects;
  }

  /** The number of writes that the server has accepted. */
  get writes(): number {
    return this.#writes;
  }

  /** Counts a write that the server has accepted, and checks the invariants and the number of writes. */
  written(resource: { readonly plural: string }): void {
    const { record } = this.#subjects;
    this.#writes++;
    if (!isAuxiliary(resource)) this.#counted++;
    this.checkInvariants();
    const { writesPerChange = 10 } = this.#options;
    const most = writesPerChange * (record.weight + 1);
    // Until the end of the steps, more changes may still account for the writes.
    if (this.#counted <= (record.isSettling ? 1 : 10) * most) return;
    const causes = `${record.weight} changes, starts and faults`;
    record.fail(`too many writes: ${this.#counted} for ${causes}; at most ${most} are allowed`);
  }

  /** Checks the invariants. */
  checkInvariants(): void {
    for (const [name, statement] of Object.entries(this.#options.invariants ?? {})) {
      this.#check(`the invariant "${name}" is violated`, statement);
    }
  }

  /** Does the work of the other controllers of the cluster. */
  tidy(): void {
    this.#subjects.cluster.tidy();
    const { environment } = this.#options;
    if (environment !== undefined) this.#check("the environment", environment);
  }

  /** Waits until the controller has converged and is quiet, deletes everything, and waits again. */
  async settle(): Promise<void> {
    const { cluster, record } = this.#subjects;
    const { converges, keeps = [] } = this.#options;
    await this.#converge(() => this.#violation(converges));
    if (record.failure !== undefined) return;
    record.weight += cluster.deleteRoots();
    record.note(() => "all objects that the controller has not created are deleted");
    await this.#converge(() => cluster.leftover(keeps) ?? this.#violation(converges));
  }

  async #converge(violation: () => string | undefined): Promise<void> {
    const { time, record } = this.#subjects;
    const { settleMs = 600_000, quietMs = 120_000, quietWrites = 0 } = this.#options;
    const endMs = performance.now() + settleMs;
    let noisy: string | undefined;
    for (
      let tickMs = 500;
      performance.now() < endMs && record.failure === undefined;
      tickMs = Math.min(2 * tickMs, 60_000)
    ) {
      await time.tickAsync(tickMs);
      this.tidy();
      this.checkInvariants();
      if (violation() !== undefined) continue;
      const before = this.#counted;
      await time.tickAsync(quietMs);
      this.tidy();
      const writes = this.#counted - before;
      if (writes <= quietWrites && violation() === undefined) return;
      noisy = `${writes} writes in ${quietMs / 1_000} s in which nothing changed`;
    }
    if (record.failure !== undefined) return;
    const left = violation();
    if (left === undefined) record.fail(`a hot loop: ${noisy}`);
    else record.fail(`not converged ${settleMs / 1_000} s after the last change: ${left}`);
  }

  #check(what: string, statement: Statement<World>): void {
    const violation = this.#violation(statement);
    if (violation !== undefined) this.#subjects.record.fail(`${what}: ${violation}`);
  }

  #violation(statement: Statement<World>): string | undefined {
    const { cluster, world } = this.#subjects;
    try {
      const result = statement(cluster.server, world);
      return result === false ? "it does not hold" : typeof result === "string" ? result : undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
