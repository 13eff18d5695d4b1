import { LongTimer } from "../../async/time/long_timer.ts";

/** Ticks at a period, from when its informer runs until its listener leaves. */
export class ResyncTimer {
  readonly #periodMs: number;
  readonly #timer: LongTimer;
  #over = false;

  /** A period of 0 or `Infinity` never ticks. */
  constructor(periodMs: number, tick: () => void) {
    this.#periodMs = periodMs;
    this.#timer = new LongTimer(() => {
      this.begin();
      tick();
    });
  }

  /** Begins to tick. */
  begin(): void {
    if (this.#periodMs > 0 && !this.#over && !this.#timer.isArmed) this.#timer.arm(this.#periodMs);
  }

  /** Ticks no more. */
  end(): void {
    this.#over = true;
    this.#timer[Symbol.dispose]();
  }
}
