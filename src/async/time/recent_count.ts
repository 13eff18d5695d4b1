import { monotonicMs } from "./monotonic_ms.ts";

/** Counts the events of the last `windowMs` milliseconds. It keeps one number for each, so the events should be rare. */
export class RecentCount {
  readonly #windowMs: number;
  /** The monotonic times of the events, the oldest first. Times before the window are removed by the next call. */
  readonly #times: number[] = [];

  /** Counts over the last `windowMs` milliseconds. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Counts an event that happens now. */
  add(): void {
    this.#forget();
    this.#times.push(monotonicMs());
  }

  /** The number of events in the window. */
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
