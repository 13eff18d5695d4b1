/**
 * Binary search.
 *
 * {@linkcode lowerBound} is the only function. It reads no values: the caller compares them.
 *
 * @module
 */

/**
 * Finds the first index from `from` to `length` for which `isBelow` returns `false`. Returns `length` if there is none.
 * The indexes for which `isBelow` is `true` must come first.
 */
export function lowerBound(length: number, isBelow: (index: number) => boolean, from = 0): number {
  let [low, high] = [from, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
