import { monotonicMs } from "./monotonic_ms.ts";

/** A step of the time of day up to this is accepted without reading the monotonic clock. */
const UNCHECKED_MS = 20;

/** The number of equal readings in a row after which the clock looks whether they are a burst. */
const SUSPECTED = 16;

/** The number of equal readings in a row, the last 16 of them without an `await` between them, that make a burst. */
const BURST = 32;

/** Of this many readings in a burst, one reads the time. */
const READ_EVERY = 8;

/**
 * A clock that never runs backwards, for measurements on hot paths. Only differences of readings of one instance are
 * meaningful. A change of the time of day moves it by at most 20 ms.
 *
 * It reads the time of day, which costs half of the monotonic clock, and reads the monotonic clock too when the time of
 * day has moved backwards or by more than 20 ms. Waits use {@linkcode monotonicMs}.
 *
 * In a burst, which is 16 equal readings or more without an `await` between them, it reads the time once in 8 readings: the
 * others may be as old as the one before. The burst ends with the next `await`, and when the time has moved.
 */
export class CoarseClock {
  /** The time of day of the last reading. */
  #dayMs: number = Date.now();
  /** The last reading; it never decreases. A whole number: V8 allocates one for each field that holds another. */
  #nowMs: number = Math.floor(monotonicMs());
  /** The number of readings since the time last moved, or since the burst last ended. */
  #equal = 0;

  /** Returns the time, in milliseconds. */
  now(): number {
    if (this.#equal >= BURST && ++this.#equal % READ_EVERY !== 0) return this.#nowMs;
    return this.#read();
  }

  #read(): number {
    const dayMs = Date.now();
    const stepMs = dayMs - this.#dayMs;
    if (stepMs === 0) {
      // Only at the 16th, so that most readings that are apart queue no microtask.
      if (++this.#equal === SUSPECTED) queueMicrotask(this.#endBurst);
      return this.#nowMs;
    }
    this.#dayMs = dayMs;
    this.#equal = 0;
    if (stepMs > 0 && stepMs <= UNCHECKED_MS) this.#nowMs += stepMs;
    else this.#nowMs = Math.max(this.#nowMs, Math.floor(monotonicMs()));
    return this.#nowMs;
  }

  readonly #endBurst = (): void => {
    this.#equal = 0;
  };
}
