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

/**
 * Returns the candidate with the fewest edits, if they are at most `max` (by default one, or a third of the name's
 * length).
 */
export function nearest(name: string, candidates: Iterable<string>, max?: number): string | undefined {
  if (name.length > 200) return undefined;
  const plain = simplify(name);
  let best: string | undefined;
  let bestDistance = (max ?? Math.max(1, Math.floor(plain.length / 3))) + 1;
  for (const candidate of candidates) {
    if (candidate.length > 200) continue;
    const distance = editDistance(plain, simplify(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Makes `token_file`, `token-file` and `tokenFile` equal. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, "");
}
