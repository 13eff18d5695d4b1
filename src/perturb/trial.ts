import { Random } from "../testing/random.ts";
import { messageOf } from "../errors/errors.ts";
import { FakeTime } from "../testing/fake_time.ts";
import {
  type PerturbOptions,
  type PerturbPlan,
  type PerturbStep,
  type Statement,
  type UserChange,
  weightOf,
} from "./plan.ts";
import { Cluster, isAuxiliary, Network } from "./network.ts";
import { Agenda, ProcessSlots, TrialRecord } from "./process.ts";
import { FakeApiServer } from "../testing/fake_api_server.ts";

const METHODS = ["debug", "log", "info", "warn", "error"] as const;

/** Passes what is written to the console to `take`, instead of printing it, until it is disposed. */
class CapturedConsole implements Disposable {
  readonly #real = METHODS.map((name) => globalThis.console[name]);

  /** Replaces the methods of the console. */
  constructor(take: (text: string) => void) {
    for (const name of METHODS) globalThis.console[name] = (...values: unknown[]) => take(values.map(String).join(" "));
  }

  /** Restores the methods of the console. */
  [Symbol.dispose](): void {
    for (const [at, name] of METHODS.entries()) globalThis.console[name] = this.#real[at];
  }
}

/**
 * Makes `Math.random`, `crypto.randomUUID` and `crypto.getRandomValues` depend on a seed alone, until it is disposed.
 */
class SeededGlobals implements Disposable {
  readonly #random = Math.random;
  readonly #uid = crypto.randomUUID;
  readonly #values = crypto.getRandomValues;

  /** Replaces the functions. */
  constructor(seed: number) {
    const random = new Random(seed);
    Math.random = (): number => random.next();
    crypto.randomUUID = () => random.uid() as ReturnType<typeof crypto.randomUUID>;
    crypto.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
      if (array === null) return array;
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = random.below(256);
      return array;
    };
  }

  /** Restores the functions. */
  [Symbol.dispose](): void {
    Math.random = this.#random;
    crypto.randomUUID = this.#uid;
    crypto.getRandomValues = this.#values;
  }
}

