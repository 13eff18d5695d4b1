/** The longest time one timer can run, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The one thing that only Deno can do: not to wait for a timer at the end. */
declare const Deno: { unrefTimer(id: number): void };

/** Options of {@linkcode delay}. */
export interface DelayOptions {
  /** Ends the wait early: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Whether the wait keeps the process alive. @default {true} */
  persistent?: boolean;
}

/**
 * Waits for `ms` milliseconds; what is negative or not a number counts as 0.
 *
 * Nothing is left behind when it is over, one way or the other: neither a timer nor a listener.
 */
export function delay(ms: number, options: DelayOptions = {}): Promise<void> {
  const { signal, persistent = true } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  // Not Promise.withResolvers(): the real one runs on Node 20, which lacks it.
  let resolve!: () => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<void>((...settle) => [resolve, reject] = settle);
  let timer: ReturnType<typeof setTimeout>;
  const startedMs = Date.now();
  const totalMs = ms > 0 ? Math.trunc(ms) : 0;

  function start(restMs: number): void {
    const longer = restMs > MAX_TIMER_MS;
    timer = setTimeout(
      longer ? () => start(totalMs - (Date.now() - startedMs)) : finish,
      longer ? MAX_TIMER_MS : restMs,
    );
    if (!persistent) Deno.unrefTimer(Number(timer));
  }
  function finish(): void {
    signal?.removeEventListener("abort", abort);
    resolve();
  }
  function abort(): void {
    clearTimeout(timer);
    reject(signal?.reason);
  }

  start(totalMs);
  signal?.addEventListener("abort", abort, { once: true });
  return promise;
}
