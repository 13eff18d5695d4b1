/** `" Did you mean option \"--port\"?"`: the candidate nearest to what was written; empty without candidates. */
export function suggestion(kind: "command" | "option" | "type", written: string, candidates: string[]): string {
  let nearest: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest === undefined ? "" : ` Did you mean ${kind} "${nearest}"?`;
}

/** How many characters must be added, removed or replaced to get from `a` to `b` (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length];
}
