/**
 * Milliseconds by `Date.now()` that never run backwards: while the machine's clock is set back, this one stands still, and
 * then goes on at its pace. Set forward, it follows.
 */
export class Clock {
  #wallMs: number = Date.now();
  #setBackMs = 0;

  /** The time, in milliseconds; good for differences only. */
  now(): number {
    const wallMs = Date.now();
    if (wallMs < this.#wallMs) this.#setBackMs += this.#wallMs - wallMs;
    this.#wallMs = wallMs;
    return wallMs + this.#setBackMs;
  }
}