/** The subjects of {@linkcode TrialChecks}. */
interface TrialSubjects<World> {
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
class TrialChecks<World> {
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

/** The result of a plan. */
export interface TrialResult {
  /** The first statement that was violated; undefined if none was. */
  readonly failure: string | undefined;
  /** The steps, numbered, each followed by the writes until the next one. */
  readonly lines: readonly string[];
  /** The number of writes that the server has accepted. */
  readonly writes: number;
}

/** The time that a process has to end after its signal has aborted. */
const STOP_MS = 60_000;

/** Performs a plan, and checks what the options state and what holds always. */
export async function tryPlan<World>(options: PerturbOptions<World>, plan: PerturbPlan): Promise<TrialResult> {
  using _globals = new SeededGlobals(plan.seed);
  using time = new FakeTime();
  const trial = new Trial(options, plan, time);
  using _console = new CapturedConsole((text) => trial.printed(text));
  const onRejection = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    trial.unhandled(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  try {
    await trial.run();
    return trial.result;
  } finally {
    globalThis.removeEventListener("unhandledrejection", onRejection);
  }
}

class Trial<World> {
  readonly #options: PerturbOptions<World>;
  readonly #plan: PerturbPlan;
  readonly #time: FakeTime;
  readonly #server: FakeApiServer;
  readonly #cluster: Cluster;
  readonly #world: World;
  readonly #record = new TrialRecord();
  readonly #agenda = new Agenda();
  readonly #checks: TrialChecks<World>;
  readonly #network: Network;
  readonly #slots: ProcessSlots<World>;

  constructor(options: PerturbOptions<World>, plan: PerturbPlan, time: FakeTime) {
    const { seed, streamingList } = plan;
    this.#options = options;
    this.#plan = plan;
    this.#time = time;
    const server = this.#server = new FakeApiServer({ seed, streamingList, resources: options.resources });
    const cluster = this.#cluster = new Cluster(server);
    const world = this.#world = options.world?.() as World;
    const record = this.#record;
    const checks = this.#checks = new TrialChecks(options, { cluster, world, time, record });
    this.#network = new Network({
      server,
      plan,
      record,
      onCrash: (process, downMs, later) => this.#slots.crash(process, downMs, later),
      onWrite: (route) => checks.written(route),
    });
    this.#slots = new ProcessSlots({
      controller: options.controller,
      world,
      answer: (process, request) => this.#network.answer(process, request),
      agenda: this.#agenda,
      record,
    });
  }

  get result(): TrialResult {
    const { failure } = this.#record;
    const unknown = [...this.#network.unknown].join(", ");
    const hint = unknown === ""
      ? ""
      : `; the server did not know ${unknown} when it was asked for: give the resource, as in ` +
        "`resources: [CronTab]`, so that it is served before the first object is created";
    return {
      failure: failure && failure + hint,
      lines: this.#record.linesOf(this.#plan.steps),
      writes: this.#checks.writes,
    };
  }

  /** Fails the seed: the error of a promise that nothing handles ends a process. */
  unhandled(reason: unknown): void {
    if (this.#slots.all.some((process) => process.hasCrashed && process.reason === reason)) return;
    this.#record.fail(`a rejection was not handled, which ends a process: ${messageOf(reason)}`);
  }

  /** Adds a line that a process has printed. */
  printed(text: string): void {
    const [line] = text.split("\n", 1);
    this.#record.note(() => `printed: ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`);
  }

  async run(): Promise<void> {
    const { setup } = this.#options;
    const { steps, seed } = this.#plan;
    if (setup !== undefined) this.#change("setup", setup, seed);
    this.#slots.start();
    for (const [at, step] of steps.entries()) {
      this.#record.step = at;
      this.#record.weight += weightOf(step);
      await this.#perform(step);
      this.#checks.checkInvariants();
      if (this.#record.failure !== undefined) break;
    }
    if (this.#record.failure === undefined) {
      this.#record.step = steps.length;
      this.#endFaults();
      await this.#checks.settle();
    }
    await this.#stop();
  }

  async #perform(step: PerturbStep): Promise<void> {
    const server = this.#server;
    const { faults } = this.#network;
    switch (step.do) {
      case "change":
        return this.#changeByName(step);
      case "wait":
        await this.#time.tickAsync(step.ms);
        return this.#checks.tidy();
      case "deleteAll":
        this.#record.weight += 2 * this.#cluster.deleteRoots({ again: step.again });
        return;
      case "crash":
        return this.#slots.crash(this.#slots.main, step.downMs);
      case "crashAtWrite":
        return faults.arm({ type: "crash", when: step.when, downMs: step.downMs }, step);
      case "restart":
        return this.#slots.restart(step.downMs);
      case "staleRestart":
        return this.#staleRestart(step);
      case "lag":
        return this.#endAfter(step.ms, this.#network.lag(step.of));
      case "unobserved":
        {
          // Without it, a reader that waits would receive the first event.
          using _silent = server.stallWatches();
          for (const change of step.changes) this.#changeByName(change);
          server.dropWatches();
        }
        return server.compact();
      case "race":
        return faults.arm({ type: "change", make: () => this.#changeByName(step) }, step);
      case "conflict":
      case "loseRequest":
        for (let time = 0; time < step.times; time++) {
          faults.arm({ type: step.do }, { writes: step.do === "conflict" });
        }
        return;
      case "loseAnswer":
        for (let time = 0; time < step.times; time++) faults.arm({ type: step.do }, step);
        return;
      case "refuse": {
        const { code, retryAfterSeconds, writes } = step;
        const fault = { type: step.do, code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
        for (let time = 0; time < step.times; time++) faults.arm(fault, { writes });
        return;
      }
      case "delayWrite":
        return faults.arm({ type: "delay", ms: step.ms });
      case "cut":
        return step.clean ? server.endWatches() : server.dropWatches();
      case "relist":
        return server.forceRelist();
      case "serverRestart":
        return server.restart({ history: step.history });
      case "skew":
        return server.clockSkew(step.ms);
      case "jump":
        return this.#time.setClock(this.#time.now + step.ms);
      case "second":
        return this.#slots.startSecond(step.ms, step.end);
      case "pause":
        this.#endAfter(step.ms, this.#slots.main.cutOff(), server.stallWatches());
        return this.#slots.startSecond(2 * step.ms, "stop");
      case "loseRenewals": {
        const process = this.#slots.main;
        process.lostRenewals = step.lost;
        this.#agenda.after(step.ms, () => process.lostRenewals = undefined);
        return this.#slots.startSecond(2 * step.ms, "stop");
      }
      default:
        return step satisfies never;
    }
  }

  #changeByName({ name, seed }: { readonly name: string; readonly seed: number }): void {
    if (this.#record.failure !== undefined) return;
    this.#change(name, this.#options.changes[name], seed);
  }

  #change(name: string, change: UserChange<World>, seed: number): void {
    try {
      const said = this.#cluster.change(() => change(this.#server, new Random(seed), this.#world));
      if (typeof said === "string") this.#record.note(() => `${name}: ${said}`);
    } catch (cause) {
      throw new Error(`The change "${name}" failed: ${messageOf(cause)}`, { cause });
    }
  }

  #staleRestart({ writes, ms }: { readonly writes: number | "deletion"; readonly ms: number }): void {
    const version = writes === "deletion" ? this.#cluster.lastDeletion : Number(this.#server.resourceVersion) - writes;
    this.#slots.crash(this.#slots.main, 0);
    this.#endAfter(ms, this.#network.serveOldLists(Math.max(1, version)));
  }

  /** Ends faults after `ms`, or when all faults end. */
  #endAfter(ms: number, ...faults: readonly Disposable[]): void {
    this.#agenda.after(ms, () => {
      for (const fault of faults) fault[Symbol.dispose]();
    });
  }

  #endFaults(): void {
    this.#record.isSettling = true;
    this.#network.faults.clear();
    this.#agenda.hasten();
    this.#slots.stopSecond();
  }

  async #stop(): Promise<void> {
    this.#endFaults();
    const processes = this.#slots.all;
    for (const process of processes) process.stop();
    let ended = false;
    const live = processes.filter(({ hasCrashed }) => !hasCrashed);
    void Promise.all(live.map((process) => process.ended())).then(() => ended = true);
    for (let waitedMs = 0; !ended && waitedMs < STOP_MS; waitedMs += 1_000) {
      await this.#time.tickAsync(waitedMs === 0 ? 0 : 1_000);
    }
    const record = this.#record;
    const late = live.filter(({ isRunning }) => isRunning).map(({ identity }) => identity);
    if (!ended) {
      record.fail(`a leak: ${late.join(", ")} has not ended ${STOP_MS / 1_000} s after its signal had aborted`);
    }
    if (this.#server.watches > 0) record.fail(`a leak: ${this.#server.watches} watches are open after the end`);
    for (const process of processes) process.dispose();
    this.#agenda.clear();
    // Crashed processes end when their requests are aborted.
    await this.#time.tickAsync(STOP_MS);
    if (this.#time.timers > 0) record.fail(`a leak: ${this.#time.timers} timers are armed after the end`);
  }
}
