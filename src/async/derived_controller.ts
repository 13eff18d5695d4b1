/**
 * An `AbortController` that aborts with the first of its parent signals, and removes its listeners from them once it has
 * aborted or is disposed.
 *
 * `AbortSignal.any` leaves 1.2 KB per call on a long-lived parent; this leaves nothing.
 */
export class DerivedController implements Disposable {
  readonly #controller = new AbortController();
  readonly #parents: (AbortSignal | undefined)[];
  readonly #stop = (): void => this.abort(this.#aborted?.reason);

  /** Aborts with each of `parents`, at once if one has aborted. */
  constructor(...parents: (AbortSignal | undefined)[]) {
    this.#parents = parents;
    if (this.#aborted !== undefined) this.#stop();
    else for (const parent of parents) parent?.addEventListener("abort", this.#stop, { once: true });
  }

  /** Aborts with `parent` too, at once if that has aborted. */
  follow(parent: AbortSignal): void {
    if (this.signal.aborted) return;
    this.#parents.push(parent);
    if (parent.aborted) this.#stop();
    else parent.addEventListener("abort", this.#stop, { once: true });
  }

  /** The first parent that has aborted. */
  get #aborted(): AbortSignal | undefined {
    return this.#parents.find((parent) => parent?.aborted);
  }

  /** Aborts with the parents, on {@linkcode abort} and on disposal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts with `reason`; the parents are not touched. */
  abort(reason?: unknown): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** Removes its listeners from the parents without aborting, for a job that has ended by itself. */
  release(): void {
    for (const parent of this.#parents) parent?.removeEventListener("abort", this.#stop);
  }

  /** Aborts the signal. */
  [Symbol.dispose](): void {
    this.abort(new DOMException("The job is over", "AbortError"));
  }
}
