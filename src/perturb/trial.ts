import { defineResource } from "../api/resource.ts";
import { FakeApiServer } from "../testing/fake_api_server.ts";
import { FakeTime } from "../testing/fake_time.ts";
import { isStreamingList, type RecordedRequest } from "../testing/http/recorded_request.ts";
import { parseRoute, type ResourceRoute } from "../testing/http/route.ts";
import { Random } from "../testing/objects/random.ts";
import { resourceVerb } from "../testing/server/resource_verb.ts";
import { CapturedConsole } from "./captured_console.ts";
import { Cluster, isAuxiliary } from "./cluster.ts";
import { ControllerProcess, neverAnswered } from "./controller_process.ts";
import { delayedResponse } from "./delayed_response.ts";
import type { PerturbOptions, Statement, UserChange } from "./options.ts";
import { describeStep, type PerturbStep, weightOf } from "./perturb_step.ts";
import type { PerturbPlan } from "./perturb_plan.ts";
import { RequestFaults } from "./request_faults.ts";
import { SeededGlobals } from "./seeded_globals.ts";

/** The result of a plan. */
export interface TrialResult {
  /** The first statement that was violated; undefined if none was. */
  readonly failure: string | undefined;
  /** The steps, numbered, each followed by the writes until the next one. */
  readonly lines: readonly string[];
  /** The number of writes that the server has accepted. */
  readonly writes: number;
}

