/** The middle of the values, of an even number the mean of the two in the middle. NaN when there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * The value below which so much of the values lies, `0.99` for p99, read off between neighbours. NaN when there are
 * none.
 */
export function quantile(values: readonly number[], part: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}

/** An interval with the confidence that it really has. */
export interface Interval {
  /** Its lower end. */
  readonly from: number;
  /** Its upper end. */
  readonly to: number;
  /** The probability that it contains the median of the distribution, at least the one asked for. */
  readonly confidence: number;
}

/**
 * The confidence interval of the median, from order statistics: the narrowest pair of the k-th smallest and the k-th
 * largest value that contains the median with at least `confidence`, whatever the distribution of the values is.
 * `undefined` when there are too few values: 0.9 needs five.
 */
export function medianInterval(values: readonly number[], confidence: number): Interval | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  let interval: Interval | undefined;
  // How many values are below the median is binomial: `outside` is the chance that fewer than `k + 1` are.
  let probability = 0.5 ** count;
  let outside = probability;
  for (let k = 0; k < count / 2 && 1 - 2 * outside >= confidence; k++) {
    interval = { from: sorted[k], to: sorted[count - 1 - k], confidence: 1 - 2 * outside };
    probability *= (count - k) / (k + 1);
    outside += probability;
  }
  return interval;
}
