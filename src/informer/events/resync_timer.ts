import { LongTimer } from "../../async/time/long_timer.ts";

/** Calls a function at a fixed period, from `begin()` to `end()`. */
export class ResyncTimer {
  readonly #periodMs: number;
  readonly #timer: LongTimer;
  /** `true` from `end()` on. */
  #isOver = false;

  /** Makes a timer that does not run yet; with a period of 0 or `Infinity` it never calls `tick`. */
  constructor(periodMs: number, tick: () => void) {
    this.#periodMs = periodMs;
    this.#timer = new LongTimer(() => {
      this.begin();
      tick();
    });
  }

  /** Starts the timer, unless it runs or has ended. */
  begin(): void {
    if (this.#periodMs > 0 && !this.#isOver && !this.#timer.isArmed) this.#timer.arm(this.#periodMs);
  }

  /** Stops the timer permanently. */
  end(): void {
    this.#isOver = true;
    this.#timer[Symbol.dispose]();
  }
}
