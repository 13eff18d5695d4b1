/** Something that happens once, and that any number can wait for. */
export class Latch {
  #outcome: { readonly error?: unknown; readonly failed: boolean } | undefined;
  readonly #waiting = new Set<{ readonly resolve: () => void; readonly reject: (error: unknown) => void }>();

  /** Whether it has happened. */
  get isOpen(): boolean {
    return this.#outcome !== undefined && !this.#outcome.failed;
  }

  /** It has happened: all who wait go on. Only the first call of {@linkcode open} or {@linkcode fail} counts. */
  open(): void {
    this.#settle({ failed: false });
  }

  /** It will not happen any more, because of `error`: all who wait, now or later, are told so. */
  fail(error: unknown): void {
    this.#settle({ failed: true, error });
  }

  /** Rejects those who wait now; it may still happen. */
  interrupt(error: unknown): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  /** Resolves once it has happened; rejects with the signal's reason when that aborts first. */
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
