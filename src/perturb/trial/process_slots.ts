import { messageOf } from "../../errors/error_line.ts";
import type { ControllerFunction } from "../plan/options.ts";
import { type Answer, ControllerProcess } from "./controller_process.ts";
import type { Agenda } from "./agenda.ts";
import type { TrialRecord } from "./trial_record.ts";

/** The most exits of the controller by itself after faults have ended. */
const MOST_EXITS = 5;
/** The time after which a process that does not end by its signal is killed, as by a kubelet. */
const KILL_MS = 30_000;

/** The parts of {@linkcode ProcessSlots}. */
export interface ProcessSlotsOptions<World> {
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

  /** Crashes a process, if it runs. That of slot "a" starts again after `downMs`. See {@linkcode ControllerProcess.crash}. */
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
