/** An event that happens at most once, for any number of waits. */
export class Latch {
  /** Set once and for all by the first `open()` or `fail()`. */
  #outcome: { readonly error?: unknown; readonly failed: boolean } | undefined;
  /** Has a waiter if and only if its promise is pending; empty once `#outcome` is set. */
  readonly #waiting = new Set<{ readonly resolve: () => void; readonly reject: (error: unknown) => void }>();

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
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  /** Resolves once the latch is open; rejects when it has failed, or with the signal's reason when that aborts first. */
  wait(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    if (this.#outcome !== undefined) {
      return this.#outcome.failed ? Promise.reject(this.#outcome.error) : Promise.resolve();
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(waiter);
        reject(signal!.reason);
      };
      const waiter = {
        resolve: (): void => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
        reject: (error: unknown): void => {
          signal?.removeEventListener("abort", stop);
          reject(error);
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiting.add(waiter);
    });
  }

  #settle(outcome: { readonly error?: unknown; readonly failed: boolean }): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { resolve, reject } of waiting) outcome.failed ? reject(outcome.error) : resolve();
  }
}
