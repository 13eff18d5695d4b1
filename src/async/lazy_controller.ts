/** An `AbortController` that is created when its signal is first read: many jobs end before anybody reads it. */
export class LazyController {
  #controller: AbortController | undefined;
  /** Set by the first `abort()`. */
  #aborted: { readonly reason: unknown } | undefined;

  /** Aborts with {@linkcode abort}. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Aborts the signal. Only the first call counts. */
  abort(reason: unknown): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}
