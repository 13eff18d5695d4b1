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
  /** The timer of the runtime; `undefined` if and only if this timer is not armed. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `fire` when the timer is due. It is not armed yet. */
  constructor(fire: () => void) {
    this.#fire = (): void => {
      this.#timer = undefined;
      fire();
    };
  }

  /** True if the timer will fire. */
  get isArmed(): boolean {
    return this.#timer !== undefined;
  }

  /** Fires after `ms` milliseconds, and no longer at an earlier set time. `Infinity` is never; a negative `ms` counts as 0. */
  arm(ms: number): void {
    this[Symbol.dispose]();
    if (ms <= MAX_TIMER_MS) {
      this.#timer = setTimeout(this.#fire, Math.max(0, Math.ceil(ms)));
    } else if (ms !== Infinity) {
      const dueMs = monotonicMs() + ms;
      this.#timer = setTimeout(() => this.arm(dueMs - monotonicMs()), MAX_TIMER_MS);
    }
  }

  /** Disarms the timer; it can be armed again. */
  [Symbol.dispose](): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
