/**
 * Abort signals, events that happen once, and calls of observers.
 *
 * {@linkcode DerivedController} and {@linkcode Latch} are the entry points. A derived controller removes its listeners
 * from its parents when it is done. {@linkcode callObserver} calls users' functions, so that their errors stop nothing
 * here. Even the smallest entry points load this file, so turns of the event loop are in `turns.ts`.
 *
 * @module
 */

/**
 * An `AbortController` that aborts with the first of its parent signals. It removes its listeners from them after it
 * has aborted or is disposed.
 *
 * Use it instead of `AbortSignal.any`, which leaves 1.2 KB per call on a long-lived parent. This class leaves nothing.
 */
export class DerivedController implements Disposable {
  readonly #controller = new AbortController();
  readonly #parents: (AbortSignal | undefined)[];
  readonly #stop = (): void => this.abort(this.#aborted?.reason);

  /** Aborts with each parent, at once if a parent has aborted. */
  constructor(...parents: (AbortSignal | undefined)[]) {
    this.#parents = parents;
    if (this.#aborted !== undefined) this.#stop();
    else for (const parent of parents) parent?.addEventListener("abort", this.#stop, { once: true });
  }

  /** Aborts with `parent` too, at once if it has aborted. */
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

  /** The signal. It aborts with the parents, on {@linkcode abort} and on disposal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts with `reason`. The parents are not touched. */
  abort(reason?: unknown): void {
    this.release();
    this.#controller.abort(reason);
  }

  /** Removes the listeners from the parents without aborting, for a job that has ended normally. */
  release(): void {
    for (const parent of this.#parents) parent?.removeEventListener("abort", this.#stop);
  }

  /** Aborts the signal. */
  [Symbol.dispose](): void {
    this.abort(new DOMException("The job is over", "AbortError"));
  }
}

/**
 * Returns a function that returns one reason for aborting: an `AbortError` with `message`, created on first use.
 *
 * A constant would create the error when its module is loaded. That reads the module's source map, which costs an
 * import 1 ms, and 10 ms if all modules are in one file.
 */
export function abortReason(message: string): () => DOMException {
  let reason: DOMException | undefined;
  return () => reason ??= new DOMException(message, "AbortError");
}

/**
 * An `AbortController` that is created when its signal is first read, because many jobs end before anybody reads it.
 */
export class LazyController {
  #controller: AbortController | undefined;
  /** Set by the first `abort()`. */
  #aborted: { readonly reason: unknown } | undefined;

  /** The signal. It aborts with {@linkcode abort}. */
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

/** The error with which a latch has failed, or nothing if it was opened. */
type LatchOutcome = readonly [error?: unknown];

/** An event that happens at most once, for any number of waits. */
export class Latch {
  /** Set once and for all by the first `open()` or `fail()`. */
  #outcome: LatchOutcome | undefined;
  /** Has a function for each pending wait. Empty once `#outcome` is set. */
  readonly #waiting = new Set<(outcome: LatchOutcome) => void>();

  /** `true` after the latch was opened. */
  get isOpen(): boolean {
    return this.#outcome?.length === 0;
  }

  /** Resolves all waits, present and future. Only the first call of {@linkcode open} or {@linkcode fail} counts. */
  open(): void {
    this.#settle([]);
  }

  /** Rejects all waits, present and future, with `error`. */
  fail(error: unknown): void {
    this.#settle([error]);
  }

  /** Resolves the present waits, or rejects them with the given error. The latch stays as it is. */
  notify(...outcome: LatchOutcome): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const settle of waiting) settle(outcome);
  }

  /**
   * Resolves when the latch is open. Rejects if it has failed, or with the signal's reason if the signal aborts first.
   */
  wait(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    if (this.#outcome !== undefined) {
      return this.#outcome.length > 0 ? Promise.reject(this.#outcome[0]) : Promise.resolve();
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const settle = (outcome: LatchOutcome): void => {
        signal?.removeEventListener("abort", stop);
        outcome.length > 0 ? reject(outcome[0]) : resolve();
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
    this.notify(...outcome);
  }
}

/**
 * Returns `true` if a signal has aborted and caused `error`: it is the signal's reason, or has it as `reason`, like a
 * `WaitError`.
 */
export function isAbortOf(signal: AbortSignal, error: unknown): boolean {
  if (!signal.aborted) return false;
  const { reason } = signal;
  return error === reason || (error instanceof Error && "reason" in error && error.reason === reason);
}

/**
 * Reports an error to the runtime without stopping the caller, like the web platform does for errors in event
 * listeners. It calls `reportError` if there is one, otherwise it throws in a microtask (Node emits
 * `uncaughtException`).
 */
function reportUncaught(error: unknown): void {
  if (typeof globalThis.reportError === "function") globalThis.reportError(error);
  else {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Calls an observer such as `onError`. If it throws, the error is reported as uncaught, and nothing else changes. */
export function callObserver(call: () => void): void {
  try {
    call();
  } catch (error) {
    reportUncaught(error);
  }
}

/** Works like `Promise.withResolvers`, which browsers of 2023 lack. */
export function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: PromiseWithResolvers<T>["resolve"];
  let reject!: PromiseWithResolvers<T>["reject"];
  const promise = new Promise<T>((...settle) => [resolve, reject] = settle);
  return { promise, resolve, reject };
}
