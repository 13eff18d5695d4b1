import { delay } from "@std/async/delay";
import { monotonicMs } from "./monotonic_ms.ts";
import { MAX_TIMER_MS } from "./long_timer.ts";

/**
 * Resolves after `ms` milliseconds, by the monotonic clock; `Infinity` is never. Rejects with the signal's reason as soon as
 * that aborts.
 */
export async function sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const dueMs = monotonicMs() + ms;
  let leftMs = ms;
  // `delay` takes longer times too, but measures them by the time of day.
  for (; leftMs > MAX_TIMER_MS; leftMs = dueMs - monotonicMs()) await delay(MAX_TIMER_MS, options);
  await delay(leftMs, options);
}
