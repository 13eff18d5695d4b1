const PERIOD_MS = 2;

/** Watches for how long the event loop is not free at a stretch. */
export class Stalls implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;
  #worstMs = 0;

  /** Begins at once. */
  constructor() {
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#worstMs = Math.max(this.#worstMs, now - last - PERIOD_MS);
      last = now;
    }, PERIOD_MS);
  }

  /** The longest one so far, in milliseconds; one that is not over yet is not counted. */
  get worstMs(): number {
    return this.#worstMs;
  }

  /** Ends it. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
