import { delay } from "@std/async/delay";
import { monotonicMs } from "./monotonic_ms.ts";
import { MAX_TIMER_MS } from "./long_timer.ts";

/**
 * Resolves after `ms` milliseconds of the monotonic clock; `Infinity` is never. Rejects with the reason of the signal as soon
 * as it aborts.
 */
export async function sleep(ms: number, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const dueMs = monotonicMs() + ms;
  let leftMs = ms;
  // `delay` supports longer times too, but measures them by the time of day.
  for (; leftMs > MAX_TIMER_MS; leftMs = dueMs - monotonicMs()) await delay(MAX_TIMER_MS, options);
  await delay(leftMs, options);
}
