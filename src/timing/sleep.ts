import { delay } from "@std/async/delay";

/** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
  return delay(ms, options);
}
