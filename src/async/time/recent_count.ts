import { monotonicMs } from "./monotonic_ms.ts";

/** Counts what happened within a time before now. It keeps one number for each, so what it counts should be rare. */
export class RecentCount {
  readonly #windowMs: number;
  /** Monotonic times, the oldest first. */
  readonly #times: number[] = [];

  /** Counts over the last `windowMs` milliseconds. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Counts one, now. */
  add(): void {
    this.#forget();
    this.#times.push(monotonicMs());
  }

  /** How many there were. */
  get count(): number {
    this.#forget();
    return this.#times.length;
  }

  #forget(): void {
    const sinceMs = monotonicMs() - this.#windowMs;
    const kept = this.#times.findIndex((time) => time > sinceMs);
    this.#times.splice(0, kept === -1 ? this.#times.length : kept);
  }
}
