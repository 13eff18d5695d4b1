/**
 * How often something happens: a limit, and a count.
 *
 * {@linkcode LeakyBucket} and {@linkcode RecentCount} are the entry points. Both use the monotonic clock, and neither
 * waits.
 *
 * @module
 */
import { monotonicMs } from "./time.ts";

/**
 * Limits a rate: `burst` actions pass at once, and one more every `intervalMs`.
 *
 * In any period with `t` milliseconds, at most `burst + t / intervalMs` actions pass.
 */
export class LeakyBucket {
  readonly #burst: number;
  readonly #intervalMs: number;
  /** The bucket's level at `#atMs`, at least 0. Above `#burst` if some booked actions have not passed yet. */
  #level = 0;
  /** The time of the last call. */
  #atMs: number = monotonicMs();

  /** Starts with an empty bucket. */
  constructor(burst: number, intervalMs: number) {
    this.#burst = burst;
    this.#intervalMs = intervalMs;
  }

  /**
   * Lets one action pass and returns 0, or refuses it and returns how long to wait before another try, in milliseconds.
   */
  take(): number {
    const over = this.#next() - this.#burst;
    // Without the tolerance, a rounding error would cause a wait.
    if (over > 1e-6) return Math.ceil(over * this.#intervalMs);
    this.#level++;
    return 0;
  }

  /** Books one action after all earlier actions, and returns how long it must wait, in milliseconds. */
  book(): number {
    this.#level = this.#next();
    return Math.max(0, this.#level - this.#burst) * this.#intervalMs;
  }

  /** The level with one more action. */
  #next(): number {
    const nowMs = monotonicMs();
    this.#level = Math.max(0, this.#level - (nowMs - this.#atMs) / this.#intervalMs);
    this.#atMs = nowMs;
    return this.#level + 1;
  }
}

/** Counts the events in the last `windowMs` milliseconds. It stores one number per event, so use it for rare events. */
export class RecentCount {
  readonly #windowMs: number;
  /** The monotonic times of the events, the oldest first. The next call removes times before the window. */
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

  /** Returns how long it takes until fewer than `max` events are in the window, in milliseconds. */
  waitMs(max: number): number {
    return this.count < max ? 0 : this.#times[this.#times.length - max] + this.#windowMs - monotonicMs();
  }

  #forget(): void {
    const sinceMs = monotonicMs() - this.#windowMs;
    const kept = this.#times.findIndex((time) => time > sinceMs);
    this.#times.splice(0, kept === -1 ? this.#times.length : kept);
  }
}
