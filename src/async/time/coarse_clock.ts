import { monotonicMs } from "./monotonic_ms.ts";

/** A step of the time of day up to this is accepted without reading the monotonic clock. */
const UNCHECKED_MS = 20;

/**
 * A clock that never runs backwards, for measurements on hot paths. Only differences of readings of one instance are
 * meaningful. A change of the time of day moves it by at most 20 ms.
 *
 * It reads the time of day, which costs a third of the monotonic clock, and reads the monotonic clock too when the time of
 * day has moved backwards or by more than 20 ms. Waits use {@linkcode monotonicMs}.
 */
export class CoarseClock {
  /** The time of day of the last reading. */
  #dayMs: number = Date.now();
  /** The last reading; it never decreases. */
  #nowMs: number = monotonicMs();

  /** Returns the time, in milliseconds. */
  now(): number {
    const dayMs = Date.now();
    const stepMs = dayMs - this.#dayMs;
    this.#dayMs = dayMs;
    if (stepMs >= 0 && stepMs <= UNCHECKED_MS) this.#nowMs += stepMs;
    else this.#nowMs = Math.max(this.#nowMs, monotonicMs());
    return this.#nowMs;
  }
}
