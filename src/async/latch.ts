interface LatchOutcome {
  readonly failed: boolean;
  readonly error?: unknown;
}

/** An event that happens at most once, for any number of waits. */
export class Latch {
  /** Set once and for all by the first `open()` or `fail()`. */
  #outcome: LatchOutcome | undefined;
  /** Has a function for each pending wait; empty once `#outcome` is set. */
  readonly #waiting = new Set<(outcome: LatchOutcome) => void>();

  /** `true` once the latch was opened. */
  get isOpen(): boolean {
    return this.#outcome !== undefined && !this.#outcome.failed;
  }

  /** Resolves all waits, present and future. Only the first call of {@linkcode open} or {@linkcode fail} counts. */
  open(): void {
    this.#settle({ failed: false });
  }

  /** Rejects all waits, present and future, with `error`. */
  fail(error: unknown): void {
    this.#settle({ failed: true, error });
  }

  /** Rejects the present waits with `error`; the latch stays as it is. */
  interrupt(error: unknown): void {
    this.#settleWaits({ failed: true, error });
  }

  /** Resolves once the latch is open; rejects when it has failed, or with the signal's reason when that aborts first. */
  wait(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    if (this.#outcome !== undefined) {
      return this.#outcome.failed ? Promise.reject(this.#outcome.error) : Promise.resolve();
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const settle = (outcome: LatchOutcome): void => {
        signal?.removeEventListener("abort", stop);
        outcome.failed ? reject(outcome.error) : resolve();
      };
      const stop = (): void => {
        this.#waiting.delete(settle);
        reject(signal!.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.add(settle);
    });
  }

  #settle(outcome: LatchOutcome): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#settleWaits(outcome);
  }

  #settleWaits(outcome: LatchOutcome): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const settle of waiting) settle(outcome);
  }
}
