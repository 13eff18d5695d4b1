import { monotonicMs } from "./monotonic_ms.ts";

/** What the time of day may move by between two readings without being checked against the monotonic clock. */
const UNCHECKED_MS = 20;

/**
 * A clock that never runs backwards, for measurements on hot paths: only differences of one instance's readings have a
 * meaning, and a change of the time of day moves it by at most 20 ms.
 *
 * It reads the time of day, which costs a third of the monotonic clock, and reads that one too when the time of day has
 * moved backwards or far. What waits uses {@linkcode monotonicMs}.
 */
export class CoarseClock {
  #dayMs: number = Date.now();
  #nowMs: number = monotonicMs();

  /** The time, in milliseconds. */
  now(): number {
    const dayMs = Date.now();
    const stepMs = dayMs - this.#dayMs;
    this.#dayMs = dayMs;
    if (stepMs >= 0 && stepMs <= UNCHECKED_MS) this.#nowMs += stepMs;
    else this.#nowMs = Math.max(this.#nowMs, monotonicMs());
    return this.#nowMs;
  }
}
