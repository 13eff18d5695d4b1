import { monotonicMs } from "./clock.ts";

/** The longest delay that `setTimeout` takes, in milliseconds; a longer one would fire at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/**
 * A timer that fires once for each time it is armed, after a delay of any length. Disposing it disarms it.
 *
 * It runs on the monotonic clock, and keeps at most one timer of the runtime armed.
 *
 * ```ts ignore
 * using timer = new LongTimer(() => controller.abort(new Error("no answer")));
 * timer.arm(timeoutMs);
 * ```
 */
export class LongTimer implements Disposable {
  readonly #fire: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `fire` whenever the timer is due. Nothing is armed yet. */
  constructor(fire: () => void) {
    this.#fire = fire;
  }

  /** Whether it is going to fire. */
  get isArmed(): boolean {
    return this.#timer !== undefined;
  }

  /** Fires after `ms` milliseconds, and not when it was to fire before; `Infinity` is never, what is below 0 counts as 0. */
  arm(ms: number): void {
    this[Symbol.dispose]();
    if (ms !== Infinity) this.#start(monotonicMs() + ms, ms);
  }

  /** Does not fire any more, unless it is armed again. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(dueMs: number, leftMs: number): void {
    this.#timer = setTimeout(() => {
      if (leftMs > MAX_TIMER_MS) return this.#start(dueMs, dueMs - monotonicMs());
      this.#timer = undefined;
      this.#fire();
    }, Math.min(Math.max(0, Math.ceil(leftMs)), MAX_TIMER_MS));
  }
}
