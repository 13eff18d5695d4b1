/** Ticks at a period, from when its informer runs until its listener leaves. */
export class ResyncTimer {
  readonly #periodMs: number;
  readonly #tick: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #over = false;

  /** A period of 0 never ticks. */
  constructor(periodMs: number, tick: () => void) {
    this.#periodMs = periodMs;
    this.#tick = tick;
  }

  /** Begins to tick. */
  begin(): void {
    if (this.#periodMs > 0 && !this.#over) this.#timer ??= setInterval(this.#tick, this.#periodMs);
  }

  /** Ticks no more. */
  end(): void {
    this.#over = true;
    clearInterval(this.#timer);
  }
}
