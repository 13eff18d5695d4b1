/**
 * Runs controllers under faults: a fake API server, fake time, and changes and faults that depend only on a seed.
 *
 * {@linkcode chaos} is the entry point. `plan.ts` makes a seed's steps, and this file performs them, with the processes
 * and their network in `process.ts` and the checks in `checks.ts`. Server faults, how they are performed and shrinking
 * come from `testing/fake/history.ts`. It knows nothing about reconcilers: a controller is any function with a
 * client and a signal.
 *
 * @module
 */
import { checkCounts } from "../../engine/errors/checks.ts";
import { messageOf } from "../../engine/errors/errors.ts";
import { checkNames } from "../../engine/errors/option_names.ts";
import { FakeApiServer } from "../fake/fake_api_server.ts";
import { FakeTime } from "../fake/fake_time.ts";
import { performFault, requestsOf, shrink } from "../fake/history.ts";
import { Random, seedGlobals } from "../fake/random.ts";
import type { RecordedRequest } from "../fake/wire/exchange.ts";
import { Cluster, isAuxiliary, TrialChecks, type TrialRecord } from "./checks.ts";
import { type ChaosOptions, type ChaosPlan, type ChaosStep, planOf, type UserChange, weightOf } from "./plan.ts";
import { Network, PendingTimers, ProcessSlots, USER_AGENT } from "./process.ts";

const STATEMENTS = "controller changes converges invariants setup world environment resources keeps";

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
export function tryPlan<World>(options: ChaosOptions<World>, plan: ChaosPlan): Promise<TrialResult> {
  return playTrial(plan.seed, (time) => new Trial(options, plan, time));
}

/** Performs a trial in fake time. */
export async function playTrial<World>(seed: number, trialIn: (time: FakeTime) => Trial<World>): Promise<TrialResult> {
  using _globals = seedGlobals(seed);
  using time = new FakeTime();
  const trial = trialIn(time);
  using _console = new CapturedConsole((text) => trial.printed(text));
  const onRejection = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    trial.unhandled(event.reason);
  };
  // A runtime without this event, such as Node, ends with the rejection by itself.
  globalThis.addEventListener?.("unhandledrejection", onRejection);
  try {
    await trial.run();
    return trial.result;
  } finally {
    globalThis.removeEventListener?.("unhandledrejection", onRejection);
  }
}

/** Performs the steps of a plan. A history that has more than steps overrides its protected methods. */
export class Trial<World> {
  protected readonly options: ChaosOptions<World>;
  protected readonly plan: ChaosPlan;
  protected readonly time: FakeTime;
  readonly #server: FakeApiServer;
  protected readonly cluster: Cluster;
  readonly #agenda = new PendingTimers();
  protected readonly checks: TrialChecks<World>;
  protected readonly record: TrialRecord;
  protected readonly network: Network;
  protected readonly slots: ProcessSlots<World>;

