/**
 * Returns the time of the monotonic clock, in milliseconds; every wait uses it. Only differences are meaningful. It never runs
 * backwards, and changes of the time of day do not move it, so that a wait has the intended length.
 */
export function monotonicMs(): number {
  return performance.now();
}
