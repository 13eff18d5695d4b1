import { abortable } from "./abortable.ts";

/** Options of {@linkcode deadline}. */
export interface DeadlineOptions {
  /** Ends the wait early: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * What `p` resolves to, if it does so within `ms` milliseconds. `p` itself goes on.
 *
 * The time is the runtime's own (`AbortSignal.timeout`), as in the real package: faked timers do not move it.
 *
 * @param ms how long to wait; from `Number.MAX_SAFE_INTEGER` on, for ever.
 * @throws {DOMException} named `"TimeoutError"`, when the time is over.
 */
export async function deadline<T>(p: Promise<T>, ms: number, options: DeadlineOptions = {}): Promise<T> {
  const signals = options.signal === undefined ? [] : [options.signal];
  if (ms < Number.MAX_SAFE_INTEGER) signals.push(AbortSignal.timeout(ms));
  return await abortable(p, AbortSignal.any(signals));
}