  constructor(options: ChaosOptions<World>, plan: ChaosPlan, time: FakeTime) {
    const { seed, streamingList } = plan;
    this.options = options;
    this.plan = plan;
    this.time = time;
    this.#server = new FakeApiServer({ seed, streamingList, resources: options.resources });
    this.cluster = new Cluster(this.#server);
    this.checks = new TrialChecks(options, this.cluster, time);
    this.record = this.checks.record;
    this.network = new Network(plan, this.checks);
    this.slots = new ProcessSlots(this.checks, this.network, this.#agenda);
  }

  get result(): TrialResult {
    const { failure } = this.record;
    const unknown = [...this.network.unknown].join(", ");
    const hint = unknown === ""
      ? ""
      : `; the server did not know ${unknown} when it was asked for: give the resource, as in ` +
        "`resources: [CronTab]`, so that it is served before the first object is created";
    return {
      failure: failure && failure + hint,
      lines: this.record.linesOf(this.plan.steps),
      writes: this.checks.writes,
    };
  }

  /** Fails the seed: the error of a promise that nothing handles ends a process. */
  unhandled(reason: unknown): void {
    if (this.slots.all.some((process) => process.hasCrashed && process.reason === reason)) return;
    this.record.fail(`a rejection was not handled, which ends a process: ${messageOf(reason)}`);
  }

  /** Adds a line that a process has printed. */
  printed(text: string): void {
    const [line] = text.split("\n", 1);
    this.record.note(() => `printed: ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`);
  }

  async run(): Promise<void> {
    const { steps } = this.plan;
    await this.begin();
    this.slots.start();
    for (const [at, step] of steps.entries()) {
      this.record.step = at;
      this.record.weight += weightOf(step);
      await this.#perform(step);
      this.checks.checkInvariants();
      if (this.record.failure !== undefined) break;
    }
    if (this.record.failure === undefined) {
      this.record.step = steps.length;
      this.endFaults();
      await this.end();
    }
    await this.#stop();
  }

  /** Prepares the cluster, before the first process starts. */
  protected begin(): void | Promise<void> {
    const { options: { setup }, plan: { seed } } = this;
    if (setup !== undefined) this.#change("setup", setup, seed);
  }

  /** Begins the next phase, in a history that has phases. */
  protected phase(_name: string): void | Promise<void> {}

  /** Checks what must hold when all changes and faults have ended. */
  protected async end(): Promise<void> {
    await this.checks.settle();
  }

  async #perform(step: ChaosStep): Promise<void> {
    const server = this.#server;
    const network = this.network;
    const { main } = this.slots;
    switch (step.do) {
      case "change":
        return await this.changeByName(step);
      case "phase":
        return await this.phase(step.name);
      case "wait":
        await this.time.tickAsync(step.ms);
        return this.checks.tidy();
      case "deleteAll":
        this.record.weight += 2 * this.cluster.deleteRoots({ again: step.again });
        return;
      case "crash":
        return main.crash(step.downMs);
      case "crashAtWrite":
        network.crashes.arm(step, 1, after(step.skip));
        return;
      case "restartProcess":
        return this.slots.restart(step.downMs);
      case "staleRestart":
        return this.#staleRestart(step);
      case "unobserved":
        {
          // Without it, a reader that waits would receive the first event.
          using _silent = server.stallWatches();
          for (const change of step.changes) void this.changeByName(change);
          server.dropWatches();
        }
        return server.compact();
      case "race":
        return server.beforeNext(() => void this.changeByName(step), 1, requestsOf("write", isHarmed, step.skip));
      case "loseAnswer":
        for (let time = 0; time < step.times; time++) network.lostAnswers.arm(true, 1, after(step.skip));
        return;
      case "delayWrite":
        network.delays.arm(step.ms, 1);
        return;
      case "clockJump":
        return this.time.setClock(this.time.now + step.ms);
      case "second":
        return this.slots.startSecond(step.ms, step.end);
      case "pause":
        this.#endAfter(step.ms, main.cutOff(), server.stallWatches());
        return this.slots.startSecond(2 * step.ms, "stop");
      case "loseRenewals":
        main.lostRenewals = step.lost;
        this.#agenda.after(step.ms, () => main.lostRenewals = undefined);
        return this.slots.startSecond(2 * step.ms, "stop");
      default: {
        const lasting = performFault(server, step, isHarmed);
        if (lasting !== undefined) this.#endAfter("ms" in step ? step.ms : 60_000, lasting);
      }
    }
  }

  /** A user makes a change. */
  protected changeByName({ name, seed }: { readonly name: string; readonly seed: number }): void | Promise<void> {
    if (this.record.failure !== undefined) return;
    this.#change(name, this.options.changes[name], seed);
  }

  #change(name: string, change: UserChange<World>, seed: number): void {
    try {
      const said = this.cluster.change(() => change(this.#server, new Random(seed), this.checks.world));
      if (typeof said === "string") this.record.note(() => `${name}: ${said}`);
    } catch (cause) {
      throw new Error(`The change "${name}" failed: ${messageOf(cause)}`, { cause });
    }
  }

  #staleRestart({ writes, ms }: { readonly writes: number | "deletion"; readonly ms: number }): void {
    const version = writes === "deletion" ? this.cluster.lastDeletion : Number(this.#server.resourceVersion) - writes;
    this.slots.main.crash(0);
    this.#endAfter(ms, this.network.serveOldLists(Math.max(1, version)));
  }

  /** Ends faults after `ms`, or when all faults end. */
  #endAfter(ms: number, ...faults: readonly Disposable[]): void {
    this.#agenda.after(ms, () => {
      for (const fault of faults) fault[Symbol.dispose]();
    });
  }

  /** Ends all faults: what is checked from then on is a quiet cluster. */
  protected endFaults(): void {
    this.record.isSettling = true;
    const { crashes, lostAnswers, delays } = this.network;
    for (const faults of [crashes, lostAnswers, delays]) faults.clear();
    this.#server.disarm();
    this.#agenda.runAllNow();
    if (!this.slots.lastsSecond) this.slots.stopSecond();
  }

  async #stop(): Promise<void> {
    this.slots.lastsSecond = false;
    this.endFaults();
    const processes = this.slots.all;
    for (const process of processes) process.stop();
    let ended = false;
    const live = processes.filter(({ hasCrashed }) => !hasCrashed);
    void Promise.all(live.map((process) => process.ended())).then(() => ended = true);
    for (let waitedMs = 0; !ended && waitedMs < STOP_MS; waitedMs += 1_000) {
      await this.time.tickAsync(waitedMs === 0 ? 0 : 1_000);
    }
    const record = this.record;
    const late = live.filter(({ isRunning }) => isRunning).map(({ identity }) => identity);
    if (!ended) {
      record.fail(`a leak: ${late.join(", ")} has not ended ${STOP_MS / 1_000} s after its signal had aborted`);
    }
    if (this.#server.watches > 0) record.fail(`a leak: ${this.#server.watches} watches are open after the end`);
    for (const process of processes) process.dispose();
    this.#agenda.clear();
    // Crashed processes end when their requests are aborted.
    await this.time.tickAsync(STOP_MS);
    if (this.time.timers > 0) record.fail(`a leak: ${this.time.timers} timers are armed after the end`);
  }
}

