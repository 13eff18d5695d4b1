/**
 * The processes of a trial, and the network between them and the server.
 *
 * {@linkcode ProcessSlots} and {@linkcode Network} are the entry points. A process is the controller under test with a
 * client; it is started, paused and killed as the plan says. The plan is made in `plan.ts`.
 *
 * @module
 */
import { abortable } from "@std/async/abortable";
import { verbOf } from "../../engine/api/resource.ts";
import { isAbortOf, Latch } from "../../engine/async/signals.ts";
import { Client } from "../../engine/client/client.ts";
import { parseRoute, type ResourceRoute } from "../../engine/protocol/requests.ts";
import { messageOf, quoted } from "../../engine/errors/errors.ts";
import { isWrite } from "../fake/history.ts";
import { Random } from "../fake/random.ts";
import { isStreamingList, type RecordedRequest } from "../fake/wire/exchange.ts";
import { ArmedList, changedResponse } from "../fake/wire/faults.ts";
import { isAuxiliary, type TrialChecks } from "./checks.ts";
import type { ChaosPlan, ControllerFunction } from "./plan.ts";

/** The user agent of users who send requests, which no fault harms. */
export const USER_AGENT = "user";

/** One process of a controller: started once, then stopped or crashed. */
class ControllerProcess {
  /** The name of the process: `"a-1"`. */
  readonly identity: string;
  readonly #client: Client;
  readonly #slots: Pick<ProcessSlots<never>, "crashed">;
  readonly #stop = new AbortController();
  #state: "running" | "stopping" | "crashed" | "ended" = "running";
  #ended: Promise<void> = Promise.resolve();
  /** Set while the network is cut off. */
  #cutOff: Latch | undefined;

  /** The part of the exchanges about Leases that is lost; undefined if none is. */
  lostRenewals: "requests" | "answers" | undefined;

