import { quantile } from "../statistics.ts";

const PERIOD_MS = 2;

/**
 * Measures by how much the event loop is late for a timer that is due all the time: what any other timer would be late.
 */
export class Delays implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;
  #delaysMs: number[] = [];

  /** Begins at once. */
  constructor() {
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#delaysMs.push(Math.max(0, now - last - PERIOD_MS));
      last = now;
    }, PERIOD_MS);
  }

  /** Forgets what was measured so far: what is measured then, as numbers to print under names that begin so. */
  take(name: string): Record<string, number> {
    const delays = this.#delaysMs;
    this.#delaysMs = [];
    return {
      [`${name}DelayP50Ms`]: quantile(delays, 0.5),
      [`${name}DelayP99Ms`]: quantile(delays, 0.99),
      [`${name}DelayP999Ms`]: quantile(delays, 0.999),
      [`${name}DelayMaxMs`]: quantile(delays, 1),
    };
  }

  /** Ends it. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