/** Returns a filter of all requests but the first `skip` ones. */
function after(skip: number): () => boolean {
  return () => skip-- <= 0;
}

/** Faults of requests spare watches, which have their own, users, and what controllers write by themselves. */
function isHarmed({ verb, resource: plural, headers }: RecordedRequest): boolean {
  return verb !== "watch" && headers.get("user-agent") !== USER_AGENT && !isAuxiliary({ plural });
}

/** The most runs of one shrinking. */
const MOST_RUNS = 200;

/** The summary from {@linkcode chaos}. */
export interface ChaosReport {
  /** The number of seeds that were run. */
  readonly seeds: number;
  /** The number of steps in all seeds. */
  readonly steps: number;
  /** The number of controller writes that the server has accepted. */
  readonly writes: number;
}

/** A seed that fails. */
export interface ChaosFailure {
  /** The seed. */
  readonly seed: number;
  /** The violation after shrinking. */
  readonly message: string;
  /**
   * The numbered steps that remain after shrinking. Each is followed by everything that happened before the next step.
   */
  readonly lines: readonly string[];
}

/**
 * Thrown by {@linkcode chaos} and `upgrade` if seeds fail.
 *
 * The message has each seed's numbered steps, and how to run it again.
 */
export class ChaosError extends Error {
  /** Always `"ChaosError"`. */
  override readonly name = "ChaosError";
  /** The failing seeds. */
  readonly failures: readonly ChaosFailure[];

  /** Creates an error that describes these failures, with the call, up to the seed, that runs one of them again. */
  constructor(failures: readonly ChaosFailure[], call = "chaos({ …, from: ") {
    super(
      failures.map(({ seed, message, lines }) => {
        return `seed ${seed}: ${message}\n${lines.join("\n")}\nto run it again: ${call}${seed}, seeds: 1 })`;
      }).join("\n\n"),
    );
    this.failures = failures;
  }
}

