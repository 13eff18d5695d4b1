/**
 * A fast clock for measurements on hot paths.
 *
 * {@linkcode CoarseClock} is the entry point. Waits do not use it: they need the monotonic clock of `time.ts`.
 *
 * @module
 */
import { monotonicMs } from "./time.ts";

/** A system time step up to this is accepted without reading the monotonic clock. */
const UNCHECKED_MS = 20;

/** After this many equal readings in a row, the clock checks whether they are a burst. */
const SUSPECTED = 16;

/** This many equal readings in a row, the last 16 without an `await` between them, are a burst. */
const BURST = 32;

/** In a burst, one reading out of this many reads the time. */
const READ_EVERY = 8;

/**
 * A fast clock that never runs backwards, for measurements on hot paths. Only differences between one instance's
 * readings are meaningful. Waits use {@linkcode monotonicMs} instead.
 *
 * It reads the system time, which costs half as much as the monotonic clock. It also reads the monotonic clock if the
 * system time has moved backwards or by more than 20 ms. A change to the system time therefore moves it by at most 20
 * ms.
 *
 * A burst is at least 16 equal readings without an `await` between them. In a burst it reads the time once in 8
 * readings, and repeats the last time otherwise. A burst ends with the next `await`, and when the time has moved.
 */
export class CoarseClock {
  /** The system time at the last reading. */
  #dayMs: number = Date.now();
  /**
   * The last reading, which never decreases. It is a whole number, because V8 allocates one for each field that holds
   * another number.
   */
  #nowMs: number = Math.floor(monotonicMs());
  /** The number of readings since the time last moved, or since the burst last ended. */
  #equal = 0;

  /** Returns the time in milliseconds. */
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
