/**
 * Binary search.
 *
 * {@linkcode lowerBound} is the only function. It does not read the values: the caller compares them.
 *
 * @module
 */

/**
 * Returns the first index below `length` for which `isBelow` is false; `length` if it is true for all. All indexes for
 * which `isBelow` is true come first.
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
