import { monotonicMs } from "./monotonic_ms.ts";

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
    this.#fire = (): void => {
      this.#timer = undefined;
      fire();
    };
  }

  /** Whether it is going to fire. */
  get isArmed(): boolean {
    return this.#timer !== undefined;
  }

  /** Fires after `ms` milliseconds, and not when it was to fire before; `Infinity` is never, what is below 0 counts as 0. */
  arm(ms: number): void {
    this[Symbol.dispose]();
    if (ms <= MAX_TIMER_MS) {
      this.#timer = setTimeout(this.#fire, Math.max(0, Math.ceil(ms)));
    } else if (ms !== Infinity) {
      const dueMs = monotonicMs() + ms;
      this.#timer = setTimeout(() => this.arm(dueMs - monotonicMs()), MAX_TIMER_MS);
    }
  }

  /** Does not fire any more, unless it is armed again. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
