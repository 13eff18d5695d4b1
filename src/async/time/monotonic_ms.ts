/**
 * The clock of everything that waits: milliseconds that only differences have a meaning of. It never runs backwards, and no
 * change of the machine's time of day moves it, so a wait measured by it is as long as it was meant to be.
 */
export function monotonicMs(): number {
  return performance.now();
}
