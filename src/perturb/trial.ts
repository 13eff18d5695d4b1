import { messageOf } from "../errors/errors.ts";
import { FakeApiServer } from "../testing/fake_api_server.ts";
import { FakeTime } from "../testing/fake_time.ts";
import { performFault, requestsOf } from "../testing/history.ts";
import type { RecordedRequest } from "../testing/http/request.ts";
import { Random, seedGlobals } from "../testing/random.ts";
import { Cluster, isAuxiliary, TrialChecks, type TrialRecord } from "./checks.ts";
import { type PerturbOptions, type PerturbPlan, type PerturbStep, type UserChange, weightOf } from "./plan.ts";
import { Agenda, Network, ProcessSlots } from "./process.ts";

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
  using _globals = seedGlobals(plan.seed);
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
  readonly #agenda = new Agenda();
  readonly #checks: TrialChecks<World>;
  readonly #record: TrialRecord;
  readonly #network: Network;
  readonly #slots: ProcessSlots<World>;

  constructor(options: PerturbOptions<World>, plan: PerturbPlan, time: FakeTime) {
    const { seed, streamingList } = plan;
    this.#options = options;
    this.#plan = plan;
    this.#time = time;
    this.#server = new FakeApiServer({ seed, streamingList, resources: options.resources });
    this.#cluster = new Cluster(this.#server);
    this.#checks = new TrialChecks(options, this.#cluster, time);
    this.#record = this.#checks.record;
    this.#network = new Network(plan, this.#checks);
    this.#slots = new ProcessSlots(this.#checks, this.#network, this.#agenda);
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
    const { main } = this.#slots;
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
        return main.crash(step.downMs);
      case "crashAtWrite":
        return faults.arm({ type: "crash", when: step.when, downMs: step.downMs }, step.skip);
      case "restartProcess":
        return this.#slots.restart(step.downMs);
      case "staleRestart":
        return this.#staleRestart(step);
      case "unobserved":
        {
          // Without it, a reader that waits would receive the first event.
          using _silent = server.stallWatches();
          for (const change of step.changes) this.#changeByName(change);
          server.dropWatches();
        }
        return server.compact();
      case "race":
        return server.beforeNext(() => this.#changeByName(step), 1, requestsOf("write", isHarmed, step.skip));
      case "loseAnswer":
        for (let time = 0; time < step.times; time++) faults.arm({ type: step.do }, step.skip);
        return;
      case "delayWrite":
        return faults.arm({ type: "delay", ms: step.ms });
      case "clockJump":
        return this.#time.setClock(this.#time.now + step.ms);
      case "second":
        return this.#slots.startSecond(step.ms, step.end);
      case "pause":
        this.#endAfter(step.ms, main.cutOff(), server.stallWatches());
        return this.#slots.startSecond(2 * step.ms, "stop");
      case "loseRenewals":
        main.lostRenewals = step.lost;
        this.#agenda.after(step.ms, () => main.lostRenewals = undefined);
        return this.#slots.startSecond(2 * step.ms, "stop");
      default: {
        const lasting = performFault(server, step, isHarmed);
        if (lasting !== undefined) this.#endAfter("ms" in step ? step.ms : 60_000, lasting);
      }
    }
  }

  #changeByName({ name, seed }: { readonly name: string; readonly seed: number }): void {
    if (this.#record.failure !== undefined) return;
    this.#change(name, this.#options.changes[name], seed);
  }

  #change(name: string, change: UserChange<World>, seed: number): void {
    try {
      const said = this.#cluster.change(() => change(this.#server, new Random(seed), this.#checks.world));
      if (typeof said === "string") this.#record.note(() => `${name}: ${said}`);
    } catch (cause) {
      throw new Error(`The change "${name}" failed: ${messageOf(cause)}`, { cause });
    }
  }

  #staleRestart({ writes, ms }: { readonly writes: number | "deletion"; readonly ms: number }): void {
    const version = writes === "deletion" ? this.#cluster.lastDeletion : Number(this.#server.resourceVersion) - writes;
    this.#slots.main.crash(0);
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
    this.#server.disarm();
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

/** Faults of requests spare watches, which have faults of their own, and what controllers write by themselves. */
function isHarmed({ verb, resource: plural }: RecordedRequest): boolean {
  return verb !== "watch" && !isAuxiliary({ plural });
}
