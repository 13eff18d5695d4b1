import { editDistance } from "../../api/edit_distance.ts";
import { quote } from "./quote.ts";

/** Returns ` (did you mean "prod"?)` if one of the candidates is similar to the name, else an empty text. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` (did you mean ${quote(found)}?)`;
}

/** Returns the candidate with the fewest edits, if they are at most one, or a third of the name's length. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > 200) return undefined;
  const plain = simplify(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;
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
