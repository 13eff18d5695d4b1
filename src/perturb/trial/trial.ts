import { messageOf } from "../../errors/error_line.ts";
import { FakeApiServer } from "../../testing/fake_api_server.ts";
import { FakeTime } from "../../testing/fake_time.ts";
import { Random } from "../../testing/objects/random.ts";
import type { PerturbOptions, UserChange } from "../plan/options.ts";
import type { PerturbPlan } from "../plan/perturb_plan.ts";
import { type PerturbStep, weightOf } from "../plan/perturb_step.ts";
import { CapturedConsole } from "./captured_console.ts";
import { Cluster } from "./cluster.ts";
import { Network } from "./network.ts";
import { ProcessSlots } from "./process_slots.ts";
import { Agenda } from "./agenda.ts";
import { SeededGlobals } from "./seeded_globals.ts";
import { TrialChecks } from "./trial_checks.ts";
import { TrialRecord } from "./trial_record.ts";

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
