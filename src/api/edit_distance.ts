/**
 * Counts insertions, deletions, replacements and swaps of neighbours that turn one short text into the other. Costs the
 * product of their lengths.
 */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1, isSwap ? before[j - 2] + 1 : Infinity));
    }
    [before, row] = [row, next];
  }
  return row[b.length];
}
