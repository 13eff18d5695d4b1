import { abortable } from "@std/async/abortable";
import { isAbortOf } from "../async/signals.ts";
import { Client } from "../client/client.ts";
import { type ControllerFunction, describeStep, type PerturbStep } from "./plan.ts";
import { messageOf } from "../errors/errors.ts";

/** Answers the requests of a process. */
type Answer = (process: ControllerProcess, request: Request) => Promise<Response>;

/** One process of a controller: started once, then stopped or crashed. */
export class ControllerProcess {
  /** The name of the process: `"a-1"`. */
  readonly identity: string;
  readonly #client: Client;
  readonly #stop = new AbortController();
  #state: "running" | "stopping" | "crashed" | "ended" = "running";
  #ended: Promise<void> = Promise.resolve();
  /** Set while the network is cut off. */
  #cutOff: PromiseWithResolvers<void> | undefined;

  /** The part of the exchanges about Leases that is lost; undefined if none is. */
  lostRenewals: "requests" | "answers" | undefined;

  /** Creates a process, which runs nothing yet. */
  constructor(identity: string, answer: Answer) {
    this.identity = identity;
    this.#client = new Client({
      server: "http://fake",
      // As over a network, a process that aborts a request waits for nothing.
      transport: { fetch: (request) => abortable(answer(this, request), request.signal) },
      userAgent: identity,
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
   * aborts only when the answer that it has just received was handled.
   */
  crash(later = false): void {
    if (!this.isRunning) return;
    this.#state = "crashed";
    if (later) setTimeout(() => this.#abort("crashed"), 0);
    else this.#abort("crashed");
  }

  /** Cuts the network off until the returned value is disposed. */
  cutOff(): Disposable {
    const cutOff = this.#cutOff ??= Promise.withResolvers<void>();
    return {
      [Symbol.dispose]: (): void => {
        if (this.#cutOff === cutOff) this.#cutOff = undefined;
        cutOff.resolve();
      },
    };
  }

  /** Resolves when the network is there. */
  async connected(): Promise<void> {
    while (this.#cutOff !== undefined) await this.#cutOff.promise;
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
    this.#stop.abort(
      new DOMException(
        `The process ${this.identity} ${how === "crashed" ? "has crashed" : "was stopped"}`,
        "AbortError",
      ),
    );
  }
}

/** Waits for the abort of a request that is never answered, and rejects with its reason. */
export function neverAnswered(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** The starts and ends of processes and faults that are still to come. */
export class Agenda {
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
  hasten(): void {
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

/** The most lines after one step. */
const MOST_LINES = 20;

/**
 * The record of a trial: its lines, its first failure, and the number of changes and faults, which may lead to writes.
 */
export class TrialRecord {
  /** The index of the present step: -1 before the first one, and the number of steps after the last. */
  step = -1;
  /** True when changes and faults have ended. */
  isSettling = false;
  /** The number of changes, faults and starts of processes. */
  weight = 0;
  readonly #lines: { readonly step: number; readonly text: () => string }[] = [];
  readonly #startedAt = performance.now();
  #failure: string | undefined;

  /** The first failure; undefined if there was none. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Records a failure and its line, if it is the first. */
  fail(failure: string): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.note(() => `✗ ${failure.split("\n", 1)[0]}`);
  }

  /** Adds a line to the present step, with the time. */
  note(text: () => string): void {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    this.#lines.push({ step: this.step, text: () => `${seconds.toFixed(3).padStart(9)} s  ${text()}` });
  }

  /** Returns the steps, numbered, each followed by its lines. */
  linesOf(steps: readonly PerturbStep[]): string[] {
    const titles = ["the controller starts", ...steps.map(describeStep), "changes and faults end"];
    return titles.flatMap((title, number) => {
      const own = this.#lines.filter(({ step }) => step === number - 1);
      const left = own.length - MOST_LINES;
      return [
        `${String(number).padStart(3)}. ${title}`,
        ...own.slice(0, MOST_LINES).map(({ text }) => `       ${text()}`),
        ...(left > 0 ? [`       and ${left} more`] : []),
      ];
    });
  }
}

/** The most exits of the controller by itself after faults have ended. */
const MOST_EXITS = 5;
/** The time after which a process that does not end by its signal is killed, as by a kubelet. */
const KILL_MS = 30_000;

/** The parts of {@linkcode ProcessSlots}. */
interface ProcessSlotsOptions<World> {
  /** Runs in each process. */
  readonly controller: ControllerFunction<World>;
  /** The systems outside of the cluster. */
  readonly world: World;
  /** Answers the requests of all processes. */
  readonly answer: Answer;
  /** Has the starts to come. */
  readonly agenda: Agenda;
  /** Receives starts, exits and crashes. */
  readonly record: TrialRecord;
}

/** The processes of a trial: slot "a" has one again and again; slot "b" has the second one, while there is one. */
export class ProcessSlots<World> {
  readonly #options: ProcessSlotsOptions<World>;
  readonly #all: ControllerProcess[] = [];
  /** The last process of each slot. */
  readonly #slots = new Map<string, ControllerProcess>();
  #exits = 0;

  /** Starts nothing yet. */
  constructor(options: ProcessSlotsOptions<World>) {
    this.#options = options;
  }

  /** All processes so far, in the order of their starts. */
  get all(): readonly ControllerProcess[] {
    return this.#all;
  }

  /** The last process of slot "a", which faults are about. */
  get main(): ControllerProcess {
    return this.#slots.get("a")!;
  }

  /** Starts a process, which starts again a second after it has exited by itself. */
  start(slot = "a"): void {
    const { controller, world, answer, agenda, record } = this.#options;
    const generation = this.#all.filter(({ identity }) => identity.startsWith(`${slot}-`)).length + 1;
    const process = new ControllerProcess(`${slot}-${generation}`, answer);
    record.weight++;
    this.#all.push(process);
    this.#slots.set(slot, process);
    if (generation > 1 || slot !== "a") record.note(() => `${process.identity} starts`);
    process.start(controller, world, (error) => {
      record.note(() => `${process.identity} exits: ${messageOf(error)}`);
      if (record.isSettling && ++this.#exits > MOST_EXITS) {
        return record.fail(`the controller exits again and again: ${messageOf(error)}`);
      }
      if (this.#slots.get(slot) === process) agenda.after(1_000, () => this.start(slot));
    });
  }

  /**
   * Crashes a process, if it runs. That of slot "a" starts again after `downMs`. See
   * {@linkcode ControllerProcess.crash}.
   */
  crash(process: ControllerProcess, downMs: number, later = false): void {
    if (!process.isRunning) return;
    process.crash(later);
    const slot = process.identity.slice(0, 1);
    this.#options.record.note(() => `${process.identity} crashes`);
    if (slot === "a") this.#options.agenda.after(downMs, () => this.start());
    else this.#slots.delete(slot);
  }

  /** Stops the process of slot "a" by its signal, and starts it again `downMs` after its end. */
  restart(downMs: number): void {
    const { agenda } = this.#options;
    const process = this.main;
    if (!process.isRunning) return;
    process.stop();
    void process.ended().then(() => {
      if (this.main === process && !process.hasCrashed) agenda.after(downMs, () => this.start());
    });
    agenda.after(KILL_MS, () => this.crash(process, downMs));
  }

  /** Starts a second process that runs for `ms`, unless there is one. */
  startSecond(ms: number, end: "crash" | "stop"): void {
    if (this.#slots.get("b")?.isRunning) return;
    this.start("b");
    const process = this.#slots.get("b")!;
    this.#options.agenda.after(ms, () => {
      if (this.#slots.get("b") !== process) return;
      this.#slots.delete("b");
      if (end === "stop") process.stop();
      else process.crash();
    });
  }

  /** Stops the second process by its signal, if there is one. */
  stopSecond(): void {
    const second = this.#slots.get("b");
    this.#slots.delete("b");
    second?.stop();
  }
}
