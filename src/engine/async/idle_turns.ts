/**
 * Work that waits until a process has nothing to read.
 *
 * {@linkcode IdleTurns} is the entry point: its work is done in short steps, each after a time in which no input has
 * arrived. What reads input says so by {@linkcode inputArrived}. Work that must go on under load uses a `Pacer`.
 *
 * @module
 */

import { monotonicMs } from "./time.ts";

/** The wait before the first step, and after input that came between two steps, in milliseconds. */
const WAIT_MS = 200;
/** The time before each step in which nothing may arrive, in milliseconds. */
const QUIET_MS = 4;
/** A timer that fires later than this has waited for other work, in milliseconds. There may be input, too. */
const LATE_MS = 2;

let arrived = 0;

/** Notes that a part of a list or watch, or of another body, has arrived. */
export function inputArrived(): void {
  arrived++;
}

/** Calls a function in idle turns while it has work. Its timers do not keep a process alive. */
export class IdleTurns implements Disposable {
  readonly #step: () => boolean;
  /** Armed if and only if there is work. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** `true` if nothing may arrive until the timer fires. */
  #isQuiet = false;
  #arrived = 0;
  #dueMs = 0;
  #isOver = false;

  /** `step` does a part of the work, and returns `true` if there is more. */
  constructor(step: () => boolean) {
    this.#step = step;
  }

  /** There is work. */
  wake(): void {
    if (this.#timer === undefined) this.#arm(false);
  }

  /** Ends the work. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #arm(isQuiet: boolean): void {
    if (this.#isOver) return;
    clearTimeout(this.#timer); // a step may have woken it
    this.#isQuiet = isQuiet;
    this.#arrived = arrived;
    const delayMs = isQuiet ? QUIET_MS : WAIT_MS;
    this.#dueMs = monotonicMs() + delayMs;
    this.#timer = setTimeout(this.#fire, delayMs);
    (this.#timer as { unref?(): void }).unref?.(); // browsers, and older versions of Deno, have no such method
  }

  readonly #fire = (): void => {
    this.#timer = undefined;
    if (!this.#isQuiet) this.#arm(true);
    else if (this.#arrived !== arrived || monotonicMs() > this.#dueMs + LATE_MS) this.#arm(false);
    else if (this.#step()) this.#arm(true);
  };
}