  /** Creates a process, which runs nothing yet. */
  constructor(identity: string, network: Network, slots: Pick<ProcessSlots<never>, "crashed" | "agent">) {
    this.identity = identity;
    this.#slots = slots;
    this.#client = new Client({
      server: "http://fake",
      // As over a network, a process that aborts a request waits for nothing.
      transport: { fetch: (request) => abortable(network.answer(this, request), request.signal) },
      userAgent: `${slots.agent}${identity}`,
    });
  }

  /** True until the process has ended or crashed. */
  get isRunning(): boolean {
    return this.#state === "running" || this.#state === "stopping";
  }

  /** True when the process has crashed: its requests are never answered. */
  get hasCrashed(): boolean {
    return this.#state === "crashed";
  }

  /** The reason with which its signal aborts. */
  get reason(): unknown {
    return this.#stop.signal.reason;
  }

  /** Starts the controller. Calls `onExit` when it ends without having been stopped, with its error if it failed. */
  start<World>(controller: ControllerFunction<World>, world: World, onExit: (error: unknown) => void): void {
    const { signal } = this.#stop;
    const exit = (error: unknown): void => {
      if (this.#state === "crashed") return;
      const expected = this.#state === "stopping" && (error === undefined || isAbortOf(signal, error));
      this.#state = "ended";
      if (!expected) onExit(error ?? new Error("the controller returned before its signal had aborted"));
    };
    const run = async (): Promise<void> => {
      await controller({ client: this.#client, signal, identity: this.identity, world });
    };
    this.#ended = run().then(
      () => exit(undefined),
      (error) => exit(error ?? new Error("the controller failed without an error")),
    );
  }

  /** Stops the process by its signal. */
  stop(): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#abort("stopped");
  }

  /**
   * Ends the process at once: none of its requests arrives any more, and none is answered. With `later`, its signal
   * aborts only when the answer that it has just received was handled. That of slot "a" starts again after `downMs`.
   */
  crash(downMs: number, later = false): void {
    if (!this.isRunning) return;
    this.#state = "crashed";
    if (later) setTimeout(() => this.#abort("crashed"), 0);
    else this.#abort("crashed");
    this.#slots.crashed(this, downMs);
  }

  /** Cuts the network off until the returned value is disposed. */
  cutOff(): Disposable {
    const cutOff = this.#cutOff ??= new Latch();
    return {
      [Symbol.dispose]: (): void => {
        if (this.#cutOff === cutOff) this.#cutOff = undefined;
        cutOff.open();
      },
    };
  }

  /** Resolves when the network is there. */
  async connected(): Promise<void> {
    while (this.#cutOff !== undefined) await this.#cutOff.wait();
  }

  /**
   * Resolves when the controller has returned; never rejects. Call it after {@linkcode dispose} for a crashed process.
   */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** Aborts what is left of the requests of the process. */
  dispose(): void {
    this.#client[Symbol.dispose]();
  }

  #abort(how: "stopped" | "crashed"): void {
    const what = how === "crashed" ? "has crashed" : "was stopped";
    this.#stop.abort(new DOMException(`The process ${this.identity} ${what}`, "AbortError"));
  }
}

/** Rejects with the reason of the signal when it aborts: the request is never answered. */
function neverAnswered(signal: AbortSignal): Promise<never> {
  return abortable(new Promise<never>(() => {}), signal);
}

/** The starts and ends of processes and faults that are still to come. */
export class PendingTimers {
  readonly #acts = new Map<ReturnType<typeof setTimeout>, () => void>();

  /** Calls `act` after `ms`, or when faults end. */
  after(ms: number, act: () => void): void {
    const once = (): void => {
      this.#acts.delete(timer);
      act();
    };
    const timer = setTimeout(once, ms);
    this.#acts.set(timer, once);
  }

  /** Does now what is still to come; what that adds is still to come afterwards. */
  runAllNow(): void {
    for (const [timer, act] of [...this.#acts]) {
      clearTimeout(timer);
      act();
    }
  }

  /** Forgets what is still to come. */
  clear(): void {
    for (const timer of this.#acts.keys()) clearTimeout(timer);
    this.#acts.clear();
  }
}

/** The most exits of the controller by itself after faults have ended. */
const MOST_EXITS = 5;
/** The time after which a process that does not end by its signal is killed, as by a kubelet. */
const KILL_MS = 30_000;

/** The processes of a trial: slot "a" has one again and again; slot "b" has the second one, while there is one. */
export class ProcessSlots<World> {
  readonly #checks: TrialChecks<World>;
  readonly #network: Network;
  readonly #agenda: PendingTimers;
  /** All processes so far, in the order of their starts. */
  readonly all: ControllerProcess[] = [];
  /** Precedes each identity in the user agent. Up to its `/`, it is the field manager that processes share. */
  agent = "";
  /** True while slot "b" has a process that starts again as well, like slot "a". */
  lastsSecond = false;
  /** The last process of each slot. */
  readonly #slots = new Map<string, ControllerProcess>();
  #exits = 0;

  /** Starts nothing yet. `agenda` has the starts to come. */
  constructor(checks: TrialChecks<World>, network: Network, agenda: PendingTimers) {
    this.#checks = checks;
    this.#network = network;
    this.#agenda = agenda;
  }

  /** The last process of slot "a", which faults are about. */
  get main(): ControllerProcess {
    return this.#slots.get("a")!;
  }

  /** Starts a process, which starts again a second after it has exited by itself. */
  start(slot = "a"): void {
    const { options: { controller }, world, record } = this.#checks;
    const generation = this.all.filter(({ identity }) => identity.startsWith(`${slot}-`)).length + 1;
    const process = new ControllerProcess(`${slot}-${generation}`, this.#network, this);
    record.weight++;
    this.all.push(process);
    this.#slots.set(slot, process);
    if (generation > 1 || slot !== "a") record.note(() => `${process.identity} starts`);
    process.start(controller, world, (error) => {
      record.note(() => `${process.identity} exits: ${messageOf(error)}`);
      if (record.isSettling && ++this.#exits > MOST_EXITS) {
        return record.fail(`the controller exits again and again: ${messageOf(error)}`);
      }
      this.#agenda.after(1_000, () => this.#follow(process, slot));
    });
  }

  /** Notes that a process has crashed. That of slot "a" starts again after `downMs`. */
  crashed(process: ControllerProcess, downMs: number): void {
    this.#checks.record.note(() => `${process.identity} crashes`);
    const [slot] = process.identity;
    if (slot === "a" || this.lastsSecond) this.#agenda.after(downMs, () => this.#follow(process, slot));
    else this.#slots.delete(slot);
  }

  /** Stops the process of slot "a" by its signal, and starts it again `downMs` after its end. */
  restart(downMs: number): void {
    const agenda = this.#agenda;
    const process = this.main;
    if (!process.isRunning) return;
    process.stop();
    void process.ended().then(() => {
      if (!process.hasCrashed) agenda.after(downMs, () => this.#follow(process, "a"));
    });
    agenda.after(KILL_MS, () => process.crash(downMs));
  }

  /** Starts the process after another one, unless that was done, or the slot is no longer used. */
  #follow(process: ControllerProcess, slot: string): void {
    if (this.#slots.get(slot) === process) this.start(slot);
  }

  /** Starts a second process that runs for `ms`, unless there is one. */
  startSecond(ms: number, end: "crash" | "stop"): void {
    if (this.lastsSecond || this.#slots.get("b")?.isRunning) return;
    this.start("b");
    const process = this.#slots.get("b")!;
    this.#agenda.after(ms, () => {
      if (this.#slots.get("b") !== process) return;
      this.#slots.delete("b");
      if (end === "stop") process.stop();
      else process.crash(0);
    });
  }

  /** Stops the second process by its signal, if there is one. */
  stopSecond(): void {
    const second = this.#slots.get("b");
    this.#slots.delete("b");
    second?.stop();
  }
}

/** The most requests in one moment of fake time, and of one seed. */
const MOST_AT_ONCE = 2_000;
const MOST_REQUESTS = 50_000;

/** The network between processes and server, with faults, latencies and lists that are old. */
export class Network {
  /** Crashes of the process at writes to come. */
  readonly crashes: ArmedList<
    { readonly when: "before" | "during" | "after"; readonly downMs: number },
    void
  > = new ArmedList();
  /** Writes to come whose answers are lost. */
  readonly lostAnswers: ArmedList<true, void> = new ArmedList();
  /** Milliseconds by which writes to come are late. */
  readonly delays: ArmedList<number, void> = new ArmedList();
  /** The names of resources that the server did not know when they were asked for. */
  readonly unknown: Set<string> = new Set();
  /** Receives refused requests, except for requests that are about Leases and Events. */
  refused: ((what: string, response: Response) => void) | undefined;
  readonly #plan: ChaosPlan;
  readonly #checks: Pick<TrialChecks<never>, "cluster" | "record" | "written">;
  /** Chooses latencies, which are no part of a step. */
  readonly #random: Random;
  /** The version of lists that may be old; undefined while the server is not behind. */
  #oldVersion: number | undefined;
  #requests = 0;
  #moment = { at: -1, requests: 0 };

  /** Connects nothing yet. */
  constructor(plan: ChaosPlan, checks: Pick<TrialChecks<never>, "cluster" | "record" | "written">) {
    this.#plan = plan;
    this.#checks = checks;
    this.#random = new Random(plan.seed ^ 0x1a7e);
  }

  /** Until the returned value is disposed, lists that may be old are of `version`, and watches wait. */
  serveOldLists(version: number): Disposable {
    const { server } = this.#checks.cluster;
    const { streamingList } = this.#plan;
    this.#oldVersion = version;
    server.supportStreamingList(false);
    // A streaming list is refused, at once: the client lists in pages instead, which may be old.
    const lag = server.stallNext(MOST_REQUESTS, (asked) => asked.verb === "watch" && !isStreamingList(asked));
    return {
      [Symbol.dispose]: (): void => {
        this.#oldVersion = undefined;
        server.supportStreamingList(streamingList);
        lag[Symbol.dispose]();
      },
    };
  }

  /** Answers a request. One that its process aborts before it arrives does not arrive. */
  async answer(process: ControllerProcess, request: Request): Promise<Response> {
    if (process.hasCrashed || this.#checks.record.failure !== undefined || !this.#mayAsk(process)) {
      return await neverAnswered(request.signal);
    }
    await process.connected();
    // A process that has ended meanwhile sends nothing more.
    request.signal.throwIfAborted();
    if (!process.isRunning) return await neverAnswered(request.signal);
    const url = new URL(request.url);
    const route = parseRoute(url.pathname);
    if (route.type !== "resource") return await this.#checks.cluster.server.fetch(request);
    const verb = verbOf(request.method, route, url.searchParams);
    const isStream = verb === "watch" || route.subresource === "log";
    if (!isStream) return await this.#exchange(process, request, route, verb);
    const response = await this.#ask(process, request, route);
    const { watchMs } = this.#plan;
    if (watchMs === 0 || !response.ok) return response;
    return changedResponse(response, async (chunk) => {
      await new Promise((resolve) => setTimeout(resolve, this.#random.below(watchMs + 1)));
      return chunk;
    });
  }

  /** Sends a request that is no watch, with the faults of its way. */
  async #exchange(process: ControllerProcess, request: Request, route: ResourceRoute, verb: string): Promise<Response> {
    const { record } = this.#checks;
    const lost = route.plural === "leases" ? process.lostRenewals : undefined;
    if (lost === "requests") return await neverAnswered(request.signal);
    const isHarmed = !isAuxiliary(route) && isWrite({ verb });
    const crash = isHarmed ? this.crashes.take() : undefined;
    const isLost = isHarmed && this.lostAnswers.take() === true;
    const delayMs = isHarmed ? this.delays.take() : undefined;
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (crash?.when === "before") process.crash(crash.downMs);
    request.signal.throwIfAborted();
    if (!process.isRunning) return await neverAnswered(request.signal);
    await this.#travel();
    const asked = verb === "list" ? this.#oldList(request) : request;
    const response = await this.#ask(process, asked, route).catch((error) => {
      if (error instanceof TypeError) record.note(() => `${process.identity}  ${verb} ${route.plural} has no answer`);
      throw error;
    });
    if (isWrite({ verb })) this.#written(process, request, response, route, verb);
    if (crash?.when === "during") process.crash(crash.downMs);
    await this.#travel();
    if (isLost || lost === "answers" || process.hasCrashed) await response.body?.cancel();
    if (lost === "answers" || process.hasCrashed) return await neverAnswered(request.signal);
    if (crash?.when === "after") process.crash(crash.downMs, true);
    if (!isLost) return response;
    record.note(() => `${process.identity}  the answer is lost`);
    throw new TypeError("connection reset before the answer");
  }

  async #ask({ identity }: ControllerProcess, request: Request, route: ResourceRoute): Promise<Response> {
    const response = await this.#checks.cluster.server.fetch(request);
    // An object that is missing has a Status; a kind that is unknown, plain text.
    const isPlain = response.headers.get("content-type")?.startsWith("text/plain") === true;
    if (response.status === 404 && isPlain) this.unknown.add(`${route.plural}.${route.group}`);
    if (!response.ok && !isAuxiliary(route)) {
      this.refused?.(`${identity}: ${request.method} ${new URL(request.url).pathname}`, response.clone());
    }
    return response;
  }

  /** Counts a request; false when there are so many that the process does not stop by itself. */
  #mayAsk({ identity }: ControllerProcess): boolean {
    const { record } = this.#checks;
    const at = performance.now();
    if (at !== this.#moment.at) this.#moment = { at, requests: 0 };
    if (++this.#moment.requests > MOST_AT_ONCE) {
      record.fail(`a hot loop: ${identity} sends more than ${MOST_AT_ONCE} requests without a wait`);
    } else if (++this.#requests > MOST_REQUESTS) {
      record.fail(`a hot loop: the controller sends more than ${MOST_REQUESTS} requests`);
    } else return true;
    return false;
  }

  /** Waits as long as a request, or an answer, takes. */
  async #travel(): Promise<void> {
    const { latencyMs } = this.#plan;
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#random.below(latencyMs + 1)));
  }

  /** A list that may be old is one of an old version, while the API server is behind. */
  #oldList(request: Request): Request {
    const url = new URL(request.url);
    if (this.#oldVersion === undefined || url.searchParams.get("resourceVersion") !== "0") return request;
    url.searchParams.set("resourceVersion", String(this.#oldVersion));
    url.searchParams.set("resourceVersionMatch", "Exact");
    return new Request(url, request);
  }

  #written(process: ControllerProcess, request: Request, response: Response, route: ResourceRoute, verb: string): void {
    const { cluster: { server }, record } = this.#checks;
    const { method, url } = request;
    const { status } = response;
    const sent = server.requests.findLast((record) => record.method === method && record.url === url);
    if (!isAuxiliary(route)) {
      record.note(() => `${process.identity}  ${verb} ${describeTarget(route, sent)} → ${status}`);
    }
    if (response.ok) this.#checks.written(route, `${process.identity}  ${verb} ${describeTarget(route, sent)}`);
  }
}

function describeTarget({ plural, namespace, name, subresource }: ResourceRoute, record?: RecordedRequest): string {
  const body = record?.body ?? "";
  const key = [namespace, name ?? nameIn(body)].filter((part) => part !== "").join("/");
  const part = subresource === undefined ? "" : `/${subresource}`;
  const shown = record?.method === "PATCH" ? ` ${plural === "secrets" ? "[redacted]" : quoted(body)}` : "";
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
