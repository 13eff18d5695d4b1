import { editDistance } from "./edit_distance.ts";

/**
 * Returns the candidate with the fewest edits, if they are at most `max` (by default one, or a third of the name's length).
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
