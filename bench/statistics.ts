/** The middle of the values, of an even number the mean of the two in the middle. NaN when there are none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which so much of the values lies, `0.99` for p99, read off between neighbours. NaN when there are none. */
export function quantile(values: readonly number[], part: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
}