/** The most requests in one moment of fake time, and of one seed. */
const MOST_AT_ONCE = 2_000;
const MOST_REQUESTS = 50_000;
/** The time that a process has to end after its signal has aborted. */
const STOP_MS = 60_000;
/** The most exits of the controller by itself after faults have ended. */
const MOST_EXITS = 5;
/** The most lines after one step. */
const MOST_LINES = 20;

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
  readonly #faults = new RequestFaults();
  /** Chooses what is no part of a step: latencies. */
  readonly #random: Random;
  /** All processes; the last one of a slot is its present one. */
  readonly #processes: ControllerProcess[] = [];
  readonly #slots = new Map<string, ControllerProcess>();
  /** Starts and ends of processes and faults that are still to come. */
  readonly #later = new Map<ReturnType<typeof setTimeout>, () => void>();
  readonly #lines: { readonly step: number; readonly text: () => string }[] = [];
  /** Resources that are watched, in the order of their first watch. */
  readonly #watched = new Map<string, ResourceRoute>();
  #step = -1;
  #isSettling = false;
  #failure: string | undefined;
  #stale: { readonly version: number } | undefined;
  /** Changes, faults and starts so far. */
  #weight = 0;
  #writes = 0;
  /** Writes that are not of leases and events. */
  #counted = 0;
  #requests = 0;
  #moment = { at: -1, requests: 0 };
  #exits = 0;

  constructor(options: PerturbOptions<World>, plan: PerturbPlan, time: FakeTime) {
    const { seed, streamingList } = plan;
    this.#options = options;
    this.#plan = plan;
    this.#time = time;
    this.#random = new Random(seed ^ 0x1a7e);
    this.#server = new FakeApiServer({ seed, streamingList, resources: options.resources });
    this.#cluster = new Cluster(this.#server);
    this.#world = options.world?.() as World;
  }

  get result(): TrialResult {
    const lines: string[] = [];
    const detail = (step: number): void => {
      const own = this.#lines.filter((line) => line.step === step);
      for (const { text } of own.slice(0, MOST_LINES)) lines.push(`       ${text()}`);
      if (own.length > MOST_LINES) lines.push(`       and ${own.length - MOST_LINES} more`);
    };
    lines.push("  0. the controller starts");
    detail(-1);
    for (const [at, step] of this.#plan.steps.entries()) {
      lines.push(`${String(at + 1).padStart(3)}. ${describeStep(step)}`);
      detail(at);
    }
    lines.push(`${String(this.#plan.steps.length + 1).padStart(3)}. changes and faults end`);
    detail(this.#plan.steps.length);
    return { failure: this.#failure, lines, writes: this.#writes };
  }

  /** Fails the seed: the error of a promise that nothing handles ends a process. */
  unhandled(reason: unknown): void {
    if (this.#processes.some((process) => process.hasCrashed && process.reason === reason)) return;
    this.#fail(`a rejection was not handled, which ends a process: ${textOf(reason)}`);
  }

  /** Adds a line that a process has printed. */
  printed(text: string): void {
    const [line] = text.split("\n", 1);
    this.#note(() => `printed: ${line.length > 160 ? `${line.slice(0, 160)}…` : line}`);
  }

  async run(): Promise<void> {
    const { setup } = this.#options;
    if (setup !== undefined) this.#change("setup", setup, this.#plan.seed);
    this.#start("a");
    for (const [at, step] of this.#plan.steps.entries()) {
      this.#step = at;
      this.#weight += weightOf(step);
      await this.#perform(step);
      this.#check();
      if (this.#failure !== undefined) break;
    }
    if (this.#failure === undefined) {
      this.#step = this.#plan.steps.length;
      this.#endFaults();
      await this.#settle();
    }
    await this.#stop();
  }

  async #perform(step: PerturbStep): Promise<void> {
    const server = this.#server;
    switch (step.do) {
      case "change":
        return this.#changeByName(step);
      case "wait":
        await this.#time.tickAsync(step.ms);
        return this.#tidy();
      case "deleteAll":
        this.#weight += 2 * this.#cluster.deleteRoots({ again: step.again });
        return;
      case "crash":
        return this.#crash(this.#slots.get("a")!, step.downMs);
      case "crashAtWrite":
        return this.#faults.arm({ type: "crash", when: step.when, downMs: step.downMs }, step);
      case "restart":
        return this.#restart(step.downMs);
      case "staleRestart":
        return this.#staleRestart(step);
      case "lag": {
        const watched = [...this.#watched.values()];
        const route = step.of === "all" ? undefined : watched[step.of % watched.length];
        const lag = server.stallWatches(route && defineResource({ ...route, kind: route.plural }));
        return this.#after(step.ms, () => lag[Symbol.dispose]());
      }
      case "unobserved":
        {
          // Without it, a reader that waits would receive the first event.
          using _silent = server.stallWatches();
          for (const change of step.changes) this.#changeByName(change);
          server.dropWatches();
        }
        return server.compact();
      case "race":
        return this.#faults.arm({ type: "change", make: () => this.#changeByName(step) }, step);
      case "conflict":
      case "loseRequest":
        for (let time = 0; time < step.times; time++) {
          this.#faults.arm({ type: step.do }, { writes: step.do === "conflict" });
        }
        return;
      case "loseAnswer":
        for (let time = 0; time < step.times; time++) this.#faults.arm({ type: step.do }, step);
        return;
      case "refuse": {
        const { code, retryAfterSeconds, writes } = step;
        const fault = { type: step.do, code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
        for (let time = 0; time < step.times; time++) this.#faults.arm(fault, { writes });
        return;
      }
      case "delayWrite":
        return this.#faults.arm({ type: "delay", ms: step.ms });
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
        return this.#second(step.ms, step.end);
      case "pause": {
        const cut = this.#slots.get("a")!.cutOff();
        const silent = server.stallWatches();
        this.#after(step.ms, () => {
          cut[Symbol.dispose]();
          silent[Symbol.dispose]();
        });
        return this.#second(2 * step.ms, "stop");
      }
      case "loseRenewals": {
        const process = this.#slots.get("a")!;
        process.lostRenewals = step.lost;
        this.#after(step.ms, () => process.lostRenewals = undefined);
        return this.#second(2 * step.ms, "stop");
      }
      default:
        return step satisfies never;
    }
  }

  // ── processes ──────────────────────────────────────────────────────────

  #start(slot: string): void {
    const generation = this.#processes.filter(({ identity }) => identity.startsWith(`${slot}-`)).length + 1;
    const process = new ControllerProcess(
      `${slot}-${generation}`,
      (process, request) => this.#answer(process, request),
    );
    this.#weight++;
    this.#processes.push(process);
    this.#slots.set(slot, process);
    if (generation > 1 || slot !== "a") this.#note(() => `${process.identity} starts`);
    process.start(this.#options.controller, this.#world, (error) => {
      this.#note(() => `${process.identity} exits: ${textOf(error)}`);
      if (this.#isSettling && ++this.#exits > MOST_EXITS) {
        return this.#fail(`the controller exits again and again: ${textOf(error)}`);
      }
      if (this.#slots.get(slot) === process) this.#after(1_000, () => this.#start(slot));
    });
  }

  #crash(process: ControllerProcess, downMs: number, later = false): void {
    if (!process.isRunning) return;
    process.crash(later);
    const slot = process.identity.slice(0, 1);
    this.#note(() => `${process.identity} crashes`);
    if (slot === "a") this.#after(downMs, () => this.#start(slot));
    else this.#slots.delete(slot);
  }

  #restart(downMs: number): void {
    const process = this.#slots.get("a")!;
    if (!process.isRunning) return;
    process.stop();
    // A process that does not end in time is killed, as by a kubelet.
    void process.ended().then(() => {
      if (this.#slots.get("a") === process && !process.hasCrashed) this.#after(downMs, () => this.#start("a"));
    });
    this.#after(30_000, () => this.#crash(process, downMs));
  }

  #staleRestart({ writes, ms }: { readonly writes: number | "deletion"; readonly ms: number }): void {
    const server = this.#server;
    const isStreaming = this.#plan.streamingList;
    const version = writes === "deletion" ? this.#cluster.lastDeletion : Number(server.resourceVersion) - writes;
    this.#stale = { version: Math.max(1, version) };
    this.#crash(this.#slots.get("a")!, 0);
    server.supportStreamingList(false);
    // A streaming list is refused, at once: the client lists in pages instead, which may be old.
    const lag = server.stallNext(MOST_REQUESTS, (asked) => asked.verb === "watch" && !isStreamingList(asked));
    this.#after(ms, () => {
      this.#stale = undefined;
      server.supportStreamingList(isStreaming);
      lag[Symbol.dispose]();
    });
  }

  #second(ms: number, end: "crash" | "stop"): void {
    if (this.#slots.get("b")?.isRunning) return;
    this.#start("b");
    const process = this.#slots.get("b")!;
    this.#after(ms, () => {
      if (this.#slots.get("b") !== process) return;
      this.#slots.delete("b");
      if (end === "stop") process.stop();
      else process.crash();
    });
  }

  // ── requests ───────────────────────────────────────────────────────────

  /** Answers a request. One that its process aborts before it arrives does not arrive. */
  async #answer(process: ControllerProcess, request: Request): Promise<Response> {
    if (process.hasCrashed || this.#failure !== undefined || !this.#mayAsk(process)) {
      return await neverAnswered(request.signal);
    }
    await process.connected();
    // A process that has ended meanwhile sends nothing more.
    request.signal.throwIfAborted();
    if (!process.isRunning) return await neverAnswered(request.signal);
    const url = new URL(request.url);
    const route = parseRoute(url.pathname);
    if (route.type !== "resource") return await this.#server.fetch(request);
    const verb = resourceVerb(request.method, route, url.searchParams);
    if (verb === "watch") {
      this.#watched.set(url.pathname, route);
      const response = await this.#server.fetch(request);
      const { watchMs } = this.#plan;
      return watchMs === 0 || !response.ok
        ? response
        : delayedResponse(response, () => this.#random.below(watchMs + 1));
    }
    const isWrite = verb !== "get" && verb !== "list";
    const lost = route.plural === "leases" ? process.lostRenewals : undefined;
    if (lost === "requests") return await neverAnswered(request.signal);
    const faults = isAuxiliary(route) ? [] : this.#faults.take(isWrite);
    for (const fault of faults) {
      switch (fault.type) {
        case "change":
          fault.make();
          break;
        case "conflict":
          this.#annotate(route);
          break;
        case "delay":
          await new Promise((resolve) => setTimeout(resolve, fault.ms));
          break;
        case "loseRequest":
          this.#note(() => `${process.identity}  ${verb} ${route.plural} does not arrive`);
          throw new TypeError("connection refused");
        case "refuse": {
          const { code, retryAfterSeconds } = fault;
          const failure = { code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
          this.#server.failNext(failure, 1, (asked) => asked.method === request.method && asked.url === request.url);
          break;
        }
        case "crash":
          if (fault.when === "before") this.#crash(process, fault.downMs);
          break;
      }
    }
    request.signal.throwIfAborted();
    if (!process.isRunning) return await neverAnswered(request.signal);
    await this.#travel();
    const response = await this.#server.fetch(verb === "list" ? this.#staleList(request, url) : request);
    if (isWrite) this.#written(process, request, response, route, verb);
    const crash = faults.find((fault) => fault.type === "crash");
    if (crash?.when === "during") this.#crash(process, crash.downMs);
    await this.#travel();
    const isLost = faults.some(({ type }) => type === "loseAnswer");
    if (isLost || lost === "answers" || process.hasCrashed) await response.body?.cancel();
    if (lost === "answers" || process.hasCrashed) return await neverAnswered(request.signal);
    if (crash?.when === "after") this.#crash(process, crash.downMs, true);
    if (!isLost) return response;
    this.#note(() => `${process.identity}  the answer is lost`);
    throw new TypeError("connection reset before the answer");
  }

  /** Counts a request; false when there are so many that the process does not stop by itself. */
  #mayAsk(process: ControllerProcess): boolean {
    const at = performance.now();
    if (at !== this.#moment.at) this.#moment = { at, requests: 0 };
    if (++this.#moment.requests > MOST_AT_ONCE) {
      this.#fail(`a hot loop: ${process.identity} sends more than ${MOST_AT_ONCE} requests without a wait`);
    } else if (++this.#requests > MOST_REQUESTS) {
      this.#fail(`a hot loop: the controller sends more than ${MOST_REQUESTS} requests`);
    } else return true;
    return false;
  }

  /** Waits as long as a request, or an answer, takes. */
  async #travel(): Promise<void> {
    const { latencyMs } = this.#plan;
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#random.below(latencyMs + 1)));
  }

  /** A list that may be old is one of an old version, while the API server is behind. */
  #staleList(request: Request, url: URL): Request {
    if (this.#stale === undefined || url.searchParams.get("resourceVersion") !== "0") return request;
    url.searchParams.set("resourceVersion", String(this.#stale.version));
    url.searchParams.set("resourceVersionMatch", "Exact");
    return new Request(url, request);
  }

  #annotate({ group, version, plural, namespace, name }: ResourceRoute): void {
    if (name === undefined) return;
    const resource = defineResource({ group, version, plural, kind: plural });
    const key = namespace === "" ? name : `${namespace}/${name}`;
    if (this.#server.get(resource, key) === undefined) return;
    this.#server.annotate(resource, key, { "perturb.example.com/annotated": this.#server.resourceVersion });
    this.#note(() => `another writer annotates ${plural} "${key}"`);
  }

  #written(process: ControllerProcess, request: Request, response: Response, route: ResourceRoute, verb: string): void {
    const { method, url } = request;
    const { status } = response;
    const record = this.#server.requests.findLast((record) => record.method === method && record.url === url);
    if (!isAuxiliary(route)) {
      this.#note(() => `${process.identity}  ${verb} ${describeTarget(route, record)} → ${status}`);
    }
    if (!response.ok) return;
    this.#writes++;
    if (!isAuxiliary(route)) this.#counted++;
    this.#check();
    const { writesPerChange = 10 } = this.#options;
    const most = writesPerChange * (this.#weight + 1);
    // Until the end of the steps, more changes may still account for the writes.
    if (this.#counted <= (this.#isSettling ? 1 : 10) * most) return;
    const causes = `${this.#weight} changes, starts and faults`;
    this.#fail(`too many writes: ${this.#counted} for ${causes}; at most ${most} are allowed`);
  }

  // ── changes and checks ─────────────────────────────────────────────────

  #changeByName({ name, seed }: { readonly name: string; readonly seed: number }): void {
    if (this.#failure !== undefined) return;
    this.#change(name, this.#options.changes[name], seed);
  }

  #change(name: string, change: UserChange<World>, seed: number): void {
    try {
      const said = this.#cluster.change(() => change(this.#server, new Random(seed), this.#world));
      if (typeof said === "string") this.#note(() => `${name}: ${said}`);
    } catch (cause) {
      throw new Error(`The change "${name}" failed: ${textOf(cause)}`, { cause });
    }
  }

  #tidy(): void {
    this.#cluster.tidy();
    const { environment } = this.#options;
    if (environment !== undefined) this.#state("the environment", environment);
  }

  /** Checks the invariants. */
  #check(): void {
    for (const [name, statement] of Object.entries(this.#options.invariants ?? {})) {
      this.#state(`the invariant "${name}" is violated`, statement);
    }
  }

  #state(what: string, statement: Statement<World>): void {
    const violation = this.#violation(statement);
    if (violation !== undefined) this.#fail(`${what}: ${violation}`);
  }

  #violation(statement: Statement<World>): string | undefined {
    try {
      const result = statement(this.#server, this.#world);
      return result === false ? "it does not hold" : typeof result === "string" ? result : undefined;
    } catch (error) {
      return textOf(error);
    }
  }

  #fail(failure: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#note(() => `✗ ${failure.split("\n", 1)[0]}`);
  }

  #note(text: () => string): void {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    this.#lines.push({ step: this.#step, text: () => `${seconds.toFixed(3).padStart(9)} s  ${text()}` });
  }

  readonly #startedAt = performance.now();

  // ── time ───────────────────────────────────────────────────────────────

  /** Calls `act` after `ms`, or when faults end. */
  #after(ms: number, act: () => void): void {
    const once = (): void => {
      this.#later.delete(timer);
      act();
    };
    const timer = setTimeout(once, ms);
    this.#later.set(timer, once);
  }

  #endFaults(): void {
    this.#isSettling = true;
    this.#faults.clear();
    for (const [timer, act] of [...this.#later]) {
      clearTimeout(timer);
      act();
    }
    const second = this.#slots.get("b");
    this.#slots.delete("b");
    second?.stop();
  }

  /** Waits until the controller has converged and is quiet, deletes everything, and waits again. */
  async #settle(): Promise<void> {
    const { converges, keeps = [] } = this.#options;
    await this.#converge(() => this.#violation(converges));
    if (this.#failure !== undefined) return;
    this.#weight += this.#cluster.deleteRoots();
    this.#note(() => "all objects that the controller has not created are deleted");
    await this.#converge(() => this.#cluster.leftover(keeps) ?? this.#violation(converges));
  }

  async #converge(violation: () => string | undefined): Promise<void> {
    const { settleMs = 600_000, quietMs = 120_000, quietWrites = 0 } = this.#options;
    const endMs = performance.now() + settleMs;
    let noisy: string | undefined;
    for (
      let tickMs = 500;
      performance.now() < endMs && this.#failure === undefined;
      tickMs = Math.min(2 * tickMs, 60_000)
    ) {
      await this.#time.tickAsync(tickMs);
      this.#tidy();
      this.#check();
      if (violation() !== undefined) continue;
      const before = { writes: this.#counted, requests: this.#requests };
      await this.#time.tickAsync(quietMs);
      this.#tidy();
      const writes = this.#counted - before.writes;
      if (writes <= quietWrites && violation() === undefined) return;
      noisy = `${writes} writes in ${quietMs / 1_000} s in which nothing changed`;
    }
    if (this.#failure !== undefined) return;
    const left = violation();
    if (left === undefined) this.#fail(`a hot loop: ${noisy}`);
    else this.#fail(`not converged ${settleMs / 1_000} s after the last change: ${left}`);
  }

  async #stop(): Promise<void> {
    this.#endFaults();
    for (const process of this.#processes) process.stop();
    let ended = false;
    const live = this.#processes.filter(({ hasCrashed }) => !hasCrashed);
    void Promise.all(live.map((process) => process.ended())).then(() => ended = true);
    for (let waitedMs = 0; !ended && waitedMs < STOP_MS; waitedMs += 1_000) {
      await this.#time.tickAsync(waitedMs === 0 ? 0 : 1_000);
    }
    const late = live.filter(({ isRunning }) => isRunning).map(({ identity }) => identity);
    if (!ended) {
      this.#fail(`a leak: ${late.join(", ")} has not ended ${STOP_MS / 1_000} s after its signal had aborted`);
    }
    if (this.#server.watches > 0) this.#fail(`a leak: ${this.#server.watches} watches are open after the end`);
    for (const process of this.#processes) process.dispose();
    for (const timer of this.#later.keys()) clearTimeout(timer);
    this.#later.clear();
    // Crashed processes end when their requests are aborted.
    await this.#time.tickAsync(STOP_MS);
    if (this.#time.timers > 0) this.#fail(`a leak: ${this.#time.timers} timers are armed after the end`);
  }
}

function describeTarget(
  { plural, namespace, name, subresource }: ResourceRoute,
  record: RecordedRequest | undefined,
): string {
  const body = record?.body ?? "";
  const key = [namespace, name ?? nameIn(body)].filter((part) => part !== "").join("/");
  const part = subresource === undefined ? "" : `/${subresource}`;
  const shown = record?.method === "PATCH" ? ` ${body.length > 100 ? `${body.slice(0, 100)}…` : body}` : "";
  return `${plural}${part} "${key}"${shown}`;
}

function nameIn(body: string): string {
  try {
    const { metadata } = JSON.parse(body) as {
      readonly metadata?: { readonly name?: string; readonly generateName?: string };
    };
    return metadata?.name ?? `${metadata?.generateName ?? ""}*`;
  } catch {
    // A body that is no object is shown without a name.
    return "";
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