/**
 * Runs a controller once per seed, on a fake API server in fake time. A seed decides which changes users make, and
 * which faults occur when. The same seed gives the same steps.
 *
 * Read the guide: [Test a controller](../../../docs/controllers/test.md).
 *
 * It checks your statements in `converges` and `invariants`, and these rules for every controller:
 *
 * - It converges within 10 minutes after changes and faults have ended, and then writes nothing for 2 minutes. Writes
 *   to Leases and Events do not count.
 * - It sends at most 2,000 requests without a wait, and on average at most 10 writes per change, start and fault.
 * - When all objects that it has not created are deleted, it removes its finalizers, and nothing that it has created is
 *   left.
 * - It does not exit again and again, and no rejection is unhandled. After its signal has aborted, it ends within 60 s,
 *   and leaves no watch and no timer.
 *
 * Seeds combine a few kinds of changes and faults in patterns that find bugs:
 *
 * - a write fault before the changes that lead to writes
 * - a late or lost view, before changes or just after them
 * - a process that ends, or loses its network or clock, between two changes
 * - all users' objects deleted, and created again
 *
 * One seed in six has no faults. At least half the changes repeat the previous change's random choices, most often its
 * object. The others pick the first entries in a list more often than the last. The same change is also made several
 * times.
 *
 * The faults are in {@linkcode ChaosStep}. A failing seed is shrunk: `chaos` leaves steps out while it still fails, in
 * up to 200 further runs.
 *
 * Limits:
 *
 * - Only one `chaos` can run at a time, because it replaces timers, `Date`, `performance.now`, `Math.random`,
 *   `crypto`'s random values and the console. Your controller must not use sockets, files or other real time.
 * - All processes share one time of day. Clock skew is between them and the server.
 * - A crashed process's code that runs after its signal has aborted reaches no server, but it could reach `world`.
 * - A loop of promises without a request or a timer hangs the test.
 *
 * @throws {ChaosError} if a seed fails.
 * @throws {Error} if a change or `setup` throws, or a `FakeTime` is active already.
 *
 * @example
 * ```ts
 * import { type KubernetesObject, SharedIndexInformer, WorkQueue } from "@kube/informer";
 * import { ConfigMap } from "@kube/informer/kinds/core/v1";
 * import { chaos } from "@kube/informer/testing/chaos";
 * import { assertEquals } from "@std/assert";
 *
 * const report = await chaos({
 *   seeds: 3,
 *   // Labels each ConfigMap with the number of its keys.
 *   controller: async ({ client, signal }) => {
 *     await using queue = new WorkQueue();
 *     await using maps = new SharedIndexInformer(client.resource(ConfigMap));
 *     const add = ({ key }: { key: string }): void => queue.add(key);
 *     maps.addEventHandler({ onAdd: add, onUpdate: add });
 *     const running = maps.run({ signal });
 *     await queue.run(async (key) => {
 *       const map = maps.indexer.getByKey(key);
 *       const size = String(Object.keys(map?.data ?? {}).length);
 *       if (map === undefined || map.metadata.labels?.size === size) return;
 *       const body = { metadata: { labels: { size } } };
 *       await client.resource(ConfigMap, { namespace: "shop" }).patch(map.metadata.name, { type: "merge", body });
 *     }, { signal, onError: () => {} });
 *     await running;
 *   },
 *   changes: {
 *     write: (server, random) => {
 *       const name = random.pick(["a", "b"]);
 *       const data = { [random.pick(["x", "y", "z"])]: "1" };
 *       if (server.get(ConfigMap, `shop/${name}`)) server.patch(ConfigMap, `shop/${name}`, { data });
 *       else server.create(ConfigMap, { metadata: { namespace: "shop", name }, data });
 *     },
 *   },
 *   converges: (server) =>
 *     server.list(ConfigMap).every(({ metadata, data }) => metadata.labels?.size === String(Object.keys(data ?? {}).length)),
 * });
 * assertEquals(report.seeds, 3);
 * ```
 */
export async function chaos<World = undefined>(options: ChaosOptions<World>): Promise<ChaosReport> {
  checkNames("run a controller under chaos", options, `${STATEMENTS} seeds from steps elects without failures`);
  const { elects } = options;
  const planOptions = { steps: options.steps, without: options.without, elects, changes: Object.keys(options.changes) };
  return await playSeeds(options, (seed) => planOf(seed, planOptions), (plan) => tryPlan(options, plan));
}

/** Plays the plans of seeds, and shrinks plans that fail. @throws {ChaosError} if seeds fail, with `call`. */
export async function playSeeds(
  { seeds = 100, from = 1, failures: mostFailures = 1 }: Pick<ChaosOptions<never>, "seeds" | "from" | "failures">,
  planOf: (seed: number) => ChaosPlan,
  play: (plan: ChaosPlan) => Promise<TrialResult>,
  call?: string,
): Promise<ChaosReport> {
  checkCounts("run a controller under chaos", { seeds, from, failures: mostFailures }, { min: 1 });
  const failures: ChaosFailure[] = [];
  let [steps, writes, done] = [0, 0, 0];
  for (let seed = from; seed < from + seeds && failures.length < mostFailures; seed++) {
    const plan = planOf(seed);
    const result = await play(plan);
    done++;
    steps += plan.steps.length;
    writes += result.writes;
    if (result.failure !== undefined) {
      const failureOf = async (steps: typeof plan.steps): Promise<TrialResult | undefined> => {
        const attempt = await play({ ...plan, steps });
        return attempt.failure === undefined ? undefined : attempt;
      };
      const { failure } = await shrink({ steps: plan.steps, failure: result }, failureOf, MOST_RUNS);
      failures.push({ seed, message: failure.failure!, lines: failure.lines });
    }
  }
  if (failures.length > 0) throw new ChaosError(failures, call);
  return { seeds: done, steps, writes };
}
